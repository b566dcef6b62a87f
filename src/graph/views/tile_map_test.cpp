#include "graph/views/tile_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "base/testing/processor_time.h"

namespace pando::graph {
namespace {

using testing::ElementsAre;

MappedInterval on(std::uint64_t begin, std::uint64_t end, std::uint32_t tile) { return {{begin, end}, TileId(tile)}; }

TEST(TileMap, LaterWritesWin) {
  TileMap map;
  map.set({0, 10}, TileId(1));
  map.set({3, 5}, TileId(2));
  EXPECT_THAT(map.intervals(), ElementsAre(on(0, 3, 1), on(3, 5, 2), on(5, 10, 1)));
  map.set({4, 12}, TileId(1));
  EXPECT_THAT(map.intervals(), ElementsAre(on(0, 3, 1), on(3, 4, 2), on(4, 12, 1)));
}

TEST(TileMap, AssignReplacesAll) {
  TileMap map;
  map.set({0, 10}, TileId(1));
  map.assign({on(2, 4, 7), on(4, 6, 7), on(6, 6, 3), on(7, 9, 2)});
  EXPECT_THAT(map.intervals(), ElementsAre(on(2, 6, 7), on(7, 9, 2)));
  map.set({5, 8}, TileId(2));
  EXPECT_THAT(map.intervals(), ElementsAre(on(2, 5, 7), on(5, 9, 2)));
}

TEST(TileMap, Complete) {
  TileMap map;
  EXPECT_TRUE(map.complete(0));
  EXPECT_FALSE(map.complete(1));
  map.set({0, 4}, TileId(0));
  map.set({5, 9}, TileId(0));
  EXPECT_FALSE(map.complete(9));
  EXPECT_FALSE(map.tile_of(4).valid());
  EXPECT_FALSE(map.tile_of(9).valid());
  map.set({4, 5}, TileId(3));
  EXPECT_TRUE(map.complete(9));
  EXPECT_FALSE(map.complete(10));
  EXPECT_EQ(map.tile_of(4), TileId(3));
  EXPECT_EQ(map.tile_of(8), TileId(0));
}

TEST(TileMap, RandomWritesAgainstAnArray) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    auto below = [&](unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random); };
    TileMap map;
    std::vector<TileId> model(60);
    for (int i = 0; i < 40; ++i) {
      const unsigned begin = below(60), end = begin + below(61 - begin);
      const TileId tile(below(4));
      map.set({begin, end}, tile);
      for (unsigned e = begin; e < end; ++e) model[e] = tile;
      if (below(5) != 0) continue;
      std::vector<MappedInterval> want;
      for (unsigned e = 0; e < 60; ++e) {
        ASSERT_EQ(map.tile_of(e), model[e]);
        if (!model[e].valid()) continue;
        if (!want.empty() && want.back().tile == model[e] && want.back().elements.end == e)
          ++want.back().elements.end;
        else
          want.push_back({{e, e + 1}, model[e]});
      }
      ASSERT_EQ(map.intervals(), want);
    }
    const TileMap copy = map;
    ASSERT_EQ(copy.intervals(), map.intervals());
  }
}

// Enough of them to be painted, not sorted; with holes.
TEST(TileMap, ManyShortWritesAgainstAnArray) {
  for (const unsigned space : {9000u, 70000u}) {
    std::mt19937 random(space);
    TileMap map;
    std::vector<TileId> model(space + 3);
    for (int i = 0; i < 9000; ++i) {
      const unsigned begin = static_cast<unsigned>(random() % space), end = begin + static_cast<unsigned>(random() % 4);
      const TileId tile(static_cast<std::uint32_t>(random() % 5));
      map.set({begin, end}, tile);
      std::fill(model.begin() + begin, model.begin() + end, tile);
    }
    std::vector<MappedInterval> want;
    for (unsigned e = 0; e < model.size(); ++e) {
      if (!model[e].valid()) continue;
      if (!want.empty() && want.back().tile == model[e] && want.back().elements.end == e)
        ++want.back().elements.end;
      else
        want.push_back({{e, e + 1}, model[e]});
    }
    EXPECT_EQ(map.intervals(), want);
  }
}

TEST(TileMap, ConcurrentReaders) {
  TileMap map;
  for (unsigned i = 1000; i-- > 0;) map.set({i, i + 1}, TileId(i % 7));
  std::vector<std::size_t> sizes(4);
  std::vector<std::thread> threads;
  for (std::size_t& size : sizes) threads.emplace_back([&] { size = map.intervals().size(); });
  for (std::thread& t : threads) t.join();
  EXPECT_THAT(sizes, ElementsAre(1000, 1000, 1000, 1000));
}

TEST(TileMap, AMillionWritesBackwards) {
  const double begin = processor_seconds();
  TileMap map;
  for (unsigned i = 1000000; i-- > 0;) map.set({i, i + 1}, TileId(i % 1472));
  EXPECT_TRUE(map.complete(1000000));
  EXPECT_LT(processor_seconds() - begin, 2.0 * kSlowerBuild);
}

}  // namespace
}  // namespace pando::graph
