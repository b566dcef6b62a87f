// The terms of the planners (src/planning) for what poplin's callers have: public targets and types.
#pragma once

#include <poplar/Target.hpp>
#include <poplar/Type.hpp>

#include <cstdint>

#include "planning/cost_model.h"

namespace poplin::plan {

using pando::ElementType;
using pando::planning::Cost;
using pando::planning::Objective;

// What products are planned for. What no function of the public target gives is that of the machine it is named after.
pando::Machine machine_of(const poplar::Target& target);

// Types by their names.
ElementType element_type_of(const poplar::Type& type);
poplar::Type type_of(ElementType type);

// Cycles of the AMP unit for C[m x n] += A[m x k] * B[k x n], without launch: what the vertex's estimate charges, too.
std::uint64_t amp_cycles(const poplar::Target& target, std::uint64_t m, std::uint64_t n, std::uint64_t k, const poplar::Type& input,
                         const poplar::Type& partials);
// Worker cycles of summing `partials` rows of `elements`.
std::uint64_t sum_cycles(const poplar::Target& target, std::uint64_t partials, std::uint64_t elements, const poplar::Type& partials_type);

}  // namespace poplin::plan
