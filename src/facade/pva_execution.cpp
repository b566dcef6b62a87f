// What the runs cost.
#include <algorithm>
#include <numeric>
#include <span>

#include "base/error.h"
#include "facade/pva_facts.h"
#include "profile/facts.h"
#include "profile/report.h"
#include "pva/pva.hpp"

namespace pando::facade {

std::vector<std::uint64_t> by_tile(const profile::Report& report, const std::vector<std::uint64_t>& ranges) {
  if (ranges.empty()) return {};
  std::vector<std::uint64_t> out(report.target.tiles);
  for (std::size_t i = 0; i + 2 < ranges.size(); i += 3)
    for (std::uint64_t t = ranges[i]; t < std::min<std::uint64_t>(ranges[i + 1], out.size()); ++t) out[t] = ranges[i + 2];
  return out;
}

std::uint32_t checked_tile(const profile::Report& report, unsigned tile, const char* what) {
  if (tile >= report.tiles.size())
    fail(ErrorKind::index_error, "report-tile", "{} of tile {}: the report has {} tiles", what, tile, report.tiles.size());
  return tile;
}

}  // namespace pando::facade

namespace pva {

using pando::profile::StepCycles;

namespace {

constexpr std::size_t kMostExecutedSteps = 1'000'000;

const pando::profile::BlockStream* stream_of(const pando::profile::Report& report, const StepCycles& step) {
  for (const pando::profile::BlockStream& s : report.block_streams)
    if (s.stream == step.stream) return &s;
  return nullptr;
}

// Cycles of each tile of an IPU at one execution, waiting left out.
std::vector<std::uint64_t> cycles_on(const pando::profile::Report& report, const StepCycles& step, unsigned ipu) {
  std::vector<std::uint64_t> all(report.target.tiles);
  const pando::profile::BlockStream* stream = stream_of(report, step);
  if (step.profile > 0) {
    all = pando::facade::by_tile(report, report.tile_profiles[step.profile - 1].ranges);
  } else if (stream && stream->ipu == ipu && step.executions > 0) {
    const std::uint64_t each = (step.cycles.total() - step.cycles.wait) / step.executions;
    for (std::size_t i = 0; i + 1 < stream->tiles.size(); i += 2)
      std::fill(all.begin() + std::min<std::size_t>(stream->tiles[i], all.size()),
                all.begin() + std::min<std::size_t>(stream->tiles[i + 1], all.size()), each);
  }
  const std::size_t n = report.target.tiles_per_ipu, begin = std::min(ipu * n, all.size()), end = std::min((ipu + 1) * n, all.size());
  return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)};
}

// The mean of `count` tiles divided by the slowest.
double balance_of(const std::vector<std::uint64_t>& cycles, std::size_t count) {
  const std::uint64_t most = cycles.empty() ? 0 : *std::ranges::max_element(cycles);
  if (most == 0 || count == 0) return 0;
  const auto sum = static_cast<double>(std::accumulate(cycles.begin(), cycles.end(), std::uint64_t{0}));
  return sum / static_cast<double>(count) / static_cast<double>(most);
}

std::size_t active_of(const std::vector<std::uint64_t>& cycles) {
  return static_cast<std::size_t>(std::ranges::count_if(cycles, [](std::uint64_t n) { return n > 0; }));
}

// Bytes of an exchange whose blocks of tiles at one end are the IPU's.
std::uint64_t bytes_at(const pando::profile::Report& report, const StepCycles& step, unsigned ipu,
                       std::uint32_t pando::profile::Traffic::* end) {
  const std::uint32_t part = pando::profile::part_of(report, step);
  if (part == 0 || report.program[part - 1].exchange == 0) return 0;
  const pando::profile::ExchangeTraffic& e = report.exchanges[report.program[part - 1].exchange - 1];
  std::uint64_t sum = 0;
  for (const pando::profile::Traffic& t : e.traffic)
    if (t.*end * e.block / report.target.tiles_per_ipu == ipu) sum += t.bytes;
  return sum;
}

}  // namespace

unsigned StepOnIpu::activeTiles() const { return static_cast<unsigned>(active_of(cycles_on(*report_, report_->steps[step_], ipu_))); }
double StepOnIpu::tileBalance() const {
  const std::vector<std::uint64_t> cycles = cycles_on(*report_, report_->steps[step_], ipu_);
  return balance_of(cycles, cycles.size());
}
double StepOnIpu::activeTileBalance() const {
  const std::vector<std::uint64_t> cycles = cycles_on(*report_, report_->steps[step_], ipu_);
  return balance_of(cycles, active_of(cycles));
}
std::uint64_t StepOnIpu::dataIn() const {
  return executions_ * bytes_at(*report_, report_->steps[step_], ipu_, &pando::profile::Traffic::to);
}
std::uint64_t StepOnIpu::dataOut() const {
  return executions_ * bytes_at(*report_, report_->steps[step_], ipu_, &pando::profile::Traffic::from);
}

