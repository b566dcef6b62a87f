#ifndef popfloat_experimental_CastToGfloat_hpp
#define popfloat_experimental_CastToGfloat_hpp

#include <popfloat/experimental/GfloatExpr.hpp>
#include <popfloat/experimental/GfloatExprUtil.hpp>

#include <poplar/DebugContext.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Export.hpp>
#include <poplar/Graph.hpp>
#include <poplar/OptionFlags.hpp>
#include <poplar/Program.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poputil/exceptions.hpp>

#include <vector>

/// Floating-point formats of any width: FLOAT and HALF tensors are rounded to one, and stay what they are or are packed into 8 or 16 bits.
///
///     GfloatCast::FormatConfig format(2, 5, 15, true, true);  // mantissa, exponent, bias; denormal numbers, infinities and NaNs
///     GfloatCast::RoundConfig rounding(RoundType::RN, 23, format.getCalculationType());
///     GfloatCast cast(format, rounding, true, SpecType::AUTO);
///     cast.createCastOpParamsTensor(graph, prog);
///     Tensor packed = cast.castNativeToGfloat(graph, x, prog), back = cast.castGfloatToNative(graph, packed, prog);
///
/// A cast has two parts: what is known when the graph is made (CastConfig: types and rounding), and the format, which vertices read from a
/// tensor (createCastOpParamsTensor). The static functions take both; an object has its own.
namespace popfloat {
namespace experimental {

class POPLAR_EXPORT GfloatCast {
 public:
  /// A format by names: numMantissaBits, numExponentBits, numExponentBias, enableDenorms, enableInfsAndNans. Half precision without
  /// options.
  struct POPLAR_EXPORT GfloatFormatOptions {
    unsigned numMantissaBits = 10;
    unsigned numExponentBits = 5;
    unsigned numExponentBias = 15;
    bool enableDenorms = true;
    bool enableInfsAndNans = true;

    GfloatFormatOptions() {}
    GfloatFormatOptions(const poplar::OptionFlags& options) { parseGfloatFormatOptions(options); }
    /// Throws poplar::invalid_option for an option that there is not, or a value that it does not take.
    void parseGfloatFormatOptions(const poplar::OptionFlags& options);
  };

  /// A number is sign, exponent and mantissa: (1 + mantissa / 2^m) 2^(exponent - bias), or mantissa / 2^m 2^(1 - bias) if the exponent's
  /// field is 0. With infinities and NaNs the greatest exponent is theirs. Without exponent bits all numbers are of the second kind.
  class POPLAR_EXPORT FormatConfig {
   public:
    /// Half precision.
    FormatConfig();
    /// \p specCalculationType: the arithmetic, FP32 for any format, FP16 for those that half precision has room for; AUTO: FP16 where it
    /// may be, but for half precision itself. Throws poputil::poplibs_error for more than 23 mantissa bits, more than 15 exponent bits, a
    /// bias beyond -1000 ... 1000, and formats that do not fit the arithmetic that is asked for.
    FormatConfig(unsigned numMantissaBits, unsigned numExponentBits, int exponentBias, bool enableDenorms, bool enableInfsAndNans,
                 SpecType specCalculationType = SpecType::AUTO);
    /// The same with FLOAT or HALF as arithmetic.
    FormatConfig(unsigned numMantissaBits, unsigned numExponentBits, int exponentBias, bool enableDenorms, bool enableInfsAndNans,
                 poplar::Type calculationType);
    FormatConfig(GfloatFormatOptions formatOptions, poplar::Type calculationType);

    unsigned getNumMantissaBits() const { return mantissa_; }
    unsigned getNumExponentBits() const { return exponent_; }
    int getExponentBias() const { return bias_; }
    bool isDenormEnabled() const { return denorms_; }
    /// Never without exponent bits.
    bool infAndNansEnabled() const { return infs_; }
    /// Are all numbers equally far from their neighbours, as no exponent but 0 is for numbers?
    bool isBlockFloat() const { return exponent_ == 0 || (exponent_ == 1 && infs_); }
    FormatType getFormatType() const;
    /// FLOAT or HALF.
    poplar::Type getCalculationType() const { return calculation_; }
    /// HALF in its arithmetic, and for half precision itself and formats of up to 8 bits whose numbers it has; else FLOAT.
    poplar::Type getNativeType() const;
    /// CHAR for up to 8 bits; HALF for what half precision has room for in its arithmetic; SHORT for up to 16 bits; FLOAT for wider ones.
    poplar::Type getStorageType() const;
    /// Is the format one that is packed into 8 or 16 bits, rather than kept as HALF or FLOAT?
    bool isPackedFloatFormat() const;
    /// 8, 16 or 32: bits of the smallest storage.
    unsigned getPackedFloatBits() const;
    /// What createCastOpParamsTensor takes. From the lowest byte: mantissa bits, exponent bits, bias, and 1 for denormal numbers plus 2 for
    /// infinities and NaNs. Of the bias it holds the lowest 8 bits, which stand for -128 to 127.
    unsigned getPackedFloatParameters() const;

