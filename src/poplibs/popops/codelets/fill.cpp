// out[i] = value. Values are bits: elements of any type are filled as unsigned integers of their size.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
static void fill(T* to, unsigned n, T value) {
  for (unsigned i = 0; i < n; ++i) to[i] = value;
}

template <class T>
class Fill : public poplar::Vertex {
 public:
  Fill();
  poplar::Output<poplar::Vector<T>> out;
  const T value;

  bool compute() {
    fill<T>(&out[0], out.size(), value);
    return true;
  }
};

template <class T>
class Fill2d : public poplar::Vertex {
 public:
  Fill2d();
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  const T value;

  bool compute() {
    for (auto& run : out) fill<T>(&run[0], run.size(), value);
    return true;
  }
};

template class Fill<unsigned char>;
template class Fill<unsigned short>;
template class Fill<unsigned int>;
template class Fill<unsigned long long>;
template class Fill2d<unsigned char>;
template class Fill2d<unsigned short>;
template class Fill2d<unsigned int>;
template class Fill2d<unsigned long long>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

// One 64-bit store a cycle.
Estimates estimates_fill() {
  Estimates out;
  for (const std::size_t bytes : {1, 2, 4, 8}) {
    const std::string type = internal::bits_type(bytes).toString();
    internal::add_pair(out, "Fill", type, "out", {.cycles_per_element = static_cast<double>(bytes) / 8});
  }
  return out;
}

}  // namespace popops
#endif
