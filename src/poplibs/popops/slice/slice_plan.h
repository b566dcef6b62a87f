// What a SlicePlan holds.
#pragma once

#include <memory>
#include <popops/DynamicSlice.hpp>

#include "poplibs/popops/slice/table.h"

namespace popops {

class SlicePlanInternal {
 public:
  bool made = false;  // by embedding::plan
  poplar::Type type;
  std::size_t groups = 1;
  internal::SliceProblem problem;
  internal::Partition partition;
};

namespace internal {

struct SliceOptions {
  bool used_for_slice = true;
  bool used_for_update = true;
  bool remap = false;
  bool validate = false;
  bool host = false;
  double memory = 0.6;
};
SliceOptions parse_slice_options(const poplar::OptionFlags& options);

SliceProblem problem_of(const poplar::Graph& graph, const poplar::Type& type, std::size_t rows, std::size_t columns, std::size_t lookups);

// The plan's grid for a table of rows x columns, or nothing if the plan is not for such a table.
std::unique_ptr<Grid> grid_of(const SlicePlan& plan, std::size_t rows, std::size_t columns);

}  // namespace internal
}  // namespace popops
