#include "kernels/random.h"

#include <algorithm>
#include <cmath>

#include "kernels/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/random.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace pando::kernels::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Elements made at a time: a multiple of 4 and of every vector's length, small enough for the first-level cache.
constexpr unsigned kChunk = 512;

// The words of `blocks` Philox blocks from `block` on; `words` holds 4 * blocks. blocks is a multiple of 16 at most kChunk / 4.
HWY_ATTR void philox(const PandoRandomStream& s, std::uint64_t block, unsigned blocks, std::uint32_t attempt,
                     std::uint32_t* HWY_RESTRICT words) {
  constexpr unsigned kLanes = 16;
  for (unsigned at = 0; at < blocks; at += kLanes) {
    alignas(64) std::uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) {
      const std::uint64_t counter = block + at + l;
      c0[l] = static_cast<std::uint32_t>(counter), c1[l] = static_cast<std::uint32_t>(counter >> 32), c2[l] = s.stream, c3[l] = attempt;
    }
    std::uint32_t k0 = s.key[0], k1 = s.key[1];
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
      for (unsigned l = 0; l < kLanes; ++l) {
        const std::uint64_t a = 0xD2511F53ull * c0[l], b = 0xCD9E8D57ull * c2[l];
        const std::uint32_t n0 = static_cast<std::uint32_t>(b >> 32) ^ c1[l] ^ k0, n2 = static_cast<std::uint32_t>(a >> 32) ^ c3[l] ^ k1;
        c1[l] = static_cast<std::uint32_t>(b), c3[l] = static_cast<std::uint32_t>(a), c0[l] = n0, c2[l] = n2;
      }
    std::uint32_t* to = words + 4 * at;
    for (unsigned l = 0; l < kLanes; ++l) to[4 * l] = c0[l], to[4 * l + 1] = c1[l], to[4 * l + 2] = c2[l], to[4 * l + 3] = c3[l];
  }
}

// Calls make(words, values) for chunks of words and hands out those of elements first .. first + n - 1.
template <class T, class Make>
HWY_ATTR void in_chunks(const PandoRandomStream& s, std::uint64_t first, std::uint64_t n, T* out, const Make& make) {
  alignas(64) std::uint32_t words[kChunk];
  alignas(64) T values[kChunk];
  for (std::uint64_t done = 0; done < n;) {
    const std::uint64_t block = (first + done) / 4;
    const unsigned skip = static_cast<unsigned>((first + done) % 4);
    const unsigned count = static_cast<unsigned>(std::min<std::uint64_t>(n - done, kChunk - skip));
    philox(s, block, (skip + count + 63) / 64 * 16, 0, words);
    make(4 * block, words, values, skip + count);
    std::copy(values + skip, values + skip + count, out + done);
    done += count;
  }
}

HWY_ATTR void bits(const PandoRandomStream& s, std::uint64_t first, std::uint64_t n, std::uint32_t* out) {
  in_chunks(s, first, n, out, [](std::uint64_t, const std::uint32_t* words, std::uint32_t* values, unsigned) HWY_ATTR {
    std::copy(words, words + kChunk, values);
  });
}

HWY_ATTR void uniform(const PandoRandomStream& s, std::uint64_t first, std::uint64_t n, float low, float high, float* out) {
  const float scale = (high - low) * 0x1p-24f;
  in_chunks(s, first, n, out, [=](std::uint64_t, const std::uint32_t* words, float* values, unsigned) HWY_ATTR {
    for (unsigned i = 0; i < kChunk; ++i) values[i] = low + scale * static_cast<float>(static_cast<std::int32_t>(words[i] >> 8));
  });
}

// Box-Muller on pairs of words: radius from the first, angle from the second; neighbours get cosine and sine.
HWY_ATTR void to_normal(const std::uint32_t* HWY_RESTRICT words, float* HWY_RESTRICT values, unsigned count) {
  const hn::ScalableTag<float> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const hn::RebindToSigned<decltype(d)> di;
  const unsigned lanes = static_cast<unsigned>(hn::Lanes(d));
  for (unsigned i = 0; i < count; i += 2 * lanes) {
    hn::Vec<decltype(du)> first, second;
    hn::LoadInterleaved2(du, words + i, first, second);
    // (w + 1/2) / 2^32 never is 0; the largest rounds to 1, whose logarithm is 0.
    const auto high = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(first)));
    const auto low = hn::ConvertTo(d, hn::BitCast(di, hn::And(first, hn::Set(du, 255))));
    const auto u = hn::MulAdd(high, hn::Set(d, 0x1p-24f), hn::MulAdd(low, hn::Set(d, 0x1p-32f), hn::Set(d, 0x1p-33f)));
    const auto radius = hn::Sqrt(hn::Max(hn::Zero(d), hn::Mul(hn::Set(d, -2.0f), hn::CallLog(d, u))));
    const auto angle = hn::Mul(hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(second))), hn::Set(d, 6.283185307179586f * 0x1p-24f));
    hn::StoreInterleaved2(hn::Mul(radius, hn::CallCos(d, angle)), hn::Mul(radius, hn::CallSin(d, angle)), d, values + i);
  }
}

