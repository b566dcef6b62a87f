// Searches along rows.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include "poplibs/popnn/rows/row_plan.h"

namespace popnn::internal {

struct Selected {
  poplar::Tensor values;   // {rows, k}, the type of the matrix
  poplar::Tensor indices;  // {rows, k} UNSIGNED_INT
};

// The two compute sets of work on rows that may be in pieces; the second is for merging the pieces, and empty if rows are whole.
struct RowSets {
  poplar::ComputeSet first;
  poplar::ComputeSet merge;
};
RowSets add_row_sets(poplar::Graph& graph, const poplar::DebugContext& debug);
void execute(const RowSets& sets, const RowPlan& plan, poplar::program::Sequence& prog);

// Vertices for the greatest (or least) element of each row, k = 1.
Selected add_extreme(poplar::Graph& graph, const poplar::Tensor& matrix, const RowPlan& plan, bool least, const RowSets& sets,
                     const poplar::DebugContext& debug);

// Throws poplibs_error unless the matrix has two dimensions, a type that can be searched, and at least one column.
void check_searchable(const poplar::Tensor& matrix, const std::string& function);

}  // namespace popnn::internal
