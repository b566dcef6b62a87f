// The larger and the smaller of two, as every op means it: what is not a number wins, whichever of the two it is.
#pragma once

namespace pando::ir {

template <class T>
T larger(T a, T b) {
  return a < b || b != b ? b : a;
}
template <class T>
T smaller(T a, T b) {
  return b < a || b != b ? b : a;
}

}  // namespace pando::ir
