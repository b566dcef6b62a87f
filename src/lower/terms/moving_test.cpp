#include "lower/terms/moving.h"

#include <poplar/IPUModel.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include <gtest/gtest.h>

namespace pando::lower {
namespace {

TEST(Moving, TellsWhatLiesTurnedAndCopiesItInRows) {
  poplar::IPUModel model;
  model.tilesPerIPU = 4;
  poplar::Graph graph(model.createDevice().getTarget());
  popops::addCodelets(graph);
  const poplar::Tensor x = graph.addVariable(poplar::FLOAT, {3, 130, 140}, "x");
  poputil::mapTensorLinearly(graph, x);
  EXPECT_FALSE(lies_turned(x));
  EXPECT_FALSE(lies_turned(x.flatten()));
  EXPECT_FALSE(lies_turned(x.slice(2, 128, 1)));
  EXPECT_FALSE(lies_turned(x.dimShuffle({1, 0, 2})));
  EXPECT_FALSE(lies_turned(x.slice(0, 10, 1).slice(0, 10, 2).dimShuffle({0, 2, 1})));  // few elements
  EXPECT_FALSE(lies_turned(x.subSample(8, 2)));                                        // apart either way
  const poplar::Tensor turned = x.dimShuffle({0, 2, 1});
  ASSERT_TRUE(lies_turned(turned));
  poplar::program::Sequence prog;
  const poplar::Tensor rows = in_rows(graph, turned, prog, "t");
  EXPECT_EQ(rows.shape(), turned.shape());
  EXPECT_TRUE(rows.isContiguous());
}

}  // namespace
}  // namespace pando::lower
