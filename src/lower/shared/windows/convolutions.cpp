#include "lower/shared/windows/convolutions.h"
#include "lower/shared/objective.h"

#include "ir/error.h"
#include "lower/terms/element_types.h"

#include <fmt/format.h>

namespace pando::lower {

using poplar::Tensor;

namespace {

// What is missing at the end so that exactly the windows fit; negative: what no window reaches.
std::int64_t padding_after(const ir::WindowAxis& w) { return (w.out - 1) * w.stride + w.span() - w.spread() - w.before; }

unsigned part(std::int64_t v) { return static_cast<unsigned>(std::max<std::int64_t>(v, 0)); }

}  // namespace

poplin::ConvParams convolution_params(const ir::Attributes&, const ir::Convolution& c, ir::DType dtype) {
  std::vector<std::size_t> field, kernel;
  for (const ir::WindowAxis& w : c.windows) {
    field.push_back(static_cast<std::size_t>(w.in));
    kernel.push_back(static_cast<std::size_t>(w.kernel));
  }
  const auto groups = static_cast<std::size_t>(c.groups);
  poplin::ConvParams p(element_type(dtype), static_cast<std::size_t>(c.batch), field, kernel,
                       static_cast<std::size_t>(c.in_channels) / groups, static_cast<std::size_t>(c.out_channels) / groups, groups);
  for (std::size_t d = 0; d < c.windows.size(); ++d) {
    const ir::WindowAxis& w = c.windows[d];
    const std::int64_t after = padding_after(w);
    p.inputTransform.dilation[d] = static_cast<unsigned>(w.in_dilation);
    p.inputTransform.paddingLower[d] = part(w.before);
    p.inputTransform.truncationLower[d] = part(-w.before);
    p.inputTransform.paddingUpper[d] = part(after);
    p.inputTransform.truncationUpper[d] = part(-after);
    p.kernelTransform.dilation[d] = static_cast<unsigned>(w.dilation);
    p.outputTransform.stride[d] = static_cast<unsigned>(w.stride);
  }
  return p;
}

Tensor grouped_weights(const Tensor& weight, const ir::Convolution& c) {
  std::vector<std::size_t> shape = weight.shape();
  const auto groups = static_cast<std::size_t>(c.groups);
  shape[0] /= groups;
  shape.insert(shape.begin(), groups);
  return weight.reshape(shape);
}

poplar::OptionFlags convolution_options(const ir::Attributes& a, const Settings& settings) {
  poplar::OptionFlags options{{"pando.planObjective", plans_for_cycles(settings) ? "cycles" : "hostTime"}};
  if (a.has("available_memory_proportions") && !a.floats("available_memory_proportions").empty()) {
    options.set("availableMemoryProportion", fmt::format("{}", a.floats("available_memory_proportions")[0]));
  }
  if (const ir::AttributeValue* types = a.find("partials_types")) {
    const auto& names = std::get<ir::Strings>(*types);
    if (!names.empty()) options.set("partialsType", names[0] == "half" || names[0] == "HALF" || names[0] == "float16" ? "half" : "float");
  }
  return options;
}

popnn::pooling::PoolParams pooling_params(const ir::Attributes& attributes, const ir::Shape& input, ir::DType dtype,
                                          popnn::PoolingType type) {
  const ir::Pooling pooling = ir::pooling_of(attributes, input);
  std::vector<std::size_t> field, kernel;
  std::vector<unsigned> stride;
  std::vector<int> before, after;
  for (const ir::WindowAxis& w : pooling.windows) {
    field.push_back(static_cast<std::size_t>(w.in));
    kernel.push_back(static_cast<std::size_t>(w.kernel));
    stride.push_back(static_cast<unsigned>(w.stride));
    before.push_back(static_cast<int>(w.before));
    after.push_back(static_cast<int>(padding_after(w)));
  }
  return {type,
          field,
          kernel,
          stride,
          before,
          after,
          static_cast<std::size_t>(input[1]),
          static_cast<std::size_t>(input[0]),
          element_type(dtype)};
}

}  // namespace pando::lower
