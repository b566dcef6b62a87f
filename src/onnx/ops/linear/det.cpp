#include "onnx/operator.h"

namespace pando::onnx {

namespace {

ValueId determinant(Context& c, ValueId x, std::int64_t n) {
  const std::int64_t rank = c.rank(x), rows = rank - 2, columns = rank - 1;
  if (n == 1) return x;
  // By the first row; the matrices are small.
  ValueId sum;
  for (std::int64_t k = 0; k < n; ++k) {
    const ValueId below = c.slice(x, rows, 1, n - 1);
    Values rest;
    if (k > 0) rest.push_back(c.slice(below, columns, 0, k));
    if (k + 1 < n) rest.push_back(c.slice(below, columns, k + 1, n - 1 - k));
    const ValueId first = c.slice(c.slice(x, rows, 0, 1), columns, k, 1);
    const ValueId term = c.op("mul", {first, determinant(c, c.concat(rest, columns), n - 1)});
    sum = sum.valid() ? c.op(k % 2 == 0 ? "add" : "sub", {sum, term}) : term;
  }
  return sum;
}

}  // namespace

extern const Operator onnx_det;
constexpr Operator onnx_det = {
    .signature = "Det(X) -> Y",
    .rule =
        [](Context& c) {
          Shape shape = c.shape_of(0);
          if (shape.size() < 2 || shape[shape.size() - 1] != shape[shape.size() - 2])
            c.reject(fmt::format("a matrix of shape {}", ir::to_string(shape)));
          const std::int64_t n = shape.back();
          if (n < 1 || n > 4) c.reject(fmt::format("{} rows; 1 to 4 are possible", n));
          shape.resize(shape.size() - 2);
          c.give(c.op("reshape", {determinant(c, c.operand(0), n)}, {{"shape", Ints(shape)}}));
        },
    .limits = "matrices of more than 4 rows",
};

}  // namespace pando::onnx
