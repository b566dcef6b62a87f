#include <algorithm>
#include <map>
#include <ostream>
#include <span>
#include <sstream>
#include <streambuf>

#include "base/check.h"
#include "profile/advice.h"
#include "profile/categories.h"
#include "profile/damage/damaged.h"
#include "profile/facts.h"
#include "profile/file/container.h"
#include "profile/report.h"

namespace pando::profile {

namespace {

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json report_document(const Report& r) {
  const TargetInfo& t = r.target;
  const Json target{{"name", t.name},
                    {"ipus", t.ipus},
                    {"tiles_per_ipu", t.tiles_per_ipu},
                    {"tiles", t.tiles},
                    {"workers", t.workers},
                    {"replicas", t.replicas},
                    {"bytes_per_tile", t.bytes_per_tile},
                    {"clock_hz", t.clock_hz},
                    {"flops_per_cycle_f32", t.flops_per_cycle_f32},
                    {"flops_per_cycle_f16", t.flops_per_cycle_f16},
                    {"load_bytes_per_cycle", t.load_bytes_per_cycle}};
  const GraphInfo& g = r.graph;
  const Json graph{
      {"variables", g.variables}, {"vertices", g.vertices}, {"compute_sets", g.compute_sets}, {"edges", g.edges}, {"programs", g.programs}};
  bool by_tile = false;
  for (const StepCycles& s : r.steps) by_tile = by_tile || !s.tile_cycles.empty();
  return {{"target", target},
          {"graph", graph},
          {"out_of_memory", r.out_of_memory},
          {"compiled_change", r.compiled_change},
          {"executed", r.executed},
          {"runs", r.runs},
          {"total_cycles", r.total_cycles},
          {"blocks_lost", r.blocks_lost},
          {"events_lost", r.events_lost},
          {"lowered_variables", !r.variables.empty()},
          {"tile_cycles", by_tile}};
}

Json categories_document(const Report& r) {
  Json list = Json::array();
  for (const CategoryBytes& c : r.categories) {
    const CategoryText text = category_text(c.category);
    list.push_back(
        {{"category", c.category}, {"estimated", c.estimated}, {"bytes", c.bytes}, {"meaning", text.meaning}, {"reduce", text.reduce}});
  }
  return list;
}

class ReportWriter {
 public:
  ReportWriter(const Report& report, ContainerWriter& file) : r_(report), f_(file) {
    for (std::size_t i = 0; i < r_.codelets.size(); ++i) codelets_.emplace(r_.codelets[i].codelet, i);
    for (const ComputeSetVertices& cs : r_.compute_sets)
      for (const CodeletVertices& c : cs.codelets) codelets_.emplace(c.codelet, codelets_.size());
    for (const BufferCause& b : r_.buffers) codelet(b.codelet);
  }

  void write() {
    f_.document("report", dumped(report_document(r_)));
    f_.document("categories", dumped(categories_document(r_)));
    f_.document("advice", advice_json(advise(r_)));
    if (!r_.plan.title.empty()) f_.document("plan", plan_json(r_.plan));
    if (!r_.predicted.title.empty()) f_.document("predicted", plan_json(r_.predicted));
    for (const Part& part : kParts) (this->*part.write)();
  }

  // Without the parts of the report that `table` is not in.
  void write_part_of(std::string_view table) {
    const auto has = [&](const Part& p) { return std::find(p.tables.begin(), p.tables.end(), table) != p.tables.end(); };
    const auto part = std::find_if(kParts.begin(), kParts.end(), has);
    PANDO_CHECK(part != kParts.end());
    (this->*part->write)();
  }

 private:
  struct Part {
    void (ReportWriter::*write)();
    std::vector<std::string_view> tables;
  };
  static const std::vector<Part> kParts;

  void write_sources() {
    for (const Source& s : r_.sources) f_.table("sources").add({f_.text(s.file), s.line});
  }

  std::uint64_t codelet(const std::string& name) { return codelets_.emplace(name, codelets_.size()).first->second; }

  // Streams in the order of block_streams; liveness and totals have their order.
  void write_streams() {
    const std::size_t n = std::max({r_.block_streams.size(), r_.liveness.size(), r_.streams.size()});
    TableWriter &streams = f_.table("streams"), &tiles = f_.table("stream_tiles"), &liveness = f_.table("liveness"),
                &trace = f_.table("trace");
    for (std::size_t i = 0; i < n; ++i) {
      const BlockStream* place = i < r_.block_streams.size() ? &r_.block_streams[i] : nullptr;
      const StreamLiveness* live = i < r_.liveness.size() ? &r_.liveness[i] : nullptr;
      const StreamTotals totals = i < r_.streams.size() ? r_.streams[i] : StreamTotals{};
      if (place)
        for (std::size_t k = 0; k + 1 < place->tiles.size(); k += 2) tiles.add({place->tiles[k], place->tiles[k + 1]});
      if (live)
        for (const LiveStep& s : live->steps) liveness.add({s.order, f_.text(s.name), s.live_bytes, s.worst_tile_bytes, s.worst_tile});
      if (i < r_.traces.size())
        for (const TraceRow& t : r_.traces[i]) trace.add({t.step, t.gap, t.cycles, t.times, t.rows});
      const Cycles& c = totals.cycles;
      streams.add({f_.text(place  ? place->stream
                           : live ? live->stream
                                  : totals.stream),
                   place ? place->ipu : 0, place && place->io ? 1u : 0u, tiles.rows(), live ? live->always_live_bytes : 0, liveness.rows(),
                   c.compute, c.exchange, c.local_copy, c.sync, c.global_exchange, c.host, c.wait, totals.finish, trace.rows()});
    }
  }

