#include "lower/shared/index.h"

#include "lower/shared/element_types.h"
#include "lower/shared/expressions.h"

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

popops::SlicePlan plan_of(poplar::Graph& graph, const poplar::Type& type, const Extents& t, std::size_t axis, std::size_t lookups) {
  std::size_t others = 1;
  for (std::size_t d = 0; d < t.size(); ++d) others *= d == axis ? 1 : t[d];
  if (t[axis] == 0 || others == 0 || lookups == 0) return {};
  return popops::embedding::plan(graph, type, t[axis], others, {lookups}, {{"pando.planObjective", "hostTime"}});
}

// {lookups, shape of t with 1 along the axis} becomes the axis replaced by the lookups' own dimensions.
Tensor in_place_of_axis(Tensor t, std::size_t axis, const Extents& lookups) {
  t = t.squeeze({axis + 1}).dimRoll(0, static_cast<unsigned>(axis));
  return t.reshapePartial(static_cast<unsigned>(axis), static_cast<unsigned>(axis) + 1, lookups);
}

}  // namespace

void gather_slices(OpLowering& o) {
  o.lowering().need(Library::popops);
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
  const auto plan = plan_of(o.graph(), t.elementType(), t.shape(), axis, n);
  const Tensor all = popops::multiSlice(o.graph(), t, indices.reshape({n, 1}), {axis}, {1}, o.program(), plan, {}, o.name());
  o.result(0, in_place_of_axis(all, axis, indices.shape()));
}

Tensor gather_layout(const LayoutRequest& r) {
  if (r.operand != 0 || is_grouped(r.module.attributes(r.op))) return {};
  const ir::Type &t = r.module.type_of(r.module.operand(r.op, 0)), &indices = r.module.type_of(r.module.operand(r.op, 1));
  const auto axis = static_cast<std::size_t>(r.module.attributes(r.op).integer("axis"));
  const poplar::Type type = element_type(t.dtype);
  if (ir::elements_of(t.shape) == 0) return {};
  r.lowering.need(Library::popops);
  const auto plan = plan_of(r.graph, type, extents(t.shape), axis, static_cast<std::size_t>(ir::elements_of(indices.shape)));
  return popops::createSliceableTensor(r.graph, type, extents(t.shape), {axis}, {1}, plan, {}, r.name);
}

namespace {

double least_of(const poplar::Type& type) {
  if (type == poplar::INT) return std::numeric_limits<int>::min();
  if (type == poplar::UNSIGNED_INT) return 0;
  return -std::numeric_limits<double>::infinity();
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
  o.lowering().need(Library::popops);
  poplar::Graph& g = o.graph();
  const auto axis = static_cast<std::size_t>(o.attributes().integer("axis"));
  const std::string& reduction = o.attributes().text("reduction");
  const ir::Shape aligned =
      ir::aligned_indices(o.operand_type(0).shape, o.operand_type(1).shape, static_cast<std::int64_t>(axis), is_grouped(o.attributes()));
  const Extents shape = extents(o.operand_type(0).shape);
  const bool initial = o.operands() == 3, least = reduction == "min", most = reduction == "max";
  // What is read may have to move before this is written.
  Tensor result;
  if (initial) result = o.take(2);
  const Tensor indices = int_indices(o, o.operand(1)).reshape(extents(aligned));
  Tensor data = o.operand(0), home = result;
  if (!initial) home = result = o.fresh();
  // Small integers have no largest of their own in the library.
  const bool widened = (least || most) && home.elementType() != poplar::FLOAT && home.elementType() != poplar::HALF &&
                       home.elementType() != poplar::INT && home.elementType() != poplar::UNSIGNED_INT;
  if (widened) {
    data = popops::cast(g, data, poplar::INT, o.program(), o.name() + "/data");
    home =
        initial ? popops::cast(g, home, poplar::INT, o.program(), o.name() + "/values") : g.clone(poplar::INT, home, o.name() + "/values");
  }
  // The least of numbers is the largest of their negatives.
  if (least) data = popops::neg(g, data, o.program(), o.name() + "/negated");
  if (initial) {
    if (least) popops::negInPlace(g, home, o.program(), o.name());
  } else {
    if (least || most) {
      popops::fill(g, home, o.program(), static_cast<float>(least_of(home.elementType())), o.name());
    } else {
      popops::zero(g, home, o.program(), o.name());
    }
  }
  const Updates u = updates_of(o, home, data, indices, axis);
  if (reduction == "sum") {
    const Tensor one = g.addConstant(home.elementType(), {1}, 1, o.name() + "/one");
    g.setTileMapping(one, 0);
    popops::multiUpdateAdd(g, u.to, u.from, u.offsets, one, {0}, {1}, o.program(), {}, {}, o.name());
  } else if (least || most) {
    popops::multiUpdateMax(g, u.to, u.from, u.offsets, {0}, {1}, o.program(), {}, {}, o.name());
    if (least) popops::negInPlace(g, home, o.program(), o.name());
    if (!initial) {
      Extents marked = u.to.dim(1) == 1 ? home.shape() : Extents(home.rank(), 1);
      marked[axis] = home.dim(static_cast<unsigned>(axis));
      const Tensor marks = touched(o, u.to, u.offsets).reshape(marked);
      const poplar::Type type = home.elementType();
      popops::mapInPlace(g, pe::Select(pe::_1, pe::Cast(pe::Const(0), type), pe::Gt(pe::_2, pe::Const(0.0f))), {home, marks}, o.program(),
                         o.name());
    }
  } else {
    popops::multiUpdate(g, u.to, u.from, u.offsets, {0}, {1}, o.program(), {}, {}, o.name());
  }
  if (widened) {
    o.program().add(poplar::program::Copy(popops::cast(g, home, result.elementType(), o.program(), o.name() + "/narrowed"), result));
  }
  if (initial) {
    o.result_taken(0, 2);
  } else {
    o.result(0, result);
  }
}

}  // namespace pando::lower
