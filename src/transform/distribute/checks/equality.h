// Whether a distributed program does what the sequential one does: both run in the reference interpreter on the same data.
#pragma once

#include "ir/semantics/interpreter.h"
#include "transform/distribute/parallelise.h"

#include <cstdint>
#include <string>

namespace pando::transform {

struct Equality {
  // What was compared: outputs, variables after the step, what was stored to the host.
  std::int64_t tensors = 0, elements = 0;
  bool same_bits = true;
  // The largest difference, relative to the largest element of its tensor, and where it is.
  double worst = 0;
  std::string where;
  // What rounding in another order explains.
  double allowed = 0;
  bool equal() const { return same_bits || worst <= allowed; }
};

// Variables that have data begin with it; what has none, and what streams bring, are small fractions made from `seed`.
Equality compare(const Program& program, const Distributed& distributed, std::uint64_t seed);
// "bit for bit (12 tensors, 4096 elements)", or how far apart.
std::string to_text(const Equality& e);

}  // namespace pando::transform
