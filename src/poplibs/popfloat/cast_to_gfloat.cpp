// Casts: vertices where the elements lie, each of which reads the format from a tensor.
#include <poputil/DebugInfo.hpp>
#include <poputil/Util.hpp>

#include <memory>

#include "popfloat/experimental/CastToGfloat.hpp"
#include "poplibs/popfloat/gfloat_code.h"
#include "poplibs/poputil/reject.h"

namespace popfloat::experimental {

using namespace poplar;
using program::Execute;
using program::Sequence;

namespace {

using CastConfig = GfloatCast::CastConfig;

void check_native(const char* function, const Tensor& input) {
  const Type type = input.elementType();
  if (type != FLOAT && type != HALF)
    poputil::reject("gfloat-input", "{}: a tensor of type {}; it takes float and half", function, type.toString());
}

void check_params(const char* function, const Tensor& param) {
  if (param.elementType() != INT || param.numElements() != kParams)
    poputil::reject("gfloat-params", "{}: parameters of type {} and shape {}; createCastOpParamsTensor makes them", function,
                    param.elementType().toString(), param.shapeToString());
}

void check_rounds(const char* function, const CastConfig& config) {
  if (config.getFormatType() == FormatType::INVALID_FORMAT || config.getRoundMode() == RoundType::INV)
    poputil::reject("gfloat-rounding", "{}: a configuration without a format or a rounding mode", function);
}

// One vertex for each worker's share of `written`, where it lies. set_up(vertex, elements) connects it.
template <class SetUp>
void add_vertices(Graph& graph, const Tensor& written, const std::string& vertex, const ComputeSet& cs, const CastConfig& config,
                  const Tensor& param, SetUp set_up) {
  const auto mapping = graph.getTileMapping(written);
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for (const auto& part : poputil::splitRegionsBetweenWorkers(graph.getTarget(), mapping[tile], 4)) {
      const VertexRef v = graph.addVertex(cs, vertex);
      graph.setTileMapping(v, tile);
      graph.connect(v["param"], param.flatten());
      graph.setInitialValue(v["flags"], static_cast<unsigned char>((config.isNanooModeEnabled() ? kNanOnOverflow : 0) |
                                                                   (config.getCalculationType() == HALF ? kHalfArithmetic : 0)));
      set_up(v, part);
    }
}

void set_rounding(Graph& graph, const VertexRef& v, const CastConfig& config) {
  const GfloatCast::RoundConfig& r = config.getRoundConfig();
  const bool noise = r.getRoundMode() == RoundType::SX && r.getSRNoiseDensity() != SRDensityType::INVALID;
  const RoundType mode = r.getRoundMode() == RoundType::SX && !noise ? RoundType::SR : r.getRoundMode();
  graph.setInitialValue(v["mode"], mode_of(static_cast<unsigned>(mode)));
  graph.setInitialValue(v["randomBits"], static_cast<unsigned char>(r.getNumSRBits()));
  graph.setInitialValue(v["noise"], noise ? noise_of(static_cast<unsigned>(r.getSRNoiseDensity())) : static_cast<unsigned char>(0));
  graph.setInitialValue(v["noiseOffset"], r.getSRNoiseOffset());
  graph.setInitialValue(v["noiseScale"], r.getSRNoiseScale());
  graph.setInitialValue(v["noiseLeast"], r.getSRNoiseMin());
  graph.setInitialValue(v["noiseGreatest"], r.getSRNoiseMax());
  graph.setInitialValue(v["down"], r.getBernoulliProbability());
}

// One result of `type` for each element of `in`.
template <class SetUp>
Tensor convert(Graph& graph, const Tensor& in, const Type& type, const std::string& vertex, const ComputeSet& cs, const CastConfig& config,
               const Tensor& param, const DebugContext& debug, SetUp set_up) {
  const Tensor out = graph.clone(type, in, {debug, "out"});
  const Tensor from = in.flatten(), to = out.flatten();
  const std::string name = "popfloat::" + vertex + "<" + in.elementType().toString() + "," + type.toString() + ">";
  add_vertices(graph, to, name, cs, config, param, [&](const VertexRef& v, const std::vector<Interval>& part) {
    graph.connect(v["in"], concat(from.slices(part)));
    graph.connect(v["out"], concat(to.slices(part)));
    set_up(v);
  });
  return out;
}

Tensor to_format(Graph& graph, const Tensor& input, const Tensor& param, const ComputeSet& cs, const CastConfig& config, const Type& type,
                 const DebugContext& debug) {
  check_native("castNativeToGfloat", input);
  check_params("castNativeToGfloat", param);
  check_rounds("castNativeToGfloat", config);
  return convert(graph, input, type, "ToGfloat", cs, config, param, debug, [&](const VertexRef& v) { set_rounding(graph, v, config); });
}

Tensor to_native(Graph& graph, const Tensor& input, const Tensor& param, const ComputeSet& cs, const CastConfig& config, const Type& type,
                 const DebugContext& debug) {
  const Type from = input.elementType();
  if (from != CHAR && from != SIGNED_CHAR && from != SHORT)
    poputil::reject("gfloat-packed", "castGfloatToNative: a tensor of type {}; it takes char, signed char and short", from.toString());
  check_params("castGfloatToNative", param);
  if (!config.getStoreAsNative())
    poputil::reject("gfloat-storage", "castGfloatToNative: a configuration that stores {}; it gives float or half",
                    config.getStorageType().toString());
  return convert(graph, input, type, "FromGfloat", cs, config, param, debug, [](const VertexRef&) {});
}

// packed: one element, getPackedFloatParameters(), or two, then the bias.
Tensor params_from(Graph& graph, const ComputeSet& cs, const Type& calculation, const Tensor& packed, const DebugContext& debug) {
  if (calculation != FLOAT && calculation != HALF)
    poputil::reject("gfloat-arithmetic", "createCastOpParamsTensor: arithmetic in {}; it is in float or half", calculation.toString());
  const Tensor param = graph.addVariable(INT, {kParams}, {debug, "gfloatParams"});
  const VertexRef v = graph.addVertex(cs, "popfloat::GfloatParams", {{"packed", packed}, {"param", param}});
  graph.setTileMapping(param, 0);
  graph.setTileMapping(v, 0);
  return param;
}

Tensor constant(Graph& graph, const std::vector<int>& numbers, const DebugContext& debug) {
  const Tensor out = graph.addConstant(INT, {numbers.size()}, ArrayRef<int>(numbers), {debug, "gfloatFormat"});
  graph.setTileMapping(out, 0);
  return out;
}

std::vector<int> params_of_format(const GfloatCast::FormatConfig& format) {
  return {static_cast<int>(format.getPackedFloatParameters()), format.getExponentBias()};
}

}  // namespace

Tensor GfloatCast::createCastOpParamsTensor(Graph& graph, const ComputeSet& cs, Type calculationType, Tensor gfPacked,
                                            const DebugContext& debugContext) {
  if ((gfPacked.elementType() != INT && gfPacked.elementType() != UNSIGNED_INT) || gfPacked.numElements() != 1)
    poputil::reject("gfloat-params", "createCastOpParamsTensor: a format of type {} and shape {}; it is one int",
                    gfPacked.elementType().toString(), gfPacked.shapeToString());
  poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(cs, calculationType, gfPacked));
  const Tensor out = params_from(graph, cs, calculationType, gfPacked.flatten().reinterpret(INT), {di});
  di.addOutput(out);
  return out;
}

