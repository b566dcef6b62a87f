#include "exec/touched_memory.h"

#include <algorithm>
#include <vector>

#include "base/element_type.h"
#include "base/interval.h"
#include "tile/runs.h"

namespace pando::exec {
namespace {

constexpr std::uint64_t kHostPage = 4096;

bool reserves_memory(const Codelet& codelet) { return codelet.reserved.size > 0 || !codelet.shared_ranges.empty(); }

// Does the host write such memory? Vertex state and code are outside of the tiles here (contract 6).
bool is_data(tile::Category category) {
  switch (category) {
    case tile::Category::variable:
    case tile::Category::constant:
    case tile::Category::exchange_buffer:
    case tile::Category::globals:
    case tile::Category::staging: return true;
    case tile::Category::vertex_state:
    case tile::Category::vertex_code:
    case tile::Category::stack:
    case tile::Category::control_code:
    case tile::Category::exchange_code:
    case tile::Category::reserved: return false;
  }
  return true;
}

class Touched {
 public:
  Touched(const tile::Program& program, const Library& library) : program_(program), library_(library), pages_(program.machine.tiles()) {}

  std::uint64_t bytes() {
    moves(program_.initial_moves);
    for (const tile::Exchange& x : program_.exchanges) {
      moves(x.receive);
      moves(x.arrange);
    }
    for (const tile::Transfer& t : program_.transfers)
      if (t.to_device) moves(t.moves);
    for (const tile::ComputeStep& step : program_.computes)
      for (const tile::VertexGroup& group : step.groups) vertices(group);
    for (const tile::Allocation& a : program_.allocations)
      if (a.category == tile::Category::globals) add(a.tile, a.offset, a.size);
    std::uint64_t pages = 0;
    for (std::vector<Interval>& of_tile : pages_) {
      normalise(of_tile);
      pages += total_size(of_tile);
    }
    return pages * kHostPage;
  }

 private:
  void add(TileId tile, std::uint64_t offset, std::uint64_t bytes) {
    if (bytes == 0) return;
    std::vector<Interval>& list = pages_[tile.index()];
    const Interval pages{offset / kHostPage, (offset + bytes - 1) / kHostPage + 1};
    if (!list.empty() && list.back().begin <= pages.begin && pages.begin <= list.back().end) {
      list.back().end = std::max(list.back().end, pages.end);
      return;
    }
    list.push_back(pages);
    // Kept short: the same pages are written by one step after the other.
    constexpr std::size_t kLong = 4096;
    if (list.size() % kLong == 0) normalise(list);
  }

  void moves(const std::vector<tile::Move>& list) {
    for (const tile::Move& m : list)
      for (std::uint32_t i = 0; i < m.count; ++i) {
        const tile::Run run = tile::run_of({m.source, m.destination, m.bytes}, m.source_step, m.destination_step, i);
        add(m.destination_tile, run.destination, run.bytes);
      }
  }

  void vertices(const tile::VertexGroup& group) {
    const Codelet& codelet = library_[group.codelet];
    if (reserves_memory(codelet)) return;
    for (std::uint32_t i = 0; i < group.count; ++i) {
      std::size_t at = program_.vertices[group.first + i].operands;
      for (const Field& field : codelet.fields) {
        if (!field.is_edge()) continue;
        const std::size_t rows = field.has_rows() ? program_.operands[at++].count : 1;
        for (const std::size_t end = at + rows; at < end; ++at) {
          const tile::Operand& o = program_.operands[at];
          if (field.is_written()) add(o.tile, o.offset, o.count * size_of(field.type));
        }
      }
    }
  }

  const tile::Program& program_;
  const Library& library_;
  std::vector<std::vector<Interval>> pages_;  // of each tile: numbers of pages
};

}  // namespace

std::uint64_t touched_bytes(const tile::Program& program, const Library& library) { return Touched(program, library).bytes(); }

std::uint64_t touched_bytes_at_most(const tile::Program& program) {
  std::uint64_t pages = 0, covered = 0;
  TileId tile;
  for (const tile::Allocation& a : program.allocations) {  // sorted by tile and address
    if (a.tile != tile) covered = 0;
    tile = a.tile;
    if (a.size == 0 || !is_data(a.category)) continue;
    const std::uint64_t begin = std::max(a.offset / kHostPage, covered), end = (a.offset + a.size - 1) / kHostPage + 1;
    if (end > begin) pages += end - begin;
    covered = std::max(covered, end);
  }
  return pages * kHostPage;
}

}  // namespace pando::exec
