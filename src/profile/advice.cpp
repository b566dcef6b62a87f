#include "profile/advice.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "profile/facts.h"
#include "profile/text.h"

namespace pando::profile {

#define X(stem) extern const AdviceRow advice_##stem;
#include "advice_manifest.inc"
#undef X

namespace {

#define X(stem) &advice_##stem,
constexpr const AdviceRow* kRules[] = {
#include "advice_manifest.inc"
};
#undef X

struct Change {
  std::uint64_t bytes = 0;  // that it moves or saves
  std::string text;
};

// Over how many tiles a variable has to lie evenly, that this one has `missing` bytes more; 0: that is not enough.
std::uint64_t least_tiles(const Report& report, const Resident& r, std::uint64_t here, std::uint64_t missing) {
  const std::uint64_t tiles = report.tiles.size(), even = (r.bytes + tiles - 1) / tiles;
  if (category_of(report, r) != "variable" || r.tiles >= tiles || here < even + missing) return 0;
  return r.bytes / (here - missing) + 1;
}

std::optional<Change> spread(const Report& report, const Resident& r, std::uint64_t here, std::uint64_t missing, std::uint32_t tile) {
  const std::uint64_t least = least_tiles(report, r, here, missing);
  if (least == 0) return std::nullopt;
  return Change{missing, fmt::format("map '{}' over at least {} of the {} tiles instead of {}: it has {} on tile {}", r.name,
                                     count_text(least), count_text(report.tiles.size()), count_text(r.tiles), bytes_text(here), tile)};
}

std::optional<Change> without_buffer(const Report& report, const Resident& r, std::uint64_t here, std::uint64_t missing,
                                     std::uint32_t tile) {
  if (category_of(report, r) != "exchange buffer" || here < missing) return std::nullopt;
  std::string cause;
  for (const BufferCause& b : report.buffers)
    if (report.compute_sets[b.compute_set].name == r.name) {
      cause = fmt::format(" (the largest is for {}.{} of '{}')", b.codelet, b.field, b.variable);
      break;
    }
  return Change{here, fmt::format("map the operands of compute set '{}' where its vertices are: its exchange buffers take {} on tile {}{}",
                                  r.name, bytes_text(here), tile, cause)};
}

std::optional<Change> halved(const Report& report, const Resident& r, std::uint64_t here, std::uint64_t missing, std::uint32_t tile) {
  if (category_of(report, r) != "variable" || here / 2 < missing) return std::nullopt;
  return Change{here / 2, fmt::format("store '{}' in a type of half the size: it has {} on tile {}", r.name, bytes_text(here), tile)};
}

// The steps of which a part is most, in the order of `PartSum::worst`; of the same part the first.
class Worst {
 public:
  void add(double part, std::size_t row) {
    if (part <= 0 || (rows_.size() == kMost && part <= rows_.back().first)) return;
    const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const auto& r) { return r.first < part; });
    rows_.insert(at, {part, row});
    if (rows_.size() > kMost) rows_.pop_back();
  }
  std::vector<std::size_t> rows() const {
    std::vector<std::size_t> out;
    for (const auto& [part, row] : rows_) out.push_back(row);
    return out;
  }

 private:
  static constexpr std::size_t kMost = 3;
  std::vector<std::pair<double, std::size_t>> rows_;
};

std::vector<StepSums> sums_of_rules(const Report& report) {
  struct Summed {
    StepPart part;
    std::size_t rule = 0;
    double sum = 0;
    Worst worst = {};
  };
  std::vector<Summed> parts;
  for (std::size_t i = 0; i < std::size(kRules); ++i)
    if (kRules[i]->parts != nullptr)
      for (StepPart& part : kRules[i]->parts(report)) parts.push_back({std::move(part), i});
  double busy = 0;
  std::size_t row = 0;
  for (const StepCycles& s : report.steps) {
    busy += static_cast<double>(s.cycles.total() - s.cycles.wait);
    for (Summed& p : parts) {
      const double value = p.part(s);
      p.sum += value;
      p.worst.add(value, row);
    }
    ++row;
  }
  std::vector<StepSums> out(std::size(kRules), StepSums{busy, {}});
  for (const Summed& p : parts) out[p.rule].parts.push_back({p.sum, p.worst.rows()});
  return out;
}

}  // namespace

std::span<const AdviceRow* const> advice_rules() { return kRules; }