Tensor GfloatCast::createCastOpParamsTensor(Graph& graph, const ComputeSet& cs, Type calculationType, const unsigned gfPacked,
                                            const DebugContext& debugContext) {
  poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(cs, calculationType, gfPacked));
  const Tensor out = params_from(graph, cs, calculationType, constant(graph, {static_cast<int>(gfPacked)}, {di}), {di});
  di.addOutput(out);
  return out;
}

Tensor GfloatCast::createCastOpParamsTensor(Graph& graph, Sequence& prog, Type calculationType, Tensor gfStruct,
                                            const DebugContext& debugContext) {
  poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(calculationType, gfStruct));
  const ComputeSet cs = graph.addComputeSet({di, "gfloatParams"});
  const Tensor out = createCastOpParamsTensor(graph, cs, calculationType, gfStruct, {di});
  prog.add(Execute(cs, {di}));
  di.addOutput(out);
  return out;
}

Tensor GfloatCast::createCastOpParamsTensor(Graph& graph, Sequence& prog, Type calculationType, const unsigned gfStruct,
                                            const DebugContext& debugContext) {
  poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(calculationType, gfStruct));
  const ComputeSet cs = graph.addComputeSet({di, "gfloatParams"});
  const Tensor out = createCastOpParamsTensor(graph, cs, calculationType, gfStruct, {di});
  prog.add(Execute(cs, {di}));
  di.addOutput(out);
  return out;
}

void GfloatCast::createCastOpParamsTensor(Graph& graph, const ComputeSet& cs) {
  params_ = params_from(graph, cs, getCalculationType(), constant(graph, params_of_format(format_), {}), {});
}

void GfloatCast::createCastOpParamsTensor(Graph& graph, Sequence& prog, const DebugContext& debugContext) {
  const poputil::PoplibsOpDebugInfo di(debugContext, {}, "createCastOpParamsTensor");
  const ComputeSet cs = graph.addComputeSet({di, "gfloatParams"});
  createCastOpParamsTensor(graph, cs);
  prog.add(Execute(cs, {di}));
}

Tensor GfloatCast::getCastOpParams() const {
  if (!params_.valid()) poputil::reject("gfloat-params", "{}", "getCastOpParams: there are none; createCastOpParamsTensor makes them");
  return params_;
}

void GfloatCast::setGfloatCastParameters(Tensor* gfParams_) {
  const std::unique_ptr<Tensor> owned(gfParams_);
  params_ = owned ? *owned : Tensor();
}

Tensor GfloatCast::params_of(Graph& graph) const { return params_.valid() ? params_ : constant(graph, params_of_format(format_), {}); }

