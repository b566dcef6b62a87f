#include "ir/meaning/scatters.h"

#include "ir/meaning/elements.h"
#include "ir/meaning/extreme.h"
#include "ir/meaning/formula.h"

#include <algorithm>
#include <cmath>

namespace pando::ir {

namespace {

bool is_grouped(const Attributes& a) { return a.integer("group_size", 1) > 1; }

Shape with_axis(Shape shape, std::int64_t axis, std::int64_t extent) {
  shape[static_cast<std::size_t>(axis)] = extent;
  return shape;
}

void check_groups(const Inference& in, std::int64_t axis) {
  const std::int64_t groups = in.attributes().integer("group_size", 1);
  if (groups < 1) in.reject("group-size", "a group size of {}", groups);
  if (groups == 1) return;
  if (axis == 0) in.reject("group-axis", "axis 0 is the dimension of the groups");
  for (std::size_t i = 0; i < in.operands(); ++i) {
    if (in.operand(i).rank() == 0 || in.shape(i)[0] != groups) {
      in.reject("group-size", "operand {} has the shape {}; its first dimension must be the group size {}", i, to_string(in.shape(i)),
                groups);
    }
  }
}

}  // namespace

Shape aligned_indices(const Shape& data, const Shape& indices, std::int64_t axis, bool grouped) {
  const std::size_t skip = grouped ? 1 : 0, rank = data.size();
  if (indices.size() > rank || indices.size() < skip + 1) return {};
  Shape aligned(rank, 1);
  if (grouped) aligned[0] = indices[0];
  if (indices.size() == skip + 1) {
    aligned[static_cast<std::size_t>(axis)] = indices[skip];
  } else {
    std::copy(indices.begin(), indices.end(), aligned.begin());
  }
  for (std::size_t d = 0; d < rank; ++d) {
    const bool must = d == static_cast<std::size_t>(axis) || d < skip;
    if (aligned[d] != data[d] && (must || aligned[d] != 1)) return {};
  }
  return aligned;
}

std::vector<std::int64_t> scatter_targets(const Shape& data, const HostTensor& indices, const Shape& aligned, std::int64_t axis,
                                          const Shape& out) {
  std::vector<std::int64_t> targets(static_cast<std::size_t>(elements_of(data)));
  const auto a = static_cast<std::size_t>(axis);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto position = static_cast<std::int64_t>(i);
    const std::int64_t index = indices.integer(broadcast_index(aligned, data, position));
    Shape at = coordinates_of(data, position);
    at[a] = index;
    targets[i] = index < 0 || index >= out[a] ? -1 : position_of(out, at);
  }
  return targets;
}

void infer_scatter_reduce(Inference& in) {
  const Attributes& a = in.attributes();
  const std::string& reduction = a.text("reduction");
  if (reduction != "sum" && reduction != "min" && reduction != "max" && reduction != "none") {
    in.reject("scatter-reduction", "the reduction '{}'; sum, min, max and none are known", reduction);
  }
  const std::int64_t axis = axis_of(in);
  check_groups(in, axis);
  if (aligned_indices(in.shape(0), in.shape(1), axis, is_grouped(a)).empty()) {
    in.reject("scatter-indices", "indices of shape {} do not fit beside data of shape {}", to_string(in.shape(1)), to_string(in.shape(0)));
  }
  if (in.operands() < 3 && !a.has("axis_size")) in.reject("scatter-size", "neither initial values nor a size of the axis");
  const bool sized = in.operands() == 3 && in.operand(2).rank() > axis;
  const std::int64_t extent = a.integer("axis_size", sized ? in.shape(2)[static_cast<std::size_t>(axis)] : 0);
  if (extent < 1) in.reject("scatter-size", "a size of {} along axis {}", extent, axis);
  const Shape shape = with_axis(in.shape(0), axis, extent);
  if (in.operands() == 3 && (in.shape(2) != shape || in.dtype(2) != in.dtype(0))) {
    in.reject("scatter-initial", "initial values must be of {} and have the shape {}", name_of(in.dtype(0)), to_string(shape));
  }
  in.result(in.dtype(0), shape);
}

void evaluate_scatter_reduce(Evaluation& e) {
  const HostTensor &data = e.operand(0), &indices = e.operand(1);
  const std::int64_t axis = e.attributes().integer("axis");
  HostTensor out = e.operands() == 3 ? e.operand(2) : e.fresh();
  const Shape aligned = aligned_indices(data.shape(), indices.shape(), axis, is_grouped(e.attributes()));
  const std::vector<std::int64_t> targets = scatter_targets(data.shape(), indices, aligned, axis, out.shape());
  const std::string& reduction = e.attributes().text("reduction");
  const std::int64_t n = out.elements();
  std::vector<double> values(static_cast<std::size_t>(n));
  std::vector<bool> touched(static_cast<std::size_t>(n), e.operands() == 3);
  for (std::int64_t o = 0; o < n; ++o) values[static_cast<std::size_t>(o)] = out.number(o);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0) continue;
    const auto t = static_cast<std::size_t>(targets[i]);
    const double v = data.number(static_cast<std::int64_t>(i));
    double& to = values[t];
    if (reduction == "sum") {
      to += v;
    } else if (reduction == "none" || !touched[t]) {
      to = v;
    } else {
      to = reduction == "min" ? smaller(to, v) : larger(to, v);
    }
    touched[t] = true;
  }
  for (std::int64_t o = 0; o < n; ++o) out.set(o, values[static_cast<std::size_t>(o)]);
  e.result(std::move(out));
}

