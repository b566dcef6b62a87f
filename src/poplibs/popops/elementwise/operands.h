// How operands of other shapes are read: which element of an operand belongs to an element of the result.
#pragma once

#include <poplar/Tensor.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace popops::internal {

// Element e of the result, in row-major order, needs element (e / repeat) % period of the operand.
struct Pattern {
  std::size_t repeat = 1, period = 1;
};

// The shape that all of these broadcast to. Throws poplibs_error; `where` opens the message.
std::vector<std::size_t> broadcast_shape(const std::vector<std::vector<std::size_t>>& shapes, const std::string& where);

// The pattern of an operand of shape `from` in a result of shape `to`; none if its own dimensions are not next to each other.
std::optional<Pattern> pattern_of(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to);

}  // namespace popops::internal
