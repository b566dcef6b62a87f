// The greatest or least element of each row and its column: of rows or pieces of rows; and of a row from its pieces.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

namespace popnn {

// Does `a` come before `b`? Among equals the one that was there stays; anything comes before NaN.
template <class T>
inline bool precedes(T a, T b, bool least) {
  return (least ? a < b : a > b) || (b != b && a == a);
}

template <class T>
class ArgExtreme : public poplar::Vertex {
 public:
  ArgExtreme();
  poplar::Input<poplar::Vector<T>> in;
  poplar::Output<poplar::Vector<T>> values;
  poplar::Output<poplar::Vector<unsigned>> indices;
  const unsigned columns;
  const unsigned offset;  // the column of the first
  const bool least;
  bool compute() {
    for (unsigned r = 0, rows = values.size(); r < rows; ++r) {
      const T* row = &in[r * columns];
      unsigned best = 0;
      for (unsigned c = 1; c < columns; ++c) best = precedes(row[c], row[best], least) ? c : best;
      values[r] = row[best];
      indices[r] = offset + best;
    }
    return true;
  }
};

template <class T>
class ArgExtremeMerge : public poplar::Vertex {
 public:
  ArgExtremeMerge();
  poplar::Input<poplar::Vector<T>> pieceValues;
  poplar::Input<poplar::Vector<unsigned>> pieceIndices;
  poplar::Output<poplar::Vector<T>> values;
  poplar::Output<poplar::Vector<unsigned>> indices;
  const bool least;
  bool compute() {
    unsigned best = 0;
    for (unsigned i = 1, n = pieceValues.size(); i < n; ++i) best = precedes(pieceValues[i], pieceValues[best], least) ? i : best;
    values[0] = pieceValues[best];
    indices[0] = pieceIndices[best];
    return true;
  }
};

template class ArgExtreme<float>;
template class ArgExtreme<half>;
template class ArgExtreme<int>;
template class ArgExtreme<unsigned int>;
template class ArgExtremeMerge<float>;
template class ArgExtremeMerge<half>;
template class ArgExtremeMerge<int>;
template class ArgExtremeMerge<unsigned int>;

}  // namespace popnn
#else
#include "poplibs/popnn/loss/loss_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_arg_extreme() {
  Estimates out;
  append_selection_estimates(out, "popnn::ArgExtreme", "in", 3);
  append_selection_estimates(out, "popnn::ArgExtremeMerge", "pieceValues", 4);
  return out;
}

}  // namespace popnn
#endif
