#include "cycles/cycle_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>

#include "cycles/cost_table.h"
#include "cycles/facts.h"
#include "cycles/line_cycles.h"
#include "cycles/trace_fold.h"
#include "tile/step.h"

namespace pando::cycles {

namespace {

// What replica 0 did with one instruction.
struct Executed {
  std::uint64_t times = 0;
  std::uint64_t wait = 0;
  std::uint64_t first_begin = 0;
  std::uint64_t first_number = 0;  // position among the stream's executed instructions
};

struct Slice {
  std::uint32_t instruction = 0;
  std::uint64_t begin = 0, end = 0;
};

// One stream of one replica. A cache line of its own: streams run on different threads.
struct alignas(64) Clock {
  std::uint64_t now = 0;
  // The first stream that reports a sync moves the clocks of all that take part. They report it later, and find here when they came.
  bool is_synced = false;
  std::uint64_t came = 0;
};

constexpr std::size_t kMostRuns = 1 << 16;  // whose times are kept

constexpr std::uint64_t kOpen = ~std::uint64_t{0};  // a block that has not ended

struct Block {
  std::uint32_t instruction = 0;  // the mark of its begin
  std::uint64_t begin = 0;
  std::uint64_t end = kOpen;
};

// A channel of one replica: when its blocks came to the receiver's slots, and when they were taken out, by slot.
struct ChannelClock {
  std::uint64_t sent = 0, received = 0;
  std::vector<std::uint64_t> arrived, freed;
};

struct StreamRecord {              // replica 0
  std::vector<Executed> executed;  // by instruction
  std::uint64_t steps = 0;
  std::uint64_t wait_between_runs = 0;
  std::vector<Slice> slices;
  std::vector<Block> blocks;
  std::vector<std::size_t> open_blocks;  // where they stand in `blocks`, or beyond
  std::uint64_t blocks_lost = 0;
  TraceFold trace;
  std::uint64_t trace_end = 0;  // of its last event
};

std::string name_of(const tile::Program& program, const tile::Instruction& i) {
  return i.name.valid() && i.name.index() < program.names.size() ? program.names[i.name.index()] : std::string();
}

}  // namespace

namespace {
bool is_channel_step(const tile::Instruction& i) {
  const tile::Work work = tile::row_of(i.op).work;
  return work == tile::Work::send || work == tile::Work::receive;
}
}  // namespace

struct CycleModel::State {
  CostTable costs;
  const Library library;
  Options options;
  std::size_t streams;
  std::vector<Clock> clocks;  // [replica * streams + stream]
  std::vector<StreamRecord> records;
  std::uint64_t runs = 0;
  std::vector<profile::RunTimes> run_times;  // the first ones
  bool is_described = true;                  // the last run, of those
  std::vector<ChannelClock> channels;        // [replica * channels + channel]
  std::mutex mutex;                          // of clocks, where streams sync, and of channels

  State(std::shared_ptr<const tile::Program> program, const Library& library, const Options& o)
      : costs(std::move(program), library, o.exchange), library(library), options(o), streams(costs.program().streams.size()) {
    clear();
  }

  void clear() {
    clocks.assign(streams * std::max(1u, costs.program().replication), Clock());
    records.assign(streams, StreamRecord());
    for (std::size_t s = 0; s < streams; ++s) records[s].executed.resize(costs.program().streams[s].code.size());
    runs = 0;
    run_times.clear();
    is_described = true;
    costs.forget_runs();
    if (channels.empty()) return empty_channels();
    for (ChannelClock& c : channels)  // their blocks stay
      for (auto* times : {&c.arrived, &c.freed}) std::fill(times->begin(), times->end(), 0);
  }

  void empty_channels() {
    channels.clear();
    for (unsigned r = 0; r < std::max(1u, costs.program().replication); ++r)
      for (const tile::Channel& c : costs.program().channels)
        channels.push_back({0, 0, std::vector<std::uint64_t>(c.capacity), std::vector<std::uint64_t>(c.capacity)});
  }

