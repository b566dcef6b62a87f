// pando run: runs a program of several devices, on threads of this process or as ranks of MPI. `pando` becomes this program.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/command/help.h"
#include "base/error.h"
#include "base/messages.h"
#include "exec/transports/in_process.h"
#include "exec/transports/mpi.h"
#include "ir/checks/read_module.h"
#include "ir/error.h"
#include "ir/shared/print_tensor.h"
#include "profile/report.h"
#include "project/parts/pipeline.h"
#include "ranks/data/pieces.h"
#include "ranks/launch.h"
#include "ranks/mail.h"
#include "ranks/run.h"
#include "ranks/start/check_input.h"
#include "ranks/start/end_with.h"
#include "ranks/start/supervise.h"
#include "simulate/observed/prediction.h"

namespace pando::ranks {
namespace {

constexpr int kNo = 1, kWrong = 2;

struct Arguments {
  std::string program, pieces, output, executables;
  std::vector<std::string> inputs, zeros, capacities;
  std::int64_t part_bytes = kPartBytes;
  unsigned ranks = 1;
  std::int64_t samples = 0;
  std::uint64_t seed = 0;
  bool quiet = false, times = false, has_steps = false;
  Options options;
};

SplitOptions split_options(const Arguments& a) {
  SplitOptions o;
  o.part_bytes = a.part_bytes;
  for (const std::string& c : a.capacities) {
    const std::size_t equals = c.rfind('=');
    const std::string number = equals == std::string::npos ? c : c.substr(equals + 1);
    const bool is_number = !number.empty() && number.size() < 10 && number.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number && number != "unbounded")
      ir::reject(ir::ErrorClass::value, "capacity", "'{}' is not a capacity; a number of messages or 'unbounded' is", number);
    const std::int64_t n = is_number ? std::stoll(number) : exec::kUnboundedChannel;
    (equals == std::string::npos ? o.capacity : o.capacities[c.substr(0, equals)]) = n;
  }
  return o;
}

// A report of tiles shows what was predicted of a module, too.
bool predicts(const Arguments& a) { return !a.options.profile.empty() && a.options.device == "ipu_model"; }

Program program_of(const Arguments& a, const std::string& text, const std::optional<transform::PieceTable>& pieces,
                   profile::DevicePlan* predicted) {
  const std::size_t first = text.find_first_not_of(" \n");
  if (first != std::string::npos && text.compare(first, 8, "project ") == 0) {
    if (pieces)
      ir::reject(ir::ErrorClass::value, "pieces", "--pieces is for what pando transform writes; {} is a projected program", a.program);
    if (a.has_steps) ir::reject(ir::ErrorClass::value, "steps", "--steps is for modules; a program of pando pipeline runs --samples");
    return project::read_pipeline(text, a.program, a.samples, split_options(a), !a.capacities.empty());
  }
  if (a.samples > 0) ir::reject(ir::ErrorClass::value, "samples", "--samples is for programs of pando pipeline; a module runs --steps");
  ir::Module module = ir::read_module(text, a.program, ir::ModuleRules::of_devices);
  if (pieces && module.replicas() > 1)
    ir::reject(ir::ErrorClass::value, "pieces", "--pieces is for what pando transform writes; {} has replicas", a.program);
  // Names are the module's: the parts of devices leave out what nothing reads.
  if (pieces) check_pieces(*pieces, module, a.pieces);
  if (predicted) *predicted = simulate::prediction(module, a.options.machine, a.options.tiles_per_ipu);
  return split_program(std::move(module), split_options(a));
}

Data data_of(const Arguments& a, bool has_seed, std::optional<transform::PieceTable> pieces) {
  Data data;
  for (const std::string& i : a.inputs) data.add_file(i);
  for (const std::string& z : a.zeros) data.add_zeros(z);
  if (has_seed) data.set_seed(a.seed);
  if (pieces) data.set_pieces(std::move(*pieces));
  return data;
}

void show(const Result& r, const Arguments& a) {
  if (!a.quiet) {
    PrintFormat format;
    format.summarise_threshold = 32;
    for (const auto& [name, t] : r.variables) fmt::print("{} =\n{}\n", printable(name), ir::text_of(t, format));
    for (const auto& [name, t] : r.outputs) fmt::print("output {} =\n{}\n", printable(name), ir::text_of(t, format));
  }
  if (!a.times) return;
  fmt::print("{} devices on {} ranks, {:.4f} s, quickest step {:.7f} s\n", r.times.size(), r.times.empty() ? 0 : r.times.back().rank + 1,
             r.seconds, r.quickest_step());
  for (const DeviceTimes& t : r.times) {
    fmt::print("device {:3} rank {:3}: compute {:.4f} s, waiting {:.4f} s, {} messages of {} bytes sent, {} received\n", t.device, t.rank,
               t.run - t.waited, t.waited, t.sent, t.sent ? t.bytes_sent / t.sent : 0, t.received);
  }
}

void write(const Result& r, const std::string& file) {
  std::vector<std::pair<std::string, ir::HostTensor>> arrays = r.variables;
  for (const auto& [name, t] : r.outputs) arrays.emplace_back("output/" + name, t);
  write_npz(file, arrays);
}

// A line for each device: its number, the hash of its executable.
std::map<std::int32_t, std::uint64_t> executables_of(const std::string& file) {
  std::map<std::int32_t, std::uint64_t> all;
  std::istringstream in(read_file(file));
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    std::istringstream words(line);
    std::int32_t device = 0;
    std::uint64_t hash = 0;
    if (!(words >> device >> std::hex >> hash) || !(words >> std::ws).eof())
      fail(ErrorKind::file_load_error, "unreadable-file", "{}:{}: '{}': the number of a device and its executable's hash are expected",
           file, number, line);
    all[device] = hash;
  }
  if (all.empty()) fail(ErrorKind::file_load_error, "unreadable-file", "{} has no hashes of executables", file);
  return all;
}
void write_plan(const profile::DevicePlan& plan, const profile::DevicePlan& predicted, const std::string& file) {
  std::ostringstream out;
  profile::write_report(plan, out, predicted);
  write_file(file, out.str());
}

