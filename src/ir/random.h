// The random numbers of the model level. They are counted, not drawn: element i of a tensor has its own bits, which depend on the seed, a
// stream (one for each use) and i alone. So a mask is the same on any layout, and a gradient makes it again from the seed.
//
// Block b of a key is Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) of the counter
// {b low, b high, stream, 0} under the key {seed[0], seed[1]}. Element i has word i % 4 of block i / 4 as its bits. This is what
// kernels/random.h computes on tiles, with the same streams: poprand's functions with a stream as their modifier are the lowering.
//
//     uniform   low + (high - low) * u,      u = (bits >> 8) / 2^24 in [0, 1)
//     normal    mean + std * z: elements 2j and 2j + 1 are r cos a and r sin a, where r = sqrt(-2 ln((w + 1/2) / 2^32)) of the bits w of
//               element 2j, and a = 2 pi (v >> 8) / 2^24 of the bits v of element 2j + 1
//     kept      bits < p * 2^32 (rounded): with probability p
//     seeds     piece m of split_random_seed is words 0 and 1 of block m; create_random_seed(seed, m) is piece 0 of the seed whose second
//               word is higher by (m + 1) kSeedStep
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace pando::ir {

// The modifiers that keep uses of one seed apart.
inline constexpr std::uint32_t kDropoutStream = 0;
inline constexpr std::uint32_t kUniformStream = 1;
inline constexpr std::uint32_t kNormalStream = 2;
inline constexpr std::uint32_t kSeedStream = 0x73656564;
// Odd, so that different modifiers make different seeds; its small multiples lie far from each other and from 0.
inline constexpr std::uint32_t kSeedStep = 0x9E3779B1;

struct RandomKey {
  std::array<std::uint32_t, 2> seed{};
  std::uint32_t stream = 0;
};

inline std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> k) {
  for (int round = 0; round < 10; ++round, k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u) {
    const std::uint64_t a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(a)};
  }
  return c;
}

inline std::uint32_t random_bits(const RandomKey& key, std::uint64_t i) {
  const std::uint64_t block = i / 4;
  return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), key.stream, 0}, key.seed)[i % 4];
}

// In [0, 1).
inline double random_fraction(const RandomKey& key, std::uint64_t i) { return static_cast<double>(random_bits(key, i) >> 8) * 0x1p-24; }

inline double random_normal(const RandomKey& key, std::uint64_t i) {
  const double w = random_bits(key, i - i % 2), v = random_bits(key, i - i % 2 + 1) >> 8;
  const double radius = std::sqrt(-2 * std::log((w + 0.5) * 0x1p-32)), angle = 2 * std::numbers::pi * v * 0x1p-24;
  return radius * (i % 2 ? std::sin(angle) : std::cos(angle));
}

inline bool random_keep(const RandomKey& key, std::uint64_t i, double probability) {
  return static_cast<double>(random_bits(key, i)) < std::round(probability * 0x1p32);
}

}  // namespace pando::ir
