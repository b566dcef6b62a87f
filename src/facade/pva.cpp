#include "pva/pva.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "facade/engine/compile_graph.h"
#include "facade/pva_facts.h"
#include "poplar/Graph.hpp"
#include "profile/facts.h"
#include "profile/report.h"

namespace pva {

using pando::ErrorKind;
using pando::fail;

std::uint64_t Graph::numVars() const { return report_->graph.variables; }
std::uint64_t Graph::numVertices() const { return report_->graph.vertices; }
std::uint64_t Graph::numComputeSets() const { return report_->graph.compute_sets; }
std::uint64_t Graph::numEdges() const { return report_->graph.edges; }

unsigned Target::numIPUs() const { return report_->target.ipus; }
unsigned Target::tilesPerIpu() const { return report_->target.tiles_per_ipu; }
unsigned Target::numTiles() const { return report_->target.tiles; }
unsigned Target::numReplicas() const { return report_->target.replicas; }
std::uint64_t Target::bytesPerTile() const { return report_->target.bytes_per_tile; }
double Target::clockFrequency() const { return report_->target.clock_hz; }
std::string Target::architecture() const { return report_->target.name; }
Target::Type Target::type() const { return report_->target.name == "cpu" ? Type::Cpu : Type::IpuModel; }

namespace {

std::uint64_t bytes_of(const pando::profile::Report& report, std::size_t tile, std::string_view name) {
  const auto& categories = report.categories;
  const auto it = std::find_if(categories.begin(), categories.end(), [&](const auto& c) { return c.category == name; });
  const auto i = static_cast<std::size_t>(it - categories.begin());
  const auto& bytes = report.tiles[tile].by_category;
  return i < bytes.size() ? bytes[i] : 0;
}

// Vertices on a tile.
std::uint64_t vertices_on(const std::vector<std::uint32_t>& ranges, std::size_t tile) {
  for (std::size_t i = 0; i + 2 < ranges.size(); i += 3)
    if (ranges[i] <= tile && tile < ranges[i + 1]) return ranges[i + 2];
  return 0;
}

std::vector<std::uint64_t> vertices_by_tile(const pando::profile::Report& report, const std::vector<std::uint32_t>& ranges) {
  return pando::facade::by_tile(report, {ranges.begin(), ranges.end()});
}

// Whether an exchange has data for another IPU.
bool crosses_ipus(const pando::profile::Report& report, const pando::profile::ProgramStep& part) {
  if (part.exchange == 0 || report.target.ipus < 2) return false;
  const pando::profile::ExchangeTraffic& e = report.exchanges[part.exchange - 1];
  return std::ranges::any_of(e.traffic, [&](const pando::profile::Traffic& t) {
    return t.from * e.block / report.target.tiles_per_ipu != t.to * e.block / report.target.tiles_per_ipu;
  });
}

}  // namespace

MemoryCategory MemoryCategories::of(const char* name) const { return MemoryCategory(bytes_of(*report_, tile_, name)); }

MemoryTotal TileMemory::total() const { return MemoryTotal(report_->tiles[tile_].used, report_->tiles[tile_].with_gaps); }
MemoryTotal TileMemory::overflowed() const {
  const std::uint64_t limit = report_->target.bytes_per_tile;
  const auto beyond = [&](std::uint64_t bytes) { return limit > 0 && bytes > limit ? bytes - limit : 0; };
  return MemoryTotal(beyond(report_->tiles[tile_].used), beyond(report_->tiles[tile_].with_gaps));
}
std::uint64_t TileMemory::alwaysLiveBytes() const { return report_->tiles[tile_].always_live; }
std::uint64_t TileMemory::variables() const { return category("variable") + category("constant"); }
std::uint64_t TileMemory::category(const std::string& name) const { return bytes_of(*report_, tile_, name); }

std::vector<VertexInstances> TileMemory::vertices() const {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& set : report_->compute_sets)
    for (const auto& codelet : set.codelets)
      if (const std::uint64_t n = vertices_on(codelet.tiles, tile_); n > 0) counts[codelet.codelet] += n;
  std::vector<VertexInstances> result;
  for (const auto& [codelet, n] : counts) {
    std::vector<std::uint64_t> on(report_->target.tiles);
    on[tile_] = n;
    result.push_back(VertexInstances(codelet, n, std::move(on)));
  }
  return result;
}

