// The values that codes of 64 bits carry in their low half: put there, or taken out.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

template <class V>
class SortPutValues : public poplar::Vertex {
 public:
  SortPutValues();
  poplar::Input<poplar::Vector<V>> values;
  poplar::InOut<poplar::Vector<unsigned long long>> codes;
  const unsigned length;  // of a row of values; the codes' rows may be longer

  bool compute() {
    const unsigned rows = length == 0 ? 0 : values.size() / length;
    for (unsigned r = 0; r < rows; ++r) {
      unsigned long long* to = &codes[r * (codes.size() / rows)];
      for (unsigned i = 0; i < length; ++i) to[i] = (to[i] & 0xffffffff00000000ull) | values[r * length + i];
    }
    return true;
  }
};

template <class V>
class SortTakeValues : public poplar::Vertex {
 public:
  SortTakeValues();
  poplar::Input<poplar::Vector<unsigned long long>> codes;
  poplar::Output<poplar::Vector<V>> values;

  bool compute() {
    const unsigned long long* from = codes.data();
    V* to = values.data();
    for (unsigned i = 0, n = values.size(); i < n; ++i) to[i] = static_cast<V>(from[i]);
    return true;
  }
};

template class SortPutValues<unsigned char>;
template class SortPutValues<unsigned short>;
template class SortPutValues<unsigned int>;
template class SortTakeValues<unsigned char>;
template class SortTakeValues<unsigned short>;
template class SortTakeValues<unsigned int>;

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_sort_values() {
  using namespace poplar;
  Estimates out;
  for (const char* name : {"popops::SortPutValues", "popops::SortTakeValues"})
    for (Estimate& e : for_types(name, {UNSIGNED_CHAR, UNSIGNED_SHORT, UNSIGNED_INT}, [](const Type&) {
           return [](const VertexIntrospector& vertex, const Target&) {
             return VertexPerfEstimate(20 + 3 * vertex.getFieldInfo("values").size());
           };
         }))
      out.push_back(std::move(e));
  return out;
}

}  // namespace popops
#endif
