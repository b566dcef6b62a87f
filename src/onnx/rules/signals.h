// Windows and transforms of signals.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// Sums of cosines: coefficient k counts cos(2 pi k i / n).
void cosine_window(Context& c, const std::vector<double>& coefficients);
// The rule of DFT.
void fourier(Context& c);

}  // namespace pando::onnx
