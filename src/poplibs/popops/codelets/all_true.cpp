// Returns whether no element is 0. Elements are bits.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
static bool none_is_zero(const T* in, unsigned n) {
  T least = ~T(0);
  for (unsigned i = 0; i < n; ++i) least = in[i] < least ? in[i] : least;
  return least != 0;
}

template <class T>
class AllTrue : public poplar::Vertex {
 public:
  AllTrue();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> in;

  bool compute() {
    bool all = true;
    for (auto& run : in) all = none_is_zero<T>(&run[0], run.size()) && all;
    return all;
  }
};

template class AllTrue<unsigned char>;
template class AllTrue<unsigned int>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

// A 64-bit load and a comparison a cycle.
Estimates estimates_all_true() {
  return {{"popops::AllTrue<unsigned char>", internal::loop_cost("in", {.cycles_per_element = 0.125})},
          {"popops::AllTrue<unsigned int>", internal::loop_cost("in", {.cycles_per_element = 0.5})}};
}

}  // namespace popops
#endif
