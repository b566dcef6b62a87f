// What a device does in a step of a run, for the run's report (pando run --profile).
#pragma once

#include <pando/steps.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace pando::ranks {

// A step of the compiled program, as it was executed. Host times: nanoseconds of the system's clock, which the hosts of a cluster share.
struct DoneStep {
  std::uint32_t name = 0, kind = 0;  // in DeviceTimeline::texts
  std::uint32_t order = 0, stream = 0;
  std::uint64_t cycles = 0;
  std::int64_t host_begin = 0, host_end = 0;
};
// A message that went through one end of a channel, during the step `step` (in DeviceTimeline::steps).
struct DoneMessage {
  std::uint32_t channel = 0, step = 0;
  std::uint64_t number = 0;  // in the step of the run, of this channel
  bool sends = false;
  std::int64_t host_begin = 0, host_end = 0;
};
// Of a step of a stream: bytes in use over all tiles.
struct UsedMemory {
  std::uint32_t stream = 0, order = 0;
  std::uint64_t bytes = 0;
};
struct DeviceTimeline {
  std::int32_t device = 0;
  std::uint32_t rank = 0;
  std::vector<std::string> texts;
  std::vector<DoneStep> steps;  // of a stream in their order
  std::vector<DoneMessage> messages;
  std::uint64_t steps_lost = 0;  // later ones that there is no room for
  std::uint64_t always_live = 0;
  std::vector<UsedMemory> used;
  std::vector<std::pair<std::string, std::uint64_t>> memory;  // bytes by category
  double clock_hz = 0, bytes_limit = 0;
};
template <class A>
void fields(A& a, DoneStep& s) {
  a(s.name, s.kind, s.order, s.stream, s.cycles, s.host_begin, s.host_end);
}
template <class A>
void fields(A& a, DoneMessage& m) {
  a(m.channel, m.step, m.number, m.sends, m.host_begin, m.host_end);
}
template <class A>
void fields(A& a, UsedMemory& u) {
  a(u.stream, u.order, u.bytes);
}
template <class A>
void fields(A& a, DeviceTimeline& t) {
  a(t.device, t.rank, t.texts, t.steps, t.messages, t.steps_lost, t.always_live, t.used, t.memory, t.clock_hz, t.bytes_limit);
}

// Keeps the first step of the run, with the host's times of the last one if it executed the same steps: by then everything is warm.
class Recorder {
 public:
  // `most`: steps of the program that there is room for.
  explicit Recorder(std::size_t most) : most_(most) {}

  // Of the run: a step begins; all steps have ended. Before the first step nothing is kept.
  void begin();
  void end();
  // From the threads of the run.
  void done(const StepDone& step);
  void message(std::uint32_t channel, bool sends, std::int64_t host_begin);
  // What it has kept.
  DeviceTimeline take();
  // Bytes in use, categories and the clock, of the device's own report. A file that is not there (out of memory, another rank's) adds
  // nothing.
  static void add_memory(DeviceTimeline& timeline, const std::string& report_file);

  static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  }

 private:
  std::uint32_t text(std::string_view what);
  void keep();

  const std::size_t most_;
  std::mutex mutex_;
  bool running_ = false;
  DeviceTimeline first_, now_;
  bool has_first_ = false;
  std::vector<std::string> texts_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::map<std::uint32_t, std::uint64_t> cycles_;      // by stream: its clock
  std::map<std::uint32_t, std::int64_t> last_;         // by stream: when its last step ended
  std::map<std::uint32_t, std::uint64_t> numbers_[2];  // by channel: messages received, sent
  std::vector<DoneMessage> open_;                      // of the step that has not ended
  std::int64_t begun_ = 0;
};

}  // namespace pando::ranks
