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

// Of a codelet whose edges are no lists: as many operands as edges.
bool has_disjoint_operands(const tile::Program& program, const Codelet& codelet, const tile::VertexInstance& vertex) {
  struct Bytes {
    TileId tile;
    std::uint64_t begin, end;
    bool is_written;
  };
  std::vector<Bytes> all;
  const tile::Operand* operand = program.operands.data() + vertex.operands;
  for (const Field& f : codelet.fields) {
    if (!f.is_edge()) continue;
    const Bytes bytes{operand->tile, operand->offset, operand->offset + operand->count * size_of(f.type), f.is_written()};
    const auto overlaps = [&](const Bytes& other) {
      return (bytes.is_written || other.is_written) && bytes.tile == other.tile && bytes.begin < other.end && other.begin < bytes.end;
    };
    if (std::any_of(all.begin(), all.end(), overlaps)) return false;
    all.push_back(bytes);
    ++operand;
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
  if (!std::all_of(vertices.begin(), vertices.end(), [&](const auto& v) { return has_disjoint_operands(program, codelet, v); })) return {};
  for (StridedVertices& rows : out)
    if (rows.strides.empty()) rows.strides.resize(codelet.fields.size());
  return out;
}

}  // namespace pando::exec
