// On the CPU device, whose one tile holds everything: values that are computed where they will be copied to.
#pragma once

#include "lower/analysis.h"
#include "lower/decisions.h"
#include "lower/parts/layouts.h"
#include "lower/parts/storages.h"

#include <map>

namespace pando::lower {

class Destinations {
 public:
  // `chooses`: whether there are any; others are invalid tensors, false and no change.
  Destinations(const ir::Module& module, Analysis& analysis, Storages& storages, Layouts& layouts, Decisions& decisions, bool chooses)
      : module_(module), analysis_(analysis), storages_(storages), layouts_(layouts), decisions_(decisions), chooses_(chooses) {}
  bool chooses() const { return chooses_; }
  // Where a value that is yet to be computed will be copied: who computes it may write there. Invalid if nothing is known.
  poplar::Tensor of(ir::ValueId v) const;
  // Of outputs of a graph that is lowered where it is called, if all that the caller does with them is to make them a variable's new
  // contents.
  void find(ir::OpId call, ir::GraphId graph);
  // Whether a concatenation becomes a tensor of its own, which its parts are written to: several products read it.
  bool is_put_together(ir::OpId concat) const;
  // That tensor. Made for the first part.
  poplar::Tensor whole_of(ir::OpId concat);
  // The part of it that a value will be, seen through the views between them. Invalid if the value becomes no such part.
  poplar::Tensor place_in_whole(ir::ValueId v, int depth = 0);

 private:
  const ir::Module& module_;
  Analysis& analysis_;
  Storages& storages_;
  Layouts& layouts_;
  Decisions& decisions_;
  bool chooses_;
  std::map<ir::ValueId, poplar::Tensor> destinations_;
  std::map<ir::OpId, poplar::Tensor> wholes_;
};

}  // namespace pando::lower