void write_executables(const Result& r, const std::string& file) {
  std::string text;
  for (const auto& [device, hash] : r.executables) text += fmt::format("{} {:016x}\n", device, hash);
  write_file(file, text);
}

// What a run of hours leaves must have a place: known before it begins.
void check_writable(const std::string& file) {
  const std::filesystem::path parent = std::filesystem::absolute(file).parent_path();
  const bool exists = std::filesystem::exists(file);
  if (exists ? !std::filesystem::is_directory(file) && access(file.c_str(), W_OK) == 0 : access(parent.c_str(), W_OK | X_OK) == 0) return;
  fail(ErrorKind::file_load_error, "unwritable-file", "cannot write {}: {}", file,
       exists && std::filesystem::is_directory(file) ? "it is a folder" : std::strerror(errno));
}

// What runs, read and found to be right.
struct Input {
  Program program;
  Data data;
  Options options;
  profile::DevicePlan predicted;  // without a title: nothing was
};

// `writes`: whether results are written here.
Input input_of(const Arguments& a, bool has_seed, unsigned ranks, bool writes) {
  std::optional<transform::PieceTable> pieces;
  if (!a.pieces.empty()) pieces = transform::read_pieces(read_file(a.pieces), a.pieces);
  profile::DevicePlan predicted;
  Program program =
      program_of(a, read_file(a.program == "-" ? "/dev/stdin" : a.program), pieces, writes && predicts(a) ? &predicted : nullptr);
  Input in{std::move(program), data_of(a, has_seed, std::move(pieces)), a.options, std::move(predicted)};
  if (in.program.pieces) in.data.set_pieces(*in.program.pieces);
  in.data.reject_unknown(names_of(in.program));
  if (writes && !a.output.empty()) check_writable(a.output);
  if (writes && !a.options.profile.empty()) check_writable(a.options.profile);
  if (!a.executables.empty() && std::filesystem::exists(a.executables))
    in.options.executables = executables_of(a.executables);
  else if (writes && !a.executables.empty())
    check_writable(a.executables);
  in.options.results = !a.quiet || !a.output.empty();
  check_input(in.program, in.data, in.options, ranks);
  return in;
}

