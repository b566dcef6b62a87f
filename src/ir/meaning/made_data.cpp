#include "ir/meaning/made_data.h"

namespace pando::ir {

namespace {

std::uint64_t mix_bits(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

void make_data(std::uint64_t seed, std::string_view name, HostTensor& to) {
  std::uint64_t state = mix_bits(seed + 0x9E3779B97F4A7C15ull);
  for (const char c : name) state = mix_bits(state ^ static_cast<unsigned char>(c));
  for (std::int64_t i = 0; i < to.elements(); ++i) {
    state += 0x9E3779B97F4A7C15ull;
    const std::uint64_t bits = mix_bits(state);
    to.set(i, is_floating(to.dtype())        ? static_cast<double>(bits >> 40) / (1 << 23) - 1
              : to.dtype() == DType::boolean ? static_cast<double>(bits & 1)
                                             : 1 + static_cast<double>(bits % 3));
  }
}

}  // namespace pando::ir
