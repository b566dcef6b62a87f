#ifndef popfloat_experimental_GfloatExpr_hpp
#define popfloat_experimental_GfloatExpr_hpp

namespace popfloat {
namespace experimental {

/// Towards zero; to the nearest, ties to even; to the nearest, ties away from zero; up; down; up or down at random: SR with the distance as
/// probability, SX with a noise of choice. INV is none.
enum class RoundType { INV, RZ, RN, RA, RU, RD, SR, SX };

/// What a format is like. IEEE_FP16: half precision. QUANTISED_FP16, QUANTISED_FP32: is kept as HALF or FLOAT. In half arithmetic and of up
/// to 8 bits: fewer than 5 exponent bits (MIN_NORM_ALIGN_GF8), 5 of them with infinities (ONE_FIVE_TWO_GF8) or without (MAX_NORM_ALIGN_GF8,
/// whose greatest exponent is for numbers). In float arithmetic and of up to 16 bits: 8 exponent bits (BFLOAT16), others without or with
/// denormal numbers.
enum class FormatType {
  INVALID_FORMAT,
  IEEE_FP16,
  QUANTISED_FP32,
  QUANTISED_FP16,
  MIN_NORM_ALIGN_GF8,
  ONE_FIVE_TWO_GF8,
  MAX_NORM_ALIGN_GF8,
  BFLOAT16,
  NO_DENORM_GF16,
  ENABLE_DENORM_GF16
};

/// The noise that SX adds to the part that is cut off. Those that are not truncated have what is beyond their ends at the ends. INVALID:
/// none, SX then draws as SR does.
enum class SRDensityType {
  INVALID,
  UNIFORM,
  NORMAL,
  TRUNCATED_NORMAL,
  BERNOULLI,
  LOGISTIC,
  TRUNCATED_LOGISTIC,
  LAPLACE,
  TRUNCATED_LAPLACE,
  LOGIT_NORMAL,
  TRUNCATED_LOGIT_NORMAL
};

/// A type for arithmetic (FP32, FP16) or for storage (BF16 is kept as FLOAT); AUTO: what fits the format.
enum class SpecType { FP32, BF16, FP16, INT8, INT16, INT32, AUTO };

}  // namespace experimental
}  // namespace popfloat

#endif
