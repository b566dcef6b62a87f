#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "profile/damage/damaged.h"
#include "profile/file/container.h"
#include "profile/report.h"

namespace pando::profile {

namespace {

using Column = std::vector<std::uint64_t>;

std::uint32_t narrow(std::uint64_t value, std::string_view what) {
  if (value > std::numeric_limits<std::uint32_t>::max()) damaged(what, fmt::format("{} is too large", value));
  return static_cast<std::uint32_t>(value);
}

Json document(const Container& c, const char* name) {
  const std::string text = c.document(name);
  if (text.empty()) damaged(name, "the document is missing");
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) damaged(name, "not JSON");
  return json;
}

// A field of a document, of the type of `value`.
template <class T>
void take(const Json& object, const char* name, T& value, const char* where) {
  const auto it = object.is_object() ? object.find(name) : object.end();
  if (it == object.end()) damaged(where, fmt::format("'{}' is missing", name));
  if constexpr (std::is_same_v<T, bool>) {
    if (!it->is_boolean()) damaged(where, fmt::format("'{}' is not true or false", name));
    value = it->template get<bool>();
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!it->is_string()) damaged(where, fmt::format("'{}' is not a text", name));
    value = it->template get<std::string>();
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!it->is_number()) damaged(where, fmt::format("'{}' is not a number", name));
    value = it->template get<T>();
  } else {
    if (!it->is_number_unsigned()) damaged(where, fmt::format("'{}' is not a whole number", name));
    const auto number = it->template get<std::uint64_t>();
    value = static_cast<T>(number);
    if (value != number) damaged(where, fmt::format("'{}' is too large", name));
  }
}

// Rows of `steps`, whenever they are asked for: what it needs of the file and of the report is its own.
class StepReader {
 public:
  StepReader(const Container& file, const Report& report, bool tile_cycles)
      : c_(file), tiles_(report.target.tiles), streams_(report.block_streams) {
    for (const std::uint64_t name : c_.column("codelets", "name")) codelets_.push_back(c_.text(name));
    if (tile_cycles) profiles_ = std::make_shared<const std::vector<TileProfile>>(report.tile_profiles);
  }

