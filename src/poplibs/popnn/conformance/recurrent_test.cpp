// LSTM and GRU layers: outputs against the equations in double, gradients against differences of a loss, sum of outputs times given
// numbers.
#include <gtest/gtest.h>

#include <poplin/codelets.hpp>
#include <popnn/Gru.hpp>
#include <popnn/Lstm.hpp>
#include <popnn/codelets.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <set>

#include "oplib.h"
#include "recurrent_reference.h"

namespace oplib {
namespace {

using namespace poplar;
using popnn::gru::GruParams, popnn::lstm::LstmParams;
using program::Sequence;

// Operands in the order of the layers: input, h, c (LSTM), W, R, b.
struct Operands {
  std::vector<Operand> all;
  std::vector<Numbers> values() const {
    std::vector<Numbers> out;
    for (const Operand& o : all) out.push_back(o.values);
    return out;
  }
};

Operands operands(std::size_t units, bool cell, const Type& type, Mapping mapping) {
  Operands o;
  o.all.push_back(operand("in", type, {kSteps, kBatch, kIn}, uniform(-1, 1, 1), mapping));
  o.all.push_back(operand("h", type, {kBatch, kOut}, uniform(-1, 1, 2), mapping));
  if (cell) o.all.push_back(operand("c", type, {kBatch, kOut}, uniform(-1, 1, 3), mapping));
  o.all.push_back(operand("W", type, {units, kIn, kOut}, uniform(-0.7, 0.7, 4), mapping));
  o.all.push_back(operand("R", type, {units, kOut, kOut}, uniform(-0.7, 0.7, 5), mapping));
  o.all.push_back(operand("b", type, {units, kOut}, uniform(-0.5, 0.5, 6), mapping));
  return o;
}

// x W[u] + y R[u] + b[u] for one row.
double sum_of(const Numbers& w, const Numbers& r, const Numbers& b, std::size_t u, std::size_t j, const double* x, const double* y) {
  return b[u * kOut + j] + product_of(w, kIn, u, j, x) + product_of(r, kOut, u, j, y);
}

// What an LSTM does with sequences that have ended.
struct Ends {
  std::vector<std::size_t> lengths;  // none, one for all, or for each sequence
  bool keep_cell = false, keep_output = false;
  bool counts(std::size_t t, std::size_t n) const { return lengths.empty() || t < lengths[lengths.size() == 1 ? 0 : n]; }
  bool all_ended(std::size_t t) const { return !lengths.empty() && t >= *std::max_element(lengths.begin(), lengths.end()); }
};

// All outputs, then the last cell state, then, if it is kept, the last output. `order` says where the weights have f, i, g, o.
Numbers lstm(const std::vector<Numbers>& v, const std::vector<std::size_t>& order = {0, 1, 2, 3}, const Ends& ends = {}) {
  Numbers h = v[1], c = v[2], out;
  for (std::size_t t = 0; t < kSteps; ++t) {
    const Numbers before = h;
    for (std::size_t n = 0; n < kBatch; ++n)
      for (std::size_t j = 0; j < kOut; ++j) {
        const auto z = [&](std::size_t u) {
          return sum_of(v[3], v[4], v[5], order[u], j, &v[0][(t * kBatch + n) * kIn], &before[n * kOut]);
        };
        double& cell = c[n * kOut + j];
        if (ends.all_ended(t)) continue;
        if (!ends.counts(t, n)) {
          if (!ends.keep_cell) cell = 0;
          continue;
        }
        cell = sigmoid(z(0)) * cell + sigmoid(z(1)) * std::tanh(z(2));
        h[n * kOut + j] = sigmoid(z(3)) * std::tanh(cell);
      }
    for (std::size_t i = 0; i < h.size(); ++i) out.push_back(ends.counts(t, i / kOut) ? h[i] : 0);
  }
  out.insert(out.end(), c.begin(), c.end());
  if (ends.keep_output) out.insert(out.end(), h.begin(), h.end());
  return out;
}

Tolerance tolerance(const Type& type) { return type == HALF ? Tolerance{0.01, 0.01} : Tolerance{2e-5, 2e-5}; }

TEST(Lstm, Forward) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const bool full : {true, false}) {
        const Operands o = operands(4, true, type, machine == Machine::ipu1 ? Mapping::scattered : Mapping::linear);
        const auto out = run(machine, o.all, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          LstmParams params(type, kBatch, kSteps, {kIn, kOut});
          params.outputFullSequence = full;
          Tensor kept;
          const auto [output, cell] =
              popnn::lstm::lstmFwd(g, params, {in[1], in[2]}, in[0], {in[3], in[4], in[5]}, full ? &kept : nullptr, prog);
          return std::vector<Tensor>{output, cell};
        });
        const Numbers expected = lstm(o.values());
        const std::size_t last = kSteps * kBatch * kOut, one = kBatch * kOut;
        expect_close(out[0],
                     Numbers(expected.begin() + static_cast<std::ptrdiff_t>(full ? 0 : last - one),
                             expected.begin() + static_cast<std::ptrdiff_t>(last)),
                     tolerance(type));
        expect_close(out[1], Numbers(expected.begin() + static_cast<std::ptrdiff_t>(last), expected.end()), tolerance(type));
      }
}

