// Softmax or log-softmax of whole rows that lie one after the other.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "kernels/rows/softmax.h"

namespace popnn {

inline void softmax_rows(unsigned rows, unsigned columns, const float* in, float* out, float scale, bool log) {
  pando_softmax_rows_f32(rows, columns, in, out, scale, log);
}
inline void softmax_rows(unsigned rows, unsigned columns, const half* in, half* out, float scale, bool log) {
  pando_softmax_rows_f16(rows, columns, in, out, scale, log);
}

template <class T>
class SoftmaxRows : public poplar::Vertex {
 public:
  SoftmaxRows();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Output<poplar::Vector<T>> out;
  const unsigned columns;
  const float scale;
  const bool log;
  bool compute() {
    softmax_rows(out.size() / columns, columns, &in[0], &out[0], scale, log);
    return true;
  }
};

template <class T>
class SoftmaxRowsInPlace : public poplar::Vertex {
 public:
  SoftmaxRowsInPlace();
  poplar::InOut<poplar::Vector<T>> out;
  const unsigned columns;
  const float scale;
  const bool log;
  bool compute() {
    softmax_rows(out.size() / columns, columns, &out[0], &out[0], scale, log);
    return true;
  }
};

template class SoftmaxRows<float>;
template class SoftmaxRows<half>;
template class SoftmaxRowsInPlace<float>;
template class SoftmaxRowsInPlace<half>;

}  // namespace popnn
#else
#include "poplibs/popnn/softmax/softmax_cost.h"

namespace popnn {

using namespace pando::poplibs;

// Three passes: maximum, exponential and sum, product.
Estimates estimates_softmax_rows() {
  Estimates out;
  append_row_estimates(out, "popnn::SoftmaxRows", "out", 9, 5);
  append_row_estimates(out, "popnn::SoftmaxRowsInPlace", "out", 9, 5);
  return out;
}

}  // namespace popnn
#endif
