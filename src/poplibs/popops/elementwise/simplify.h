// The table of an expression's nodes: what goes in is simplified.
#pragma once

#include <map>
#include <tuple>

#include "dag.h"

namespace popops::internal {

// The bits that a constant has as `type`'s register type: half constants are rounded to half. Integers wrap around.
std::uint64_t constant_bits(const poplar::Type& type, double value);
std::uint64_t constant_bits(const poplar::Type& type, std::uint64_t integer, bool is_signed);

// With `optimise`, add() folds functions of constants, with the kernels' own results; finds a node that computes the same; and rewrites:
//   x * 1, x / 1, x - 0, x + -0.0, pow(x, 1)      -> x       (also x + 0 for integers)
//   x / 2^n                                       -> x * 2^-n for floating types
//   pow(x, 2), pow(x, -1), pow(x, 0.5), pow(x, -0.5) -> square, inverse, sqrt, rsqrt (the roots differ for minus infinity)
//   --x, !!x, ~~x, ||x||, a cast to the same type -> x, x, x, |x|, x
//   x + -y, x - -y                                -> x - y, x + y
//   select(a, b, constant), select(a, a, c)       -> the one that is selected
class NodeTable {
 public:
  explicit NodeTable(bool optimise) : optimise_(optimise) {}
  int add(const Node& node);
  std::vector<Node> take() { return std::move(nodes_); }

 private:
  const Node& argument(const Node& n, unsigned i) const { return nodes_[static_cast<std::size_t>(n.arguments[i])]; }
  bool is_constant(int node, double value) const;
  bool is_constant(int node) const { return nodes_[static_cast<std::size_t>(node)].kind == NodeKind::constant; }
  std::optional<int> rewritten(const Node& node);
  std::optional<int> rewritten_unary(const Node& node);
  std::optional<int> rewritten_binary(const Node& node);
  std::optional<int> rewritten_power(const Node& node);
  std::optional<std::uint64_t> folded(const Node& node) const;

  bool optimise_;
  std::vector<Node> nodes_;
  std::map<std::tuple<NodeKind, unsigned, poplar::Type, std::array<int, 3>, unsigned, std::uint64_t>, int> known_;
};

}  // namespace popops::internal