TEST(Lstm, OtherOrderOfUnits) {
  const Operands o = operands(4, true, FLOAT, Mapping::linear);
  const auto out = run(Machine::ipu1, o.all, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    LstmParams params(FLOAT, kBatch, kSteps, {kIn, kOut});
    params.cellOrder = {BASIC_LSTM_CELL_INPUT_GATE, BASIC_LSTM_CELL_OUTPUT_GATE, BASIC_LSTM_CELL_FORGET_GATE, BASIC_LSTM_CELL_CANDIDATE};
    return std::vector<Tensor>{popnn::lstm::lstmFwd(g, params, prog, {in[1], in[2]}, {in[3], in[4], in[5]}, in[0], nullptr)};
  });
  Numbers expected = lstm(o.values(), {2, 0, 3, 1});
  expected.resize(kSteps * kBatch * kOut);
  expect_close(out[0], expected, tolerance(FLOAT));
}

TEST(Lstm, Gradients) {
  for (const Machine machine : {Machine::cpu, Machine::ipu1})
    for (const bool full : {true, false}) {
      Operands o = operands(4, true, FLOAT, Mapping::linear);
      const std::size_t all = kSteps * kBatch * kOut, one = kBatch * kOut;
      const Operand grad = operand(
          "grad", FLOAT, full ? std::vector<std::size_t>{kSteps, kBatch, kOut} : std::vector<std::size_t>{kBatch, kOut}, uniform(-1, 1, 7));
      const Operand cell_grad = operand("cellGrad", FLOAT, {kBatch, kOut}, uniform(-1, 1, 8));
      std::vector<Operand> with = o.all;
      with.push_back(grad);
      with.push_back(cell_grad);
      const auto out = run(machine, with, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        LstmParams params(FLOAT, kBatch, kSteps, {kIn, kOut});
        params.outputFullSequence = full;
        const popnn::lstm::LstmState init = {in[1], in[2]};
        const popnn::lstm::LstmWeights weights = {in[3], in[4], in[5]};
        Tensor kept, input_grad;
        const auto [output, cell] = popnn::lstm::lstmFwd(g, params, init, in[0], weights, &kept, prog);
        popnn::lstm::LstmWeights w;
        const auto state =
            popnn::lstm::lstmBwdWithWU(g, params, prog, init, kept, weights, in[0], output, in[6], &in[7], &input_grad, w, "bwd");
        return std::vector<Tensor>{input_grad, state.output, state.cellState, w.inputWeights, w.outputWeights, w.biases};
      });
      Numbers weights(all + one);
      for (std::size_t i = 0; i < grad.size(); ++i) weights[full ? i : all - one + i] = grad[i];
      for (std::size_t i = 0; i < one; ++i) weights[all + i] = cell_grad[i];
      for (std::size_t k = 0; k < 6; ++k)
        expect_close(out[k], differences([](const std::vector<Numbers>& v) { return lstm(v); }, o.values(), k, weights), {2e-4, 2e-4},
                     o.all[k].name);
    }
}