  std::vector<std::uint64_t> streams_of_tiles() const {
    std::vector<std::uint64_t> of(r_.tiles.size());
    for (std::size_t s = 0; s < r_.block_streams.size(); ++s)
      for (std::size_t k = 0; k + 1 < r_.block_streams[s].tiles.size(); k += 2)
        for (std::size_t t = r_.block_streams[s].tiles[k]; t < std::min<std::size_t>(r_.block_streams[s].tiles[k + 1], of.size()); ++t)
          of[t] = s + 1;
    return of;
  }

  void write_tiles() {
    const std::vector<std::uint64_t> streams = streams_of_tiles();
    TableWriter &tiles = f_.table("tiles"), &categories = f_.table("tile_categories");
    std::size_t placed = 0;
    for (std::size_t t = 0; t < r_.tiles.size(); ++t) {
      while (placed < r_.placements.size() && r_.placements[placed].tile <= t) ++placed;
      const TileMemory& m = r_.tiles[t];
      tiles.add({m.used, m.with_gaps, m.always_live, streams[t], placed});
      for (const std::uint64_t b : m.by_category) categories.add({b});
    }
  }

  void write_memory() {
    TableWriter& variables = f_.table("variables");
    for (const Resident& v : r_.residents)
      variables.add({f_.text(v.name), v.category, v.bytes, v.tiles, v.largest, v.always_live_bytes, v.first, v.last, v.source});
    TableWriter& allocations = f_.table("allocations");
    for (const Placement& p : r_.placements) allocations.add({p.tile, p.offset, p.size, p.resident, p.live, p.estimated ? 1u : 0u});
    TableWriter &sets = f_.table("live_sets"), &intervals = f_.table("live_intervals");
    for (const LiveSet& set : r_.live_sets) {
      for (const auto& [begin, end] : set) intervals.add({begin, end});
      sets.add({intervals.rows()});
    }
  }

  void write_program() {
    TableWriter& others = f_.table("other_sources");
    for (const ProgramStep& s : r_.program) {
      for (const std::uint32_t row : s.other_sources) others.add({row - 1});
      f_.table("program").add(
          {s.order, f_.text(s.name), f_.text(s.kind), s.inside, s.compute_set, s.exchange, s.source, others.rows(), s.calls});
    }
  }

  void write_compute_sets() {
    TableWriter &sets = f_.table("compute_sets"), &groups = f_.table("vertex_groups");
    std::map<std::string, std::uint64_t> vertices;
    for (const ComputeSetVertices& cs : r_.compute_sets) {
      for (const CodeletVertices& c : cs.codelets)
        for (std::size_t k = 0; k + 2 < c.tiles.size(); k += 3) {
          groups.add({codelet(c.codelet), c.tiles[k], c.tiles[k + 1], c.tiles[k + 2]});
          vertices[c.codelet] += std::uint64_t{c.tiles[k + 1] - c.tiles[k]} * c.tiles[k + 2];
        }
      sets.add({f_.text(cs.name), cs.vertices, cs.flops, groups.rows(), cs.source});
    }
    for (const BufferCause& b : r_.buffers)
      f_.table("buffers").add({b.compute_set, codelet(b.codelet), f_.text(b.field), f_.text(b.variable), b.tiles, b.buffers, b.pieces,
                               b.bytes, b.remote_bytes});
    for (const StepCycles& s : r_.steps)
      if (!s.slowest_codelet.empty()) codelet(s.slowest_codelet);
    std::vector<const std::string*> names(codelets_.size());
    for (const auto& [name, index] : codelets_) names[index] = &name;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const CodeletCycles* c = i < r_.codelets.size() ? &r_.codelets[i] : nullptr;
      const auto defined = r_.codelet_sources.find(*names[i]);
      f_.table("codelets")
          .add({f_.text(*names[i]), vertices[*names[i]], c ? c->instances : 0, c ? c->cycles : 0, !c || c->estimated ? 1u : 0u,
                c ? f_.text(c->source) : 0, defined == r_.codelet_sources.end() ? 0 : defined->second, c ? c->flops : 0,
                c ? c->operand_bytes : 0});
      if (!c) continue;
      for (const LineCycles& l : c->lines) f_.table("codelet_lines").add({i, f_.text(l.file), l.line, l.cycles, f_.text(l.text)});
    }
  }

