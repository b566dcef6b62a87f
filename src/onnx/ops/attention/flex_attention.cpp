#include "onnx/importer.h"
#include "onnx/operator.h"
#include "onnx/rules/attention.h"

#include <cmath>

namespace pando::onnx {

namespace {

ValueId through(Context& c, const char* name, ValueId v) {
  if (!c.has(name)) return v;
  Scope inner;
  inner.parent = &c.scope();
  inner.opsets = c.scope().opsets;
  inner.graph = c.graph();
  const std::vector<Bound> out = c.importer().read_graph(inner, *c.node.attributes.at(name).graph, {{{}, v}}, c);
  if (out.size() != 1) c.reject(fmt::format("graph '{}' has {} outputs; one is expected", name, out.size()));
  const ValueId y = c.importer().value_of(inner, out[0], name);
  if (c.shape(y) != c.shape(v) || c.dtype(y) != c.dtype(v)) c.reject(fmt::format("graph '{}' gives another type than it takes", name));
  return y;
}

}  // namespace

extern const Operator onnx_flex_attention;
constexpr Operator onnx_flex_attention = {
    .signature =
        "ai.onnx.preview.FlexAttention(Q, K, V; prob_mod: graph, scale: float, score_mod: graph, softmax_precision: "
        "int) -> Y",
    .rule =
        [](Context& c) {
          for (std::size_t i : {0u, 1u, 2u}) {
            if (c.rank_of(i) != 4) c.reject(fmt::format("operand {} has {} dimensions; 4 are expected", i, c.rank_of(i)));
          }
          const ValueId q = c.operand(0), k = for_each_query_head(c, c.operand(1), c.shape(q)[1]),
                        v = for_each_query_head(c, c.operand(2), c.shape(q)[1]);
          const DType dtype = c.dtype(q), wide = c.dtype_attribute("softmax_precision", dtype == DType::float64 ? dtype : DType::float32);
          const double scale = c.real("scale", 1 / std::sqrt(static_cast<double>(c.shape(q)[3])));
          ValueId scores = c.op("matmul", {c.cast(q, wide), c.transpose(c.cast(k, wide), {0, 1, 3, 2})});
          scores = through(c, "score_mod", c.op("mul", {scores, c.scalar(wide, scale)}));
          const ValueId shares = through(c, "prob_mod", c.op("softmax", {scores}, {{"axis", std::int64_t{3}}}));
          c.give(c.op("matmul", {c.cast(shares, dtype), v}));
        },
};

}  // namespace pando::onnx
