// The forms of the GRU layer: with attention, with sequences of different lengths, with the reset gate after the product. Outputs against
// the equations in double, gradients against differences of a loss, the sum of outputs times given numbers.
#include <gtest/gtest.h>

#include <popnn/Gru.hpp>
#include <poputil/exceptions.hpp>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using popnn::gru::GruParams;
using program::Sequence;
using Numbers = std::vector<double>;
using Tensors = std::vector<Tensor>;

constexpr std::size_t kSteps = 4, kBatch = 3, kIn = 5, kOut = 6;
constexpr std::size_t kLengths[kBatch] = {4, 1, 3};

struct Form {
  bool attention, lengths, after;
  std::string name() const {
    return std::string(attention ? "attention " : "") + (lengths ? "lengths " : "") + (after ? "reset after" : "");
  }
};
const std::vector<Form> kForms = {
    {true, false, false}, {false, true, false}, {true, true, false}, {false, false, true}, {true, true, true}};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// What is computed of input, state, W, R, b and attention.
Numbers gru(const Form& form, const std::vector<Numbers>& v) {
  const std::size_t biases = form.after ? 2 : 1;
  const auto product = [](const Numbers& w, std::size_t rows, std::size_t unit, std::size_t j, const double* x) {
    double s = 0;
    for (std::size_t k = 0; k < rows; ++k) s += x[k] * w[(unit * rows + k) * kOut + j];
    return s;
  };
  const auto bias = [&](std::size_t unit, std::size_t i, std::size_t j) { return v[4][(unit * biases + i) * kOut + j]; };
  Numbers h = v[1], out;
  for (std::size_t t = 0; t < kSteps; ++t) {
    const Numbers before = h;
    for (std::size_t n = 0; n < kBatch; ++n) {
      const double *x = &v[0][(t * kBatch + n) * kIn], *y = &before[n * kOut];
      const auto gate = [&](std::size_t unit, std::size_t j) {
        return sigmoid(product(v[2], kIn, unit, j, x) + product(v[3], kOut, unit, j, y) + bias(unit, 0, j) +
                       (form.after ? bias(unit, 1, j) : 0));
      };
      Numbers reset(kOut);
      for (std::size_t j = 0; j < kOut; ++j) reset[j] = gate(0, j) * y[j];
      for (std::size_t j = 0; j < kOut; ++j) {
        const double u = gate(1, j) * (form.attention ? 1 - v[5][n * kSteps + t] : 1);
        const double of_state =
            form.after ? gate(0, j) * (product(v[3], kOut, 2, j, y) + bias(2, 1, j)) : product(v[3], kOut, 2, j, reset.data());
        const double c = std::tanh(product(v[2], kIn, 2, j, x) + bias(2, 0, j) + of_state);
        h[n * kOut + j] = form.lengths && t >= kLengths[n] ? 0 : u * y[j] + (1 - u) * c;
      }
    }
    out.insert(out.end(), h.begin(), h.end());
  }
  return out;
}

// The gradient of sum(weights * gru(values)) with respect to values[which].
Numbers differences(const Form& form, std::vector<Numbers> values, std::size_t which, const Numbers& weights) {
  const auto loss = [&] {
    const Numbers out = gru(form, values);
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * out[i];
    return sum;
  };
  Numbers gradient;
  for (double& x : values[which]) {
    const double at = x, step = 1e-5;
    x = at + step;
    const double above = loss();
    x = at - step;
    gradient.push_back((above - loss()) / (2 * step));
    x = at;
  }
  return gradient;
}

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
        expect_close(out[k + 1], differences(form, values, k, grad), {2e-4, 2e-4}, operands(form)[k].name + ", " + form.name());
    }
  }
}

TEST(GruForms, CreatedTensorsFitAndOthersAreRefused) {
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
