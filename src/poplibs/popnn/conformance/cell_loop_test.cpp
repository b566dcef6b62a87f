// Recurrent layers with a cell of the program's own, against loops in double: steps and their order, what is kept of each step, shards,
// sequences of different lengths, and what is gathered over several steps.
#include <gtest/gtest.h>

#include <popnn/Rnn.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/Zero.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <optional>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;
using Tensors = std::vector<Tensor>;
using Numbers = std::vector<double>;
namespace pe = popops::expr;
namespace rnn = popnn::rnn;

constexpr std::size_t kT = 7, kB = 3, kN = 20, kStep = kB * kN;
const rnn::RnnParams kParams(FLOAT, kB, kT, {kN, kN});

// h' = h / 2 + x in step t; with lengths only of sequences that the step counts for.
struct Expected {
  Numbers sequence = Numbers(kT * kStep), last;
};

bool counts(const std::vector<double>& lengths, std::size_t t, std::size_t b) {
  return lengths.empty() || static_cast<double>(t) < lengths[lengths.size() == 1 ? 0 : b];
}

Expected expected(const Numbers& x, const Numbers& h0, bool reverse, const std::vector<double>& lengths) {
  Expected out;
  out.last = h0;
  const double longest = lengths.empty() ? kT : *std::max_element(lengths.begin(), lengths.end());
  for (std::size_t i = 0; i < kT; ++i) {
    const std::size_t t = reverse ? kT - 1 - i : i;
    if (static_cast<double>(t) >= longest) continue;
    for (std::size_t k = 0; k < kStep; ++k) {
      if (counts(lengths, t, k / kN)) out.last[k] = out.last[k] / 2 + x[t * kStep + k];
      out.sequence[t * kStep + k] = out.last[k];
    }
  }
  return out;
}

struct Case {
  bool reverse;
  unsigned shards;
  std::vector<double> lengths;
  bool one_cell;
  std::string name() const {
    return std::string(reverse ? "reverse " : "") + std::to_string(shards) + " shards " + std::to_string(lengths.size()) + " lengths" +
           (one_cell ? " one cell" : "");
  }
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const bool reverse : {false, true})
    for (const unsigned shards : {1u, 3u, 7u})
      for (const bool one_cell : {false, true})
        for (const std::vector<double>& lengths : {std::vector<double>{}, {4}, {100}, {5, 2, 0}, {0, 0, 0}})
          out.push_back({reverse, shards, lengths, one_cell});
  return out;
}

Sequence leaky(Graph& g, const rnn::RnnBatchwiseFlags& flags, const Tensor& h, const Tensor& x) {
  Sequence prog;
  if (flags.valid())
    popops::mapInPlace(g, pe::_3 * (pe::_1 * pe::Const(0.5f) + pe::_2) + pe::_4 * pe::_1,
                       {h, x, flags.mask.expand({1}), flags.inverse.expand({1})}, prog);
  else
    popops::mapInPlace(g, pe::_1 * pe::Const(0.5f) + pe::_2, {h, x}, prog);
  return prog;
}

std::vector<Operand> operands(const Case& c) {
  std::vector<Operand> all = {operand("x", FLOAT, {kT, kB, kN}, uniform(-1, 1, 1)), operand("h", FLOAT, {1, kB, kN}, uniform(-1, 1, 2))};
  if (!c.lengths.empty()) all.push_back(operand("lengths", INT, {c.lengths.size()}, [&](std::size_t i) { return c.lengths[i]; }));
  return all;
}

