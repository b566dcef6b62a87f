#include <popnn/Pooling.hpp>
#include <poputil/OptionParsing.hpp>
#include <poputil/VertexTemplates.hpp>
#include <poputil/exceptions.hpp>

#include "poplibs/popnn/pooling/pool_plan.h"
#include "poplibs/poputil/reject.h"

namespace popnn {
namespace pooling {

using namespace poplar;
using internal::Extents;
using internal::ImageForm;
using internal::PoolOptions;
using internal::PoolUnit;
using poputil::poplibs_error;
using poputil::templateVertex;
using Box = std::array<Interval, 3>;

namespace {

PoolOptions parse_options(const OptionFlags& options) {
  PoolOptions out;
  const poplibs::OptionSpec spec{{"poolUseIntrospectiveMapping", poplibs::OptionHandler::createWithBool(out.follow)},
                                 {"pando.wholeParts", poplibs::OptionHandler::createWithBool(out.whole_parts)},
                                 {"optimizeForSpeed", poplibs::OptionHandler::createWithBool(out.optimize_for_speed)}};
  for (const auto& entry : options) spec.parse(entry.first, entry.second);
  return out;
}

void check_tensor(const Tensor& t, const PoolParams& p, const std::vector<std::size_t>& field, const char* name,
                  const std::string& function) {
  std::vector<std::size_t> shape = {p.batchSize, p.numChannels};
  shape.insert(shape.end(), field.begin(), field.end());
  if (t.shape() != shape) {
    std::string text;
    for (const std::size_t d : shape) text += (text.empty() ? "" : ",") + std::to_string(d);
    poputil::reject("operand-shape", "{}",
                    function + ": " + name + " has shape " + t.shapeToString() + ", the parameters say {" + text + "}");
  }
  if (t.elementType() != p.dType)
    poputil::reject("operand-type", "{}",
                    function + ": " + name + " has type " + t.elementType().toString() + ", the parameters say " + p.dType.toString());
}

Extents windows_of(const PoolGeometry& g) {
  return {static_cast<std::size_t>(g.depth.out_size), static_cast<std::size_t>(g.height.out_size),
          static_cast<std::size_t>(g.width.out_size)};
}
Extents field_of(const PoolGeometry& g) {
  return {static_cast<std::size_t>(g.depth.field), static_cast<std::size_t>(g.height.field), static_cast<std::size_t>(g.width.field)};
}
std::array<const PoolDimension*, 3> dimensions_of(const PoolGeometry& g) { return {&g.depth, &g.height, &g.width}; }

Box elements_of(const PoolGeometry& g, const Box& windows) {
  const auto d = dimensions_of(g);
  return {internal::elements_of(*d[0], windows[0]), internal::elements_of(*d[1], windows[1]), internal::elements_of(*d[2], windows[2])};
}
Box windows_of(const PoolGeometry& g, const Box& elements) {
  const auto d = dimensions_of(g);
  const Extents n = windows_of(g);
  return {internal::windows_of(*d[0], elements[0], n[0]), internal::windows_of(*d[1], elements[1], n[1]),
          internal::windows_of(*d[2], elements[2], n[2])};
}

// A vertex for the boxes of elements and windows of some images.
VertexRef add_vertex(Graph& graph, const ComputeSet& cs, const std::string& type, PoolGeometry g, const PoolUnit& unit,
                     std::size_t channels, const Box& elements, const Box& windows) {
  g.images = static_cast<int>(unit.images.size());
  g.channels = static_cast<int>(channels);
  PoolDimension* dimensions[3] = {&g.depth, &g.height, &g.width};
  for (std::size_t i = 0; i < 3; ++i) {
    dimensions[i]->in_begin = static_cast<int>(elements[i].begin());
    dimensions[i]->in_size = static_cast<int>(elements[i].size());
    dimensions[i]->out_begin = static_cast<int>(windows[i].begin());
    dimensions[i]->out_size = static_cast<int>(windows[i].size());
  }
  const int* values = reinterpret_cast<const int*>(&g);
  const VertexRef v = graph.addVertex(cs, type);
  graph.setInitialValue(v["geometry"], ArrayRef<int>(values, sizeof g / sizeof(int)));
  graph.setTileMapping(v, unit.tile);
  return v;
}

// Windows' gradients divided among the elements that share them.
Tensor share_gradient(Graph& graph, const PoolGeometry& g, const Tensor* in, const Tensor* pooled, const Tensor& gradient,
                      const PoolOptions& options, program::Sequence& prog, const DebugContext& debug) {
  const Extents extent = windows_of(g);
  const std::vector<PoolUnit> units = internal::plan_units(graph, gradient, extent, options);
  const Tensor out =
      internal::add_images(graph, gradient.elementType(), units, gradient.dim(0), extent, gradient.dim(4), {debug, "shares"});
  const ComputeSet cs = graph.addComputeSet({debug, "Share"});
  const std::string type =
      templateVertex(in != nullptr ? "popnn::PoolShareMaxGradient" : "popnn::PoolShareGradient", gradient.elementType());
  for (const PoolUnit& u : units) {
    const Box elements = elements_of(g, u.box);
    const VertexRef v = add_vertex(graph, cs, type, g, u, gradient.dim(4), elements, u.box);
    graph.connect(v["gradient"], internal::part_of(gradient, u.images, u.box));
    graph.connect(v["out"], internal::part_of(out, u.images, u.box));
    if (in == nullptr) continue;
    graph.connect(v["in"], internal::part_of(*in, u.images, elements));
    graph.connect(v["pooled"], internal::part_of(*pooled, u.images, u.box));
  }
  prog.add(program::Execute(cs));
  return out;
}

// Do all windows lie whole in the field?
bool all_whole(const PoolGeometry& g) {
  for (const PoolDimension* d : dimensions_of(g))
    if (size_of(window_in_field(*d, 0)) != d->kernel || size_of(window_in_field(*d, d->out_size - 1)) != d->kernel) return false;
  return true;
}

// `in` may be absent where the result of pooling does not depend on its values (no MAX); so may `pooled`.
Tensor gradient_of(Graph& graph, const PoolParams& params, const ImageForm& form, const Tensor* in, const Tensor* pooled,
                   const Tensor& pooled_gradient, bool share, const PoolOptions& options, program::Sequence& prog,
                   const DebugContext& debug) {
  const PoolGeometry g = internal::geometry_of(params, "popnn::pooling::poolInputGradient");
  const bool max = params.poolingType == PoolingType::MAX, average = params.poolingType == PoolingType::AVG;
  Tensor gradient = form.to_images(pooled_gradient);
  const Tensor operand = in != nullptr ? form.to_images(*in) : Tensor(), result = max ? form.to_images(*pooled) : Tensor();
  float scale = 1;
  if (max && share)
    gradient = share_gradient(graph, g, &operand, &result, gradient, options, prog, debug);
  else if (average && !all_whole(g))
    gradient = share_gradient(graph, g, nullptr, nullptr, gradient, options, prog, debug);
  else if (average)
    scale = 1.0f / static_cast<float>(g.depth.kernel * g.height.kernel * g.width.kernel);

  const Extents extent = field_of(g);
  const std::vector<PoolUnit> units = internal::plan_units(graph, in != nullptr ? operand : gradient, extent, options);
  const Tensor out = internal::add_images(graph, params.dType, units, gradient.dim(0), extent, form.channels, {debug, "inputGradient"});
  const ComputeSet cs = graph.addComputeSet({debug, "PoolGradient"});
  const std::string type = templateVertex(max ? "popnn::PoolMaxGradient" : "popnn::PoolSumGradient", params.dType);
  for (const PoolUnit& u : units) {
    const Box windows = windows_of(g, u.box);
    const VertexRef v = add_vertex(graph, cs, type, g, u, form.channels, u.box, windows);
    graph.connect(v["gradient"], internal::part_of(gradient, u.images, windows));
    graph.connect(v["out"], internal::part_of(out, u.images, u.box));
    if (max) {
      graph.connect(v["in"], internal::part_of(operand, u.images, u.box));
      graph.connect(v["pooled"], internal::part_of(result, u.images, windows));
    } else {
      graph.setInitialValue(v["scale"], scale);
    }
  }
  prog.add(program::Execute(cs));
  return form.from_images(out, params.inputFieldShape);
}

Tensor empty_like(Graph& graph, const PoolParams& params, const std::vector<std::size_t>& field) {
  std::vector<std::size_t> shape = {params.batchSize, params.numChannels};
  shape.insert(shape.end(), field.begin(), field.end());
  return graph.addVariable(params.dType, shape);
}

}  // namespace

Tensor pool(Graph& graph, const PoolParams& params, const Tensor& in, program::Sequence& prog, const DebugContext& debugContext,
            const OptionFlags& options) {
  const std::string function = "popnn::pooling::pool";
  const PoolOptions parsed = parse_options(options);
  const PoolGeometry g = internal::geometry_of(params, function);
  check_tensor(in, params, params.inputFieldShape, "the operand", function);
  const std::vector<std::size_t> field = getOutputFieldShape(params);
  if (in.numElements() == 0) return empty_like(graph, params, field);
  const DebugContext debug(debugContext, std::string(asString(params.poolingType)) + "Pool");
  const ImageForm form = internal::image_form_of(in);
  const Tensor images = form.to_images(in);
  const Extents extent = windows_of(g);
  const std::vector<PoolUnit> units = internal::plan_units(graph, images, extent, parsed);
  const Tensor out = internal::add_images(graph, params.dType, units, images.dim(0), extent, form.channels, {debug, "out"});
  const ComputeSet cs = graph.addComputeSet({debug, "Pool"});
  const std::string type = templateVertex("popnn::Pool", params.dType);
  for (const PoolUnit& u : units) {
    const Box elements = elements_of(g, u.box);
    const VertexRef v = add_vertex(graph, cs, type, g, u, form.channels, elements, u.box);
    graph.connect(v["in"], internal::part_of(images, u.images, elements));
    graph.connect(v["out"], internal::part_of(out, u.images, u.box));
  }
  prog.add(program::Execute(cs));
  return form.from_images(out, field);
}

Tensor poolInputGradient(Graph& graph, const PoolParams& params, const Tensor& in, const Tensor& pooled, const Tensor& pooledGradient,
                         bool useScaledGradient, program::Sequence& prog, const DebugContext& debugContext, const OptionFlags& options) {
  const std::string function = "popnn::pooling::poolInputGradient";
  const PoolOptions parsed = parse_options(options);
  const std::vector<std::size_t> field = getOutputFieldShape(params);
  check_tensor(in, params, params.inputFieldShape, "the operand", function);
  check_tensor(pooled, params, field, "the result", function);
  check_tensor(pooledGradient, params, field, "the gradient", function);
  if (in.numElements() == 0) return empty_like(graph, params, params.inputFieldShape);
  return gradient_of(graph, params, internal::image_form_of(in), &in, &pooled, pooledGradient, useScaledGradient, parsed, prog,
                     {debugContext, std::string(asString(params.poolingType)) + "PoolGradient"});
}

Tensor poolInputGradient(Graph& graph, const PoolParams& params, const unsigned fwdChansPerGroup, const Tensor& pooledGradient,
                         program::Sequence& prog, const DebugContext& debugContext, const OptionFlags& options) {
  const std::string function = "popnn::pooling::poolInputGradient";
  const PoolOptions parsed = parse_options(options);
  if (params.poolingType == PoolingType::MAX)
    poputil::reject("gradient-form", "{}", function + ": the gradient of max pooling needs the operand and the result");
  check_tensor(pooledGradient, params, getOutputFieldShape(params), "the gradient", function);
  const ImageForm form = internal::image_form_of(params.batchSize, params.numChannels, fwdChansPerGroup, function);
  if (pooledGradient.numElements() == 0) return empty_like(graph, params, params.inputFieldShape);
  return gradient_of(graph, params, form, nullptr, nullptr, pooledGradient, false, parsed, prog,
                     {debugContext, std::string(asString(params.poolingType)) + "PoolGradient"});
}

}  // namespace pooling
}  // namespace popnn
