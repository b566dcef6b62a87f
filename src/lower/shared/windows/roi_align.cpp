#include "lower/shared/windows/roi_align.h"

#include "lower/shared/expressions.h"
#include "lower/terms/element_types.h"

#include <poplin/MatMul.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <poputil/TileMapping.hpp>

namespace pando::lower {

using poplar::Tensor;
using poplar::program::Sequence;

namespace {

// One direction of all regions.
struct Direction {
  Tensor from, to;  // {regions}, float, times the scale
  std::size_t bins, extent;
};

Tensor counting(OpLowering& o, std::size_t n, std::vector<std::size_t> shape) {
  ir::HostTensor numbers(ir::DType::float32, {static_cast<std::int64_t>(n)});
  for (std::int64_t i = 0; i < numbers.elements(); ++i) numbers.set(i, static_cast<double>(i));
  const Tensor t = add_constant(o.graph(), numbers, o.name() + "/numbers");
  poputil::mapTensorLinearly(o.graph(), t);
  return t.reshape(std::move(shape));
}

// A bin is the mean of `samples` positions. {regions, bins, extent}: how much each element counts: by its distance to each position, which
// moves to the border from at most one element beyond, and counts nowhere from further away.
class AxisWeights {
 public:
  AxisWeights(OpLowering& o, const Direction& d, std::int64_t ratio) : o_(o), ratio_(ratio), extent_(static_cast<float>(d.extent)) {
    const std::size_t regions = d.from.numElements();
    const Any size = pe::Divide(pe::Max(pe::Sub(pe::_2, pe::_1), pe::Const(1.0f)), pe::Const(static_cast<float>(d.bins)));
    start_ = d.from.reshape({regions, 1, 1});
    size_ = popops::map(o.graph(), size, {d.from, d.to}, o.program(), o.name() + "/bin").reshape({regions, 1, 1});
    // Of regions as large as numbers can be, no more than so many are looked at: the loop has an end.
    const Any samples = pe::Min(pe::Max(pe::Ceil(pe::_1), pe::Const(1.0f)), pe::Const(65536.0f));
    samples_ = ratio > 0 ? constant(static_cast<float>(ratio)).reshape({1, 1, 1}).broadcast(static_cast<unsigned>(regions), 0)
                         : popops::map(o.graph(), samples, {size_}, o.program(), o.name() + "/samples");
    bin_ = counting(o, d.bins, {1, d.bins, 1});
    element_ = counting(o, d.extent, {1, 1, d.extent});
    weights_ = o.graph().addVariable(poplar::FLOAT, {regions, d.bins, d.extent}, o.name() + "/weights");
    poputil::mapTensorLinearly(o.graph(), weights_);
    sample_ = o.graph().addVariable(poplar::FLOAT, {1, 1, 1}, o.name() + "/sample");
    o.graph().setTileMapping(sample_, 0);
  }

  Tensor computed() {
    Sequence& program = o_.program();
    program.add(poplar::program::Copy(
        constant(0).reshape({1, 1, 1}).broadcast(static_cast<unsigned>(weights_.numElements()), 0).reshape(weights_.shape()), weights_));
    program.add(poplar::program::Copy(constant(0).reshape({1, 1, 1}), sample_));
    if (ratio_ > 0) {
      program.add(poplar::program::Repeat(static_cast<unsigned>(ratio_), one_sample()));
    } else {
      const Tensor most = popops::reduce(o_.graph(), samples_.flatten(), {0}, popops::Operation::MAX, program, o_.name() + "/most");
      Sequence condition;
      const Tensor more = popops::map(o_.graph(), pe::Cast(pe::Lt(pe::_1, pe::_2), poplar::INT), {sample_.reshape({}), most}, condition,
                                      o_.name() + "/more");
      program.add(poplar::program::RepeatWhileTrue(condition, more, one_sample()));
    }
    return weights_;
  }

 private:
  Tensor constant(float value) {
    const Tensor t = o_.graph().addConstant(poplar::FLOAT, {}, value, o_.name() + "/number");
    o_.graph().setTileMapping(t, 0);
    return t;
  }

  Sequence one_sample() {
    Sequence body;
    const Any share = pe::Divide(pe::Add(pe::_5, pe::Const(0.5f)), pe::_6);
    const Any position = pe::Add(pe::_2, pe::Mul(pe::Add(pe::_4, share), pe::_3));
    const Any inside = pe::And(pe::And(pe::Gte(position, pe::Const(-1.0f)), pe::Lte(position, pe::Const(extent_))), pe::Lt(pe::_5, pe::_6));
    const Any nearest = pe::Min(pe::Max(position, pe::Const(0.0f)), pe::Const(extent_ - 1));
    const Any closeness = pe::Max(pe::Sub(pe::Const(1.0f), pe::Abs(pe::Sub(nearest, pe::_7))), pe::Const(0.0f));
    const Any sum = pe::Add(pe::_1, pe::Select(pe::Divide(closeness, pe::_6), pe::Const(0.0f), inside));
    popops::mapInPlace(o_.graph(), sum, {weights_, start_, size_, bin_, sample_, samples_, element_}, body, o_.name() + "/sum");
    popops::mapInPlace(o_.graph(), pe::Add(pe::_1, pe::Const(1.0f)), {sample_}, body, o_.name() + "/next");
    return body;
  }

