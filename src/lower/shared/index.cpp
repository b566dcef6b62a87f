#include "lower/shared/index.h"
#include "lower/shared/objective.h"

#include "lower/shared/expressions.h"
#include "lower/terms/element_types.h"

#include "ir/meaning/scatters.h"

#include <popops/Cast.hpp>
#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Fill.hpp>
#include <popops/Zero.hpp>
#include <poputil/TileMapping.hpp>

#include <limits>

namespace pando::lower {

using poplar::Tensor;
using Extents = std::vector<std::size_t>;

Tensor int_indices(OpLowering& o, const Tensor& t) {
  if (t.elementType() == poplar::INT) return t;
  if (t.elementType() == poplar::UNSIGNED_INT) return t.reinterpret(poplar::INT);
  return popops::cast(o.graph(), t, poplar::INT, o.program(), o.name() + "/indices");
}

Tensor flat_positions(OpLowering& o, const Extents& data, const Tensor& indices, std::size_t axis, const Extents& out) {
  Extents stride(out.size(), 1);
  for (std::size_t d = out.size(); d-- > 1;) stride[d - 1] = stride[d] * out[d];
  // Where the element would be with index 0.
  ir::HostTensor base(ir::DType::int32, ir::Shape(data.begin(), data.end()));
  for (std::int64_t i = 0; i < base.elements(); ++i) {
    std::size_t rest = static_cast<std::size_t>(i), at = 0;
    for (std::size_t d = data.size(); d-- > 0;) {
      if (d != axis) at += rest % data[d] * stride[d];
      rest /= data[d];
    }
    base.set_integer(i, static_cast<std::int64_t>(at));
  }
  const Tensor bases = add_constant(o.graph(), base, o.name() + "/positions");
  poputil::mapTensorLinearly(o.graph(), bases);
  const int extent = static_cast<int>(out[axis]), step = static_cast<int>(stride[axis]);
  const Any inside = pe::And(pe::Gte(pe::_1, pe::Const(0)), pe::Lt(pe::_1, pe::Const(extent)));
  const Any position = pe::Select(pe::Add(pe::Mul(pe::_1, pe::Const(step)), pe::_2), pe::Const(-1), inside);
  const Tensor all = popops::map(o.graph(), position, {indices, bases}, o.program(), o.name() + "/positions");
  return all.reshape({all.numElements(), 1});
}

namespace {

bool is_grouped(const ir::Attributes& a) { return a.integer("group_size", 1) > 1; }

popops::SlicePlan plan_of(const Settings& settings, poplar::Graph& graph, const poplar::Type& type, const Extents& t, std::size_t axis,
                          std::size_t lookups) {
  std::size_t others = 1;
  for (std::size_t d = 0; d < t.size(); ++d) others *= d == axis ? 1 : t[d];
  if (t[axis] == 0 || others == 0 || lookups == 0) return {};
  return popops::embedding::plan(graph, type, t[axis], others, {lookups},
                                 {{"pando.planObjective", plans_for_cycles(settings) ? "cycles" : "hostTime"}});
}

// {lookups, shape of t with 1 along the axis} becomes the axis replaced by the lookups' own dimensions.
Tensor in_place_of_axis(Tensor t, std::size_t axis, const Extents& lookups) {
  t = t.squeeze({axis + 1}).dimRoll(0, static_cast<unsigned>(axis));
  return t.reshapePartial(static_cast<unsigned>(axis), static_cast<unsigned>(axis) + 1, lookups);
}

}  // namespace

void gather_slices(OpLowering& o) {
  o.need(Library::popops);
  const Tensor t = o.operand(0), indices = int_indices(o, o.operand(1));
  auto axis = static_cast<std::size_t>(o.attributes().integer("axis"));
  if (t.numElements() == 0) {
    // Every index lies outside.
    const Tensor zeros = o.fresh();
    if (zeros.numElements() > 0) popops::zero(o.graph(), zeros, o.program(), o.name());
    return o.result(0, zeros);
  }
  if (is_grouped(o.attributes())) {
    Extents shape = indices.shape();
    shape.erase(shape.begin());
    const Tensor offsets = indices.reshape({indices.dim(0), indices.numElements() / indices.dim(0), 1});
    Tensor all = popops::groupedMultiSlice(o.graph(), t, offsets, {axis - 1}, {1}, o.program(), {}, {}, o.name());
    all = all.squeeze({axis + 1}).dimRoll(1, static_cast<unsigned>(axis));
    return o.result(0, all.reshapePartial(static_cast<unsigned>(axis), static_cast<unsigned>(axis) + 1, shape));
  }
  const std::size_t n = indices.numElements();
  const auto plan = plan_of(o.settings(), o.graph(), t.elementType(), t.shape(), axis, n);
  const Tensor all = popops::multiSlice(o.graph(), t, indices.reshape({n, 1}), {axis}, {1}, o.program(), plan, {}, o.name());
  o.result(0, in_place_of_axis(all, axis, indices.shape()));
}

Tensor gather_layout(const LayoutRequest& r) {
  if (r.operand != 0 || is_grouped(r.module.attributes(r.op))) return {};
  const ir::Type &t = r.module.type_of(r.module.operand(r.op, 0)), &indices = r.module.type_of(r.module.operand(r.op, 1));
  const auto axis = static_cast<std::size_t>(r.module.attributes(r.op).integer("axis"));
  const poplar::Type type = element_type(t.dtype);
  if (ir::elements_of(t.shape) == 0) return {};
  r.libraries.need(Library::popops);
  const auto plan =
      plan_of(r.libraries.settings(), r.graph, type, extents(t.shape), axis, static_cast<std::size_t>(ir::elements_of(indices.shape)));
  return popops::createSliceableTensor(r.graph, type, extents(t.shape), {axis}, {1}, plan, {}, r.name);
}

namespace {

// What changes nothing beside other numbers: the greatest of the type for the least of them, and the other way round.
template <class T>
void fill_with_limit(OpLowering& o, const Tensor& t, bool greatest) {
  popops::fill<T>(o.graph(), t, o.program(), greatest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::lowest(), o.name());
}

void fill_for(OpLowering& o, const Tensor& t, bool least) {
  const poplar::Type type = t.elementType();
  const float infinity = std::numeric_limits<float>::infinity();
  if (type == poplar::INT) return fill_with_limit<int>(o, t, least);
  if (type == poplar::UNSIGNED_INT) return fill_with_limit<unsigned>(o, t, least);
  if (type == poplar::SHORT) return fill_with_limit<short>(o, t, least);
  if (type == poplar::UNSIGNED_SHORT) return fill_with_limit<unsigned short>(o, t, least);
  if (type == poplar::CHAR || type == poplar::SIGNED_CHAR) return fill_with_limit<signed char>(o, t, least);
  if (type == poplar::UNSIGNED_CHAR) return fill_with_limit<unsigned char>(o, t, least);
  if (type == poplar::LONGLONG) return fill_with_limit<long long>(o, t, least);
  if (type == poplar::UNSIGNED_LONGLONG) return fill_with_limit<unsigned long long>(o, t, least);
  popops::fill(o.graph(), t, o.program(), least ? infinity : -infinity, o.name());
}

// What an update changes: row offsets[i] of `to`, by from[i].
struct Updates {
  Tensor to, from, offsets;  // {rows, width}, {n, 1, width}, {n, 1}
};

// Of indices that are the same for all other dimensions whole rows, else element by element. `indices` has the rank of `data`.
Updates updates_of(OpLowering& o, const Tensor& home, const Tensor& data, Tensor indices, std::size_t axis) {
  const std::size_t n = data.dim(static_cast<unsigned>(axis));
  if (!is_grouped(o.attributes()) && data.numElements() > 0 && indices.numElements() == n &&
      indices.dim(static_cast<unsigned>(axis)) == n) {
    const auto rows_of = [&](const Tensor& t) {
      const Tensor rows = t.dimRoll(static_cast<unsigned>(axis), 0);
      return rows.reshape({rows.dim(0), data.numElements() / n});
    };
    return {rows_of(home), rows_of(data).expand({1}), indices.reshape({n, 1})};
  }
  const Extents shape = data.shape();
  for (unsigned d = 0; d < shape.size(); ++d) {
    if (indices.dim(d) != shape[d]) indices = indices.broadcast(static_cast<unsigned>(shape[d]), d);
  }
  return {home.flatten().expand({1}), data.reshape({data.numElements(), 1, 1}),
          flat_positions(o, shape, indices, axis, extents(o.result_type().shape))};
}

// Which rows anything came to: not 0, {rows}.
Tensor touched(OpLowering& o, const Tensor& to, const Tensor& offsets) {
  const Tensor marks = o.graph().clone(poplar::FLOAT, to.slice(0, 1, 1), o.name() + "/touched");
  popops::zero(o.graph(), marks, o.program(), o.name());
  const Tensor one = o.graph().addConstant(poplar::FLOAT, {1}, 1.0f, o.name() + "/one");
  o.graph().setTileMapping(one, 0);
  const Tensor ones = one.expand({0}).broadcast(static_cast<unsigned>(offsets.dim(0)), 0).expand({2});
  popops::multiUpdate(o.graph(), marks, ones.reshape({offsets.dim(0), 1, 1}), offsets, {0}, {1}, o.program(), {}, {}, o.name());
  return marks.flatten();
}

}  // namespace

void reduce_scattered(OpLowering& o) {
  o.need(Library::popops);
  poplar::Graph& g = o.graph();
  const auto axis = static_cast<std::size_t>(o.attributes().integer("axis"));
  const std::string& reduction = o.attributes().text("reduction");
  const ir::Shape aligned =
      ir::aligned_indices(o.operand_type(0).shape, o.operand_type(1).shape, static_cast<std::int64_t>(axis), is_grouped(o.attributes()));
  const bool initial = o.operands() == 3, least = reduction == "min", most = reduction == "max";
  // What is read may have to move before this is written.
  Tensor result;
  if (initial) result = o.take(2);
  const Tensor indices = int_indices(o, o.operand(1)).reshape(extents(aligned));
  if (!initial) {
    result = o.fresh();
    if (least || most)
      fill_for(o, result, least);
    else
      popops::zero(g, result, o.program(), o.name());
  }
  const Updates u = updates_of(o, result, o.operand(0), indices, axis);
  if (reduction == "sum") {
    const Tensor one = g.addConstant(result.elementType(), {1}, 1, o.name() + "/one");
    g.setTileMapping(one, 0);
    popops::multiUpdateAdd(g, u.to, u.from, u.offsets, one, {0}, {1}, o.program(), {}, {}, o.name());
  } else if (least || most) {
    const auto update = least ? popops::multiUpdateMin : popops::multiUpdateMax;
    update(g, u.to, u.from, u.offsets, {0}, {1}, o.program(), {}, {}, o.name());
    if (!initial) {
      Extents marked = u.to.dim(1) == 1 ? result.shape() : Extents(result.rank(), 1);
      marked[axis] = result.dim(static_cast<unsigned>(axis));
      const Tensor marks = touched(o, u.to, u.offsets).reshape(marked);
      const poplar::Type type = result.elementType();
      popops::mapInPlace(g, pe::Select(pe::_1, pe::Cast(pe::Const(0), type), pe::Gt(pe::_2, pe::Const(0.0f))), {result, marks}, o.program(),
                         o.name());
    }
  } else {
    popops::multiUpdate(g, u.to, u.from, u.offsets, {0}, {1}, o.program(), {}, {}, o.name());
  }
  if (initial) {
    o.result_taken(0, 2);
  } else {
    o.result(0, result);
  }
}

}  // namespace pando::lower
