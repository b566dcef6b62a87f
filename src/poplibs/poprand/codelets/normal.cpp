// Normally distributed numbers.
#ifdef __POPC__
#include "poplibs/poprand/random_rows.h"

namespace poprand {

template <class T>
class Normal : public poplar::Vertex {
 public:
  Normal();
  poplar::Input<poplar::Vector<unsigned>> key;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<unsigned> places;
  const unsigned stream;
  const float mean;
  const float deviation;

  bool compute() {
    const PandoRandomStream s = {{key[0], key[1]}, stream};
    for (unsigned row = 0; row < out.size(); ++row)
      fill_row(
          &out[row][0], place_of(places, row), out[row].size(),
          [&](std::uint64_t first, std::uint64_t n, float* to) { pando_random_normal(s, first, n, mean, deviation, to); },
          [](float v) { return static_cast<T>(v); });
    return true;
  }
};

template class Normal<float>;
template class Normal<half>;

}  // namespace poprand
#else
#include "poplibs/poprand/estimates.h"

namespace poprand {

// The machine adds four evenly distributed numbers in one instruction.
Estimates estimates_normal() { return row_estimates("poprand::Normal", {poplar::FLOAT, poplar::HALF}, 1.5); }

}  // namespace poprand
#endif
