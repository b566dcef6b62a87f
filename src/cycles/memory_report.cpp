#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include "cycles/cycle_model.h"
#include "cycles/facts.h"
#include "cycles/step_cost.h"
#include "cycles/step_ranges.h"
#include "tile/step.h"

namespace pando::cycles {

namespace {

constexpr std::size_t kLargestKept = 100;

using ByCategory = std::array<std::uint64_t, tile::kCategories>;

std::size_t index_of(tile::Category c) { return static_cast<std::size_t>(c); }

// The allocations of each tile: they are sorted by tile.
std::vector<std::span<const tile::Allocation>> allocations_by_tile(const tile::Program& program) {
  std::vector<std::span<const tile::Allocation>> out(program.machine.tiles());
  const std::vector<tile::Allocation>& all = program.allocations;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i + 1;
    while (end < all.size() && all[end].tile == all[i].tile) ++end;
    out[all[i].tile.index()] = std::span(all).subspan(i, end - i);
    i = end;
  }
  return out;
}

// The steps of one stream: the orders of its instructions, each once.
struct StreamSteps {
  std::vector<std::uint32_t> orders;  // sorted
  std::vector<std::string> names;
  std::vector<std::uint32_t> positions;  // [order] -> first position whose order is not lower; past the end: orders.size()
  std::size_t position(std::uint32_t order) const { return order < positions.size() ? positions[order] : orders.size(); }
};

StreamSteps steps_of(const tile::Program& program, const tile::Stream& stream) {
  std::vector<std::pair<std::uint32_t, tile::NameId>> found;
  for (const tile::Instruction& i : stream.code)
    if (tile::row_of(i.op).is_memory_step) found.emplace_back(i.order, i.name);
  // The first named instruction of an order names the step: an invalid NameId is the largest.
  std::sort(found.begin(), found.end());
  StreamSteps steps;
  for (auto& [order, name] : found) {
    if (!steps.orders.empty() && steps.orders.back() == order) continue;
    steps.orders.push_back(order);
    steps.names.push_back(name_at(program, name));
  }
  for (std::uint32_t position = 0; position < steps.orders.size(); ++position) steps.positions.resize(steps.orders[position] + 1, position);
  return steps;
}

// One tile over the program: what is live, and how much at the fullest step.
struct Event {
  std::uint32_t order;
  std::uint32_t category;
  std::uint64_t size;
  bool begins;
};

class TileSweep {
 public:
  // Calls segment(begin, end, bytes) for the orders between events where something that is not always live is.
  template <class Segment>
  void run(const tile::Program& program, std::span<const tile::Allocation> allocations, Segment segment) {
    gather(program, allocations);
    always = total(now_);
    peak = always;
    peak_by_category = now_;
    std::uint64_t live = 0;
    for (std::size_t i = 0; i < events_.size();) {
      std::uint32_t order = events_[i].order;
      for (; i < events_.size() && events_[i].order == order; ++i) {
        const Event& e = events_[i];
        std::uint64_t change = e.begins ? e.size : -e.size;
        live += change;
        now_[e.category] += change;
      }
      if (always + live > peak) {
        peak = always + live;
        peak_by_category = now_;
      }
      if (live > 0) segment(order, events_[i].order, live);
    }
  }

  std::uint64_t always = 0, peak = 0;
  ByCategory peak_by_category{};

 private:
  static std::uint64_t total(const ByCategory& bytes) {
    std::uint64_t sum = 0;
    for (std::uint64_t b : bytes) sum += b;
    return sum;
  }

  void gather(const tile::Program& program, std::span<const tile::Allocation> allocations) {
    events_.clear();
    now_.fill(0);
    for (const tile::Allocation& a : allocations) {
      auto category = static_cast<std::uint32_t>(a.category);
      if (a.always_live) {
        now_[category] += a.size;
        continue;
      }
      for (auto [begin, end] : program.live_ranges[a.live]) {
        if (begin >= end) continue;
        events_.push_back({begin, category, a.size, true});
        events_.push_back({end, category, a.size, false});
      }
    }
    std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.order < b.order; });
  }

  std::vector<Event> events_;
  ByCategory now_{};
};

// Which categories occur, in their own order, and whether one of their sizes is an estimate.
struct CategoryTable {
  std::vector<profile::CategoryBytes> shown;
  std::array<std::size_t, tile::kCategories> shown_at{};  // kCategories: does not occur
};

CategoryTable categories_of(const tile::Program& program) {
  std::array<bool, tile::kCategories> occurs{}, estimated{};
  for (const tile::Allocation& a : program.allocations) {
    occurs[index_of(a.category)] = true;
    estimated[index_of(a.category)] |= a.estimated;
  }
  CategoryTable table;
  for (std::size_t c = 0; c < tile::kCategories; ++c) {
    table.shown_at[c] = occurs[c] ? table.shown.size() : tile::kCategories;
    if (occurs[c]) table.shown.push_back({tile::name_of(static_cast<tile::Category>(c)), estimated[c], 0});
  }
  return table;
}

