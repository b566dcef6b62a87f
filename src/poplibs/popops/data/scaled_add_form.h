// What a scaled addition whose scales are tensors does: the field `form` of its vertices. Without a bit of A's, A is not scaled.
#pragma once

namespace popops {

constexpr unsigned char kScaledAddHasA = 1;       // scaleA * a
constexpr unsigned char kScaledAddOneMinusA = 2;  // (1 - scaleA) * a
constexpr unsigned char kScaledAddSubtract = 4;   // minus scaleB * b

}  // namespace popops
