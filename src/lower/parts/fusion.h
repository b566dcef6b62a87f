// A graph's ops, one after the other: element-wise ones are trees of expressions, computed in one pass where the last of them stands, and
// those of one shape that follow each other and share operands are one pass (passes.cpp). A product waits for the ones that read it, to be
// computed with them (epilogues.cpp).
#pragma once

#include "lower/analysis.h"
#include "lower/parts/pass.h"

#include <optional>
#include <string>
#include <vector>

namespace pando::lower {

struct Parts;

class Fusion {
 public:
  // `fuse`, `epilogues`: the switches of the session.
  Fusion(Parts& parts, bool fuse, bool epilogues) : parts_(parts), fuse_(fuse), epilogues_(epilogues) {}
  // Lowers a graph's ops into the current program; its inputs must have slots.
  void lower_ops(ir::GraphId graph);

 private:
  void lower_op(ir::OpId op);
  void lower_plainly(ir::OpId op);
  void lower_elementwise(ir::OpId op);
  // An op that waits for the element-wise ops after it, to be computed with them.
  bool waits_for_epilogue(ir::OpId op) const;
  bool may_come_first(ir::OpId op, ir::ValueId v) const;
  bool reads_in_whole(ir::OpId reader, ir::ValueId v) const;
  bool finish(ir::OpId op, const Pass& pass);
  bool join(Pass& pass, ir::OpId op);
  bool may_join(const Pass& pass, ir::OpId op) const;
  bool add_expression(Pass& pass, ir::OpId op);
  void add_formula(Pass& pass, ir::OpId op);
  Any expression_of(ir::ValueId v, ir::OpId reader, Pass& pass);
  Any expression_of(ir::OpId op, Pass& pass);
  void count_reads(ir::OpId op, const Pass& pass);
  void compute(const Pass& pass);
  // Where the results of a pass lie; no tensor: in a new one. `taken` gets the leaves that are overwritten.
  std::vector<Slot> homes_of(const Pass& pass, const std::vector<const Pass::Member*>& results, bool one_place, std::vector<bool>& taken);
  std::optional<std::size_t> overwritten_leaf(const Pass& pass, const Pass::Member& member, const std::vector<bool>& taken);
  void turn_alike(poplar::Graph& graph, std::vector<poplar::Tensor>& operands, const std::vector<bool>& written, const std::string& name);
  void keep_value(ir::OpId op, const std::vector<Leaf>& leaves, std::size_t leaf, bool new_version);

  Parts& parts_;
  bool fuse_, epilogues_;
  GraphPlan plan_;
  // Where in plan_.ops.
  std::size_t at_ = 0;
  ir::OpId waiting_;
};

}  // namespace pando::lower