namespace {

// What the elements of `from` (of the result's shape) are where the data went.
ValueId taken(Gradient& g, ValueId from) {
  const Shape &data = g.operand_type(0).shape, &indices = g.operand_type(1).shape;
  const std::int64_t axis = g.attributes().integer("axis");
  const bool grouped = is_grouped(g.attributes());
  if (indices.size() == 1 && !grouped) return g.op("gather", {from, g.operand(1)}, {{"axis", axis}, {"zero_OOR", true}});
  const Shape aligned = aligned_indices(data, indices, axis, grouped);
  ValueId all = g.operand(1);
  if (aligned != indices) all = g.op("reshape", {all}, {{"shape", Ints(aligned)}});
  if (aligned != data) all = g.op("expand", {all}, {{"shape", Ints(data)}});
  return g.op("gather_elements", {from, all}, {{"axis", axis}});
}

}  // namespace

void scatter_reduce_gradient(Gradient& g) {
  const std::string& reduction = g.attributes().text("reduction");
  const bool initial = g.operands() == 3 && g.wants(2), selects = reduction == "min" || reduction == "max";
  const ValueId dy = g.grad();
  const auto zero = [&] { return g.scalar(g.operand_type(0).dtype, 0); };
  if (g.wants(0)) {
    ValueId d = taken(g, dy);
    if (selects) d = select(g, g.op("equal", {g.operand(0), taken(g, g.result())}), d, zero());
    g.give(0, d);
  }
  if (!initial) return;
  if (reduction == "sum") {
    g.give(2, dy);
  } else if (selects) {
    g.give(2, select(g, g.op("equal", {g.operand(2), g.result()}), dy, zero()));
  } else {
    g.give(2, g.op(g.module().row(g.forward()).name, {zeros_like(g, g.operand_type(0)), g.operand(1), dy}, g.attributes()));
  }
}

std::vector<Sample> scatter_reduce_samples(std::int64_t group_size) {
  std::vector<Sample> all;
  const bool grouped = group_size > 1;
  const Shape lead = grouped ? Shape{group_size} : Shape{};
  const auto with_lead = [&](Shape s) {
    s.insert(s.begin(), lead.begin(), lead.end());
    return s;
  };
  const auto axis = static_cast<std::int64_t>(lead.size());
  for (const char* reduction : {"sum", "min", "max", "none"}) {
    Sample s;
    s.operands = {{DType::float32, with_lead({3, 2}), -2, 2, {}}, {DType::int32, with_lead({3}), 0, 0, {3, 0, 1, 2, 4, 0}}};
    s.attributes = {{"reduction", std::string(reduction)}, {"axis", axis}, {"axis_size", std::int64_t{5}}};
    if (grouped) s.attributes.set("group_size", group_size);
    all.push_back(s);
    s.operands.push_back({DType::float32, with_lead({5, 2}), -2, 2, {}});
    all.push_back(s);
    s.operands[1] = {DType::int32, with_lead({3, 2}), 0, 0, {3, 0, 3, 2, 1, 0}};
    s.smooth = std::string(reduction) != "none";
    all.push_back(s);
    s.smooth = false;
    for (const auto& [dtype, low] : {std::pair(DType::int8, -20.0), std::pair(DType::uint32, 0.0)}) {
      s.operands.resize(2);
      s.operands[0] = {dtype, with_lead({3, 2}), low, 20, {}};
      all.push_back(s);
      s.operands.push_back({dtype, with_lead({5, 2}), low, 20, {}});
      all.push_back(s);
    }
  }
  return all;
}

Shape gathered_shape(const Shape& t, const Shape& indices, std::int64_t axis, bool grouped) {
  Shape out(t.begin(), t.begin() + axis);
  out.insert(out.end(), indices.begin() + (grouped ? 1 : 0), indices.end());
  out.insert(out.end(), t.begin() + axis + 1, t.end());
  return out;
}

void infer_gather(Inference& in) {
  const std::int64_t axis = axis_of(in);
  check_groups(in, axis);
  in.result(in.dtype(0), gathered_shape(in.shape(0), in.shape(1), axis, is_grouped(in.attributes())));
}

