// The numK greatest activations and their classes: of each piece of a row; and of some that have labels. Programs add these vertices by
// their names. Where there are fewer than numK, the others get the least value and class 0xffffffff. They come in descending order,
// whether that is asked for or not.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <limits>

#include "poplibs/popnn/codelets/loss/best_of.h"

namespace popnn {

template <class T> inline T least_value() { return std::numeric_limits<T>::lowest(); }
template <> inline half least_value<half>() { return static_cast<half>(-65504.0f); }

template <class T, class Index>
inline void best_classes(unsigned n, const T* in, Index index_of, unsigned k, T* values, unsigned* indices) {
  const unsigned there = n < k ? n : k;
  if (there != 0) select(n, in, index_of, there, values, indices);
  for (unsigned i = there; i < k; ++i) {
    values[i] = least_value<T>();
    indices[i] = ~0u;
  }
}

// Pieces of 2^divisorLog2 elements, the last may have fewer: numK results each. `index` is the class of the first element.
template <class T, bool Sort>
class ReduceMaxNClassGather : public poplar::Vertex {
 public:
  ReduceMaxNClassGather();
  poplar::Input<poplar::Vector<T, poplar::VectorLayout::ONE_PTR>> activations;
  const unsigned index;
  poplar::Output<poplar::Vector<T, poplar::VectorLayout::ONE_PTR>> maxValues;
  poplar::Output<poplar::Vector<unsigned, poplar::VectorLayout::ONE_PTR>> maxValuesIndices;
  const unsigned numK;
  const unsigned size;
  const unsigned short divisorLog2;
  const bool shouldSort;
  bool compute() {
    const unsigned piece = 1u << divisorLog2;
    unsigned out = 0;
    for (unsigned long begin = 0; begin < size; begin += piece, out += numK) {
      const unsigned n = size - begin < piece ? size - begin : piece;
      const unsigned first = index + static_cast<unsigned>(begin);
      best_classes(n, &activations[begin], [first](unsigned i) { return first + i; }, numK, &maxValues[out], &maxValuesIndices[out]);
    }
    return true;
  }
};

// labels[i] is the class of activations[i].
template <class T, bool Sort>
class ReduceMaxNClassSparse : public poplar::Vertex {
 public:
  ReduceMaxNClassSparse();
  poplar::Input<poplar::Vector<T>> activations;
  poplar::Input<poplar::Vector<unsigned, poplar::VectorLayout::ONE_PTR>> labels;
  poplar::Output<poplar::Vector<T, poplar::VectorLayout::ONE_PTR>> maxValues;
  poplar::Output<poplar::Vector<unsigned, poplar::VectorLayout::ONE_PTR>> maxValuesIndices;
  const unsigned numK;
  const bool shouldSort;
  bool compute() {
    const unsigned* classes = &labels[0];
    best_classes(
        activations.size(), activations.data(), [classes](unsigned i) { return classes[i]; }, numK, &maxValues[0], &maxValuesIndices[0]);
    return true;
  }
};

template class ReduceMaxNClassGather<float, false>;
template class ReduceMaxNClassGather<float, true>;
template class ReduceMaxNClassGather<half, false>;
template class ReduceMaxNClassGather<half, true>;
template class ReduceMaxNClassGather<int, false>;
template class ReduceMaxNClassGather<int, true>;
template class ReduceMaxNClassGather<unsigned int, false>;
template class ReduceMaxNClassGather<unsigned int, true>;
template class ReduceMaxNClassSparse<float, false>;
template class ReduceMaxNClassSparse<float, true>;
template class ReduceMaxNClassSparse<half, false>;
template class ReduceMaxNClassSparse<half, true>;
template class ReduceMaxNClassSparse<int, false>;
template class ReduceMaxNClassSparse<int, true>;
template class ReduceMaxNClassSparse<unsigned int, false>;
template class ReduceMaxNClassSparse<unsigned int, true>;

}  // namespace popnn
#else
#include "poplibs/popnn/loss/loss_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_reduce_max_n_class() { return class_estimates("popnn::ReduceMaxNClass", {",false>", ",true>"}, 8); }

}  // namespace popnn
#endif
