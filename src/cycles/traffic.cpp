// Bytes from tile to tile of each exchange.
#include <algorithm>
#include <map>
#include <span>

#include "cycles/facts.h"

namespace pando::cycles {

namespace {

constexpr std::size_t kMostPairs = 1 << 14;  // of an exchange; more are counted by blocks

std::uint64_t runs_of(const tile::Move& m) { return m.source_step == 0 ? 1 : m.count; }

std::vector<profile::Traffic> pairs_of(std::span<const tile::Move> receive) {
  std::vector<profile::Traffic> pairs;
  for (const tile::Move& m : receive)
    if (m.source_tile.valid() && m.source_tile != m.destination_tile)  // WriteUndef has no source
      pairs.push_back({m.source_tile.value, m.destination_tile.value, runs_of(m) * m.bytes, runs_of(m)});
  return pairs;
}

void add_up(std::vector<profile::Traffic>& pairs) {
  const auto key = [](const profile::Traffic& t) { return std::pair(t.from, t.to); };
  std::sort(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (const profile::Traffic& t : pairs) {
    if (kept > 0 && key(pairs[kept - 1]) == key(t)) {
      pairs[kept - 1].bytes += t.bytes;
      pairs[kept - 1].messages += t.messages;
    } else {
      pairs[kept++] = t;
    }
  }
  pairs.resize(kept);
}

void count_tiles(profile::ExchangeTraffic& out) {
  std::map<std::uint32_t, std::uint64_t> received;
  std::uint32_t last = ~0u;
  for (const profile::Traffic& t : out.traffic) {
    out.bytes += t.bytes;
    received[t.to] += t.bytes;
    out.senders += t.from != last;
    last = t.from;
  }
  out.receivers = static_cast<std::uint32_t>(received.size());
  for (const auto& [tile, bytes] : received)
    if (bytes > out.busiest_bytes) {
      out.busiest_bytes = bytes;
      out.busiest_tile = tile;
    }
}

profile::ExchangeTraffic traffic_of(const tile::Program& program, tile::NameId name, std::span<const tile::Move> receive) {
  profile::ExchangeTraffic out;
  if (name.valid() && name.index() < program.names.size()) out.name = program.names[name.index()];
  out.traffic = pairs_of(receive);
  add_up(out.traffic);
  count_tiles(out);
  while (out.traffic.size() > kMostPairs) {
    out.block *= 2;
    for (profile::Traffic& t : out.traffic) t.from /= 2, t.to /= 2;
    add_up(out.traffic);
  }
  return out;
}

void add_copies(const tile::Exchange& e, profile::ExchangeTraffic& out) {
  for (const auto* moves : {&e.receive, &e.arrange})
    for (const tile::Move& m : *moves)
      if (m.source_tile == m.destination_tile) {
        out.local_bytes += std::uint64_t{m.bytes} * m.count;
        out.copies += m.count;
      }
}

}  // namespace

std::map<ComputeSetId, std::uint32_t> fill_traffic(const tile::Program& program, profile::Report& report) {
  report.exchanges.clear();
  for (const tile::Exchange& e : program.exchanges) {
    report.exchanges.push_back(traffic_of(program, e.name, e.receive));
    add_copies(e, report.exchanges.back());
  }
  struct Bound {
    tile::NameId name;
    std::map<StreamId, const std::vector<tile::Move>*> moves;  // programs that execute one compute set bind the same
  };
  std::map<ComputeSetId, Bound> bound;
  for (const tile::ComputeStep& step : program.computes)
    if (!step.bound.empty()) {
      bound[step.compute_set].name = step.name;
      bound[step.compute_set].moves.emplace(step.stream, &step.bound);
    }
  std::map<ComputeSetId, std::uint32_t> rows;
  for (const auto& [compute_set, b] : bound) {
    std::vector<tile::Move> moves;
    for (const auto& [stream, list] : b.moves) moves.insert(moves.end(), list->begin(), list->end());
    rows.emplace(compute_set, static_cast<std::uint32_t>(report.exchanges.size()));
    report.exchanges.push_back(traffic_of(program, b.name, moves));
  }
  return rows;
}

}  // namespace pando::cycles
