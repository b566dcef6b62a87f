// Scalar functions without branches, which clang turns into vector loops. Included once per instruction set, by files that use
// Highway's foreach_target.h, between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE: no include guard of its own, no includes.
//
// Where float would need compensated arithmetic the work is done in double, with about 1e-12 of error, and rounded once.
// `kLargestAngle`: beyond it sin, cos and tan are the caller's business.

namespace pando::kernels {
namespace HWY_NAMESPACE {

#define PANDO_INLINE static HWY_INLINE HWY_MAYBE_UNUSED

// x y + z, rounded once where the processor does that in one step.
#if HWY_NATIVE_FMA
PANDO_INLINE float multiply_add(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
#else
PANDO_INLINE float multiply_add(float x, float y, float z) { return x * y + z; }
#endif

PANDO_INLINE std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
PANDO_INLINE std::uint64_t bits_of(double x) { return __builtin_bit_cast(std::uint64_t, x); }
PANDO_INLINE float float_of(std::uint32_t x) { return __builtin_bit_cast(float, x); }
PANDO_INLINE double double_of(std::uint64_t x) { return __builtin_bit_cast(double, x); }

// Adding it to a small number rounds that to an integer, which is then in the low bits.
constexpr float kRoundF = 0x1.8p23f;
constexpr double kRoundD = 0x1.8p52;

PANDO_INLINE float with_sign_of(float magnitude, float sign) {
  return float_of((bits_of(magnitude) & 0x7fffffffu) | (bits_of(sign) & 0x80000000u));
}

// The largest float below 1/2, so that its own sum stays below 1; from 2^23 on all floats are integers.
PANDO_INLINE float round_f(float x) {
  return __builtin_fabsf(x) < 0x1p23f ? with_sign_of(__builtin_truncf(__builtin_fabsf(x) + 0x1.fffffep-2f), x) : x;
}

PANDO_INLINE float exp_f(float x) {
  const float low = x < -104.0f ? -104.0f : x, in = low > 89.0f ? 89.0f : low;  // NaN stays
  const float shifted = multiply_add(in, 1.44269504088896341f, kRoundF);
  const float n = shifted - kRoundF;
  const std::int32_t k = static_cast<std::int32_t>(bits_of(shifted) - bits_of(kRoundF));
  const float r = multiply_add(n, 2.12194440e-4f, multiply_add(n, -0.693359375f, in));
  float p = 1.9875691500e-4f;
  p = multiply_add(p, r, 1.3981999507e-3f);
  p = multiply_add(p, r, 8.3334519073e-3f);
  p = multiply_add(p, r, 4.1665795894e-2f);
  p = multiply_add(p, r, 1.6666665459e-1f);
  p = multiply_add(p, r, 5.0000001201e-1f);
  p = multiply_add(p, r * r, r) + 1.0f;
  // In two steps, so that results below the normal numbers are rounded once. Those take processors ten times as long: not what is 0 anyhow.
  const std::int32_t half = k >> 1;
  const float some = x < -104.0f ? 0.0f : p;
  return some * float_of(static_cast<std::uint32_t>(half + 127) << 23) * float_of(static_cast<std::uint32_t>(k - half + 127) << 23);
}

// 2^x and e^x for |x| that a float's function can need.
PANDO_INLINE double exp_of_reduced(double r, double shifted) {
  double p = 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const std::uint64_t k = bits_of(shifted) - bits_of(kRoundD);
  return p * double_of((k + 1023) << 52);
}
PANDO_INLINE double clamp_exponent(double x) {
  const double low = x < -1000.0 ? -1000.0 : x;
  return low > 1000.0 ? 1000.0 : low;
}
PANDO_INLINE double exp2_d(double x) {
  const double in = clamp_exponent(x), shifted = in + kRoundD;
  return exp_of_reduced((in - (shifted - kRoundD)) * 0.693147180559945309417, shifted);
}
PANDO_INLINE double exp_d(double x) {
  const double low = x < -690.0 ? -690.0 : x, in = low > 690.0 ? 690.0 : low;
  const double shifted = in * 1.44269504088896340736 + kRoundD, n = shifted - kRoundD;
  return exp_of_reduced((in - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33, shifted);
}

// Natural logarithm of a positive, normal, finite double.
PANDO_INLINE double log_d(double x) {
  const std::uint64_t shifted = bits_of(x) - bits_of(0.70710678118654752440);
  // The exponent as a double: it fits 12 bits, and the unsigned shift needs a bias to keep its sign.
  const std::uint64_t biased = (shifted + (std::uint64_t{1024} << 52)) >> 52;
  const double e = (double_of(biased + bits_of(kRoundD)) - kRoundD) - 1024.0;
  const double m = double_of(bits_of(x) - ((biased - 1024) << 52));
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return e * 0.693147180559945309417 + (2.0 * s + 2.0 * s * z * p);
}

PANDO_INLINE float log_f(float x) {
  const bool denormal = x < 0x1p-126f;
  const float scaled = denormal ? x * 0x1p23f : x;
  const std::uint32_t shifted = bits_of(scaled) - bits_of(0.707106781186547524f);
  const std::int32_t e = static_cast<std::int32_t>(shifted) >> 23;
  const float m = float_of(bits_of(scaled) - (static_cast<std::uint32_t>(e) << 23)) - 1.0f;
  const float n = static_cast<float>(denormal ? e - 23 : e);
  float p = 7.0376836292e-2f;
  p = p * m + -1.1514610310e-1f;
  p = p * m + 1.1676998740e-1f;
  p = p * m + -1.2420140846e-1f;
  p = p * m + 1.4249322787e-1f;
  p = p * m + -1.6668057665e-1f;
  p = p * m + 2.0000714765e-1f;
  p = p * m + -2.4999993993e-1f;
  p = p * m + 3.3333331174e-1f;
  const float z = m * m;
  const float y = (p * m * z + n * -2.12194440e-4f) - 0.5f * z;
  float out = (m + y) + n * 0.693359375f;
  out = x == __builtin_inff() ? x : out;
  out = x == 0 ? -__builtin_inff() : out;
  return x >= 0 ? out : __builtin_nanf("");  // NaN and below 0
}

PANDO_INLINE float tanh_f(float x) {
  const float a = __builtin_fabsf(x), z = x * x;
  float p = -5.70498872745e-3f;
  p = multiply_add(p, z, 2.06390887954e-2f);
  p = multiply_add(p, z, -5.37397155531e-2f);
  p = multiply_add(p, z, 1.33314422036e-1f);
  p = multiply_add(p, z, -3.33332819422e-1f);
  const float small = multiply_add(p * z, x, x);
  const float large = 1.0f - 2.0f / (exp_f(2.0f * a) + 1.0f);
  return a < 0.625f ? small : with_sign_of(large, x);
}

PANDO_INLINE float sigmoid_f(float x) {
  const float e = exp_f(-__builtin_fabsf(x));
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

// gelu(x) is x s with s = sigmoid(u) and u = 2 sqrt(2 / pi) (x + 0.044715 x^3).
constexpr float kGeluScale = 1.5957691216057308f, kGeluCubic = 0.0713548162726f;
PANDO_INLINE float gelu_gate_f(float x) { return sigmoid_f(x * multiply_add(x * x, kGeluCubic, kGeluScale)); }
PANDO_INLINE float gelu_f(float x) { return x == -__builtin_inff() ? -0.0f : x * gelu_gate_f(x); }

// s (1 + x (1 - s) u'). Beyond 16 s is 0 or 1, and powers of larger numbers would overflow.
PANDO_INLINE float gelu_slope_f(float operand) {
  const float low = operand < -16.0f ? -16.0f : operand, x = low > 16.0f ? 16.0f : low;  // NaN stays
  const float s = gelu_gate_f(x);
  return s * multiply_add(x * (1.0f - s), multiply_add(x * x, 3.0f * kGeluCubic, kGeluScale), 1.0f);
}

// erfc(x) with a relative error of 1.2e-7 (Numerical Recipes' Chebyshev fit).
PANDO_INLINE double erfc_d(double x) {
  const double a = __builtin_fabs(x) > 30.0 ? 30.0 : __builtin_fabs(x), t = 1.0 / (1.0 + 0.5 * a);
  double p = 0.17087277;
  p = p * t - 0.82215223;
  p = p * t + 1.48851587;
  p = p * t - 1.13520398;
  p = p * t + 0.27886807;
  p = p * t - 0.18628806;
  p = p * t + 0.09678418;
  p = p * t + 0.37409196;
  p = p * t + 1.00002368;
  const double positive = t * exp_d(-a * a + (p * t - 1.26551223));
  return x >= 0 ? positive : 2.0 - positive;
}

PANDO_INLINE float erf_f(float x) {
  const double d = x, z = d * d;
  // Taylor series around 0: relative accuracy where 1 - erfc has none.
  double p = -1.0 / 75600;
  p = p * z + 1.0 / 9360;
  p = p * z - 1.0 / 1320;
  p = p * z + 1.0 / 216;
  p = p * z - 1.0 / 42;
  p = p * z + 1.0 / 10;
  p = p * z - 1.0 / 3;
  p = p * z + 1.0;
  const double small = 1.12837916709551257390 * d * p;
  const double large = 1.0 - erfc_d(__builtin_fabs(d));
  const float out = with_sign_of(static_cast<float>(__builtin_fabs(d) < 0.5 ? small : large), x);
  return x != x ? x : out;
}

PANDO_INLINE float gelu_erf_f(float x) {
  const double d = x;
  const float out = static_cast<float>(0.5 * d * erfc_d(d * -0.70710678118654752440));
  return x == -__builtin_inff() ? -0.0f : x != x ? x : out;
}

PANDO_INLINE float expm1_f(float x) {
  const double d = x;
  return static_cast<float>(__builtin_fabs(d) < 1e-5 ? d + 0.5 * d * d : exp_d(d) - 1.0);
}
PANDO_INLINE float exp2_f(float x) { return static_cast<float>(exp2_d(static_cast<double>(x))); }

PANDO_INLINE float log1p_f(float x) {
  const double d = x;
  const double inside = d > -1.0 && d < 0x1p200 ? 1.0 + d : 1.0;
  float out = static_cast<float>(__builtin_fabs(d) < 1e-5 ? d - 0.5 * d * d : log_d(inside));
  out = x == __builtin_inff() ? x : out;
  out = x == -1.0f ? -__builtin_inff() : out;
  return x >= -1.0f ? out : __builtin_nanf("");
}

PANDO_INLINE float cbrt_f(float x) {
  const float a = __builtin_fabsf(x);
  const bool plain = a > 0 && a < __builtin_inff();
  const float root = static_cast<float>(exp2_d(log_d(plain ? static_cast<double>(a) : 1.0) * (1.44269504088896340736 / 3)));
  return plain ? with_sign_of(root, x) : x;
}

// Sine of a quadrant: the angle less a multiple of pi/2, and that multiple.
constexpr float kLargestAngle = 1e6f;
struct Quadrant {
  double sine, cosine;
  std::uint64_t turns;
};
PANDO_INLINE Quadrant quadrant_of(float x) {
  const double d = __builtin_fabsf(x) <= kLargestAngle ? static_cast<double>(x) : 0.0;
  const double shifted = d * 0.63661977236758134308 + kRoundD, n = shifted - kRoundD;
  // pi/2 in two parts; the first has 33 bits, so n times it is exact.
  const double r = (d - n * 0x1.921fb544p0) - n * 0x1.0b4611a626331p-34, z = r * r;
  const double s = ((((-1.0 / 39916800 * z + 1.0 / 362880) * z - 1.0 / 5040) * z + 1.0 / 120) * z - 1.0 / 6) * z * r + r;
  const double c = (((((1.0 / 479001600 * z - 1.0 / 3628800) * z + 1.0 / 40320) * z - 1.0 / 720) * z + 1.0 / 24) * z - 0.5) * z + 1.0;
  return {s, c, bits_of(shifted)};
}
PANDO_INLINE float sin_f(float x) {
  const Quadrant q = quadrant_of(x);
  const double v = (q.turns & 1) != 0 ? q.cosine : q.sine;
  return x == 0 ? x : static_cast<float>(double_of(bits_of(v) ^ ((q.turns & 2) << 62)));
}
PANDO_INLINE float cos_f(float x) {
  const Quadrant q = quadrant_of(x);
  const double v = (q.turns & 1) != 0 ? q.sine : q.cosine;
  return static_cast<float>(double_of(bits_of(v) ^ (((q.turns + 1) & 2) << 62)));
}
PANDO_INLINE float tan_f(float x) {
  const Quadrant q = quadrant_of(x);
  const bool odd = (q.turns & 1) != 0;
  const double v = (odd ? -q.cosine : q.sine) / (odd ? q.sine : q.cosine);
  return x == 0 ? x : static_cast<float>(v);
}

PANDO_INLINE float asin_f(float x) {
  const double a = __builtin_fabsf(x);
  const bool large = a > 0.5;
  const double z = large ? 0.5 * (1.0 - a) : a * a, s = large ? __builtin_sqrt(z) : a;  // NaN beyond 1
  const double p =
      ((((4.2163199048e-2 * z + 2.4181311049e-2) * z + 4.5470025998e-2) * z + 7.4953002686e-2) * z + 1.6666752422e-1) * z * s + s;
  return with_sign_of(static_cast<float>(large ? 1.57079632679489661923 - 2.0 * p : p), x);
}

// atan2 of finite operands, not both 0.
PANDO_INLINE float atan2_f(float y, float x) {
  const double a = __builtin_fabsf(y), b = __builtin_fabsf(x);
  const bool steep = a > b;
  const double ratio = (steep ? b : a) / (steep ? a : b);  // in [0, 1]
  const bool upper = ratio > 0.41421356237309504880;       // tan(pi/8)
  const double t = upper ? (ratio - 1.0) / (ratio + 1.0) : ratio, z = t * t;
  // Taylor series: z < 0.1716, so 9 terms leave 1e-9.
  double p = 1.0 / 21;
  p = -p * z + 1.0 / 19;
  p = -p * z + 1.0 / 17;
  p = -p * z + 1.0 / 15;
  p = -p * z + 1.0 / 13;
  p = -p * z + 1.0 / 11;
  p = -p * z + 1.0 / 9;
  p = -p * z + 1.0 / 7;
  p = -p * z + 1.0 / 5;
  p = -p * z + 1.0 / 3;
  double angle = t - t * z * p + (upper ? 0.78539816339744830962 : 0.0);
  angle = steep ? 1.57079632679489661923 - angle : angle;
  angle = x < 0 ? 3.14159265358979323846 - angle : angle;
  return with_sign_of(static_cast<float>(angle), y);
}

// x^y for x that is neither 0, infinite nor NaN, and finite y.
PANDO_INLINE float power_f(float x, float y) {
  const double magnitude = exp2_d(static_cast<double>(y) * (log_d(static_cast<double>(__builtin_fabsf(x))) * 1.44269504088896340736));
  const float a = __builtin_fabsf(y), whole = __builtin_truncf(a), halved = whole * 0.5f;
  const bool odd = halved != __builtin_truncf(halved);
  const float out = static_cast<float>(magnitude), negative = whole != a ? __builtin_nanf("") : odd ? -out : out;
  return x < 0 ? negative : out;
}

// fmod for |x / y| < 2^29, y not 0.
PANDO_INLINE float remainder_f(float x, float y) {
  const double a = __builtin_fabsf(x), b = __builtin_fabsf(y);
  const double r = a - __builtin_trunc(a / b) * b;  // exact, but the quotient may have been rounded up
  return with_sign_of(static_cast<float>(r < 0 ? r + b : r), x);
}

}  // namespace HWY_NAMESPACE
}  // namespace pando::kernels
