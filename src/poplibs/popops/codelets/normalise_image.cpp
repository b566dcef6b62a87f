// Pixels of three channels become pixels of four: (in * scale - offsets[c]) * scales[c], and 0.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

template <class In, class T>
class NormaliseImage : public poplar::Vertex {
 public:
  NormaliseImage();
  poplar::Vector<poplar::Input<poplar::Vector<In>>> in;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Input<poplar::Vector<T>> offsets;
  poplar::Input<poplar::Vector<T>> scales;
  const float scale;

  bool compute() {
    for (unsigned r = 0; r < out.size(); ++r) {
      const In* from = &in[r][0];
      T* to = &out[r][0];
      for (unsigned p = 0, pixels = out[r].size() / 4; p < pixels; ++p) {
        for (unsigned c = 0; c < 3; ++c)
          to[4 * p + c] = static_cast<T>((static_cast<float>(from[3 * p + c]) * scale - static_cast<float>(offsets[c])) *
                                         static_cast<float>(scales[c]));
        to[4 * p + 3] = T(0);
      }
    }
    return true;
  }
};

template class NormaliseImage<unsigned char, half>;
template class NormaliseImage<unsigned char, float>;
template class NormaliseImage<half, half>;
template class NormaliseImage<float, float>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

// Four halves a few cycles: loads, a multiplication with addition, a multiplication, a store.
Estimates estimates_normalise_image() {
  Estimates out;
  for (const char* types : {"unsigned char,half", "unsigned char,float", "half,half", "float,float"})
    out.push_back({std::string("popops::NormaliseImage<") + types + ">",
                   internal::loop_cost("out", {.cycles_per_element = 1.25, .flops_per_element = 2, .overhead = 35})});
  return out;
}

}  // namespace popops
#endif