  std::vector<StepCycles> operator()(std::size_t begin, std::size_t end) const {
    std::vector<StepCycles> out(end - begin);
    // Rows are filled a few at a time, by all columns: a block of them is larger than a cache.
    std::vector<std::function<void(std::size_t, std::size_t)>> fill;
    const auto each = [&](const char* column, auto set) {
      fill.emplace_back([&out, set, values = c_.slice("steps", column, begin, end)](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) set(out[i], values[i]);
      });
    };
    each("stream", [&](StepCycles& s, std::uint64_t v) { s.stream = streams_[v].stream; });
    each("name", [&](StepCycles& s, std::uint64_t v) { s.name = c_.text(v); });
    each("kind", [&](StepCycles& s, std::uint64_t v) { s.kind = c_.text(v); });
    each("order", [](StepCycles& s, std::uint64_t v) { s.order = narrow(v, "steps.order"); });
    each("program", [](StepCycles& s, std::uint64_t v) { s.part = narrow(v, "steps.program"); });
    for (const auto& [column, member] : kWhole) each(column, [m = member](StepCycles& s, std::uint64_t v) { s.*m = v; });
    for (const auto& [column, member] : kTerms) each(column, [m = member](StepCycles& s, std::uint64_t v) { s.cycles.*m = v; });
    each("balance", [](StepCycles& s, std::uint64_t v) { s.tile_balance = std::bit_cast<double>(v); });
    each("slowest_tile", [&](StepCycles& s, std::uint64_t v) {
      if (v > tiles_) damaged("steps.slowest_tile", fmt::format("a row is tile {}, there are {}", v, tiles_));
      s.slowest_tile = static_cast<std::uint32_t>(v);
    });
    each("slowest_codelet", [&](StepCycles& s, std::uint64_t v) { s.slowest_codelet = v > 0 ? codelets_[v - 1] : std::string(); });
    each("used_workers", [](StepCycles& s, std::uint64_t v) { s.used_workers = narrow(v, "steps.used_workers"); });
    each("profile", [](StepCycles& s, std::uint64_t v) { s.profile = narrow(v, "steps.profile"); });
    for (std::size_t i = 0; i < out.size(); i += kRowsAtOnce)
      for (const auto& columns : fill) columns(i, std::min(out.size(), i + kRowsAtOnce));
    if (profiles_)
      for (StepCycles& s : out) s.tile_cycles = by_tile(s);
    return out;
  }

 private:
  static constexpr std::size_t kRowsAtOnce = 64;
  static constexpr std::pair<const char*, std::uint64_t StepCycles::*> kWhole[] = {
      {"executions", &StepCycles::executions},
      {"vertices", &StepCycles::vertices},
      {"unestimated_vertices", &StepCycles::unestimated_vertices},
      {"exchanged_bytes", &StepCycles::exchanged_bytes},
      {"flops", &StepCycles::flops},
      {"slowest_cycles", &StepCycles::slowest_cycles}};
  static constexpr std::pair<const char*, std::uint64_t Cycles::*> kTerms[] = {{"compute", &Cycles::compute},
                                                                               {"exchange", &Cycles::exchange},
                                                                               {"local_copy", &Cycles::local_copy},
                                                                               {"sync", &Cycles::sync},
                                                                               {"global_exchange", &Cycles::global_exchange},
                                                                               {"host", &Cycles::host},
                                                                               {"wait", &Cycles::wait}};

  std::vector<std::uint64_t> by_tile(const StepCycles& s) const {
    if (s.profile > 0) {
      std::vector<std::uint64_t> cycles = (*profiles_)[s.profile - 1].ranges;
      for (std::size_t k = 2; k < cycles.size(); k += 3) cycles[k] *= s.executions;
      return cycles;
    }
    std::vector<std::uint64_t> cycles;
    for (const BlockStream& stream : streams_)
      if (stream.stream == s.stream)
        for (std::size_t k = 0; k + 1 < stream.tiles.size(); k += 2)
          cycles.insert(cycles.end(), {stream.tiles[k], stream.tiles[k + 1], s.cycles.total() - s.cycles.wait});
    return cycles;
  }

  Container c_;
  std::uint32_t tiles_;
  std::vector<BlockStream> streams_;
  std::vector<std::string> codelets_;
  std::shared_ptr<const std::vector<TileProfile>> profiles_;  // if cycles by tile are wanted
};

// Rows of `liveness` of a stream, which begin at `first`.
class LiveStepReader {
 public:
  LiveStepReader(const Container& file, std::uint64_t first) : c_(file), first_(first) {}

  std::vector<LiveStep> operator()(std::size_t begin, std::size_t end) const {
    const auto col = [&](const char* column) { return c_.slice("liveness", column, first_ + begin, first_ + end); };
    const Column order = col("order"), name = col("name"), live = col("live_bytes"), worst = col("worst_tile_bytes"),
                 tile = col("worst_tile");
    std::vector<LiveStep> out;
    out.reserve(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      out.push_back({narrow(order[i], "liveness.order"), c_.text(name[i]), live[i], worst[i], narrow(tile[i], "liveness.worst_tile")});
    return out;
  }

 private:
  Container c_;
  std::uint64_t first_;
};

// Rows of `program`.
class PartReader {
 public:
  explicit PartReader(const Container& file) : c_(file) {}

  std::vector<ProgramStep> operator()(std::size_t begin, std::size_t end) const {
    const auto col = [&](const char* column) { return c_.slice("program", column, begin, end); };
    const auto newer = [&](const char* column) { return c_.has("program", column) ? col(column) : Column(end - begin); };
    const Column order = col("order"), name = col("name"), kind = col("kind"), inside = col("inside"), set = col("compute_set"),
                 exchange = col("exchange"), source = col("source"), calls = newer("calls"), others = newer("other_sources");
    std::uint64_t other = begin > 0 && c_.has("program", "other_sources") ? c_.slice("program", "other_sources", begin - 1, begin)[0] : 0;
    std::vector<ProgramStep> out;
    out.reserve(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      ProgramStep& s = out.emplace_back();
      s = {narrow(order[i], "program.order"),
           c_.text(name[i]),
           c_.text(kind[i]),
           narrow(inside[i], "program.inside"),
           narrow(set[i], "program.compute_set"),
           narrow(exchange[i], "program.exchange"),
           narrow(source[i], "program.source")};
      s.calls = narrow(calls[i], "program.calls");
      if (other < others[i])
        for (const std::uint64_t row : c_.slice("other_sources", "source", std::exchange(other, others[i]), others[i]))
          s.other_sources.push_back(narrow(row, "other_sources.source") + 1);
    }
    return out;
  }

