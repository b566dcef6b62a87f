#include "ir/meaning/losses.h"

namespace pando::ir {

void infer_squared_loss(Inference& in) {
  if (in.shape(0) != in.shape(1) || in.dtype(0) != in.dtype(1)) in.reject("different-shapes", "x and y differ");
  if (!in.shape(2).empty()) in.reject("not-a-scalar", "n is a scalar");
  same_as_first(in);
}

}  // namespace pando::ir
