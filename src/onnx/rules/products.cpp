#include "onnx/rules/products.h"

namespace pando::onnx {

namespace {

// 255 * 255 * 256 < 2^24: sums of so many products are whole floats.
constexpr std::int64_t kExactTerms = 256;

// Vectors as matrices; what the result is then reshaped to is what broadcasting gives without the ones.
struct Matrices {
  ValueId a, b;
  bool row, column;
};

Matrices as_matrices(Context& c, ValueId a, ValueId b) {
  const Shape sa = c.shape(a), sb = c.shape(b);
  if (sa.empty() || sb.empty()) c.reject("a product of scalars");
  const bool row = sa.size() == 1, column = sb.size() == 1;
  return {row ? c.reshape(a, {1, sa[0]}) : a, column ? c.reshape(b, {sb[0], 1}) : b, row, column};
}

ValueId without_ones(Context& c, ValueId y, const Matrices& m) {
  Shape s = c.shape(y);
  if (m.column) s.erase(s.end() - 1);
  if (m.row) s.erase(s.end() - (m.column ? 1 : 2));
  return c.reshape(y, s);
}

// (..., rows, 1, k) times (..., 1, columns, k), summed over k.
ValueId product_by_elements(Context& c, const Matrices& m) {
  const Shape sa = c.shape(m.a), sb = c.shape(m.b);
  Shape left = sa, right = sb;
  left.insert(left.end() - 1, 1);
  std::swap(right[right.size() - 1], right[right.size() - 2]);
  Ints turn;
  for (std::size_t d = 0; d < sb.size(); ++d) turn.push_back(static_cast<std::int64_t>(d));
  std::swap(turn[turn.size() - 1], turn[turn.size() - 2]);
  right.insert(right.end() - 2, 1);
  const ValueId all = c.op("mul", {c.reshape(m.a, left), c.reshape(c.transpose(m.b, turn), right)});
  return c.cast(c.reduce("sum", all, {c.rank(all) - 1}, false), c.dtype(m.a));
}

}  // namespace

ValueId product_of_bytes(Context& c, ValueId a, ValueId b) {
  const Matrices m = as_matrices(c, a, b);
  const std::int64_t k = c.shape(m.a).back(), axis_a = c.rank(m.a) - 1, axis_b = c.rank(m.b) - 2;
  if (c.shape(m.b)[static_cast<std::size_t>(axis_b)] != k)
    c.reject(fmt::format("{} columns times {} rows", k, c.shape(m.b)[static_cast<std::size_t>(axis_b)]));
  ValueId sum;
  for (std::int64_t at = 0; at < k || !sum.valid(); at += kExactTerms) {
    const std::int64_t n = std::min(kExactTerms, k - at);
    const ValueId part = c.cast(c.op("matmul", {c.slice(m.a, axis_a, at, n), c.slice(m.b, axis_b, at, n)}), DType::int32);
    sum = sum.valid() ? c.op("add", {sum, part}) : part;
  }
  return without_ones(c, sum, m);
}

ValueId exact_matmul(Context& c, ValueId a, ValueId b) {
  const DType dtype = c.dtype(a);
  if (c.dtype(b) != dtype) c.reject(fmt::format("a product of {} and {}", ir::name_of(dtype), ir::name_of(c.dtype(b))));
  if (ir::is_floating(dtype)) return c.op("matmul", {a, b});
  if (dtype == DType::int8 || dtype == DType::uint8)
    return c.cast(product_of_bytes(c, c.cast(a, DType::float32), c.cast(b, DType::float32)), dtype);
  const Matrices m = as_matrices(c, a, b);
  return without_ones(c, product_by_elements(c, m), m);
}

}  // namespace pando::onnx
