// An expression as a graph of nodes with types, in which every value that is computed occurs once.
#pragma once

#include <popops/Expr.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/elementwise/elementwise.h"

namespace popops::internal {

// The kernels' name of a device type; throws poplibs_error for types that have none (QUARTER, DOUBLE ...).
pando::kernels::Type kernel_type(const poplar::Type& type);
// What a node's value is computed in: float for half.
pando::kernels::Type register_type(const poplar::Type& type);

inline bool is_floating(const poplar::Type& type) { return type == poplar::FLOAT || type == poplar::HALF; }

enum class NodeKind : std::uint8_t { operand, constant, unary, binary, clamp, select, cast };

struct Node {
  NodeKind kind;
  std::uint8_t op = 0;  // of unary and binary: the enumerator's value
  poplar::Type type;
  std::array<int, 3> arguments = {-1, -1, -1};
  unsigned operand = 0;     // of an operand: which, from 0
  std::uint64_t value = 0;  // of a constant: its bits as the register type
};

// Nodes come after their arguments.
struct Dag {
  std::vector<Node> nodes;
  std::vector<int> results;
  // Which nodes the results need.
  std::vector<bool> needed() const;
};

// Builds the graph of the expressions over operands of the given types. `where` opens the messages of errors. With `optimise`, simplifies,
// folds constants and merges equal nodes.
Dag build_dag(const std::vector<const expr::Expr*>& expressions, const std::vector<poplar::Type>& operands, bool optimise,
              const std::string& where);

// The type that an expression's value has.
poplar::Type type_of(const expr::Expr& expression, const std::vector<poplar::Type>& operands, const std::string& where);

// The operands that an expression mentions, marked.
void mark_operands(const expr::Expr& expression, std::vector<bool>& used, const std::string& where);

}  // namespace popops::internal
