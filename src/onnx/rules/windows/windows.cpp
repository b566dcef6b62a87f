#include "onnx/rules/windows/windows.h"

namespace pando::onnx {

Ints WindowPlan::pads() const {
  Ints all = befores;
  all.insert(all.end(), afters.begin(), afters.end());
  return all;
}

bool WindowPlan::padded() const {
  const Ints all = pads();
  return std::any_of(all.begin(), all.end(), [](std::int64_t p) { return p != 0; });
}

WindowPlan window_plan(const Context& c, const Ints& spatial, const Ints& kernel) {
  const std::size_t n = spatial.size();
  if (kernel.size() != n) c.reject(fmt::format("a kernel of {} dimensions for data with {}", kernel.size(), n));
  WindowPlan p;
  p.kernel = kernel;
  p.strides = c.list("strides", n, 1).value_or(Ints(n, 1));
  p.dilations = c.list("dilations", n, 1).value_or(Ints(n, 1));
  const Ints pads = c.list("pads", 2 * n, 0).value_or(Ints(2 * n, 0));
  p.ceil = c.flag("ceil_mode", false);
  const std::string automatic = c.word("auto_pad", "NOTSET", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", ""});
  const bool same = automatic.starts_with("SAME");
  for (std::size_t d = 0; d < n; ++d) {
    if (kernel[d] < 1 || kernel[d] > std::int64_t{1} << 30) c.reject(fmt::format("a kernel of {} elements", kernel[d]));
    const std::int64_t span = (kernel[d] - 1) * p.dilations[d] + 1;
    std::int64_t before = automatic == "VALID" ? 0 : pads[d], after = automatic == "VALID" ? 0 : pads[n + d];
    if (same) {
      const std::int64_t out = (spatial[d] + p.strides[d] - 1) / p.strides[d];
      const std::int64_t all = std::max<std::int64_t>((out - 1) * p.strides[d] + span - spatial[d], 0);
      before = automatic == "SAME_LOWER" ? (all + 1) / 2 : all / 2;
      after = all - before;
    }
    const std::int64_t room = spatial[d] + before + after - span;
    if (room < 0)
      c.reject(fmt::format("windows of {} elements over {} of dimension {}, padding among them", span, spatial[d] + before + after, d));
    std::int64_t out = (p.ceil ? room + p.strides[d] - 1 : room) / p.strides[d] + 1;
    // The last window begins inside the data or the padding in front of them.
    if (p.ceil && (out - 1) * p.strides[d] >= spatial[d] + before) --out;
    p.befores.push_back(before);
    p.afters.push_back(after);
    p.outs.push_back(out);
  }
  return p;
}

void for_each_window_cell(const WindowPlan& plan, const Ints& spatial,
                          const std::function<void(std::int64_t, std::int64_t, std::int64_t, bool)>& f) {
  const std::int64_t places = ir::elements_of(plan.outs), cells = ir::elements_of(plan.kernel);
  for (std::int64_t place = 0; place < places; ++place) {
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      std::int64_t rest = place, in_kernel = cell, position = 0, scale = 1;
      bool inside = true, padding = true;
      for (std::size_t d = plan.axes(); d-- > 0;) {
        const std::int64_t at = rest % plan.outs[d] * plan.strides[d] - plan.befores[d] + in_kernel % plan.kernel[d] * plan.dilations[d];
        inside = inside && at >= 0 && at < spatial[d];
        padding = padding && at < spatial[d] + plan.afters[d];
        position += at * scale;
        scale *= spatial[d];
        rest /= plan.outs[d];
        in_kernel /= plan.kernel[d];
      }
      f(place, cell, inside ? position : -1, !inside && padding);
    }
  }
}

ValueId by_channel(Context& c, ValueId v, std::size_t rank) {
  Shape beside(rank, 1);
  beside[1] = ir::elements_of(c.shape(v));
  return c.reshape(v, beside);
}

ValueId convolution(Context& c, ValueId x, ValueId weight) {
  const Shape data = c.shape(x), w = c.shape(weight);
  if (data.size() < 3 || w.size() != data.size())
    c.reject(fmt::format("data of shape {} and weights of {}; both have a dimension for batch or channels, one for channels and others",
                         ir::to_string(data), ir::to_string(w)));
  const Ints kernel(w.begin() + 2, w.end());
  if (const auto said = c.list("kernel_shape", kernel.size(), 1); said && *said != kernel)
    c.reject(fmt::format("attribute 'kernel_shape' {} for weights of shape {}", ir::to_string(*said), ir::to_string(w)));
  const std::int64_t groups = c.ranged("group", 1, 1, std::int64_t{1} << 30);
  if (w[1] * groups != data[1] || w[0] % groups != 0)
    c.reject(fmt::format("{} channels and weights of shape {} for {} groups", data[1], ir::to_string(w), groups));
  const WindowPlan p = window_plan(c, Ints(data.begin() + 2, data.end()), kernel);
  return c.op("conv", {x, weight}, {{"stride", p.strides}, {"padding", p.pads()}, {"dilation", p.dilations}, {"groups", groups}});
}

}  // namespace pando::onnx
