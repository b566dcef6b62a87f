// counts[i] = elements of all regions from levels[i - 1] (inclusive) to levels[i] (exclusive); the first from -infinity, the last without
// end. A NaN counts in the last.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popops {

template <class T>
class Histogram : public poplar::Vertex {
 public:
  Histogram();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> data;
  poplar::Input<poplar::Vector<T>> levels;
  poplar::Output<poplar::Vector<unsigned>> counts;
  const bool absolute;

  bool compute() {
    const unsigned n = levels.size();
    for (unsigned l = 0; l <= n; ++l) counts[l] = 0;
    const float none = absolute ? 0 : -__builtin_inff();
    for (unsigned r = 0; r < data.size(); ++r) {
      const T* x = &data[r][0];
      const unsigned size = data[r].size();
      if (n <= 32) {  // counts of elements not below each level
        for (unsigned l = 0; l < n; ++l) {
          const float level = static_cast<float>(levels[l]);
          unsigned above = 0;
          for (unsigned i = 0; i < size; ++i) {
            const float v = static_cast<float>(x[i]);
            above += !((absolute && v < none ? -v : v) < level);
          }
          counts[l + 1] += above;
        }
        counts[0] += size;
      } else {
        for (unsigned i = 0; i < size; ++i) {
          const float v = static_cast<float>(x[i]), y = absolute && v < none ? -v : v;
          unsigned low = 0, high = n;
          while (low < high) {
            const unsigned mid = (low + high) / 2;
            if (!(y < static_cast<float>(levels[mid])))
              low = mid + 1;
            else
              high = mid;
          }
          ++counts[low];
        }
      }
    }
    if (n <= 32)
      for (unsigned l = 0; l < n; ++l) counts[l] -= counts[l + 1];
    return true;
  }
};

template class Histogram<float>;
template class Histogram<half>;

}  // namespace popops
#else
#include <algorithm>
#include <cmath>

#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

Estimates estimates_histogram() {
  using namespace poplar;
  return for_types("popops::Histogram", {FLOAT, HALF}, [](const Type&) {
    return [](const VertexIntrospector& vertex, const Target&) {
      const auto data = vertex.getFieldInfo("data");
      std::size_t elements = 0;
      for (std::size_t r = 0; r < data.size(); ++r) elements += data.getSizeAtIndex(r);
      const double n = static_cast<double>(vertex.getFieldInfo("levels").size());
      const double each = n <= 32 ? 2 * n : 8 * std::log2(std::max(2.0, n));
      return VertexPerfEstimate(static_cast<std::uint64_t>(30 + 4 * n + static_cast<double>(elements) * each));
    };
  });
}

}  // namespace popops
#endif
