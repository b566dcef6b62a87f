// How every value of a program lies on the axes of a mesh: the plan by which parallelise() writes.
#pragma once

#include "ir/module.h"
#include "transform/distribute/layout/program.h"
#include "transform/distribute/layout/spec.h"
#include "transform/distribute/layout/strategy.h"

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pando::transform {

// When an op runs: once before the microbatches, in each of them, once behind them.
enum class When : std::uint8_t { before, each, behind };

// An op without a rule for its dimensions, which gets operands whole that lie in parts on an axis.
struct WholeOp {
  ir::OpId op;
  Axis axis = kData;
  std::string_view reason;
};

struct Layout {
  std::array<std::int64_t, kAxes> sizes{1, 1, 1, 1, 1};
  // By value: as its op leaves it, and once sums have been made.
  std::vector<Specs> raw, resolved;
  // By operand (Op::operand_begin + i): what the op takes.
  std::vector<Specs> demand;
  // Of the main graph's outputs and updated inputs.
  std::vector<Specs> output, final;
  std::vector<When> when;  // by op
  // By value: a state of the optimizer or a weight that is kept in parts over the data axis and gathered for use.
  std::vector<bool> stored_in_parts;
  // By input: the weight that a state of the optimizer belongs to (or itself); none: no one's.
  std::vector<ir::ValueId> weight_of;
  // By op that runs behind: the weight that it updates; none: no one's.
  std::vector<ir::ValueId> weight_of_op;
  std::vector<WholeOp> whole;
  // By op of the backward pass: the forward op whose derivative it is (derivatives.h); none: it is nobody's.
  std::vector<ir::OpId> derivative_of;
};

class LayoutMemo;

std::string_view name_of(Axis axis);

// Rejects (value) what parallelise() says.
Layout lay_out(const Program& program, const Strategy& strategy);
// `memo`: of the program, from call to call (layout_memo.h).
Layout lay_out(const Program& program, const Strategy& strategy, LayoutMemo& memo);

// All that lay_out() looks at of a strategy: those with equal keys have one layout.
struct LayoutKey {
  std::array<std::int64_t, kAxes> sizes{};
  std::int32_t zero = 0;
  bool sequence_parallel = false, join_outputs = false;
  std::map<std::string, std::int32_t> cut;
  friend auto operator<=>(const LayoutKey&, const LayoutKey&) = default;
};
LayoutKey layout_key_of(const Strategy& strategy);

// The shape of one device's (and microbatch's) part. Rejects (value) parts that are not equal.
ir::Shape local_shape(const ir::Shape& whole, const Specs& specs, const std::array<std::int64_t, kAxes>& sizes, std::string_view name);

}  // namespace pando::transform
