// Recurrent layers in double, and gradients as differences of a loss: the sum of outputs times given numbers.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace oplib {

using Numbers = std::vector<double>;

constexpr std::size_t kSteps = 4, kBatch = 3, kIn = 5, kOut = 6;
constexpr std::size_t kLengths[kBatch] = {4, 1, 3};

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// x W[unit], column j, of `rows` elements of x.
inline double product_of(const Numbers& w, std::size_t rows, std::size_t unit, std::size_t j, const double* x) {
  double s = 0;
  for (std::size_t k = 0; k < rows; ++k) s += x[k] * w[(unit * rows + k) * kOut + j];
  return s;
}

// A GRU's form: with attention, with sequences of different lengths, with the reset gate after the product; behind the end of a sequence
// its state stays what it was.
struct Form {
  bool attention = false, lengths = false, after = false, keeps = false;
  std::string name() const {
    return std::string(attention ? "attention " : "") + (lengths ? "lengths " : "") + (after ? "reset after" : "");
  }
};

// All outputs, of input, state, W, R, b and, of forms with it, attention.
inline Numbers gru(const Form& form, const std::vector<Numbers>& v) {
  const std::size_t biases = form.after ? 2 : 1;
  const auto bias = [&](std::size_t unit, std::size_t i, std::size_t j) { return v[4][(unit * biases + i) * kOut + j]; };
  Numbers h = v[1], out;
  for (std::size_t t = 0; t < kSteps; ++t) {
    const Numbers before = h;
    for (std::size_t n = 0; n < kBatch; ++n) {
      const double *x = &v[0][(t * kBatch + n) * kIn], *y = &before[n * kOut];
      const auto gate = [&](std::size_t unit, std::size_t j) {
        return sigmoid(product_of(v[2], kIn, unit, j, x) + product_of(v[3], kOut, unit, j, y) + bias(unit, 0, j) +
                       (form.after ? bias(unit, 1, j) : 0));
      };
      Numbers reset(kOut);
      for (std::size_t j = 0; j < kOut; ++j) reset[j] = gate(0, j) * y[j];
      for (std::size_t j = 0; j < kOut; ++j) {
        const double u = gate(1, j) * (form.attention ? 1 - v[5][n * kSteps + t] : 1);
        const double of_state =
            form.after ? gate(0, j) * (product_of(v[3], kOut, 2, j, y) + bias(2, 1, j)) : product_of(v[3], kOut, 2, j, reset.data());
        const double c = std::tanh(product_of(v[2], kIn, 2, j, x) + bias(2, 0, j) + of_state);
        h[n * kOut + j] = !form.lengths || t < kLengths[n] ? u * y[j] + (1 - u) * c : form.keeps ? y[j] : 0;
      }
    }
    out.insert(out.end(), h.begin(), h.end());
  }
  return out;
}

// The gradient of sum(weights * f(values)) with respect to values[which].
template <class F>
Numbers differences(const F& f, std::vector<Numbers> values, std::size_t which, const Numbers& weights) {
  const auto loss = [&] {
    const Numbers out = f(values);
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

}  // namespace oplib
