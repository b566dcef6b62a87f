#include "poplibs/poplin/matmul/terms/layout.h"

#include <gtest/gtest.h>

#include <poplar/Graph.hpp>

namespace poplin::internal::matmul {
namespace {

using poplar::Tensor;

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {1, {1, 1, 1}, {1, 1, 1}}, {1, {5, 3, 2}, {4, 4, 2}}, {2, {12, 6, 3}, {8, 4, 2}}, {3, {7, 3, 2}, {10, 4, 3}},
      {1, {6, 6, 6}, {9, 3, 2}}, {2, {5, 5, 4}, {7, 7, 7}}, {1, {10, 4, 4}, {3, 1, 1}},
  };
  return all;
}

// Elements of the plain tensor {groups, rows, columns}, in the layout's order, found piece by piece.
std::vector<std::size_t> order_of(const Layout& l) {
  std::vector<std::size_t> out;
  l.for_each_piece(
      [&](std::size_t g, std::size_t y, std::size_t x, std::size_t py, std::size_t px, std::size_t begin, std::size_t elements) {
        EXPECT_EQ(begin, out.size());
        EXPECT_EQ(begin, l.piece_at(g, y, x, py, px));
        for (std::size_t i = 0; i < l.rows.piece_extent(y, py); ++i)
          for (std::size_t j = 0; j < l.columns.piece_extent(x, px); ++j)
            out.push_back((g * l.rows.size + l.rows.begin(y) + py * l.rows.piece + i) * l.columns.size + l.columns.begin(x) +
                          px * l.columns.piece + j);
        EXPECT_EQ(out.size(), begin + elements);
      });
  return out;
}

std::vector<std::size_t> elements_of(const Tensor& t) {
  std::vector<std::size_t> out;
  for (const poplar::VariableInterval& region : t.flatten().getVarRegions())
    for (std::size_t i = region.interval.begin(); i < region.interval.end(); ++i) out.push_back(i);
  return out;
}

TEST(Layout, FlatTensorsFollowThePieces) {
  for (const Layout& l : layouts()) {
    poplar::Graph graph;
    const Tensor plain = graph.addVariable(poplar::FLOAT, {l.groups, l.rows.size, l.columns.size}, "plain");
    const Tensor flat = to_flat(l, plain);
    EXPECT_EQ(elements_of(flat), order_of(l));
    EXPECT_EQ(from_flat(l, flat), plain);
    const Tensor kept = graph.addVariable(poplar::FLOAT, {l.size()}, "kept");
    EXPECT_EQ(elements_of(to_flat(l, from_flat(l, kept))), elements_of(kept));
  }
}

TEST(Layout, KnowsWhetherPiecesAreWhole) {
  const Layout l{1, {8, 4, 2}, {6, 6, 3}};
  poplar::Graph graph(poplar::Target::createIPUTarget(1, 8, "ipu2"));
  const Tensor kept = graph.addVariable(poplar::FLOAT, {l.size()}, "kept"), plain = graph.addVariable(poplar::FLOAT, {1, 8, 6}, "plain");
  for (std::size_t i = 0; i < 8; ++i) graph.setTileMapping(kept.slice(i * 6, i * 6 + 6), static_cast<unsigned>(7 - i));
  graph.setTileMapping(plain, 0);
  EXPECT_TRUE(pieces_are_whole(graph, l, kept));
  EXPECT_TRUE(pieces_are_whole(graph, l, to_flat(l, from_flat(l, kept))));
  EXPECT_FALSE(pieces_are_whole(graph, l, to_flat(l, plain)));
  graph.setTileMapping(kept.slice(20, 22), 0);  // inside a piece
  EXPECT_FALSE(pieces_are_whole(graph, l, kept));
}

}  // namespace
}  // namespace poplin::internal::matmul
