// What lowering has put on each tile for long, so that what is large and only passed on (the weights of a layer that a function computes,
// what a backward pass still reads) lies where room is.
//
//     home 7  9  11 ...      the tiles of the function's own operand: a copy from there is local, free of exchange
//     here 7  9  40 ...      a part goes to the least loaded tile of its IPU where its home has kSlack bytes more than the mean
#pragma once

#include <poplar/Graph.hpp>

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace pando::lower {

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
  using Entry = std::pair<std::uint64_t, unsigned>;  // load, tile
  struct Ipu {
    // One entry for each tile that computes, with a load that it has or had: loads only grow, so an entry that is up to date and on top is
    // the least.
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> by_load;
    std::uint64_t total = 0;
  };
  void put(unsigned tile, std::uint64_t bytes);
  unsigned least_loaded(Ipu& ipu) const;

  unsigned tiles_per_ipu_, computing_;
  std::uint64_t slack_;
  std::vector<std::uint64_t> loads_;  // by tile of the machine
  std::vector<Ipu> ipus_;
};

}  // namespace pando::lower
