// Operands of vertices. One that lies in one piece on the vertex's tile is used where it is. One that lies elsewhere or in
// pieces is gathered into a buffer on the tile before the compute set and, if written, scattered after it. A read-only operand
// that lies in one piece on another tile of the same stream may be bound to the source's bytes (contract 12): within a compute
// set no vertex writes what another reads, and nothing runs between the gather and the compute set, so no writer comes
// before the last reader.
#pragma once

#include <vector>

#include "compile/plan.h"

namespace pando::compile {

struct LoweredCompute {
  std::vector<ActionId> gather;       // exchanges before
  std::uint32_t compute = 0;          // index into Plan::computes
  std::vector<StreamId> streams;      // that have vertices
  std::vector<ShardAccess> accesses;  // of the compute itself; the action is filled in by who adds it
  std::vector<ActionId> scatter;      // exchanges after
};

LoweredCompute lower_compute_set(Plan& plan, ComputeSetId cs);

}  // namespace pando::compile
