// What a graph's lowering has to know beforehand: which ops are needed, how often values are read, which ops become parts of others.
#pragma once

#include "ir/module.h"
#include "ir/shared/kept_values.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace pando::lower {

// Of one graph in one context.
struct GraphPlan {
  // Ops whose results somebody reads or that have effects, in order.
  std::vector<ir::OpId> ops;
  // Element-wise ops that are computed as part of the one op that reads them.
  std::unordered_map<std::uint32_t, ir::OpId> fused_into;
};

class Analysis {
 public:
  Analysis(const ir::Module& module, bool fuse);

  // Of the main graph: only ops of the context. Sets the number of reads of the graph's values.
  GraphPlan plan(ir::GraphId graph, ir::Context context);
  // How often a value is still to be read; outputs and updated inputs count as one.
  std::uint32_t& uses(ir::ValueId v) { return uses_[v]; }
  // Who reads a value, in any context.
  const std::vector<std::pair<ir::OpId, std::uint32_t>>& users(ir::ValueId v) const { return users_[v]; }
  // How many ops carry a graph.
  std::uint32_t sites(ir::GraphId g) const { return sites_[g]; }
  // The first of them that is a call; invalid if none is.
  ir::OpId first_call(ir::GraphId g) const { return first_call_[g]; }
  // Whether its code is loaded by an op.
  bool code_loaded(ir::GraphId g) const { return code_loaded_[g] != 0; }
  // Whether it is lowered once, for several calls; others are lowered where they are called.
  bool is_function(ir::GraphId g) const { return sites(g) > 1 || code_loaded(g); }
  bool has_effects(ir::OpId op) const;
  ir::ValueId resolved(ir::ValueId v, ir::Context context) const { return ir::version_in(module_, v, context); }
  // What programs leave for each other.
  const std::vector<ir::KeptValue>& kept() const { return kept_; }

 private:
  void fuse(GraphPlan& plan);
  std::optional<ir::OpId> fusible_reader(ir::OpId op, const std::unordered_map<std::uint32_t, std::uint32_t>& leaves,
                                         const GraphPlan& plan) const;

  const ir::Module& module_;
  bool fuse_;
  std::vector<ir::KeptValue> kept_;
  DenseMap<ir::ValueId, std::uint32_t> uses_;
  DenseMap<ir::ValueId, std::vector<std::pair<ir::OpId, std::uint32_t>>> users_;
  DenseMap<ir::GraphId, std::uint32_t> sites_;
  DenseMap<ir::GraphId, ir::OpId> first_call_;
  DenseMap<ir::GraphId, char> code_loaded_, effects_;
};

}  // namespace pando::lower
