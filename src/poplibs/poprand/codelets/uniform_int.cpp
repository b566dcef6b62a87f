// Integers low .. low + count - 1, equally likely.
#ifdef __POPC__
#include "poplibs/poprand/random_rows.h"

namespace poprand {

template <class T>
class UniformInt : public poplar::Vertex {
 public:
  UniformInt();
  poplar::Input<poplar::Vector<unsigned>> key;
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<unsigned> places;
  const unsigned stream;
  const int low;
  const unsigned long long count;

  bool compute() {
    const PandoRandomStream s = {{key[0], key[1]}, stream};
    for (unsigned row = 0; row < out.size(); ++row) draw(s, row);
    return true;
  }

 private:
  void draw(const PandoRandomStream& s, unsigned row) {
    T* to = &out[row][0];
    const std::uint64_t n = out[row].size();
    pando_random_bits(s, place_of(places, row), n, reinterpret_cast<std::uint32_t*>(to));
    for (std::uint64_t i = 0; i < n; ++i)
      to[i] = static_cast<int>(static_cast<unsigned>(low) + static_cast<unsigned>(static_cast<unsigned>(to[i]) * count >> 32));
  }
};

template class UniformInt<int>;

}  // namespace poprand
#else
#include "poplibs/poprand/estimates.h"

namespace poprand {

// A multiplication for each.
Estimates estimates_uniform_int() { return row_estimates("poprand::UniformInt", {poplar::INT}, 1.5); }

}  // namespace poprand
#endif
