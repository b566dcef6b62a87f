// e to the power of evenly distributed numbers in [low, high], no more than `most`.
#ifdef __POPC__
#include "poplibs/poprand/random_rows.h"

namespace poprand {

template <class T>
class LogUniform : public poplar::Vertex {
 public:
  LogUniform();
  poplar::Input<poplar::Vector<unsigned>> key;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<unsigned> places;
  const unsigned stream;
  const float low;
  const float high;
  const float least;
  const float most;

  bool compute() {
    const PandoRandomStream s = {{key[0], key[1]}, stream};
    for (unsigned row = 0; row < out.size(); ++row) fill_powers(s, row);
    return true;
  }

 private:
  // Rounding must not leave the interval.
  void fill_powers(const PandoRandomStream& s, unsigned row) {
    const auto make = [&](std::uint64_t first, std::uint64_t n, float* to) {
      pando_random_uniform(s, first, n, low, high, to);
      for (std::uint64_t i = 0; i < n; ++i) {
        const float power = __builtin_expf(to[i]);
        to[i] = power < least ? least : power > most ? most : power;
      }
    };
    fill_row(&out[row][0], place_of(places, row), out[row].size(), make, [](float v) { return static_cast<T>(v); });
  }
};

template class LogUniform<float>;
template class LogUniform<half>;
template class LogUniform<int>;

}  // namespace poprand
#else
#include "poplibs/poprand/estimates.h"

namespace poprand {

// An exponential a pair of numbers.
Estimates estimates_log_uniform() { return row_estimates("poprand::LogUniform", {poplar::FLOAT, poplar::HALF, poplar::INT}, 4.0); }

}  // namespace poprand
#endif