std::vector<Finding> advise(const Report& report) {
  std::vector<Finding> out;
  const std::vector<StepSums> sums = sums_of_rules(report);
  for (std::size_t i = 0; i < std::size(kRules); ++i) {
    const AdviceRow* rule = kRules[i];
    if (std::optional<Finding> f = rule->find(report, sums[i])) {
      f->rule = rule->name;
      f->unit = rule->unit;
      f->cost = std::clamp(f->cost, 0.0, 1.0);
      out.push_back(std::move(*f));
    }
  }
  // What does not fit comes first, whatever else takes all of a tile's memory.
  const auto key = [](const Finding& f) { return std::pair(f.cost, f.rule == "out_of_memory"); };
  std::stable_sort(out.begin(), out.end(), [&](const Finding& a, const Finding& b) { return key(a) > key(b); });
  return out;
}

std::string advice_json(const std::vector<Finding>& findings) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Finding& f : findings) {
    Json evidence = Json::array();
    for (const Evidence& e : f.evidence) {
      Json j{{"text", e.text}};
      if (e.tile) j["tile"] = *e.tile;
      if (e.order) j["order"] = *e.order;
      if (e.step) j["step"] = *e.step;
      if (e.variable) j["variable"] = *e.variable;
      if (e.compute_set) j["compute_set"] = *e.compute_set;
      if (e.exchange) j["exchange"] = *e.exchange;
      evidence.push_back(std::move(j));
    }
    list.push_back(
        {{"rule", f.rule}, {"title", f.title}, {"text", f.text}, {"cost", f.cost}, {"unit", f.unit}, {"evidence", std::move(evidence)}});
  }
  return list.dump(-1, ' ', false, Json::error_handler_t::replace);
}

namespace {

// Bytes that the fullest tile lacks; 0: it fits.
std::uint64_t missing_bytes(const Report& report) {
  const std::uint64_t limit = report.target.bytes_per_tile;
  if (limit == 0 || report.tiles.empty()) return 0;
  const std::uint64_t needed = report.tiles[fullest_tile(report)].with_gaps;
  return needed > limit ? needed - limit : 0;
}

}  // namespace

std::optional<Spread> smallest_spread(const Report& report) {
  const std::uint64_t missing = missing_bytes(report);
  if (missing == 0) return std::nullopt;
  const std::uint32_t tile = fullest_tile(report);
  const std::optional<std::uint32_t> order = fullest_order(report, tile);
  if (!order) return std::nullopt;
  for (const auto& [index, here] : live_at(report, *order, tile))
    if (const std::uint64_t tiles = least_tiles(report, report.residents[index], here, missing)) return Spread{index, tiles};
  return std::nullopt;
}

std::vector<std::string> smallest_changes(const Report& report) {
  const std::uint64_t limit = report.target.bytes_per_tile, missing = missing_bytes(report);
  if (missing == 0) return {};
  const std::uint32_t tile = fullest_tile(report);
  const std::optional<std::uint32_t> order = fullest_order(report, tile);
  std::vector<Change> changes;
  if (order)
    for (const auto& [index, here] : live_at(report, *order, tile))
      for (const auto& rule : {spread, without_buffer, halved})
        if (std::optional<Change> c = rule(report, report.residents[index], here, missing, tile)) changes.push_back(std::move(*c));
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.bytes < b.bytes; });
  // Vertices stay where they are when a variable's mapping is tried, so what does not fit then may fit where an op library maps them anew.
  const bool compiled_fits = report.compiled_change.ends_with(kCompiledFits);
  std::vector<std::string> out;
  if (compiled_fits) out.push_back(report.compiled_change);
  for (std::size_t i = 0; i < std::min<std::size_t>(changes.size(), 5); ++i) out.push_back(changes[i].text);
  std::uint64_t all = 0;
  for (const TileMemory& t : report.tiles) all += t.used;
  const std::uint64_t room = limit * std::max(1u, report.target.tiles_per_ipu), ipus = (all + room - 1) / std::max<std::uint64_t>(room, 1);
  if (ipus > report.target.ipus)
    out.push_back(fmt::format("use at least {} IPUs: the program needs {}, one IPU has {}", ipus, bytes_text(all), bytes_text(room)));
  if (!compiled_fits && !report.compiled_change.empty()) out.push_back(report.compiled_change);
  if (out.empty())
    out.push_back(fmt::format(
        "no single variable frees the {} that tile {} lacks: spread the program over more tiles, or recompute instead of storing",
        bytes_text(missing), tile));
  return out;
}

}  // namespace pando::profile
