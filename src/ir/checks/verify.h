// The rules that every module obeys:
//
//   operand-defined     an operand is an input of the op's graph or a result of an earlier op of it
//   output-defined      so are outputs and updated inputs; a final has its input's type
//   types-follow        result types are what the op's row infers from operands and attributes (places: where both are known)
//   order-edge          an edge of the user's order joins two ops of one graph, and points forward in the list
//   graph-cycle         no graph carries itself, directly or through others
//   state-input         variables on chip and inputs of the main graph match one to one, in type too
//   state-row           a remote variable's row exists, and has the buffer's type
//   state-data          data have the shape of the tensor, with the groups in front where there are several; no data: zeros
//   in-place-form       only ops that have one are marked in place
//
// and whatever rules the rows' own type rules have.
#pragma once

#include "ir/module.h"

#include <string>
#include <vector>

namespace pando::ir {

struct Violation {
  std::string rule;
  // The op's line of text, or the graph, or the variable.
  std::string where;
  std::string message;
  // The user's line, where known.
  std::string location;
  // What `where` says, as an id; at most one is valid.
  OpId op = {};
  GraphId graph = {};
  StateId state = {};
};

// Every violation, in program order. Empty: the module is valid.
std::vector<Violation> verify(const Module& module);
// Rejects (popart) a module that is not valid, with all violations in one message.
void check(const Module& module);
std::string to_string(const std::vector<Violation>& violations);

}  // namespace pando::ir
