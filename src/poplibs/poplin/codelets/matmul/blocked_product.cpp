// One block of a product of matrices in blocks.
#include "poplibs/poplin/codelets/matmul/blocked.h"

#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include <type_traits>

namespace poplin {

template <class T, bool accumulate>
class BlockedProduct : public poplar::SupervisorVertex {
 public:
  BlockedProduct();
  poplar::Vector<poplar::Input<poplar::Vector<T>>> a, b;
  typename std::conditional<accumulate, poplar::InOut<poplar::Vector<float>>, poplar::Output<poplar::Vector<float>>>::type c;
  const unsigned n, k, a_width, b_height, b_width;

  bool compute() {
    multiply_blocks(*this, &c[0], accumulate);
    return true;
  }
};

template class BlockedProduct<float, false>;
template class BlockedProduct<float, true>;
template class BlockedProduct<half, false>;
template class BlockedProduct<half, true>;

}  // namespace poplin
#else
namespace poplin {

using namespace pando::poplibs;

Estimates estimates_blocked_product() {
  Estimates out;
  for (const poplar::Type& type : {poplar::FLOAT, poplar::HALF})
    for (const char* accumulate : {"false", "true"})
      out.push_back({"poplin::BlockedProduct<" + type.toString() + "," + accumulate + ">",
                     [type](const VertexIntrospector& vertex, const Target& target) { return estimate_blocked(vertex, target, type); }});
  return out;
}

}  // namespace poplin
#endif
