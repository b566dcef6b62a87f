// Formats, roundings and casts as data: what of them fits together, and what follows from it.
#include <poputil/OptionParsing.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>

#include "popfloat/experimental/CastToGfloat.hpp"
#include "poplibs/popfloat/gfloat_code.h"
#include "poplibs/popfloat/gfloat_names.h"
#include "poplibs/poputil/reject.h"

namespace popfloat::experimental {

using namespace poplar;

namespace {

using poplibs::OptionHandler;
using poplibs::OptionSpec;
using FormatConfig = GfloatCast::FormatConfig;

constexpr unsigned kMantissaOfFloat = 23, kMantissaOfHalf = 10, kExponentOfHalf = 5, kExponentOfFloat = 8;

unsigned width_of(const FormatConfig& f) { return 1 + f.getNumExponentBits() + f.getNumMantissaBits(); }

bool fits_half(unsigned mantissa, unsigned exponent) { return mantissa <= kMantissaOfHalf && exponent <= kExponentOfHalf; }

// A sign, five bits of exponent and ten of mantissa. Its bias may be another one.
bool is_like_half(unsigned mantissa, unsigned exponent) { return mantissa == kMantissaOfHalf && exponent == kExponentOfHalf; }

// Are all numbers of the format, with its bias, numbers of half precision?
bool has_numbers_of_half(const FormatConfig& f) {
  if (!fits_half(f.getNumMantissaBits(), f.getNumExponentBits())) return false;
  const int mantissa = static_cast<int>(f.getNumMantissaBits()), least = 1 - f.getExponentBias() - mantissa;
  const int greatest =
      f.isBlockFloat() ? -f.getExponentBias() : (1 << f.getNumExponentBits()) - 1 - (f.infAndNansEnabled() ? 1 : 0) - f.getExponentBias();
  return least >= -24 && greatest <= 15;
}

Type arithmetic_of(unsigned mantissa, unsigned exponent, SpecType wanted) {
  if (wanted != SpecType::FP32 && wanted != SpecType::FP16 && wanted != SpecType::AUTO)
    poputil::reject("gfloat-arithmetic", "{}", "GfloatCast: arithmetic is FP32, FP16 or AUTO");
  if (wanted == SpecType::FP16 && !fits_half(mantissa, exponent))
    poputil::reject("gfloat-arithmetic", "GfloatCast: half arithmetic has {} mantissa bits and {} exponent bits, the format {} and {}",
                    kMantissaOfHalf, kExponentOfHalf, mantissa, exponent);
  if (wanted == SpecType::AUTO) return fits_half(mantissa, exponent) && !is_like_half(mantissa, exponent) ? HALF : FLOAT;
  return wanted == SpecType::FP16 ? HALF : FLOAT;
}

SpecType spec_of(const Type& calculation) {
  if (calculation != FLOAT && calculation != HALF)
    poputil::reject("gfloat-arithmetic", "GfloatCast: arithmetic in {}; it is in float or half", calculation.toString());
  return calculation == HALF ? SpecType::FP16 : SpecType::FP32;
}

// Noise may lie below 0.
OptionHandler any_number(double& out) {
  return OptionHandler([&out](StringRef text) { out = poplibs::parse::asFloatingPoint<double>(text); });
}

std::vector<unsigned> words_of(std::initializer_list<float> numbers) {
  std::vector<unsigned> out;
  for (const float x : numbers) out.push_back(bits_of(x));
  return out;
}

void append(std::vector<unsigned>& to, const std::vector<unsigned>& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

void GfloatCast::GfloatFormatOptions::parseGfloatFormatOptions(const OptionFlags& options) {
  const OptionSpec known{{"numMantissaBits", OptionHandler::createWithInteger(numMantissaBits)},
                         {"numExponentBits", OptionHandler::createWithInteger(numExponentBits)},
                         {"numExponentBias", OptionHandler::createWithInteger(numExponentBias)},
                         {"enableDenorms", OptionHandler::createWithBool(enableDenorms)},
                         {"enableInfsAndNans", OptionHandler::createWithBool(enableInfsAndNans)}};
  for (const auto& option : options) known.parse(option.first, option.second);
}

void GfloatCast::GfloatCastOptions::parseGfloatCastOptions(const OptionFlags& options) {
  const OptionSpec known{{"roundMode", OptionHandler::createWithEnum(roundMode, round_types())},
                         {"numSRBits", OptionHandler::createWithInteger(numSRBits)},
                         {"srNoiseDensity", OptionHandler::createWithEnum(srNoiseDensity, densities())},
                         {"srNoiseOffset", any_number(srNoiseOffset)},
                         {"srNoiseScale", any_number(srNoiseScale)},
                         {"srNoiseMax", any_number(srNoiseMax)},
                         {"srNoiseMin", any_number(srNoiseMin)},
                         {"bernoulliProb", any_number(bernoulliProb)},
                         {"enableNanooMode", OptionHandler::createWithBool(enableNanooMode)}};
  for (const auto& option : options) known.parse(option.first, option.second);
}

GfloatCast::FormatConfig::FormatConfig() : FormatConfig(GfloatFormatOptions(), FLOAT) {}

GfloatCast::FormatConfig::FormatConfig(unsigned mantissa, unsigned exponent, int bias, bool denorms, bool infs, SpecType calculation)
    : mantissa_(mantissa), exponent_(exponent), bias_(bias), denorms_(denorms), infs_(infs && exponent > 0) {
  if (mantissa > kMantissaOfFloat || exponent > 15 || (mantissa == 0 && exponent == 0) || bias < -1000 || bias > 1000)
    poputil::reject("gfloat-format",
                    "GfloatCast: a format of {} mantissa bits, {} exponent bits and bias {}; there may be 23, 15, -1000 to 1000", mantissa,
                    exponent, bias);
  calculation_ = arithmetic_of(mantissa, exponent, calculation);
}

GfloatCast::FormatConfig::FormatConfig(unsigned mantissa, unsigned exponent, int bias, bool denorms, bool infs, Type calculation)
    : FormatConfig(mantissa, exponent, bias, denorms, infs, spec_of(calculation)) {}

GfloatCast::FormatConfig::FormatConfig(GfloatFormatOptions o, Type calculation)
    : FormatConfig(o.numMantissaBits, o.numExponentBits, static_cast<int>(std::min(o.numExponentBias, 1u << 20)), o.enableDenorms,
                   o.enableInfsAndNans, calculation) {}

FormatType GfloatCast::FormatConfig::getFormatType() const {
  const unsigned width = width_of(*this);
  if (is_like_half(mantissa_, exponent_) && infs_) return FormatType::IEEE_FP16;
  if (calculation_ == HALF) {
    if (width > 8) return FormatType::QUANTISED_FP16;
    if (exponent_ < kExponentOfHalf) return FormatType::MIN_NORM_ALIGN_GF8;
    return infs_ ? FormatType::ONE_FIVE_TWO_GF8 : FormatType::MAX_NORM_ALIGN_GF8;
  }
  if (width > 16) return FormatType::QUANTISED_FP32;
  if (width > 8 && exponent_ == kExponentOfFloat) return FormatType::BFLOAT16;
  return denorms_ || width <= 8 ? FormatType::ENABLE_DENORM_GF16 : FormatType::NO_DENORM_GF16;
}

Type GfloatCast::FormatConfig::getNativeType() const {
  if (calculation_ == HALF || getFormatType() == FormatType::IEEE_FP16) return HALF;
  return width_of(*this) <= 8 && has_numbers_of_half(*this) ? HALF : FLOAT;
}

Type GfloatCast::FormatConfig::getStorageType() const {
  const unsigned width = width_of(*this);
  if (width <= 8) return CHAR;
  if (calculation_ == HALF || getFormatType() == FormatType::IEEE_FP16) return HALF;
  return width <= 16 ? SHORT : FLOAT;
}

bool GfloatCast::FormatConfig::isPackedFloatFormat() const {
  const FormatType type = getFormatType();
  return type != FormatType::QUANTISED_FP16 && type != FormatType::QUANTISED_FP32 && type != FormatType::IEEE_FP16;
}

unsigned GfloatCast::FormatConfig::getPackedFloatBits() const {
  const unsigned width = width_of(*this);
  return width <= 8 ? 8 : width <= 16 ? 16 : 32;
}

unsigned GfloatCast::FormatConfig::getPackedFloatParameters() const {
  return mantissa_ | exponent_ << 8 | (static_cast<unsigned>(bias_) & 0xff) << 16 | (denorms_ ? kDenormals : 0u) << 24 |
         (infs_ ? kInfinities : 0u) << 24;
}

bool GfloatCast::FormatConfig::operator==(const FormatConfig& o) const {
  return std::tie(mantissa_, exponent_, bias_, denorms_, infs_, calculation_) ==
         std::tie(o.mantissa_, o.exponent_, o.bias_, o.denorms_, o.infs_, o.calculation_);
}

GfloatCast::RoundConfig::RoundConfig() = default;

GfloatCast::RoundConfig::RoundConfig(RoundType mode, unsigned bits, Type calculation, SRDensityType density, float offset, float scale,
                                     float max, float min, float down)
    : mode_(mode), half_(calculation == HALF), density_(density), offset_(offset), scale_(scale), max_(max), min_(min), down_(down) {
  if (mode > RoundType::SX || density > SRDensityType::TRUNCATED_LOGIT_NORMAL)
    poputil::reject("gfloat-rounding", "GfloatCast: rounding mode {} with noise {}; there are {} and {}", static_cast<int>(mode),
                    static_cast<int>(density), round_types().size(), densities().size());
  bits_ = std::min(bits, half_ ? kMantissaOfHalf : kMantissaOfFloat);
  if (mode != RoundType::SR && mode != RoundType::SX) return;
  if (bits_ == 0) poputil::reject("gfloat-noise", "{}", "GfloatCast: noise of 0 bits; it has at least one");
  if (mode == RoundType::SR || density == SRDensityType::INVALID) return;
  const bool of_width = density != SRDensityType::UNIFORM && density != SRDensityType::BERNOULLI;
  if (!(min <= max) || (of_width && !(scale > 0)) || !(down >= 0 && down <= 1))
    poputil::reject("gfloat-noise", "GfloatCast: noise from {} to {}, of width {}; down with probability {}", min, max, scale, down);
}

GfloatCast::RoundConfig::RoundConfig(GfloatCastOptions o, Type calculation)
    : RoundConfig(o.roundMode, o.numSRBits, calculation, o.srNoiseDensity, static_cast<float>(o.srNoiseOffset),
                  static_cast<float>(o.srNoiseScale), static_cast<float>(o.srNoiseMax), static_cast<float>(o.srNoiseMin),
                  static_cast<float>(o.bernoulliProb)) {}

std::vector<unsigned> GfloatCast::RoundConfig::getSRBitMask() const {
  const unsigned unused = (half_ ? kMantissaOfHalf : kMantissaOfFloat) - bits_, mask = ~((1u << unused) - 1);
  return std::vector<unsigned>(2, half_ ? (mask & 0xffff) * 0x10001 : mask);
}

std::vector<unsigned> GfloatCast::RoundConfig::getNoiseParams() const {
  if (mode_ != RoundType::SX || density_ == SRDensityType::INVALID) return {};
  return words_of({offset_, scale_, min_, max_});
}

unsigned GfloatCast::RoundConfig::getDensityParam() const {
  if (getNoiseParams().empty()) return 0;
  if (density_ == SRDensityType::BERNOULLI) return static_cast<unsigned>((1.0 - down_) * 65536.0);
  return is_truncated(noise_of(static_cast<unsigned>(density_))) ? kMostDraws : 0;
}

std::vector<unsigned> GfloatCast::RoundConfig::getRoundingParams() const {
  std::vector<unsigned> out = getSRBitMask();
  const std::vector<unsigned> noise = getNoiseParams();
  append(out, noise);
  if (!noise.empty()) out.push_back(getDensityParam());
  return out;
}

GfloatCast::CastConfig GfloatCast::CastConfig::createCastNativeToGF(FormatType format, Type calculation, Type storage, RoundConfig rounding,
                                                                    bool nanoo) {
  if (format <= FormatType::INVALID_FORMAT || format > FormatType::ENABLE_DENORM_GF16)
    poputil::reject("gfloat-format", "GfloatCast: format {}; there are {} from {} on", static_cast<int>(format),
                    static_cast<int>(FormatType::ENABLE_DENORM_GF16), static_cast<int>(FormatType::IEEE_FP16));
  spec_of(calculation);
  if (storage != FLOAT && storage != HALF && storage != CHAR && storage != SIGNED_CHAR && storage != SHORT)
    poputil::reject("gfloat-storage", "GfloatCast: numbers stored as {}; they are stored as float, half, char, signed char or short",
                    storage.toString());
  CastConfig out;
  out.format_ = format;
  out.calculation_ = calculation;
  out.storage_ = storage;
  out.rounding_ = rounding;
  out.nanoo_ = nanoo;
  return out;
}

GfloatCast::CastConfig GfloatCast::CastConfig::createCastGFToNative(FormatType format, Type calculation, Type storage) {
  const CastConfig out = createCastNativeToGF(format, calculation, storage, RoundConfig(), false);
  if (!out.getStoreAsNative())
    poputil::reject("gfloat-storage", "GfloatCast: from a format to {}; it is to float or half", storage.toString());
  return out;
}

std::vector<unsigned> GfloatCast::CastConfig::getCastParams() const {
  std::vector<unsigned> out = getRoundingParams();
  out.push_back(nanoo_ ? 1 : 0);
  return out;
}

GfloatCast::GfloatCast(const FormatConfig& format, const RoundConfig& rounding, bool nanoo, const SpecType& stored, const SpecType& native)
    : format_(format) {
  const Type storage = stored == SpecType::AUTO ? format.getStorageType() : specTypeToPoplarType(stored);
  const unsigned width = width_of(format), most = storage == CHAR ? 8 : storage == SHORT ? 16 : 32;
  if (width > most)
    poputil::reject("gfloat-storage", "GfloatCast: a format of {} bits (1 + {} + {}) is stored in {}", width, format.getNumExponentBits(),
                    format.getNumMantissaBits(), most);
  toFormat_ = CastConfig::createCastNativeToGF(format.getFormatType(), format.getCalculationType(), storage, rounding, nanoo);
  toNative_ = CastConfig::createCastGFToNative(format.getFormatType(), format.getCalculationType(),
                                               native == SpecType::AUTO ? format.getNativeType() : specTypeToPoplarType(native));
}

GfloatCast::GfloatCast(const GfloatFormatOptions& format, const GfloatCastOptions& cast, Type calculation, const SpecType& stored,
                       const SpecType& native)
    : GfloatCast(FormatConfig(format, calculation), RoundConfig(cast, calculation), cast.enableNanooMode, stored, native) {}

}  // namespace popfloat::experimental
