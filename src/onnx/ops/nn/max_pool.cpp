#include "onnx/operator.h"
#include "onnx/rules/windows/pools.h"

#include <limits>

namespace pando::onnx {

namespace {

// Where the largest elements lie among all of the data: those under each place of a window are put in a row.
void give_positions(Context& c, const PooledData& d, bool column_major) {
  const std::int64_t places = ir::elements_of(d.plan.outs), cells = ir::elements_of(d.plan.kernel), size = ir::elements_of(d.spatial);
  const std::int64_t images = d.shape[0] * d.shape[1];
  Ints sources(static_cast<std::size_t>(places * cells)), positions = sources;
  for_each_window_cell(d.plan, d.spatial, [&](std::int64_t place, std::int64_t cell, std::int64_t position, bool) {
    const auto at = static_cast<std::size_t>(place * cells + cell);
    sources[at] = position < 0 ? size : position;
    std::int64_t rest = std::max<std::int64_t>(position, 0), turned = 0;
    Ints coordinates(d.spatial.size());
    for (std::size_t a = d.spatial.size(); a-- > 0; rest /= d.spatial[a]) coordinates[a] = rest % d.spatial[a];
    for (std::size_t a = d.spatial.size(); a-- > 0;) turned = turned * d.spatial[a] + coordinates[a];
    positions[at] = column_major ? turned : std::max<std::int64_t>(position, 0);
  });
  const ValueId flat = c.reshape(c.operand(0), {images, size});
  const bool floats = ir::is_floating(c.dtype(flat));
  const ValueId wide = floats ? flat : c.cast(flat, DType::int32);
  const ValueId least =
      c.full(c.dtype(wide), {images, 1}, floats ? -std::numeric_limits<double>::infinity() : std::numeric_limits<std::int32_t>::min());
  const ValueId rows = c.op("gather", {c.concat({wide, least}, 1), c.integers(sources)}, {{"axis", std::int64_t{1}}});
  const ValueId best = c.op("argmax", {c.reshape(rows, {images, places, cells})}, {{"dim", std::int64_t{2}}, {"keepdim", false}});
  Ints firsts, offsets;
  for (std::int64_t p = 0; p < places; ++p) firsts.push_back(p * cells);
  for (std::int64_t i = 0; i < images; ++i) offsets.push_back(i * size);
  const ValueId at = c.op("add", {best, c.integers(firsts)});
  const ValueId found = c.op("gather", {c.integers(positions), c.reshape(at, {images * places})}, {{"axis", std::int64_t{0}}});
  const ValueId whole = c.op("add", {c.reshape(found, {images, places}), c.reshape(c.integers(offsets), {images, 1})});
  Shape shape{d.shape[0], d.shape[1]};
  shape.insert(shape.end(), d.plan.outs.begin(), d.plan.outs.end());
  c.give(c.cast(c.reshape(whole, shape), DType::int64));
}

}  // namespace

extern const Operator onnx_max_pool;
constexpr Operator onnx_max_pool = {
    .signature =
        "MaxPool(X; auto_pad: text, ceil_mode: int, dilations: ints, kernel_shape!: ints, pads: ints, storage_order: "
        "int, strides: ints) -> Y, Indices?",
    .rule =
        [](Context& c) {
          const PooledData d = pooled_data(c);
          const bool column_major = c.flag("storage_order", false);
          const DType dtype = c.dtype_of(0);
          // Small integers are whole floats.
          const ValueId x = ir::is_floating(dtype) ? c.operand(0) : c.cast(c.operand(0), DType::float32);
          if (!ir::is_floating(dtype) && ir::size_of(dtype) > 1) c.reject(fmt::format("data of {}", ir::name_of(dtype)));
          c.give(c.cast(c.op("max_pool", {x}, pool_attributes(d.plan)), dtype));
          if (c.wants(1)) give_positions(c, d, column_major);
        },
};

}  // namespace pando::onnx