Tensor GfloatCast::castNativeToGfloat(Graph& graph, Tensor input, const Tensor& param, const ComputeSet& cs, const CastConfig& gfCastCfg,
                                      const DebugContext& debugContext) {
  poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(input, param, cs));
  const Type type = gfCastCfg.getStoreAsNative() ? gfCastCfg.getStorageType() : gfCastCfg.getCalculationType();
  const Tensor out = to_format(graph, input, param, cs, gfCastCfg, type, {di});
  di.addOutput(out);
  return out;
}

Tensor GfloatCast::castNativeToGfloat(Graph& graph, Tensor input, const Tensor& param, Sequence& prog, const CastConfig& gfCastCfg,
                                      const DebugContext& debugContext) {
  poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(input, param));
  const ComputeSet cs = graph.addComputeSet({di, "castNativeToGfloat"});
  const Tensor out = to_format(graph, input, param, cs, gfCastCfg, gfCastCfg.getStorageType(), {di});
  prog.add(Execute(cs, {di}));
  di.addOutput(out);
  return out;
}

Tensor GfloatCast::castNativeToGfloat(Graph& graph, Tensor input, Sequence& prog, const DebugContext& debugContext) {
  return castNativeToGfloat(graph, input, params_of(graph), prog, toFormat_, debugContext);
}

void GfloatCast::castNativeToGfloatInPlace(Graph& graph, Tensor input, const Tensor& param, const ComputeSet& cs,
                                           const CastConfig& gfCastCfg, const DebugContext& debugContext) {
  constexpr const char* kName = "castNativeToGfloatInPlace";
  check_native(kName, input);
  check_params(kName, param);
  check_rounds(kName, gfCastCfg);
  if (!input.isParallelWriteable())
    poputil::reject("gfloat-in-place", "{}: a tensor of shape {} that holds constants or an element twice", kName, input.shapeToString());
  const poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(input, param, cs));
  const Tensor elements = input.flatten();
  const std::string name = "popfloat::ToGfloatInPlace<" + input.elementType().toString() + ">";
  add_vertices(graph, elements, name, cs, gfCastCfg, param, [&](const VertexRef& v, const std::vector<Interval>& part) {
    graph.connect(v["inOut"], concat(elements.slices(part)));
    set_rounding(graph, v, gfCastCfg);
  });
}

void GfloatCast::castNativeToGfloatInPlace(Graph& graph, Tensor input, const Tensor& param, Sequence& prog, const CastConfig& gfCastCfg,
                                           const DebugContext& debugContext) {
  const poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(input, param));
  const ComputeSet cs = graph.addComputeSet({di, "castNativeToGfloatInPlace"});
  castNativeToGfloatInPlace(graph, input, param, cs, gfCastCfg, {di});
  prog.add(Execute(cs, {di}));
}

void GfloatCast::castNativeToGfloatInPlace(Graph& graph, Tensor input, Sequence& prog, const DebugContext& debugContext) {
  castNativeToGfloatInPlace(graph, input, params_of(graph), prog, toFormat_, debugContext);
}

void GfloatCast::castNativeToGfloatInPlace(Graph& graph, Tensor input, const ComputeSet& cs) {
  castNativeToGfloatInPlace(graph, input, params_of(graph), cs, toFormat_);
}

Tensor GfloatCast::castGfloatToNative(Graph& graph, Tensor input, const Tensor& param, const ComputeSet& cs, const CastConfig& gfCastCfg,
                                      const DebugContext& debugContext) {
  poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(input, param, cs));
  const Tensor out = to_native(graph, input, param, cs, gfCastCfg, gfCastCfg.getCalculationType(), {di});
  di.addOutput(out);
  return out;
}

Tensor GfloatCast::castGfloatToNative(Graph& graph, Tensor input, const Tensor& param, Sequence& prog, const CastConfig& gfCastCfg,
                                      const DebugContext& debugContext) {
  poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(input, param));
  const ComputeSet cs = graph.addComputeSet({di, "castGfloatToNative"});
  const Tensor out = to_native(graph, input, param, cs, gfCastCfg, gfCastCfg.getStorageType(), {di});
  prog.add(Execute(cs, {di}));
  di.addOutput(out);
  return out;
}

namespace {

void check_packed(const GfloatCast& cast, const Tensor& input) {
  if (cast.getStoreAsNative() || input.elementType() != cast.getGFStorageType())
    poputil::reject("gfloat-packed", "castGfloatToNative: a tensor of type {}; this cast stores {}", input.elementType().toString(),
                    cast.getGFStorageType().toString());
}

}  // namespace

Tensor GfloatCast::castGfloatToNative(Graph& graph, Tensor input, Sequence& prog, const DebugContext& debugContext) {
  check_packed(*this, input);
  return castGfloatToNative(graph, input, params_of(graph), prog, toNative_, debugContext);
}

Tensor GfloatCast::castGfloatToNative(Graph& graph, Tensor input, const ComputeSet& cs) {
  check_packed(*this, input);
  return castGfloatToNative(graph, input, params_of(graph), cs, toNative_);
}

}  // namespace popfloat::experimental
