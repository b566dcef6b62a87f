#include "lower/shared/windows/pooling_by_views.h"

#include "lower/shared/expressions.h"
#include "lower/terms/element_types.h"

#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>
#include <limits>

namespace pando::lower {

using ir::Pooling;
using ir::WindowAxis;
using poplar::Tensor;

namespace {

// Along one dimension: which element comes to each place; -1: none.
using WindowPlaces = std::vector<std::int64_t>;

WindowPlaces from_data(const WindowAxis& w, std::int64_t k) {
  WindowPlaces places;
  for (std::int64_t o = 0; o < w.out; ++o) places.push_back(w.at(o, k));
  return places;
}

// For each element of the data: the window in which element `k` of the kernel lies on it.
WindowPlaces from_windows(const WindowAxis& w, std::int64_t k) {
  WindowPlaces places(static_cast<std::size_t>(w.in), -1);
  for (std::int64_t o = 0; o < w.out; ++o) {
    if (const std::int64_t i = w.at(o, k); i >= 0) places[static_cast<std::size_t>(i)] = o;
  }
  return places;
}

// `filler` has one element.
Tensor along(const Tensor& t, unsigned dimension, const WindowPlaces& places, const Tensor& filler) {
  std::vector<Tensor> pieces;
  const auto n = static_cast<std::int64_t>(places.size());
  const auto at = [&](std::int64_t i) { return places[static_cast<std::size_t>(i)]; };
  for (std::int64_t i = 0; i < n;) {
    std::int64_t end = i + 1;
    if (at(i) < 0) {
      while (end < n && at(end) < 0) ++end;
      auto shape = t.shape();
      shape[dimension] = static_cast<std::size_t>(end - i);
      std::size_t elements = 1;
      for (std::size_t extent : shape) elements *= extent;
      pieces.push_back(filler.reshape({1}).broadcast(static_cast<unsigned>(elements), 0).reshape(shape));
    } else {
      const std::int64_t step = end < n && at(end) > at(i) ? at(end) - at(i) : 1;
      while (end < n && at(end) == at(end - 1) + step) ++end;
      const Tensor run = t.slice(static_cast<std::size_t>(at(i)), static_cast<std::size_t>(at(end - 1)) + 1, dimension);
      pieces.push_back(step == 1 ? run : run.subSample(static_cast<unsigned>(step), dimension));
    }
    i = end;
  }
  return poplar::concat(pieces, dimension);
}

Tensor number(OpLowering& o, const poplar::Type& type, float value) {
  const Tensor t = o.graph().addConstant(type, {}, value, o.name() + "/filler");
  o.graph().setTileMapping(t, 0);
  return t;
}

// For each element of the kernel: `of(its number)`, moved to where it belongs. {kernel elements, batch, channels, spatial ...}
Tensor views(const Pooling& pooling, const std::function<Tensor(std::size_t)>& of, WindowPlaces (*places)(const WindowAxis&, std::int64_t),
             const Tensor& filler) {
  const auto cells = static_cast<std::size_t>(ir::elements_of(ir::kernel_of(pooling.windows)));
  std::vector<Tensor> all;
  for (std::size_t cell = 0; cell < cells; ++cell) {
    Tensor t = of(cell);
    auto rest = static_cast<std::int64_t>(cell);
    for (std::size_t d = pooling.windows.size(); d-- > 0;) {
      const WindowAxis& w = pooling.windows[d];
      t = along(t, static_cast<unsigned>(d) + 2, places(w, rest % w.kernel), filler);
      rest /= w.kernel;
    }
    all.push_back(t.expand({0}));
  }
  return poplar::concat(all);
}

Tensor of_kernel(OpLowering& o, const Pooling& pooling, const Tensor& data, float filler) {
  return views(pooling, [&](std::size_t) { return data; }, from_data, number(o, data.elementType(), filler));
}

// How many elements of the data each window has: {1, 1, spatial ...}, float.
Tensor counts(OpLowering& o, const Pooling& pooling) {
  std::vector<double> n(static_cast<std::size_t>(pooling.outs));
  ir::for_each_cell(pooling.windows, [&](std::int64_t out, std::int64_t, std::int64_t) { n[static_cast<std::size_t>(out)] += 1; });
  ir::Shape shape{1, 1};
  for (const WindowAxis& w : pooling.windows) shape.push_back(w.out);
  for (double& x : n) x = std::max(x, 1.0);
  const Tensor t = add_constant(o.graph(), ir::HostTensor::of_floats(ir::DType::float32, shape, n), o.name() + "/counts");
  poputil::mapTensorLinearly(o.graph(), t);
  return t;
}

Tensor total(OpLowering& o, const Tensor& all) {
  return popops::reduce(o.graph(), all, poplar::FLOAT, {0}, popops::Operation::ADD, o.program(), o.name() + "/sum");
}

Tensor divided(OpLowering& o, const Tensor& t, const Tensor& by) {
  const Any mean = pe::Cast(pe::Divide(pe::Cast(pe::_1, poplar::FLOAT), pe::_2), t.elementType());
  return popops::map(o.graph(), mean, {t, by}, o.program(), o.name() + "/mean");
}

Tensor as(OpLowering& o, const Tensor& t, const poplar::Type& type) {
  return t.elementType() == type ? t : popops::map(o.graph(), pe::Cast(pe::_1, type), {t}, o.program(), o.name());
}

}  // namespace

bool has_gaps(const Pooling& pooling) {
  return std::any_of(pooling.windows.begin(), pooling.windows.end(),
                     [](const WindowAxis& w) { return w.dilation != 1 || w.in_dilation != 1; });
}

Tensor max_pool_by_views(OpLowering& o, const Tensor& data, const Pooling& pooling) {
  o.need(Library::popops);
  const Tensor all = of_kernel(o, pooling, data, -std::numeric_limits<float>::infinity());
  return popops::reduce(o.graph(), all, {0}, popops::Operation::MAX, o.program(), o.name() + "/max");
}

Tensor average_pool_by_views(OpLowering& o, const Tensor& data, const Pooling& pooling) {
  o.need(Library::popops);
  return as(o, divided(o, total(o, of_kernel(o, pooling, data, 0)), counts(o, pooling)), data.elementType());
}

Tensor max_pool_gradient_by_views(OpLowering& o, const Tensor& x, const Tensor& y, const Tensor& dy, const Pooling& pooling) {
  o.need(Library::popops);
  // No element is equal to the filler.
  const Tensor all = of_kernel(o, pooling, x, std::numeric_limits<float>::quiet_NaN());
  const Any is_largest = pe::Cast(pe::Equal(pe::_1, pe::_2), poplar::FLOAT);
  const Tensor largest = popops::map(o.graph(), is_largest, {all, y.expand({0})}, o.program(), o.name() + "/largest");
  const Any share = pe::Divide(pe::Mul(pe::_1, pe::Cast(pe::_2, poplar::FLOAT)), pe::Max(pe::_3, pe::Const(1.0f)));
  const Tensor shares =
      popops::map(o.graph(), share, {largest, dy.expand({0}), total(o, largest).expand({0})}, o.program(), o.name() + "/shares");
  const Tensor parts = views(pooling, [&](std::size_t k) { return shares[k]; }, from_windows, number(o, poplar::FLOAT, 0));
  return as(o, total(o, parts), x.elementType());
}

Tensor average_pool_gradient_by_views(OpLowering& o, const Tensor& dy, const Pooling& pooling) {
  o.need(Library::popops);
  const Tensor mean = divided(o, as(o, dy, poplar::FLOAT), counts(o, pooling));
  const Tensor parts = views(pooling, [&](std::size_t) { return mean; }, from_windows, number(o, poplar::FLOAT, 0));
  return as(o, total(o, parts), dy.elementType());
}

}  // namespace pando::lower