std::string Step::stream() const { return report_->steps[step_].stream; }
std::string Step::name() const { return report_->steps[step_].name; }
std::string Step::kind() const { return report_->steps[step_].kind; }
std::uint64_t Step::executions() const { return is_one_ ? 1 : report_->steps[step_].executions; }
std::uint64_t Step::cycles() const { return is_one_ ? end_ - start_ : report_->steps[step_].cycles.total(); }
std::vector<StepOnIpu> Step::ipus() const {
  const StepCycles step = report_->steps[step_];
  const pando::profile::BlockStream* stream = stream_of(*report_, step);
  std::vector<StepOnIpu> result;
  for (unsigned ipu = 0; ipu < report_->target.ipus; ++ipu) {
    const std::uint64_t cycles_here = stream && stream->ipu == ipu ? cycles() : 0;
    result.push_back(StepOnIpu(report_, step_, ipu, executions(), start_, start_ + cycles_here));
  }
  return result;
}
std::vector<std::uint64_t> Step::cyclesByTile() const {
  const StepCycles step = report_->steps[step_];
  std::vector<std::uint64_t> out = pando::facade::by_tile(*report_, step.tile_cycles);
  if (is_one_)
    for (std::uint64_t& n : out) n /= std::max<std::uint64_t>(1, step.executions);
  return out;
}
std::shared_ptr<Program> Step::program() const {
  const std::uint32_t part = pando::profile::part_of(*report_, report_->steps[step_]);
  return Program::make(report_, part > 0 ? 2 * std::size_t{part - 1} : 2 * report_->program.size() + report_->blocks.size() + step_);
}
std::vector<ExecutedComputeSet> Step::computeSets() const {
  if (report_->steps[step_].kind != "compute") return {};
  return {ExecutedComputeSet(report_, step_)};
}
std::string ExecutedComputeSet::name() const { return report_->steps[step_].name; }
std::vector<std::uint64_t> ExecutedComputeSet::cyclesByTile() const {
  return pando::facade::by_tile(*report_, report_->steps[step_].tile_cycles);
}

std::vector<Step> Execution::steps() const {
  std::vector<Step> result;
  for (std::size_t i = 0; i < report_->steps.size(); ++i) result.push_back(Step(report_, i));
  return result;
}
std::vector<Run> Execution::runs() const {
  std::vector<Run> result;
  for (std::size_t i = 0; i < report_->run_times.size(); ++i) result.push_back(Run(report_, i));
  return result;
}

std::string Run::name() const { return report_->run_times[run_].name; }
unsigned Run::program() const { return report_->run_times[run_].program; }
Interval Run::cycles() const { return {report_->run_times[run_].begin, report_->run_times[run_].end}; }
Interval Run::microseconds() const {
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < run_; ++i) before += report_->run_times[i].host_ns;
  return {before / 1000, (before + report_->run_times[run_].host_ns) / 1000};
}

namespace {

struct Executed {
  std::uint64_t start, end;
  std::uint32_t step;
};

// Reads a stream's trace: what begins in [from, to).
class TraceReader {
 public:
  TraceReader(std::span<const pando::profile::TraceRow> rows, std::uint64_t from, std::uint64_t to, std::vector<Executed>& out)
      : rows_(rows), from_(from), to_(to), out_(out) {}

  void read(std::size_t first, std::size_t last, std::uint64_t clock) {
    for (std::size_t row = first; row < last && clock < to_;) {
      const pando::profile::TraceRow& r = rows_[row];
      if (r.rows == 0) {
        event(r, clock);
        ++row;
        continue;
      }
      const std::uint64_t skipped = r.cycles > 0 && from_ > clock ? std::min(r.times, (from_ - clock) / r.cycles) : 0;
      for (std::uint64_t n = skipped; n < r.times && clock + n * r.cycles < to_; ++n) read(row + 1, row + 1 + r.rows, clock + n * r.cycles);
      clock += r.times * r.cycles;
      row += 1 + r.rows;
    }
  }

 private:
  void event(const pando::profile::TraceRow& r, std::uint64_t& clock) {
    for (std::uint64_t n = 0; n < r.times; ++n) {
      clock += r.gap;
      if (clock >= from_ && clock < to_) out_.push_back({clock, clock + r.cycles, r.step});
      if (out_.size() > kMostExecutedSteps)
        pando::fail(pando::ErrorKind::invalid_option, "report-steps",
                    "the run has more than {} executed steps: Execution::steps has their sums, `pando report --trace --from --to` writes a "
                    "part of them",
                    kMostExecutedSteps);
      clock += r.cycles;
    }
  }

  std::span<const pando::profile::TraceRow> rows_;
  const std::uint64_t from_, to_;
  std::vector<Executed>& out_;
};

}  // namespace

std::vector<Step> Run::steps() const {
  const pando::profile::RunTimes& run = report_->run_times[run_];
  std::vector<Executed> found;
  for (const std::vector<pando::profile::TraceRow>& trace : report_->traces)
    TraceReader(trace, run.begin, run.end, found).read(0, trace.size(), 0);
  std::ranges::stable_sort(found, {}, &Executed::start);
  std::vector<Step> result;
  for (const Executed& e : found) result.push_back(Step(report_, e.step, e.start, e.end));
  return result;
}

}  // namespace pva
