// Parts of the rows of a one-hot matrix: out[p] is what lies from element begin[p] of row 0 of indices[p] on, in rows of `classes`
// elements. Elements are bits; an index that is no class turns nothing on.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
static void encode(T* to, unsigned n, const unsigned* indices, unsigned rows, unsigned begin, unsigned classes, T on, T off) {
  for (unsigned i = 0; i < n; ++i) to[i] = off;
  for (unsigned r = 0; r < rows; ++r) {
    const long long at = static_cast<long long>(r) * classes + indices[r] - begin;
    if (indices[r] < classes && at >= 0 && at < n) to[at] = on;
  }
}

template <class T>
class OneHot : public poplar::Vertex {
 public:
  OneHot();
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<poplar::Input<poplar::Vector<unsigned int>>> indices;
  poplar::Vector<unsigned int> begin;
  const unsigned int classes;
  const T on;
  const T off;

  bool compute() {
    for (unsigned p = 0; p < out.size(); ++p)
      encode<T>(&out[p][0], out[p].size(), &indices[p][0], indices[p].size(), begin[p], classes, on, off);
    return true;
  }
};

template <class T>
class OneHotTensor : public poplar::Vertex {
 public:
  OneHotTensor();
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<poplar::Input<poplar::Vector<unsigned int>>> indices;
  poplar::Vector<unsigned int> begin;
  const unsigned int classes;
  poplar::Input<T> on;
  poplar::Input<T> off;

  bool compute() {
    for (unsigned p = 0; p < out.size(); ++p)
      encode<T>(&out[p][0], out[p].size(), &indices[p][0], indices[p].size(), begin[p], classes, *on, *off);
    return true;
  }
};

template class OneHot<unsigned char>;
template class OneHot<unsigned short>;
template class OneHot<unsigned int>;
template class OneHot<unsigned long long>;
template class OneHotTensor<unsigned char>;
template class OneHotTensor<unsigned short>;
template class OneHotTensor<unsigned int>;
template class OneHotTensor<unsigned long long>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

// One 64-bit store a cycle, and a few cycles for a row.
Estimates estimates_one_hot() {
  Estimates out;
  for (const std::size_t bytes : {1, 2, 4, 8}) {
    const auto cost = [bytes](const VertexIntrospector& vertex, const Target& target) {
      return internal::loop_cost("out", {.cycles_per_element = static_cast<double>(bytes) / 8})(vertex, target) +
             internal::loop_cost("indices", {.cycles_per_element = 8, .overhead = 0})(vertex, target);
    };
    const std::string type = internal::bits_type(bytes).toString();
    out.push_back({"popops::OneHot<" + type + ">", cost});
    out.push_back({"popops::OneHotTensor<" + type + ">", cost});
  }
  return out;
}

}  // namespace popops
#endif
