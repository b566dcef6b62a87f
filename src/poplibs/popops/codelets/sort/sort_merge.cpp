// Elements [begin, begin + out.size()) of two sorted runs merged.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
class SortMerge : public poplar::Vertex {
 public:
  SortMerge();
  poplar::Input<poplar::Vector<T>> a;
  poplar::Input<poplar::Vector<T>> b;
  poplar::Output<poplar::Vector<T>> out;
  const unsigned begin;

  // How many of the first `begin` elements come from `a`: all of those, and none after, are at most their neighbours in `b`.
  unsigned split() const {
    unsigned low = begin > b.size() ? begin - b.size() : 0, high = begin < a.size() ? begin : a.size();
    while (low < high) {
      const unsigned mid = (low + high) / 2;
      if (b[begin - mid - 1] < a[mid])
        high = mid;
      else
        low = mid + 1;
    }
    return low;
  }

  bool compute() {
    const unsigned from = split();
    const T *x = a.data() + from, *x_end = a.data() + a.size(), *y = b.data() + (begin - from), *y_end = b.data() + b.size();
    T *to = out.data(), *end = to + out.size();
    while (to != end) {
      // As long as neither run can end.
      unsigned n = end - to;
      if (x_end - x < static_cast<long>(n)) n = x_end - x;
      if (y_end - y < static_cast<long>(n)) n = y_end - y;
      if (n == 0) break;
      for (unsigned i = 0; i < n; ++i) {
        const T p = *x, q = *y;
        const bool second = q < p;
        *to++ = second ? q : p;
        y += second;
        x += !second;
      }
    }
    const T* rest = x == x_end ? y : x;
    for (; to != end; ++to, ++rest) *to = *rest;
    return true;
  }
};

template class SortMerge<unsigned int>;
template class SortMerge<unsigned long long>;

}  // namespace popops
#else
#include <cmath>

#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

// A binary search for the beginning, then two loads, a comparison, a store and a step per element.
Estimates estimates_sort_merge() {
  using namespace poplar;
  return for_types("popops::SortMerge", {UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type&) {
    return [](const VertexIntrospector& vertex, const Target&) {
      const double search = 10 * std::log2(1.0 + static_cast<double>(vertex.getFieldInfo("a").size()));
      return VertexPerfEstimate(static_cast<std::uint64_t>(25 + search) + 6 * vertex.getFieldInfo("out").size());
    };
  });
}

}  // namespace popops
#endif
