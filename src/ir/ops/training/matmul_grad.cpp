#include "ir/rows/define.h"

namespace pando::ir {

namespace {

// row-major (rows, columns) of a tensor seen as a matrix: its last dimension, and all before it.
struct Matrix {
  const HostTensor& t;
  std::int64_t rows, columns;
  explicit Matrix(const HostTensor& tensor) : t(tensor), rows(1), columns(tensor.shape().back()) {
    for (std::size_t d = 0; d + 1 < t.shape().size(); ++d) rows *= t.shape()[d];
  }
  double at(std::int64_t r, std::int64_t c) const { return t.number(r * columns + c); }
};

HostTensor by_operand(const Evaluation& e) {
  const Matrix y(e.operand(1)), dz(e.operand(2));
  HostTensor dx = e.fresh(0);
  for (std::int64_t m = 0; m < dz.rows; ++m) {
    for (std::int64_t k = 0; k < y.rows; ++k) {
      double sum = 0;
      for (std::int64_t n = 0; n < dz.columns; ++n) sum += dz.at(m, n) * y.at(k, n);
      dx.set(m * y.rows + k, sum);
    }
  }
  return dx;
}

HostTensor by_weight(const Evaluation& e) {
  const Matrix x(e.operand(0)), dz(e.operand(2));
  HostTensor dy = e.fresh(1);
  for (std::int64_t k = 0; k < x.columns; ++k) {
    for (std::int64_t n = 0; n < dz.columns; ++n) {
      double sum = 0;
      for (std::int64_t m = 0; m < dz.rows; ++m) sum += x.at(m, k) * dz.at(m, n);
      dy.set(k * dz.columns + n, sum);
    }
  }
  return dy;
}

// All rows of all batches below each other.
ValueId flat(Expansion& x, ValueId v) {
  const Shape& shape = x.type_of(v).shape;
  if (shape.size() == 2) return v;
  return x.op("reshape", {v}, {{"shape", Ints{elements_of(shape) / shape.back(), shape.back()}}});
}

void expand_matmul_grad(Expansion& x) {
  const Attributes turned{{"permutation", Ints{1, 0}}};
  x.result(x.op("matmul", {x.operand(2), x.op("transpose", {x.operand(1)}, turned)}));
  x.result(x.op("matmul", {x.op("transpose", {flat(x, x.operand(0))}, turned), flat(x, x.operand(2))}));
}

}  // namespace

extern const OpRow op_matmul_grad;
constexpr OpRow op_matmul_grad = checked({
    .name = "matmul_grad",
    .doc = "Both gradients of z = matmul(x, y) for a matrix y, in one op: dz y^T and x^T dz. Leading dimensions of x are rows, too.",
    .operands = {{{"x", any_floating}, {"y", any_floating}, {"dz", any_floating}}},
    .infer =
        [](Inference& in) {
          if (in.shape(0).size() < 2 || in.shape(1).size() != 2 || in.shape(0).back() != in.shape(1)[0])
            in.reject("matmul-shapes", "x and y do not multiply");
          Shape z = in.shape(0);
          z.back() = in.shape(1)[1];
          if (in.shape(2) != z) in.reject("matmul-shapes", "dz has the shape {}, the product {}", to_string(in.shape(2)), to_string(z));
          if (in.dtype(0) != in.dtype(1) || in.dtype(0) != in.dtype(2)) in.reject("different-types", "operands of several element types");
          in.result(in.dtype(0), in.shape(0));
          in.result(in.dtype(1), in.shape(1));
        },
    .reference =
        [](Evaluation& e) {
          e.result(by_operand(e));
          e.result(by_weight(e));
        },
    .expand = expand_matmul_grad,
    .cost =
        [](const Inference& in) {
          const double rows = static_cast<double>(elements_of(in.shape(0))) / static_cast<double>(in.shape(0).back());
          const double size = static_cast<double>(size_of(in.dtype(0))), weight = static_cast<double>(elements_of(in.shape(1)));
          const double x = static_cast<double>(elements_of(in.shape(0))), z = static_cast<double>(elements_of(in.shape(2)));
          return Cost{4 * rows * weight, size * (x + weight + 2 * z), size * (x + weight)};
        },
    .in_program_only = true,
    .subscripts = [](const SubscriptsOf& o) {
      const std::size_t rank = o.operand(0).size(), k = 0, n = 1, batch = 2;
      Subscripts s = o.blank();
      for (std::size_t d = 0; d + 1 < rank; ++d) {
        for (auto* list : {&s.operands[0], &s.operands[2], &s.results[0]}) put(*list, d, batch + d);
      }
      for (auto* list : {&s.operands[0], &s.results[0]}) put(*list, rank - 1, k);
      put(s.operands[2], rank - 1, n);
      for (auto* list : {&s.operands[1], &s.results[1]}) {
        put(*list, 0, k);
        put(*list, 1, n);
      }
      return s;
    },
    .phase = OpPhase::backward,
    .on_matrix_units = true,
});

}  // namespace pando::ir
