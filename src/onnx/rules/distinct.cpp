#include "onnx/rules/distinct.h"

#include <cstring>
#include <numeric>

namespace pando::onnx {

void distinct(Context& c) {
  const HostTensor& x = c.data(0);
  const bool flat = !c.has("axis"), sorted = c.flag("sorted", true);
  const Shape shape = flat ? Shape{x.elements()} : x.shape();
  const auto axis = static_cast<std::size_t>(flat ? 0 : c.axis(0, shape.size()));
  const std::int64_t n = shape[axis];
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) (d < axis ? outer : d > axis ? inner : outer) *= d == axis ? 1 : shape[d];
  const auto at = [&](std::int64_t slice, std::int64_t i) { return (i / inner * n + slice) * inner + i % inner; };
  const std::int64_t size = outer * inner;
  const auto compare = [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t i = 0; i < size; ++i) {
      const double p = x.number(at(a, i)), q = x.number(at(b, i));
      if (p != q) return p < q ? -1 : 1;
    }
    return 0;
  };
  Ints order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return compare(a, b) < 0; });
  // Groups of equal slices, by their first.
  std::vector<Ints> groups;
  for (std::int64_t i : order) {
    if (groups.empty() || compare(groups.back()[0], i) != 0) groups.emplace_back();
    groups.back().push_back(i);
  }
  if (!sorted) std::sort(groups.begin(), groups.end(), [](const Ints& a, const Ints& b) { return a[0] < b[0]; });
  Shape out = shape;
  out[axis] = static_cast<std::int64_t>(groups.size());
  HostTensor y(x.dtype(), out);
  Ints firsts, inverse(static_cast<std::size_t>(n)), counts;
  const std::size_t bytes = ir::size_of(x.dtype());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    firsts.push_back(groups[g][0]);
    counts.push_back(static_cast<std::int64_t>(groups[g].size()));
    for (std::int64_t i : groups[g]) inverse[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(g);
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t to = (i / inner * out[axis] + static_cast<std::int64_t>(g)) * inner + i % inner;
      std::memcpy(y.writable() + static_cast<std::size_t>(to) * bytes, x.data() + static_cast<std::size_t>(at(firsts.back(), i)) * bytes,
                  bytes);
    }
  }
  c.give_known(0, y);
  const auto list = [](const Ints& v) { return HostTensor::of_ints(DType::int64, {static_cast<std::int64_t>(v.size())}, v); };
  c.give_known(1, list(firsts));
  c.give_known(2, list(inverse));
  c.give_known(3, list(counts));
}

}  // namespace pando::onnx
