// popops/EncodingConstants.hpp for codelets, which see no public header of an op library.
#pragma once

namespace popnn {

constexpr unsigned kMaskedLabel = 0xffffffffu;
// Probabilities count as no less when their logarithm is taken.
constexpr float kLeastFloat = 1.17549435e-38f;
constexpr float kLeastHalf = 0.000000059605f;

}  // namespace popnn
