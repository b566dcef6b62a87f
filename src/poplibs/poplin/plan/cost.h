// What the parts of a distributed product cost: the primitives that the planners of matrix products and convolutions add up.
//
// Two clocks. `Cycles` prices the machine: what a tile's units and the exchange take. `HostTime` prices the processor that runs
// the program: multiplications, the memory traffic of operands and partial sums, and a constant for each vertex and copied run.
// Figures are of one tile, and deterministic functions of their arguments.
#pragma once

#include <poplar/Target.hpp>
#include <poplar/Type.hpp>

#include <cstdint>

namespace poplin::plan {

enum class Objective { cycles, host_time };

// Cycles on the machine; nanoseconds of one host thread for Objective::host_time. Costs of phases that follow one another add up.
using Cost = double;

// Channels that one pass of the AMP unit multiplies: a block of [in x out] weights stays in the unit, rows stream through.
struct AmpShape {
  unsigned in = 1;   // elements of the summed dimension
  unsigned out = 1;  // elements of the unit's output
};

class CostModel {
 public:
  CostModel(const poplar::Target& target, Objective objective);

  Objective objective() const { return objective_; }
  unsigned workers() const { return workers_; }

  AmpShape amp_shape(const poplar::Type& input, const poplar::Type& partials) const;

  // One exchange phase (with its sync) in which the busiest tile receives `bytes`, in `runs` pieces. Cross-IPU traffic of
  // `remote_bytes` over all links of an IPU in that phase.
  Cost exchange(double bytes, double runs = 1, double remote_bytes = 0) const;
  // C[m x n] += A[m x k] * B[k x n] on the tile's AMP unit, B stationary in it, inside one launched compute set.
  Cost block_product(double m, double n, double k, const poplar::Type& input, const poplar::Type& partials) const;
  // Adds `partials` rows of `elements` partial sums and casts them to `output`, spread over the tile's workers.
  Cost reduce(double partials, double elements, const poplar::Type& partials_type, const poplar::Type& output) const;
  // Moves `bytes` on the tile, in pieces of `run_bytes`.
  Cost copy(double bytes, double run_bytes) const;
  // An elementwise pass over `elements` in the widest vectors, reading `operands` of them.
  Cost elementwise(double elements, const poplar::Type& type, unsigned operands = 1) const;

 private:
  poplar::Target target_;
  Objective objective_;
  unsigned workers_;
  double exchange_bytes_, copy_bytes_, sync_;
};

// Cycles of the AMP unit for C[m x n] += A[m x k] * B[k x n], without launch: what the vertex's estimate charges, too.
std::uint64_t amp_cycles(const poplar::Target& target, std::uint64_t m, std::uint64_t n, std::uint64_t k, const poplar::Type& input,
                         const poplar::Type& partials);
// Worker cycles of summing `partials` rows of `elements`.
std::uint64_t sum_cycles(const poplar::Target& target, std::uint64_t partials, std::uint64_t elements, const poplar::Type& partials_type);

}  // namespace poplin::plan