  // A channel with a capacity: when the step of this end can begin, at the earliest; when it ends is known afterwards.
  std::uint64_t* pass_channel(ReplicaId replica, const tile::Instruction& instruction, std::uint64_t& earliest) {
    const tile::Channel& c = costs.program().channels[instruction.a];
    ChannelClock& clock = channels[replica.index() * costs.program().channels.size() + instruction.a];
    const bool sends = tile::row_of(instruction.op).work == tile::Work::send;
    const std::uint64_t block = (sends ? clock.sent++ : clock.received++) % c.capacity;
    earliest = (sends ? clock.freed : clock.arrived)[block];
    return &(sends ? clock.arrived : clock.freed)[block];
  }

  Clock& clock(ReplicaId r, StreamId s) { return clocks[r.index() * streams + s.index()]; }

  // Where all that take part in the sync leave it; the others' clocks move too.
  void pass_sync(ReplicaId replica, StreamId stream, const tile::Instruction& instruction, std::uint64_t cost) {
    std::span<const StreamId> members(&stream, 1);
    if (instruction.sync.valid()) members = costs.program().syncs[instruction.sync.index()].streams;
    std::array<StreamId, 2> ends;
    if (is_channel_step(instruction)) {
      const tile::Channel& c = costs.program().channels[instruction.a];
      ends = {c.sender, c.receiver};
      members = ends;
    }
    bool across = tile::row_of(instruction.op).work == tile::Work::cross_replica;
    std::size_t begin = across ? 0 : replica.index(), end = across ? clocks.size() / streams : begin + 1;
    std::uint64_t latest = 0;
    for (std::size_t r = begin; r < end; ++r)
      for (StreamId s : members) latest = std::max(latest, clocks[r * streams + s.index()].now);
    for (std::size_t r = begin; r < end; ++r)
      for (StreamId s : members) {
        Clock& c = clocks[r * streams + s.index()];
        c = {latest + cost, true, c.now};
      }
  }

  // A mark of a block. A run that ended in an error may have left some open.
  void mark(StreamId stream, std::uint32_t instruction, tile::Op op) {
    StreamRecord& record = records[stream.index()];
    const std::uint64_t now = clocks[stream.index()].now;
    if (op == tile::Op::block_end) {
      if (record.open_blocks.back() < record.blocks.size()) record.blocks[record.open_blocks.back()].end = now;
      return record.open_blocks.pop_back();
    }
    const bool keeps = record.blocks.size() < options.trace_steps;
    record.open_blocks.push_back(keeps ? record.blocks.size() : kOpen);
    if (keeps)
      record.blocks.push_back({instruction, now});
    else
      ++record.blocks_lost;
  }