// Outputs and gradients of sequences of different lengths, given the last state's gradient in both of its forms.
TEST(Lstm, SequencesOfDifferentLengths) {
  const std::size_t all = kSteps * kBatch * kOut, one = kBatch * kOut;
  const std::vector<std::vector<std::size_t>> lengths = {{3}, {9}, {kLengths, kLengths + kBatch}, {2, 0, 3}};
  for (const Machine machine : {Machine::cpu, Machine::ipu1})
    for (const auto& of : lengths)
      for (const bool keep : {false, true})
        for (const bool full : {true, false}) {
          const Ends ends = {of, keep, !full};
          Operands o = operands(4, true, FLOAT, Mapping::linear);
          std::vector<Operand> with = o.all;
          with.push_back(operand("grad", FLOAT,
                                 full ? std::vector<std::size_t>{kSteps, kBatch, kOut} : std::vector<std::size_t>{kBatch, kOut},
                                 uniform(-1, 1, 7)));
          with.push_back(operand("cellGrad", FLOAT, {kBatch, kOut}, uniform(-1, 1, 8)));
          with.push_back(operand("lengths", full ? UNSIGNED_INT : INT, {of.size()}, [&](std::size_t i) { return double(of[i]); }));
          const auto out = run(machine, with, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            LstmParams params(FLOAT, kBatch, kSteps, in[8], {kIn, kOut});
            params.outputFullSequence = full;
            params.preserveFinalState = keep;
            const popnn::lstm::LstmState init = {in[1], in[2]}, last = {Tensor(), in[7]};
            const popnn::lstm::LstmWeights weights = {in[3], in[4], in[5]};
            Tensor kept, input_grad;
            const auto [output, cell] = popnn::lstm::lstmFwd(g, params, init, in[0], weights, &kept, prog);
            popnn::lstm::LstmWeights w;
            const auto state =
                full ? popnn::lstm::lstmBwdWithWU(g, params, prog, init, kept, weights, in[0], output, in[6], &last, &input_grad, w)
                     : popnn::lstm::lstmBwdWithWU(g, params, prog, init, kept, weights, in[0], output, in[6], &in[7], &input_grad, w);
            return std::vector<Tensor>{input_grad, state.output, state.cellState, w.inputWeights, w.outputWeights, w.biases, output, cell};
          });
          const std::string name = name_of(machine) + " " + std::to_string(of.size()) + " lengths of " + std::to_string(of[0]) +
                                   (keep ? ", kept" : "") + (full ? ", full" : "");
          const Numbers expected = lstm(o.values(), {0, 1, 2, 3}, ends);
          const auto part = [&](std::size_t from, std::size_t n) {
            const auto at = expected.begin() + static_cast<std::ptrdiff_t>(from);
            return Numbers(at, at + static_cast<std::ptrdiff_t>(n));
          };
          expect_close(out[6], full ? part(0, all) : part(all + one, one), tolerance(FLOAT), "output, " + name);
          expect_close(out[7], part(all, one), tolerance(FLOAT), "cell state, " + name);
          Numbers weights(all + (full ? 1 : 2) * one);
          for (std::size_t i = 0; i < with[6].size(); ++i) weights[full ? i : all + one + i] = with[6][i];
          for (std::size_t i = 0; i < one; ++i) weights[all + i] = with[7][i];
          for (std::size_t k = 0; k < 6; ++k)
            expect_close(out[k],
                         differences([&](const std::vector<Numbers>& v) { return lstm(v, {0, 1, 2, 3}, ends); }, o.values(), k, weights),
                         {2e-4, 2e-4}, o.all[k].name + ", " + name);
        }
}

// Given as a part of the last state, or as that of the output where that is the last one alone.
TEST(Lstm, GradientOfTheLastOutput) {
  const Operands o = operands(4, true, FLOAT, Mapping::linear);
  std::vector<Operand> with = o.all;
  with.push_back(operand("grad", FLOAT, {kBatch, kOut}, uniform(-1, 1, 7)));
  const auto gradients = [&](bool as_state) {
    return run(Machine::ipu1, with, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      LstmParams params(FLOAT, kBatch, kSteps, {kIn, kOut});
      params.outputFullSequence = false;
      const popnn::lstm::LstmState init = {in[1], in[2]}, last = {in[6], Tensor()};
      const popnn::lstm::LstmWeights weights = {in[3], in[4], in[5]};
      Tensor kept;
      const Tensor output = popnn::lstm::lstmFwd(g, params, init, in[0], weights, &kept, prog).first;
      const Tensor none = g.addConstant(FLOAT, {kBatch, kOut}, 0);
      g.setTileMapping(none, 0);
      const auto state = as_state
                             ? popnn::lstm::lstmBwd(g, params, prog, init, kept, weights, in[0], output, none, &last, nullptr, nullptr)
                             : popnn::lstm::lstmBwd(g, params, prog, init, kept, weights, in[0], output, in[6], nullptr, nullptr, nullptr);
      return std::vector<Tensor>{state.output, state.cellState};
    });
  };
  const auto a = gradients(true), b = gradients(false);
  EXPECT_EQ(a[0].values, b[0].values);
  EXPECT_EQ(a[1].values, b[1].values);
}

