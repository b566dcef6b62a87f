// out = expression(in ...), element by element, for expressions over operands of any types.
#ifdef __POPC__
#include "poplibs/popops/codelets/elementwise/program_vertex.h"

namespace popops {

class Map : public ProgramVertex<poplar::Output> {
 public:
  Map();
};

}  // namespace popops
#else
#include "poplibs/popops/elementwise/estimate.h"

namespace popops {

pando::poplibs::Estimates estimates_map() { return {{"popops::Map", internal::estimate_program}}; }

}  // namespace popops
#endif
