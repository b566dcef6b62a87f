// Called graphs: lowered where they are called, or once as functions.
#pragma once

#include "lower/row.h"
#include "lower/target/cursor.h"

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <map>
#include <set>
#include <span>
#include <vector>

namespace pando::lower {

struct Parts;

class Functions {
 public:
  explicit Functions(Parts& parts) : parts_(parts) {}
  struct Function {
    poplar::Function function;
    std::vector<poplar::Tensor> inputs;
    poplar::FunctionBuffer buffer;
    bool has_buffer = false;
    Frame frame;
  };
  // Of a graph that is_function; lowers it at the first time.
  Function& function(ir::GraphId g);
  // Brings values out of storage that running these graphs overwrites.
  void before_running(std::span<const ir::GraphId> graphs);
  // Runs a graph once on slots: where it is called, or as a function. Afterwards its outputs and updated inputs have slots, until
  // end_graph.
  void run_graph(ir::GraphId g, std::vector<Slot> inputs);
  // The slot of `from`; where the place of `to`, which it becomes, is another one: a copy of it there.
  Slot brought(ir::ValueId from, ir::ValueId to, Slot slot);
  // What an op gives a graph as input i.
  Slot given(ir::GraphId g, std::size_t i, ir::ValueId operand, Slot slot);
  void end_graph(ir::GraphId g);

 private:
  void lower_body(ir::GraphId g, Function& f);
  poplar::Tensor operand_of_first_call(ir::GraphId g, std::size_t input);
  void collect_reachable(ir::GraphId g, std::set<ir::GraphId>& seen) const;
  std::set<ir::GraphId> reachable(std::span<const ir::GraphId> graphs) const;

  Parts& parts_;
  std::map<ir::GraphId, Function> functions_;
  std::set<ir::GraphId> being_lowered_;
};

}  // namespace pando::lower