    /// The same numbers and the same arithmetic?
    bool operator==(const FormatConfig& other) const;

   private:
    unsigned mantissa_, exponent_;
    int bias_;
    bool denorms_, infs_;
    poplar::Type calculation_;
  };

  /// A rounding by names: roundMode, numSRBits, srNoiseDensity, srNoiseOffset, srNoiseScale, srNoiseMax, srNoiseMin, bernoulliProb,
  /// enableNanooMode.
  struct POPLAR_EXPORT GfloatCastOptions {
    RoundType roundMode = RoundType::INV;
    SRDensityType srNoiseDensity = SRDensityType::INVALID;
    unsigned numSRBits = 24;
    double srNoiseOffset = 0.0;
    double srNoiseScale = 0.0;
    double srNoiseMax = 0.0;
    double srNoiseMin = 0.0;
    double bernoulliProb = 0.0;
    bool enableNanooMode = true;

    GfloatCastOptions() {}
    GfloatCastOptions(const poplar::OptionFlags& options) { parseGfloatCastOptions(options); }
    /// Throws poplar::invalid_option for an option that there is not, or a value that it does not take.
    void parseGfloatCastOptions(const poplar::OptionFlags& options);
  };

  class POPLAR_EXPORT RoundConfig {
   public:
    /// No rounding mode: for casts from a format.
    RoundConfig();
    /// \p numSRBits: of what is cut off, so many bits count for SR and SX, at most as many as the arithmetic's mantissa has. \p srNoiseMin,
    /// \p srNoiseMax: the ends of the noise; \p srNoiseOffset, \p srNoiseScale: its mean and width; \p bernoulliProb: of BERNOULLI, how
    /// likely it is to round down. Throws poputil::poplibs_error for noise whose ends, width or probability cannot be.
    RoundConfig(RoundType roundMode, unsigned numSRBits, poplar::Type calculationType,
                SRDensityType srNoiseDensity = SRDensityType::INVALID, float srNoiseOffset = 0.0f, float srNoiseScale = 0.0f,
                float srNoiseMax = 0.0f, float srNoiseMin = 0.0f, float bernoulliProb = 0.0f);
    RoundConfig(GfloatCastOptions castOptions, poplar::Type calculationType);

    RoundType getRoundMode() const { return mode_; }
    unsigned getNumSRBits() const { return bits_; }
    SRDensityType getSRNoiseDensity() const { return density_; }
    float getSRNoiseOffset() const { return offset_; }
    float getSRNoiseScale() const { return scale_; }
    float getSRNoiseMax() const { return max_; }
    float getSRNoiseMin() const { return min_; }
    float getBernoulliProbability() const { return down_; }
    /// Which of the arithmetic's mantissa bits may count for a random rounding, twice: of FLOAT in one word, of HALF in both halves of it.
    std::vector<unsigned> getSRBitMask() const;
    /// The bits of offset, scale, least and greatest value of the noise, as floats. Empty without noise.
    std::vector<unsigned> getNoiseParams() const;
    /// How often a truncated noise is drawn at most; for BERNOULLI 65536 times the probability to round up; else 0.
    unsigned getDensityParam() const;
    /// getSRBitMask(), getNoiseParams() and, with noise, getDensityParam().
    std::vector<unsigned> getRoundingParams() const;

   private:
    RoundType mode_ = RoundType::INV;
    bool half_ = false;
    unsigned bits_ = 0;
    SRDensityType density_ = SRDensityType::INVALID;
    float offset_ = 0, scale_ = 0, max_ = 0, min_ = 0, down_ = 0;
  };

  /// What is known of a cast when the graph is made.
  class POPLAR_EXPORT CastConfig {
   public:
    /// Not of any cast yet.
    CastConfig() {}
    /// From FLOAT or HALF to a format, in FLOAT or HALF arithmetic. \p storageType: CHAR, SIGNED_CHAR or SHORT packs; FLOAT and HALF do
    /// not.
    /// \p enableNanooMode: numbers that are too great become NaN, in formats that have it; otherwise they become the greatest. Throws
    /// poputil::poplibs_error for other types, and for INVALID_FORMAT.
    static CastConfig createCastNativeToGF(FormatType formatType, poplar::Type calculationType, poplar::Type storageType,
                                           RoundConfig roundCfg, bool enableNanooMode);
    /// From packed numbers of a format to \p storageType, FLOAT or HALF.
    static CastConfig createCastGFToNative(FormatType formatType, poplar::Type calculationType, poplar::Type storageType);

