#include "onnx/rules/norms.h"

namespace pando::onnx {

Normalised normalised(Context& c, ValueId x, const Ints& axes, double epsilon, DType wide) {
  const ValueId in = c.cast(x, wide);
  Normalised n;
  n.mean = c.reduce("mean", in, axes, true);
  const ValueId centred = c.op("sub", {in, n.mean});
  const ValueId variance = c.reduce("mean", c.op("mul", {centred, centred}), axes, true);
  n.scale = c.op("rsqrt", {c.op("add", {variance, c.scalar(wide, epsilon)})});
  n.y = c.op("mul", {centred, n.scale});
  return n;
}

Ints axes_from(std::int64_t first, std::size_t rank) {
  Ints axes;
  for (std::int64_t d = first; d < static_cast<std::int64_t>(rank); ++d) axes.push_back(d);
  return axes;
}

DType wide_float(DType dtype) { return dtype == DType::float64 ? dtype : DType::float32; }

DType stash_type(const Context& c) {
  const DType stash = c.dtype_attribute("stash_type", DType::float32);
  if (stash != DType::float32 && stash != DType::float64 && stash != DType::float16)
    c.reject(fmt::format("attribute 'stash_type' is {}; a floating type is expected", ir::name_of(stash)));
  return c.dtype_of(0) == DType::float64 ? DType::float64 : stash;
}

}  // namespace pando::onnx
