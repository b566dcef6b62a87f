// Plain recurrent layers: outputs against the equation in double, gradients against differences of a loss.
#include <gtest/gtest.h>

#include <poplin/codelets.hpp>
#include <popnn/Recurrent.hpp>
#include <popnn/codelets.hpp>
#include <popops/Zero.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>

#include "oplib.h"
#include "recurrent_reference.h"

namespace oplib {
namespace {

using namespace poplar;
using popnn::NonLinearityType;
using program::Sequence;
using Tensors = std::vector<Tensor>;
namespace rnn = popnn::rnn;

double activated(NonLinearityType type, double x) {
  switch (type) {
    case NonLinearityType::SIGMOID: return sigmoid(x);
    case NonLinearityType::TANH: return std::tanh(x);
    default: return std::max(0.0, x);
  }
}

const std::vector<NonLinearityType> kTypes = {NonLinearityType::SIGMOID, NonLinearityType::TANH, NonLinearityType::RELU};

// All outputs, of input, state, W, R and b.
Numbers layer(NonLinearityType type, const std::vector<Numbers>& v) {
  Numbers h = v[1], out;
  for (std::size_t t = 0; t < kSteps; ++t) {
    const Numbers before = h;
    for (std::size_t n = 0; n < kBatch; ++n)
      for (std::size_t j = 0; j < kOut; ++j)
        h[n * kOut + j] = activated(
            type, product_of(v[2], kIn, 0, j, &v[0][(t * kBatch + n) * kIn]) + product_of(v[3], kOut, 0, j, &before[n * kOut]) + v[4][j]);
    out.insert(out.end(), h.begin(), h.end());
  }
  return out;
}

std::vector<Operand> operands(const Type& type, Mapping mapping) {
  return {operand("in", type, {kSteps, kBatch, kIn}, uniform(-1, 1, 1), mapping),
          operand("h", type, {kBatch, kOut}, uniform(-1, 1, 2), mapping),
          operand("W", type, {kIn, kOut}, uniform(-0.7, 0.7, 4), mapping),
          operand("R", type, {kOut, kOut}, uniform(-0.7, 0.7, 5), mapping),
          operand("b", type, {kOut}, uniform(-0.5, 0.5, 6), mapping),
          operand("grad", type, {kSteps, kBatch, kOut}, uniform(-1, 1, 7), mapping)};
}

std::vector<Numbers> values_of(const std::vector<Operand>& all) {
  std::vector<Numbers> out;
  for (const Operand& o : all) out.push_back(o.values);
  return out;
}

// The gradients step by step, as programs that loop themselves take them.
Tensors by_steps(Graph& g, const Tensors& in, const Tensor& output, NonLinearityType type, Sequence& prog) {
  Tensor state = rnn::createBwdState(g, in[0].elementType(), kBatch, kOut, prog);
  Tensor w = g.clone(in[2]), r = g.clone(in[3]), b = g.clone(in[4]);
  for (const Tensor& t : {w, r, b}) popops::zero(g, t, prog);
  Tensors of_input(kSteps);
  for (std::size_t s = kSteps; s-- > 0;) {
    // The form without the input's gradient gives the same state.
    const Tensor alone = rnn::backwardGradientStep(g, in[5][s], state, output[s], in[3], prog, type);
    const auto [input, next] = rnn::backwardGradientStep(g, in[5][s], state, output[s], in[2], in[3], prog, type);
    of_input[s] = input.expand({0});
    state = alone;
    rnn::paramDeltaUpdate(g, s % 2 == 0 ? next : alone, in[0][s], s == 0 ? in[1] : output[s - 1], w, r, b, prog);
  }
  return {concat(of_input), w, r, b};
}

TEST(Rnn, ForwardAndGradients) {
  for (const Machine machine : kMachines)
    for (const NonLinearityType type : kTypes) {
      const std::vector<Operand> all = operands(FLOAT, machine == Machine::ipu1 ? Mapping::scattered : Mapping::linear);
      const auto out = run(machine, all, [&](Graph& g, Tensors& in, Sequence& prog) {
        const Tensor output = rnn::rnnFwdSequence(g, prog, in[1], nullptr, in[4], in[2], in[3], in[0], type, FLOAT, false);
        const auto [x, w, r, b] = rnn::rnnBwdSequence(g, true, false, prog, in[1], output, in[4], in[2], in[3], in[5], in[0], type, FLOAT);
        Tensors results = {output, x, w, r, b};
        for (const Tensor& t : by_steps(g, in, output, type, prog)) results.push_back(t);
        return results;
      });
      const std::vector<Numbers> values = values_of(all);
      expect_close(out[0], layer(type, values), {2e-5, 2e-5}, name_of(machine) + " output");
      std::size_t i = 1;
      for (const char* how : {" at once", " by steps"})
        for (const std::size_t which : {0, 2, 3, 4})
          expect_close(out[i++], differences([&](const std::vector<Numbers>& v) { return layer(type, v); }, values, which, values[5]),
                       {2e-4, 2e-4}, name_of(machine) + " " + all[which].name + how);
    }
}

TEST(Rnn, HalfsFromWeightedInputs) {
  const std::vector<Operand> all = operands(HALF, Mapping::linear);
  for (const Machine machine : {Machine::cpu, Machine::ipu1}) {
    const auto out = run(machine, all, [&](Graph& g, Tensors& in, Sequence& prog) {
      const Tensor weighted = rnn::forwardWeightInput(g, in[0], in[2], prog);
      const Tensor output = rnn::rnnFwdSequence(g, prog, in[1], &weighted, in[4], in[2], in[3], {}, NonLinearityType::TANH, FLOAT, true);
      return Tensors{rnn::getOutputFromFwdState(output[kSteps - 1]), output};
    });
    const Numbers expected = layer(NonLinearityType::TANH, values_of(all));
    expect_close(out[1], expected, {0.01, 0.01}, name_of(machine));
    expect_close(out[0], Numbers(expected.end() - static_cast<std::ptrdiff_t>(kBatch * kOut), expected.end()), {0.01, 0.01},
                 name_of(machine));
  }
}

TEST(Rnn, CreatedTensorsFitAndWhatIsNotAskedForIsLeftOut) {
  run(Machine::ipu1, {operand("x", FLOAT, {1}, uniform(0, 1, 1))}, [&](Graph& g, Tensors& in, Sequence& prog) {
    const NonLinearityType type = NonLinearityType::SIGMOID;
    const Tensor x = rnn::createInput(g, kSteps, kBatch, kIn, kOut, FLOAT),
                 w = rnn::createWeightsInput(g, kSteps, kBatch, kIn, kOut, FLOAT), r = rnn::createWeightsFeedback(g, kBatch, kOut, FLOAT),
                 h = rnn::createFwdState(g, FLOAT, kBatch, kOut, prog, true, false), b = linear(g, FLOAT, {kOut});
    const Tensor y = rnn::rnnFwdSequence(g, prog, h, nullptr, b, w, r, x, type, FLOAT, false);
    EXPECT_EQ(y.shape(), (std::vector<std::size_t>{kSteps, kBatch, kOut}));
    const auto only_input = rnn::rnnBwdSequence(g, false, false, prog, h, y, b, w, r, y, x, type, FLOAT);
    EXPECT_EQ(std::get<0>(only_input).shape(), x.shape());
    EXPECT_FALSE(std::get<1>(only_input).valid() || std::get<2>(only_input).valid() || std::get<3>(only_input).valid());
    const auto only_weights = rnn::rnnBwdSequence(g, true, true, prog, h, y, b, w, r, y, x, type, FLOAT);
    EXPECT_FALSE(std::get<0>(only_weights).valid());
    EXPECT_EQ(std::get<1>(only_weights).shape(), w.shape());
    EXPECT_THROW(rnn::forwardWeightInput(g, x[0], w, prog), poputil::poplibs_error);
    EXPECT_THROW(rnn::forwardWeightInput(g, x, r, prog), poputil::poplibs_error);
    EXPECT_THROW(rnn::forwardWeightInput(g, x, w, prog, INT), poputil::poplibs_error);
    EXPECT_THROW(rnn::forwardIterate(g, y, h, r, w[0].slice(0, 2), prog, type), poputil::poplibs_error);
    EXPECT_THROW(rnn::forwardIterate(g, y, y[0].slice(0, 1), r, b, prog, type), poputil::poplibs_error);
    EXPECT_THROW(rnn::backwardGradientStep(g, h, h, h, r.slice(0, 2, 1), r, prog, type), poputil::poplibs_error);
    EXPECT_THROW(rnn::backwardGradientStep(g, h, Tensor(), h, r, prog, type), poputil::poplibs_error);
    EXPECT_THROW(rnn::rnnBwdSequence(g, true, true, prog, h, y, b, w, r, y.slice(0, 1), x, type, FLOAT), poputil::poplibs_error);
    EXPECT_THROW(rnn::createFwdState(g, INT, kBatch, kOut, prog, true, false), poputil::poplibs_error);
    return in;
  });
}

TEST(Rnn, ProductsAndFlops) {
  EXPECT_EQ(rnn::getMatMulPrePlanParameters(kSteps, kBatch, kIn, kOut, FLOAT).size(), 5u);
  EXPECT_EQ(rnn::getMatMulPrePlanParameters(kSteps, kBatch, kIn, kOut, HALF, FLOAT, true, false).size(), 1u);
  // 12 rows: products of 5 and 6 elements for each of 6 outputs, a sum of three.
  EXPECT_EQ(rnn::getFwdFlops(kSteps, kBatch, kIn, kOut), 12u * 6 * (10 + 12 + 2));
  EXPECT_EQ(rnn::getFwdFlops(kSteps, kBatch, kIn, kOut, false), 12u * 6 * (12 + 2));
  EXPECT_EQ(rnn::getBwdFlops(kSteps, kBatch, kIn, kOut), 12u * (5 * 12 + 6 * 12 + 6));
  EXPECT_EQ(rnn::getWuFlops(kSteps, kBatch, kIn, kOut), 12u * 6 * (10 + 12 + 1));
  // Planned ahead, none of the forward pass's products is planned again.
  Graph g(device_of(Machine::ipu1));
  poplin::addCodelets(g);
  popops::addCodelets(g);
  popnn::addCodelets(g);
  poplin::matmul::PlanningCache cache;
  std::set<poplin::MatMulPlanParams> wanted;
  const auto products = rnn::getMatMulPrePlanParameters(kSteps, kBatch, kIn, kOut, FLOAT, FLOAT, true);
  for (const auto& p : products) wanted.emplace(&g.getTarget(), p.first, &p.second);
  poplin::preplanMatMuls(wanted, cache);
  const std::size_t planned = cache.size();
  EXPECT_GT(planned, 0u);
  Sequence prog;
  const Tensor h = linear(g, FLOAT, {kBatch, kOut}), b = linear(g, FLOAT, {kOut}), w = linear(g, FLOAT, {kIn, kOut}),
               r = linear(g, FLOAT, {kOut, kOut}), x = linear(g, FLOAT, {kSteps, kBatch, kIn});
  rnn::rnnFwdSequence(g, prog, h, nullptr, b, w, r, x, NonLinearityType::TANH, FLOAT, true, "rnn", &cache);
  EXPECT_EQ(cache.size(), planned);
}

}  // namespace
}  // namespace oplib
