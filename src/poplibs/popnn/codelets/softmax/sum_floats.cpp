// out[0] = the sum of `in`, in order.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popnn {

class SumFloats : public poplar::Vertex {
 public:
  SumFloats();
  poplar::Input<poplar::Vector<float>> in;
  poplar::Output<poplar::Vector<float>> out;
  bool compute() {
    float sum = 0;
    for (unsigned i = 0, n = in.size(); i < n; ++i) sum += in[i];
    out[0] = sum;
    return true;
  }
};

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_sum_floats() {
  return {{"popnn::SumFloats", [](const VertexIntrospector& vertex, const Target&) {
             const std::size_t n = vertex.getFieldInfo("in").size();
             return VertexPerfEstimate(15 + 2 * n, n);
           }}};
}

}  // namespace popnn
#endif
