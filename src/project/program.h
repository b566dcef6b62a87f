// A projected program: one program for each device, and the streams between them.
//
// A device program is a loop over trips. An action of it works on sample t - first in trip t, so that a device can be at work on an old
// sample's end and a new sample's beginning at once. Values live in buffers; a buffer of several copies is a ring. The text is in print.h,
// the rules in check.h, the execution in machine.h.
#pragma once

#include "ir/module.h"
#include "project/policy.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pando::project {

inline constexpr std::int32_t kHost = -1;
inline constexpr std::int64_t kUnbounded = -1;

// A queue with one sender and one receiver.
struct Stream {
  std::string name;
  // Devices, or kHost.
  std::int32_t from = kHost, to = kHost;
  // Of a message; without a place.
  ir::TypeId type;
  std::int64_t bytes = 0;
  // Messages that may wait in it. 0: both ends meet (rendezvous). The host's end never waits.
  std::int64_t capacity = 1;
  // With an end at the host: the host's stream, of which sample i has the slices i * slices ... Here: slice i * slices + slice.
  std::string host;
  std::int64_t slice = 0, slices = 1;
};

// A value of the loop body; a state, which lives from sample to sample; a sum over the samples of a window, which begins with zeros.
enum class BufferKind : std::uint8_t { value, state, sum };

struct Buffer {
  std::string name;
  ir::TypeId type;
  BufferKind kind = BufferKind::value;
  // A ring: sample (or version) n lies in copy n mod copies.
  std::int64_t copies = 1;
  // Of a state: what all copies begin with.
  ir::HostTensor initial;
};

// One copy of a buffer, as trip t sees it: (floor((t - shift) / every) + offset) mod copies.
struct Slot {
  std::uint32_t buffer = 0;
  std::int32_t shift = 0, every = 1, offset = 0;
  // Declared, where a state is read: how much older than the sample's own the version is, in samples (in windows where the policy has
  // some). -1: the version that the sample itself made.
  std::int32_t delay = 0;

  std::int64_t copy(std::int64_t trip, std::int64_t copies) const;
  friend bool operator==(const Slot&, const Slot&) = default;
};

// In which trips an action runs: first <= t < N + end, of N samples; with `every` > 1, in the last of each `every` of those.
struct Guard {
  std::int32_t first = 0, end = 0;
  std::int32_t every = 1;

  bool runs(std::int64_t trip, std::int64_t samples) const {
    return trip >= first && trip < samples + end && (every == 1 || (trip - first) % every == every - 1);
  }
  friend bool operator==(const Guard&, const Guard&) = default;
};

enum class ActionKind : std::uint8_t { compute, send, receive };

struct Action {
  ActionKind kind = ActionKind::compute;
  Guard guard;
  // Of compute: an op of the program's module, whose operands and results are in slots.
  ir::OpId op;
  // Of send and receive.
  std::uint32_t stream = 0;
  // Pieces of the device's slots.
  std::uint32_t operand_begin = 0, operand_count = 0, result_begin = 0, result_count = 0;
};

struct DeviceProgram {
  std::int32_t device = 0;
  std::vector<Buffer> buffers;
  std::vector<Slot> slots;
  // Once, at the beginning; in every trip; after each window of a policy that drains them.
  std::vector<Action> before, loop, update;

  std::span<const Slot> operands(const Action& a) const { return {slots.data() + a.operand_begin, a.operand_count}; }
  std::span<const Slot> results(const Action& a) const { return {slots.data() + a.result_begin, a.result_count}; }
};

struct ProjectedProgram {
  Policy policy;
  // Trips beyond the samples: N + drain in all (in each window, where the policy drains them).
  std::int64_t drain = 0;
  std::vector<Stream> streams;
  // By ascending device.
  std::vector<DeviceProgram> devices;
  // Types, the ops of actions and the graphs that they carry.
  std::shared_ptr<const ir::Module> module;
};

// "device 1", "the host".
std::string device_name(std::int32_t device);
// What an action is known by: its first result, or what it sends.
const std::string& name_of(const DeviceProgram& device, const Action& action);

}  // namespace pando::project