 private:
  Container c_;
};

// In memory, or whenever they are asked for where there are many.
template <class T, class Reader>
Rows<T> rows_of(std::uint64_t count, Reader reader) {
  if (count > kMostRowsKept) return Rows<T>(count, std::move(reader));
  Rows<T> out;
  out.all() = reader(0, count);
  return out;
}

class ReportReader {
 public:
  explicit ReportReader(const Container& c) : c_(c) {}

  Report read() {
    r_.writer = c_.writer();
    read_documents();
    read_plan();
    read_streams();
    read_tiles();
    read_memory();
    read_program();
    read_compute_sets();
    read_exchanges();
    read_steps();
    read_execution();
    largest();
    if (lowered_variables_) lowered();
    if (std::max({c_.rows("steps"), c_.rows("program"), c_.rows("liveness")}) > kMostRowsKept) c_.forget();
    return std::move(r_);
  }

 private:
  const Column& col(const char* table, const char* column) const { return c_.column(table, column); }
  std::uint32_t u32(const Column& column, std::size_t row, const char* what) const { return narrow(column[row], what); }
  // [begin, end) of the rows that belong to row i.
  static std::pair<std::uint64_t, std::uint64_t> span(const Column& ends, std::size_t i) { return {i == 0 ? 0 : ends[i - 1], ends[i]}; }

  void read_documents() {
    const Json report = document(c_, "report");
    TargetInfo& t = r_.target;
    const Json target = report.value("target", Json()), graph = report.value("graph", Json());
    take(target, "name", t.name, "report.target"), take(target, "ipus", t.ipus, "report.target");
    take(target, "tiles_per_ipu", t.tiles_per_ipu, "report.target"), take(target, "tiles", t.tiles, "report.target");
    take(target, "workers", t.workers, "report.target"), take(target, "replicas", t.replicas, "report.target");
    take(target, "bytes_per_tile", t.bytes_per_tile, "report.target"), take(target, "clock_hz", t.clock_hz, "report.target");
    for (const auto& [name, value] : {std::pair{"flops_per_cycle_f32", &t.flops_per_cycle_f32},
                                      {"flops_per_cycle_f16", &t.flops_per_cycle_f16},
                                      {"load_bytes_per_cycle", &t.load_bytes_per_cycle}})
      if (target.is_object() && target.contains(name)) take(target, name, *value, "report.target");
    GraphInfo& g = r_.graph;
    take(graph, "variables", g.variables, "report.graph"), take(graph, "vertices", g.vertices, "report.graph");
    take(graph, "compute_sets", g.compute_sets, "report.graph"), take(graph, "edges", g.edges, "report.graph");
    take(graph, "programs", g.programs, "report.graph");
    take(report, "out_of_memory", r_.out_of_memory, "report"), take(report, "executed", r_.executed, "report");
    if (report.contains("compiled_change")) take(report, "compiled_change", r_.compiled_change, "report");
    take(report, "runs", r_.runs, "report"), take(report, "total_cycles", r_.total_cycles, "report");
    take(report, "blocks_lost", r_.blocks_lost, "report"), take(report, "events_lost", r_.events_lost, "report");
    take(report, "lowered_variables", lowered_variables_, "report"), take(report, "tile_cycles", tile_cycles_, "report");
    const Json categories = document(c_, "categories");
    if (!categories.is_array()) damaged("categories", "not a list");
    for (const Json& j : categories) {
      CategoryBytes& b = r_.categories.emplace_back();
      take(j, "category", b.category, "categories"), take(j, "estimated", b.estimated, "categories"),
          take(j, "bytes", b.bytes, "categories");
    }
  }

