#include "exec/steps/strided.h"

#include <algorithm>
#include <cstring>

namespace pando::exec {
namespace {

constexpr std::uint32_t kLeast = 12;  // vertices of a call, on average

class Alike {
 public:
  Alike(const Codelet& codelet, const char* first, std::uint64_t stride) : codelet_(codelet), first_(first), stride_(stride) {
    for (const Field& f : codelet.fields)
      if (f.is_edge()) edges_.push_back(f.host_offset);
    std::sort(edges_.begin(), edges_.end());
  }

  // Bytes from each edge of vertex a to that of b; false if they differ in more.
  bool find_distances(std::uint32_t a, std::uint32_t b, std::vector<std::int64_t>& distances) const {
    const char *from = first_ + a * stride_, *to = first_ + b * stride_;
    std::uint32_t at = 0;
    for (const std::uint32_t edge : edges_) {
      if (std::memcmp(from + at, to + at, edge - at) != 0) return false;
      at = edge + static_cast<std::uint32_t>(sizeof(char*));
    }
    if (std::memcmp(from + at, to + at, codelet_.host_size - at) != 0) return false;
    distances.clear();
    for (const Field& f : codelet_.fields)
      if (f.is_edge()) distances.push_back(address(to, f) - address(from, f));
    return true;
  }

 private:
  static std::int64_t address(const char* descriptor, const Field& f) {
    std::int64_t out = 0;
    std::memcpy(&out, descriptor + f.host_offset, sizeof out);
    return out;
  }

  const Codelet& codelet_;
  const char* const first_;
  const std::uint64_t stride_;
  std::vector<std::uint32_t> edges_;  // where descriptors keep addresses
};

// As many vertices from `first` on as are at equal distances.
StridedVertices row_from(const Alike& alike, std::uint32_t first, std::uint32_t count) {
  StridedVertices row{first, 1, 1, {}};
  std::vector<std::int64_t> distances, next;
  if (first + 1 == count || !alike.find_distances(first, first + 1, distances)) return row;
  for (row.inner = 2; first + row.inner < count; ++row.inner)
    if (!alike.find_distances(first + row.inner - 1, first + row.inner, next) || next != distances) break;
  for (const std::int64_t d : distances) row.strides.push_back({d, 0});
  return row;
}

bool have_one_form(const StridedVertices& a, const StridedVertices& b) {
  return a.inner == b.inner && std::equal(a.strides.begin(), a.strides.end(), b.strides.begin(), b.strides.end(),
                                          [](const EdgeStride& x, const EdgeStride& y) { return x.inner == y.inner; });
}

// The next row, if it is one of `rows`.
bool joins(const Alike& alike, StridedVertices& rows, const StridedVertices& next) {
  if (!have_one_form(rows, next)) return false;
  std::vector<std::int64_t> distances;
  if (!alike.find_distances(next.first - rows.inner, next.first, distances)) return false;
  if (rows.strides.empty()) rows.strides.resize(distances.size());
  for (std::size_t e = 0; e < distances.size(); ++e) {
    if (rows.outer > 1 && rows.strides[e].outer != distances[e]) return false;
    rows.strides[e].outer = distances[e];
  }
  ++rows.outer;
  return true;
}

// Of a codelet whose edges are no lists: as many operands as edges. `edges`: of its fields.
bool has_disjoint_operands(const tile::Operand* operands, const std::vector<const Field*>& edges) {
  const auto end = [&](std::size_t i) { return operands[i].offset + operands[i].count * size_of(edges[i]->type); };
  for (std::size_t i = 0; i < edges.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const tile::Operand &a = operands[i], &b = operands[j];
      const bool is_written = edges[i]->is_written() || edges[j]->is_written();
      if (is_written && a.tile == b.tile && a.offset < end(j) && b.offset < end(i)) return false;
    }
  return true;
}

}  // namespace

std::vector<StridedVertices> find_strided(const tile::Program& program, const Codelet& codelet,
                                          std::span<const tile::VertexInstance> vertices, const char* first, std::uint64_t stride) {
  const auto count = static_cast<std::uint32_t>(vertices.size());
  if (!codelet.strided || count < kLeast) return {};
  const Alike alike(codelet, first, stride);
  std::vector<StridedVertices> out;
  for (std::uint32_t at = 0; at < count;) {
    StridedVertices row = row_from(alike, at, count);
    at += row.inner;
    if (!out.empty() && joins(alike, out.back(), row)) continue;
    out.push_back(std::move(row));
    if (out.size() * kLeast > std::max(at, 8 * kLeast)) return {};
  }
  if (out.size() * kLeast > count) return {};
  std::vector<const Field*> edges;
  for (const Field& f : codelet.fields)
    if (f.is_edge()) edges.push_back(&f);
  for (const tile::VertexInstance& v : vertices)
    if (!has_disjoint_operands(program.operands.data() + v.operands, edges)) return {};
  for (StridedVertices& rows : out)
    if (rows.strides.empty()) rows.strides.resize(edges.size());
  return out;
}

}  // namespace pando::exec
