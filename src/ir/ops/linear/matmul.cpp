#include "ir/shared/matmul.h"

namespace pando::ir {

namespace {

// For gradients everything is at least a matrix: a vector on the left is a row, on the right a column.
struct Matrices {
  Shape lhs, rhs, result;
};

Matrices matrices_of(const Shape& lhs, const Shape& rhs) {
  Matrices m{lhs, rhs, matmul_shape(lhs, rhs).value()};
  if (rhs.size() == 1) {
    m.rhs = {rhs[0], 1};
    m.result.push_back(1);
  }
  if (lhs.size() == 1) {
    m.lhs = {1, lhs[0]};
    m.result.insert(m.result.end() - 1, 1);
  }
  return m;
}

ValueId reshaped(Gradient& g, ValueId v, const Shape& shape) {
  return g.type_of(v).shape == shape ? v : g.op("reshape", {v}, {{"shape", Ints(shape)}});
}

ValueId transposed(Gradient& g, ValueId v) {
  Ints order;
  const std::int64_t rank = g.type_of(v).rank();
  for (std::int64_t d = 0; d < rank; ++d) order.push_back(d);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return g.op("transpose", {v}, {{"permutation", order}});
}

// The gradient has the product's options, but gives the operands' type.
Attributes options(Gradient& g) {
  Attributes a;
  for (std::string_view name : {"available_memory_proportion", "partials_type"}) {
    if (const AttributeValue* v = g.attributes().find(name)) a.set(name, *v);
  }
  return a;
}

void matmul_gradient(Gradient& g) {
  const Shape &lhs = g.operand_type(0).shape, &rhs = g.operand_type(1).shape;
  const Matrices m = matrices_of(lhs, rhs);
  ValueId dy = g.grad();
  if (g.result_type().dtype != g.operand_type(0).dtype) dy = g.op("cast", {dy}, {{"data_type", g.operand_type(0).dtype}});
  dy = reshaped(g, dy, m.result);
  if (g.wants(0)) {
    const ValueId d = g.op("matmul", {dy, transposed(g, reshaped(g, g.operand(1), m.rhs))}, options(g));
    g.give(0, reshaped(g, g.reduced_to(d, m.lhs), lhs));
  }
  if (!g.wants(1)) return;
  ValueId x = reshaped(g, g.operand(0), m.lhs);
  if (m.rhs.size() == 2 && m.lhs.size() > 2) {
    // One matrix for all batches: their rows follow each other in one product, so that nothing of (batches, k, n) is ever there.
    x = reshaped(g, x, {elements_of(Shape(m.lhs.begin(), m.lhs.end() - 1)), m.lhs.back()});
    dy = reshaped(g, dy, {g.type_of(x).shape[0], m.result.back()});
  }
  const ValueId d = g.op("matmul", {transposed(g, x), dy}, options(g));
  g.give(1, reshaped(g, g.reduced_to(d, m.rhs), rhs));
}

std::vector<Sample> samples() {
  std::vector<Sample> all;
  const auto add = [&](const Shape& a, const Shape& b, DType t = DType::float32) {
    Sample s;
    s.operands = {{t, a, -1, 1, {}}, {t, b, -1, 1, {}}};
    all.push_back(s);
  };
  add({3, 4}, {4, 5});
  add({4}, {4});
  add({3, 4}, {4});
  add({4}, {4, 3});
  add({2, 3, 4}, {4, 5});
  add({2, 3, 4}, {2, 4, 2});
  add({5, 1, 3, 4}, {2, 4, 2});
  add({4}, {2, 4, 3});
  add({3, 4}, {4, 5}, DType::float16);
  return all;
}

}  // namespace

extern const OpRow op_matmul;
constexpr OpRow op_matmul = checked({
    .name = "matmul",
    .doc =
        "Matrix product as NumPy's matmul: the last two dimensions are matrices, those before broadcast; a vector counts as a row on the "
        "left and as a "
        "column on the right, and its dimension is not in the result. `output_type`: the result's element type (the operands' without it).",
    .signature =
        "matmul(lhs: Tensor, rhs: Tensor, available_memory_proportion: Optional[float]=None, output_type: Optional[dtypes.dtype]=None, "
        "partials_type: Optional[dtypes.dtype]=None) -> Tensor",
    .operands = {{{"lhs", any_floating}, {"rhs", any_floating}}},
    .attributes = {{{"available_memory_proportion", AttributeKind::number, false},
                    {"output_type", AttributeKind::dtype, false},
                    {"partials_type", AttributeKind::dtype, false}}},
    .infer =
        [](Inference& in) {
          check_matmul_operands(in);
          in.result(in.attributes().dtype("output_type", in.dtype(0)), *matmul_shape(in.shape(0), in.shape(1)));
        },
    .reference = [](Evaluation& e) { e.result(matmul_product(e, 1)); },
    .differentiable = Differentiable::by_gradient,
    .gradient = matmul_gradient,
    .cost = matmul_cost,
    .samples = samples,
    .popart_type = "MatMul",
    .subscripts = matmul_subscripts,
    .product = Product::matrices,
    .on_matrix_units = true,
});

}  // namespace pando::ir