  void read_plan() {
    if (const std::string text = c_.document("plan"); !text.empty()) r_.plan = plan_of_json(text);
    if (const std::string text = c_.document("predicted"); !text.empty()) r_.predicted = plan_of_json(text);
  }

  void read_streams() {
    const Column &name = col("streams", "name"), &tiles = col("streams", "tiles"), &live = col("streams", "liveness"),
                 &trace = col("streams", "trace");
    for (std::size_t i = 0; i < name.size(); ++i) {
      BlockStream place{c_.text(name[i]), u32(col("streams", "ipu"), i, "streams.ipu"), col("streams", "io")[i] != 0, {}};
      for (auto [k, end] = span(tiles, i); k < end; ++k) {
        place.tiles.push_back(tile_at("stream_tiles", "begin", k));
        place.tiles.push_back(tile_at("stream_tiles", "end", k));
      }
      const auto [first_live, last_live] = span(live, i);
      StreamLiveness liveness{place.stream, col("streams", "always_live_bytes")[i],
                              rows_of<LiveStep>(last_live - first_live, LiveStepReader(c_, first_live))};
      StreamTotals totals{place.stream, terms("streams", i), col("streams", "finish")[i]};
      r_.traces.emplace_back();
      const auto [first, last] = span(trace, i);
      read_trace(first, last);
      r_.block_streams.push_back(std::move(place));
      r_.liveness.push_back(std::move(liveness));
      if (r_.executed) r_.streams.push_back(std::move(totals));
    }
  }

  // The rows of a stream. The table may be long: its columns are read a chunk at a time.
  void read_trace(std::uint64_t first, std::uint64_t last) {
    std::vector<TraceRow>& rows = r_.traces.back();
    rows.reserve(last - first);
    for (std::uint64_t begin = first; begin < last; begin += kChunkRows) {
      const std::uint64_t end = std::min<std::uint64_t>(last, begin + kChunkRows);
      const auto col = [&](const char* column) { return c_.slice("trace", column, begin, end); };
      const Column step = col("step"), inside = col("rows"), gap = col("gap"), cycles = col("cycles"), times = col("times");
      for (std::size_t i = 0; i < step.size(); ++i) {
        if (inside[i] >= last - begin - i)
          damaged("trace.rows", fmt::format("the loop of row {} has {} rows, {} follow", begin + i, inside[i], last - begin - i - 1));
        rows.push_back({narrow(step[i], "trace.step"), narrow(inside[i], "trace.rows"), gap[i], cycles[i], times[i]});
      }
    }
  }

  std::uint32_t tile_at(const char* table, const char* column, std::uint64_t row) const {
    return tile_in(col(table, column), table, column, row);
  }
  // The same of a column that is at hand: finding it by its name for each of millions of rows takes longer than reading it.
  std::uint32_t tile_in(const Column& tiles, const char* table, const char* column, std::uint64_t row) const {
    const std::uint64_t tile = tiles[row];
    if (tile > r_.target.tiles)
      damaged(fmt::format("{}.{}", table, column), fmt::format("row {} is tile {}, there are {}", row, tile, r_.target.tiles));
    return static_cast<std::uint32_t>(tile);
  }

  Cycles terms(const char* table, std::size_t i) const {
    return {col(table, "compute")[i],         col(table, "exchange")[i], col(table, "local_copy")[i], col(table, "sync")[i],
            col(table, "global_exchange")[i], col(table, "host")[i],     col(table, "wait")[i]};
  }

  void read_tiles() {
    const std::size_t tiles = c_.rows("tiles"), categories = r_.categories.size();
    if (tiles > r_.target.tiles) damaged("tiles", fmt::format("{} rows, the target has {} tiles", tiles, r_.target.tiles));
    const Column& bytes = col("tile_categories", "bytes");
    if (bytes.size() != tiles * categories)
      damaged("tile_categories", fmt::format("{} rows, expected {} x {}", bytes.size(), tiles, categories));
    for (std::size_t t = 0; t < tiles; ++t) {
      const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(t * categories);
      r_.tiles.push_back({col("tiles", "used")[t],
                          col("tiles", "with_gaps")[t],
                          {from, from + static_cast<std::ptrdiff_t>(categories)},
                          col("tiles", "always_live")[t]});
    }
  }