void fill_tile(const TileSweep& sweep, std::span<const tile::Allocation> allocations, CategoryTable& categories,
               profile::TileMemory& tile) {
  tile.used = sweep.peak;
  tile.always_live = sweep.always;
  for (const tile::Allocation& a : allocations) tile.with_gaps = std::max(tile.with_gaps, a.offset + a.size);
  for (std::size_t c = 0; c < tile::kCategories; ++c) {
    if (categories.shown_at[c] == tile::kCategories) continue;
    tile.by_category[categories.shown_at[c]] = sweep.peak_by_category[c];
    categories.shown[categories.shown_at[c]].bytes += sweep.peak_by_category[c];
  }
}

// Bytes and tile as one number: the greatest has most bytes, and the lowest tile of several.
constexpr std::uint64_t kTiles = std::uint64_t{1} << 24;
std::uint64_t bytes_on(std::uint64_t bytes, TileId tile) { return bytes * kTiles + (kTiles - 1 - tile.value); }

profile::StreamLiveness fill_stream(const tile::Program& program, const tile::Stream& stream,
                                    std::span<const std::span<const tile::Allocation>> allocations, CategoryTable& categories,
                                    profile::Report& report) {
  StreamSteps steps = steps_of(program, stream);
  RangeSum live(steps.orders.size());
  RangeMax worst(steps.orders.size());
  std::uint64_t always_worst = 0;
  profile::StreamLiveness out{stream.name, 0, {}};
  TileSweep sweep;
  for (TileId t : stream.tiles) {
    sweep.run(program, allocations[t.index()], [&](std::uint32_t begin, std::uint32_t end, std::uint64_t bytes) {
      std::size_t from = steps.position(begin), to = steps.position(end);
      live.add(from, to, bytes);
      worst.raise(from, to, bytes_on(bytes + sweep.always, t));
    });
    out.always_live_bytes += sweep.always;
    always_worst = std::max(always_worst, bytes_on(sweep.always, t));
    fill_tile(sweep, allocations[t.index()], categories, report.tiles[t.index()]);
  }
  std::vector<std::uint64_t> live_at = live.values(), worst_at = std::move(worst).values();
  for (std::size_t i = 0; i < steps.orders.size(); ++i) {
    const std::uint64_t fullest = std::max(worst_at[i], always_worst);
    out.steps.push_back({steps.orders[i], std::move(steps.names[i]), live_at[i], fullest / kTiles,
                         static_cast<std::uint32_t>(kTiles - 1 - fullest % kTiles)});
  }
  return out;
}

// Sums the allocations by name, one category after the other: names are dense, pairs of name and category are not.
std::vector<profile::LargestVariable> largest_of(const tile::Program& program) {
  struct Sum {
    std::uint64_t bytes = 0;
    std::uint32_t tiles = 0;
    TileId last;
  };
  struct Found {
    std::uint64_t bytes;
    std::uint32_t tiles;
    tile::Category category;
    std::uint32_t name;
  };
  std::vector<Found> found;
  for (std::size_t c = 0; c < tile::kCategories; ++c) {
    auto category = static_cast<tile::Category>(c);
    std::vector<Sum> sums(program.names.size() + 1);  // the last: no name
    for (const tile::Allocation& a : program.allocations) {
      if (a.category != category) continue;
      Sum& sum = sums[std::min<std::size_t>(a.name.index(), program.names.size())];
      sum.bytes += a.size;
      sum.tiles += a.tile != sum.last;
      sum.last = a.tile;
    }
    for (std::uint32_t n = 0; n < sums.size(); ++n)
      if (sums[n].bytes > 0) found.push_back({sums[n].bytes, sums[n].tiles, category, n});
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tuple(b.bytes, a.category, a.name) < std::tuple(a.bytes, b.category, b.name);
  });
  found.resize(std::min(found.size(), kLargestKept));
  std::vector<profile::LargestVariable> out;
  for (const Found& f : found) out.push_back({name_at(program, tile::NameId(f.name)), tile::name_of(f.category), f.bytes, f.tiles});
  return out;
}

void add_vertices(const tile::Program& program, const tile::VertexGroup& group,
                  std::map<std::string, std::vector<std::uint32_t>>& codelets) {
  const std::size_t c = group.codelet.index();
  std::vector<std::uint32_t>& ranges =
      codelets[c < program.codelet_names.size() ? program.codelet_names[c] : "codelet " + std::to_string(c)];
  const std::span vertices = std::span(program.vertices).subspan(group.first, group.count);  // sorted by tile
  for (std::size_t i = 0; i < vertices.size();) {
    const std::uint32_t tile = vertices[i].tile.value;
    std::uint32_t n = 0;
    for (; i < vertices.size() && vertices[i].tile.value == tile; ++i) ++n;
    const std::size_t end = ranges.size();
    if (end > 0 && ranges[end - 2] == tile && ranges[end - 1] == n)
      ++ranges[end - 2];
    else
      ranges.insert(ranges.end(), {tile, tile + 1, n});
  }
}