    FormatType getFormatType() const { return format_; }
    poplar::Type getCalculationType() const { return calculation_; }
    poplar::Type getStorageType() const { return storage_; }
    /// Are rounded numbers kept as FLOAT or HALF?
    bool getStoreAsNative() const { return storage_ == poplar::FLOAT || storage_ == poplar::HALF; }
    /// Has the result the input's type?
    bool inPlaceOp(poplar::Type inType) const { return inType == storage_; }
    bool isNanooModeEnabled() const { return nanoo_; }
    const RoundConfig& getRoundConfig() const { return rounding_; }
    RoundType getRoundMode() const { return rounding_.getRoundMode(); }
    unsigned getNumSRBits() const { return rounding_.getNumSRBits(); }
    SRDensityType getSRNoiseDensity() const { return rounding_.getSRNoiseDensity(); }
    std::vector<unsigned> getNoiseParams() const { return rounding_.getNoiseParams(); }
    unsigned getDensityParam() const { return rounding_.getDensityParam(); }
    float getBernoulliProbability() const { return rounding_.getBernoulliProbability(); }
    float getSRNoiseOffset() const { return rounding_.getSRNoiseOffset(); }
    float getSRNoiseScale() const { return rounding_.getSRNoiseScale(); }
    float getSRNoiseMax() const { return rounding_.getSRNoiseMax(); }
    float getSRNoiseMin() const { return rounding_.getSRNoiseMin(); }
    std::vector<unsigned> getSRBitMask() const { return rounding_.getSRBitMask(); }
    std::vector<unsigned> getRoundingParams() const { return rounding_.getRoundingParams(); }
    /// getRoundingParams(), and 1 if numbers that are too great become NaN.
    std::vector<unsigned> getCastParams() const;

   private:
    FormatType format_ = FormatType::INVALID_FORMAT;
    poplar::Type calculation_ = poplar::FLOAT, storage_ = poplar::FLOAT;
    RoundConfig rounding_;
    bool nanoo_ = false;
  };

  /// \p GFType: what castNativeToGfloat gives: FP32 and FP16 keep rounded numbers as FLOAT or HALF, INT8 and INT16 pack them; AUTO is
  /// getStorageType() of the format. \p NativeType: what castGfloatToNative gives, FP32 or FP16; AUTO is the format's getNativeType().
  /// Throws poputil::poplibs_error for a storage that the format does not fit.
  GfloatCast(const FormatConfig& formatCfg, const RoundConfig& roundCfg, bool enableNanooMode, const SpecType& GFType = SpecType::AUTO,
             const SpecType& NativeType = SpecType::AUTO);
  GfloatCast(const GfloatFormatOptions& formatOptions, const GfloatCastOptions& castOptions, poplar::Type calculationType,
             const SpecType& GFType = SpecType::AUTO, const SpecType& NativeType = SpecType::AUTO);

  /// A format as casts read it: an INT tensor on tile 0, written by \p prog or \p cs. \p gfStruct: the format's getPackedFloatParameters(),
  /// as a number or as an INT or UNSIGNED_INT tensor of one element, read when the program runs. \p calculationType: FLOAT or HALF, the one
  /// of the casts. Throws poputil::poplibs_error for other types and shapes.
  static poplar::Tensor createCastOpParamsTensor(poplar::Graph& graph, poplar::program::Sequence& prog, poplar::Type calculationType,
                                                 const unsigned gfStruct, const poplar::DebugContext& debugContext = {});
  static poplar::Tensor createCastOpParamsTensor(poplar::Graph& graph, poplar::program::Sequence& prog, poplar::Type calculationType,
                                                 poplar::Tensor gfStruct, const poplar::DebugContext& debugContext = {});
  static poplar::Tensor createCastOpParamsTensor(poplar::Graph& graph, const poplar::ComputeSet& cs, poplar::Type calculationType,
                                                 const unsigned gfPacked, const poplar::DebugContext& debugContext = {});
  static poplar::Tensor createCastOpParamsTensor(poplar::Graph& graph, const poplar::ComputeSet& cs, poplar::Type calculationType,
                                                 poplar::Tensor gfPacked, const poplar::DebugContext& debugContext = {});
  /// The same of this object's format, for its casts that follow. Without it they read a constant.
  void createCastOpParamsTensor(poplar::Graph& graph, poplar::program::Sequence& prog, const poplar::DebugContext& debugContext = {});
  void createCastOpParamsTensor(poplar::Graph& graph, const poplar::ComputeSet& cs);

