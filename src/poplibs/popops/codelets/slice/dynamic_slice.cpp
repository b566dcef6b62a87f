// out[i] = in[(offset + begin + i) mod numRows], for blocks of columns whose rows are all here.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
class DynamicSlice : public poplar::Vertex {
 public:
  DynamicSlice();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> in;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Input<unsigned> offset;
  const unsigned numRows;
  const unsigned begin;

  bool compute() {
    const unsigned first = static_cast<unsigned>((static_cast<unsigned long long>(*offset) + begin) % numRows);
    for (unsigned b = 0; b < in.size(); ++b) {
      const unsigned cols = in[b].size() / numRows, rows = out[b].size() / cols;
      for (unsigned done = 0, row = first; done < rows; row = 0) {  // runs up to the end of the table
        const unsigned n = rows - done < numRows - row ? rows - done : numRows - row;
        std::memcpy(&out[b][done * cols], &in[b][row * cols], n * cols * sizeof(T));
        done += n;
      }
    }
    return true;
  }
};

template class DynamicSlice<unsigned char>;
template class DynamicSlice<unsigned short>;
template class DynamicSlice<unsigned int>;
template class DynamicSlice<unsigned long long>;

}  // namespace popops
#else
#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_dynamic_slice() {
  using namespace poplar;
  return for_types("popops::DynamicSlice", {UNSIGNED_CHAR, UNSIGNED_SHORT, UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type& type) {
    return [type](const VertexIntrospector& vertex, const Target& target) {
      const auto out = vertex.getFieldInfo("out");
      std::size_t bytes = 0;
      for (std::size_t b = 0; b < out.size(); ++b) bytes += out.getSizeAtIndex(b) * target.getTypeSize(type);
      return VertexPerfEstimate(25 + 15 * out.size() + bytes / 4);
    };
  });
}

}  // namespace popops
#endif
