// Returns whether no element is NaN or, if `infinite`, infinite either: whether all bits but the sign are below a limit.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
static bool all_below(const void* from, unsigned n, bool infinite) {
  using Bits = typename std::conditional<sizeof(T) == 2, unsigned short, unsigned int>::type;
  constexpr Bits infinity = sizeof(T) == 2 ? 0x7c00 : 0x7f800000;
  const Bits limit = infinite ? infinity : static_cast<Bits>(infinity + 1);
  const Bits* in = static_cast<const Bits*>(from);
  Bits greatest = 0;
  for (unsigned i = 0; i < n; ++i) {
    const Bits magnitude = in[i] & static_cast<Bits>(~(Bits(1) << (8 * sizeof(T) - 1)));
    greatest = magnitude > greatest ? magnitude : greatest;
  }
  return greatest < limit;
}

template <class T>
class HasNaN : public poplar::Vertex {
 public:
  HasNaN();
  poplar::Input<poplar::Vector<T>> in;
  const bool infinite;

  bool compute() { return all_below<T>(&in[0], in.size(), infinite); }
};

template <class T>
class HasNaN2d : public poplar::Vertex {
 public:
  HasNaN2d();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> in;
  const bool infinite;

  bool compute() {
    bool below = true;
    for (auto& run : in) below = all_below<T>(&run[0], run.size(), infinite) && below;
    return below;
  }
};

template class HasNaN<float>;
template class HasNaN<half>;
template class HasNaN2d<float>;
template class HasNaN2d<half>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

// A 64-bit load and a comparison a cycle.
Estimates estimates_has_nan() {
  Estimates out;
  internal::add_pair(out, "HasNaN", "float", "in", {.cycles_per_element = 0.5});
  internal::add_pair(out, "HasNaN", "half", "in", {.cycles_per_element = 0.25});
  return out;
}

}  // namespace popops
#endif
