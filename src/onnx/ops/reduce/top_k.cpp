#include "onnx/operator.h"

namespace pando::onnx {

namespace {

// Integers of 64 bits are compared with each other: tiles sort none.
constexpr std::int64_t kMostCompared = std::int64_t{1} << 24;

// Of rows (rest, n): how many elements stand before each one, of equal ones those that lie before it.
ValueId places_in_order(Context& c, ValueId rows, std::int64_t n, bool largest) {
  const std::int64_t rest = c.shape(rows)[0];
  const ValueId mine = c.reshape(rows, {rest, n, 1}), others = c.reshape(rows, {rest, 1, n});
  HostTensor earlier(DType::boolean, {n, n});
  for (std::int64_t i = 0; i < n * n; ++i) earlier.set_integer(i, i % n < i / n);
  const ValueId tie = c.op("logical_and", {c.op("equal", {mine, others}), c.constant(earlier)});
  const ValueId before = c.op("logical_or", {c.op(largest ? "less" : "greater", {mine, others}), tie});
  return c.reduce("sum", c.cast(before, DType::int32), {2}, false);
}

void give_by_comparison(Context& c, std::int64_t axis, std::int64_t k, bool largest) {
  Ints order;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(c.rank_of(0)); ++d) {
    if (d != axis) order.push_back(d);
  }
  order.push_back(axis);
  Ints back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) back[static_cast<std::size_t>(order[d])] = static_cast<std::int64_t>(d);
  const ValueId turned = c.transpose(c.operand(0), order);
  Shape shape = c.shape(turned);
  const std::int64_t n = shape.back(), rest = n == 0 ? 0 : ir::elements_of(shape) / n;
  if (rest * n * n > kMostCompared)
    c.reject(fmt::format("{} rows of {} elements of {}; tiles sort integers of 32 bits", rest, n, ir::name_of(c.dtype_of(0))));
  const ValueId rows = c.reshape(turned, {rest, n});
  const ValueId place = c.reshape(places_in_order(c, rows, n, largest), {rest, 1, n});
  Ints wanted, numbers;
  for (std::int64_t i = 0; i < k; ++i) wanted.push_back(i);
  for (std::int64_t i = 0; i < n; ++i) numbers.push_back(i);
  const ValueId chosen = c.op("equal", {place, c.reshape(c.integers(wanted), {1, k, 1})});
  const ValueId number = c.where(chosen, c.reshape(c.integers(numbers), {1, 1, n}), c.scalar(DType::int32, 0));
  const ValueId at = c.reduce("sum", number, {2}, false);
  shape.back() = k;
  c.give(c.transpose(c.reshape(c.op("gather_elements", {rows, at}, {{"axis", std::int64_t{1}}}), shape), back));
  c.give(c.transpose(c.reshape(c.cast(at, DType::int64), shape), back));
}

}  // namespace

extern const Operator onnx_top_k;
constexpr Operator onnx_top_k = {
    .signature = "TopK(X, K; axis: int, largest: int, sorted: int) -> Values, Indices",
    .rule =
        [](Context& c) {
          const std::int64_t axis = c.axis(-1, c.rank_of(0)), k = c.integer(1), n = c.shape_of(0)[static_cast<std::size_t>(axis)];
          if (k < 0 || k > n) c.reject(fmt::format("k is {}; axis {} has {} elements", k, axis, n));
          const bool largest = c.flag("largest", true);
          c.flag("sorted", true);
          if (k == 0) {
            c.give(c.slice(c.operand(0), axis, 0, 0));
            Shape none = c.shape_of(0);
            none[static_cast<std::size_t>(axis)] = 0;
            return c.give(c.full(DType::int64, none, 0));
          }
          if (ir::is_integer(c.dtype_of(0)) && ir::size_of(c.dtype_of(0)) == 8) return give_by_comparison(c, axis, k, largest);
          const ValueId x = c.operand(0);
          const Values found = c.ops("topk", {&x, 1}, {{"k", k}, {"axis", axis}, {"largest", largest}, {"sorted", true}});
          c.give(found[0]);
          c.give(c.cast(found[1], DType::int64));
        },
};

}  // namespace pando::onnx
