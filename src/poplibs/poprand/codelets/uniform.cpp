// Evenly distributed numbers in [low, high].
#ifdef __POPC__
#include "poplibs/poprand/random_rows.h"

namespace poprand {

template <class T>
class Uniform : public poplar::Vertex {
 public:
  Uniform();
  poplar::Input<poplar::Vector<unsigned>> key;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<unsigned> places;
  const unsigned stream;
  const float low;
  const float high;

  bool compute() {
    const PandoRandomStream s = {{key[0], key[1]}, stream};
    for (unsigned row = 0; row < out.size(); ++row)
      fill_row(
          &out[row][0], place_of(places, row), out[row].size(),
          [&](std::uint64_t first, std::uint64_t n, float* to) { pando_random_uniform(s, first, n, low, high, to); },
          [](float v) { return static_cast<T>(v); });
    return true;
  }
};

template class Uniform<float>;
template class Uniform<half>;

}  // namespace poprand
#else
#include "poplibs/poprand/estimates.h"

namespace poprand {

// The generator of a tile makes 64 bits a cycle.
Estimates estimates_uniform() { return row_estimates("poprand::Uniform", {poplar::FLOAT, poplar::HALF}, 1.0); }

}  // namespace poprand
#endif
