// out[i] = value, for one contiguous region.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
class Fill : public poplar::Vertex {
 public:
  Fill();
  poplar::Output<poplar::Vector<T>> out;
  const T value;

  bool compute() {
    T* to = &out[0];
    for (unsigned i = 0, n = out.size(); i < n; ++i) to[i] = value;
    return true;
  }
};

template class Fill<float>;
template class Fill<half>;
template class Fill<int>;
template class Fill<unsigned int>;
template class Fill<bool>;
template class Fill<char>;
template class Fill<signed char>;
template class Fill<unsigned char>;
template class Fill<short>;
template class Fill<unsigned short>;
template class Fill<long long>;
template class Fill<unsigned long long>;

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

// One 64-bit store a cycle.
Estimates estimates_fill() {
  using namespace poplar;
  return for_types("popops::Fill", {FLOAT, HALF, INT, UNSIGNED_INT, BOOL, CHAR, SIGNED_CHAR, UNSIGNED_CHAR, SHORT, UNSIGNED_SHORT, LONGLONG, UNSIGNED_LONGLONG},
                   [](const Type& type) {
                     return [type](const VertexIntrospector& vertex, const Target& target) {
                       const std::size_t bytes = vertex.getFieldInfo("out").size() * target.getTypeSize(type);
                       return VertexPerfEstimate(20 + bytes / 8);
                     };
                   });
}

}  // namespace popops
#endif
