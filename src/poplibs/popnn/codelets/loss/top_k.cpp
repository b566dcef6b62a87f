// The k greatest elements of each row, in descending order, and their columns: of rows or pieces of rows; and of a row from those of its
// pieces.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include "poplibs/popnn/codelets/loss/best_of.h"

namespace popnn {

template <class T>
class TopK : public poplar::Vertex {
 public:
  TopK();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Output<poplar::Vector<T>> values;
  poplar::Output<poplar::Vector<unsigned>> indices;
  const unsigned columns;
  const unsigned offset;  // the column of the first
  const unsigned k;
  bool compute() {
    for (unsigned r = 0, rows = values.size() / k; r < rows; ++r)
      select(columns, &in[r * columns], [this](unsigned i) { return offset + i; }, k, &values[r * k], &indices[r * k]);
    return true;
  }
};

template <class T>
class TopKMerge : public poplar::Vertex {
 public:
  TopKMerge();
  poplar::Input<poplar::Vector<T>> pieceValues;
  poplar::Input<poplar::Vector<unsigned>> pieceIndices;
  poplar::Output<poplar::Vector<T>> values;
  poplar::Output<poplar::Vector<unsigned>> indices;
  bool compute() {
    const unsigned* columns = &pieceIndices[0];
    select(pieceValues.size(), &pieceValues[0], [columns](unsigned i) { return columns[i]; }, values.size(), &values[0], &indices[0]);
    return true;
  }
};

template class TopK<float>;
template class TopK<half>;
template class TopK<int>;
template class TopK<unsigned int>;
template class TopKMerge<float>;
template class TopKMerge<half>;
template class TopKMerge<int>;
template class TopKMerge<unsigned int>;

}  // namespace popnn
#else
#include "poplibs/popnn/loss/loss_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_top_k() {
  Estimates out;
  append_selection_estimates(out, "popnn::TopK", "in", 8);
  append_selection_estimates(out, "popnn::TopKMerge", "pieceValues", 10);
  return out;
}

}  // namespace popnn
#endif
