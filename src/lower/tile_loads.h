// What lowering has put on each tile for long, so that what is large and only passed on (the weights of a layer that a function computes,
// what a backward pass still reads) lies where room is.
//
//     home 7  9  11 ...      the tiles of the function's own operand: a copy from there is local, free of exchange
//     here 7  9  40 ...      a part goes to the least loaded tile of its IPU where its home has kSlack bytes more than the mean
#pragma once

#include <poplar/Graph.hpp>

#include <cstdint>
#include <map>
#include <vector>

namespace pando::lower {

// The variable that a clone is a view of, in the order of its memory, where a tile's elements are few intervals; else the clone.
poplar::Tensor in_memory_order(const poplar::Graph& graph, const poplar::Tensor& clone);

class TileLoads {
 public:
  // `io_tiles`: the last ones of each IPU, which hold what is placed there and nothing else.
  TileLoads(const poplar::Target& target, unsigned io_tiles);

  // What lies on the tiles, `share` of it.
  void add(const poplar::Graph& graph, const poplar::Tensor& t, double share = 1);
  // Maps a clone that nothing has used yet, part by part, and adds it. `count`: as many tensors will be mapped alike. Deterministic: equal
  // loads go by number of the tile.
  void spread(poplar::Graph& graph, const poplar::Tensor& clone, unsigned count = 1);
  std::uint64_t load(unsigned tile) const { return loads_[tile]; }

 private:
  // Tiles of one load, from `next` on.
  struct Level {
    std::vector<unsigned> tiles;
    std::size_t next = 0;
    bool sorted = true;
  };
  struct Ipu {
    // Each tile that computes is in one level, of a load that it has or had: loads only grow, so the first of the lowest level that is up
    // to date is the least loaded. Loads are alike: there are few levels.
    std::map<std::uint64_t, Level> levels;
    std::uint64_t total = 0;
  };
  void put(unsigned tile, std::uint64_t bytes);
  static void add_to_level(Ipu& ipu, std::uint64_t load, unsigned tile);
  unsigned least_loaded(Ipu& ipu) const;

  unsigned tiles_per_ipu_, computing_;
  std::uint64_t slack_;
  std::vector<std::uint64_t> loads_;  // by tile of the machine
  std::vector<Ipu> ipus_;
  std::vector<std::uint64_t> elements_;  // of one tensor, by tile
  std::vector<std::uint32_t> order_;     // of the parts of one tensor
};

}  // namespace pando::lower
