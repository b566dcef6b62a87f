// Plans are carried out by plain loops on 64-bit integers: every output must be the sum of exactly its elements.
#include "poplibs/popops/reduce/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace popops::internal {
namespace {

using poplar::Interval;
using Numbers = std::vector<std::uint64_t>;
using Mapping = std::vector<std::vector<Interval>>;

constexpr std::uint64_t kNone = 0xdeadbeefdeadbeef;

std::size_t product(const ViewDims& dims, bool kept_only) {
  std::size_t n = 1;
  for (const ViewDim& d : dims)
    if (!kept_only || !d.reduced) n *= d.size;
  return n;
}

Numbers expected_sums(const ViewDims& dims, const Numbers& in) {
  Numbers out(product(dims, true), 0);
  for (std::size_t i = 0; i < in.size(); ++i) {
    std::size_t rest = i, index = 0, scale = 1;
    for (std::size_t d = dims.size(); d-- > 0; rest /= dims[d].size) {
      if (dims[d].reduced) continue;
      index += rest % dims[d].size * scale;
      scale *= dims[d].size;
    }
    out[index] += in[i];
  }
  return out;
}

// Adds a region of an item to the item's sums.
void add_region(const WorkItem& item, const Numbers& space, const Region& region, Numbers& sums) {
  if (item.row > 0) {
    ASSERT_EQ(item.regions.size(), 1u);
    ASSERT_EQ((region.size - item.outputs) % item.row, 0u);
    for (std::size_t at = 0; at < region.size; at += item.row)
      for (std::size_t column = 0; column < item.outputs; ++column) sums[column] += space[region.begin + at + column];
    return;
  }
  const std::size_t kept = item.outputs / item.inner, middle = kept == 1 ? 1 : item.middle;
  ASSERT_EQ(region.size % (item.outputs * middle), 0u);
  for (std::size_t i = 0; i < region.size; ++i) {
    ASSERT_NE(space.at(region.begin + i), kNone);
    const std::size_t column = i % item.inner, k = i / item.inner / middle % kept;
    sums[k * item.inner + column] += space[region.begin + i];
  }
}

void put(Numbers& to, std::size_t at, const Numbers& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(to.at(at + i), kNone) << "written twice";
    to[at + i] = values[i];
  }
}

Numbers carried_out(const ReductionPlan& plan, const Numbers& in, std::size_t outputs) {
  std::vector<Numbers> spaces = {in};
  Numbers out(outputs, kNone);
  for (const Stage& stage : plan.stages) {
    Numbers partials(stage.partials, kNone);
    for (const Work& work : stage.works) {
      EXPECT_FALSE(work.items.empty());
      for (const WorkItem& item : work.items) {
        Numbers sums(item.outputs, 0);
        EXPECT_FALSE(item.regions.empty());
        for (const Region& r : item.regions) add_region(item, spaces.at(r.space), r, sums);
        put(work.last ? out : partials, work.last ? item.begin : item.at, sums);
      }
    }
    EXPECT_EQ(std::count(partials.begin(), partials.end(), kNone), 0);
    spaces.push_back(std::move(partials));
  }
  return out;
}

void expect_right(const ViewDims& dims, const Mapping& mapping, const PlanOptions& options, const char* what) {
  Numbers in(product(dims, false));
  std::mt19937_64 random(7);
  for (std::uint64_t& n : in) n = random() | 1;
  const ReductionPlan plan = plan_reduction(dims, mapping, options);
  EXPECT_EQ(carried_out(plan, in, product(dims, true)), expected_sums(dims, in)) << what;
}

Mapping linear(std::size_t n, unsigned tiles) {
  Mapping mapping(tiles);
  for (std::size_t t = 0; t < tiles; ++t)
    if (n * t / tiles < n * (t + 1) / tiles) mapping[t] = {{n * t / tiles, n * (t + 1) / tiles}};
  return mapping;
}

Mapping scattered(std::size_t n, unsigned tiles, std::size_t piece, std::mt19937_64& random) {
  Mapping mapping(tiles);
  for (std::size_t at = 0; at < n;) {
    const std::size_t size = std::min(n - at, 1 + random() % piece);
    mapping[random() % tiles].emplace_back(at, at + size);
    at += size;
  }
  return mapping;
}

