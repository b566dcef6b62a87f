// A placed module in the form that is written: every op on one device or a collective, messages between devices as sends, tuples resolved.
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pando::emit {

enum class StepKind : std::uint8_t { local, send, receive, collective };

// What one device does of an op of the main graph.
struct DeviceStep {
  ir::OpId op;
  StepKind kind = StepKind::local;
  // Of the device, tensors all.
  std::vector<ir::ValueId> reads, writes;
};

struct DeviceSteps {
  std::vector<DeviceStep> steps;
  // Inputs of the main graph by number, that lie here.
  std::vector<std::uint32_t> inputs;
  struct Output {
    // Empty: another device gives it, whose program this one shares.
    std::string name;
    // What the program calls it.
    std::string local;
    ir::ValueId value;
  };
  std::vector<Output> outputs;
};

struct Placed {
  ir::Module module;
  std::map<std::int32_t, DeviceSteps> devices;
  // Of a collective, in the order of members: each one's operand and result (invalid: none).
  struct Members {
    std::vector<std::int32_t> devices;
    std::vector<ir::ValueId> operands, results;
    // Of broadcasts, scatters, gathers, reductions to one: which member has it all. Members from `parts` on have no part.
    std::size_t root = 0, parts = 0;
  };
  std::map<std::uint32_t, Members> collectives;
  // What a final or an operand is once tuples are resolved.
  std::map<std::uint32_t, ir::ValueId> instead;

  ir::ValueId now(ir::ValueId v) const {
    const auto it = instead.find(v.value);
    return it == instead.end() ? v : it->second;
  }
};

// What `pando transform` prints, or any module whose values lie on numbered devices or on none: what is not said follows, as in
// transform/devices/complete_places.h. Ops without a row are written in terms of others.
//
// Rejects: what the verifiers find; (not_implemented) ops that are not known, all at once with their numbers; replicas that meet; ops of
// programs other than the main one; a buffer of several devices.
Placed place(ir::Module module);

// Devices that do the same have the same outputs from here on, in name where another one gives them: so they share a program.
class KeyTables;
void share_outputs(Placed& placed, KeyTables& tables);

// Rejects (not_implemented) ops that are not known, all at once with their numbers.
void check_torch_ops(const ir::Module& module);

}  // namespace pando::emit