// Everything that a cell can be given and can set.
TEST(CellLoop, StepsStatesAndSequences) {
  for (const Machine machine : {Machine::cpu, Machine::ipu1})
    for (const Case& c : cases()) {
      const std::vector<Operand> all = operands(c);
      unsigned made = 0, before = 0;
      const auto out = run(machine, all, [&](Graph& g, Tensors& in, Sequence& prog) {
        rnn::RnnParams params = kParams;
        if (!c.lengths.empty()) params = {FLOAT, kB, kT, in[2], {kN, kN}};
        const Tensor states = rnn::createOutputTensor(g, params, c.shards), twice = rnn::createOutputTensor(g, params, 2, c.shards),
                     sums = g.addVariable(FLOAT, {kT, kB}), steps = g.addVariable(UNSIGNED_INT, {kT, 1});
        Tensor between = rnn::createOutputTensor(g, params, 2, c.shards).reshapePartial(0, 1, {kT, 2});
        poputil::mapTensorLinearly(g, sums);
        poputil::mapTensorLinearly(g, steps);
        for (const Tensor& t : {states, twice, sums, steps, between}) popops::zero(g, t, prog);
        const Tensor shifted = rnn::shiftRnnTensor(g, params, in[0], in[1], prog, c.shards);
        OptionFlags options = {{"codeReuse", c.one_cell ? "true" : "false"}};
        const rnn::LoopBodyType cell = [&](Graph& graph, const rnn::TimeStepState& time, const rnn::RnnBatchwiseFlags& flags,
                                           Tensors& state, const rnn::RnnSlice& slice, Tensors& created, Sequence* init,
                                           const DebugNameAndId&) {
          ++made;
          before += init != nullptr;
          EXPECT_EQ(slice.inputs.at(0).shape(), (std::vector<std::size_t>{kB, kN}));
          EXPECT_FALSE(slice.inputs.at(1).valid());
          EXPECT_FALSE(state.at(1).valid());
          EXPECT_EQ(slice.interimOut.shape(), (std::vector<std::size_t>{2, kB, kN}));
          EXPECT_EQ(flags.valid(), c.lengths.size() == kB);
          EXPECT_EQ(time.variableSeqFlag.valid(), !c.lengths.empty());
          Sequence p = leaky(graph, flags, state[0][0], slice.inputs[0]);
          p.add(program::Copy(slice.inputs[0], slice.outputs.at(0)[0]));
          p.add(program::Copy(state[0][0], slice.outputs[0][1]));
          p.add(program::Copy(slice.interimIn, slice.interimOut[0]));
          p.add(program::Copy(state[0][0], slice.interimOut[1]));
          created.at(0) = popops::reduce(graph, slice.inputs[0], FLOAT, {1}, popops::Operation::ADD, p);
          created.at(1) = popops::add(graph, time.begin, time.counter, p);
          return p;
        };
        const Tensors last = rnn::Rnn(g, params, c.reverse, {in[1], Tensor()}, {states, 0}, {in[0], Tensor()}, &shifted, &between, {twice},
                                      {sums, steps}, prog, cell, c.shards, options);
        EXPECT_EQ(last.size(), 2u);
        EXPECT_FALSE(last[1].valid());
        return Tensors{states, last[0], twice, sums, steps, between};
      });
      EXPECT_EQ(made, c.one_cell ? 1u : c.shards) << c.name();
      EXPECT_EQ(before, 1u) << c.name();
      const Numbers &x = all[0].values, &h = all[1].values;
      const Expected want = expected(x, h, c.reverse, c.lengths);
      const std::string name = name_of(machine) + " " + c.name();
      const double longest = c.lengths.empty() ? kT : *std::max_element(c.lengths.begin(), c.lengths.end());
      Numbers twice(kT * 2 * kStep), sums(kT * kB), steps(kT), between(kT * 2 * kStep);
      for (std::size_t t = 0; t < kT && static_cast<double>(t) < longest; ++t) {
        steps[t] = static_cast<double>(t);
        for (std::size_t k = 0; k < kStep; ++k) {
          twice[2 * t * kStep + k] = x[t * kStep + k];
          twice[(2 * t + 1) * kStep + k] = between[(2 * t + 1) * kStep + k] = want.sequence[t * kStep + k];
          between[2 * t * kStep + k] = t == 0 ? h[k] : x[(t - 1) * kStep + k];
          sums[t * kB + k / kN] += x[t * kStep + k];
        }
      }
      expect_close(out[0], want.sequence, {1e-6, 1e-6}, name + " states");
      expect_close(out[1], want.last, {1e-6, 1e-6}, name + " last");
      expect_close(out[2], twice, {1e-6, 1e-6}, name + " outputs");
      expect_close(out[3], sums, {1e-5, 1e-5}, name + " created");
      expect_close(out[4], steps, {0, 0}, name + " steps");
      expect_close(out[5], between, {1e-6, 1e-6}, name + " intermediates");
    }
}

