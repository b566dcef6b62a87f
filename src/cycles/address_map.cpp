// The report's address map: what lies where on every tile, and when it is live.
#include <algorithm>
#include <map>

#include "cycles/facts.h"

namespace pando::cycles {

namespace {

// Residents by (name, category), in the order of the allocations: an id of a name is one variable's, or one kind of code's.
class Residents {
 public:
  Residents(const tile::Program& program, profile::Report& report) : program_(program), report_(report) {
    std::map<std::string, std::uint32_t> shown;
    for (std::uint32_t c = 0; c < report.categories.size(); ++c) shown.emplace(report.categories[c].category, c);
    for (std::size_t c = 0; c < tile::kCategories; ++c) {
      const auto it = shown.find(tile::name_of(static_cast<tile::Category>(c)));
      category_.push_back(it == shown.end() ? 0 : it->second);
      ids_.emplace_back(program.names.size() + 1, kNone);
    }
  }

  void add(const tile::Allocation& a) {
    const std::size_t name = std::min<std::size_t>(a.name.index(), program_.names.size());
    std::uint32_t& id = ids_[static_cast<std::size_t>(a.category)][name];
    if (id == kNone) {
      id = static_cast<std::uint32_t>(report_.residents.size());
      profile::Resident r;
      r.name = name < program_.names.size() ? program_.names[name] : std::string();
      r.category = category_[static_cast<std::size_t>(a.category)];
      report_.residents.push_back(std::move(r));
      names_.push_back(a.name);
      on_tile_.emplace_back();
    }
    add_bytes(report_.residents[id], on_tile_[id], a);
    report_.placements.push_back({a.tile.value, id, a.always_live ? 0 : a.live + 1, a.estimated, a.offset, a.size});
  }
  std::vector<tile::NameId> names() && { return std::move(names_); }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  struct OnTile {
    TileId tile;
    std::uint64_t bytes = 0;
  };

  void add_bytes(profile::Resident& r, OnTile& here, const tile::Allocation& a) {
    if (here.tile != a.tile) {
      here = {a.tile, 0};
      ++r.tiles;
    }
    here.bytes += a.size;
    r.bytes += a.size;
    r.largest = std::max(r.largest, here.bytes);
    if (a.always_live) r.always_live_bytes += a.size;
    if (a.always_live || program_.live_ranges[a.live].empty()) return;
    const tile::LiveRange& live = program_.live_ranges[a.live];
    if (r.last == 0) r.first = live.front().first;
    r.first = std::min(r.first, live.front().first);
    r.last = std::max(r.last, live.back().second);
  }

  const tile::Program& program_;
  profile::Report& report_;
  std::vector<std::uint32_t> category_;          // by tile::Category
  std::vector<std::vector<std::uint32_t>> ids_;  // [category][name]
  std::vector<tile::NameId> names_;              // by resident
  std::vector<OnTile> on_tile_;                  // by resident: the tile at hand
};

}  // namespace

std::vector<tile::NameId> fill_address_map(const tile::Program& program, profile::Report& report) {
  report.residents.clear();
  report.placements.clear();
  report.placements.reserve(program.allocations.size());
  Residents residents(program, report);
  for (const tile::Allocation& a : program.allocations) residents.add(a);
  report.live_sets = program.live_ranges;
  return std::move(residents).names();
}

}  // namespace pando::cycles
