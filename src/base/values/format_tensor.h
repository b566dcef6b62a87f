// How PrintTensor lays out numbers (poplar::PrintTensorFmt): data that graph and tile programs carry, and what executors format with.
#pragma once

#include "base/element_type.h"
#include "base/values/shape.h"

#include <string>

namespace pando {

struct PrintFormat {
  unsigned summarise_threshold = 1000;
  unsigned edge_items = 3;
  unsigned max_line_width = 75;
  unsigned digits = 8;
  unsigned float_format = 0;  // poplar::FloatFormat: 0 auto, 1 fixed, 2 scientific, 3 none
  char separator = ' ';
  char open_bracket = '[';
  char close_bracket = ']';
};

// Row-major bytes as text; booleans and integers in decimal, quarter as its bits.
std::string format_tensor(const void* bytes, ElementType type, const Shape& shape, const PrintFormat& format);

}  // namespace pando