  void record(StreamId stream, std::uint32_t instruction, std::uint64_t came, std::uint64_t begin, std::uint64_t end) {
    StreamRecord& record = records[stream.index()];
    Executed& e = record.executed[instruction];
    if (e.times++ == 0) e.first_begin = begin, e.first_number = record.steps;
    e.wait += begin - came;
    ++record.steps;
    if (end == begin) return;
    if (record.slices.size() < options.trace_steps) record.slices.push_back({instruction, begin, end});
    if (!options.keeps_trace) return;
    record.trace.add(instruction, begin - record.trace_end, end - begin);
    record.trace_end = end;
  }
};

CycleModel::CycleModel(std::shared_ptr<const tile::Program> program, const Library& library, const Options& options)
    : state_(std::make_unique<State>(std::move(program), library, options)) {}

CycleModel::~CycleModel() = default;

void CycleModel::on_begin(unsigned program) {
  State& s = *state_;
  ++s.runs;
  std::uint64_t latest = 0;
  for (const Clock& c : s.clocks) latest = std::max(latest, c.now);
  for (std::size_t i = 0; i < s.streams; ++i) s.records[i].wait_between_runs += latest - s.clocks[i].now;
  s.is_described = s.run_times.size() == kMostRuns;
  if (!s.is_described) s.run_times.push_back({program, latest, latest, 0});
  for (StreamRecord& r : s.records) r.open_blocks.clear();
  for (Clock& c : s.clocks) c = {latest, false, 0};  // a run that ended in an error may have left a sync half reported
}

void CycleModel::on_step(const tile::StepEvent& event) {
  State& s = *state_;
  const std::uint64_t cost = event.counted.empty() ? s.costs.total(event.stream, event.instruction)
                                                   : s.costs.total_as_run(event.stream, event.instruction, event.replica.index() == 0,
                                                                          event.counted, event.counted_blocks);
  const tile::Instruction& instruction = s.costs.program().streams[event.stream.index()].code[event.instruction];
  if (instruction.op == tile::Op::block_begin || instruction.op == tile::Op::block_end) {
    if (event.replica.index() == 0) s.mark(event.stream, event.instruction, instruction.op);
    return;
  }
  Clock& clock = s.clock(event.replica, event.stream);
  std::uint64_t came = 0;
  if (is_channel_step(instruction) && s.costs.program().channels[instruction.a].capacity > 0) {
    std::lock_guard lock(s.mutex);
    std::uint64_t earliest = 0;
    std::uint64_t* const end = s.pass_channel(event.replica, instruction, earliest);
    came = clock.now;
    clock.now = std::max(came, earliest) + cost;
    *end = clock.now;
  } else if (!is_channel_step(instruction) && !instruction.sync.valid() && tile::row_of(instruction.op).work != tile::Work::cross_replica) {
    came = clock.now;
    clock.now += cost;
  } else {
    // Under the lock from the first look at the clock on: another stream of this sync may be moving it.
    std::lock_guard lock(s.mutex);
    if (!clock.is_synced) s.pass_sync(event.replica, event.stream, instruction, cost);
    clock.is_synced = false;
    came = clock.came;
  }
  if (event.replica.index() == 0) s.record(event.stream, event.instruction, came, clock.now - cost, clock.now);
}

void CycleModel::on_end() {
  State& s = *state_;
  if (s.runs > s.run_times.size()) return;
  for (const Clock& c : s.clocks) s.run_times.back().end = std::max(s.run_times.back().end, c.now);
}

void CycleModel::describe_run(const std::string& name, std::uint64_t host_ns) {
  State& s = *state_;
  if (std::exchange(s.is_described, true)) return;
  s.run_times.back().name = name;
  s.run_times.back().host_ns = host_ns;
}

void CycleModel::on_empty_channels() { state_->empty_channels(); }

std::uint64_t CycleModel::cycles(ReplicaId replica, StreamId stream) const { return state_->clock(replica, stream).now; }

void CycleModel::reset() { state_->clear(); }

namespace {

struct FirstSeen {
  std::uint64_t begin = 0;
  std::uint32_t stream = 0;
  std::uint64_t number = 0;
  std::uint32_t instruction = 0;
};

std::vector<FirstSeen> in_first_execution_order(const std::vector<StreamRecord>& records) {
  std::vector<FirstSeen> seen;
  for (std::uint32_t s = 0; s < records.size(); ++s)
    for (std::uint32_t i = 0; i < records[s].executed.size(); ++i)
      if (const Executed& e = records[s].executed[i]; e.times > 0) seen.push_back({e.first_begin, s, e.first_number, i});
  std::sort(seen.begin(), seen.end(), [](const FirstSeen& a, const FirstSeen& b) {
    return std::tuple(a.begin, a.stream, a.number) < std::tuple(b.begin, b.stream, b.number);
  });
  return seen;
}

profile::StepCycles step_of(const tile::Program& program, const InstructionCost& cost, const Executed& e, std::uint32_t stream,
                            const tile::Instruction& i) {
  profile::StepCycles step;
  step.stream = program.streams[stream].name;
  step.name = name_of(program, i);
  step.kind = kind_of(program, i);
  step.order = i.order;
  step.executions = e.times;
  step.cycles = cost.cycles * e.times;
  step.cycles.wait = e.wait;
  step.vertices = cost.vertices * e.times;
  step.unestimated_vertices = cost.unestimated * e.times;
  step.exchanged_bytes = cost.received_bytes * e.times;
  step.tile_balance = cost.tile_balance;
  return step;
}

// Begin, end, begin, end ... of ranges.
std::vector<std::uint32_t> tile_ranges(const tile::Stream& stream) {
  std::vector<std::uint32_t> out;
  for (const TileId tile : stream.tiles) {
    if (out.empty() || out.back() != tile.value) out.insert(out.end(), {tile.value, tile.value});
    ++out.back();
  }
  return out;
}

// Begin, end, cycles ... of ranges.
std::vector<std::uint64_t> times(std::vector<std::uint64_t> tiles, std::uint64_t n) {
  for (std::size_t i = 2; i < tiles.size(); i += 3) tiles[i] *= n;
  return tiles;
}
std::vector<std::uint64_t> evenly(const tile::Stream& stream, const profile::Cycles& cycles) {
  const std::vector<std::uint32_t> tiles = tile_ranges(stream);
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i + 1 < tiles.size(); i += 2) out.insert(out.end(), {tiles[i], tiles[i + 1], cycles.total() - cycles.wait});
  return out;
}

void fill_blocks(const tile::Program& program, const std::vector<StreamRecord>& records, profile::Report& report) {
  report.blocks.clear();
  report.block_streams.clear();
  report.blocks_lost = 0;
  for (const tile::Stream& stream : program.streams) report.block_streams.push_back(block_stream_of(stream));
  for (std::uint32_t s = 0; s < records.size(); ++s) {
    for (const Block& b : records[s].blocks) {
      if (b.end == kOpen) continue;
      const tile::Instruction& i = program.streams[s].code[b.instruction];
      report.blocks.push_back({name_of(program, i), s, i.b != 0, b.begin, b.end});
    }
    report.blocks_lost += records[s].blocks_lost;
  }
}

constexpr std::size_t kMostRanges = 4'000'000;  // of all profiles, exact ones

// The cycles by tile of compute steps. Steps that are alike share a profile: most steps of a layer are.
struct TileProfiles {
  std::vector<profile::TileProfile> all;
  std::map<std::vector<std::uint64_t>, std::uint32_t> known;
  std::size_t ranges = 0;

