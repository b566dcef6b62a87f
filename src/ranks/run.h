// Runs a distributed program: the parts of this rank, each on an engine and a thread of its own.
//
//     auto transport = std::move(exec::in_process_transports(1)[0]);       // all devices on threads of this process; or exec::open_mpi()
//     Result r = run(split_program(module), data, *transport, {.steps = 10}, board);
//
// Results are the same bits for any number of ranks and threads: every device's program is compiled alone and the same way wherever it
// runs, and messages of a channel come in their order.
#pragma once

#include "exec/transports/transport.h"
#include "profile/plan/plan.h"
#include "ranks/board.h"
#include "ranks/data/data.h"
#include "ranks/program.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pando::ranks {

struct Options {
  std::int64_t steps = 1;
  // Threads of each device's engine.
  unsigned threads = 1;
  // As of session::Options: "cpu", or "ipu_model" with a machine and, if not 0, tiles.
  std::string device = "cpu", machine = "ipu2";
  std::int64_t tiles_per_ipu = 0;
  // How long a device waits for a message before the run is given up, in seconds; 0: for ever.
  double timeout = 600;
  // Without: nothing of what is stored or of what variables hold at the end is kept or sent to rank 0; its Result has times and hashes.
  bool results = true;
  // A file: the report of compiling and of the first step (the upload of variables included); of several devices one for each, see
  // report_file(), and Result::plan. Empty: none.
  std::string profile;
  // By device, on rank 0: hashes that the executables must have, as an earlier Result has them. Empty: any.
  std::map<std::int32_t, std::uint64_t> executables;
};

struct DeviceTimes {
  std::int32_t device = 0;
  std::uint32_t rank = 0;
  // Of all steps; of those, waiting for messages or for a receiver; of the quickest step. Seconds.
  double run = 0, waited = 0, quickest = 0;
  std::uint64_t sent = 0, received = 0, bytes_sent = 0;
};

struct Result {
  // In the order of devices: what variables hold at the end; what was stored, (blocks, shape).
  std::vector<std::pair<std::string, ir::HostTensor>> variables, outputs;
  std::vector<DeviceTimes> times;
  // From when all ranks were ready to the end of the last step of all devices.
  double seconds = 0;
  // What ran: the hash of each device's executable. The same for any ranks; threads and other options are in it.
  std::map<std::int32_t, std::uint64_t> executables;
  // Of several devices with a profile: what each did in a step, its messages, where variables lie.
  profile::DevicePlan plan;
  // Seconds of a step: of the slowest device, its quickest.
  double quickest_step() const;
};

// Where the report of a device is written: of several devices with its number before the ending, "run.pando" -> "run.1.pando".
std::string report_file(const std::string& profile, std::int32_t device, bool several);

// On every rank; the result is rank 0's (empty elsewhere). What goes wrong on one rank ends all: exec::RunFailed on each, with a text that
// names the rank, its device, step and last operation. Before anything runs, ranks compare programs, options and builds, then what they
// have compiled. Rejects (value), on rank 0: ranks that hold different programs or are of different builds, executables that are not those
// of the options, more ranks than devices.
Result run(Program program, const Data& data, exec::Transport& transport, const Options& options, Board& board);

// What a rank calls instead of run() when it cannot: then no rank waits for it, and rank 0's run() says why (value).
// `timeout`: as of Options.
void reject_run(const std::string& why, exec::Transport& transport, double timeout);

// The whole tensors of the pieces: variables and outputs as the sequential program has them. What is no piece stays.
Result join(const Result& result, const transform::PieceTable& pieces);

}  // namespace pando::ranks
