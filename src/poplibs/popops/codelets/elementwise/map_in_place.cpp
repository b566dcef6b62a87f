// As Map, for expressions whose results replace operands.
#ifdef __POPC__
#include "poplibs/popops/codelets/elementwise/program_vertex.h"

namespace popops {

class MapInPlace : public ProgramVertex<poplar::InOut> {
 public:
  MapInPlace();
};

}  // namespace popops
#else
#include "poplibs/popops/elementwise/estimate.h"

namespace popops {

pando::poplibs::Estimates estimates_map_in_place() { return {{"popops::MapInPlace", internal::estimate_program}}; }

}  // namespace popops
#endif
