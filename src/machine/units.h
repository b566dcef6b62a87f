// What a tile's arithmetic units take at a time.
#pragma once

#include "base/element_type.h"
#include "machine/machine.h"

namespace pando {

// Elements of a type in one vector register. There are no integer vectors: integers are loaded and stored as floats and halfs of their
// size.
unsigned vector_width(const Machine& machine, ElementType type);

// The unit that multiplies, in a pass, rows that stream through by a block of [in x out] weights that stays in it.
struct AmpUnit {
  unsigned in = 1;            // elements of the summed dimension
  unsigned out = 1;           // elements of its output
  unsigned row_elements = 1;  // of a row, loaded in a cycle
  unsigned weight_bytes = 1;  // loaded in a cycle
};
// Of floats or halfs.
AmpUnit amp_unit(const Machine& machine, ElementType input, ElementType partials);

}  // namespace pando
