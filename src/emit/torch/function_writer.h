// Ops as lines of a Python function.
#pragma once

#include "emit/torch/placed.h"
#include "emit/torch/program_text.h"
#include "emit/torch/python_text.h"
#include "emit/torch/torch_row.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pando::emit {

// What the functions of one program share: names, constants, streams, functions of the graphs that ops carry.
class ProgramWriter {
 public:
  // `canonical`: names are numbers, and there are no labels: programs that do the same have the same text then.
  ProgramWriter(const ir::Module& module, std::int32_t device, bool canonical);

  const ir::Module& module() const { return m_; }
  ProgramText& text() { return text_; }
  bool canonical() const { return canonical_; }
  const NameSet& reserved() const { return reserved_; }
  // By value: its place in the list of the function that was begun last with it.
  std::vector<std::uint32_t>& places() { return value_places_; }

  // A name without the number of this device: "x.1.m0" is "x.m0" on device 1.
  std::string plain(const std::string& name) const;
  // What a value that a constant makes is called.
  std::string constant(ir::OpId op);
  std::string constant_of(const ir::HostTensor& data, const std::string& name);
  std::string load(ir::HostStreamId stream, const std::string& name);
  std::string load_named(const std::string& name, ir::DType dtype, const ir::Shape& shape);
  // `wanted`: what the program calls it.
  std::string store(const std::string& name, const std::string& wanted);
  std::size_t buffer(ir::BufferId buffer);
  std::size_t peer(std::int32_t device);
  std::size_t group(const std::vector<std::int32_t>& devices);
  std::string variable(const std::string& name, ir::TypeId type, const ir::HostTensor& data);
  // For each output of a graph, then each final: the inputs whose memory it may have.
  const std::vector<std::vector<std::size_t>>& shared_inputs(ir::GraphId graph);
  // The function of a graph, which gives its outputs and what some of its inputs have become.
  std::string function(ir::GraphId graph, const ir::Ints& modified);

  // Lines of one op on values of those names. Targets: one for each result; "_" where nobody reads it.
  void write(ir::OpId op, std::span<const std::string> operands, std::span<const std::string> targets, bool in_place, std::string& out,
             int indent, const std::string& function);
  void line(std::string& out, int indent, std::string_view left, std::string_view right, const std::string& function,
            std::string_view label);

 private:
  std::string local(std::string_view name, NameSet& taken, const char* prefix);
  void control(ir::OpId op, std::span<const std::string> operands, std::span<const std::string> targets, std::string& out, int indent,
               const std::string& function);
  void repeat(ir::OpId op, std::span<const std::string> operands, std::span<const std::string> targets, std::string& out, int indent,
              const std::string& function);

  const ir::Module& m_;
  std::int32_t device_;
  bool canonical_;
  ProgramText text_;
  std::vector<std::uint32_t> value_places_;
  NameSet reserved_, variables_taken_, streams_taken_, outputs_taken_, constants_taken_;
  std::vector<std::string> function_names_;
  std::map<std::pair<std::uint32_t, ir::Ints>, std::string> functions_;
  std::map<std::uint32_t, std::vector<std::vector<std::size_t>>> shared_;
  std::map<std::uint32_t, std::string> constants_;  // by blob
  std::multimap<std::uint64_t, std::size_t> constants_by_checksum_;
  std::map<std::string, std::string> loads_, stores_;
  std::map<std::uint32_t, std::size_t> buffers_;
  std::map<std::int32_t, std::size_t> peers_;
  std::map<std::vector<std::int32_t>, std::size_t> groups_;
};

// One function: names of its values, what may be overwritten, what can be dropped.
class FunctionWriter {
 public:
  // `keep`: values that live until the end.
  FunctionWriter(ProgramWriter& program, std::string name, std::span<const DeviceStep> steps, std::span<const ir::ValueId> keep);

  // Names a value that is there before the first step. `overwritable`: nobody else has its memory.
  void give(ir::ValueId v, std::string text, bool overwritable, bool is_local);
  // What a value that a step makes is called, instead of its own name.
  void name(ir::ValueId v, std::string text);
  const std::string& text_of(ir::ValueId v) const;
  // The first step that makes a value; past the end: none. The last that reads it.
  std::uint32_t made_at(ir::ValueId v) const;
  std::uint32_t last_read(ir::ValueId v) const;
  // Values with the same number may share memory.
  std::uint32_t root(ir::ValueId v) { return root_of(place_of(v)); }
  // Whether it may lie in memory that is somebody else's: a constant's, a stream's, another variable's.
  bool is_foreign(ir::ValueId v) { return known_[root_of(place_of(v))].is_foreign; }
  // Gives a value a name even where no step reads it.
  void want(ir::ValueId v) { of(v).is_wanted = true; }

  using Transfer = std::function<void(const DeviceStep& step, std::string& out)>;
  // All steps; `transfer` writes those that are not local, `behind` comes after each step.
  void write(std::string& out, int indent, const Transfer& transfer, const std::function<void(std::uint32_t, std::string&)>& behind = {});

  std::string new_local(std::string_view wanted);
  // The names of a step's results, which exist from here on.
  std::vector<std::string> targets(const DeviceStep& step, std::uint32_t at);
  // Whether a step may put its result where its first operand lies.
  bool may_overwrite(const DeviceStep& step, std::uint32_t at);
  const std::string& function() const { return name_; }
  std::uint32_t at() const { return at_; }
  void lock(ir::ValueId v) { known_[root_of(place_of(v))].is_locked = true; }

 private:
  void find_shared(const DeviceStep& step);
  void find_uses(std::span<const ir::ValueId> keep);
  void unite(ir::ValueId with, ir::ValueId of);
  void drop(std::uint32_t at, std::string& out, int indent);

  // What is known of a value of this function. Values that share memory form a class: `parent` leads to its root, which has the rest.
  struct Known {
    ir::ValueId value;
    std::uint32_t last, made, parent;
    // The last read of all that share it.
    std::uint32_t class_last = 0;
    bool is_local = false, is_owned = false, is_wanted = false, has_given = false, has_last = false;
    // Of a root: nobody may overwrite it; it is somebody else's memory.
    bool is_locked = false, is_foreign = false;
    std::string name, given;
  };
  std::uint32_t place_of(ir::ValueId v);
  Known& of(ir::ValueId v) { return known_[place_of(v)]; }
  const Known* find(ir::ValueId v) const;
  std::uint32_t root_of(std::uint32_t place);

  ProgramWriter& program_;
  const ir::Module& m_;
  std::string name_;
  std::span<const DeviceStep> steps_;
  std::vector<Known> known_;
  std::vector<std::vector<ir::ValueId>> dropped_at_;
  NameSet taken_;
  std::uint32_t at_ = 0, numbers_ = 0;
};

// The main graph's part on one device.
ProgramText write_device(const Placed& placed, std::int32_t device);
// How many blocks of each of its streams the device's part loads in a step.
void count_loads(const ir::Module& module, const DeviceSteps& device, ProgramText& text);

}  // namespace pando::emit
