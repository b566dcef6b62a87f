#include "popfloat/experimental/CastToGfloat.hpp"

#include <poputil/DebugInfo.hpp>
#include <poputil/Util.hpp>

#include "poplibs/popfloat/gfloat_code.h"
#include "poplibs/poputil/refuse.h"

namespace popfloat::experimental {

using namespace poplar;

namespace {

constexpr unsigned kMantissaOfFloat = 23, kMantissaOfHalf = 10, kExponentOfHalf = 5;

unsigned width_of(const GfloatCast::FormatConfig& f) { return 1 + f.getNumExponentBits() + f.getNumMantissaBits(); }

bool fits_half(unsigned mantissa, unsigned exponent) { return mantissa <= kMantissaOfHalf && exponent <= kExponentOfHalf; }

Type storage_type(const GfloatCast::FormatConfig& format, SpecType wanted) {
  const unsigned width = width_of(format);
  const unsigned most = wanted == SpecType::INT8 ? 8 : wanted == SpecType::INT16 ? 16 : 32;
  if (width > most)
    poputil::refuse("gfloat-storage", "GfloatCast: a format of {} bits (1 + {} + {}) is stored in {}", width, format.getNumExponentBits(),
                    format.getNumMantissaBits(), most);
  switch (wanted) {
    case SpecType::FP32: return FLOAT;
    case SpecType::FP16: return HALF;
    case SpecType::INT8: return CHAR;
    case SpecType::INT16: return SHORT;
    case SpecType::AUTO: break;
  }
  return format.getStorageType();
}

Type calculation_type(const GfloatCast::FormatConfig& format, SpecType wanted) {
  if (wanted == SpecType::AUTO) return format.getCalculationType();
  return GfloatCast::FormatConfig(format.getNumMantissaBits(), format.getNumExponentBits(), format.getExponentBias(),
                                  format.isDenormEnabled(), format.infAndNansEnabled(), wanted)
      .getCalculationType();
}

unsigned char flags_of(const GfloatCast::FormatConfig& f, const GfloatCast::CastConfig& c) {
  return static_cast<unsigned char>((f.isDenormEnabled() ? kDenormals : 0) | (f.infAndNansEnabled() ? kInfinities : 0) |
                                    (c.isNanooModeEnabled() ? kNanOnOverflow : 0) | (c.getCalculationType() == HALF ? kHalfArithmetic : 0));
}

void set_format(Graph& graph, const VertexRef& v, const GfloatCast::FormatConfig& f, const GfloatCast::CastConfig& c) {
  graph.setInitialValue(v["bias"], f.getExponentBias());
  graph.setInitialValue(v["mantissa"], static_cast<unsigned char>(f.getNumMantissaBits()));
  graph.setInitialValue(v["exponent"], static_cast<unsigned char>(f.getNumExponentBits()));
  graph.setInitialValue(v["flags"], flags_of(f, c));
}

// One result for each element of `in`, by vertices where it lies.
template <class SetUp>
Tensor convert(Graph& graph, const Tensor& in, const Type& type, const std::string& vertex, program::Sequence& prog,
               const DebugContext& debug, SetUp set_up) {
  const Tensor out = graph.clone(type, in, {debug, "out"});
  if (out.numElements() == 0) return out;
  const ComputeSet cs = graph.addComputeSet({debug, "gfloat"});
  const Tensor from = in.flatten(), to = out.flatten();
  const auto mapping = graph.getTileMapping(to);
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for (const auto& part : poputil::splitRegionsBetweenWorkers(graph.getTarget(), mapping[tile], 4)) {
      const VertexRef v = graph.addVertex(cs, vertex);
      graph.setTileMapping(v, tile);
      graph.connect(v["in"], concat(from.slices(part)));
      graph.connect(v["out"], concat(to.slices(part)));
      set_up(v);
    }
  prog.add(program::Execute(cs, {debug, "gfloat"}));
  return out;
}

}  // namespace

GfloatCast::FormatConfig::FormatConfig(unsigned mantissa, unsigned exponent, int bias, bool denorms, bool infs, SpecType calculation)
    : mantissa_(mantissa), exponent_(exponent), bias_(bias), denorms_(denorms), infs_(infs), calculation_(calculation) {
  if (mantissa > kMantissaOfFloat || exponent > 15 || (mantissa == 0 && exponent == 0) || bias < -1000 || bias > 1000)
    poputil::refuse("gfloat-format",
                    "GfloatCast: a format of {} mantissa bits, {} exponent bits and bias {}; there may be 23, 15, -1000 to 1000", mantissa,
                    exponent, bias);
  if (calculation == SpecType::INT8 || calculation == SpecType::INT16)
    poputil::refuse("gfloat-arithmetic", "{}", "GfloatCast: arithmetic is FP32, FP16 or AUTO");
  if (calculation == SpecType::FP16 && !fits_half(mantissa, exponent))
    poputil::refuse("gfloat-arithmetic", "GfloatCast: half arithmetic has {} mantissa bits and {} exponent bits, the format {} and {}",
                    kMantissaOfHalf, kExponentOfHalf, mantissa, exponent);
}

FormatType GfloatCast::FormatConfig::getFormatType() const {
  if (width_of(*this) > 16) return FormatType::QUANTISED_FP32;
  if (width_of(*this) > 8) return denorms_ ? FormatType::ENABLE_DENORM_GF16 : FormatType::NO_DENORM_GF16;
  if (isBlockFloat()) return FormatType::ONE_FIELD_GF8;
  return getCalculationType() == HALF && exponent_ == kExponentOfHalf && !infs_ ? FormatType::MAX_NORM_ALIGN_GF8
                                                                                : FormatType::MIN_NORM_ALIGN_GF8;
}

Type GfloatCast::FormatConfig::getCalculationType() const {
  if (calculation_ != SpecType::AUTO) return calculation_ == SpecType::FP16 ? HALF : FLOAT;
  return width_of(*this) <= 8 && fits_half(mantissa_, exponent_) ? HALF : FLOAT;
}

Type GfloatCast::FormatConfig::getStorageType() const {
  const unsigned width = width_of(*this);
  return width <= 8 ? CHAR : width <= 16 ? SHORT : FLOAT;
}

GfloatCast::RoundConfig::RoundConfig(RoundType mode, unsigned bits, Type calculation, SRDensityType density, float offset, float scale,
                                     float max, float min, float down)
    : mode_(mode), density_(density), offset_(offset), scale_(scale), max_(max), min_(min), down_(down) {
  if (static_cast<unsigned>(mode) > kWithNoise || static_cast<unsigned>(density) > kTruncatedLogitNormalNoise)
    poputil::refuse("gfloat-rounding", "GfloatCast: rounding mode {} with noise {}; there are {} and {}", static_cast<int>(mode),
                    static_cast<int>(density), kWithNoise + 1, kTruncatedLogitNormalNoise + 1);
  bits_ = std::min(bits, calculation == HALF ? kMantissaOfHalf : kMantissaOfFloat);
  if (mode != RoundType::SR && mode != RoundType::SX) return;
  if (bits_ == 0 || !(min <= max) || !(scale > 0) || !(down >= 0 && down <= 1))
    poputil::refuse("gfloat-noise", "GfloatCast: noise of {} bits from {} to {}, of width {}; down with probability {}", bits_, min, max,
                    scale, down);
}

GfloatCast::CastConfig::CastConfig(Type calculation, Type storage, RoundConfig rounding, bool nanoo)
    : calculation_(calculation), storage_(storage), rounding_(rounding), nanoo_(nanoo) {}

GfloatCast::GfloatCast(const FormatConfig& format, const RoundConfig& rounding, bool nanoo, SpecType storage, SpecType calculation)
    : format_(format), config_(calculation_type(format, calculation), storage_type(format, storage), rounding, nanoo) {}

bool GfloatCast::getStoreAsNative() const { return getGFStorageType() == FLOAT || getGFStorageType() == HALF; }

void GfloatCast::createCastOpParamsTensor(Graph&, program::Sequence&, const DebugContext& debugContext) {
  const poputil::PoplibsOpDebugInfo di(debugContext, {}, "createCastOpParamsTensor");
}

Tensor GfloatCast::castNativeToGfloat(Graph& graph, const Tensor& input, program::Sequence& prog, const DebugContext& debugContext) const {
  const Type from = input.elementType();
  if (from != FLOAT && from != HALF)
    poputil::refuse("gfloat-input", "castNativeToGfloat: a tensor of type {}; it takes float and half", from.toString());
  poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(input));
  const RoundConfig& r = config_.getRoundConfig();
  const std::string vertex = "popfloat::ToGfloat<" + from.toString() + "," + getGFStorageType().toString() + ">";
  const Tensor out = convert(graph, input, getGFStorageType(), vertex, prog, {di}, [&](const VertexRef& v) {
    set_format(graph, v, format_, config_);
    graph.setInitialValue(v["mode"], static_cast<unsigned char>(r.getRoundMode()));
    graph.setInitialValue(v["randomBits"], static_cast<unsigned char>(r.getNumSRBits()));
    graph.setInitialValue(v["noise"], static_cast<unsigned char>(r.getSRDensity()));
    graph.setInitialValue(v["noiseOffset"], r.getSRNoiseOffset());
    graph.setInitialValue(v["noiseScale"], r.getSRNoiseScale());
    graph.setInitialValue(v["noiseLeast"], r.getSRNoiseMin());
    graph.setInitialValue(v["noiseGreatest"], r.getSRNoiseMax());
    graph.setInitialValue(v["down"], r.getBernoulliProb());
  });
  di.addOutput(out);
  return out;
}

Tensor GfloatCast::castGfloatToNative(Graph& graph, const Tensor& input, program::Sequence& prog, const DebugContext& debugContext) const {
  if (getStoreAsNative() || input.elementType() != getGFStorageType())
    poputil::refuse("gfloat-packed", "castGfloatToNative: a tensor of type {}; this cast stores {}", input.elementType().toString(),
                    getGFStorageType().toString());
  poputil::PoplibsOpDebugInfo di(debugContext, DI_ARGS(input));
  const Type to = getGFStorageType() == CHAR ? getCalculationType() : FLOAT;
  const std::string vertex = "popfloat::FromGfloat<" + getGFStorageType().toString() + "," + to.toString() + ">";
  const Tensor out = convert(graph, input, to, vertex, prog, {di}, [&](const VertexRef& v) { set_format(graph, v, format_, config_); });
  di.addOutput(out);
  return out;
}

}  // namespace popfloat::experimental
