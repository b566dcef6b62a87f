// What an engine is made of.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cycles/cycle_model.h"
#include "exec/runner.h"
#include "facade/engine/engine_options.h"
#include "facade/engine/step_times.h"
#include "facade/engine/step_watch.h"
#include "facade/state/state.h"
#include "poplar/Engine.hpp"

namespace poplar::core {

// The host's end of one stream, kept so that it can be connected again to a newly loaded runner.
struct Connection {
  void* begin = nullptr;
  void* end = nullptr;
  std::map<unsigned, std::shared_ptr<StreamCallback>> callbacks;  // by replica; empty: memory
};

struct EngineState {
  pando::facade::EngineSettings settings;
  EngineOptions options;
  std::unique_ptr<ExecutableState> executable;
  std::unique_ptr<pando::cycles::CycleModel> cycles;
  std::function<void(const pando::StepDone&)> step;
  std::unique_ptr<pando::facade::StepWatch> watch;
  std::unique_ptr<pando::facade::TensorWatch> tensors;
  std::unique_ptr<pando::facade::StepTimes> times;
  std::unique_ptr<pando::exec::Runner> runner;        // after `cycles`, `watch`, `tensors` and `times`: calls them until it is destroyed
  std::shared_ptr<const std::atomic<bool>> detached;  // of the device that it is loaded on
  bool has_stamps = false;                            // the program reads the cycle model
  bool profiling = true;
  std::map<std::string, Connection> streams;
  std::map<std::pair<std::string, unsigned>, std::shared_ptr<HostCallback>> host_functions;
  std::ostream* print_stream = nullptr;
  // One run at a time. Who destroys an engine that runs stops it and waits; inside a callback of that run it is left to the run.
  std::mutex lock;
  std::condition_variable changed;
  bool running = false, abandoned = false;
  ErrorCode simulated_error = ErrorCode::NONE;
  std::uint64_t runs = 0;
  std::chrono::steady_clock::time_point created = std::chrono::steady_clock::now();
  ProfileValue graph_profile, execution_profile, profile;          // as last asked for
  std::vector<std::pair<std::uint64_t, std::uint64_t>> intervals;  // of runs, nanoseconds since `created`

  std::uint64_t now() const {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - created).count());
  }
  // Of this process.
  unsigned replicas() const;
  // Throws poplar_error if it is loaded on no device, or on one that was detached since.
  pando::exec::Runner& loaded() const;
};

}  // namespace poplar::core

namespace pando::facade {

// All that is known: memory, and the runs so far.
profile::Report full_report(const poplar::core::EngineState& engine, cycles::Detail detail = cycles::Detail::summary);

// Throws stream_connection_error, with similar names, if the program has no such stream.
void check_stream(const tile::Program& program, const std::string& handle);

// The runner's end of a connection.
void apply(exec::Runner& runner, const std::string& handle, const poplar::core::Connection& connection);
void apply(exec::Runner& runner, const std::string& handle, unsigned replica, std::shared_ptr<poplar::HostCallback> callback);

}  // namespace pando::facade
