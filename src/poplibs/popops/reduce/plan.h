// Which vertices a reduction consists of: pure arithmetic on intervals, without a graph.
//
//   stage 0      every tile reduces what it holds. Outputs that one item of work has all elements of are done.
//   stage 1 ..   the partial results of the others, and input elements with which stage 0 had nothing to do, are collected: each stage
//                divides the number of parts of an output by about its square root, until one stage can take the rest.
#pragma once

#include "poplibs/popops/reduce/work_items.h"

namespace popops::internal {

struct PlanOptions {
  unsigned tiles = 1;
  unsigned vertices_per_tile = 1;
  // May elements of the input stand beside partial results (same type, same operation)?
  bool input_is_partial = true;
  // Switch: may a vertex read columns of rows that lie in one region? Then all workers of a tile share its rows, and none makes partial
  // results.
  bool columns = true;
  // Do vertices that write outputs of the reduction scale or update them? These read regions.
  bool finishes = false;
  // Switch: false collects all parts of an output in one stage.
  bool tree = true;
  // Where the first vertex that collects is; the others follow, round the tiles. Many small reductions begin on different tiles.
  unsigned first_tile = 0;
};

// A vertex: its items' results lie side by side in its output. `last`: these are outputs of the reduction, else partial results.
struct Work {
  unsigned tile;
  bool last;
  WorkItems items;
};

struct Stage {
  std::vector<Work> works;
  std::size_t partials = 0;  // elements that it writes of the next space
};

struct ReductionPlan {
  std::vector<Stage> stages;
};

// `on_tile[t]`: the input positions on tile t. Every output has an element.
ReductionPlan plan_reduction(const ViewDims& dims, const std::vector<std::vector<poplar::Interval>>& on_tile, const PlanOptions& options);

}  // namespace popops::internal
