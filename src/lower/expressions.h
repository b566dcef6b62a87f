// What rows of element-wise ops are written with.
#pragma once

#include "lower/row.h"

#include <popops/Expr.hpp>

namespace pando::lower {

namespace pe = popops::expr;

}  // namespace pando::lower
