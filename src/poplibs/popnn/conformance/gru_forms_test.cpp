// The forms of the GRU layer: with attention, with sequences of different lengths, with the reset gate after the product. Outputs against
// the equations in double, gradients against differences of a loss, the sum of outputs times given numbers.
#include <gtest/gtest.h>

#include <popnn/Gru.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>

#include "oplib.h"
#include "recurrent_reference.h"

namespace oplib {
namespace {

using namespace poplar;
using popnn::gru::GruParams;
using program::Sequence;
using Tensors = std::vector<Tensor>;

const std::vector<Form> kForms = {
    {true, false, false}, {false, true, false}, {true, true, false}, {false, false, true}, {true, true, true}};

std::vector<Operand> operands(const Form& form) {
  const std::vector<std::size_t> biases = form.after ? std::vector<std::size_t>{3, 2, kOut} : std::vector<std::size_t>{3, kOut};
  return {operand("in", FLOAT, {kSteps, kBatch, kIn}, uniform(-1, 1, 1)),
          operand("h", FLOAT, {kBatch, kOut}, uniform(-1, 1, 2)),
          operand("W", FLOAT, {3, kIn, kOut}, uniform(-0.7, 0.7, 4)),
          operand("R", FLOAT, {3, kOut, kOut}, uniform(-0.7, 0.7, 5)),
          operand("b", FLOAT, biases, uniform(-0.5, 0.5, 6)),
          operand("attention", FLOAT, {kBatch, kSteps}, uniform(0.1, 0.9, 8)),
          operand("grad", FLOAT, {kSteps, kBatch, kOut}, uniform(-1, 1, 7)),
          operand("lengths", INT, {kBatch}, [](std::size_t n) { return static_cast<double>(kLengths[n]); })};
}

// The output, then the gradients of input, state, W, R, b and, of forms with attention, that.
std::vector<Values> results_of(Machine machine, const Form& form) {
  return run(machine, operands(form), [&](Graph& g, Tensors& in, Sequence& prog) {
    GruParams params(FLOAT, kBatch, kSteps, {kIn, kOut});
    params.resetAfter = form.after;
    const popnn::gru::GruWeights weights = {in[2], in[3], in[4]};
    popnn::gru::GruWeights w;
    Tensor kept, output, state, of_input, of_attention;
    using namespace popnn::gru;
    if (form.attention && form.lengths) {
      output = auGruFwd(g, params, in[1], in[0], in[7], weights, &kept, in[5], prog);
      state = auGruBwdWithWU(g, params, prog, in[1], kept, weights, in[0], in[7], output, in[6], &of_input, w, in[5], &of_attention);
    } else if (form.attention) {
      output = auGruFwd(g, params, in[1], in[0], weights, &kept, in[5], prog);
      state = auGruBwdWithWU(g, params, prog, in[1], kept, weights, in[0], output, in[6], &of_input, w, in[5], &of_attention);
    } else if (form.lengths) {
      output = gruFwd(g, params, in[1], in[0], in[7], weights, &kept, prog);
      state = gruBwdWithWU(g, params, prog, in[1], kept, weights, in[0], in[7], output, in[6], &of_input, w);
    } else {
      output = gruFwd(g, params, in[1], in[0], weights, &kept, prog);
      state = gruBwdWithWU(g, params, prog, in[1], kept, weights, in[0], output, in[6], &of_input, w);
    }
    Tensors out = {output, of_input, state, w.inputWeights, w.outputWeights, w.biases};
    if (form.attention) out.push_back(of_attention);
    return out;
  });
}

TEST(GruForms, ForwardAndGradients) {
  for (const Form& form : kForms) {
    std::vector<Numbers> values;
    for (const Operand& o : operands(form)) values.push_back(o.values);
    const Numbers grad = values[6];
    for (const Machine machine : {Machine::cpu, Machine::ipu1}) {
      const auto out = results_of(machine, form);
      expect_close(out[0], gru(form, values), {2e-5, 2e-5}, "output, " + form.name());
      for (std::size_t k = 0; k + 1 < out.size(); ++k)
        expect_close(out[k + 1], differences([&](const std::vector<Numbers>& v) { return gru(form, v); }, values, k, grad), {2e-4, 2e-4},
                     operands(form)[k].name + ", " + form.name());
    }
  }
}

// Lengths as a parameter of the layer: like realTimeSteps, but where the last output alone is asked for.
TEST(GruForms, LengthsOfTheParameters) {
  for (const bool attention : {false, true})
    for (const bool full : {true, false}) {
      const Form form = {attention, true, false, !full};
      const std::vector<Operand> all = operands(form);
      std::vector<Numbers> values;
      for (const Operand& o : all) values.push_back(o.values);
      const std::size_t one = kBatch * kOut;
      const auto out = run(Machine::ipu1, all, [&](Graph& g, Tensors& in, Sequence& prog) {
        GruParams params(FLOAT, kBatch, kSteps, in[7], {kIn, kOut});
        params.outputFullSequence = full;
        const popnn::gru::GruWeights weights = {in[2], in[3], in[4]};
        popnn::gru::GruWeights w;
        Tensor kept, of_input, of_attention;
        const Tensor gradient = full ? in[6] : in[6][kSteps - 1];
        using namespace popnn::gru;
        const Tensor output = attention ? auGruFwd(g, params, in[1], in[0], weights, &kept, in[5], prog)
                                        : gruFwd(g, params, in[1], in[0], weights, &kept, prog);
        const Tensor state =
            attention ? auGruBwdWithWU(g, params, prog, in[1], kept, weights, in[0], output, gradient, &of_input, w, in[5], &of_attention)
                      : gruBwdWithWU(g, params, prog, in[1], kept, weights, in[0], output, gradient, &of_input, w);
        EXPECT_THROW(gruFwd(g, params, in[1], in[0], in[7], weights, nullptr, prog), poputil::poplibs_error);
        Tensors results = {output, of_input, state, w.inputWeights, w.outputWeights, w.biases};
        if (attention) results.push_back(of_attention);
        return results;
      });
      const Numbers expected = gru(form, values);
      const auto last = static_cast<std::ptrdiff_t>(expected.size() - one);
      expect_close(out[0], full ? expected : Numbers(expected.begin() + last, expected.end()), {2e-5, 2e-5}, "output, " + form.name());
      Numbers grad = values[6];
      if (!full) std::fill(grad.begin(), grad.begin() + last, 0);
      for (std::size_t k = 0; k + 1 < out.size(); ++k)
        expect_close(out[k + 1], differences([&](const std::vector<Numbers>& v) { return gru(form, v); }, values, k, grad), {2e-4, 2e-4},
                     all[k].name + ", " + form.name());
    }
}

TEST(GruForms, CreatedTensorsFitAndOthersAreRejected) {
  run(Machine::ipu1, {operand("x", FLOAT, {1}, uniform(0, 1, 1))}, [&](Graph& g, Tensors& in, Sequence& prog) {
    using namespace popnn::gru;
    GruParams params(FLOAT, kBatch, kSteps, {kIn, kOut});
    params.resetAfter = true;
    const Tensor input = createInput(g, params, "input"), state = createInitialState(g, params, "state"),
                 attention = createAttention(g, params, "attention"), lengths = linear(g, UNSIGNED_INT, {kBatch});
    const GruWeights weights = createWeights(g, params, "weights");
    EXPECT_EQ(weights.biases.shape(), (std::vector<std::size_t>{3, 2, kOut}));
    EXPECT_EQ(auGruFwd(g, params, state, input, lengths, weights, nullptr, attention, prog).shape(),
              (std::vector<std::size_t>{kSteps, kBatch, kOut}));
    EXPECT_THROW(auGruFwd(g, params, state, input, weights, nullptr, attention.transpose(), prog), poputil::poplibs_error);
    EXPECT_THROW(gruFwd(g, params, state, input, lengths.slice(0, 2), weights, nullptr, prog), poputil::poplibs_error);
    EXPECT_THROW(gruFwd(g, params, state, input, linear(g, FLOAT, {kBatch}), weights, nullptr, prog), poputil::poplibs_error);
    params.resetAfter = false;
    EXPECT_THROW(gruFwd(g, params, state, input, weights, nullptr, prog), poputil::poplibs_error);
    return in;
  });
}

}  // namespace
}  // namespace oplib
