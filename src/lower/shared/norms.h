// What the rows of normalisations share.
#pragma once

#include "lower/parts/op_lowering.h"

#include <popops/Cast.hpp>

namespace pando::lower {

// `t` in the element type of `like`.
inline poplar::Tensor in_type_of(OpLowering& o, const poplar::Tensor& t, const poplar::Tensor& like) {
  return t.elementType() == like.elementType() ? t : popops::cast(o.graph(), t, like.elementType(), o.program(), o.name() + "/cast");
}

}  // namespace pando::lower
