// What is known of values while loops are written out: counters are numbers, and stacks are the rows that were put into them. So what one
// trip keeps for a later one goes there as a value of its own, and the stack goes. Sums that begin with zeros begin with their first term.
#pragma once

#include "ir/op_row.h"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace pando::transform {

class LoopFacts {
 public:
  LoopFacts(ir::Module& module, ir::GraphId graph) : m_(module), graph_(graph) {}

  // The value that the op's only result is, if it is there already or is a fixed slice.
  std::optional<ir::ValueId> instead(const ir::OpRow& op, const ir::Attributes& attributes, const std::vector<ir::ValueId>& operands);
  // An op was written.
  void note(ir::OpId op);

 private:
  std::optional<std::int64_t> number(ir::ValueId v) const;
  // Of a scalar that is computed from known integers: what its op makes of them.
  std::optional<std::int64_t> computed(ir::OpId op) const;

  ir::Module& m_;
  ir::GraphId graph_;
  // By value: an integer; rows that were put in (none: still zeros); what it is a reshape of; zeros.
  std::unordered_map<std::uint32_t, std::int64_t> numbers_;
  std::unordered_map<std::uint32_t, std::vector<ir::ValueId>> rows_;
  std::unordered_map<std::uint32_t, ir::ValueId> reshaped_;
  std::unordered_set<std::uint32_t> zeros_;
};

}  // namespace pando::transform
