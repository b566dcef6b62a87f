// The sizes of a tensor's dimensions, outermost first. Sizes of the model level, which may be unknown or differences of others, are signed:
// ir::Shape.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pando {

using Shape = std::vector<std::size_t>;

std::string to_string(const Shape& shape);  // "{3,4}"

}  // namespace pando