HWY_ATTR void normal(const PandoRandomStream& s, std::uint64_t first, std::uint64_t n, float mean, float deviation, float* out) {
  in_chunks(s, first, n, out, [=](std::uint64_t, const std::uint32_t* words, float* values, unsigned) HWY_ATTR {
    to_normal(words, values, kChunk);
    for (unsigned i = 0; i < kChunk; ++i) values[i] = mean + deviation * values[i];
  });
}

// Standard normal numbers of one attempt that lie within alpha; others are NaN. Narrow intervals are drawn evenly and kept by the
// density's height, which needs two words an element: those of attempts 2a and 2a + 1.
HWY_ATTR void attempt(const PandoRandomStream& s, std::uint64_t block, unsigned blocks, std::uint32_t number, float alpha, float* values) {
  alignas(64) std::uint32_t words[kChunk];
  const unsigned count = 4 * blocks;
  constexpr float kNaN = __builtin_nanf("");
  if (alpha >= 1.5f) {
    philox(s, block, blocks, number, words);
    to_normal(words, values, count);
    for (unsigned i = 0; i < count; ++i) values[i] = std::abs(values[i]) <= alpha ? values[i] : kNaN;
    return;
  }
  alignas(64) std::uint32_t heights[kChunk];
  philox(s, block, blocks, 2 * number, words);
  philox(s, block, blocks, 2 * number + 1, heights);
  for (unsigned i = 0; i < count; ++i) {
    const float z = alpha * (static_cast<float>(static_cast<std::int32_t>(words[i] >> 8)) * 0x1p-23f - 1.0f);
    const float u = static_cast<float>(static_cast<std::int32_t>(heights[i] >> 8)) * 0x1p-24f;
    values[i] = u < std::exp(-0.5f * z * z) ? z : kNaN;
  }
}

HWY_ATTR void truncated_normal(const PandoRandomStream& s, std::uint64_t first, std::uint64_t n, float mean, float deviation, float alpha,
                               float* out) {
  in_chunks(s, first, n, out, [&](std::uint64_t base, const std::uint32_t*, float* values, unsigned count) HWY_ATTR {
    attempt(s, base / 4, kChunk / 4, 0, alpha, values);
    for (unsigned i = 0; i < count; ++i) {
      // Few elements go on; each tries with the 64 elements of its own neighbourhood, which give it the same numbers in any cut.
      for (std::uint32_t number = 1; std::isnan(values[i]); ++number) {
        alignas(64) float again[64];
        const std::uint64_t block = (base + i) / 64 * 16;
        attempt(s, block, 16, number, alpha, again);
        values[i] = again[(base + i) % 64];
      }
    }
    for (unsigned i = 0; i < count; ++i) values[i] = mean + deviation * values[i];
  });
}

}  // namespace pando::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pando::kernels {
HWY_EXPORT(bits);
HWY_EXPORT(uniform);
HWY_EXPORT(normal);
HWY_EXPORT(truncated_normal);
}  // namespace pando::kernels

using namespace pando::kernels;

void pando_random_bits(PandoRandomStream s, std::uint64_t first, std::uint64_t n, std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(bits)(s, first, n, out);
}

void pando_random_uniform(PandoRandomStream s, std::uint64_t first, std::uint64_t n, float low, float high, float* out) {
  HWY_DYNAMIC_DISPATCH(uniform)(s, first, n, low, high, out);
}

void pando_random_normal(PandoRandomStream s, std::uint64_t first, std::uint64_t n, float mean, float deviation, float* out) {
  HWY_DYNAMIC_DISPATCH(normal)(s, first, n, mean, deviation, out);
}

void pando_random_truncated_normal(PandoRandomStream s, std::uint64_t first, std::uint64_t n, float mean, float deviation, float alpha,
                                   float* out) {
  HWY_DYNAMIC_DISPATCH(truncated_normal)(s, first, n, mean, deviation, alpha, out);
}
#endif