void evaluate_gather(Evaluation& e) {
  const HostTensor &t = e.operand(0), &indices = e.operand(1);
  const AxisView view(t.shape(), e.attributes().integer("axis"));
  const std::int64_t groups = is_grouped(e.attributes()) ? t.shape()[0] : 1;
  const std::int64_t n = indices.elements() / groups, outer = view.outer / groups;
  HostTensor out = e.fresh();
  // Result (group, outer, index, inner).
  move_elements(out, t, [&](std::int64_t i) -> std::int64_t {
    const std::int64_t inner = i % view.inner, j = i / view.inner % n, o = i / view.inner / n;
    const std::int64_t index = indices.integer(o / outer * n + j);
    return index < 0 || index >= view.extent ? -1 : view.position(o, index, inner);
  });
  e.result(std::move(out));
}

void gather_gradient(Gradient& g) {
  const Shape &t = g.operand_type(0).shape, &indices = g.operand_type(1).shape;
  const std::int64_t axis = g.attributes().integer("axis");
  const bool grouped = is_grouped(g.attributes());
  const std::int64_t groups = grouped ? t[0] : 1, n = elements_of(indices) / groups;
  const ValueId dy = g.op("reshape", {g.grad()}, {{"shape", Ints(with_axis(t, axis, n))}});
  const ValueId flat = g.op("reshape", {g.operand(1)}, {{"shape", grouped ? Ints{groups, n} : Ints{n}}});
  Attributes a{{"reduction", std::string("sum")}, {"axis", axis}, {"axis_size", t[static_cast<std::size_t>(axis)]}};
  if (grouped) a.set("group_size", groups);
  if (const AttributeValue* v = g.attributes().find("available_memory_proportion")) a.set("available_memory_proportion", *v);
  g.give(0, g.op(grouped ? "grouped_scatter_reduce" : "scatter_reduce", {dy, flat}, a));
}

std::vector<Sample> gather_samples() {
  std::vector<Sample> all;
  for (DType dtype : {DType::float32, DType::float16}) {
    Sample s;
    s.operands = {{dtype, {4, 3}, -2, 2, {}}, {DType::int32, {2, 2}, 0, 0, {1, 0, 3, 1}}};
    s.attributes = {{"axis", std::int64_t{0}}};
    all.push_back(s);
    s.operands = {{dtype, {2, 4, 3}, -2, 2, {}}, {DType::uint32, {3}, 0, 0, {2, 2, 0}}};
    s.attributes = {{"axis", std::int64_t{1}}};
    all.push_back(s);
    s.operands[1] = {DType::int32, {}, 0, 0, {2}};
    s.attributes = {{"axis", std::int64_t{2}}, {"zero_OOR", true}};
    all.push_back(s);
  }
  Sample outside = all[0];
  outside.operands[1].values = {1, 9, -1, 3};
  outside.attributes.set("zero_OOR", true);
  all.push_back(outside);
  return all;
}

Subscripts gather_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  const auto axis = static_cast<std::size_t>(o.attributes().integer("axis"));
  const std::size_t indices = o.operand(1).size(), first = is_grouped(o.attributes()) ? 1 : 0;
  // Groups are as many as the attribute says, so that they are not cut.
  std::size_t subscript = 0;
  for (std::size_t d = first; d < o.operand(0).size(); ++d) {
    if (d == axis) continue;
    put(s.operands[0], d, subscript);
    put(s.results[0], d < axis ? d : d + indices - first - 1, subscript++);
  }
  for (std::size_t d = first; d < indices; ++d) {
    put(s.operands[1], d, subscript);
    put(s.results[0], axis + d - first, subscript++);
  }
  return s;
}

Subscripts scatter_reduce_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  const Shape &data = o.operand(0), &indices = o.operand(1);
  const auto axis = static_cast<std::size_t>(o.attributes().integer("axis"));
  for (std::size_t d = 0; d < data.size(); ++d) {
    put(s.operands[0], d, d);
    if (d == axis) continue;
    put(s.results[0], d, d);
    if (o.operands() == 3) put(s.operands[2], d, d);
  }
  const std::size_t skip = is_grouped(o.attributes()) ? 1 : 0;
  const bool names_slices = indices.size() == skip + 1;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    const std::size_t beside = names_slices && d == skip ? axis : d;
    if (indices[d] == data[beside]) put(s.operands[1], d, beside);
  }
  // Rows are added up, so that they may come in parts; initial values would be added up with each.
  const bool adds = o.operands() == 2 && o.attributes().text("reduction") == "sum";
  if (!adds) s.blocked = std::uint64_t{1} << axis;
  if (skip) s.blocked |= 1;
  return s;
}

Subscripts element_index_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  for (std::size_t d = 0; d < o.result().size(); ++d) {
    bool equal = d != static_cast<std::size_t>(o.attributes().integer("axis"));
    for (std::size_t i = 0; i < o.operands(); ++i) {
      put(s.operands[i], d, d);
      equal = equal && o.operand(i)[d] == o.result()[d];
    }
    put(s.results[0], d, d);
    if (!equal) s.blocked |= std::uint64_t{1} << d;
  }
  return s;
}

}  // namespace pando::ir
