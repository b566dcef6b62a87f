#include "simulate/ipu_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace pando::simulate {

namespace {

// Of one op, in cycles: two compute sets that start their workers, two exchanges with their syncs, and the workers' loops around what they
// compute.
// Chosen with programs on 4 IPUs of 64 tiles (docs/level/simulation.md says what that gives elsewhere).
constexpr double kOpCycles = 1500;
// Shares of the peaks that the op libraries reach on large operands, and the operations a tile at which a product reaches half of that.
constexpr double kProductShare = 0.5, kHalfOperations = 3e4;
constexpr double kMemoryShare = 0.25;
// Of a message between IPUs: its syncs, and exchanges to and from the tiles that hold it.
constexpr double kMessageCycles = 1000;

NetworkLevel level(const Machine& m, const char* name, std::int32_t devices, unsigned links) {
  NetworkLevel l;
  l.name = name;
  l.devices = devices;
  l.bytes_per_second = m.link_bytes_per_second * links;
  l.latency = kMessageCycles / m.clock_hz;
  // A tile computes or exchanges.
  l.slowdown = 1;
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
  c.matmul_efficiency.share = kProductShare;
  c.matmul_efficiency.half = kHalfOperations * n;
  c.memory_bytes_per_second = n * m.clock_hz * m.data_path_bits / 8;
  c.memory_efficiency.points = {{1, kMemoryShare}};
  c.memory_bytes = static_cast<std::int64_t>(n * static_cast<double>(m.bytes_per_tile()));
  c.launch = kOpCycles / m.clock_hz;
  c.far_bytes = 64LL << 30;
  c.far_bytes_per_second = m.streaming_bytes_per_second;
  c.levels = {level(m, "card", 2, m.links.in_card), level(m, "ladder", 1 << 20, std::max(1u, m.links.across))};
  return c;
}

std::optional<Cluster> ipu_cluster_named(std::string_view name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const Machine* const m = find_machine(name.substr(0, colon));
  if (m == nullptr || m->clock_hz <= 0 || m->link_bytes_per_second <= 0) return std::nullopt;
  std::int64_t tiles = 0;
  if (colon < name.size()) {
    const auto [end, error] = std::from_chars(name.data() + colon + 1, name.data() + name.size(), tiles);
    if (error != std::errc() || end != name.data() + name.size() || tiles < 1 || tiles > m->tiles_per_ipu) return std::nullopt;
  }
  return cluster_of_ipus(*m, tiles);
}

}  // namespace pando::simulate