// What a rank does. What goes wrong ends all ranks; rank 0 says it.
int run_rank(const Arguments& a, bool has_seed, exec::Transport& transport, Board& board) {
  const unsigned rank = transport.rank();
  int status = 0;
  try {
    std::optional<Input> input;
    try {
      input = input_of(a, has_seed, transport.ranks(), rank == 0);
    } catch (const std::exception& e) {
      reject_run(e.what(), transport, a.options.timeout);
      if (rank == 0) complain(fmt::format("pando run: {}", e.what()));
      board.set_state(rank, RankState::failed);
      return kWrong;
    }
    const auto& [program, data, options, predicted] = *input;
    if (rank == 0)
      if (const std::string unused = data.unknown_arrays(names_of(program)); !unused.empty()) complain("pando run: warning: " + unused);
    Result r = run(std::move(input->program), data, transport, options, board);
    if (rank == 0) {
      if (!r.plan.title.empty())
        write_plan(r.plan, predicted, options.profile);
      else if (!predicted.title.empty())
        simulate::add_prediction(options.profile, predicted);
      if (!a.executables.empty() && options.executables.empty()) write_executables(r, a.executables);
      if (options.results && data.pieces()) r = join(r, *data.pieces());
      show(r, a);
      if (!a.output.empty()) write(r, a.output);
    }
    board.set_state(rank, RankState::finished);
  } catch (const TimedOut& e) {
    // Rank 0 may be who is not heard of.
    complain(fmt::format("pando run: {}", e.what()));
    status = kNo;
  } catch (const std::exception& e) {
    if (rank == 0) complain(fmt::format("pando run: {}", e.what()));
    status = kNo;
  }
  if (status != 0) board.set_state(rank, RankState::failed);
  return status;
}

int run_mpi_rank(const Arguments& a, bool has_seed, Board& board, std::int32_t supervisor) {
  const auto transport = exec::open_mpi(a.options.timeout);
  if (!transport) {
    complain(fmt::format("pando run: a rank has not come within {} s (--timeout), or is stopped", a.options.timeout));
    std::fflush(nullptr);
    _exit(kNo);  // a thread waits in MPI for ever
  }
  board.set_rank(transport->rank(), getpid(), RankState::running);
  board.stop_on_signal(transport->rank(), supervisor);
  const int status = run_rank(a, has_seed, *transport, board);
  constexpr double kPatience = 20;
  const double timeout = a.options.timeout > 0 ? a.options.timeout : kPatience;
  if (status != 0) std::fflush(nullptr);
  if (!transport->finish(std::min(kPatience, timeout))) transport->abort(status == 0 ? kNo : status);
  return status;
}

// Each rank reads the program anew: here it is looked at, so that what is wrong starts no process. What is no file can be read once.
int run_ranks(const Arguments& a, bool has_seed, const std::vector<std::string>& words) {
  if (std::filesystem::is_regular_file(a.program)) input_of(a, has_seed, a.ranks, true);
  return launch(a.ranks, words, a.options.timeout);
}

int run_command(const Arguments& a, bool has_seed, const std::vector<std::string>& words) {
  const char* file = std::getenv(Board::kVariable);
  if (!exec::started_by_mpi()) {
    if (a.ranks > 1) return run_ranks(a, has_seed, words);
    Board board;
    const auto transports = exec::in_process_transports(1);
    return run_rank(a, has_seed, *transports[0], board);
  }
  Board board(file ? file : "");  // a signal may come while the transport ends
  if (file) {
    if (board.launcher() != 0) end_with(board.launcher());
    return run_mpi_rank(a, has_seed, board, 0);
  }
  const std::int32_t supervisor = getpid(), mpirun = getppid();
  return supervise(board, [&] {
    end_with(mpirun);
    return run_mpi_rank(a, has_seed, board, supervisor);
  });
}

