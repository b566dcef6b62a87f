// What lowering has done, as lines of its decisions.
#pragma once

#include "lower/analysis.h"
#include "lower/decisions.h"
#include "lower/parts/pass.h"
#include "lower/parts/storages.h"

#include <span>
#include <string>
#include <vector>

namespace pando::lower {

class Telling {
 public:
  Telling(const ir::Module& module, const poplar::Graph& graph, const Storages& storages, Decisions& decisions)
      : module_(module), graph_(graph), storages_(storages), decisions_(decisions) {}
  void variable(ir::ValueId v);
  void op(ir::OpId op);
  void pass(const Pass& pass, const GraphPlan& plan);

 private:
  std::string where_lies(ir::ValueId v, std::span<const ir::ValueId> candidates, bool is_view) const;
  std::vector<ir::OpId> with_fused(ir::OpId op, const GraphPlan& plan) const;
  std::string name_of(ir::ValueId v) const { return module_.name_of(v); }

  const ir::Module& module_;
  const poplar::Graph& graph_;
  const Storages& storages_;
  Decisions& decisions_;
};

// Its row's name, as the program has written it.
std::string text_of(const ir::Module& module, ir::OpId op);

}  // namespace pando::lower
