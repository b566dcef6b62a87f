#include "poplibs/popops/slice/partition.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace popops::internal {
namespace {

SliceProblem problem(std::size_t rows, std::size_t columns, std::size_t lookups) {
  SliceProblem p;
  p.rows = rows;
  p.columns = columns;
  p.lookups = lookups;
  p.grain = column_grain(columns, 4);
  return p;
}

// Against all partitions that use as many tiles.
TEST(Partition, IsNearlyTheBest) {
  const poplar::Target target = poplar::Target::createIPUTarget(1, 48, "ipu2");
  for (const std::size_t rows : {1, 10, 1000, 100000})
    for (const std::size_t columns : {1, 16, 64, 1000})
      for (const std::size_t lookups : {1, 50, 5000}) {
        const SliceProblem p = problem(rows, columns, lookups);
        const Partition chosen = choose_partition(target, p);
        ASSERT_LE(chosen.parts(), 48u);
        double least = 1e300;
        for (std::size_t c = 1; c <= std::min<std::size_t>(48, ceil_div(columns, p.grain)); ++c)
          for (std::size_t l = 1; l <= std::min<std::size_t>(48 / c, lookups); ++l)
            for (std::size_t r = 1; r <= std::min<std::size_t>(48 / c / l, rows); ++r)
              if (r * c * l >= chosen.parts()) least = std::min(least, cost_of(target, p, {r, c, l}));
        EXPECT_LE(cost_of(target, p, chosen), 1.1 * least) << rows << ' ' << columns << ' ' << lookups;
      }
}

TEST(Partition, UsesTilesAndMemory) {
  const poplar::Target target = poplar::Target::createIPUTarget(1, 1472, "ipu2");
  for (const std::size_t rows : {1000, 100000})
    for (const std::size_t columns : {1, 7, 64, 1000})
      for (const std::size_t lookups : {1000, 100000}) {
        const SliceProblem p = problem(rows, columns, lookups);
        const Partition part = choose_partition(target, p);
        if (rows * columns >= 100000) EXPECT_GE(part.parts() * 10, 1472u * 9) << rows << ' ' << columns << ' ' << lookups;
        EXPECT_LE(part.parts(), 1472u);
        const std::size_t round = lookups_per_round(target, p, part);
        EXPECT_GE(round, 1u);
        EXPECT_LE(round, lookups);
      }
  SliceProblem small = problem(1000, 64, 1000000);
  small.memory = 0.1;
  EXPECT_LT(lookups_per_round(target, small, choose_partition(target, small)), small.lookups);
}

// For the host, rows are cut into few pieces: it pays for each.
TEST(Partition, ForTheHostKeepsRowsTogether) {
  const poplar::Target target = poplar::Target::createIPUTarget(1, 1472, "ipu2");
  for (const bool update : {false, true}) {
    SliceProblem p = problem(100000, 64, 10000);
    p.update = update, p.slice = !update;
    const Partition machine = choose_partition(target, p);
    p.host = true;
    const Partition host = choose_partition(target, p);
    EXPECT_LT(host.columns, machine.columns);
    EXPECT_LT(cost_of(target, p, host), cost_of(target, p, machine));
    EXPECT_LE(host.parts(), 1472u);
  }
}

// Every part of the rows looks at all indices: for the host fewer do, unless a tile would have too much of the table.
TEST(Partition, ForTheHostFewerTilesUpdateASmallTable) {
  const poplar::Target target = poplar::Target::createIPUTarget(1, 1472, "ipu2");
  const auto plan = [&](std::size_t rows, std::size_t columns, bool host) {
    SliceProblem p = problem(rows, columns, 10000);
    p.slice = false, p.update = true, p.host = host;
    const Partition part = choose_partition(target, p);
    EXPECT_GE(part.parts() * 4, 1472u);
    return part;
  };
  EXPECT_LT(plan(100000, 64, true).parts(), 1472u / 2);
  EXPECT_GT(plan(100000, 64, false).parts(), 1472u * 9 / 10);
  EXPECT_GT(plan(100000, 1024, true).parts(), 1472u * 9 / 10);
}

TEST(Partition, PartsCoverAll) {
  for (const std::size_t n : {0, 1, 9, 64, 1000})
    for (const std::size_t grain : {1, 4})
      for (const std::size_t parts : {1, 3, 16}) {
        EXPECT_EQ(part_begin(n, grain, parts, 0), 0u);
        EXPECT_EQ(part_begin(n, grain, parts, parts), n);
        for (std::size_t i = 0; i < parts; ++i) EXPECT_LE(part_begin(n, grain, parts, i), part_begin(n, grain, parts, i + 1));
      }
}

}  // namespace
}  // namespace popops::internal
