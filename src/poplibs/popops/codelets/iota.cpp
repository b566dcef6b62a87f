// out[r][i] = first[r] + i.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
class Iota : public poplar::Vertex {
 public:
  Iota();
  poplar::Vector<poplar::Output<poplar::Vector<T>>> out;
  poplar::Vector<long long> first;

  bool compute() {
    for (unsigned r = 0; r < out.size(); ++r) {
      T* to = &out[r][0];
      const long long begin = first[r];
      for (unsigned i = 0, n = out[r].size(); i < n; ++i) {
        if constexpr (std::is_same<T, half>::value)
          to[i] = static_cast<half>(static_cast<float>(begin + i));
        else
          to[i] = static_cast<T>(begin + i);
      }
    }
    return true;
  }
};

template class Iota<float>;
template class Iota<half>;
template class Iota<int>;
template class Iota<unsigned int>;

}  // namespace popops
#else
#include "poplibs/popops/data/estimate.h"

namespace popops {

Estimates estimates_iota() {
  using namespace poplar;
  return for_types("popops::Iota", {FLOAT, HALF, INT, UNSIGNED_INT},
                   [](const Type&) { return internal::loop_cost("out", {.cycles_per_element = 1}); });
}

}  // namespace popops
#endif
