// Floats and halfs rounded to a format, and packed if the output is of whole numbers.
#include "poplibs/popfloat/gfloat_code.h"
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>

#include <type_traits>

#include "poplibs/popfloat/codelets/gfloat_vertex.h"

namespace popfloat {

// In (0, 1).
inline float uniform_sample() { return (static_cast<float>(__builtin_ipu_urand32() >> 9) + 0.5f) * 0x1p-23f; }

inline float sample_of(const GfloatNoise& noise) {
  const float spread = noise.scale;
  switch (noise.kind) {
    case kUniformNoise: return noise.least + uniform_sample() * (noise.greatest - noise.least);
    case kNormalNoise:
    case kTruncatedNormalNoise: return noise.offset + spread * __builtin_ipu_f32v2grand()[0];
    case kLaplaceNoise:
    case kTruncatedLaplaceNoise: {
      const float u = uniform_sample() - 0.5f;
      const float far = -spread * __builtin_logf(1.0f - 2.0f * __builtin_fabsf(u));
      return noise.offset + (u < 0 ? -far : far);
    }
    case kLogisticNoise:
    case kTruncatedLogisticNoise: {
      const float u = uniform_sample();
      return noise.offset + spread * __builtin_logf(u / (1.0f - u));
    }
    default: return 1.0f / (1.0f + __builtin_expf(-(noise.offset + spread * __builtin_ipu_f32v2grand()[0])));
  }
}

// Samples beyond the ends are drawn again, or lie at the ends.
inline float bounded_sample(const GfloatNoise& noise) {
  float x = sample_of(noise);
  for (int again = 0; is_truncated(noise.kind) && (x < noise.least || x > noise.greatest) && again < 1000; ++again) x = sample_of(noise);
  return x < noise.least ? noise.least : x > noise.greatest ? noise.greatest : x;
}

// `fraction` of a step is cut off.
inline bool goes_down(float fraction, unsigned char mode, const GfloatNoise& noise) {
  if (mode == kRandomly) return uniform_sample() >= fraction;
  if (noise.kind == kBernoulliNoise) return uniform_sample() < noise.down;
  return bounded_sample(noise) <= 1.0f - fraction - (is_about_zero(noise.kind) ? 0.5f : 0.0f);
}

template <class In, class Out>
class ToGfloat : public GfloatVertex<In, Out> {
 public:
  ToGfloat();
  using GfloatVertex<In, Out>::in;
  using GfloatVertex<In, Out>::out;
  const unsigned char mode;
  const unsigned char randomBits;
  const unsigned char noise;
  const float noiseOffset;
  const float noiseScale;
  const float noiseLeast;
  const float noiseGreatest;
  const float down;

  bool compute() {
    constexpr bool packed = std::is_integral<Out>::value;
    const Gfloat f = this->format(8 * sizeof(Out), !packed);
    const GfloatNoise shape = {noise, noiseOffset, noiseScale, noiseLeast, noiseGreatest, down};
    const unsigned char how = mode;
    const int random = randomBits;
    const float scale = f.half_arithmetic ? scale_within(f) : 1.0f;
    const auto rounding = [&](uint32_t m, int cut, bool negative) {
      if (how < kRandomly) return rounded(m, cut, negative, how);
      const uint32_t rest = m & ((1u << cut) - 1), kept = m - rest;
      if (rest == 0) return m;
      const int n = cut < random ? cut : random;
      const float fraction = static_cast<float>(rest >> (cut - n)) / static_cast<float>(1u << n);
      return goes_down(fraction, how, shape) ? kept : kept + (1u << cut);
    };
    for (unsigned i = 0, n = in.size(); i < n; ++i) {
      const float y = quantise(static_cast<float>(in[i]), f, rounding);
      if constexpr (packed)
        out[i] = static_cast<Out>(pack(y, f));
      else
        out[i] = static_cast<Out>(y / scale);
    }
    return true;
  }
};

template class ToGfloat<float, float>;
template class ToGfloat<float, half>;
template class ToGfloat<float, char>;
template class ToGfloat<float, short>;
template class ToGfloat<half, float>;
template class ToGfloat<half, half>;
template class ToGfloat<half, char>;
template class ToGfloat<half, short>;

}  // namespace popfloat
#else
#include "poplibs/codelet_file.h"

namespace popfloat {

using namespace pando::poplibs;

// Masks, a rounded sum, two comparisons and a selection; noise costs more.
Estimates estimates_to_gfloat() {
  Estimates out;
  for (const char* to : {",float>", ",half>", ",char>", ",short>"})
    for (Estimate& e : for_types("popfloat::ToGfloat", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) {
           return [](const VertexIntrospector& vertex, const Target& target) {
             const auto mode = vertex.getFieldInfo("mode").getInitialValue<unsigned>(target);
             return VertexPerfEstimate(40 + (mode < kRandomly ? 14 : mode == kRandomly ? 18 : 40) * vertex.getFieldInfo("in").size());
           };
         })) {
      e.vertex.replace(e.vertex.size() - 1, 1, to);
      out.push_back(std::move(e));
    }
  return out;
}

}  // namespace popfloat
#endif
