// Where the host's time goes: how often each step ran, and how long the host needed for it (engine option pando.stepTimes). The observer
// that counts cycles goes on behind it, outside of the times.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "codelet/library.h"
#include "tile/observer.h"
#include "tile/program.h"

namespace pando::facade {

// Of each stream: a step's time begins when the stream's last one ended, so it holds what the stream waited for others. Steps of an
// exchange and the compute set behind it that run tile by tile are one: the exchange has all of their time.
class StepTimes final : public tile::StepObserver {
 public:
  // Keeps references.
  StepTimes(const tile::Program& program, const Library& library);

  // `next` may be null. `clock`: who knows cycles.
  void before(tile::StepObserver* next, const tile::StepObserver* clock) {
    next_ = next;
    clock_ = clock;
  }
  void on_begin(unsigned program) override;
  void on_step(const tile::StepEvent& event) override;
  void on_end() override;
  void on_empty_channels() override {
    if (next_) next_->on_empty_channels();
  }
  bool wants_counts() const override { return next_ && next_->wants_counts(); }
  std::uint64_t cycles(ReplicaId replica, StreamId stream) const override { return clock_->cycles(replica, stream); }

  // JSON, docs/level/profile.md: of all runs so far.
  std::string text() const;
  // Throws file_load_error (step-times-file).
  void write(const std::string& file) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Sum {
    std::uint64_t times = 0, ns = 0;
  };
  static std::uint64_t nanoseconds(Clock::duration d) {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(d).count());
  }

  const tile::Program& program_;
  const Library& library_;
  tile::StepObserver* next_ = nullptr;
  const tile::StepObserver* clock_ = nullptr;
  std::uint64_t runs_ = 0, run_ns_ = 0;
  Clock::time_point begun_;
  std::vector<Clock::time_point> last_;  // [replica * streams + stream]
  std::vector<std::vector<Sum>> sums_;   // like `last_`, by instruction
};

}  // namespace pando::facade