// A compute set that several programs execute has one step for each stream and program, of the same vertices.
std::vector<profile::ComputeSetVertices> compute_sets_of(const tile::Program& program, ProgramRows& rows) {
  struct Found {
    std::string name;
    std::uint64_t vertices = 0;
    std::set<StreamId> streams;
    std::map<std::string, std::vector<std::uint32_t>> codelets;
  };
  std::map<ComputeSetId, Found> found;
  for (const tile::ComputeStep& step : program.computes) {
    Found& f = found[step.compute_set];
    if (f.name.empty()) f.name = name_at(program, step.name);
    if (!f.streams.insert(step.stream).second) continue;
    for (const tile::VertexGroup& group : step.groups) {
      add_vertices(program, group, f.codelets);
      f.vertices += group.count;
    }
  }
  std::vector<profile::ComputeSetVertices> out;
  for (auto& [id, f] : found) {
    rows.compute_sets.emplace(id, static_cast<std::uint32_t>(out.size()));
    out.push_back({std::move(f.name), {}, f.vertices});
    for (auto& [codelet, tiles] : f.codelets) out.back().codelets.push_back({codelet, std::move(tiles)});
  }
  return out;
}

std::vector<profile::LoweredVariable> variables_of(const tile::Program& program) {
  struct Bytes {
    std::uint64_t always = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> live;
  };
  std::map<std::pair<std::string, tile::Category>, Bytes> found;
  for (const tile::Allocation& a : program.allocations) {
    Bytes& bytes = found[{name_at(program, a.name), a.category}];
    if (a.always_live)
      bytes.always += a.size;
    else
      for (const auto& [begin, end] : program.live_ranges[a.live])
        if (begin < end) bytes.live[{begin, end}] += a.size;
  }
  std::vector<profile::LoweredVariable> out;
  for (const auto& [key, bytes] : found) {
    out.push_back({key.first, tile::name_of(key.second), bytes.always, {}});
    for (const auto& [range, n] : bytes.live) out.back().live.insert(out.back().live.end(), {range.first, range.second, n});
  }
  return out;
}

profile::TargetInfo target_of(const tile::Program& program) {
  const Machine& m = program.machine;
  profile::TargetInfo t;
  t.name = m.name;
  t.ipus = m.ipus;
  t.tiles_per_ipu = m.tiles_per_ipu;
  t.tiles = m.tiles();
  t.workers = m.workers;
  t.replicas = program.replication;
  t.bytes_per_tile = m.bounded_memory ? m.bytes_per_tile() : 0;
  t.clock_hz = m.clock_hz;
  if (m.bounded_memory) {  // a host has no matrix unit of that kind
    t.flops_per_cycle_f32 = 2 * m.f32_in_f32_out_conv_units * m.conv_unit_input_load_elems_f32;
    t.flops_per_cycle_f16 = 2 * m.f16_in_f16_out_conv_units * m.conv_unit_input_load_elems_f16;
    t.load_bytes_per_cycle = m.conv_unit_coeff_load_bytes_per_cycle;
  }
  return t;
}

}  // namespace

std::string kind_of(const tile::Program& program, const tile::Instruction& i) {
  const tile::StepRow& row = tile::row_of(i.op);
  const bool is_remote = row.work == tile::Work::transfer && program.transfers[i.a].kind == tile::Transfer::Kind::remote;
  return is_remote ? "remote" : std::string(row.kind);
}

RowsOf fill_memory(const tile::Program& program, const Library&, profile::Report& report, bool with_variables, Detail detail) {
  RowsOf out;
  report.target = target_of(program);
  CategoryTable categories = categories_of(program);
  report.tiles.assign(program.machine.tiles(), {0, 0, std::vector<std::uint64_t>(categories.shown.size()), 0});
  report.liveness.clear();
  std::vector<std::span<const tile::Allocation>> allocations = allocations_by_tile(program);
  for (const tile::Stream& stream : program.streams)
    report.liveness.push_back(fill_stream(program, stream, allocations, categories, report));
  // Tiles that no stream runs can hold bytes too: images, initial values.
  std::vector<bool> in_stream(program.machine.tiles());
  for (const tile::Stream& stream : program.streams)
    for (TileId t : stream.tiles) in_stream[t.index()] = true;
  TileSweep sweep;
  for (std::size_t t = 0; t < in_stream.size(); ++t) {
    if (in_stream[t] || allocations[t].empty()) continue;
    sweep.run(program, allocations[t], [](std::uint32_t, std::uint32_t, std::uint64_t) {});
    fill_tile(sweep, allocations[t], categories, report.tiles[t]);
  }
  report.block_streams.clear();
  for (const tile::Stream& stream : program.streams) report.block_streams.push_back(block_stream_of(stream));
  report.categories = std::move(categories.shown);
  report.largest = largest_of(program);
  ProgramRows rows;
  report.compute_sets = compute_sets_of(program, rows);
  if (detail == Detail::whole) {
    out.residents = fill_address_map(program, report);
    rows.bound = fill_traffic(program, report);
    rows.has_exchanges = true;
  }
  report.program.all() = program_of(program, rows, out.program);
  report.variables = with_variables ? variables_of(program) : std::vector<profile::LoweredVariable>();
  for (const auto& [id, row] : rows.compute_sets) out.compute_sets.push_back(id);
  return out;
}

}  // namespace pando::cycles
