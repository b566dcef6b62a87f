#ifndef pando_placing_hpp
#define pando_placing_hpp

// Where on the tiles a thing begins, so that they fill up evenly. Libraries of operations know the form that a thing has over the tiles,
// and lay it out on a graph whose tiles are numbered from another one on: plan, operands and results keep agreeing.
//
//     unsigned r = pando::choose_rotation(graph, {{0, 4096}, {1, 4096}});     // 4 KiB on each of two neighbours
//     poplar::Graph there = pando::rotated(graph, r);                        // its tile 0 is tile r
//
// Beyond public Poplar.

#include <poplar/Export.hpp>

#include <cstdint>
#include <vector>

namespace poplar {
class Engine;
class Graph;
class Tensor;
}  // namespace poplar

namespace pando {

struct TileBytes {
  unsigned tile = 0;
  std::uint64_t bytes = 0;
};

/// Bytes on each of the graph's tiles that are taken as long as a program is loaded, as far as what was added so far tells: state, code,
/// stacks and exchange code of vertices, constants, tensors of count_as_resident; of all other variables, which are live for some steps,
/// a sixteenth.
POPLAR_EXPORT std::vector<std::uint64_t> resident_bytes(const poplar::Graph& graph);
/// The same of the compiled program: what it has allocated for all of its steps, by tile of the machine.
POPLAR_EXPORT std::vector<std::uint64_t> resident_bytes(const poplar::Engine& engine);

/// The tensor's variables hold values between runs: a network's weights. They count in full.
POPLAR_EXPORT void count_as_resident(poplar::Graph& graph, const poplar::Tensor& tensor);
/// The same of what a library makes for its callers (createWeights ...), unless count_created is off: then the caller knows what it keeps.
POPLAR_EXPORT void count_as_created(poplar::Graph& graph, const poplar::Tensor& tensor);
POPLAR_EXPORT void count_created(poplar::Graph& graph, bool on);

/// By how many tiles a thing of this form should be rotated: the first rotation after which its tiles, and the fullest of them, are least
/// full, or 0 where that is little better. Deterministic. 0 where rotate_placements is off. Throws invalid_tile_mapping for a tile that the
/// graph does not have.
POPLAR_EXPORT unsigned choose_rotation(const poplar::Graph& graph, const std::vector<TileBytes>& form);

/// The same graph with other numbers for its tiles: tile t is the graph's tile t + rotation of the same IPU, modulo the IPU's tiles.
POPLAR_EXPORT poplar::Graph rotated(poplar::Graph& graph, unsigned rotation);
/// The rotation that brings tile `from` to tile `to`; 0 for tiles of different IPUs.
POPLAR_EXPORT unsigned rotation_between(const poplar::Graph& graph, unsigned from, unsigned to);

/// Off: everything begins where its form says, whatever lies there. On from the beginning. Of the whole graph, its virtual graphs as well.
POPLAR_EXPORT void rotate_placements(poplar::Graph& graph, bool on);

}  // namespace pando

#endif
