// The order of a copy's elements: the same pairs of elements, in longer stretches.
#include "compile/element_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "compile/communicate.h"
#include "machine/machine.h"

namespace pando::compile {
namespace {

using graph::View;
using Element = std::pair<VariableId, std::uint64_t>;

std::vector<Element> elements(const View& view) {
  std::vector<Element> list;
  view.for_each_run([&](const graph::Run& run) {
    for (std::uint64_t i = 0; i < run.count; ++i)
      list.emplace_back(run.variable, run.offset + static_cast<std::uint64_t>(run.stride * static_cast<std::int64_t>(i)));
  });
  return list;
}

std::set<std::pair<Element, Element>> pairs(const View& source, const View& destination) {
  const auto from = elements(source), to = elements(destination);
  std::set<std::pair<Element, Element>> set;
  for (std::size_t i = 0; i < to.size(); ++i) set.emplace(from[i], to[i]);
  return set;
}

class ElementOrder : public ::testing::Test {
 protected:
  // Blocks of 8 x 8 of the first two dimensions lie on one of four tiles.
  View grid(std::size_t rows, std::size_t columns, std::size_t planes, bool planes_first) {
    const View v = graph_.view(graph_.add_variable(
        ElementType::float_, planes_first ? graph::Shape{planes, rows, columns} : graph::Shape{rows, columns, planes}, "v"));
    const View grid = planes_first ? v.dim_shuffle({1, 2, 0}) : v;
    for (std::size_t r = 0; r < rows; r += 8)
      for (std::size_t c = 0; c < columns; c += 8)
        graph_.set_tile_mapping(grid.slice(r, r + 8, 0).slice(c, c + 8, 1).flatten(),
                                TileId(static_cast<std::uint32_t>((r / 8 * 3 + c / 8) % 4)));
    return grid;
  }
  const Plan& plan() {
    plan_.stream_of_tile.assign(4, StreamId(0));
    plan_.out->streams.resize(1);
    lay_out_variables(plan_);
    return plan_;
  }

  graph::Graph graph_{*find_machine("tiny4"), 1};
  Options options_;
  Plan plan_{graph_, options_, std::make_shared<tile::Program>()};
};

View rolled(const View& v, std::size_t by, unsigned dim) {
  return View::concat({v.slice(v.dim(dim) - by, v.dim(dim), dim), v.slice(0, v.dim(dim) - by, dim)}, dim);
}

TEST_F(ElementOrder, PlanesThatShiftApartAreLookedAtOneByOne) {
  for (const bool planes_first : {false, true}) {
    const View a = grid(32, 32, 5, planes_first), b = grid(32, 32, 5, planes_first);
    std::vector<View> shifted;
    for (std::size_t k = 0; k < 5; ++k) shifted.push_back(rolled(rolled(a.slice(k, k + 1, 2), k, 0), 2 * k, 1));
    const View source = View::concat(shifted, 2);
    View from = source, to = b;
    const std::size_t moves = moves_between(plan(), source, b).size();
    reorder_for_stretches(plan_, from, to);
    EXPECT_EQ(pairs(from, to), pairs(source, b));
    EXPECT_LT(moves, 32u * 32 * 5 / 3);  // one by one: 32 * 32 * 5
  }
}

TEST_F(ElementOrder, FlatViewsAreTakenApart) {
  const View a = grid(32, 32, 5, true).flatten(), b = grid(32, 32, 5, true).flatten();
  EXPECT_LE(moves_between(plan(), a, b).size(), 32u * 32 * 5 / 8);
}

TEST_F(ElementOrder, AnyPermutationKeepsThePairs) {
  std::mt19937 rng(7);
  std::vector<unsigned> order = {0, 1, 2, 3};
  for (int i = 0; i < 20; ++i) {
    const View a = grid(16, 24, 12, i % 2 == 0).reshape({16, 24, 4, 3}), b = grid(24, 16, 12, i % 3 == 0).reshape({16, 24, 4, 3});
    std::shuffle(order.begin(), order.end(), rng);
    const View shuffled = a.dim_shuffle(order);
    const View source = (i % 4 == 0 ? shuffled.reverse(1) : shuffled).reshape(b.shape());
    View from = source, to = b;
    reorder_for_stretches(plan(), from, to);
    EXPECT_EQ(pairs(from, to), pairs(source, b)) << "round " << i;
    EXPECT_EQ(from.shape(), to.shape());
  }
}

TEST_F(ElementOrder, SmallAndSimpleCopiesStayAsTheyAre) {
  const View a = grid(32, 32, 5, false), b = grid(32, 32, 5, false), small = grid(8, 8, 3, true);
  View from = a.dim_shuffle({1, 0, 2}), to = b.dim_shuffle({1, 0, 2});
  reorder_for_stretches(plan(), from, to);
  EXPECT_EQ(from.shape(), (graph::Shape{32, 32, 5}));
  View one = small, other = small.dim_shuffle({2, 0, 1}).reshape({8, 8, 3});
  const View before = other;
  reorder_for_stretches(plan_, one, other);
  EXPECT_TRUE(one == small && other == before);
}

}  // namespace
}  // namespace pando::compile
