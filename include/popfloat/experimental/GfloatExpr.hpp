#ifndef popfloat_experimental_GfloatExpr_hpp
#define popfloat_experimental_GfloatExpr_hpp

namespace popfloat {
namespace experimental {

/// Towards zero; to the nearest, ties to even; to the nearest, ties away from zero; up; down; up or down at random: SR with the distance as
/// probability, SX with a noise of choice.
enum class RoundType { RZ, RN, RA, RU, RD, SR, SX };

/// The noise that SX adds to the part that is cut off. Those that are not truncated have what is beyond their ends at the ends.
enum class SRDensityType {
  UNIFORM,
  NORMAL,
  TRUNCATED_NORMAL,
  BERNOULLI,
  LAPLACE,
  TRUNCATED_LAPLACE,
  LOGISTIC,
  TRUNCATED_LOGISTIC,
  LOGIT_NORMAL,
  TRUNCATED_LOGIT_NORMAL
};

/// A type for arithmetic (FP32, FP16) or for storage; AUTO: what fits the format.
enum class SpecType { AUTO, FP32, FP16, INT8, INT16 };

/// What a format is like: without exponents; of up to 8 bits, the greatest exponent being used for numbers (MAX_NORM_ALIGN) or not; of up
/// to 16 bits, with or without denormal numbers; wider.
enum class FormatType { ONE_FIELD_GF8, MIN_NORM_ALIGN_GF8, MAX_NORM_ALIGN_GF8, NO_DENORM_GF16, ENABLE_DENORM_GF16, QUANTISED_FP32 };

}  // namespace experimental
}  // namespace popfloat

#endif
