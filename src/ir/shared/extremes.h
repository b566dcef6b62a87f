// What ops that choose the largest or the least share: maximum and minimum of operands, max and min along axes.
#pragma once

#include "ir/meaning/extreme.h"
#include "ir/meaning/reduction.h"
#include "ir/rows/define.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace pando::ir {

// One or more operands of one element type, with NumPy's broadcasting.
void infer_extreme(Inference& in);
// Of operands, element by element.
template <bool kLargest>
void extreme_of_operands(Evaluation& e) {
  const auto chosen = [](auto a, auto b) { return kLargest ? larger(a, b) : smaller(a, b); };
  HostTensor out = e.fresh();
  const bool whole = !is_floating(out.dtype());
  for (std::int64_t i = 0; i < out.elements(); ++i) {
    for (std::size_t o = 0; o < e.operands(); ++o) {
      const HostTensor& x = e.operand(o);
      const std::int64_t at = broadcast_index(x.shape(), out.shape(), i);
      if (whole)
        out.set_integer(i, o == 0 ? x.integer(at) : chosen(out.integer(i), x.integer(at)));
      else
        out.set(i, o == 0 ? x.number(at) : chosen(out.number(i), x.number(at)));
    }
  }
  e.result(std::move(out));
}
// Every operand gets the gradient where it equals the result.
void give_operands_where_equal(Gradient& g);
std::vector<Sample> extreme_samples();

// Of each group of a reduction.
template <bool kLargest>
void extreme_of_groups(Evaluation& e) {
  const auto chosen = []<class T>(std::span<const T> v) {
    return std::accumulate(v.begin(), v.end(), v[0], kLargest ? larger<T> : smaller<T>);
  };
  reduce_groups(e, [&](std::span<const double> v) { return chosen(v); }, [&](std::span<const std::int64_t> v) { return chosen(v); });
}

}  // namespace pando::ir
