// Writes a recipe's steps out: for every rank, and for every microbatch in the order of a schedule.
#pragma once

#include "schedule/table.h"
#include "transform/distribute/recipe.h"

namespace pando::transform {

struct InstantiateOptions {
  // Sums begin with a copy of their first term: the DistIR reference's way.
  bool copy_first = false;
};

Distributed instantiate(const Program& program, const Recipe& recipe, const Mesh& mesh, const schedule::Table& table, ir::Module out,
                        const InstantiateOptions& options);

}  // namespace pando::transform
