#ifndef popfloat_experimental_CastToGfloat_hpp
#define popfloat_experimental_CastToGfloat_hpp

#include <popfloat/experimental/GfloatExpr.hpp>

#include <poplar/DebugContext.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poputil/exceptions.hpp>

/// Floating-point formats of any width: FLOAT and HALF tensors are rounded to one, and stay what they are or are packed into 8 or 16 bits.
///
///     GfloatCast::FormatConfig format(2, 5, 15, true, true);  // mantissa, exponent, bias; denormal numbers, infinities and NaNs
///     GfloatCast::RoundConfig rounding(RoundType::RN, 23, format.getCalculationType());
///     GfloatCast cast(format, rounding, true, SpecType::AUTO);
///     Tensor packed = cast.castNativeToGfloat(graph, x, prog), back = cast.castGfloatToNative(graph, packed, prog);
namespace popfloat {
namespace experimental {

class POPLAR_EXPORT GfloatCast {
 public:
  /// A number is sign, exponent and mantissa: (1 + mantissa / 2^m) 2^(exponent - bias), or mantissa / 2^m 2^(1 - bias) if the exponent's
  /// field is 0. With infinities and NaNs the greatest exponent is theirs. Without exponent bits all numbers are of the second kind.
  class POPLAR_EXPORT FormatConfig {
   public:
    /// Throws poputil::poplibs_error for more than 23 mantissa bits, more than 15 exponent bits, a bias beyond -1000 ... 1000, and formats
    /// that do not fit the arithmetic that is asked for.
    FormatConfig(unsigned numMantissaBits, unsigned numExponentBits, int exponentBias, bool enableDenorms, bool enableInfsAndNans,
                 SpecType calculationType = SpecType::AUTO);

    unsigned getNumMantissaBits() const { return mantissa_; }
    unsigned getNumExponentBits() const { return exponent_; }
    int getExponentBias() const { return bias_; }
    bool isDenormEnabled() const { return denorms_; }
    bool infAndNansEnabled() const { return infs_; }
    bool isBlockFloat() const { return exponent_ == 0; }
    FormatType getFormatType() const;
    /// FLOAT or HALF. AUTO is HALF for formats of up to 8 bits whose numbers HALF has.
    poplar::Type getCalculationType() const;
    /// CHAR for up to 8 bits, SHORT for up to 16, FLOAT for wider ones.
    poplar::Type getStorageType() const;

   private:
    unsigned mantissa_, exponent_;
    int bias_;
    bool denorms_, infs_;
    SpecType calculation_;
  };

  class POPLAR_EXPORT RoundConfig {
   public:
    /// \p numSRBits: of what is cut off, so many bits count for SR and SX, at most as many as the arithmetic's mantissa has. \p srNoiseMin,
    /// \p srNoiseMax: the ends of the noise; \p srNoiseOffset, \p srNoiseScale: its mean and width; \p probDown: of BERNOULLI.
    RoundConfig(RoundType mode, unsigned numSRBits, poplar::Type calculationType, SRDensityType density = SRDensityType::UNIFORM,
                float srNoiseOffset = 0.0f, float srNoiseScale = 1.0f, float srNoiseMax = 0.5f, float srNoiseMin = -0.5f,
                float probDown = 1.0f);

    RoundType getRoundMode() const { return mode_; }
    unsigned getNumSRBits() const { return bits_; }
    SRDensityType getSRDensity() const { return density_; }
    float getSRNoiseOffset() const { return offset_; }
    float getSRNoiseScale() const { return scale_; }
    float getSRNoiseMax() const { return max_; }
    float getSRNoiseMin() const { return min_; }
    float getBernoulliProb() const { return down_; }

   private:
    RoundType mode_;
    unsigned bits_;
    SRDensityType density_;
    float offset_, scale_, max_, min_, down_;
  };

  class POPLAR_EXPORT CastConfig {
   public:
    CastConfig(poplar::Type calculationType, poplar::Type storageType, RoundConfig rounding, bool enableNanooMode);

    poplar::Type getCalculationType() const { return calculation_; }
    poplar::Type getStorageType() const { return storage_; }
    RoundType getRoundMode() const { return rounding_.getRoundMode(); }
    const RoundConfig& getRoundConfig() const { return rounding_; }
    bool isNanooModeEnabled() const { return nanoo_; }

   private:
    poplar::Type calculation_, storage_;
    RoundConfig rounding_;
    bool nanoo_;
  };

  /// \p enableNanooMode: numbers that are too great become NaN, in formats that have it; otherwise they become the greatest. \p
  /// storageType: FP32 and FP16 keep rounded numbers as FLOAT or HALF; AUTO packs them (getStorageType() of the format). Throws
  /// poputil::poplibs_error for a storage that the format does not fit.
  GfloatCast(const FormatConfig& format, const RoundConfig& rounding, bool enableNanooMode = true, SpecType storageType = SpecType::AUTO,
             SpecType calculationType = SpecType::AUTO);

  /// Puts the format into a tensor for all casts that follow. Here they need none; it is empty.
  void createCastOpParamsTensor(poplar::Graph& graph, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});

  /// Rounds the elements of \p input, FLOAT or HALF: a tensor of getGFStorageType() that lies where \p input does.
  poplar::Tensor castNativeToGfloat(poplar::Graph& graph, const poplar::Tensor& input, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {}) const;
  /// Packed numbers as FLOAT; as HALF, rounded to it, if they are of up to 8 bits and the arithmetic is HALF.
  poplar::Tensor castGfloatToNative(poplar::Graph& graph, const poplar::Tensor& input, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {}) const;

  poplar::Type getGFStorageType() const { return config_.getStorageType(); }
  poplar::Type getCalculationType() const { return config_.getCalculationType(); }
  /// Are rounded numbers kept as FLOAT or HALF?
  bool getStoreAsNative() const;
  const CastConfig& getNativeToGFConfig() const { return config_; }
  const FormatConfig& getFormatConfig() const { return format_; }

 private:
  FormatConfig format_;
  CastConfig config_;
};

}  // namespace experimental
}  // namespace popfloat

#endif
