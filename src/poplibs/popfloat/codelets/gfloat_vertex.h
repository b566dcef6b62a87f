// What the vertices from and to a format have in common: the elements, and the format.
#pragma once

#include <poplar/Vertex.hpp>

#include "poplibs/popfloat/gfloat_code.h"

namespace popfloat {

template <class In, class Out>
class GfloatVertex : public poplar::Vertex {
 public:
  GfloatVertex();
  poplar::Input<poplar::Vector<In>> in;
  poplar::Output<poplar::Vector<Out>> out;
  const int bias;
  const unsigned char mantissa;
  const unsigned char exponent;
  const unsigned char flags;

 protected:
  // Of elements of `width` bits. `native`: floats or halfs, not packed.
  Gfloat format(int width, bool native) const { return unpacked_format(mantissa, exponent, bias, flags, width, native); }
};

}  // namespace popfloat
