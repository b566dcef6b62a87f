// The keys of codes (sort_encode).
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

template <class K>
struct SortKey {
  static K of(unsigned code) { return static_cast<K>(code); }
};
template <>
struct SortKey<float> {
  static float of(unsigned code) {
    const unsigned bits = code == 0xffffffffu ? 0x7fc00000u : code & 0x80000000u ? code ^ 0x80000000u : ~code;
    float x;
    std::memcpy(&x, &bits, 4);
    return x;
  }
};
template <>
struct SortKey<half> {
  static half of(unsigned code) { return static_cast<half>(SortKey<float>::of(code)); }
};
template <>
struct SortKey<int> {
  static int of(unsigned code) { return static_cast<int>(code ^ 0x80000000u); }
};
template <>
struct SortKey<short> {
  static short of(unsigned code) { return static_cast<short>(SortKey<int>::of(code)); }
};

template <class K, class P>
class SortDecode : public poplar::Vertex {
 public:
  SortDecode();
  poplar::Input<poplar::Vector<P>> codes;
  poplar::Output<poplar::Vector<K>> keys;
  const bool descending;

  bool compute() {
    const unsigned flip = descending ? ~0u : 0u;
    constexpr unsigned kShift = 8 * (sizeof(P) - 4);
    const P* from = codes.data();
    K* to = keys.data();
    for (unsigned i = 0, n = keys.size(); i < n; ++i) to[i] = SortKey<K>::of(static_cast<unsigned>(from[i] >> kShift) ^ flip);
    return true;
  }
};

template class SortDecode<float, unsigned int>;
template class SortDecode<half, unsigned int>;
template class SortDecode<int, unsigned int>;
template class SortDecode<unsigned int, unsigned int>;
template class SortDecode<short, unsigned int>;
template class SortDecode<unsigned short, unsigned int>;
template class SortDecode<float, unsigned long long>;
template class SortDecode<half, unsigned long long>;
template class SortDecode<int, unsigned long long>;
template class SortDecode<unsigned int, unsigned long long>;
template class SortDecode<short, unsigned long long>;
template class SortDecode<unsigned short, unsigned long long>;

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_sort_decode() {
  using namespace poplar;
  Estimates out;
  for (const Type& code : {UNSIGNED_INT, UNSIGNED_LONGLONG})
    for (const Type& key : {FLOAT, HALF, INT, UNSIGNED_INT, SHORT, UNSIGNED_SHORT})
      out.push_back(
          {"popops::SortDecode<" + key.toString() + "," + code.toString() + ">", [](const VertexIntrospector& vertex, const Target&) {
             return VertexPerfEstimate(20 + 6 * vertex.getFieldInfo("keys").size());
           }});
  return out;
}

}  // namespace popops
#endif
