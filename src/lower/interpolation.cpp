#include "lower/interpolation.h"

#include "ir/interpolation.h"
#include "lower/element_types.h"

#include <poplin/MatMul.hpp>
#include <poputil/TileMapping.hpp>

namespace pando::lower {

using poplar::Tensor;

namespace {

// {columns of the operand, columns of the result}
Tensor matrix_of(OpLowering& o, std::int64_t in, std::int64_t out, double scale, bool transposed) {
  const std::vector<double> weights = ir::interpolation_matrix(in, out, scale, o.attributes());
  ir::HostTensor data(o.result_type().dtype, transposed ? ir::Shape{out, in} : ir::Shape{in, out});
  for (std::int64_t r = 0; r < out; ++r) {
    for (std::int64_t i = 0; i < in; ++i) data.set(transposed ? r * in + i : i * out + r, weights[static_cast<std::size_t>(r * in + i)]);
  }
  const Tensor t = add_constant(o.graph(), data, o.name() + "/weights");
  poputil::mapTensorLinearly(o.graph(), t);
  return t;
}

}  // namespace

void interpolate_dimensions(OpLowering& o, const ir::Shape& from, const ir::Shape& to, bool transposed) {
  o.lowering().need(Library::poplin);
  const ir::Floats& scale = o.attributes().floats("scale_factor");
  Tensor t = o.operand(0);
  bool changed = false;
  for (unsigned d = 0; d < from.size(); ++d) {
    if (from[d] == to[d] && scale[d] == 1) continue;
    changed = true;
    const Tensor last = t.dimRoll(d, t.rank() - 1);
    const std::size_t columns = last.dim(t.rank() - 1);
    const Tensor product = poplin::matMul(o.graph(), last.reshape({last.numElements() / columns, columns}), matrix_of(o, from[d], to[d], scale[d], transposed),
                                          o.program(), t.elementType(), o.name(), {}, &o.lowering().planning());
    auto shape = last.shape();
    shape.back() = product.dim(1);
    t = product.reshape(shape).dimRoll(t.rank() - 1, d);
  }
  if (changed) return o.result(0, t);
  o.result_view(0, t);
}

}  // namespace pando::lower