  void read_memory() {
    for (std::size_t i = 0; i < c_.rows("variables"); ++i) {
      const std::uint64_t category = col("variables", "category")[i];
      if (category >= r_.categories.size())
        damaged("variables.category", fmt::format("row {} has category {}, there are {}", i, category, r_.categories.size()));
      r_.residents.push_back({c_.text(col("variables", "name")[i]), static_cast<std::uint32_t>(category),
                              u32(col("variables", "tiles"), i, "variables.tiles"), col("variables", "bytes")[i],
                              col("variables", "largest")[i], col("variables", "always_live_bytes")[i],
                              u32(col("variables", "first"), i, "variables.first"), u32(col("variables", "last"), i, "variables.last"),
                              u32(col("variables", "source"), i, "variables.source")});
    }
    const Column &tiles = col("allocations", "tile"), &variable = col("allocations", "variable"), &live = col("allocations", "live"),
                 &estimated = col("allocations", "estimated"), &offset = col("allocations", "offset"), &size = col("allocations", "size");
    r_.placements.reserve(size.size());
    for (std::size_t i = 0; i < size.size(); ++i) {
      const std::uint32_t tile = tile_in(tiles, "allocations", "tile", i);
      if (tile >= r_.target.tiles || tile >= r_.tiles.size())
        damaged("allocations.tile", fmt::format("row {} is on tile {}, there are {}", i, tile, r_.tiles.size()));
      r_.placements.push_back(
          {tile, u32(variable, i, "allocations.variable"), u32(live, i, "allocations.live"), estimated[i] != 0, offset[i], size[i]});
    }
    for (std::size_t i = 0; i < c_.rows("live_sets"); ++i) {
      LiveSet& set = r_.live_sets.emplace_back();
      for (auto [k, end] = span(col("live_sets", "intervals"), i); k < end; ++k)
        set.emplace_back(u32(col("live_intervals", "begin"), k, "live_intervals.begin"),
                         u32(col("live_intervals", "end"), k, "live_intervals.end"));
    }
  }

  void read_program() {
    r_.program = rows_of<ProgramStep>(c_.rows("program"), PartReader(c_));
    std::uint32_t last = 0;
    std::uint64_t i = 0;
    for (const ProgramStep& s : std::as_const(r_.program)) {
      if (s.inside > i) damaged("program.inside", fmt::format("row {} is inside row {}, expected one before it", i, s.inside - 1));
      if (i > 0 && s.order < last) damaged("program.order", fmt::format("row {} has a lower order than the row before it", i));
      last = s.order;
      ++i;
    }
  }

  const std::string& codelet(std::uint64_t row) const { return c_.text(col("codelets", "name")[row]); }

  void read_compute_sets() {
    const Column &group = col("vertex_groups", "codelet"), &begin = col("vertex_groups", "begin"), &past = col("vertex_groups", "end"),
                 &count = col("vertex_groups", "count");
    for (std::size_t i = 0; i < c_.rows("compute_sets"); ++i) {
      ComputeSetVertices& cs = r_.compute_sets.emplace_back();
      cs.name = c_.text(col("compute_sets", "name")[i]);
      cs.vertices = col("compute_sets", "vertices")[i];
      cs.flops = col("compute_sets", "flops")[i];
      cs.source = u32(col("compute_sets", "source"), i, "compute_sets.source");
      std::uint64_t last = ~std::uint64_t{0};
      for (auto [k, end] = span(col("compute_sets", "groups"), i); k < end; ++k) {
        const std::uint64_t c = group[k];
        if (c != last) cs.codelets.push_back({codelet(last = c), {}});
        cs.codelets.back().tiles.insert(
            cs.codelets.back().tiles.end(),
            {tile_in(begin, "vertex_groups", "begin", k), tile_in(past, "vertex_groups", "end", k), u32(count, k, "vertex_groups.count")});
      }
    }
    read_codelets();
    read_lines();
    for (std::size_t i = 0; i < c_.rows("buffers"); ++i)
      r_.buffers.push_back({u32(col("buffers", "compute_set"), i, "buffers.compute_set"), codelet(col("buffers", "codelet")[i]),
                            c_.text(col("buffers", "field")[i]), c_.text(col("buffers", "variable")[i]),
                            u32(col("buffers", "tiles"), i, "buffers.tiles"), col("buffers", "buffers")[i], col("buffers", "pieces")[i],
                            col("buffers", "bytes")[i], col("buffers", "remote_bytes")[i]});
  }

