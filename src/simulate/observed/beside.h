// Measured times beside predicted ones: the trace of a program that `pando emit` has written, or any Chrome trace under the simulator's
// names.
#pragma once

#include "simulate/simulate.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pando::simulate {

struct MeasuredEvent {
  std::string name;
  std::int32_t device = 0;
  bool transfer = false;
  // From the beginning of the step.
  double start = 0, seconds = 0;
};

// Events of ph "X": pid is the device, tid 1 its transfers, ts and dur are microseconds. Rejects (value) what is no such trace.
std::vector<MeasuredEvent> read_trace(std::string_view text, const std::string& file);

// By op, the sums over all devices, and by device from its first event to the end of its last. The timeline has its events.
std::string compare(const Program& program, const Timeline& predicted, const std::vector<MeasuredEvent>& measured);

// Both as one trace: device d measured is process 1000 + d.
std::string chrome_trace(const Program& program, const Timeline& predicted, const std::vector<MeasuredEvent>& measured);
inline constexpr std::int32_t kMeasuredProcess = 1000;

}  // namespace pando::simulate
