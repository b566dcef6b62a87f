#include "ontile/waits.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "ontile/port/exchange.h"

namespace pando::ontile {

namespace {

constexpr std::size_t kMostListed = 4, kMostRanges = 6;

std::string ranges(const std::vector<unsigned>& tiles) {
  std::string out;
  std::size_t count = 0;
  for (std::size_t i = 0; i < tiles.size();) {
    std::size_t end = i;
    while (end + 1 < tiles.size() && tiles[end + 1] == tiles[end] + 1) ++end;
    if (count++ == kMostRanges) return out + ",...";
    if (!out.empty()) out += ",";
    out += i == end ? fmt::format("{}", tiles[i]) : fmt::format("{}-{}", tiles[i], tiles[end]);
    i = end + 1;
  }
  return out;
}

std::string text_of(const Wait& w, bool many) {
  const char* const waits = many ? "wait" : "waits";
  const char* const have = many ? "have" : "has";
  if (w.ended) return many ? "have no interpreter any more" : "has no interpreter any more";
  switch (w.kind) {
    case kind_allgather: return fmt::format("{} in alltoall()", waits);
    case kind_broadcast: return fmt::format("{} in broadcast() from tile {}", waits, w.argument);
    case kind_reduce: return fmt::format("{} in reduce() to tile {}", waits, w.argument);
    case kind_allreduce: return fmt::format("{} in allreduce()", waits);
    case kind_barrier: return fmt::format("{} in barrier()", waits);
    case kind_receive:
      return w.argument == 0xffff ? fmt::format("{} in recv()", waits) : fmt::format("{} in recv() from tile {}", waits, w.argument - 1);
    default: return fmt::format("{} ended the command", have);
  }
}

}  // namespace

std::string describe(const std::vector<Wait>& waits) {
  // Groups in the order of their first tile.
  std::vector<std::pair<Wait, std::vector<unsigned>>> groups;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
  for (const Wait& w : waits) {
    const auto key =
        w.ended ? std::pair<std::uint32_t, std::uint32_t>(0xffffffffu, 0) : std::pair(w.kind, w.kind == kind_none ? 0 : w.argument);
    const auto [place, is_new] = known.try_emplace(key, groups.size());
    if (is_new) groups.push_back({w, {}});
    groups[place->second].second.push_back(w.tile);
  }
  std::string out = "exchange cannot go on: ";
  for (std::size_t i = 0; i < groups.size() && i < kMostListed; ++i) {
    const auto& [wait, tiles] = groups[i];
    const bool many = tiles.size() > 1;
    out += fmt::format("{}{} {} {}", i ? "; " : "", many ? "tiles" : "tile", ranges(tiles), text_of(wait, many));
  }
  if (groups.size() > kMostListed) out += fmt::format("; {} more groups of tiles wait for something else", groups.size() - kMostListed);
  return out;
}

}  // namespace pando::ontile
