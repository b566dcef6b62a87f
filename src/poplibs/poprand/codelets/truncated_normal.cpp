// Normally distributed numbers within alpha deviations of the mean.
#ifdef __POPC__
#include "poplibs/poprand/random_rows.h"

namespace poprand {

template <class T>
class TruncatedNormal : public poplar::Vertex {
 public:
  TruncatedNormal();
  poplar::Input<poplar::Vector<unsigned>> key;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<unsigned> places;
  const unsigned stream;
  const float mean;
  const float deviation;
  const float alpha;

  bool compute() {
    const PandoRandomStream s = {{key[0], key[1]}, stream};
    for (unsigned row = 0; row < out.size(); ++row)
      fill_row(
          &out[row][0], place_of(places, row), out[row].size(),
          [&](std::uint64_t first, std::uint64_t n, float* to) { pando_random_truncated_normal(s, first, n, mean, deviation, alpha, to); },
          [](float v) { return static_cast<T>(v); });
    return true;
  }
};

template class TruncatedNormal<float>;
template class TruncatedNormal<half>;

}  // namespace poprand
#else
#include "poplibs/poprand/estimates.h"

namespace poprand {

// A few draws and a comparison for each.
Estimates estimates_truncated_normal() { return row_estimates("poprand::TruncatedNormal", {poplar::FLOAT, poplar::HALF}, 6.0); }

}  // namespace poprand
#endif