int command(int argc, char** argv) {
  CLI::App app("Run a program of several devices", "pando run");
  Arguments a;
  app.add_option("program", a.program, "The text of a module with devices (pando transform) or of a projected program (pando pipeline)")
      ->required();
  app.add_option("--ranks", a.ranks, "MPI processes that share the devices; 1: threads of this process. Under mpirun its number counts")
      ->check(whole_number(1, 1024));
  app.add_option("--threads", a.options.threads, "Threads of each device")->check(whole_number(1, 1024))->capture_default_str();
  app.add_option("--steps", a.options.steps, "How often a module runs; variables go from step to step")
      ->check(whole_number(1, std::int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--samples", a.samples, "Of a projected program: trips of its loop")->check(whole_number(1, std::int64_t{1} << 40));
  app.add_option("--input", a.inputs, "FILE.npz, or NAME=FILE.npy: what variables begin with, and blocks of streams")
      ->allow_extra_args(false);
  app.add_option("--zeros", a.zeros, "Variables that begin with zeros: names, or their ends behind a star ('*.m')")
      ->allow_extra_args(false)
      ->delimiter(',');
  CLI::Option* const seed = app.add_option("--seed", a.seed, "Makes up what no --input has")->check(unsigned_number());
  app.add_option("--pieces", a.pieces, "What pando transform --pieces wrote: data and results are the sequential program's");
  app.add_option("--capacity", a.capacities, "Messages that may wait in each channel (1), or unbounded; CHANNEL=N for one; 0: a rendezvous")
      ->allow_extra_args(false)
      ->delimiter(',');
  app.add_option("--part-bytes", a.part_bytes,
                 "Reductions of tensors of at least so many bytes are shared out among their devices; smaller ones go whole")
      ->check(whole_number(0, std::int64_t{1} << 60))
      ->capture_default_str();
  app.add_option("--device", a.options.device, "cpu, or ipu_model: IPUs of tiles")
      ->check(one_of({"cpu", "ipu_model"}))
      ->capture_default_str();
  app.add_option("--machine", a.options.machine, "Of ipu_model")->capture_default_str();
  app.add_option("--tiles", a.options.tiles_per_ipu, "Of ipu_model: tiles of an IPU, if not the machine's")
      ->check(whole_number(0, 1 << 20));
  app.add_option("--timeout", a.options.timeout, "Seconds that a device waits for a message before the run is given up; 0: for ever")
      ->check(check_not_negative)
      ->capture_default_str();
  app.add_option("-o,--output", a.output, "FILE.npz: variables at the end by name; what was stored as output/NAME, (blocks, shape)");
  app.add_option("--executables", a.executables,
                 "FILE of the executables' hashes, by device: they must be those; written where there is none");
  app.add_option(
      "--profile", a.options.profile,
      "FILE of the report of compiling and of the first step, which pando report shows; of several devices: FILE.pando has the schedule "
      "of all, their messages and memory, FILE.N.pando the tiles of device N");
  app.add_flag("-q,--quiet", a.quiet, "Without the results as text; without -o, too, they are not kept");
  app.add_flag("--times", a.times, "Compute, messages and waiting of each device");
  app.footer(help_footer(
      {{"pando run four.pando --seed 1 --times", "threads of this process, made-up data, the times of each device"},
       {"pando run mlp.txt --seed 1 --device ipu_model --profile mlp.pando",
        "the report of a step on tiles, for pando report and pando view"},
       {"pando run four.pando --ranks 4 --input weights.npz -o after.npz", "four MPI processes"},
       {"pando run pipeline.txt --samples 16 --seed 1", "a program that pando pipeline has split"}},
      {{"0", "it ran"}, {"1", "it failed: a deadlock, a fault, a rank that died"}, {"2", "the input or the command line is wrong"}}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) { return explain(app, error); }
  if (a.options.device != "ipu_model") {
    for (const char* name : {"--machine", "--tiles"}) {
      if (app.get_option(name)->count() > 0) return explain(app, CLI::ValidationError(name, "it takes --device ipu_model"));
    }
  }
  a.has_steps = app.get_option("--steps")->count() > 0;
  std::vector<std::string> words(argv, argv + argc);
  words[0] = std::filesystem::read_symlink("/proc/self/exe");
  return run_command(a, seed->count() > 0, words);
}

}  // namespace
}  // namespace pando::ranks

int main(int argc, char** argv) {
  try {
    return pando::ranks::command(argc, argv);
  } catch (const std::exception& error) {
    pando::complain(fmt::format("pando run: {}", error.what()));
    return pando::ranks::kWrong;
  }
}
