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
  for (unsigned again = 0; is_truncated(noise.kind) && (x < noise.least || x > noise.greatest) && again < kMostDraws; ++again)
    x = sample_of(noise);
  return x < noise.least ? noise.least : x > noise.greatest ? noise.greatest : x;
}

// `fraction` of a step is cut off.
inline bool goes_down(float fraction, unsigned char mode, const GfloatNoise& noise) {
  if (mode == kRandomly) return uniform_sample() >= fraction;
  if (noise.kind == kBernoulliNoise) return uniform_sample() < noise.down;
  return bounded_sample(noise) <= 1.0f - fraction - (is_about_zero(noise.kind) ? 0.5f : 0.0f);
}

class RoundingVertex : public GfloatVertex {
 public:
  RoundingVertex();
  const unsigned char mode;
  const unsigned char randomBits;
  const unsigned char noise;
  const float noiseOffset;
  const float noiseScale;
  const float noiseLeast;
  const float noiseGreatest;
  const float down;

 protected:
  template <class In, class Out>
  void convert(const In* from, Out* to, unsigned n) const {
    constexpr bool packed = std::is_integral<Out>::value;
    const Gfloat f = format(8 * sizeof(Out), !packed);
    const GfloatNoise shape = {noise, noiseOffset, noiseScale, noiseLeast, noiseGreatest, down};
    const unsigned char how = mode;
    const int random = randomBits;
    const float scale = f.half_arithmetic ? scale_within(f) : 1.0f;
    const auto rounding = [&](uint32_t m, int cut, bool negative) {
      if (how < kRandomly) return rounded(m, cut, negative, how);
      const uint32_t rest = m & ((1u << cut) - 1), kept = m - rest;
      if (rest == 0) return m;
      const int bits = cut < random ? cut : random;
      const float fraction = static_cast<float>(rest >> (cut - bits)) / static_cast<float>(1u << bits);
      return goes_down(fraction, how, shape) ? kept : kept + (1u << cut);
    };
    for (unsigned i = 0; i < n; ++i) {
      const float y = quantise(static_cast<float>(from[i]), f, rounding);
      if constexpr (packed)
        to[i] = static_cast<Out>(pack(y, f));
      else
        to[i] = static_cast<Out>(y / scale);
    }
  }
};

template <class In, class Out>
class ToGfloat : public RoundingVertex {
 public:
  ToGfloat();
  poplar::Input<poplar::Vector<In>> in;
  poplar::Output<poplar::Vector<Out>> out;

  bool compute() {
    convert(in.data(), out.data(), in.size());
    return true;
  }
};

template class ToGfloat<float, float>;
template class ToGfloat<float, half>;
template class ToGfloat<float, char>;
template class ToGfloat<float, signed char>;
template class ToGfloat<float, short>;
template class ToGfloat<half, float>;
template class ToGfloat<half, half>;
template class ToGfloat<half, char>;
template class ToGfloat<half, signed char>;
template class ToGfloat<half, short>;

template <class T>
class ToGfloatInPlace : public RoundingVertex {
 public:
  ToGfloatInPlace();
  poplar::InOut<poplar::Vector<T>> inOut;

  bool compute() {
    convert(inOut.data(), inOut.data(), inOut.size());
    return true;
  }
};

template class ToGfloatInPlace<float>;
template class ToGfloatInPlace<half>;

}  // namespace popfloat
#else
#include "poplibs/codelet_file.h"

namespace popfloat {

using namespace pando::poplibs;

// Masks, a rounded sum, two comparisons and a selection; noise costs more.
static poplar::PerfEstimateFunc cost_of(const char* field) {
  return [field](const VertexIntrospector& vertex, const Target& target) {
    const auto mode = vertex.getFieldInfo("mode").getInitialValue<unsigned>(target);
    return VertexPerfEstimate(40 + (mode < kRandomly ? 14 : mode == kRandomly ? 18 : 40) * vertex.getFieldInfo(field).size());
  };
}

Estimates estimates_to_gfloat() {
  Estimates out =
      for_types("popfloat::ToGfloatInPlace", {poplar::FLOAT, poplar::HALF}, [](const poplar::Type&) { return cost_of("inOut"); });
  for (const char* from : {"<float,", "<half,"})
    for (const char* to : {"float>", "half>", "char>", "signed char>", "short>"})
      out.push_back({std::string("popfloat::ToGfloat") + from + to, cost_of("in")});
  return out;
}

}  // namespace popfloat
#endif
