// What each value of a module is in memory for, from who makes it and who reads it:
//
//     weights       state that ops other than updates read
//     optimizer     state that only updates read, and what it becomes
//     gradients     what an update consumes, back to where it is made (through sums, copies, collectives)
//     activations   made on the way forward, read again on the way back
//     buffers       data of the program's inputs, and what came from another device
//     workspace     all else
//
// The way back begins at ops whose names end in _grad and takes all that depends on them. Updates are ops that modify an operand, and
// arithmetic that leads to nothing but new versions of state.
#pragma once

#include "ir/module.h"
#include "simulate/program.h"

#include <vector>

namespace pando::simulate {

class MemoryKinds {
 public:
  explicit MemoryKinds(const ir::Module& module);
  // Finds the kinds of a graph's values, once.
  void enter(ir::GraphId g);
  // The kinds of operands become those of a graph's inputs, the first time that it is called.
  void pass_to(ir::GraphId callee, std::span<const ir::ValueId> operands);
  MemoryKind of(ir::ValueId v) const { return static_cast<MemoryKind>(kinds_[v.index()]); }

 private:
  struct OpFacts {
    bool known = false, gradient = false, update = false, carries = false, transfer = false, arithmetic = false;
  };
  const OpFacts& facts(ir::OpId o);
  void find_backward(const ir::Graph& g);
  void find_updates(const ir::Graph& g);
  void find_gradients(const ir::Graph& g);
  void find_inputs(const ir::Graph& g);

  const ir::Module& m_;
  std::vector<OpFacts> by_kind_;
  std::vector<std::uint8_t> kinds_;
  // By op: arithmetic of an update. By value: what such arithmetic makes of state.
  std::vector<bool> updates_, of_state_;
  std::vector<bool> backward_, consumed_by_update_, given_kind_, entered_;
};

}  // namespace pando::simulate
