// What ArgMax and ArgMin share.
#pragma once

#include "onnx/operator.h"

namespace pando::onnx {

// Where along an axis the extreme element lies, by the row "argmax" or "argmin".
void position_of_extreme(Context& c, std::string_view row);

}  // namespace pando::onnx
