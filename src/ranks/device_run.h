// One device of a run: its session, between the host's data and the channels.
#pragma once

#include "exec/transports/channels.h"
#include "ranks/run.h"
#include "ranks/timeline/recorder.h"
#include "session/session.h"

#include <atomic>
#include <memory>

namespace pando::ranks {

class DeviceRun {
 public:
  // `place`: of the board. `devices`: how many the program has.
  DeviceRun(Part part, std::size_t place, std::size_t devices, exec::Channels& channels, Board& board);

  std::int32_t device() const { return part_.device; }
  // Gives variables and streams their data, compiles and loads.
  void prepare(const Data& data, const Options& options);
  // All steps, on the calling thread.
  void run(std::int64_t steps);
  // From any thread.
  void stop();

  struct Stored {
    std::string name;
    ir::DType dtype = ir::DType::float32;
    ir::Shape shape;
    // Blocks of the stream, with their numbers.
    std::vector<std::int64_t> numbers;
    std::string bytes;
  };
  std::vector<std::pair<std::string, ir::HostTensor>> variables();
  std::vector<Stored>& stored() { return stored_; }
  double seconds() const { return seconds_; }
  // Of the quickest step.
  double quickest() const { return quickest_; }
  std::uint64_t executable_hash() const { return session_->executable_hash(); }
  // Of a run with a profile; once.
  DeviceTimeline timeline(unsigned rank);
  // "device 1, step 3, last operation ...".
  std::string where() const { return board_.describe_device(place_); }

 private:
  void connect_channel(const ChannelEnd& end);
  void connect_input(const HostEnd& end, const Data& data, std::int64_t steps);
  void connect_output(const HostEnd& end, Stored& stored);

  Part part_;
  std::size_t place_;
  std::size_t devices_;
  bool several_;
  exec::Channels& channels_;
  Board& board_;
  std::unique_ptr<session::Session> session_;
  std::vector<Stored> stored_;
  std::atomic<bool> running_{false};
  double seconds_ = 0, quickest_ = 0;
  std::string report_;                  // file; empty: no profile
  std::unique_ptr<Recorder> recorder_;  // of a profile of several devices
};

}  // namespace pando::ranks
