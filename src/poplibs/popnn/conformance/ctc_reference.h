// Sequences of classes' probabilities, and all paths through them, one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "oplib.h"

namespace oplib {

using Label = std::vector<std::size_t>;
using Probabilities = std::vector<std::vector<double>>;  // a row of classes for each time

// Random input {time, batch, classes}: any numbers (logits), or logarithms of probabilities.
inline Operand ctc_input(const poplar::Type& type, std::size_t time, std::size_t batch, std::size_t classes, bool logits, unsigned seed) {
  const auto random = uniform(-2, 2, seed);
  std::vector<double> in(time * batch * classes);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = random(i);
  for (std::size_t row = 0; row < time * batch && !logits; ++row) {
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += std::exp(in[row * classes + k]);
    for (std::size_t k = 0; k < classes; ++k) in[row * classes + k] -= std::log(sum);
  }
  return operand("in", type, {time, batch, classes}, [&](std::size_t i) { return in[i]; });
}

// Of sequence b, the first `time` rows.
inline Probabilities ctc_probabilities(const Values& in, std::size_t b, std::size_t time, std::size_t batch, std::size_t classes,
                                       bool logits) {
  Probabilities p(time, std::vector<double>(classes));
  for (std::size_t t = 0; t < time; ++t) {
    double sum = 0;
    for (std::size_t k = 0; k < classes; ++k) sum += p[t][k] = std::exp(in[(t * batch + b) * classes + k]);
    for (double& x : p[t]) x /= logits ? sum : 1;
  }
  return p;
}

// Calls f(path, label, probability) for all paths of classes, one for each time; the label is the path without repetitions and then
// without blanks.
template <class F>
void for_each_path(const Probabilities& p, std::size_t classes, std::size_t blank, const F& f) {
  Label path(p.size(), 0);
  for (bool more = true; more;) {
    Label spelled;
    double q = 1;
    for (std::size_t t = 0; t < p.size(); ++t) {
      q *= p[t][path[t]];
      if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) spelled.push_back(path[t]);
    }
    f(path, spelled, q);
    std::size_t t = 0;
    while (t < p.size() && ++path[t] == classes) path[t++] = 0;
    more = t < p.size();
  }
}

}  // namespace oplib
