// Softmax along the rows of a row of blocks, and its gradient.
//
// in, out ...: the row's blocks, {blocks, rows, columns}; column `c` of block `b` counts in row `r` if it lies in
// [first[b * rows + r], end[b * rows + r]). What does not count becomes 0.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <cmath>

namespace popsparse {

template <class T>
class BlockSoftmax : public poplar::Vertex {
 public:
  BlockSoftmax();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Output<poplar::Vector<T>> out;
  poplar::Vector<unsigned> first;
  poplar::Vector<unsigned> end;
  const unsigned rows;
  const unsigned columns;

  bool compute() {
    const unsigned blocks = in.size() / (rows * columns);
    for (unsigned r = 0; r < rows; ++r) {
      float largest = -__builtin_inff(), sum = 0;
      const auto each = [&](const auto& f) {
        for (unsigned b = 0; b < blocks; ++b)
          for (unsigned c = first[b * rows + r]; c < end[b * rows + r]; ++c) f((b * rows + r) * columns + c);
      };
      each([&](unsigned i) { largest = static_cast<float>(in[i]) > largest ? static_cast<float>(in[i]) : largest; });
      each([&](unsigned i) { sum += std::exp(static_cast<float>(in[i]) - largest); });
      for (unsigned b = 0; b < blocks; ++b)
        for (unsigned c = 0; c < columns; ++c) {
          const unsigned i = (b * rows + r) * columns + c;
          const bool counts = c >= first[b * rows + r] && c < end[b * rows + r];
          out[i] = counts ? static_cast<T>(std::exp(static_cast<float>(in[i]) - largest) / sum) : T(0);
        }
    }
    return true;
  }
};

template class BlockSoftmax<float>;
template class BlockSoftmax<half>;

template <class T>
class BlockSoftmaxGradient : public poplar::Vertex {
 public:
  BlockSoftmaxGradient();
  poplar::Input<poplar::Vector<T>> y;
  poplar::Input<poplar::Vector<T>> dy;
  poplar::Output<poplar::Vector<T>> dx;
  const unsigned rows;
  const unsigned columns;

  bool compute() {
    const unsigned blocks = y.size() / (rows * columns);
    for (unsigned r = 0; r < rows; ++r) {
      float sum = 0;
      for (unsigned b = 0; b < blocks; ++b)
        for (unsigned i = (b * rows + r) * columns; i < (b * rows + r + 1) * columns; ++i)
          sum += static_cast<float>(y[i]) * static_cast<float>(dy[i]);
      for (unsigned b = 0; b < blocks; ++b)
        for (unsigned i = (b * rows + r) * columns; i < (b * rows + r + 1) * columns; ++i)
          dx[i] = static_cast<T>(static_cast<float>(y[i]) * (static_cast<float>(dy[i]) - sum));
    }
    return true;
  }
};

template class BlockSoftmaxGradient<float>;
template class BlockSoftmaxGradient<half>;

}  // namespace popsparse
#else
#include "poplibs/codelet_file.h"

namespace popsparse {

using namespace pando::poplibs;

// An exponential twice for each element; a product, a difference and a product.
Estimates estimates_block_softmax() {
  const auto cost = [](const char* field, std::size_t each) {
    return [=](const VertexIntrospector& vertex, const Target&) {
      const std::size_t elements = vertex.getFieldInfo(field).size();
      return VertexPerfEstimate(40 + elements * each, elements * 4);
    };
  };
  Estimates out;
  for (const char* type : {"float", "half"}) {
    out.push_back({std::string("popsparse::BlockSoftmax<") + type + ">", cost("in", 12)});
    out.push_back({std::string("popsparse::BlockSoftmaxGradient<") + type + ">", cost("y", 4)});
  }
  return out;
}

}  // namespace popsparse
#endif
