// When each step of a program runs, and what is in memory.
//
// The default clock counts picoseconds. Each device has one stream that computes and one that transfers; a step starts when its streams are
// free and its operands are there. Computing slows down while the device transfers. A send or a collective takes all its devices' links
// from the same moment, and what a unit of the network shares.
//
// Folded, a body that is called again in the same situation (its devices and operands as late to each other as before) is not run again; a
// loop whose trips repeat is shifted by the rest of its trips. Times are integers, so folded and unfolded results are the same bits.
//
// The reference clock is DistIR's simulator: one clock a device, in doubles; what several devices do together makes them wait for each
// other.
//
// Memory follows the order of the program on each device: results are allocated before operands are dropped. It does not depend on times.
#pragma once

#include "simulate/cluster.h"
#include "simulate/program.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pando::simulate {

using Ticks = std::int64_t;
inline constexpr double kTicksPerSecond = 1e12;

struct Event {
  std::uint32_t label = 0;
  std::int32_t device = 0;
  bool transfer = false;
  double start = 0, seconds = 0;
};

// What a transfer takes from a device to another one. Of a collective that leaves its values where they are there is none.
struct Message {
  std::uint32_t label = 0;
  std::int32_t from = 0, to = 0;
  std::int64_t bytes = 0;
  double sent = 0, received = 0;
};

struct DeviceTimes {
  // When its last step ends; how long it computes, and transfers.
  double end = 0, computing = 0, transferring = 0;
  friend bool operator==(const DeviceTimes&, const DeviceTimes&) = default;
};

struct Timeline {
  double seconds = 0;
  std::vector<DeviceTimes> devices;
  // Where they were asked for; messages in the order of the transfers.
  std::vector<Event> events;
  std::vector<Message> messages;
  // Steps that were run one by one, and all that the result stands for.
  std::int64_t steps_run = 0, steps_covered = 0;
};

using KindBytes = std::array<std::int64_t, kMemoryKinds>;

struct DeviceMemory {
  std::int64_t peak = 0;
  // When the peak is first reached, by kind; and the most of each kind.
  KindBytes at_peak{}, most{};
  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

struct ClockOptions {
  bool folded = true;
  // Transfers run beside computing.
  bool overlap = true;
  bool record_events = false;
};

// `cluster`: the slowdowns and what the network's levels share.
Timeline run_clock(const Program& program, const Cluster& cluster, const ClockOptions& options = {});
Timeline run_reference_clock(const Program& program, bool record_events = false);

std::vector<DeviceMemory> measure_memory(const Program& program, bool folded = true);

// For each event that a clock records, in its order: the bytes in use on its device when the step has its results, its operands not
// dropped.
std::vector<std::int64_t> memory_of_events(const Program& program);

// Chrome's and Perfetto's trace: a process for each device, a thread that computes and one that transfers.
std::string chrome_trace(const Program& program, const Timeline& timeline);

}  // namespace pando::simulate
