// in * scale with a probability, else 0: kept where the 32 random bits are below `threshold`, of 2^32.
#ifdef __POPC__
#include "poplibs/poprand/random_rows.h"

namespace poprand {

template <class T>
class Dropout : public poplar::Vertex {
 public:
  Dropout();
  poplar::Input<poplar::Vector<unsigned>> key;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<unsigned> places;
  const unsigned stream;
  poplar::Vector<poplar::Input<poplar::Vector<T>>> in;
  const unsigned long long threshold;
  const float scale;

  bool compute() {
    const PandoRandomStream s = {{key[0], key[1]}, stream};
    for (unsigned row = 0; row < out.size(); ++row) draw(s, row);
    return true;
  }

 private:
  void draw(const PandoRandomStream& s, unsigned row) {
    constexpr std::uint64_t kBuffer = 512;
    std::uint32_t bits[kBuffer];
    T* to = &out[row][0];
    const T* from = &in[row][0];
    const std::uint64_t first = place_of(places, row), n = out[row].size();
    for (std::uint64_t done = 0; done < n; done += kBuffer) {
      const std::uint64_t count = n - done < kBuffer ? n - done : kBuffer;
      pando_random_bits(s, first + done, count, bits);
      for (std::uint64_t i = 0; i < count; ++i) {
        const float value = static_cast<float>(from[done + i]) * scale;
        to[done + i] = bits[i] < threshold ? static_cast<T>(value) : T(0);
      }
    }
  }
};

template class Dropout<float>;
template class Dropout<half>;

}  // namespace poprand
#else
#include "poplibs/poprand/estimates.h"

namespace poprand {

// A comparison and a product for each.
Estimates estimates_dropout() { return row_estimates("poprand::Dropout", {poplar::FLOAT, poplar::HALF}, 1.5); }

}  // namespace poprand
#endif