  OpLowering& o_;
  std::int64_t ratio_;
  float extent_;
  Tensor start_, size_, samples_, bin_, element_, weights_, sample_;
};

// Corner `c` of all regions, where the images are.
Tensor corner(OpLowering& o, const Tensor& rois, std::size_t c) {
  const auto scale = static_cast<float>(o.attributes().number("spatial_scale"));
  const Any scaled = pe::Mul(pe::Cast(pe::_1, poplar::FLOAT), pe::Const(scale));
  return popops::map(o.graph(), scaled, {rois.slice(c, c + 1, 1).flatten()}, o.program(), o.name() + "/corner");
}

// Of all regions: {regions x bins high, images x height}, where rows of other images count nothing; {regions, bins wide, width}.
struct RoiWeights {
  Tensor rows, columns;
};

RoiWeights roi_weights_of(OpLowering& o, const ir::Shape& images, std::size_t first) {
  o.need(Library::poplin);
  const Tensor rois = o.operand(first), numbers = o.operand(first + 1);
  const ir::Ints& bins = o.attributes().ints("output_size");
  const std::int64_t ratio = o.attributes().integer("sampling_ratio");
  const auto regions = rois.dim(0), n = static_cast<std::size_t>(images[0]), height = static_cast<std::size_t>(images[2]),
             width = static_cast<std::size_t>(images[3]);
  const auto high = static_cast<std::size_t>(bins[0]), wide = static_cast<std::size_t>(bins[1]);
  const Tensor rows = AxisWeights(o, {corner(o, rois, 1), corner(o, rois, 3), high, height}, ratio).computed();
  const Tensor columns = AxisWeights(o, {corner(o, rois, 0), corner(o, rois, 2), wide, width}, ratio).computed();
  const Any own = pe::Cast(pe::Equal(pe::Cast(pe::_1, poplar::FLOAT), pe::_2), poplar::FLOAT);
  const Tensor image =
      popops::map(o.graph(), own, {numbers.reshape({regions, 1}), counting(o, n, {1, n})}, o.program(), o.name() + "/image");
  const Tensor of_images =
      popops::map(o.graph(), pe::Mul(pe::_1, pe::_2), {rows.reshape({regions, high, 1, height}), image.reshape({regions, 1, n, 1})},
                  o.program(), o.name() + "/rows");
  return {of_images.reshape({regions * high, n * height}), columns};
}

Tensor in_type(OpLowering& o, const Tensor& t, const poplar::Type& type) {
  return t.elementType() == type ? t : popops::cast(o.graph(), t, type, o.program(), o.name());
}

}  // namespace

Tensor roi_means(OpLowering& o, const Tensor& images, std::size_t first) {
  const RoiWeights w = roi_weights_of(o, o.operand_type(0).shape, first);
  const std::size_t channels = images.dim(1), width = images.dim(3), regions = w.columns.dim(0), high = w.rows.dim(0) / regions;
  const Tensor t = in_type(o, images, poplar::FLOAT).dimShuffle({0, 2, 1, 3}).reshape({w.rows.dim(1), channels * width});
  auto* const planning = &o.planning();
  const Tensor lines = poplin::matMul(o.graph(), w.rows, t, o.program(), poplar::FLOAT, o.name() + "/lines", {}, planning);
  const Tensor means = poplin::matMulGrouped(o.graph(), lines.reshape({regions, high * channels, width}), w.columns.dimShuffle({0, 2, 1}),
                                             o.program(), poplar::FLOAT, o.name() + "/means", {}, planning);
  return in_type(o, means, images.elementType()).reshape({regions, high, channels, w.columns.dim(1)}).dimShuffle({0, 2, 1, 3});
}

Tensor roi_means_gradient(OpLowering& o, const Tensor& dy, const ir::Shape& images, std::size_t first) {
  const RoiWeights w = roi_weights_of(o, images, first);
  const auto n = static_cast<std::size_t>(images[0]), channels = static_cast<std::size_t>(images[1]),
             height = static_cast<std::size_t>(images[2]);
  const std::size_t width = w.columns.dim(2), regions = w.columns.dim(0), high = w.rows.dim(0) / regions;
  const Tensor t = in_type(o, dy, poplar::FLOAT).dimShuffle({0, 2, 1, 3}).reshape({regions, high * channels, w.columns.dim(1)});
  auto* const planning = &o.planning();
  const Tensor lines = poplin::matMulGrouped(o.graph(), t, w.columns, o.program(), poplar::FLOAT, o.name() + "/lines", {}, planning);
  const Tensor dx = poplin::matMul(o.graph(), w.rows.transpose(), lines.reshape({regions * high, channels * width}), o.program(),
                                   poplar::FLOAT, o.name() + "/images", {}, planning);
  return in_type(o, dx, dy.elementType()).reshape({n, height, channels, width}).dimShuffle({0, 2, 1, 3});
}

}  // namespace pando::lower
