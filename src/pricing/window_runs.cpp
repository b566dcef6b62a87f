// Windows, compiled and run: on IPUs by the cycles of their steps, on this host by its clock between them.
#include "base/error.h"
#include "base/version.h"
#include "pricing/compiled_costs.h"
#include "session/session.h"
#include "simulate/ipu_cluster.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poplar/Graph.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

namespace pando::pricing {

namespace {

// A step of a run: which op it is of, on which stream, and by the clock when it began and ended there.
struct Done {
  std::int32_t op = kUnknown;
  unsigned stream = 0;
  std::uint64_t begin = 0, end = 0;
};

// Steps whose names say nothing belong to the op before them on their stream.
void name_all(std::vector<Done>& steps) {
  std::map<unsigned, std::int32_t> last;
  for (Done& d : steps) {
    if (d.op == kUnknown) {
      const auto it = last.find(d.stream);
      d.op = it == last.end() ? kHalo : it->second;
    }
    last[d.stream] = d.op;
  }
}

// On one device: how long the steps of each op take.
std::vector<std::uint64_t> sums(const std::vector<Done>& steps, std::size_t ops) {
  std::vector<std::uint64_t> ticks(ops, 0);
  for (const Done& d : steps) {
    if (d.op >= 0 && static_cast<std::size_t>(d.op) < ops) ticks[static_cast<std::size_t>(d.op)] += d.end - d.begin;
  }
  return ticks;
}

// Between devices: from when the last of them is ready for the first transfer to when the last has ended each of them, one after the other.
std::vector<std::uint64_t> front(const std::vector<Done>& steps, std::size_t ops) {
  std::map<unsigned, std::uint64_t> ready;
  std::vector<std::uint64_t> ends(ops, 0);
  for (const Done& d : steps) {
    if (d.op < 0 || static_cast<std::size_t>(d.op) >= ops) continue;
    ready.try_emplace(d.stream, d.begin);
    std::uint64_t& end = ends[static_cast<std::size_t>(d.op)];
    end = std::max(end, d.end);
  }
  std::uint64_t at = 0;
  for (const auto& [stream, begin] : ready) at = std::max(at, begin);
  std::vector<std::uint64_t> ticks(ops, 0);
  for (std::size_t i = 0; i < ops; ++i) {
    if (ends[i] <= at) continue;
    ticks[i] = ends[i] - at;
    at = ends[i];
  }
  return ticks;
}

std::vector<std::uint64_t> ticks_of(std::vector<Done> steps, std::size_t ops, bool crosses) {
  name_all(steps);
  return crosses ? front(steps, ops) : sums(steps, ops);
}

// The libraries that compile and price: their names, sizes and times. Another build has other prices.
std::string build() {
  std::string text(version());
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&poplar::versionString), &info) == 0 || info.dli_fname == nullptr) return text;
  namespace fs = std::filesystem;
  std::set<std::string> files;
  std::error_code none;
  const auto add = [&](const fs::path& file) {
    const auto size = fs::file_size(file, none);
    if (none) return;
    const auto time = fs::last_write_time(file, none).time_since_epoch().count();
    files.insert(fmt::format("{} {} {}", file.filename().string(), size, time));
  };
  for (const auto& entry : fs::directory_iterator(fs::path(info.dli_fname).parent_path(), none)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".so") || name.ends_with(".gp")) add(entry.path());
  }
  add(fs::read_symlink("/proc/self/exe", none));
  return fmt::format("{} {:016x}", text, std::hash<std::string>()(fmt::format("{}", fmt::join(files, " "))));
}

[[noreturn]] void reject_machine(const std::string& machine) {
  fail(ErrorKind::poplar_error, "cost-compiled",
       "compiled prices need a machine that programs can be compiled for: IPUs, such as ipu2 or ipu2:64, or this host (the JSON of pando "
       "calibrate); '{}' is neither",
       machine);
}

