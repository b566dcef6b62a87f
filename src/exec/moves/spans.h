// Which bytes moves and operands touch. Private to this folder.
#pragma once

#include <algorithm>
#include <cstdint>

#include "codelet/library.h"
#include "tile/program.h"

namespace pando::exec {

struct Span {
  TileId tile;
  std::uint64_t begin = 0, end = 0;
};

// All that a strided move spans at one side.
inline Span span_of(TileId tile, std::uint64_t offset, std::int64_t step, std::uint32_t bytes, std::uint32_t count) {
  const std::uint64_t last = offset + static_cast<std::uint64_t>(step * (static_cast<std::int64_t>(count) - 1));
  return {tile, std::min(offset, last), std::max(offset, last) + bytes};
}
inline Span source_of(const tile::Move& m) { return span_of(m.source_tile, m.source, m.source_step, m.bytes, m.count); }
inline Span destination_of(const tile::Move& m) { return span_of(m.destination_tile, m.destination, m.destination_step, m.bytes, m.count); }

template <class Visit>  // visit(field, operand)
void for_each_operand(const tile::Program& program, const Codelet& codelet, const tile::VertexInstance& v, Visit visit) {
  std::size_t at = v.operands;
  for (const Field& f : codelet.fields) {
    if (!f.is_edge()) continue;
    const std::size_t rows = f.has_rows() ? program.operands[at++].count : 1;
    for (const std::size_t end = at + rows; at < end; ++at) visit(f, program.operands[at]);
  }
}

template <class Visit>  // visit(vertex, field, operand)
void for_each_operand(const tile::Program& program, const Library& library, const tile::ComputeStep& step, Visit visit) {
  for (const tile::VertexGroup& g : step.groups)
    for (std::uint32_t i = g.first; i < g.first + g.count; ++i)
      for_each_operand(program, library[g.codelet], program.vertices[i],
                       [&](const Field& f, const tile::Operand& o) { visit(program.vertices[i], f, o); });
}

}  // namespace pando::exec
