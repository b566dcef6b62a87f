#include "profile/compare.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include "profile/facts.h"

namespace pando::profile {

namespace {

using Key = std::vector<std::string>;
using Sums = std::map<Key, std::pair<std::uint64_t, std::uint64_t>>;  // a and b

std::int64_t difference(const std::pair<std::uint64_t, std::uint64_t>& p) {
  return static_cast<std::int64_t>(p.second) - static_cast<std::int64_t>(p.first);
}

// Into `out`, as `table`: what differs.
void add_rows(Json& out, const char* table, const Sums& sums, const std::vector<const char*>& names, std::size_t top) {
  std::vector<const Sums::value_type*> order;
  for (const auto& s : sums)
    if (s.second.first != s.second.second) order.push_back(&s);
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* x, const auto* y) { return std::abs(difference(x->second)) > std::abs(difference(y->second)); });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), top); ++i) {
    Json row{{"difference", difference(order[i]->second)}, {"a", order[i]->second.first}, {"b", order[i]->second.second}};
    for (std::size_t k = 0; k < names.size(); ++k) row[names[k]] = order[i]->first[k];
    rows.push_back(std::move(row));
  }
  out[table] = std::move(rows);
  out = cut_rows(std::move(out), order.size(), table);
}

template <class Add>
Sums sums_of(const Report& a, const Report& b, Add add) {
  Sums out;
  add(a, [&](Key key, std::uint64_t n) { out[std::move(key)].first += n; });
  add(b, [&](Key key, std::uint64_t n) { out[std::move(key)].second += n; });
  return out;
}

Json totals(const Report& a, const Report& b) {
  Json rows = Json::array();
  const auto add = [&](const char* what, std::uint64_t x, std::uint64_t y) {
    rows.push_back({{"difference", difference({x, y})}, {"a", x}, {"b", y}, {"total", what}});
  };
  const auto used = [](const Report& r) {
    std::uint64_t sum = 0;
    for (const TileMemory& t : r.tiles) sum += t.used;
    return sum;
  };
  const auto fullest = [](const Report& r) { return r.tiles.empty() ? 0 : r.tiles[fullest_tile(r)].with_gaps; };
  add("total_cycles", a.total_cycles, b.total_cycles);
  add("bytes_in_use", used(a), used(b));
  add("fullest_tile_bytes", fullest(a), fullest(b));
  add("vertices", a.graph.vertices, b.graph.vertices);
  add("compute_sets", a.graph.compute_sets, b.graph.compute_sets);
  add("variables", a.graph.variables, b.graph.variables);
  return rows;
}

}  // namespace

Json compare(const Report& a, const Report& b, std::size_t top) {
  const Sums steps = sums_of(a, b, [](const Report& r, auto add) {
    for (const StepCycles& s : r.steps) add({s.stream, s.kind, s.name}, s.cycles.total() - s.cycles.wait);
  });
  const Sums memory = sums_of(a, b, [](const Report& r, auto add) {
    for (const Resident& v : r.residents) add({category_of(r, v), v.name}, v.bytes);
  });
  const Sums codelets = sums_of(a, b, [](const Report& r, auto add) {
    for (const CodeletCycles& c : r.codelets) add({c.codelet}, c.cycles);
  });
  Json out{{"totals", totals(a, b)}};
  add_rows(out, "steps", steps, {"stream", "kind", "name"}, top);
  add_rows(out, "memory", memory, {"category", "name"}, top);
  add_rows(out, "codelets", codelets, {"codelet"}, top);
  return out;
}

}  // namespace pando::profile