  void write_exchanges() {
    TableWriter &exchanges = f_.table("exchanges"), &traffic = f_.table("traffic");
    for (const ExchangeTraffic& e : r_.exchanges) {
      for (const Traffic& t : e.traffic) traffic.add({t.from, t.to, t.bytes, t.messages});
      exchanges.add({f_.text(e.name), e.bytes, e.senders, e.receivers, e.busiest_tile, e.busiest_bytes, e.local_bytes, e.copies, e.block,
                     traffic.rows()});
    }
  }

  std::uint64_t stream_row(const std::string& name) const {
    for (std::size_t i = 0; i < r_.streams.size(); ++i)
      if (r_.streams[i].stream == name) return i;
    return 0;
  }

  void write_steps() {
    TableWriter &profiles = f_.table("tile_profiles"), &ranges = f_.table("tile_cycles");
    for (const TileProfile& p : r_.tile_profiles) {
      for (std::size_t k = 0; k + 2 < p.ranges.size(); k += 3) ranges.add({p.ranges[k], p.ranges[k + 1], p.ranges[k + 2]});
      profiles.add({p.exact ? 1u : 0u, ranges.rows()});
    }
    for (const StepCycles& s : r_.steps) {
      const Cycles& c = s.cycles;
      f_.table("steps").add({stream_row(s.stream),
                             f_.text(s.name),
                             f_.text(s.kind),
                             s.order,
                             part_of(r_, s),
                             s.executions,
                             c.compute,
                             c.exchange,
                             c.local_copy,
                             c.sync,
                             c.global_exchange,
                             c.host,
                             c.wait,
                             s.vertices,
                             s.unestimated_vertices,
                             s.exchanged_bytes,
                             real_bits(s.tile_balance),
                             s.flops,
                             s.slowest_tile,
                             s.slowest_codelet.empty() ? 0 : codelet(s.slowest_codelet) + 1,
                             s.slowest_cycles,
                             s.used_workers,
                             s.profile});
    }
  }

  void write_execution() {
    for (const RunTimes& t : r_.run_times) f_.table("runs").add({t.program, t.begin, t.end, t.host_ns, f_.text(t.name)});
    for (const BlockCycles& b : r_.blocks) f_.table("blocks").add({f_.text(b.name), b.stream, b.stream_copy ? 1u : 0u, b.begin, b.end});
  }

  const Report& r_;
  ContainerWriter& f_;
  std::map<std::string, std::uint64_t> codelets_;  // rows of `codelets`: the executed ones come first, in the report's order
};

const std::vector<ReportWriter::Part> ReportWriter::kParts = {
    {&ReportWriter::write_streams, {"streams", "stream_tiles", "liveness", "trace"}},
    {&ReportWriter::write_tiles, {"tiles", "tile_categories"}},
    {&ReportWriter::write_memory, {"variables", "allocations", "live_sets", "live_intervals"}},
    {&ReportWriter::write_program, {"program", "other_sources"}},
    {&ReportWriter::write_compute_sets, {"compute_sets", "vertex_groups", "buffers", "codelets", "codelet_lines"}},
    {&ReportWriter::write_exchanges, {"exchanges", "traffic"}},
    {&ReportWriter::write_steps, {"steps", "tile_profiles", "tile_cycles"}},
    {&ReportWriter::write_execution, {"runs", "blocks"}},
    {&ReportWriter::write_sources, {"sources"}}};

// A file that nobody reads.
struct NoFile : std::streambuf {
  int_type overflow(int_type c) override { return traits_type::not_eof(c); }
  std::streamsize xsputn(const char*, std::streamsize n) override { return n; }
};

}  // namespace

void each_row(const Report& report, std::string_view table, const TakeTexts& take) {
  NoFile none;
  std::ostream out(&none);
  ContainerWriter file(out, report.writer);
  file.give_rows_to([&](const TableSpec& spec, std::span<const std::uint64_t> values) {
    if (spec.name == table) take(values, [&](std::uint64_t id) -> const std::string& { return file.text(id); });
  });
  ReportWriter(report, file).write_part_of(table);
}

void write_report(const Report& report, std::ostream& out) {
  ContainerWriter file(out, report.writer);
  ReportWriter(report, file).write();
  file.finish();
}

std::string with_prediction(std::string bytes, const DevicePlan& predicted) {
  if (Container::is_one(bytes)) return Container::with_document(std::move(bytes), "predicted", plan_json(predicted));
  Report report = read_report(std::move(bytes));
  report.predicted = predicted;
  std::ostringstream out;
  write_report(report, out);
  return std::move(out).str();
}

}  // namespace pando::profile
