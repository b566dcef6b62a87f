// What the parts of a distributed product cost: the primitives that the planners of matrix products and convolutions add up.
//
// Two clocks. `cycles` prices the machine: what a tile's units and the exchange take. `host_time` prices the processor that runs
// the program: multiplications, the memory traffic of operands and partial sums, and a constant for each vertex and copied run.
// Figures are of one tile, and deterministic functions of their arguments.
#pragma once

#include <cstdint>

#include "base/element_type.h"
#include "machine/host.h"
#include "machine/machine.h"
#include "machine/units.h"

namespace pando::planning {

enum class Objective { cycles, host_time };

// Cycles on the machine; nanoseconds of one host thread for Objective::host_time. Costs of phases that follow one another add up.
using Cost = double;

// Cycles for C[m x n] += A[m x k] * B[k x n], without launch: what the vertex's estimate charges, too.
std::uint64_t amp_cycles(const AmpUnit& unit, std::uint64_t element_bytes, std::uint64_t m, std::uint64_t n, std::uint64_t k);
// Worker cycles of summing `partials` rows of `elements` in vectors of `width`.
std::uint64_t sum_cycles(unsigned width, std::uint64_t partials, std::uint64_t elements);
// Of the IPU-Links of an IPU, together.
double remote_bytes_per_cycle(const Machine& machine);
// Of a tile, as the public target says it: where memory has no limit, the largest number of 32 bits.
double bytes_per_tile(const Machine& machine);

class CostModel {
 public:
  CostModel(const Machine& machine, const Host& host, Objective objective);

  const Machine& machine() const { return machine_; }
  const Host& host() const { return host_; }
  Objective objective() const { return objective_; }

  // One exchange phase (with its sync) in which the busiest tile receives `bytes`, in `runs` pieces. Cross-IPU traffic of
  // `remote_bytes` over all links of an IPU in that phase.
  Cost exchange(double bytes, double runs = 1, double remote_bytes = 0) const;
  // C[m x n] += A[m x k] * B[k x n] on the tile's AMP unit, B stationary in it, inside one launched compute set.
  Cost block_product(double m, double n, double k, ElementType input, ElementType partials) const;
  // Adds `partials` rows of `elements` partial sums and casts them to `output`, spread over the tile's workers.
  Cost reduce(double partials, double elements, ElementType partials_type, ElementType output) const;
  // Moves `bytes` on the tile, in pieces of `run_bytes`.
  Cost copy(double bytes, double run_bytes) const;

 private:
  Machine machine_;
  Host host_;
  Objective objective_;
  double remote_bytes_per_cycle_;
};

}  // namespace pando::planning
