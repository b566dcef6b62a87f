// The k least codes of each row of `length`, least first.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "kernels/rows/search.h"
#include "kernels/rows/sort.h"

namespace popops {

inline void least_codes(const unsigned* in, unsigned n, unsigned limit, unsigned* out, unsigned k) {
  pando_least_u32(in, n, limit, out, k);
}
inline void least_codes(const unsigned long long* in, unsigned n, unsigned long long limit, unsigned long long* out, unsigned k) {
  pando_least_u64(reinterpret_cast<const uint64_t*>(in), n, limit, reinterpret_cast<uint64_t*>(out), k);
}
inline unsigned least_code(const unsigned* in, unsigned n) { return pando_minimum_u32(in, n); }
inline unsigned long long least_code(const unsigned long long* in, unsigned n) {
  return pando_minimum_u64(reinterpret_cast<const uint64_t*>(in), n);
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
    for (unsigned r = 0; r < rows; ++r) least_codes(codes.data() + r * length, length, ~T{0}, &out[r * k], k);
    return true;
  }
};

// The k least of the codes that are at most `limit`: few. The greatest code stands for those that are missing.
template <class T>
class TopKWithin : public poplar::Vertex {
 public:
  TopKWithin();
  poplar::Input<poplar::Vector<T>> codes;
  poplar::Input<T> limit;
  poplar::Output<poplar::Vector<T>> out;

  bool compute() {
    least_codes(codes.data(), codes.size(), *limit, out.data(), out.size());
    return true;
  }
};

// The least code of each of as many parts of `codes` as `out` has elements.
template <class T>
class LeastOfParts : public poplar::Vertex {
 public:
  LeastOfParts();
  poplar::Input<poplar::Vector<T>> codes;
  poplar::Output<poplar::Vector<T>> out;

  bool compute() {
    const unsigned long n = codes.size(), parts = out.size();
    for (unsigned long p = 0; p < parts; ++p) out[p] = least_code(codes.data() + n * p / parts, n * (p + 1) / parts - n * p / parts);
    return true;
  }
};

template class TopK<unsigned int>;
template class TopK<unsigned long long>;
template class TopKWithin<unsigned int>;
template class TopKWithin<unsigned long long>;
template class LeastOfParts<unsigned int>;
template class LeastOfParts<unsigned long long>;

}  // namespace popops
#else
#include <cmath>

#include "poplibs/codelet_file.h"

namespace popops {

using namespace pando::poplibs;

namespace {

// A heap of k: three cycles to look at a code; the codes that go in, fewer and fewer, cost log2(k) steps.
std::uint64_t heap_cycles(const VertexIntrospector& vertex, const Target& target) {
  const double n = static_cast<double>(vertex.getFieldInfo("codes").size()), k = static_cast<double>(vertex.getFieldInfo("out").size());
  const double length = vertex.getFieldInfo("length").getInitialValue<unsigned>(target);
  const double inserted = k * (1 + std::log(std::max(1.0, n / std::max(1.0, k))));
  return static_cast<std::uint64_t>(30 + 3 * n + 8 * inserted * std::log2(1 + std::min(length, k)));
}

}  // namespace

Estimates estimates_top_k() {
  using namespace poplar;
  Estimates out = for_types("popops::TopK", {UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type&) {
    return [](const VertexIntrospector& vertex, const Target& target) { return VertexPerfEstimate(heap_cycles(vertex, target)); };
  });
  // Next to none is within the limit.
  for (Estimate& e : for_types("popops::TopKWithin", {UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type&) {
         return [](const VertexIntrospector& vertex, const Target&) {
           return VertexPerfEstimate(30 + 3 * vertex.getFieldInfo("codes").size() + 2 * vertex.getFieldInfo("out").size());
         };
       }))
    out.push_back(std::move(e));
  for (Estimate& e : for_types("popops::LeastOfParts", {UNSIGNED_INT, UNSIGNED_LONGLONG}, [](const Type&) {
         return [](const VertexIntrospector& vertex, const Target&) {
           return VertexPerfEstimate(20 + 2 * vertex.getFieldInfo("codes").size() + 6 * vertex.getFieldInfo("out").size());
         };
       }))
    out.push_back(std::move(e));
  return out;
}

}  // namespace popops
#endif