std::string ComputeSet::name() const { return report_->compute_sets[index_].name; }
std::vector<VertexInstances> ComputeSet::vertices() const {
  std::vector<VertexInstances> result;
  for (const auto& codelet : report_->compute_sets[index_].codelets) {
    std::vector<std::uint64_t> on = vertices_by_tile(*report_, codelet.tiles);
    const std::uint64_t all = std::accumulate(on.begin(), on.end(), std::uint64_t{0});
    result.push_back(VertexInstances(codelet.codelet, all, std::move(on)));
  }
  return result;
}

std::vector<Tile> Ipu::tiles() const {
  std::vector<Tile> result;
  const pando::Interval tiles = pando::facade::tiles_of(*report_, ipu_);
  for (std::size_t i = tiles.begin; i < tiles.end; ++i) result.push_back(Tile(report_, i));
  return result;
}
std::vector<Ipu> Compilation::ipus() const {
  std::vector<Ipu> result;
  for (std::size_t i = 0; i < report_->target.ipus; ++i) result.push_back(Ipu(report_, i));
  return result;
}

std::vector<Tile> Compilation::tiles() const {
  std::vector<Tile> result;
  for (std::size_t i = 0; i < report_->tiles.size(); ++i) result.push_back(Tile(report_, i));
  return result;
}
std::vector<ComputeSet> Compilation::computeSets() const {
  std::vector<ComputeSet> result;
  for (std::size_t i = 0; i < report_->compute_sets.size(); ++i) result.push_back(ComputeSet(report_, i));
  return result;
}
std::vector<std::shared_ptr<Program>> Compilation::programs() const {
  std::vector<std::shared_ptr<Program>> result;
  for (std::size_t i = 0; i < report_->program.size(); ++i) {
    result.push_back(Program::make(report_, 2 * i));
    if (report_->program[i].kind == "loop") result.push_back(Program::make(report_, 2 * i + 1));
  }
  return result;
}
std::string Compilation::outOfMemory() const { return report_->out_of_memory; }

namespace {

// What a program's index stands for.
struct Meaning {
  const pando::profile::ProgramStep* part = nullptr;
  const pando::profile::BlockCycles* block = nullptr;
  std::size_t index = 0;  // of the part
  bool is_body = false;
  std::optional<pando::profile::StepCycles> step = {};  // that has no part
};

Meaning meaning_of(const pando::profile::Report& report, std::size_t index) {
  const std::size_t parts = 2 * report.program.size();
  if (index < parts) return {&report.program[index / 2], nullptr, index / 2, index % 2 == 1};
  const std::size_t rest = index - parts;
  if (rest < report.blocks.size()) return {nullptr, &report.blocks[rest], 0, false};
  return {nullptr, nullptr, 0, false, report.steps[rest - report.blocks.size()]};
}

}  // namespace

