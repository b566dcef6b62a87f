// The host watches the steps of a run (pando::on_step, pando::on_step_done), and the cycle model goes on counting behind it.
#pragma once

#include <functional>
#include <string_view>
#include <utility>

#include "pando/steps.hpp"
#include "tile/observer.h"
#include "tile/program.h"
#include "tile/step.h"

namespace pando::facade {

class StepWatch final : public tile::StepObserver {
 public:
  // `next` may be null. `clock`: who knows cycles.
  StepWatch(const tile::Program& program, std::function<void(const StepDone&)> f, tile::StepObserver* next, const tile::StepObserver* clock)
      : program_(program), f_(std::move(f)), next_(next), clock_(clock) {}

  void on_begin(unsigned program) override {
    if (next_) next_->on_begin(program);
  }
  void on_step(const tile::StepEvent& e) override {
    if (next_) next_->on_step(e);
    const tile::Instruction& in = program_.streams[e.stream.index()].code[e.instruction];
    StepDone done;
    if (in.name.valid()) done.name = program_.names[in.name.index()];
    const std::string_view kind = tile::row_of(in.op).kind;
    done.kind = {kind.data(), kind.size()};
    done.order = in.order;
    done.stream = static_cast<unsigned>(e.stream.index());
    done.cycles = clock_->cycles(e.replica, e.stream);
    f_(done);
  }
  void on_end() override {
    if (next_) next_->on_end();
  }
  bool wants_counts() const override { return next_ && next_->wants_counts(); }
  std::uint64_t cycles(ReplicaId replica, StreamId stream) const override { return clock_->cycles(replica, stream); }

 private:
  const tile::Program& program_;
  std::function<void(const StepDone&)> f_;
  tile::StepObserver* next_;
  const tile::StepObserver* clock_;
};

}  // namespace pando::facade