// Planned ahead, none of the layer's products is planned again.
TEST(Lstm, ProductsArePlannedAhead) {
  for (const bool inference : {true, false}) {
    Graph g(device_of(Machine::ipu1));
    poplin::addCodelets(g);
    popops::addCodelets(g);
    popnn::addCodelets(g);
    const LstmParams params(FLOAT, kBatch, kSteps, {kIn, kOut});
    const OptionFlags options = {{"inferenceOnly", inference ? "true" : "false"}};
    const auto products = popnn::lstm::getMatMulPrePlanParameters(params, options);
    EXPECT_EQ(products.size(), inference ? 2u : 6u);
    poplin::matmul::PlanningCache cache;
    std::set<poplin::MatMulPlanParams> wanted;
    for (const auto& p : products) wanted.emplace(&g.getTarget(), p.first, &p.second);
    poplin::preplanMatMuls(wanted, cache);
    const std::size_t planned = cache.size();
    EXPECT_EQ(planned, products.size());
    Sequence prog;
    const auto state = popnn::lstm::createInitialState(g, params, "state", options, &cache);
    const auto weights = popnn::lstm::createWeights(g, params, "weights", options, &cache);
    const Tensor input = popnn::lstm::createInput(g, params, "input", options, &cache);
    Tensor kept, of_input;
    const Tensor output =
        popnn::lstm::lstmFwd(g, params, prog, state, weights, input, inference ? nullptr : &kept, "forward", options, &cache);
    popnn::lstm::LstmWeights w;
    if (!inference)
      popnn::lstm::lstmBwdWithWU(g, params, prog, state, kept, weights, input, output, output, nullptr, &of_input, w, "backward", options,
                                 &cache);
    EXPECT_EQ(cache.size(), planned);
  }
  EXPECT_THROW(popnn::lstm::getMatMulPrePlanParameters(LstmParams(INT, kBatch, kSteps, {kIn, kOut}), {}), poputil::poplibs_error);
}

TEST(Recurrent, Flops) {
  const LstmParams lstm_params(FLOAT, kBatch, kSteps, {kIn, kOut});
  // 12 rows of 6 outputs; inputs of 5.
  EXPECT_EQ(popnn::lstm::getBasicLstmCellFwdFlops(lstm_params), 72u * (4 * (10 + 12 + 2) + 4));
  EXPECT_EQ(popnn::lstm::getBasicLstmCellBwdFlops(lstm_params), 72u * (4 * (10 + 12) + 7));
  EXPECT_EQ(popnn::lstm::getBasicLstmCellWuFlops(lstm_params), 72u * 4 * (10 + 12 + 1));
  GruParams gru_params(FLOAT, kBatch, kSteps, {kIn, kOut});
  EXPECT_EQ(popnn::gru::getBasicGruCellFwdFlops(gru_params), 72u * (3 * (10 + 12 + 2) + 5));
  EXPECT_EQ(popnn::gru::getBasicGruCellWuFlops(gru_params), 72u * 3 * (10 + 12 + 1));
  gru_params.calcInputGradients = false;
  EXPECT_EQ(popnn::gru::getBasicGruCellBwdFlops(gru_params), 72u * (3 * 12 + 9));
}

