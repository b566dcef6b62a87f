// The language of codelets as public programs write it.
#include <ipu_builtins.h>
#include <ipu_memory_intrinsics>
#include <ipu_vector_math>
#include <poplar/FieldTypes.hpp>
#include <poplar/StackSizeDefs.hpp>
#include <poplar/VectorListTypes.hpp>
#include <poplar/Vertex.hpp>

using namespace poplar;

DEF_STACK_USAGE(960, __runCodelet_Builtins);
DEF_FUNC_CALLS(__runCodelet_Builtins, "f g");

// Named by vector types: VectorNamed<float,float2>.
template <class T, class T2>
class VectorNamed : public Vertex {
 public:
  Output<float> out;
  bool compute() {
    const T2 two = {static_cast<T>(1), static_cast<T>(2)};
    *out = static_cast<float>(two[0] + two[1]) + sizeof(T2);
    return true;
  }
};
template class VectorNamed<float, float2>;
template class VectorNamed<unsigned char, uchar4>;
template class VectorNamed<long long, longlong2>;
template class VectorNamed<half, half4>;

static void fill(Vector<float>& out, float value) {
  for (float& x : out) x = value;
}
static float sum(const Vector<float>& in) {
  float total = 0;
  for (float x : in) total += x;
  return total;
}

static float product(Vector<float>& in) {
  float total = 1;
  for (unsigned i = 0; i < in.size(); ++i) total *= in[i];
  return total;
}

// Fields as arguments of functions that take vectors; a loop count of rptsize_t.
class FieldsAsVectors : public Vertex {
 public:
  Input<Vector<float>> in;
  InOut<Vector<float>> both;
  Output<Vector<float>> out;
  void compute() {
    fill(out, sum(in) + product(in));
    const rptsize_t n = both.size() / 2;
    float2* pairs = reinterpret_cast<float2*>(&both[0]);
    for (unsigned i = 0; i < n; ++i) {
      const float2 x = ipu::load_postinc(&pairs, 0);
      ipu::store_postinc(&pairs, ipu::fma(x, x, x), 1);
    }
  }
};

// The parts that do not depend on the tile, one result after the other.
class Builtins : public Vertex {
 public:
  Input<Vector<float>> in;  // 1.5, -2, 3, 0.25
  Output<Vector<float>> out;
  void compute() {
    float* o = &out[0];
    const float2 a = {in[0], in[1]}, b = {in[2], in[3]};
    *o++ = __builtin_ipu_max(in[0], in[1]);                                                                            // 1.5
    *o++ = __builtin_ipu_min(a, b)[1];                                                                                 // -2
    *o++ = __builtin_ipu_f32absmax(in[0], in[1]);                                                                      // 2
    *o++ = __builtin_ipu_absadd(in[0], in[1]);                                                                         // 3.5
    *o++ = __builtin_ipu_f32clamp(in[2], float2{-1.0f, 2.5f});                                                         // 2.5
    *o++ = __builtin_ipu_and(__builtin_ipu_cmplt(in[1], in[0]), in[2]);                                                // 3
    *o++ = __builtin_ipu_andc(in[2], __builtin_ipu_f32cmpgt(in[0], in[1]));                                            // 0
    *o++ = __builtin_ipu_sum(half4{1.5_h, 2.5_h, 3.0_h, 4.0_h})[1];                                                    // 7
    *o++ = static_cast<float>(__builtin_ipu_f16v2maxc(half2{1.5_h, 2.5_h}));                                           // 2.5
    *o++ = __builtin_ipu_exp(in[0] - in[0]);                                                                           // 1
    *o++ = __builtin_ipu_ln(__builtin_ipu_exp2(in[2] - in[2]));                                                        // 0
    *o++ = __builtin_ipu_sigm(0.0f);                                                                                   // 0.5
    *o++ = __builtin_ipu_roll32(a, b)[1];                                                                              // 3
    *o++ = static_cast<float>(__builtin_ipu_shuf8x8lo(0x04030201u, 0));                                                // 0x00020001
    *o++ = static_cast<float>(__builtin_ipu_sort8x8lo(0x00020001u, 0x00040003u) >> 16);                                // 0x0403
    *o++ = static_cast<float>(__builtin_ipu_bitrev8(0x0180u));                                                         // 0x8001
    *o++ = static_cast<float>(__builtin_ipu_swap8(0x00000102u));                                                       // 0x0201
    *o++ = static_cast<float>(__builtin_ipu_max(3, 5) + __builtin_ipu_and(6, 3));                                      // 7
    *o++ = __builtin_ipu_f16v2cmpeq(half2{1.0_h, 2.0_h}, half2{1.0_h, 3.0_h})[1];                                      // 0
    *o++ = static_cast<float>(__builtin_ipu_f16v4clamp(half4{-9.0_h, 0.5_h, 9.0_h, 1.0_h}, half2{-1.0_h, 1.0_h})[2]);  // 1
    *o++ = __builtin_ipu_f16tof32(__builtin_ipu_f32tof16(1.0f / 3));                                                   // a third as half
    *o++ = ipu::andc(float2{in[2], in[0]}, float2{in[2], -in[0]})[0];                                                  // 0
    *o++ = ipu::andc(in[1], -0.0f);                                                                                    // 2: no sign
    *o++ = ipu::clamp(float2{in[1], in[2]}, float2{-1.0f, 2.5f})[1];                                                   // 2.5
    *o++ = static_cast<float>(ipu::clamp(half4{-9.0_h, 0.5_h, 9.0_h, 1.0_h}, half2{-1.0_h, 1.0_h})[0]);                // -1
  }
};

// Moments of what the random generators give; 6 workers write their numbers.
class RandomNumbers : public Vertex {
 public:
  Output<Vector<float>> out;  // mean and mean square of urand_f32, the same of f32v2grand, least and greatest of urand_f32, tile
  void compute() {
    constexpr unsigned kSamples = 20000;
    float mean = 0, square = 0, normal_mean = 0, normal_square = 0, least = 1, greatest = -1;
    for (unsigned i = 0; i < kSamples; ++i) {
      const float u = __builtin_ipu_urand_f32();
      const float2 n = __builtin_ipu_f32v2grand();
      mean += u;
      square += u * u;
      normal_mean += n[0] + n[1];
      normal_square += n[0] * n[0] + n[1] * n[1];
      least = ipu::min(least, u);
      greatest = ipu::max(greatest, u);
    }
    const float results[] = {mean / kSamples,
                             square / kSamples,
                             normal_mean / (2 * kSamples),
                             normal_square / (2 * kSamples),
                             least,
                             greatest,
                             static_cast<float>(__builtin_ipu_get_tile_id())};
    for (unsigned i = 0; i < 7; ++i) out[i] = results[i];
  }
};

// The tile's counter goes on from call to call.
class Counter : public Vertex {
 public:
  Output<Vector<unsigned>> out;
  void compute() {
    const unsigned first = __builtin_ipu_get_scount_l();
    out[1] = __builtin_ipu_get_scount_l() - first;
    out[0] = __builtin_ipu_get_scount_u();
  }
};

static unsigned its_worker() { return __builtin_ipu_get_worker_id() + 10 * (__builtin_ipu_get(0) & 7); }

class Workers : public MultiVertex {
 public:
  Output<Vector<unsigned>> out;
  bool compute(unsigned worker) {
    out[worker] = its_worker();
    return true;
  }
};
