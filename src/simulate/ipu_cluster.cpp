#include "simulate/ipu_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace pando::simulate {

namespace {

// Fitted to MLPs of 4 x 256 and 8 x 512 and a GPT of 2 blocks on two to eight IPUs of 256 tiles, whose plans spare cycles.
//
// Of one op, in cycles: its compute set, which starts workers, and its exchange.
constexpr double kOpCycles = 380;
// A product takes its operations at this rate, up to so many cycles for splitting it, spreading its parts and adding them up; large ones
// come so near to the peak.
constexpr double kPartRate = 9, kPartCycles = 6600, kProductShare = 0.75;
constexpr double kMemoryShare = 0.7;
// Of a message between IPUs that lie `span` apart on the ladder: a sync of the tiles before and behind it, one of the IPUs, and the way of
// its last word. All of them are facts of the machine.
double message_cycles(const Machine& m, unsigned span) {
  const unsigned hops = 1 + span / 2 / 2;
  return 2.0 * m.sync_cycles_internal + 2 * hops * m.sync_seconds_per_hop * m.clock_hz + m.exchange_landing_cycles;
}

// Shares of a peak of so many operations a cycle.
Efficiency product_efficiency(double peak) {
  Efficiency e;
  e.points.clear();
  for (int half_decade = 6; half_decade <= 28; ++half_decade) {
    const double operations = std::pow(10, half_decade / 2.0);
    const double cycles = std::min(operations / kPartRate, kPartCycles) + operations / (peak * kProductShare);
    e.points.emplace_back(operations, operations / (cycles * peak));
  }
  return e;
}

NetworkLevel level(const Machine& m, const char* name, std::int32_t devices, unsigned links, unsigned span) {
  NetworkLevel l;
  l.name = name;
  l.devices = devices;
  l.bytes_per_second = m.link_bytes_per_second * links;
  l.latency = message_cycles(m, span) / m.clock_hz;
  // A tile computes or exchanges.
  l.slowdown = 1;
  l.through_first = true;
  return l;
}

}  // namespace

Cluster cluster_of_ipus(const Machine& machine, std::int64_t tiles) {
  Machine m = machine;
  m.ipus = 1;
  if (tiles > 0) m.tiles_per_ipu = static_cast<unsigned>(tiles);
  const auto n = static_cast<double>(m.tiles_per_ipu);
  Cluster c;
  c.name = tiles > 0 ? fmt::format("{}:{}", m.name, tiles) : m.name;
  c.doc = fmt::format("IPUs of {} tiles, as the cycle model counts them", m.tiles_per_ipu);
  c.source = "machine/machines; shares and cycles of an op from the cycle model's runs";
  c.half_operations = m.peak_flops_f16();
  c.single_operations = m.peak_flops_f32();
  c.vector_operations = n * m.clock_hz * m.float_vector_width;
  c.matmul_efficiency = product_efficiency(m.peak_flops_f32() / m.clock_hz);
  c.memory_bytes_per_second = n * m.clock_hz * m.data_path_bits / 8;
  c.memory_efficiency.points = {{1, kMemoryShare}};
  c.memory_bytes = static_cast<std::int64_t>(n * static_cast<double>(m.bytes_per_tile()));
  c.launch = kOpCycles / m.clock_hz;
  c.far_bytes = 64LL << 30;
  c.far_bytes_per_second = m.streaming_bytes_per_second;
  c.levels = {level(m, "card", 2, m.links.in_card, 2), level(m, "ladder", 1 << 20, std::max(1u, m.links.across), 4)};
  return c;
}

std::optional<Machine> ipu_named(std::string_view name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const Machine* const known = find_machine(name.substr(0, colon));
  if (known == nullptr || known->clock_hz <= 0 || known->link_bytes_per_second <= 0) return std::nullopt;
  Machine m = *known;
  m.ipus = 1;
  if (colon == name.size()) return m;
  std::int64_t tiles = 0;
  const auto [end, error] = std::from_chars(name.data() + colon + 1, name.data() + name.size(), tiles);
  if (error != std::errc() || end != name.data() + name.size() || tiles < 1 || tiles > m.tiles_per_ipu) return std::nullopt;
  m.name = fmt::format("{}:{}", m.name, tiles);
  m.tiles_per_ipu = static_cast<unsigned>(tiles);
  return m;
}

std::optional<Cluster> ipu_cluster_named(std::string_view name) {
  const auto ipu = ipu_named(name);
  return ipu ? std::optional(cluster_of_ipus(*ipu)) : std::nullopt;
}

}  // namespace pando::simulate