  std::uint32_t add(const std::vector<std::uint64_t>& tiles) {
    profile::TileProfile profile{true, tiles};
    if (ranges > kMostRanges) shorten(profile);
    const auto [it, added] = known.emplace(profile.ranges, static_cast<std::uint32_t>(all.size() + 1));
    if (!added) return it->second;
    ranges += profile.ranges.size() / 3;
    all.push_back(std::move(profile));
    return it->second;
  }

  // At most 64 ranges: neighbours get the cycles of the slowest of them.
  static void shorten(profile::TileProfile& profile) {
    constexpr std::size_t kShort = 64;
    const std::size_t n = profile.ranges.size() / 3, each = (n + kShort - 1) / kShort;
    if (each < 2) return;
    std::vector<std::uint64_t> out;
    for (std::size_t i = 0; i < n; ++i) {
      if (i % each == 0)
        out.insert(out.end(), profile.ranges.begin() + static_cast<std::ptrdiff_t>(3 * i),
                   profile.ranges.begin() + static_cast<std::ptrdiff_t>(3 * i + 3));
      out[out.size() - 2] = profile.ranges[3 * i + 1];
      out.back() = std::max(out.back(), profile.ranges[3 * i + 2]);
    }
    profile = {false, std::move(out)};
  }
};

void add_slowest(const tile::Program& program, const ComputeCost& cost, profile::StepCycles& step, TileProfiles& profiles) {
  if (cost.tiles.empty()) return;
  step.profile = profiles.add(cost.tiles);
  step.slowest_tile = cost.slowest_tile.valid() ? cost.slowest_tile.value : 0;
  step.slowest_cycles = cost.slowest_cycles;
  step.used_workers = cost.used_workers;
  const std::size_t c = cost.slowest_codelet.index();
  if (cost.slowest_codelet.valid())
    step.slowest_codelet = c < program.codelet_names.size() ? program.codelet_names[c] : "codelet " + std::to_string(c);
}

// Events name instructions; the report's name rows of its steps.
void fill_traces(const std::vector<StreamRecord>& records, profile::Report& report) {
  std::vector<std::vector<std::uint32_t>> step_of(records.size());
  for (std::size_t s = 0; s < records.size(); ++s) step_of[s].resize(records[s].executed.size());
  std::uint32_t row = 0;
  for (const FirstSeen& f : in_first_execution_order(records)) step_of[f.stream][f.instruction] = row++;
  report.traces.clear();
  report.events_lost = 0;
  for (std::size_t s = 0; s < records.size(); ++s) {
    report.traces.push_back(records[s].trace.rows());
    report.events_lost += records[s].trace.lost();
    for (profile::TraceRow& r : report.traces.back())
      if (r.rows == 0) r.step = step_of[s][r.step];
  }
}

}  // namespace

profile::BlockStream block_stream_of(const tile::Stream& stream) { return {stream.name, stream.ipu.value, stream.io, tile_ranges(stream)}; }