class IpuRunner : public WindowRunner {
 public:
  IpuRunner(std::string machine, std::int64_t tiles) : machine_(std::move(machine)), tiles_(tiles), build_(build()) {
    const auto ipu = simulate::ipu_named(machine_);
    if (!ipu) reject_machine(machine_);
    clock_hz_ = ipu->clock_hz;
  }
  std::string key() const override { return fmt::format("cycles {} {} {}", machine_, tiles_, build_); }
  double ticks_per_second() const override { return clock_hz_; }

  std::vector<std::uint64_t> run(Window w) override {
    session::Options options;
    options.machine = machine_;
    options.tiles_per_ipu = tiles_;
    options.settings.set("plan_objective", std::string("cycles"));
    session::Session s(std::move(w.module), options);
    std::vector<Done> steps;
    std::map<unsigned, std::uint64_t> clocks;
    std::mutex mutex;
    s.attach();
    s.reset_cycles();
    s.on_step([&](const StepDone& d) {
      const std::lock_guard lock(mutex);
      std::uint64_t& clock = clocks[d.stream];
      steps.push_back({op_of_step(std::string_view(d.name.data(), d.name.size())), d.stream, clock, d.cycles});
      clock = d.cycles;
    });
    s.run({}, {});
    return ticks_of(std::move(steps), w.ops.size(), w.crosses);
  }

 private:
  std::string machine_;
  std::int64_t tiles_;
  std::string build_;
  double clock_hz_ = 0;
};

// The processor's name.
std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 1);
  }
  return "a processor without a name";
}

class HostRunner : public WindowRunner {
 public:
  HostRunner() : build_(build()) {}
  std::string key() const override { return fmt::format("host {} {}", processor(), build_); }
  double ticks_per_second() const override { return 1e9; }

  std::vector<std::uint64_t> run(Window w) override {
    session::Options options;
    options.device = "cpu";
    session::Session s(std::move(w.module), options);
    s.attach();
    using Clock = std::chrono::steady_clock;
    std::vector<Done> steps;
    std::map<unsigned, std::uint64_t> clocks;
    std::mutex mutex;
    Clock::time_point start;
    s.on_step([&](const StepDone& d) {
      const auto now = static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
      const std::lock_guard lock(mutex);
      std::uint64_t& clock = clocks[d.stream];
      steps.push_back({op_of_step(std::string_view(d.name.data(), d.name.size())), d.stream, clock, now});
      clock = now;
    });
    // The quickest of each op: whatever else the host does makes it slower, never quicker.
    constexpr int kFewest = 4, kMost = 50;
    constexpr auto kLongest = std::chrono::milliseconds(20);
    std::vector<std::uint64_t> best;
    const auto begin = Clock::now();
    for (int i = 0; i < kFewest || (i < kMost && Clock::now() - begin < kLongest); ++i) {
      steps.clear(), clocks.clear();
      start = Clock::now();
      s.run({}, {});
      const auto ticks = ticks_of(steps, w.ops.size(), w.crosses);
      if (best.empty()) best = ticks;
      for (std::size_t k = 0; k < ticks.size(); ++k) best[k] = std::min(best[k], ticks[k]);
    }
    return best;
  }

 private:
  std::string build_;
};

}  // namespace

std::unique_ptr<WindowRunner> ipu_runner(const std::string& machine, std::int64_t tiles_per_ipu) {
  return std::make_unique<IpuRunner>(machine, tiles_per_ipu);
}
std::unique_ptr<WindowRunner> host_runner() { return std::make_unique<HostRunner>(); }

std::unique_ptr<WindowRunner> runner_of(const std::string& machine, const simulate::Cluster* cluster) {
  if (const auto ipu = simulate::ipu_named(machine)) {
    const std::size_t colon = machine.find(':');
    return ipu_runner(machine.substr(0, colon), colon == std::string::npos ? 0 : static_cast<std::int64_t>(ipu->tiles_per_ipu));
  }
  if (cluster == nullptr || cluster->name != "host") reject_machine(machine);
  return host_runner();
}

}  // namespace pando::pricing
