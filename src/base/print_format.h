// How PrintTensor lays out numbers (poplar::PrintTensorFmt). Data only: graph and tile programs carry it, exec formats with it.
#pragma once

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

}  // namespace pando
