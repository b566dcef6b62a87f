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

namespace {

// `number` on the tiles of [begin, end), as far as `tiles` has them; `out` begins at the first of `tiles`.
void put(std::vector<std::uint64_t>& out, Interval tiles, std::uint64_t begin, std::uint64_t end, std::uint64_t number) {
  for (std::uint64_t t = std::max(begin, tiles.begin); t < std::min(end, tiles.end); ++t) out[t - tiles.begin] = number;
}

std::vector<std::uint64_t> by_tile(const std::vector<std::uint64_t>& ranges, Interval tiles) {
  std::vector<std::uint64_t> out(tiles.size());
  for (std::size_t i = 0; i + 2 < ranges.size(); i += 3) put(out, tiles, ranges[i], ranges[i + 1], ranges[i + 2]);
  return out;
}

}  // namespace

const profile::BlockStream* stream_of(const profile::Report& report, const profile::StepCycles& step) {
  const auto it = std::ranges::find(report.block_streams, step.stream, &profile::BlockStream::stream);
  return it == report.block_streams.end() ? nullptr : &*it;
}

std::vector<std::uint64_t> by_tile(const profile::Report& report, const std::vector<std::uint64_t>& ranges) {
  if (ranges.empty()) return {};
  return by_tile(ranges, {0, report.target.tiles});
}

std::vector<std::uint64_t> cycles_by_tile(const profile::Report& report, const profile::StepCycles& step, std::optional<Interval> of) {
  const Interval tiles = of.value_or(Interval{0, report.target.tiles});
  if (step.profile > 0) return by_tile(report.tile_profiles[step.profile - 1].ranges, tiles);
  std::vector<std::uint64_t> out(tiles.size());
  const profile::BlockStream* stream = stream_of(report, step);
  if (stream == nullptr || step.executions == 0) return out;
  const std::uint64_t each = (step.cycles.total() - step.cycles.wait) / step.executions;
  for (const Interval& range : ranges_of(*stream)) put(out, tiles, range.begin, range.end, each);
  return out;
}

Interval tiles_of(const profile::Report& report, std::size_t ipu) {
  const std::uint64_t n = report.target.tiles_per_ipu, all = report.target.tiles;
  return {std::min(ipu * n, all), std::min((ipu + 1) * n, all)};
}

bool has_memory(const profile::ProgramStep& part) { return !stands_around(part) && part.kind != "call"; }

std::vector<Interval> ranges_of(const profile::BlockStream& stream) {
  std::vector<Interval> out;
  for (std::size_t i = 0; i + 1 < stream.tiles.size(); i += 2) out.push_back({stream.tiles[i], stream.tiles[i + 1]});
  return out;
}

std::size_t checked_ipu(const profile::Report& report, unsigned ipu, const char* what) {
  if (ipu >= report.target.ipus)
    fail(ErrorKind::index_error, "report-ipu", "{} of IPU {}: the report has {} IPUs", what, ipu, report.target.ipus);
  return ipu;
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

// Cycles of each tile of an IPU at one execution, waiting left out.
std::vector<std::uint64_t> cycles_on(const pando::profile::Report& report, const StepCycles& step, unsigned ipu) {
  return pando::facade::cycles_by_tile(report, step, pando::facade::tiles_of(report, ipu));
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
  const pando::profile::BlockStream* stream = pando::facade::stream_of(*report_, report_->steps[step_]);
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
