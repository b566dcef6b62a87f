#include "onnx/rules/windows/pools.h"

namespace pando::onnx {

PooledData pooled_data(Context& c) {
  PooledData d;
  d.shape = c.shape_of(0);
  if (d.shape.size() < 3 || d.shape.size() > 5)
    c.reject(fmt::format("data of shape {}; a batch, channels and one to three more dimensions are expected", ir::to_string(d.shape)));
  d.spatial = Ints(d.shape.begin() + 2, d.shape.end());
  const auto kernel = c.list("kernel_shape", d.spatial.size(), 1);
  if (!kernel) c.reject("attribute 'kernel_shape' is missing");
  d.plan = window_plan(c, d.spatial, *kernel);
  return d;
}

Attributes pool_attributes(const WindowPlan& plan) {
  return {{"kernel_size", plan.kernel},
          {"stride", plan.strides},
          {"padding", plan.pads()},
          {"dilation", plan.dilations},
          {"ceil_mode", plan.ceil}};
}

ValueId by_place(Context& c, const PooledData& data, DType dtype, const std::function<double(double, double)>& f) {
  const auto places = static_cast<std::size_t>(ir::elements_of(data.plan.outs));
  std::vector<double> elements(places), padding(places);
  for_each_window_cell(data.plan, data.spatial, [&](std::int64_t place, std::int64_t, std::int64_t position, bool in_padding) {
    elements[static_cast<std::size_t>(place)] += position >= 0 ? 1 : 0;
    padding[static_cast<std::size_t>(place)] += in_padding ? 1 : 0;
  });
  for (std::size_t i = 0; i < places; ++i) elements[i] = f(elements[i], padding[i]);
  Shape shape{1, 1};
  shape.insert(shape.end(), data.plan.outs.begin(), data.plan.outs.end());
  return c.constant(HostTensor::of_floats(dtype, shape, elements));
}

void pool_globally(Context& c, std::string_view row) {
  if (c.rank_of(0) < 3) c.reject(fmt::format("data of {} dimensions; a batch, channels and others are expected", c.rank_of(0)));
  Ints axes;
  for (std::size_t d = 2; d < c.rank_of(0); ++d) axes.push_back(static_cast<std::int64_t>(d));
  c.give(c.reduce(row, c.operand(0), axes, true));
}

}  // namespace pando::onnx
