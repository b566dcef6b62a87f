// 1 with a probability, else 0: 1 where the 32 random bits are below `threshold`, of 2^32.
#ifdef __POPC__
#include "poplibs/poprand/random_rows.h"

namespace poprand {

template <class T>
class Bernoulli : public poplar::Vertex {
 public:
  Bernoulli();
  poplar::Input<poplar::Vector<unsigned>> key;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<unsigned> places;
  const unsigned stream;
  const unsigned long long threshold;

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
    const std::uint64_t first = place_of(places, row), n = out[row].size();
    for (std::uint64_t done = 0; done < n; done += kBuffer) {
      const std::uint64_t count = n - done < kBuffer ? n - done : kBuffer;
      pando_random_bits(s, first + done, count, bits);
      for (std::uint64_t i = 0; i < count; ++i) to[done + i] = static_cast<T>(bits[i] < threshold ? 1 : 0);
    }
  }
};

template class Bernoulli<float>;
template class Bernoulli<half>;
template class Bernoulli<int>;

}  // namespace poprand
#else
#include "poplibs/poprand/estimates.h"

namespace poprand {

// A comparison for each.
Estimates estimates_bernoulli() { return row_estimates("poprand::Bernoulli", {poplar::FLOAT, poplar::HALF, poplar::INT}, 1.0); }

}  // namespace poprand
#endif
