#include <popnn/LogSoftmax.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/NonLinearityDefUtil.hpp>
#include <poputil/VertexTemplates.hpp>
#include <poputil/exceptions.hpp>

#include "kernels/elementwise/nonlinearity.h"
#include "poplibs/popnn/nonlinearity/spread.h"
#include "poplibs/popnn/softmax/softmax.h"
#include "poplibs/poputil/reject.h"

namespace popnn {

using namespace poplar;
using internal::ElementPart;
using internal::SoftmaxForm;
using poputil::poplibs_error;
using poputil::templateVertex;

namespace {

// What a scaled softmax is multiplied with: as much as half's range allows, so that 1 / 1000 keeps its 11 bits.
constexpr float kSoftmaxScale = 62000;

bool is_softmax(NonLinearityType type) {
  return type == NonLinearityType::SOFTMAX || type == NonLinearityType::SOFTMAX_STABLE || type == NonLinearityType::SOFTMAX_SCALED;
}

unsigned char activation_of(NonLinearityType type) {
  using pando::kernels::Activation;
  const auto code = [](Activation a) { return static_cast<unsigned char>(a); };
  switch (type) {
    case NonLinearityType::SIGMOID: return code(Activation::sigmoid);
    case NonLinearityType::HARD_SIGMOID: return code(Activation::hard_sigmoid);
    case NonLinearityType::RELU: return code(Activation::relu);
    case NonLinearityType::TANH: return code(Activation::tanh);
    case NonLinearityType::GELU: return code(Activation::gelu);
    case NonLinearityType::GELU_ERF: return code(Activation::gelu_erf);
    case NonLinearityType::SWISH: return code(Activation::swish);
    default: poputil::reject("not-element-wise", "{}", std::string(asString(type)) + " is not an element-wise function");
  }
}

void check_type(const Tensor& t, const std::string& function) {
  if (t.elementType() != FLOAT && t.elementType() != HALF)
    poputil::reject("operand-type", "{}", function + ": the tensor has type " + t.elementType().toString() + ", expected float or half");
}
void check_rank(const Tensor& t, const std::string& function) {
  if (t.rank() == 0) poputil::reject("operand-rank", "{}", function + ": softmax of a scalar; at least one dimension is needed");
}
void check_writeable(const Tensor& t, const std::string& function) {
  if (!t.isParallelWriteable())
    poputil::reject("operand-not-writable", "{}",
                    function + ": the tensor is not parallel writeable (it has elements twice, or constants)");
}
void check_one_compute_set(NonLinearityType type, const std::string& function) {
  if (is_softmax(type))
    poputil::reject("compute-set-form", "{}",
                    function + ": " + asString(type) + " needs several compute sets; use the form with a Sequence");
}

// One vertex for each part of the last of the tensors, which is written; the others are read. `base` with "Many" for parts of several
// regions.
void add_vertices(Graph& graph, const ComputeSet& cs, const std::string& base, const std::string& suffix,
                  const std::vector<const char*>& fields, const std::vector<Tensor>& tensors, unsigned char op) {
  const std::vector<Tensor> flat = internal::in_order_of_last(graph, tensors);
  const Type type = flat.back().elementType();
  const std::string one = templateVertex(base + suffix, type), many = templateVertex(base + "Many" + suffix, type);
  for (const ElementPart& part : internal::spread_elements(graph, flat.back())) {
    const bool single = part.regions.size() == 1;
    const VertexRef v = graph.addVertex(cs, single ? one : many);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const bool run = single && part.regions[0].size() == 1;
      if (run)
        graph.connect(v[fields[i]], flat[i].slice(part.regions[0][0]));
      else if (single)
        graph.connect(v[fields[i]], concat(flat[i].slices(part.regions[0])));
      else
        graph.connect(v[fields[i]], flat[i].slices(part.regions));
    }
    graph.setInitialValue(v["op"], op);
    graph.setTileMapping(v, part.tile);
  }
}

void activate_in_place(Graph& graph, NonLinearityType type, const Tensor& t, const ComputeSet& cs) {
  add_vertices(graph, cs, "popnn::Activation", "InPlace", {"data"}, {t}, activation_of(type));
}

Tensor gradient_of(Graph& graph, NonLinearityType type, const Tensor& act, const Tensor& gradient, const ComputeSet& cs,
                   const DebugContext& debug) {
  const Tensor out = internal::add_result_like(graph, act, {debug, "gradient"});
  add_vertices(graph, cs, "popnn::ActivationGradient", "", {"act", "gradient", "out"}, {act, gradient, out}, activation_of(type));
  return out;
}

void check_gradient(const Tensor& act, const Tensor& gradient, const std::string& function) {
  check_type(act, function);
  if (act.elementType() != gradient.elementType())
    poputil::reject("gradient-type", "{}",
                    function + ": act has type " + act.elementType().toString() + ", outGradient " + gradient.elementType().toString());
  if (act.shape() != gradient.shape())
    poputil::reject("gradient-shape", "{}",
                    function + ": act has shape " + act.shapeToString() + ", outGradient " + gradient.shapeToString());
}

float scale_of(NonLinearityType type) { return type == NonLinearityType::SOFTMAX_SCALED ? kSoftmaxScale : 1; }

void run_in_place(Graph& graph, NonLinearityType type, const Tensor& t, float scale, program::Sequence& prog, const DebugContext& debug) {
  const std::string function = "popnn::nonLinearityInPlace";
  check_type(t, function);
  check_writeable(t, function);
  if (is_softmax(type)) {
    check_rank(t, function);
    return internal::softmax_in_place(graph, t, {scale, false}, prog, {debug, "Softmax"});
  }
  const ComputeSet cs = graph.addComputeSet({debug, "Nonlinearity"});
  activate_in_place(graph, type, t, cs);
  prog.add(program::Execute(cs));
}

Tensor run(Graph& graph, NonLinearityType type, const Tensor& t, float scale, program::Sequence& prog, const DebugContext& debug) {
  const std::string function = "popnn::nonLinearity";
  check_type(t, function);
  if (is_softmax(type)) {
    check_rank(t, function);
    return internal::softmax(graph, t, {scale, false}, prog, {debug, "Softmax"});
  }
  const Tensor out = internal::add_result_like(graph, t, {debug, "out"});
  const ComputeSet cs = graph.addComputeSet({debug, "Nonlinearity"});
  add_vertices(graph, cs, "popnn::Activation", "", {"in", "out"}, {t, out}, activation_of(type));
  prog.add(program::Execute(cs));
  return out;
}

}  // namespace

