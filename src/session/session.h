// A module that runs: places completed, verified, transformed, lowered, compiled, loaded onto a device; its variables and streams.
//
//     Session session(builder, {.device = "cpu"});
//     session.attach();                                      // loads, and brings the variables to the device
//     session.run({{in, data, 1}}, {{out, result, 1}});      // the main graph once
//     session.weights_to_host();
//     HostTensor w = session.data(state);
//
// The builder must outlive the session. The session changes nothing of its graphs (it works on a copy); what variables hold on the host
// are the blobs of the builder's module, which weights_to_host and write replace. One thread at a time.
#pragma once

#include "ir/construction/builder.h"
#include "ir/host_tensor.h"
#include "ir/module.h"
#include "session/option_rows.h"

#include <pando/steps.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pando::session {

class Instances;

struct Options {
  // "cpu": the host's processor; every IPU is one tile, as large as it has to be. "ipu_model" or "ipu_hw": IPUs of 1,472 tiles.
  std::string device = "ipu_model";
  // Of the machines that the graph level knows ("ipu1", "ipu2", "ipu21").
  std::string machine = "ipu2";
  // Not 0: IPUs of that many tiles.
  std::int64_t tiles_per_ipu = 0;
  // Of option_rows().
  Settings settings{option_rows()};
  // Options of the engine, as Poplar's; those of option_rows() by their names in texts, which count more than `settings`.
  std::map<std::string, std::string> engine;
  // Other processes run some of the replicas (session/instances.h): all build the same program and make the same calls of the session, in
  // the same order. Streams have the data of the replicas that run here; what variables hold is the same on all. Null: all run here.
  std::shared_ptr<Instances> instances;
  // With instances: what variables hold comes to the host from this instance's first replica, without a word with the others. For variables
  // that are the same on all replicas, in programs of which one instance alone asks for them.
  bool reads_own_replica = false;
  // Variables whose blobs are memory that somebody else reads, too (a mapped file): downloads write into these bytes. Without a name here
  // a download gives a variable new bytes.
  std::vector<ir::StateId> mapped;
};

// Slices of a stream: (slices, replicas that run here, shape), contiguous.
struct InputData {
  ir::HostStreamId stream;
  const void* data = nullptr;
  std::int64_t slices = 1;
};
struct OutputData {
  ir::HostStreamId stream;
  void* data = nullptr;
  std::int64_t slices = 1;
};

// What a variable shall hold.
struct VariableData {
  ir::StateId state;
  ir::HostTensor data;
};

class Session {
 public:
  // Compiles. Rejects (popart): what the verifier or the ambiguity check finds, ops that have no lowering; (value): an unknown device;
  // (runtime): a program without any op. Tile memory that does not suffice is poplar's exception.
  explicit Session(ir::Builder& builder, Options options = {});
  // The same of a module that no builder has: one that was parsed. The session keeps it with what its variables hold on the host; nobody
  // looks for an ambiguous order.
  explicit Session(ir::Module module, Options options = {});
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const Options& options() const;
  // The module as it was lowered, after all transforms.
  const ir::Module& lowered() const;
  // IPUs of all replicas together.
  std::int64_t ipus() const;
  // Replicas that run here.
  std::int64_t local_replicas() const;

  // --- streams
  // Streams that the program loads from, stores to; in order of creation.
  const std::vector<ir::HostStreamId>& inputs() const;
  const std::vector<ir::HostStreamId>& outputs() const;
  // (num_host_transfers, replicas that run here, the stream's shape) without the leading two where they are 1.
  ir::Shape full_shape(ir::HostStreamId stream) const;

  // --- the device
  // Brings the program onto the device; attached sessions stay as they are. Variables come with weights_from_host. Rejects (runtime)
  // instances that have compiled other programs.
  void attach();
  // Gives the device back. What was not downloaded is lost.
  void detach();
  bool is_attached() const;

  // Runs the main graph once. Each stream begins with its first slice; after its last one comes the first again. Rejects (value): a stream
  // of inputs() without data, data for another stream, a session that is not attached.
  void run(std::span<const InputData> inputs, std::span<const OutputData> outputs);
  // From now on a function brings (or takes) each block of a stream, in a program without replicas; run() wants no data for it. It is
  // called on a thread of the run, when the program comes to the op, and may wait. The block may be the tensor itself: the function fills
  // it without reading it, or takes it without writing to it, and keeps no pointer to it. Rejects (value) a stream that the program does
  // not have.
  void connect(ir::HostStreamId stream, std::function<void(void* block)> f);
  // Called after each step of the compiled program; on a thread of the run.
  void on_step(std::function<void(const StepDone&)> f);
  // Text of print_tensor; standard error without it.
  void on_print(std::function<void(std::string_view)> f);
  // Ends a running program at its next step; from any thread.
  void stop();

  // --- variables
  // Uploads all variables from their host data, and runs the program for that; downloads them likewise.
  void weights_from_host();
  void weights_to_host();
  // Whether the host holds what the device holds.
  bool in_sync() const;
  // What a variable holds: the shape of its host data (one_per_group), or with one leading dimension of all replicas (all_replicas).
  // Downloads first if attached and out of sync.
  ir::HostTensor data(ir::StateId state);
  // New host data, of the shapes that the variables began with; uploaded if attached, all of them at once.
  void write(std::vector<VariableData> data);

  // --- looking in
  struct Times {
    double transform = 0, lower = 0, compile = 0, load = 0;  // seconds
  };
  const Times& times() const;
  // Text of a level: "model" or "graph".
  std::string dump(std::string_view level) const;
  // Of the compiled program as a file: instructions, exchanges, constants; variables are not in it.
  std::uint64_t executable_bytes() const;
  // Of the same file: the same where the same program was compiled with the same options by the same build.
  std::uint64_t executable_hash() const;
  // By the clock of the cycle model, of the runs since it was attached or reset. 0 on "cpu".
  std::uint64_t cycles();
  void reset_cycles();
  double clock_hz() const;
  // By tile of the machine: what the program takes as long as it is loaded.
  std::vector<std::uint64_t> resident_bytes() const;
  // Where runs write a report, if it was asked for: the engine's option autoReport.directory, profile.pando in it. Else "".
  std::string report_file() const;
  // The report of poplar::Engine, as text.
  std::string profile_summary();

 private:
  struct State;
  void prepare();
  std::unique_ptr<State> state_;
};

}  // namespace pando::session
