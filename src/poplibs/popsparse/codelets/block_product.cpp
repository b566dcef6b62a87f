// One block of a product of dense matrices: rows of the left side times columns of the right one.
//
// a: {rows, inner}; b: {inner, columns}; out: {rows, columns}. Elements with a column before first_column[row], or from end_column[row] on,
// are 0.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popsparse {

template <class T, class S>
class BlockProduct : public poplar::Vertex {
 public:
  BlockProduct();
  poplar::Input<poplar::Vector<T>> a;
  poplar::Input<poplar::Vector<T>> b;
  poplar::Output<poplar::Vector<S>> out;
  poplar::Vector<unsigned> first_column;
  poplar::Vector<unsigned> end_column;
  const unsigned inner;
  const unsigned columns;

  bool compute() {
    for (unsigned row = 0; row < out.size() / columns; ++row) {
      unsigned c = 0;
      for (; c + 16 <= columns; c += 16) multiply<16>(row, c);
      for (; c < columns; ++c) multiply<1>(row, c);
      for (c = 0; c < columns; ++c)
        if (c < first_column[row] || c >= end_column[row]) out[row * columns + c] = S(0);
    }
    return true;
  }

 private:
  template <unsigned kColumns>
  void multiply(unsigned row, unsigned column) {
    float sums[kColumns] = {};
    const T* from = &a[static_cast<unsigned long long>(row) * inner];
    const T* with = &b[column];
    for (unsigned i = 0; i < inner; ++i, with += columns)
      for (unsigned k = 0; k < kColumns; ++k) sums[k] += static_cast<float>(from[i]) * static_cast<float>(with[k]);
    for (unsigned k = 0; k < kColumns; ++k) out[row * columns + column + k] = static_cast<S>(sums[k]);
  }
};

template class BlockProduct<float, float>;
template class BlockProduct<half, float>;
template class BlockProduct<half, half>;

}  // namespace popsparse
#else
#include "poplibs/popsparse/estimates.h"

namespace popsparse {

Estimates estimates_block_product() {
  Estimates out;
  for (const auto& [types, bytes] : {std::pair<const char*, std::size_t>{"float,float", 4}, {"half,float", 2}, {"half,half", 2}})
    out.push_back(
        {std::string("popsparse::BlockProduct<") + types + ">", [bytes = bytes](const VertexIntrospector& vertex, const Target& target) {
           const std::size_t columns = number(vertex, target, "columns"), left = vertex.getFieldInfo("a").size();
           return VertexPerfEstimate(static_cast<std::uint64_t>(30 + block_instructions(left, columns, bytes)), 2 * left * columns);
         }});
  return out;
}

}  // namespace popsparse
#endif
