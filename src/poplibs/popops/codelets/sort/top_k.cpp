// The k least codes of each row of `length`, least first.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/sort.h"

namespace popops {

inline void least_codes(const unsigned* in, unsigned n, unsigned* out, unsigned k) { pando_least_u32(in, n, out, k); }
inline void least_codes(const unsigned long long* in, unsigned n, unsigned long long* out, unsigned k) {
  pando_least_u64(reinterpret_cast<const uint64_t*>(in), n, reinterpret_cast<uint64_t*>(out), k);
}

template <class T>
class TopK : public poplar::Vertex {
 public:
  TopK();
  poplar::Input<poplar::Vector<T>> codes;
  poplar::Output<poplar::Vector<T>> out;
  const unsigned length;

  bool compute() {
    const unsigned rows = codes.size() / length, k = out.size() / rows;
    for (unsigned r = 0; r < rows; ++r) least_codes(codes.data() + r * length, length, &out[r * k], k);
    return true;
  }
};

template class TopK<unsigned int>;
template class TopK<unsigned long long>;

}  // namespace popops
#else
#include <cmath>

#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

// A heap of k: three cycles to look at a code; the codes that go in, fewer and fewer, cost log2(k) steps.
Estimates estimates_top_k() {
  using namespace poplar;
  return for_types("popops::TopK", {UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type&) {
    return [](const VertexIntrospector& vertex, const Target& target) {
      const double n = static_cast<double>(vertex.getFieldInfo("codes").size()), k = static_cast<double>(vertex.getFieldInfo("out").size());
      const double length = vertex.getFieldInfo("length").getInitialValue<unsigned>(target);
      const double inserted = k * (1 + std::log(std::max(1.0, n / std::max(1.0, k))));
      return VertexPerfEstimate(static_cast<std::uint64_t>(30 + 3 * n + 8 * inserted * std::log2(1 + std::min(length, k))));
    };
  });
}

}  // namespace popops
#endif