std::string Program::name() const {
  const Meaning m = meaning_of(*report_, index_);
  return m.part ? m.part->name : m.block ? m.block->name : m.step->name;
}
Program::Type Program::type() const {
  const Meaning m = meaning_of(*report_, index_);
  if (m.block && m.block->stream_copy) return Type::StreamCopyMid;
  if (m.step && m.step->kind == "sync") return Type::Sync;
  if (!m.part) return Type::Unknown;
  if (m.is_body) return Type::Sequence;
  const std::string& kind = m.part->kind;
  if (kind == "loop") return Type::Repeat;
  if (kind == "case" || kind == "function") return Type::Sequence;
  if (kind == "call") return Type::Call;
  if (kind == "if") return Type::If;
  if (kind == "switch") return Type::Switch;
  if (kind == "compute") return Type::OnTileExecute;
  if (kind == "exchange") return crosses_ipus(*report_, *m.part) ? Type::GlobalExchange : Type::DoExchange;
  if (kind == "replicas") return Type::GlobalExchange;
  if (kind == "sync") return Type::Sync;
  return kind == "host" || kind == "remote" ? Type::StreamCopyMid : Type::Unknown;
}
std::vector<std::shared_ptr<Program>> Program::children() const {
  const Meaning m = meaning_of(*report_, index_);
  if (!m.part) return {};
  if (type() == Type::Repeat) return {make(report_, index_ + 1)};
  if (type() == Type::Call)
    return m.part->calls > 0 ? std::vector{make(report_, 2 * std::size_t{m.part->calls - 1})} : std::vector<std::shared_ptr<Program>>();
  std::vector<std::shared_ptr<Program>> result;
  if (!stands_around(*m.part)) return result;
  for (std::size_t i = m.index + 1; i < report_->program.size(); ++i)
    if (report_->program[i].inside == m.index + 1) result.push_back(make(report_, 2 * i));
  return result;
}
void Program::accept(ProgramVisitor&) const {}
void OnTileExecuteProgram::accept(ProgramVisitor& visitor) const { visitor.visitOnTileExecute(*this); }
void DoExchangeProgram::accept(ProgramVisitor& visitor) const { visitor.visitDoExchange(*this); }
void CallProgram::accept(ProgramVisitor& visitor) const { visitor.visitCall(*this); }
void IfProgram::accept(ProgramVisitor& visitor) const { visitor.visitIf(*this); }
void SwitchProgram::accept(ProgramVisitor& visitor) const { visitor.visitSwitch(*this); }
void RepeatProgram::accept(ProgramVisitor& visitor) const { visitor.visitRepeat(*this); }
void SequenceProgram::accept(ProgramVisitor& visitor) const { visitor.visitSequence(*this); }
void StreamCopyMidProgram::accept(ProgramVisitor& visitor) const { visitor.visitStreamCopyMid(*this); }
void GlobalExchangeProgram::accept(ProgramVisitor& visitor) const { visitor.visitGlobalExchange(*this); }
void SyncProgram::accept(ProgramVisitor& visitor) const { visitor.visitSync(*this); }

namespace {

// Cycles of each tile at one execution of the parts of the program that `is_it` says: each stream has a step of its own for them, and tiles
// of its own.
template <class IsIt>
std::vector<std::uint64_t> estimated_cycles(const pando::profile::Report& report, const std::string& name, IsIt is_it) {
  std::vector<std::uint64_t> out;
  std::set<std::string> streams;
  for (std::size_t i = 0; i < report.steps.size(); ++i) {
    const pando::profile::StepCycles step = report.steps[i];
    const std::uint32_t part = pando::profile::part_of(report, step);
    if (part == 0 || !is_it(part - 1) || !streams.insert(step.stream).second) continue;
    const std::vector<std::uint64_t> cycles = pando::facade::cycles_by_tile(report, step);
    out.resize(cycles.size());
    for (std::size_t tile = 0; tile < cycles.size(); ++tile) out[tile] += cycles[tile];
  }
  if (streams.empty()) fail(ErrorKind::profiling_disabled, "no-execution", "'{}' has no cycles: the report has no execution of it", name);
  return out;
}

}  // namespace

std::vector<std::uint64_t> ComputeSet::estimatedCyclesByTile() const {
  return estimated_cycles(*report_, name(), [&](std::size_t part) { return report_->program[part].compute_set == index_ + 1; });
}
std::vector<std::uint64_t> ExchangeProgram::estimatedCyclesByTile() const {
  const Meaning m = meaning_of(*report_, index_);
  return estimated_cycles(*report_, name(), [&](std::size_t part) { return part == m.index; });
}

ComputeSet OnTileExecuteProgram::computeset() const { return {report_, meaning_of(*report_, index_).part->compute_set - 1}; }

