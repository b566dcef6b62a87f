#include "popops/ScaledAdd.hpp"

#include <popops/Cast.hpp>
#include <poputil/OptionParsing.hpp>

#include "poplibs/popops/data/parts.h"
#include "poplibs/popops/data/scaled_add_form.h"

namespace popops {

namespace {

using namespace poplar;

// Neither option changes what is computed.
void check_options(const OptionFlags& options) {
  bool speed = false;
  double tolerance = 0;
  const poplibs::OptionSpec spec{{"optimizeForSpeed", poplibs::OptionHandler::createWithBool(speed)},
                                 {"scaleFloatToHalfTolerance", poplibs::OptionHandler::createWithDouble(tolerance, 0)}};
  for (const auto& [key, value] : options) spec.parse(key, value);
}

bool is_floating(const Type& type) { return type == FLOAT || type == HALF; }

struct Operands {
  Tensor a;
  Tensor b;
};

// Checked, with B of a type that goes with A's, and never the memory of A.
Operands operands(Graph& graph, const char* where, const Tensor& a, const Tensor& b, program::Sequence& prog, const DebugContext& debug) {
  const Type type = a.elementType();
  if (!is_floating(type) && type != INT && type != UNSIGNED_INT)
    internal::fail(where, "A is of type " + type.toString() + "; expected float, half, int or unsigned int");
  internal::check_same_shape(where, "A", a, "B", b);
  internal::check_writable(where, "A", a);
  if (b.elementType() != type && !(is_floating(type) && is_floating(b.elementType()))) return {a, cast(graph, b, type, prog, debug)};
  if (!a.intersectsWith(b)) return {a, b};
  const Tensor copy = graph.clone(b, {debug, "B"});
  prog.add(program::Copy(b, copy, false, debug));
  return {a, copy};
}

// Adds a vertex for each part of A; `finish` sets its other fields.
void add_vertices(Graph& graph, const ComputeSet& cs, const Operands& operands, const internal::VertexPair& vertex,
                  const std::function<void(const VertexRef&)>& finish) {
  Tensor a = operands.a.flatten(), b = operands.b.flatten();
  graph.reorderToSimplify(&a, {&b}, false);
  const Target& target = graph.getTarget();
  const std::size_t bytes = std::min(target.getTypeSize(a.elementType()), target.getTypeSize(b.elementType()));
  internal::for_each_part(graph, a, graph.getTileMapping(a), bytes, false, [&](unsigned tile, const internal::Runs& runs) {
    finish(internal::add_part(graph, cs, vertex, tile, runs, {{"a", &a}, {"b", &b}}));
  });
}

void by_constants(Graph& graph, const char* where, const Tensor& a, float scale_a, const Tensor& b, float scale_b, program::Sequence& prog,
                  const DebugContext& debug, const OptionFlags& options) {
  check_options(options);
  const Operands both = operands(graph, where, a, b, prog, debug);
  if (a.numElements() == 0) return;
  const ComputeSet cs = graph.addComputeSet(debug);
  const std::string types = both.a.elementType().toString() + "," + both.b.elementType().toString();
  add_vertices(graph, cs, both, internal::vertex_pair("ScaledAdd", types), [&](const VertexRef& v) {
    graph.setInitialValue(v["scaleA"], scale_a);
    graph.setInitialValue(v["scaleB"], scale_b);
  });
  prog.add(program::Execute(cs, debug));
}

// One element of `type`, or of either floating type if that is one.
Tensor scale(Graph& graph, const char* where, const char* name, const Tensor& t, const Type& type, program::Sequence& prog,
             const DebugContext& debug) {
  if (t.numElements() != 1) internal::fail(where, std::string(name) + " has shape " + t.shapeToString() + "; expected one element");
  const bool fits = t.elementType() == type || (is_floating(type) && is_floating(t.elementType()));
  return (fits ? t : cast(graph, t, type, prog, debug)).reshape({});
}

// `scale_a` is invalid if A has none.
void by_tensors(Graph& graph, const char* where, const Tensor& a, const Tensor* scale_a, const Tensor& b, const Tensor& scale_b,
                unsigned char form, program::Sequence& prog, const DebugContext& debug, const OptionFlags& options) {
  check_options(options);
  const Operands both = operands(graph, where, a, b, prog, debug);
  const Type type = a.elementType();
  Tensor factor_b = scale(graph, where, "scaleB", scale_b, type, prog, debug);
  Tensor factor_a = scale_a == nullptr ? factor_b : scale(graph, where, "scaleA", *scale_a, type, prog, debug);
  if (factor_a.elementType() != factor_b.elementType()) {
    Tensor& narrow = factor_a.elementType() == HALF ? factor_a : factor_b;
    narrow = cast(graph, narrow, FLOAT, prog, debug);
  }
  if (a.numElements() == 0) return;
  const ComputeSet cs = graph.addComputeSet(debug);
  const std::string types = type.toString() + "," + both.b.elementType().toString() + "," + factor_b.elementType().toString();
  add_vertices(graph, cs, both, internal::vertex_pair("ScaledAddTensor", types), [&](const VertexRef& v) {
    graph.connect(v["scaleA"], factor_a);
    graph.connect(v["scaleB"], factor_b);
    graph.setInitialValue(v["form"], form);
  });
  prog.add(program::Execute(cs, debug));
}

unsigned char form_of(ScaledAddSpecialisation speciality) {
  return speciality == ScaledAddSpecialisation::X_MINUS_AX_PLUS_BY ? kScaledAddOneMinusA : kScaledAddHasA;
}

constexpr const char* kAdd = "popops::scaledAddTo";
constexpr const char* kSubtract = "popops::scaledSubtractFrom";

}  // namespace

void scaledAddTo(Graph& graph, Tensor a, Tensor b, float scale_b, program::Sequence& prog, const DebugContext& debug,
                 const OptionFlags& options) {
  by_constants(graph, kAdd, a, 1, b, scale_b, prog, {debug, "AddTo"}, options);
}

void scaledAddTo(Graph& graph, Tensor a, Tensor b, Tensor scale_b, program::Sequence& prog, const DebugContext& debug,
                 const OptionFlags& options) {
  by_tensors(graph, kAdd, a, nullptr, b, scale_b, 0, prog, {debug, "AddTo"}, options);
}

void scaledSubtractFrom(Graph& graph, Tensor a, Tensor b, float scale_b, program::Sequence& prog, const DebugContext& debug,
                        const OptionFlags& options) {
  by_constants(graph, kSubtract, a, 1, b, -scale_b, prog, {debug, "SubtractFrom"}, options);
}

void scaledSubtractFrom(Graph& graph, Tensor a, Tensor b, Tensor scale_b, program::Sequence& prog, const DebugContext& debug,
                        const OptionFlags& options) {
  by_tensors(graph, kSubtract, a, nullptr, b, scale_b, kScaledAddSubtract, prog, {debug, "SubtractFrom"}, options);
}

void scaledAddTo(Graph& graph, Tensor a, Tensor scale_a, Tensor b, Tensor scale_b, program::Sequence& prog, const DebugContext& debug,
                 const OptionFlags& options) {
  scaledAddTo(graph, a, scale_a, b, scale_b, prog, ScaledAddSpecialisation::DEFAULT, debug, options);
}

void scaledAddTo(Graph& graph, Tensor a, Tensor scale_a, Tensor b, Tensor scale_b, program::Sequence& prog,
                 const ScaledAddSpecialisation speciality, const DebugContext& debug, const OptionFlags& options) {
  by_tensors(graph, kAdd, a, &scale_a, b, scale_b, form_of(speciality), prog, {debug, "AddTo"}, options);
}

void scaledAddTo(Graph& graph, Tensor a, float scale_a, Tensor b, float scale_b, program::Sequence& prog, const DebugContext& debug,
                 const OptionFlags& options) {
  by_constants(graph, kAdd, a, scale_a, b, scale_b, prog, {debug, "AddTo"}, options);
}

void scaledAddTo(Graph& graph, Tensor a, float scale_a, Tensor b, float scale_b, program::Sequence& prog,
                 const ScaledAddSpecialisation speciality, const DebugContext& debug, const OptionFlags& options) {
  const float factor = speciality == ScaledAddSpecialisation::X_MINUS_AX_PLUS_BY ? 1 - scale_a : scale_a;
  by_constants(graph, kAdd, a, factor, b, scale_b, prog, {debug, "AddTo"}, options);
}

void scaledSubtractFrom(Graph& graph, Tensor a, Tensor scale_a, Tensor b, Tensor scale_b, program::Sequence& prog,
                        const DebugContext& debug, const OptionFlags& options) {
  by_tensors(graph, kSubtract, a, &scale_a, b, scale_b, kScaledAddHasA | kScaledAddSubtract, prog, {debug, "SubtractFrom"}, options);
}

void scaledSubtractFrom(Graph& graph, Tensor a, float scale_a, Tensor b, float scale_b, program::Sequence& prog, const DebugContext& debug,
                        const OptionFlags& options) {
  by_constants(graph, kSubtract, a, scale_a, b, -scale_b, prog, {debug, "SubtractFrom"}, options);
}

}  // namespace popops