  /// Rounds the elements of \p input, FLOAT or HALF, to the format of \p param: a tensor of the configuration's storage type that lies
  /// where
  /// \p input does. Throws poputil::poplibs_error for other inputs, and for a configuration without a rounding mode.
  static poplar::Tensor castNativeToGfloat(poplar::Graph& graph, poplar::Tensor input, const poplar::Tensor& param,
                                           poplar::program::Sequence& prog, const CastConfig& gfCastCfg,
                                           const poplar::DebugContext& debugContext = {});
  poplar::Tensor castNativeToGfloat(poplar::Graph& graph, poplar::Tensor input, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {});
  /// The same as a part of \p cs. Numbers that the configuration packs are not packed: they come in the type of the arithmetic.
  static poplar::Tensor castNativeToGfloat(poplar::Graph& graph, poplar::Tensor input, const poplar::Tensor& param,
                                           const poplar::ComputeSet& cs, const CastConfig& gfCastCfg,
                                           const poplar::DebugContext& debugContext = {});

  /// Rounds the elements of \p input, FLOAT or HALF, where they are. The storage type does not count. Throws poputil::poplibs_error for an
  /// input that cannot be written.
  static void castNativeToGfloatInPlace(poplar::Graph& graph, poplar::Tensor input, const poplar::Tensor& param,
                                        poplar::program::Sequence& prog, const CastConfig& gfCastCfg,
                                        const poplar::DebugContext& debugContext = {});
  static void castNativeToGfloatInPlace(poplar::Graph& graph, poplar::Tensor input, const poplar::Tensor& param,
                                        const poplar::ComputeSet& cs, const CastConfig& gfCastCfg,
                                        const poplar::DebugContext& debugContext = {});
  void castNativeToGfloatInPlace(poplar::Graph& graph, poplar::Tensor input, poplar::program::Sequence& prog,
                                 const poplar::DebugContext& debugContext = {});
  void castNativeToGfloatInPlace(poplar::Graph& graph, poplar::Tensor input, const poplar::ComputeSet& cs);

  /// Packed numbers, CHAR, SIGNED_CHAR or SHORT, of the format of \p param as numbers of the configuration's storage type. Throws
  /// poputil::poplibs_error for other inputs; the object's own forms for inputs that it does not store.
  static poplar::Tensor castGfloatToNative(poplar::Graph& graph, poplar::Tensor input, const poplar::Tensor& param,
                                           poplar::program::Sequence& prog, const CastConfig& gfCastCfg,
                                           const poplar::DebugContext& debugContext = {});
  poplar::Tensor castGfloatToNative(poplar::Graph& graph, poplar::Tensor input, poplar::program::Sequence& prog,
                                    const poplar::DebugContext& debugContext = {});
  /// The same as a part of \p cs: in the type of the arithmetic.
  static poplar::Tensor castGfloatToNative(poplar::Graph& graph, poplar::Tensor input, const poplar::Tensor& param,
                                           const poplar::ComputeSet& cs, const CastConfig& gfCastCfg,
                                           const poplar::DebugContext& debugContext = {});
  poplar::Tensor castGfloatToNative(poplar::Graph& graph, poplar::Tensor input, const poplar::ComputeSet& cs);

  poplar::Type getGFStorageType() const { return toFormat_.getStorageType(); }
  poplar::Type getCalculationType() const { return toFormat_.getCalculationType(); }
  poplar::Type getNativeStorageType() const { return toNative_.getStorageType(); }
  FormatConfig getFormatConfig() const { return format_; }
  CastConfig getNativeToGFConfig() const { return toFormat_; }
  CastConfig getGFToNativeConfig() const { return toNative_; }
  bool getStoreAsNative() const { return toFormat_.getStoreAsNative(); }
  bool isNanooModeEnabled() const { return toFormat_.isNanooModeEnabled(); }
  std::vector<unsigned> getSRBitMask() const { return toFormat_.getSRBitMask(); }
  RoundType getRoundMode() const { return toFormat_.getRoundMode(); }
  bool inPlaceOp(poplar::Type outType) const { return toFormat_.inPlaceOp(outType); }
  std::vector<unsigned> getRoundingParams() const { return toFormat_.getRoundingParams(); }

  /// What createCastOpParamsTensor made, or setGfloatCastParameters took. Throws poputil::poplibs_error without either.
  poplar::Tensor getCastOpParams() const;
  bool isCastOpParamSet() const { return params_.valid(); }
  /// Casts that follow read *\p gfParams_, which this object owns from here on.
  void setGfloatCastParameters(poplar::Tensor* gfParams_);

 private:
  poplar::Tensor params_of(poplar::Graph& graph) const;

  FormatConfig format_;
  CastConfig toFormat_, toNative_;
  poplar::Tensor params_;
};

}  // namespace experimental
}  // namespace popfloat

#endif