void CycleModel::fill(profile::Report& report, bool by_tile, Detail detail) const {
  const State& s = *state_;
  const tile::Program& program = s.costs.program();
  report.executed = s.runs > 0;
  report.runs = s.runs;
  report.total_cycles = 0;
  report.run_times = s.run_times;
  report.streams.clear();
  report.steps.clear();
  report.codelets.clear();
  for (std::size_t i = 0; i < s.streams; ++i) {
    report.streams.push_back({program.streams[i].name, {}, s.clocks[i].now});
    report.streams[i].cycles.wait = s.records[i].wait_between_runs;
    report.total_cycles = std::max(report.total_cycles, s.clocks[i].now);
  }
  fill_blocks(program, s.records, report);
  std::vector<CodeletShare> codelets(program.codelet_names.size());
  TileProfiles profiles;
  LineCycles lines(program, s.library);
  for (const FirstSeen& f : in_first_execution_order(s.records)) {
    const tile::Instruction& i = program.streams[f.stream].code[f.instruction];
    const Executed& e = s.records[f.stream].executed[f.instruction];
    report.steps.push_back(step_of(program, s.costs.cost(StreamId(f.stream), f.instruction), e, f.stream, i));
    const CostTable::AsRun* const as_run = s.costs.as_run(StreamId(f.stream), f.instruction);
    if (as_run) report.steps.back().cycles.compute = as_run->cycles;
    report.streams[f.stream].cycles = report.streams[f.stream].cycles + report.steps.back().cycles;
    const bool computes = tile::row_of(i.op).work == tile::Work::compute;
    if (by_tile)
      report.steps.back().tile_cycles = computes ? times(s.costs.compute(tile::ComputeId(i.a)).tiles, e.times)
                                                 : evenly(program.streams[f.stream], report.steps.back().cycles);
    if (!computes) continue;
    if (detail == Detail::whole) add_slowest(program, s.costs.compute(tile::ComputeId(i.a)), report.steps.back(), profiles);
    if (detail == Detail::whole) {
      lines.add(program.computes[i.a], e.times);
      if (as_run) lines.add_as_run(program.computes[i.a], as_run->blocks);
    }
    const std::uint64_t times = as_run ? 1 : e.times;
    for (const CodeletShare& share : as_run ? as_run->codelets : s.costs.compute(tile::ComputeId(i.a)).codelets) {
      if (share.codelet.index() >= codelets.size()) codelets.resize(share.codelet.index() + 1);
      CodeletShare& sum = codelets[share.codelet.index()];
      sum.instances += share.instances * times;
      sum.cycles += share.cycles * times;
      sum.counted += share.counted * times;
      sum.unestimated += share.unestimated * times;
    }
  }
  for (std::size_t c = 0; c < codelets.size(); ++c)
    if (codelets[c].instances > 0)
      report.codelets.push_back({c < program.codelet_names.size() ? program.codelet_names[c] : "codelet " + std::to_string(c),
                                 codelets[c].instances, codelets[c].cycles, codelets[c].unestimated == 0, 0,
                                 s.costs.source_of(codelets[c], c), lines.of(CodeletId(static_cast<std::uint32_t>(c)))});
  if (detail == Detail::summary) return;
  report.tile_profiles = std::move(profiles.all);
  fill_traces(s.records, report);
}

std::vector<profile::TraceSlice> CycleModel::trace() const {
  const State& s = *state_;
  const tile::Program& program = s.costs.program();
  std::vector<std::pair<std::uint32_t, Slice>> slices;
  for (std::uint32_t stream = 0; stream < s.records.size(); ++stream)
    for (const Slice& slice : s.records[stream].slices) slices.emplace_back(stream, slice);
  std::sort(slices.begin(), slices.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.second.begin, a.first, a.second.end) < std::tuple(b.second.begin, b.first, b.second.end);
  });
  slices.resize(std::min(slices.size(), s.options.trace_steps));
  std::vector<profile::TraceSlice> out;
  for (const auto& [stream, slice] : slices) {
    const tile::Instruction& i = program.streams[stream].code[slice.instruction];
    out.push_back({program.streams[stream].name, name_of(program, i), kind_of(program, i), slice.begin, slice.end});
  }
  return out;
}

}  // namespace pando::cycles