TEST(Gru, ForwardAndGradients) {
  for (const Machine machine : kMachines)
    for (const bool full : {true, false}) {
      const Operands o = operands(3, false, FLOAT, Mapping::linear);
      const std::size_t all = kSteps * kBatch * kOut, one = kBatch * kOut;
      const Operand grad = operand(
          "grad", FLOAT, full ? std::vector<std::size_t>{kSteps, kBatch, kOut} : std::vector<std::size_t>{kBatch, kOut}, uniform(-1, 1, 7));
      std::vector<Operand> with = o.all;
      with.push_back(grad);
      const auto out = run(machine, with, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        GruParams params(FLOAT, kBatch, kSteps, {kIn, kOut});
        params.outputFullSequence = full;
        const popnn::gru::GruWeights weights = {in[2], in[3], in[4]};
        Tensor kept, input_grad;
        const Tensor output = popnn::gru::gruFwd(g, params, in[1], in[0], weights, &kept, prog);
        popnn::gru::GruWeights w;
        const Tensor state = popnn::gru::gruBwdWithWU(g, params, prog, in[1], kept, weights, in[0], output, in[5], &input_grad, w);
        return std::vector<Tensor>{input_grad, state, w.inputWeights, w.outputWeights, w.biases, output};
      });
      const Numbers expected = gru({}, o.values());
      expect_close(out[5], Numbers(expected.begin() + static_cast<std::ptrdiff_t>(full ? 0 : all - one), expected.end()), tolerance(FLOAT),
                   "output");
      Numbers weights(all);
      for (std::size_t i = 0; i < grad.size(); ++i) weights[full ? i : all - one + i] = grad[i];
      for (std::size_t k = 0; k < 5; ++k)
        expect_close(out[k], differences([](const std::vector<Numbers>& v) { return gru({}, v); }, o.values(), k, weights), {2e-4, 2e-4},
                     o.all[k].name);
    }
}

// Tensors made for the layers have the shapes that the layers take.
TEST(Recurrent, CreatedTensorsFit) {
  const Operand x = operand("x", FLOAT, {1}, uniform(0, 1, 1));
  run(Machine::ipu1, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    const LstmParams lstm_params(FLOAT, kBatch, kSteps, {kIn, kOut});
    const auto state = popnn::lstm::createInitialState(g, lstm_params, "state");
    popnn::lstm::zeroInitialState(g, state, prog);
    const auto weights = popnn::lstm::createWeights(g, lstm_params, "weights");
    const Tensor input = popnn::lstm::createInput(g, lstm_params, "input");
    EXPECT_EQ(popnn::lstm::lstmFwd(g, lstm_params, state, input, weights, nullptr, prog).first.shape(),
              (std::vector<std::size_t>{kSteps, kBatch, kOut}));
    const GruParams gru_params(FLOAT, kBatch, kSteps, {kIn, kOut});
    EXPECT_EQ(popnn::gru::gruFwd(g, gru_params, popnn::gru::createInitialState(g, gru_params, "state"),
                                 popnn::gru::createInput(g, gru_params, "input"), popnn::gru::createWeights(g, gru_params, "weights"),
                                 nullptr, prog)
                  .shape(),
              (std::vector<std::size_t>{kSteps, kBatch, kOut}));
    return in;
  });
}

TEST(Recurrent, Rejections) {
  const Operands o = operands(4, true, FLOAT, Mapping::linear);
  run(Machine::ipu1, o.all, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    const popnn::lstm::LstmState init = {in[1], in[2]};
    const popnn::lstm::LstmWeights weights = {in[3], in[4], in[5]};
    const auto forward = [&](const LstmParams& params) { popnn::lstm::lstmFwd(g, params, init, in[0], weights, nullptr, prog); };
    EXPECT_THROW(forward({FLOAT, kBatch, kSteps + 1, {kIn, kOut}}), poputil::poplibs_error);
    EXPECT_THROW(forward({HALF, kBatch, kSteps, {kIn, kOut}}), poputil::poplibs_error);
    EXPECT_THROW(forward({INT, kBatch, kSteps, {kIn, kOut}}), poputil::poplibs_error);
    EXPECT_THROW(forward({FLOAT, kBatch, kSteps, {kIn}}), poputil::poplibs_error);
    LstmParams lengths(FLOAT, kBatch, kSteps, {kIn, kOut}), twice(FLOAT, kBatch, kSteps, {kIn, kOut});
    lengths.rnn.varTimeSteps = in[0];
    EXPECT_THROW(forward(lengths), poputil::poplibs_error);
    twice.cellOrder[0] = twice.cellOrder[1];
    EXPECT_THROW(forward(twice), poputil::poplibs_error);
    GruParams after(FLOAT, kBatch, kSteps, {kIn, kOut});
    after.resetAfter = true;
    EXPECT_THROW(popnn::gru::gruFwd(g, after, in[1], in[0], {in[3].slice(0, 3), in[4].slice(0, 3), in[5].slice(0, 3)}, nullptr, prog),
                 poputil::poplibs_error);
    return in;
  });
}

}  // namespace
}  // namespace oplib
