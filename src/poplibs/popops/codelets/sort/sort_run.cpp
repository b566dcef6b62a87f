// Sorts each of the runs of `length` codes, least first.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/rows/sort.h"

namespace popops {

inline void sort_codes(unsigned* codes, unsigned n) { pando_sort_u32(codes, n); }
inline void sort_codes(unsigned long long* codes, unsigned n) { pando_sort_u64(reinterpret_cast<uint64_t*>(codes), n); }

template <class T>
class SortRun : public poplar::Vertex {
 public:
  SortRun();
  poplar::InOut<poplar::Vector<T>> codes;
  const unsigned length;

  bool compute() {
    for (unsigned i = 0; i + length <= codes.size(); i += length) sort_codes(&codes[i], length);
    return true;
  }
};

template class SortRun<unsigned int>;
template class SortRun<unsigned long long>;

}  // namespace popops
#else
#include <cmath>

#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

// Some eight cycles for each of log2(length) rounds.
Estimates estimates_sort_run() {
  using namespace poplar;
  return for_types("popops::SortRun", {UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type&) {
    return [](const VertexIntrospector& vertex, const Target& target) {
      const double n = static_cast<double>(vertex.getFieldInfo("codes").size()),
                   length = vertex.getFieldInfo("length").getInitialValue<unsigned>(target);
      return VertexPerfEstimate(static_cast<std::uint64_t>(30 + 8 * n * (1 + std::log2(length))));
    };
  });
}

}  // namespace popops
#endif
