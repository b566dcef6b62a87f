#include "ir/shared/update.h"

#include <algorithm>

namespace pando::ir {

namespace {

// t, X, indices and perhaps W come before the scalars.
std::size_t tensors_of(const Attributes& a, std::size_t operands) {
  const AttributeValue* names = a.find("scalars");
  return operands - std::min(operands, names ? std::get<Strings>(*names).size() : 0);
}

void infer_sparse(Inference& in) {
  const std::int64_t axis = in.attributes().integer("axis");
  const Shape &t = in.shape(0), &x = in.shape(1), &indices = in.shape(2);
  if (axis < 0 || axis >= in.operand(0).rank()) in.reject("axis-range", "axis {} is out of range for rank {}", axis, in.operand(0).rank());
  const std::size_t tensors = tensors_of(in.attributes(), in.operands());
  if (tensors != 3 && tensors != 4)
    in.reject("operand-count", "{} operands before the scalars; t, X, indices and perhaps W are possible", tensors);
  check_scalars(in, tensors, {"f"});
  if (tensors == 4 && in.shape(3) != t) in.reject("different-shapes", "t has shape {}, W {}", to_string(t), to_string(in.shape(3)));
  const auto at = t.begin() + axis;
  Shape each(t.begin(), at), flat(t.begin(), at);
  each.insert(each.end(), indices.begin(), indices.end());
  flat.push_back(elements_of(indices));
  each.insert(each.end(), at + 1, t.end());
  flat.insert(flat.end(), at + 1, t.end());
  if (x != each && x != flat)
    in.reject("sparse-shapes", "X has shape {}; indices of shape {} along axis {} of {} need {}", to_string(x), to_string(indices), axis,
              to_string(t), to_string(each));
  same_as_first(in);
}

void run_sparse(Evaluation& e) {
  const auto axis = static_cast<std::size_t>(e.attributes().integer("axis"));
  const HostTensor &t = e.operand(0), &x = e.operand(1), &indices = e.operand(2);
  const double f = scalar_value(e, "f", tensors_of(e.attributes(), e.operands())).value_or(1);
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < t.shape().size(); ++d) (d < axis ? outer : inner) *= d == axis ? 1 : t.shape()[d];
  const std::int64_t extent = t.shape()[axis], n = indices.elements();
  std::vector<double> sums(static_cast<std::size_t>(t.elements()));
  for (std::int64_t i = 0; i < t.elements(); ++i) sums[static_cast<std::size_t>(i)] = t.number(i);
  for (std::int64_t o = 0; o < outer; ++o) {
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t to = indices.integer(k);
      if (to < 0 || to >= extent) continue;
      for (std::int64_t i = 0; i < inner; ++i)
        sums[static_cast<std::size_t>((o * extent + to) * inner + i)] += f * x.number((o * n + k) * inner + i);
    }
  }
  e.result(HostTensor::of_floats(t.dtype(), t.shape(), sums));
}

// Slices of t along the axis are whole; X has the dimensions before the axis in front, those after it at its end.
Subscripts sparse_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  const auto axis = static_cast<std::size_t>(o.attributes().integer("axis"));
  const std::size_t rank = o.operand(0).size(), more = o.operand(1).size() - rank;
  for (std::size_t d = 0; d < rank; ++d) {
    if (d == axis) continue;
    put(s.operands[0], d, d);
    put(s.operands[1], d < axis ? d : d + more, d);
    if (tensors_of(o.attributes(), o.operands()) == 4) put(s.operands[3], d, d);
    put(s.results[0], d, d);
  }
  return s;
}

}  // namespace

extern const OpRow op_sparse_accumulate;
constexpr OpRow op_sparse_accumulate = checked({
    .name = "sparse_accumulate_",
    .doc = "t with f X[i] added at t[indices[i]] along `axis`, into t (f is 1 without it). X has t's shape with the dimension `axis` "
           "replaced by the indices' "
           "dimensions, or by as many elements. Indices outside t add nothing. `W`, a weight whose layout t should have, changes no value.",
    .signature = "sparse_accumulate_(t: Tensor, X: Tensor, indices: Tensor, axis: int=0, f: Optional[Union[float, Tensor]]=None, W: "
                 "Optional[Tensor]=None) -> Tensor",
    .module = "var_updates.accumulate",
    .operands = {{{"t", any_numeric},
                  {"X", any_numeric},
                  {"indices", any_integer},
                  {.name = "W", .types = any_numeric, .optional = true},
                  {.name = "f", .types = any_numeric, .optional = true}}},
    .attributes = {{{"axis", AttributeKind::integer}, {"f", AttributeKind::number, false}, {"scalars", AttributeKind::texts, false}}},
    .infer = infer_sparse,
    .reference = run_sparse,
    .samples =
        [] {
          Sample rows;
          rows.operands = {
              {DType::float32, {5, 3}, -2, 2, {}}, {DType::float32, {4, 3}, -2, 2, {}}, {DType::int32, {4}, 0, 4, {3, 0, 3, 4}}};
          rows.attributes = {{"axis", std::int64_t{0}}, {"f", 0.5}};
          Sample columns;
          columns.operands = {{DType::float32, {2, 5}, -2, 2, {}},
                              {DType::float32, {2, 2, 2}, -2, 2, {}},
                              {DType::uint32, {2, 2}, 0, 4, {1, 1, 4, 0}},
                              {DType::float32, {2, 5}, -2, 2, {}},
                              {DType::float32, {}, 1, 2, {}}};
          columns.attributes = {{"axis", std::int64_t{1}}, {"scalars", Strings{"f"}}};
          return std::vector{rows, columns};
        },
    .modifies = {{{0, 0}}},
    .popart_type = "PopartSparseAccumulate",
    .subscripts = sparse_subscripts,
});

}  // namespace pando::ir