  void read_codelets() {
    const auto newer = [&](const char* column, std::size_t i) { return c_.has("codelets", column) ? col("codelets", column)[i] : 0; };
    for (std::size_t i = 0; i < c_.rows("codelets"); ++i) {
      if (const std::uint64_t row = newer("defined", i)) r_.codelet_sources.emplace(codelet(i), narrow(row, "codelets.defined"));
      if (col("codelets", "executions")[i] == 0) continue;
      CodeletCycles& c = r_.codelets.emplace_back();
      c.codelet = codelet(i);
      c.instances = col("codelets", "executions")[i];
      c.cycles = col("codelets", "cycles")[i];
      c.estimated = col("codelets", "estimated")[i] != 0;
      c.vertices = col("codelets", "vertices")[i];
      if (c_.has("codelets", "source")) c.source = c_.text(col("codelets", "source")[i]);
      c.flops = newer("flops", i);
      c.operand_bytes = newer("operand_bytes", i);
    }
  }

  void read_lines() {
    std::map<std::string, CodeletCycles*> of_name;
    for (CodeletCycles& c : r_.codelets) of_name[c.codelet] = &c;
    for (std::size_t i = 0; i < c_.rows("codelet_lines"); ++i) {
      const auto at = of_name.find(codelet(col("codelet_lines", "codelet")[i]));
      if (at == of_name.end()) damaged("codelet_lines.codelet", fmt::format("row {} is of a codelet that was not executed", i));
      at->second->lines.push_back({c_.text(col("codelet_lines", "file")[i]), u32(col("codelet_lines", "line"), i, "codelet_lines.line"),
                                   col("codelet_lines", "cycles")[i], c_.text(col("codelet_lines", "text")[i])});
    }
  }

  void read_exchanges() {
    const Column &from = col("traffic", "from"), &to = col("traffic", "to"), &bytes = col("traffic", "bytes"),
                 &messages = col("traffic", "messages");
    for (std::size_t i = 0; i < c_.rows("exchanges"); ++i) {
      ExchangeTraffic& e = r_.exchanges.emplace_back();
      e.name = c_.text(col("exchanges", "name")[i]);
      e.bytes = col("exchanges", "bytes")[i];
      e.senders = u32(col("exchanges", "senders"), i, "exchanges.senders");
      e.receivers = u32(col("exchanges", "receivers"), i, "exchanges.receivers");
      e.busiest_tile = tile_at("exchanges", "busiest_tile", i);
      e.busiest_bytes = col("exchanges", "busiest_bytes")[i];
      e.local_bytes = col("exchanges", "local_bytes")[i];
      e.copies = col("exchanges", "copies")[i];
      e.block = std::max(1u, u32(col("exchanges", "block"), i, "exchanges.block"));
      for (auto [k, end] = span(col("exchanges", "traffic"), i); k < end; ++k)
        e.traffic.push_back({tile_in(from, "traffic", "from", k), tile_in(to, "traffic", "to", k), bytes[k], messages[k]});
    }
  }

