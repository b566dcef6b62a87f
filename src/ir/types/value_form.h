// Element types of the model level as those of the machine.
#pragma once

#include "base/values/convert.h"
#include "ir/types/dtype.h"

namespace pando::ir {

// float8 types are quarters of their format with scale 0, what is too great becomes NaN. A complex number is two of these elements.
ValueForm value_form_of(DType t);

}  // namespace pando::ir
