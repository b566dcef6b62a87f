#include "base/values/shape.h"

namespace pando {

std::string to_string(const Shape& shape) {
  std::string text = "{";
  for (std::size_t d = 0; d < shape.size(); ++d) text += (d ? "," : "") + std::to_string(shape[d]);
  return text + "}";
}

}  // namespace pando
