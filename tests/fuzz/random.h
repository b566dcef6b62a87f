// The generator's random numbers: the same on every machine and library (splitmix64).
#pragma once

#include <cstdint>
#include <vector>

namespace pando::fuzz {

constexpr std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mixed(seed + 1)) {}
  std::uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15u); }
  // [0, n); n > 0.
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  // [low, high].
  std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[below(list.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace pando::fuzz