  void read_steps() {
    const Column &begin = col("tile_cycles", "begin"), &past = col("tile_cycles", "end"), &cycles = col("tile_cycles", "cycles");
    for (std::size_t i = 0; i < c_.rows("tile_profiles"); ++i) {
      TileProfile& p = r_.tile_profiles.emplace_back();
      p.exact = col("tile_profiles", "exact")[i] != 0;
      for (auto [k, end] = span(col("tile_profiles", "ranges"), i); k < end; ++k) {
        const std::uint32_t first = tile_in(begin, "tile_cycles", "begin", k), last = tile_in(past, "tile_cycles", "end", k);
        if (first > last) damaged("tile_cycles", fmt::format("row {} has tiles {} to {}", k, first, last));
        p.ranges.insert(p.ranges.end(), {first, last, cycles[k]});
      }
    }
    r_.steps = rows_of<StepCycles>(c_.rows("steps"), StepReader(c_, r_, tile_cycles_));
  }

  void read_execution() {
    const auto name = [&](std::size_t i) { return c_.has("runs", "name") ? c_.text(col("runs", "name")[i]) : std::string(); };
    for (std::size_t i = 0; i < c_.rows("runs"); ++i)
      r_.run_times.push_back({u32(col("runs", "program"), i, "runs.program"), col("runs", "begin")[i], col("runs", "end")[i],
                              col("runs", "host_ns")[i], name(i)});
    for (std::size_t i = 0; i < c_.rows("blocks"); ++i)
      r_.blocks.push_back({c_.text(col("blocks", "name")[i]), u32(col("blocks", "stream"), i, "blocks.stream"),
                           col("blocks", "stream_copy")[i] != 0, col("blocks", "begin")[i], col("blocks", "end")[i]});
    for (std::size_t i = 0; i < c_.rows("sources"); ++i)
      r_.sources.push_back({c_.text(col("sources", "file")[i]), u32(col("sources", "line"), i, "sources.line")});
  }

  // Residents of one name and category are one.
  void largest() {
    constexpr std::size_t kKept = 100;
    std::map<std::pair<std::string, std::uint32_t>, std::size_t> known;
    for (const Resident& v : r_.residents) {
      const auto [it, added] = known.emplace(std::pair(v.name, v.category), r_.largest.size());
      if (added) r_.largest.push_back({v.name, r_.categories[v.category].category, 0, 0});
      r_.largest[it->second].bytes += v.bytes;
      r_.largest[it->second].tiles = std::max(r_.largest[it->second].tiles, v.tiles);
    }
    std::stable_sort(r_.largest.begin(), r_.largest.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    if (r_.largest.size() > kKept) r_.largest.resize(kKept);
  }

  void lowered() {
    std::map<std::pair<std::string, std::uint32_t>, std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>> live;
    std::map<std::pair<std::string, std::uint32_t>, std::uint64_t> always;
    for (const Placement& p : r_.placements) {
      const Resident& v = r_.residents[p.resident];
      const auto key = std::pair(v.name, v.category);
      always[key] += p.live == 0 ? p.size : 0;
      if (p.live == 0) continue;
      for (const auto& range : r_.live_sets[p.live - 1])
        if (range.first < range.second) live[key][range] += p.size;
    }
    for (const auto& [key, bytes] : always) {
      r_.variables.push_back({key.first, r_.categories[key.second].category, bytes, {}});
      for (const auto& [range, n] : live[key])
        r_.variables.back().live.insert(r_.variables.back().live.end(), {range.first, range.second, n});
    }
  }

  const Container& c_;
  Report r_;
  bool lowered_variables_ = false, tile_cycles_ = false;
};

}  // namespace

Report read_report(std::string bytes) {
  if (Container::is_one(bytes)) {
    const Container container = Container::parse(std::move(bytes));
    container.check();
    return ReportReader(container).read();
  }
  if (!bytes.empty() && bytes.find_first_not_of(" \t\r\n") != std::string::npos && bytes[bytes.find_first_not_of(" \t\r\n")] == '{') {
    std::istringstream in(std::move(bytes));
    return read_json(in);
  }
  if (bytes.empty()) fail(ErrorKind::parse_error, "report-foreign", "this is not a report of Pando: the file is empty");
  fail(ErrorKind::parse_error, "report-foreign",
       "this is not a report of Pando: it begins neither with {} (version 4) nor with a JSON object (version 3)", kMagic);
}

}  // namespace pando::profile
