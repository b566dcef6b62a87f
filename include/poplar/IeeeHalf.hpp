// IEEE binary16 as bits, for code that takes numbers apart.
#ifndef POPLAR_IEEE_HALF_HPP
#define POPLAR_IEEE_HALF_HPP

#ifdef __POPC__

#include <cstdint>
#include <cstring>

#include <poplar/HalfFloat.hpp>

namespace poplar {

class IeeeHalf {
 public:
  IeeeHalf() = default;
  explicit IeeeHalf(float value) : value_(static_cast<half>(value)) {}
  static IeeeHalf fromBits(uint16_t bits) {
    IeeeHalf h;
    __builtin_memcpy(&h.value_, &bits, sizeof bits);
    return h;
  }
  uint16_t bit16() const {
    uint16_t bits;
    __builtin_memcpy(&bits, &value_, sizeof bits);
    return bits;
  }
  operator float() const { return static_cast<float>(value_); }

 private:
  half value_;
};

}  // namespace poplar

#endif  // __POPC__
#endif
