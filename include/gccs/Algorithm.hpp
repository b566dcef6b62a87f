// Arithmetic of whole, unsigned numbers.
#ifndef gccs_Algorithm_hpp
#define gccs_Algorithm_hpp

#include <cmath>  // which programs reach through this header
#include <gccs/ArrayRef.hpp>
#include <type_traits>
#include <utility>

namespace gccs {

namespace pando_detail {
template <class T, class U>
using Joint =
    typename std::enable_if<std::is_unsigned<T>::value && std::is_unsigned<U>::value, typename std::common_type<T, U>::type>::type;
}

/// The quotient, rounded up. `d` is not zero. Does not overflow.
template <class T, class U>
constexpr pando_detail::Joint<T, U> ceildiv(T n, U d) {
  using R = pando_detail::Joint<T, U>;
  return static_cast<R>(static_cast<R>(n) / d + (static_cast<R>(n) % d != 0 ? 1 : 0));
}

/// The same, and 0 for 0 / 0.
template <class T, class U>
constexpr pando_detail::Joint<T, U> ceildiv0(T n, U d) {
  using R = pando_detail::Joint<T, U>;
  return n == 0 ? R(0) : ceildiv(n, d);
}

/// The quotient, rounded down. `d` is not zero.
template <class T, class U>
constexpr pando_detail::Joint<T, U> floordiv(T n, U d) {
  using R = pando_detail::Joint<T, U>;
  return static_cast<R>(static_cast<R>(n) / d);
}

/// The least multiple of `step` that is not below `n`.
template <class T, class U>
constexpr pando_detail::Joint<T, U> alignNext(T n, U step) {
  return static_cast<pando_detail::Joint<T, U>>(ceildiv(n, step) * step);
}

/// The greatest multiple of `step` that is not above `n`.
template <class T, class U>
constexpr pando_detail::Joint<T, U> alignPrev(T n, U step) {
  return static_cast<pando_detail::Joint<T, U>>(floordiv(n, step) * step);
}

/// The least e with 2^e >= n; 0 for 0.
constexpr unsigned ceilLog2(unsigned long long n) { return n < 2 ? 0 : 1 + ceilLog2(n / 2 + n % 2); }

/// 1 + 2 + ... + n.
template <class T>
constexpr T nthTriangular(T n) {
  return n % 2 == 0 ? static_cast<T>(n / 2 * (n + 1)) : static_cast<T>((n + 1) / 2 * n);
}

/// `n` things in `parts` that differ by one at most: how many parts have ceildiv(n, parts) things, and how many floordiv(n, parts). If all
/// are alike they are the first. No parts: {0, 0}.
template <class T>
constexpr std::pair<T, T> balancedPartition(T n, T parts) {
  static_assert(std::is_unsigned<T>::value, "balancedPartition is for unsigned numbers");
  return parts == 0       ? std::pair<T, T>(T(0), T(0))
         : n % parts == 0 ? std::pair<T, T>(parts, T(0))
                          : std::pair<T, T>(static_cast<T>(n % parts), static_cast<T>(parts - n % parts));
}

}  // namespace gccs

#endif
