// out[0] = the number of i with a[i] == b[i]; and such numbers added to a total.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

namespace popnn {

class CountEqual : public poplar::Vertex {
 public:
  CountEqual();
  poplar::Input<poplar::Vector<unsigned>> a;
  poplar::Input<poplar::Vector<unsigned>> b;
  poplar::Output<poplar::Vector<unsigned>> out;
  bool compute() {
    unsigned count = 0;
    for (unsigned i = 0, n = a.size(); i < n; ++i) count += a[i] == b[i];
    out[0] = count;
    return true;
  }
};

class AddCounts : public poplar::Vertex {
 public:
  AddCounts();
  poplar::Input<poplar::Vector<unsigned>> in;
  poplar::InOut<poplar::Vector<unsigned>> out;
  bool compute() {
    unsigned sum = 0;
    for (unsigned i = 0, n = in.size(); i < n; ++i) sum += in[i];
    out[0] += sum;
    return true;
  }
};

}  // namespace popnn
#else
#include "poplibs/codelet_file.h"

namespace popnn {

using namespace pando::poplibs;

Estimates estimates_count_equal() {
  return {{"popnn::CountEqual",
           [](const VertexIntrospector& vertex, const Target&) { return VertexPerfEstimate(15 + 4 * vertex.getFieldInfo("a").size()); }},
          {"popnn::AddCounts",
           [](const VertexIntrospector& vertex, const Target&) { return VertexPerfEstimate(15 + 2 * vertex.getFieldInfo("in").size()); }}};
}

}  // namespace popnn
#endif
