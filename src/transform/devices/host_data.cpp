#include "transform/devices/host_data.h"

#include "base/check.h"

#include <algorithm>
#include <cstring>

namespace pando::transform {

using ir::HostTensor;
using ir::Module;
using ir::Shape;
using ir::State;

namespace {

bool is_grouped(const Module& m, const State& s) { return s.grouping.replicas() == m.replicas() && s.grouping.groups() > 1; }

// Which group's data a replica holds; one group where nothing was said.
std::int64_t group_of(const Module& m, const State& s, std::int64_t replica) { return is_grouped(m, s) ? s.grouping.group_of(replica) : 0; }

bool is_first_of_group(const Module& m, const State& s, std::int64_t replica) {
  for (std::int64_t r = 0; r < replica; ++r) {
    if (group_of(m, s, r) == group_of(m, s, replica)) return false;
  }
  return true;
}

// Position among the members of its group.
std::int64_t member_of(const Module& m, const State& s, std::int64_t replica) {
  std::int64_t n = 0;
  for (std::int64_t r = 0; r < replica; ++r) n += group_of(m, s, r) == group_of(m, s, replica) ? 1 : 0;
  return n;
}

// Data that an earlier download of all replicas left have a leading dimension for them.
bool holds_all_replicas(const Module& m, const State& s, const HostTensor& data) {
  if (s.retrieval != ir::Retrieval::all_replicas || m.replicas() == 1) return false;
  const std::int64_t own = s.sharded ? 0 : ir::elements_of(m.type(s.type).shape);
  return own > 0 && data.elements() == own * m.replicas();
}

}  // namespace

HostTensor data_of_replica(const Module& m, const State& s, const HostTensor& data, std::int64_t replica) {
  const ir::Type& type = m.type(s.type);
  const std::int64_t mine = ir::elements_of(type.shape);
  const std::size_t size = ir::size_of(type.dtype);
  if (!s.sharded) {
    if (data.elements() == mine) return data.reshaped(type.shape);
    const std::int64_t at = holds_all_replicas(m, s, data) ? replica : group_of(m, s, replica);
    HostTensor out(type.dtype, type.shape);
    PANDO_CHECK((at + 1) * mine <= data.elements());
    std::memcpy(out.writable(), data.data() + static_cast<std::size_t>(at * mine) * size, out.size_bytes());
    return out;
  }
  const std::int64_t groups = is_grouped(m, s) ? s.grouping.groups() : 1;
  const std::int64_t whole = data.elements() / groups;
  const std::int64_t shards = std::max<std::int64_t>(1, (whole + mine - 1) / std::max<std::int64_t>(1, mine));
  const std::int64_t first = (member_of(m, s, replica) % shards) * mine;
  HostTensor out(type.dtype, type.shape);
  const std::int64_t n = std::clamp<std::int64_t>(whole - first, 0, mine);
  const std::int64_t from = group_of(m, s, replica) * whole + first;
  std::memcpy(out.writable(), data.data() + static_cast<std::size_t>(from) * size, static_cast<std::size_t>(n) * size);
  return out;
}

Shape host_shape(const Module& m, const State& s, const HostTensor& data) {
  if (s.retrieval != ir::Retrieval::all_replicas || s.sharded || m.replicas() == 1) return data.shape();
  Shape shape{m.replicas()};
  const Shape& own = m.type(s.type).shape;
  shape.insert(shape.end(), own.begin(), own.end());
  return shape;
}

void store_replicas(const Module& m, const State& s, const HostTensor& replicas, std::byte* to, const HostTensor& like) {
  const std::int64_t mine = ir::elements_of(m.type(s.type).shape);
  const std::size_t size = ir::size_of(like.dtype());
  const bool all = !s.sharded && holds_all_replicas(m, s, like) && like.shape().size() == m.type(s.type).shape.size() + 1;
  const std::int64_t groups = is_grouped(m, s) ? s.grouping.groups() : 1;
  const std::int64_t whole = like.elements() / groups;
  for (std::int64_t r = 0; r < m.replicas(); ++r) {
    std::int64_t at = 0, n = mine;
    if (all) {
      at = r * mine;
    } else if (s.sharded) {
      const std::int64_t first = member_of(m, s, r) * mine;
      if (first >= whole) continue;
      at = group_of(m, s, r) * whole + first;
      n = std::min(mine, whole - first);
    } else if (is_first_of_group(m, s, r)) {
      at = group_of(m, s, r) * mine;
    } else {
      continue;
    }
    std::memcpy(to + static_cast<std::size_t>(at) * size, replicas.data() + static_cast<std::size_t>(r * mine) * size,
                static_cast<std::size_t>(n) * size);
  }
}

}  // namespace pando::transform
