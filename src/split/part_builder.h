// Writes the module of one device from pieces of a program of several.
#pragma once

#include "split/program.h"

#include <span>
#include <string>
#include <unordered_map>

namespace pando::split {

class PartBuilder {
 public:
  PartBuilder(const ir::Module& from, std::int32_t device);

  ir::Module& module() { return part_.module; }
  // What a value of the whole program is here. It must be known.
  ir::ValueId value(ir::ValueId from) const;
  void map(ir::ValueId from, ir::ValueId to) { values_[from] = to; }
  // A new input of the main graph that is a variable.
  ir::ValueId add_variable(const std::string& name, const ir::Type& type, ir::HostTensor data);
  // A variable of the whole program that is input `input` of its main graph.
  void copy_variable(ir::StateId state);
  // A variable that lies off chip.
  void copy_remote(ir::StateId state);
  // An op of the whole program on values of this graph, with the graphs that it carries; its results take the operation's names.
  ir::OpId copy(ir::OpId op, ir::GraphId graph, std::span<const ir::ValueId> operands);
  // The same, on operands that are known, in the main graph.
  ir::OpId copy(ir::OpId op);
  // The type as it is on this device.
  ir::TypeId type(ir::TypeId from);

  ir::HostStreamId add_stream(const std::string& name, ir::TypeId type, bool to_device);
  void store(ir::GraphId graph, ir::HostStreamId stream, ir::ValueId value);
  ir::ValueId load(ir::GraphId graph, ir::HostStreamId stream, const std::string& name);
  // The variable that holds the slots of a channel, where it has some.
  void add_slots(const exec::Channel& channel);

  // Remote buffers that ops of the part use.
  const std::vector<bool>& uses_buffer() const { return uses_buffer_; }
  Part take() { return std::move(part_); }
  Part& part() { return part_; }

 private:
  ir::GraphId graph(ir::GraphId from);

  const ir::Module& from_;
  Part part_;
  std::unordered_map<ir::ValueId, ir::ValueId> values_;
  std::unordered_map<ir::GraphId, ir::GraphId> graphs_;
  std::vector<bool> uses_buffer_;
};

}  // namespace pando::split