void nonLinearityInPlace(Graph& graph, NonLinearityType type, Tensor t, program::Sequence& prog, const DebugContext& debug) {
  run_in_place(graph, type, t, 1, prog, debug);
}

void nonLinearityInPlace(Graph& graph, NonLinearityType type, Tensor t, float& scaling, program::Sequence& prog,
                         const DebugContext& debug) {
  scaling = scale_of(type);
  run_in_place(graph, type, t, scaling, prog, debug);
}

void nonLinearityInPlace(Graph& graph, NonLinearityType type, Tensor t, ComputeSet& cs, const DebugContext&) {
  const std::string function = "popnn::nonLinearityInPlace";
  check_one_compute_set(type, function);
  check_type(t, function);
  check_writeable(t, function);
  activate_in_place(graph, type, t, cs);
}

void nonLinearityInPlace(Graph& graph, NonLinearityType type, Tensor t, float& scaling, ComputeSet& cs, const DebugContext& debug) {
  scaling = 1;
  nonLinearityInPlace(graph, type, t, cs, debug);
}

Tensor nonLinearity(Graph& graph, NonLinearityType type, Tensor t, program::Sequence& prog, const DebugContext& debug) {
  return run(graph, type, t, 1, prog, debug);
}

Tensor nonLinearity(Graph& graph, NonLinearityType type, Tensor t, float& scaling, program::Sequence& prog, const DebugContext& debug) {
  scaling = scale_of(type);
  return run(graph, type, t, scaling, prog, debug);
}

Tensor nonLinearityInputGradient(Graph& graph, NonLinearityType type, Tensor act, Tensor outGradient, ComputeSet& cs,
                                 const DebugContext& debug) {
  check_one_compute_set(type, "popnn::nonLinearityInputGradient");
  check_gradient(act, outGradient, "popnn::nonLinearityInputGradient");
  return gradient_of(graph, type, act, outGradient, cs, debug);
}

Tensor nonLinearityInputGradient(Graph& graph, NonLinearityType type, Tensor act, Tensor outGradient, program::Sequence& prog,
                                 const DebugContext& debug) {
  check_gradient(act, outGradient, "popnn::nonLinearityInputGradient");
  if (is_softmax(type)) {
    check_rank(act, "popnn::nonLinearityInputGradient");
    return internal::softmax_gradient(graph, act, outGradient, prog, {debug, "SoftmaxGradient"});
  }
  const ComputeSet cs = graph.addComputeSet({debug, "NonlinearityGradient"});
  const Tensor out = gradient_of(graph, type, act, outGradient, cs, debug);
  prog.add(program::Execute(cs));
  return out;
}

void logSoftmaxInPlace(Graph& graph, Tensor t, program::Sequence& prog, const DebugContext& debug) {
  check_type(t, "popnn::logSoftmaxInPlace");
  check_rank(t, "popnn::logSoftmaxInPlace");
  check_writeable(t, "popnn::logSoftmaxInPlace");
  internal::softmax_in_place(graph, t, {1, true}, prog, {debug, "LogSoftmax"});
}

Tensor logSoftmax(Graph& graph, Tensor t, program::Sequence& prog, const DebugContext& debug) {
  check_type(t, "popnn::logSoftmax");
  check_rank(t, "popnn::logSoftmax");
  return internal::softmax(graph, t, {1, true}, prog, {debug, "LogSoftmax"});
}

}  // namespace popnn
