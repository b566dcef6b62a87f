// Keys as unsigned integers that have the same order: least first, or, with `descending`, greatest first. Every NaN is greater than all
// numbers, and -0 less than 0. As 64 bits: the key above the number firstIndex + i. What is left of `codes` gets the greatest code.
// The keys are rows of `length`, the codes rows of as many as `codes` has; `firstIndex` counts from the beginning of each row, plus
// `rowStep` per row.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

inline unsigned sort_code(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, 4);
  if (x != x) return 0xffffffffu;
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
inline unsigned sort_code(half x) { return sort_code(static_cast<float>(x)); }
inline unsigned sort_code(int x) { return static_cast<unsigned>(x) ^ 0x80000000u; }
inline unsigned sort_code(short x) { return sort_code(static_cast<int>(x)); }
inline unsigned sort_code(unsigned x) { return x; }
inline unsigned sort_code(unsigned short x) { return x; }

template <class K, class P>
class SortEncode : public poplar::Vertex {
 public:
  SortEncode();
  poplar::Input<poplar::Vector<K>> keys;
  poplar::Output<poplar::Vector<P>> codes;
  const unsigned length;
  const unsigned firstIndex;
  const unsigned rowStep;
  const bool descending;

  bool compute() {
    const unsigned flip = descending ? ~0u : 0u, rows = length == 0 ? 1 : keys.size() / length, width = codes.size() / rows;
    for (unsigned r = 0; r < rows; ++r) {
      P* to = &codes[r * width];
      const K* from = keys.data() + r * length;
      for (unsigned i = 0; i < length; ++i) {
        const unsigned code = sort_code(from[i]) ^ flip;
        if (sizeof(P) == 4)
          to[i] = static_cast<P>(code);
        else
          to[i] = static_cast<P>(static_cast<unsigned long long>(code) << 32 | (firstIndex + r * rowStep + i));
      }
      for (unsigned i = length; i < width; ++i) to[i] = ~P{0};
    }
    return true;
  }
};

template class SortEncode<float, unsigned int>;
template class SortEncode<half, unsigned int>;
template class SortEncode<int, unsigned int>;
template class SortEncode<unsigned int, unsigned int>;
template class SortEncode<short, unsigned int>;
template class SortEncode<unsigned short, unsigned int>;
template class SortEncode<float, unsigned long long>;
template class SortEncode<half, unsigned long long>;
template class SortEncode<int, unsigned long long>;
template class SortEncode<unsigned int, unsigned long long>;
template class SortEncode<short, unsigned long long>;
template class SortEncode<unsigned short, unsigned long long>;

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_sort_encode() {
  using namespace poplar;
  Estimates out;
  for (const Type& code : {UNSIGNED_INT, UNSIGNED_LONGLONG})
    for (const Type& key : {FLOAT, HALF, INT, UNSIGNED_INT, SHORT, UNSIGNED_SHORT})
      out.push_back(
          {"popops::SortEncode<" + key.toString() + "," + code.toString() + ">", [](const VertexIntrospector& vertex, const Target&) {
             return VertexPerfEstimate(20 + 6 * vertex.getFieldInfo("codes").size());
           }});
  return out;
}

}  // namespace popops
#endif
