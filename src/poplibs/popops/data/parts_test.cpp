// How work is cut: every element once, on its tile, in no more parts than a tile has vertices.
#include "poplibs/popops/data/parts.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include <poplar/IPUModel.hpp>
#include <poputil/exceptions.hpp>

#include "poplibs/work.h"

namespace popops::internal {
namespace {

using namespace poplar;

Device ipu() {
  IPUModel model("ipu2");
  model.numIPUs = 1;
  model.tilesPerIPU = 16;
  return model.createDevice();
}

// Pieces of `piece` elements on tiles in an order of no meaning.
Tensor scattered(Graph& graph, std::size_t n, std::size_t piece) {
  const Tensor t = graph.addVariable(FLOAT, {n}, "t");
  for (std::size_t begin = 0, i = 0; begin < n; begin += piece, ++i)
    graph.setTileMapping(t.slice(begin, std::min(n, begin + piece)), static_cast<unsigned>((7 * i + 3) % graph.getTarget().getNumTiles()));
  return t;
}

TEST(Parts, EveryElementOnceOnItsTile) {
  for (const bool on_ipu : {true, false})
    for (const std::size_t n : {1u, 31u, 100u, 5000u})
      for (const std::size_t piece : {5u, 64u, 1000u}) {
        Graph graph(on_ipu ? ipu() : Device::createCPUDevice());
        const Tensor t = scattered(graph, n, piece);
        const Mapping mapping = graph.getTileMapping(t);
        std::vector<unsigned> times(n, 0);
        std::map<unsigned, unsigned> parts;
        for_each_part(graph, t, mapping, 4, false, [&](unsigned tile, const Runs& runs) {
          ++parts[tile];
          EXPECT_FALSE(runs.empty());
          for (const auto& run : runs)
            for (const Interval& i : run)
              for (std::size_t e = i.begin(); e < i.end(); ++e) {
                ++times[e];
                EXPECT_FALSE(graph.getTileMapping(t.slice(e, e + 1))[tile].empty());
              }
        });
        EXPECT_EQ(times, std::vector<unsigned>(n, 1));
        for (const auto& [tile, count] : parts) EXPECT_LE(count, pando::poplibs::vertices_per_tile(graph.getTarget()));
      }
}

TEST(Parts, ElementsThatOccurTwiceAreInOnePart) {
  Graph graph(ipu());
  const Tensor t = scattered(graph, 100, 30), twice = concat(t, t.slice(10, 60));
  std::size_t elements = 0;
  for_each_part(graph, twice, graph.getTileMapping(twice), 4, true, [&](unsigned, const Runs& runs) {
    for (const auto& run : runs)
      for (const Interval& i : run) elements += i.size();
  });
  EXPECT_EQ(elements, 100u);
}

TEST(Parts, BlocksStayWhereTheyAreUnlessThatIsUneven) {
  Graph graph(ipu());
  const Tensor t = graph.addVariable(FLOAT, {64, 4});
  for (unsigned r = 0; r < 64; ++r) graph.setTileMapping(t[r], 15 - r / 4);
  const std::vector<unsigned> owner = owners_of(graph, t.flatten(), 4);
  ASSERT_EQ(owner.size(), 64u);
  EXPECT_EQ(owner[0], 15u);
  EXPECT_EQ(owner[63], 0u);
  EXPECT_EQ(spread(owner, 16)[15], (std::vector<Interval>{Interval(0, 4)}));
  EXPECT_EQ(of_elements(spread(owner, 16), 4)[15], (std::vector<Interval>{Interval(0, 16)}));
  const Mapping even = spread(std::vector<unsigned>(64, 3), 16);
  for (unsigned tile = 0; tile < 16; ++tile) EXPECT_EQ(even[tile], (std::vector<Interval>{Interval(4 * tile, 4 * tile + 4)}));
}

TEST(Parts, ResultsLieLikeTheirSourceUnlessItIsOnFewTiles) {
  Graph graph(ipu());
  const Tensor here = scattered(graph, 1000, 40), one = graph.addVariable(FLOAT, {1000});
  graph.setTileMapping(one, 7);
  EXPECT_EQ(graph.getTileMapping(output_like(graph, HALF, here, {})), graph.getTileMapping(here));
  std::size_t busy = 0;
  for (const auto& regions : graph.getTileMapping(output_like(graph, HALF, one, {}))) busy += !regions.empty();
  EXPECT_EQ(busy, 16u);
  const Tensor repeated = output_like(graph, HALF, here.slice(0, 1).broadcast(1000, 0), {});
  EXPECT_TRUE(repeated.isParallelWriteable());
}

TEST(Parts, Checks) {
  Graph graph(ipu());
  const Tensor t = scattered(graph, 10, 5);
  EXPECT_THROW(fail("popops::f", "no"), poputil::poplibs_error);
  EXPECT_THROW(check_same_shape("popops::f", "a", t, "b", t.slice(0, 9)), poputil::poplibs_error);
  EXPECT_THROW(check_writable("popops::f", "t", concat(t, t)), poputil::poplibs_error);
  check_writable("popops::f", "t", t);
}

}  // namespace
}  // namespace popops::internal