// The cell leaves its state and its input; what gathers adds up their products with another input over runs of steps.
TEST(CellLoop, Gathers) {
  for (const Machine machine : {Machine::cpu, Machine::ipu1})
    for (const Case& c : cases())
      for (const unsigned steps : {1u, 2u, 3u, 20u}) {
        if (!c.reverse) continue;
        std::vector<Operand> all = operands(c);
        all.push_back(operand("w", FLOAT, {kT, kB, kN}, uniform(-1, 1, 3)));
        std::size_t gathered = 0;
        const auto out = run(machine, all, [&](Graph& g, Tensors& in, Sequence& prog) {
          rnn::RnnParams params = kParams;
          if (!c.lengths.empty()) params = {FLOAT, kB, kT, in[2], {kN, kN}};
          const Tensor sum = g.addVariable(FLOAT, {2, kN});
          poputil::mapTensorLinearly(g, sum);
          popops::zero(g, sum, prog);
          OptionFlags options = {{"codeReuse", c.one_cell ? "true" : "false"}};
          const rnn::LoopBodyType cell = [&](Graph& graph, const rnn::TimeStepState&, const rnn::RnnBatchwiseFlags& flags, Tensors& state,
                                             const rnn::RnnSlice& slice, Tensors&, Sequence*, const DebugNameAndId&) {
            Sequence p = leaky(graph, flags, state[0][0], slice.inputs[0]);
            p.add(program::Copy(slice.interimIn, slice.interimOut[0]));
            p.add(program::Copy(state[0][0], slice.interimOut[1]));
            return p;
          };
          const rnn::GatherBodyType gather = [&](Graph& graph, const rnn::RnnSlice& slice, unsigned n, Sequence*, const DebugNameAndId&) {
            gathered += n;
            EXPECT_EQ(slice.inputs.at(0).shape(), (std::vector<std::size_t>{n * kB, kN}));
            EXPECT_EQ(slice.interimIn.shape(), (std::vector<std::size_t>{n * 2, kB, kN}));
            Sequence p;
            const Tensor left = slice.interimIn.reshape({n, 2, kB, kN}).dimShuffle({1, 0, 2, 3}).reshape({2, n * kB, kN});
            const Tensor product = popops::mul(graph, left, slice.inputs[0].expand({0}), p);
            popops::addInPlace(graph, sum, popops::reduce(graph, product, FLOAT, {1}, popops::Operation::ADD, p), p);
            return p;
          };
          const Tensors last =
              rnn::Rnn(g, params, {in[1]}, {}, {in[0]}, in[0], 2, prog, cell, {in.back()}, gather, c.shards, steps, options);
          return Tensors{sum, last[0]};
        });
        EXPECT_GE(gathered, 1u);
        const Numbers &x = all[0].values, &w = all.back().values;
        const Expected want = expected(x, all[1].values, true, c.lengths);
        const double longest = c.lengths.empty() ? kT : *std::max_element(c.lengths.begin(), c.lengths.end());
        Numbers sum(2 * kN);
        for (std::size_t t = 0; t < kT && static_cast<double>(t) < longest; ++t)
          for (std::size_t k = 0; k < kStep; ++k) {
            sum[k % kN] += x[t * kStep + k] * w[t * kStep + k];
            sum[kN + k % kN] += want.sequence[t * kStep + k] * w[t * kStep + k];
          }
        const std::string name = name_of(machine) + " " + c.name() + " by " + std::to_string(steps);
        expect_close(out[0], sum, {1e-5, 1e-5}, name);
        expect_close(out[1], want.last, {1e-6, 1e-6}, name + " last");
      }
}

