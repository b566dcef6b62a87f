// Whether buckets have to move on: a block of the matrix lies further from its home than the buckets have moved. Counts the moves.
#ifdef __POPC__
#include <poplar/Vertex.hpp>

#include "poplibs/popsparse/bucket.h"

namespace popsparse {

class MoreBuckets : public poplar::Vertex {
 public:
  poplar::Input<poplar::Vector<unsigned short>> header;
  poplar::InOut<unsigned> moved;
  poplar::Output<bool> more;

  bool compute() {
    *more = *moved < header[1];
    *moved = *moved + (*more ? 1 : 0);
    return true;
  }
};

// The way back: counts the moves down.
class FewerBuckets : public poplar::Vertex {
 public:
  poplar::InOut<unsigned> moved;
  poplar::Output<bool> more;

  bool compute() {
    *more = *moved > 0;
    *moved = *moved - (*more ? 1 : 0);
    return true;
  }
};

}  // namespace popsparse
#else
#include "poplibs/codelet_file.h"

namespace popsparse {

pando::poplibs::Estimates estimates_more_buckets() {
  const auto cost = [](const pando::poplibs::VertexIntrospector&, const pando::poplibs::Target&) {
    return pando::poplibs::VertexPerfEstimate(20, 0);
  };
  return {{"popsparse::MoreBuckets", cost}, {"popsparse::FewerBuckets", cost}};
}

}  // namespace popsparse
#endif
