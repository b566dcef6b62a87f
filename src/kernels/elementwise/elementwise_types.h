// The kernels' names of the types that codelets are instantiated for.
#pragma once

#include <type_traits>

#include "kernels/elementwise/elementwise.h"

namespace pando::kernels {

template <class T>
constexpr Type type_named() {
  if constexpr (std::is_same_v<T, float>)
    return Type::f32;
  else if constexpr (std::is_same_v<T, _Float16>)
    return Type::f16;
  else if constexpr (std::is_same_v<T, int>)
    return Type::i32;
  else {
    static_assert(std::is_same_v<T, unsigned int>);
    return Type::u32;
  }
}

}  // namespace pando::kernels