TEST(CellLoop, ShardsLieOnTilesOfTheirOwn) {
  Graph g(device_of(Machine::full));
  const rnn::RnnParams params(HALF, 4, 9, {96, 33});
  // 24 grains of 16 elements beside 132 of one.
  EXPECT_EQ(params.getMaxShards(g), 9u);
  EXPECT_EQ(rnn::RnnParams(HALF, 4, 100, {96, 33}).getMaxShards(g), 1472u / 132);
  EXPECT_EQ(params.getInputBytesPerTile(g), 32u);
  EXPECT_EQ(params.getOutputBytesPerTile(g), 2u);
  EXPECT_EQ(rnn::RnnParams(FLOAT, 1472, 9, {16, 32}).getOutputBytesPerTile(g), 128u);
  EXPECT_FALSE(params.variableTimeSteps());
  const Tensor t = rnn::createRecurrentTensor(g, params, 96, 3);
  EXPECT_EQ(t.shape(), (std::vector<std::size_t>{9, 4, 96}));
  const auto tiles_of = [&](const Tensor& part) {
    std::set<std::size_t> tiles;
    const auto mapping = g.getTileMapping(part);
    for (std::size_t tile = 0; tile < mapping.size(); ++tile)
      if (!mapping[tile].empty()) tiles.insert(tile);
    return tiles;
  };
  std::set<std::size_t> all;
  for (const std::size_t shard : {0, 1, 2}) {
    const auto mine = tiles_of(t.slice(3 * shard, 3 * shard + 3));
    EXPECT_EQ(mine.size(), 24u);
    EXPECT_EQ(mine, tiles_of(t[3 * shard])) << "every step of a shard lies like every other one";
    all.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(all.size(), 3 * 24u);
  EXPECT_EQ(rnn::createInitialState(g, params, true, 2, 3).shape(), (std::vector<std::size_t>{2, 4, 33}));
  EXPECT_EQ(rnn::createInputTensor(g, params, 1).shape(), (std::vector<std::size_t>{9, 4, 96}));
}

TEST(CellLoop, RejectsWhatDoesNotFit) {
  run(Machine::ipu1, {operand("x", FLOAT, {kT, kB, kN}, uniform(-1, 1, 1))}, [&](Graph& g, Tensors& in, Sequence& prog) {
    using poputil::poplibs_error;
    const Tensor h = rnn::createInitialState(g, kParams, true, 1, 1);
    const rnn::LoopBodyType cell = [](Graph&, const rnn::TimeStepState&, const rnn::RnnBatchwiseFlags&, Tensors&, const rnn::RnnSlice&,
                                      Tensors&, Sequence*, const DebugNameAndId&) { return Sequence(); };
    const rnn::GatherBodyType gather = [](Graph&, const rnn::RnnSlice&, unsigned, Sequence*, const DebugNameAndId&) { return Sequence(); };
    OptionFlags none, unknown = {{"codeReuse", "maybe"}};
    const auto call = [&](const rnn::RnnParams& params, const rnn::StateSequence& states, const Tensor& input, const Tensors& created,
                          const rnn::LoopBodyType& f, unsigned shards, OptionFlags& options) {
      rnn::Rnn(g, params, false, {h}, states, {input}, nullptr, nullptr, {}, created, prog, f, shards, options);
    };
    EXPECT_NO_THROW(call(kParams, {}, in[0], {}, cell, 2, none));
    EXPECT_THROW(call(kParams, {}, in[0].slice(0, 6), {}, cell, 1, none), poplibs_error);
    EXPECT_THROW(call(kParams, {}, concat(in[0], in[0]), {}, cell, 1, none), poplibs_error);
    EXPECT_THROW(call(kParams, {in[0], 1}, in[0], {}, cell, 1, none), poplibs_error);
    EXPECT_THROW(call(kParams, {in[0].slice(0, 5, 2), 0}, in[0], {}, cell, 1, none), poplibs_error);
    // The cell sets nothing for what it should create.
    EXPECT_THROW(call(kParams, {}, in[0], {in[0]}, cell, 1, none), poplibs_error);
    EXPECT_THROW(call(kParams, {}, in[0], {}, {}, 1, none), poplibs_error);
    EXPECT_THROW(call(kParams, {}, in[0], {}, cell, 0, none), poplibs_error);
    EXPECT_THROW(call(kParams, {}, in[0], {}, cell, 8, none), poplibs_error);
    EXPECT_THROW(call(kParams, {}, in[0], {}, cell, 1, unknown), invalid_option);
    EXPECT_THROW(call(rnn::RnnParams(INT, kB, kT, {kN, kN}), {}, in[0], {}, cell, 1, none), poplibs_error);
    rnn::RnnParams lengths = kParams;
    lengths.varTimeSteps = in[0][0][0].slice(0, 3);
    EXPECT_THROW(call(lengths, {}, in[0], {}, cell, 1, none), poplibs_error);
    EXPECT_THROW(rnn::RnnParams(FLOAT, kB, kT, g.addVariable(INT, {2}), {kN, kN}), poplibs_error);
    EXPECT_THROW(rnn::Rnn(g, kParams, {h}, {}, {in[0]}, in[0], 1, prog, cell, {in[0]}, gather, 1, 0, none), poplibs_error);
    EXPECT_THROW(rnn::Rnn(g, kParams, {h}, {}, {in[0]}, in[0], 1, prog, cell, {in[0]}, {}, 1, 1, none), poplibs_error);
    EXPECT_THROW(rnn::shiftRnnTensor(g, kParams, in[0], in[0], prog, 1), poplibs_error);
    EXPECT_THROW(rnn::createRecurrentTensor(g, kParams, 0, 1), poplibs_error);
    EXPECT_THROW(rnn::createInputTensor(g, rnn::RnnParams(FLOAT, kB, kT, {kN}), 1), poplibs_error);
    EXPECT_THROW(rnn::RnnParams().getMaxShards(g), poplibs_error);
    return in;
  });
}

}  // namespace
}  // namespace oplib
