// The greatest activation and its class: of each piece of a row; and of a few that have labels. Programs add these vertices by their names.
#ifdef __POPC__
#include <poplar/HalfFloat.hpp>
#include <poplar/Vertex.hpp>

#include <type_traits>

namespace popnn {

// The place of the greatest of n > 0 numbers: of equals the first; NaN only among NaNs.
template <class T>
inline unsigned place_of_greatest(const T* in, unsigned n) {
  unsigned best = 0;
  for (unsigned i = 1; i < n; ++i)
    if (in[i] > in[best] || (in[best] != in[best] && in[i] == in[i])) best = i;
  return best;
}

// Pieces of workerSize elements, the last may have fewer: one result each. `index` is the class of the first element.
template <class T, class Label>
class ReduceMaxClassGather : public poplar::Vertex {
 public:
  ReduceMaxClassGather();
  using Value = typename std::conditional<std::is_same<T, half>::value, float, T>::type;
  poplar::Input<poplar::Vector<T, poplar::VectorLayout::ONE_PTR>> activations;
  const Label index;
  poplar::Output<poplar::Vector<Value, poplar::VectorLayout::ONE_PTR>> maxValue;
  poplar::Output<poplar::Vector<Label, poplar::VectorLayout::ONE_PTR>> maxIndex;
  const unsigned size;
  const unsigned workerSize;
  bool compute() {
    for (unsigned piece = 0, begin = 0; begin < size && workerSize != 0; ++piece, begin += workerSize) {
      const unsigned n = size - begin < workerSize ? size - begin : workerSize;
      const unsigned best = begin + place_of_greatest(&activations[begin], n);
      maxValue[piece] = static_cast<Value>(activations[best]);
      maxIndex[piece] = index + static_cast<Label>(best);
    }
    return true;
  }
};

// labels[i] is the class of activations[i].
template <class T, class Label>
class ReduceMaxClassSparse : public poplar::Vertex {
 public:
  ReduceMaxClassSparse();
  poplar::Input<poplar::Vector<T>> activations;
  poplar::Input<poplar::Vector<Label, poplar::VectorLayout::ONE_PTR>> labels;
  poplar::Output<T> maxValue;
  poplar::Output<Label> maxIndex;
  bool compute() {
    const unsigned n = activations.size();
    if (n == 0) return true;
    const unsigned best = place_of_greatest(activations.data(), n);
    *maxValue = activations[best];
    *maxIndex = labels[best];
    return true;
  }
};

template class ReduceMaxClassGather<float, unsigned int>;
template class ReduceMaxClassGather<half, unsigned int>;
template class ReduceMaxClassGather<int, unsigned int>;
template class ReduceMaxClassGather<unsigned int, unsigned int>;
template class ReduceMaxClassGather<float, int>;
template class ReduceMaxClassGather<half, int>;
template class ReduceMaxClassGather<int, int>;
template class ReduceMaxClassGather<unsigned int, int>;
template class ReduceMaxClassSparse<float, unsigned int>;
template class ReduceMaxClassSparse<half, unsigned int>;
template class ReduceMaxClassSparse<int, unsigned int>;
template class ReduceMaxClassSparse<unsigned int, unsigned int>;
template class ReduceMaxClassSparse<float, int>;
template class ReduceMaxClassSparse<half, int>;
template class ReduceMaxClassSparse<int, int>;
template class ReduceMaxClassSparse<unsigned int, int>;

}  // namespace popnn
#else
#include "poplibs/popnn/loss/loss_cost.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_reduce_max_class() { return class_estimates("popnn::ReduceMaxClass", {",unsigned int>", ",int>"}, 4); }

}  // namespace popnn
#endif
