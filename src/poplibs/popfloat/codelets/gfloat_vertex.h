// What the vertices to and from a format have in common: where they read it.
#pragma once

#include <poplar/Vertex.hpp>

#include "poplibs/popfloat/gfloat_code.h"

namespace popfloat {

class GfloatVertex : public poplar::Vertex {
 public:
  GfloatVertex();
  poplar::Input<poplar::Vector<int, poplar::VectorLayout::ONE_PTR>> param;  // kParams
  const unsigned char flags;

 protected:
  // Of elements of `width` bits. `native`: floats or halfs, not packed.
  Gfloat format(int width, bool native) const { return format_of(&param[0], flags, width, native); }
};

}  // namespace popfloat