TEST(ReducePlan, RandomViewsAndMappings) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 400; ++i) {
    ViewDims dims;
    bool reduced = random() % 2 == 0;
    for (std::size_t d = random() % 7; d > 0; --d, reduced = !reduced)
      dims.push_back({1 + random() % (random() % 4 == 0 ? 400 : 7), reduced});
    while (product(dims, false) > 200000) dims.pop_back();
    const std::size_t n = product(dims, false);
    PlanOptions options;
    options.tiles = std::vector<unsigned>{1, 4, 100}[random() % 3];
    options.vertices_per_tile = random() % 2 == 0 ? 6 : 24;
    options.input_is_partial = random() % 2 == 0;
    options.tree = random() % 4 != 0;
    options.columns = random() % 4 != 0;
    options.finishes = random() % 4 == 0;
    expect_right(dims, linear(n, options.tiles), options, "linear");
    expect_right(dims, scattered(n, options.tiles, 40, random), options, "scattered");
    expect_right(dims, scattered(n, options.tiles, n / 3 + 1, random), options, "coarse");
    if (HasFailure()) FAIL() << "plan " << i;
  }
}

// The most elements that one vertex reads in a stage, and the most that all vertices of a tile do.
std::pair<std::size_t, std::size_t> most_read(const Stage& stage, unsigned tiles) {
  std::vector<std::size_t> of_tile(tiles, 0);
  std::size_t of_vertex = 0;
  for (const Work& w : stage.works) {
    std::size_t n = 0;
    for (const WorkItem& item : w.items) n += item.elements();
    of_tile[w.tile] += n;
    of_vertex = std::max(of_vertex, n);
  }
  return {of_vertex, *std::max_element(of_tile.begin(), of_tile.end())};
}

PlanOptions full_machine() {
  PlanOptions options;
  options.tiles = 1472;
  options.vertices_per_tile = 6;
  return options;
}

TEST(ReducePlan, NoTileGathersEverything) {
  const ReductionPlan plan = plan_reduction({{1000000, true}}, linear(1000000, 1472), full_machine());
  ASSERT_EQ(plan.stages.size(), 3u);
  EXPECT_LE(most_read(plan.stages[0], 1472).second, 680u);
  EXPECT_LE(most_read(plan.stages[1], 1472).second, 120u);
  EXPECT_LE(most_read(plan.stages[2], 1472).second, 120u);
  PlanOptions flat = full_machine();
  flat.tree = false;
  EXPECT_EQ(plan_reduction({{1000000, true}}, linear(1000000, 1472), flat).stages.size(), 2u);
}

TEST(ReducePlan, OneStageWhereTilesHoldAllOfTheirOutputs) {
  for (const ViewDims& dims : {ViewDims{{1472 * 4, false}, {50, true}}, ViewDims{{1472 * 2, false}, {50, true}, {8, false}}})
    EXPECT_EQ(plan_reduction(dims, linear(product(dims, false), 1472), full_machine()).stages.size(), 1u);
  // Rows of a matrix whose columns are dealt out.
  const ViewDims dims = {{100, true}, {1472 * 4, false}};
  Mapping columns(1472);
  for (std::size_t t = 0; t < 1472; ++t)
    for (std::size_t r = 0; r < 100; ++r) columns[t].emplace_back((r * 1472 + t) * 4, (r * 1472 + t + 1) * 4);
  EXPECT_EQ(plan_reduction(dims, columns, full_machine()).stages.size(), 1u);
}

TEST(ReducePlan, WorkIsEven) {
  for (const ViewDims& dims : {ViewDims{{3000000, true}}, ViewDims{{3000, true}, {1000, false}}, ViewDims{{1000, false}, {3000, true}},
                               ViewDims{{30, false}, {1000, true}, {100, false}}, ViewDims{{100, true}, {30, false}, {1000, true}}}) {
    PlanOptions cpu;
    cpu.vertices_per_tile = 24;
    const ReductionPlan plan = plan_reduction(dims, linear(3000000, 1), cpu);
    EXPECT_LE(plan.stages.size(), 2u);
    EXPECT_LE(plan.stages[0].works.size(), 24u);
    EXPECT_LE(most_read(plan.stages[0], 1).first, 3000000u / 24 * 2);
  }
}

TEST(ReducePlan, FewRegionsForStaggeredRows) {
  // Tiles hold 6.8 rows, or 136.3: the naive cut at every tile's bounds, or across the rows, would have millions of regions.
  for (const ViewDims& dims : {ViewDims{{10000, true}, {10000, false}}, ViewDims{{64 * 56 * 56, true}, {64, false}}}) {
    const ReductionPlan plan = plan_reduction(dims, linear(product(dims, false), 1472), full_machine());
    std::size_t regions = 0;
    for (const Stage& s : plan.stages)
      for (const Work& w : s.works)
        for (const WorkItem& item : w.items) regions += item.regions.size();
    EXPECT_LE(regions, 350000u) << dims[0].size;
  }
}

}  // namespace
}  // namespace popops::internal