std::shared_ptr<Program> Program::make(const std::shared_ptr<const pando::profile::Report>& report, std::size_t index) {
  std::shared_ptr<Program> plain(new Program(report, index));
  switch (plain->type()) {
    case Type::OnTileExecute: return std::shared_ptr<Program>(new OnTileExecuteProgram(report, index));
    case Type::DoExchange: return std::shared_ptr<Program>(new DoExchangeProgram(report, index));
    case Type::Call: return std::shared_ptr<Program>(new CallProgram(report, index));
    case Type::If: return std::shared_ptr<Program>(new IfProgram(report, index));
    case Type::Switch: return std::shared_ptr<Program>(new SwitchProgram(report, index));
    case Type::Repeat: return std::shared_ptr<Program>(new RepeatProgram(report, index));
    case Type::Sequence: return std::shared_ptr<Program>(new SequenceProgram(report, index));
    case Type::StreamCopyMid: return std::shared_ptr<Program>(new StreamCopyMidProgram(report, index));
    case Type::GlobalExchange: return std::shared_ptr<Program>(new GlobalExchangeProgram(report, index));
    case Type::Sync: return std::shared_ptr<Program>(new SyncProgram(report, index));
    default: return plain;
  }
}

namespace {

// Of the placements [first, last) those that are live at an order, or always (no order), by resident.
pando::profile::Residents live_of(const pando::profile::Report& report, std::size_t first, std::size_t last,
                                  std::optional<std::uint32_t> order) {
  std::vector<std::uint64_t> bytes(report.residents.size());
  for (std::size_t i = first; i < last; ++i) {
    const pando::profile::Placement& p = report.placements[i];
    if (order ? p.live > 0 && pando::profile::is_live(report, p, *order) : p.live == 0) bytes[p.resident] += p.size;
  }
  pando::profile::Residents out;
  for (std::uint32_t r = 0; r < bytes.size(); ++r)
    if (bytes[r] > 0) out.emplace_back(r, bytes[r]);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

// The placements [first, last) on tiles that follow each other.
std::pair<std::size_t, std::size_t> placements_on(const pando::profile::Report& report, pando::Interval tiles) {
  if (tiles.empty()) return {0, 0};
  return {pando::profile::placements_of(report, static_cast<std::uint32_t>(tiles.begin)).first,
          pando::profile::placements_of(report, static_cast<std::uint32_t>(tiles.end - 1)).second};
}

}  // namespace

std::vector<LivenessVariable> LivenessVariable::of(const pando::profile::Report& report, const pando::profile::Residents& residents) {
  std::vector<LivenessVariable> result;
  for (const auto& [r, bytes] : residents) result.push_back(LivenessVariable(report.residents[r].name, bytes));
  return result;
}

// Over all tiles the report has the sum of each step: what asks for it at each step would else look at every placement each time.
std::uint64_t LivenessMemory::bytes() const {
  const std::uint32_t order = report_->program[part_].order;
  std::uint64_t sum = 0;
  if (!all_tiles_) {
    for (const LivenessVariable& v : variables()) sum += v.size();
    return sum;
  }
  for (const pando::profile::StreamLiveness& stream : report_->liveness) {
    const auto less = [](const pando::profile::LiveStep& s, std::uint32_t o) { return s.order < o; };
    const auto it = std::lower_bound(stream.steps.begin(), stream.steps.end(), order, less);
    if (it != stream.steps.end() && it->order == order) sum += it->live_bytes;
  }
  return sum;
}
std::vector<LivenessVariable> LivenessMemory::variables() const {
  const auto [first, last] = all_tiles_ ? std::pair(std::size_t{0}, report_->placements.size()) : placements_on(*report_, {begin_, end_});
  return LivenessVariable::of(*report_, live_of(*report_, first, last, report_->program[part_].order));
}

std::shared_ptr<Program> LivenessProgramStep::program() const { return Program::make(report_, 2 * part_); }
LivenessMemory LivenessProgramStep::notAlwaysLiveMemory() const { return LivenessMemory(report_, part_); }
LivenessMemory LivenessProgramStep::notAlwaysLiveMemoryForTile(unsigned tile) const {
  const std::size_t of = pando::facade::checked_tile(*report_, tile, "live memory");
  return LivenessMemory(report_, part_, of, of + 1);
}
LivenessMemory LivenessProgramStep::notAlwaysLiveMemoryForIpu(unsigned ipu) const {
  const pando::Interval tiles = pando::facade::tiles_of(*report_, pando::facade::checked_ipu(*report_, ipu, "live memory"));
  return LivenessMemory(report_, part_, tiles.begin, tiles.end);
}

std::vector<LivenessProgramStep> Compilation::livenessProgramSteps() const {
  std::vector<LivenessProgramStep> result;
  for (std::size_t i = 0; i < report_->program.size(); ++i)
    if (pando::facade::has_memory(report_->program[i])) result.push_back(LivenessProgramStep(report_, i));
  return result;
}
std::vector<LivenessVariable> Compilation::alwaysLiveVariables() const {
  return LivenessVariable::of(*report_, live_of(*report_, 0, report_->placements.size(), std::nullopt));
}
std::vector<LivenessVariable> Compilation::alwaysLiveVariablesForTile(unsigned tile) const {
  const auto [first, last] = pando::profile::placements_of(*report_, pando::facade::checked_tile(*report_, tile, "always live variables"));
  return LivenessVariable::of(*report_, live_of(*report_, first, last, std::nullopt));
}

std::vector<Var> ProgramWithVars::vars() const {
  const std::uint32_t order = meaning_of(*report_, index_).part->order;
  std::vector<Var> result;
  for (const auto& v : report_->variables) {
    if (v.always_live_bytes > 0) result.push_back(Var(v.name, v.always_live_bytes, true));
    std::uint64_t live = 0;
    for (std::size_t i = 0; i + 2 < v.live.size(); i += 3)
      if (v.live[i] <= order && order < v.live[i + 1]) live += v.live[i + 2];
    if (live > 0) result.push_back(Var(v.name, live, false));
  }
  return result;
}

std::uint64_t Block::cyclesFrom() const { return report_->blocks[block_].begin; }
std::uint64_t Block::cyclesTo() const { return report_->blocks[block_].end; }
std::shared_ptr<Program> Block::program() const { return Program::make(report_, 2 * report_->program.size() + block_); }
bool Block::isStreamCopy() const { return report_->blocks[block_].stream_copy; }

namespace {

bool has_tile(const pando::profile::BlockStream& stream, unsigned tile) {
  return std::ranges::any_of(pando::facade::ranges_of(stream), [&](const pando::Interval& r) { return r.begin <= tile && tile < r.end; });
}

}  // namespace

std::vector<Block> Execution::blocks(unsigned tile) const {
  const auto& streams = report_->block_streams;
  if (tile >= report_->target.tiles)
    fail(ErrorKind::index_error, "report-tile", "blocks of tile {}: the report has {} tiles", tile, report_->target.tiles);
  const unsigned per_ipu = std::max(1u, report_->target.tiles_per_ipu);
  auto of_tile = std::find_if(streams.begin(), streams.end(), [&](const auto& s) { return has_tile(s, tile); });
  if (of_tile == streams.end())
    of_tile = std::find_if(streams.begin(), streams.end(), [&](const auto& s) { return !s.io && s.ipu == tile / per_ipu; });
  std::vector<Block> result;
  for (std::size_t i = 0; i < report_->blocks.size(); ++i)
    if (of_tile - streams.begin() == static_cast<std::ptrdiff_t>(report_->blocks[i].stream)) result.push_back(Block(report_, i, tile));
  return result;
}

std::uint64_t Execution::totalCycles() const { return report_->total_cycles; }

std::string Version::string() const { return poplar::versionString().cloneAsString(); }

bool Report::hasExecution() const { return report_->executed; }
Execution Report::execution() const {
  if (!hasExecution())
    fail(ErrorKind::profiling_disabled, "no-execution", "the report has no execution: no program was run, or cycles were not counted");
  return Execution(report_);
}

Report openReport(const std::string& path) {
  return Report(std::make_shared<const pando::profile::Report>(pando::facade::read_report_file(path)));
}

}  // namespace pva
