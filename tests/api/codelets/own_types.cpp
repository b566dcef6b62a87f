// A program's own types of names that the API's headers have, too: before its headers (-DTYPES_FIRST) or after them. As public programs
// write for hosts, which do not include what declares uint16_t.
#include <array>

#ifndef TYPES_FIRST
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>
#endif

#ifndef __IPU__
template <class T, unsigned N>
struct Several : std::array<T, N> {
  friend Several operator+(const Several& x, const Several& y) {
    Several sum;
    for (unsigned i = 0; i < N; ++i) sum[i] = x[i] + y[i];
    return sum;
  }
};
using float2 = Several<float, 2>;
using int4 = Several<int, 4>;
typedef unsigned char uint8;
struct half2 {
  short bits[3];
};
using rptsize_t = uint16_t;
#endif

#ifdef TYPES_FIRST
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>
#endif
#include <ipu_memory_intrinsics>
#include <ipu_vector_math>

using namespace poplar;

// out[0]: the sum of 1, 2 and 3, 4 added as pairs; out[1..4]: sizes of own types; out[5]: one of the headers' types; out[6], out[7]:
// builtins.
template <class T>
class OwnTypes : public Vertex {
 public:
  Input<Vector<float>> in;
  Output<Vector<float>> out;
  bool compute() {
    const T* pairs = reinterpret_cast<const T*>(&in[0]);
    const T sum = pairs[0] + pairs[1];
    out[0] = sum[0] + sum[1];
    out[1] = sizeof(int4);
    out[2] = sizeof(uint8);
    out[3] = sizeof(half2);
    out[4] = sizeof(rptsize_t);
    const short4 theirs = {1, 2, 3, 4};
    out[5] = static_cast<float>((theirs + theirs)[3]) + sizeof(half4);
    out[6] = __builtin_ipu_sum(half4{1.5_h, 1.0_h, 3.0_h, 4.0_h})[0];
    out[7] = ipu::max(float4{1, 2, 3, 4}, in[2])[0];
    return true;
  }
};
template class OwnTypes<float2>;
