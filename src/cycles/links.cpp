#include "cycles/links.h"

#include <algorithm>
#include <cmath>

namespace pando::cycles {

namespace {

// Bytes over each bundle of links, by card. Directions are apart: [0] to the odd IPU, [1] to the even one; rails: [parity].
struct CardTraffic {
  std::uint64_t in_card[2] = {0, 0};
  std::uint64_t across[2] = {0, 0};
  std::uint64_t up[2] = {0, 0};    // from this card to the next
  std::uint64_t down[2] = {0, 0};  // from this card to the one before
};

void route(const Flow& flow, std::vector<CardTraffic>& cards) {
  unsigned from = flow.from / 2, to = flow.to / 2, side = flow.from % 2;
  bool changes_side = side != flow.to % 2;
  if (from == to) {
    if (changes_side) cards[from].in_card[side] += flow.bytes;
    return;
  }
  for (unsigned c = from; c < to; ++c) cards[c].up[side] += flow.bytes;
  for (unsigned c = from; c > to; --c) cards[c].down[side] += flow.bytes;
  if (changes_side) cards[to].across[side] += flow.bytes;
}

}  // namespace

std::uint64_t link_cycles(const Machine& machine, const std::vector<Flow>& flows) {
  if (flows.empty() || machine.link_bytes_per_second <= 0) return 0;
  unsigned last = 0;
  for (const Flow& f : flows) last = std::max({last, f.from, f.to});
  std::vector<CardTraffic> cards(last / 2 + 1);
  for (const Flow& f : flows) route(f, cards);
  double busiest = 0;  // bytes per link
  auto consider = [&](const std::uint64_t(&bytes)[2], unsigned links) {
    for (std::uint64_t b : bytes) busiest = std::max(busiest, static_cast<double>(b) / std::max(1u, links));
  };
  for (const CardTraffic& c : cards) {
    consider(c.in_card, machine.links.in_card);
    consider(c.across, machine.links.across);
    consider(c.up, machine.links.up);
    consider(c.down, machine.links.down);
  }
  return static_cast<std::uint64_t>(std::ceil(busiest / machine.link_bytes_per_second * machine.clock_hz));
}

std::uint64_t global_sync_cycles(const Machine& machine, unsigned span) {
  if (span < 2) return 0;
  unsigned hops = 1 + span / 2 / 2;
  // The product is exact in decimal and not in binary: without the nudge 240.00000000000003 becomes 241.
  return static_cast<std::uint64_t>(std::ceil(machine.sync_seconds_per_hop * machine.clock_hz * 2 * hops - 1e-6));
}

}  // namespace pando::cycles
