#include "block_order.h"

#include <gtest/gtest.h>

#include <poplar/Graph.hpp>

namespace popops::internal {
namespace {

using poplar::Tensor;

std::vector<std::size_t> elements_of(const Tensor& t) {
  std::vector<std::size_t> out;
  for (const poplar::VariableInterval& region : t.flatten().getVarRegions())
    for (std::size_t i = region.interval.begin(); i < region.interval.end(); ++i) out.push_back(i);
  return out;
}

TEST(BlockOrder, VisitsBlockAfterBlock) {
  poplar::Graph graph;
  for (const BlockOrder& order : {BlockOrder{4, 4, 2, 2}, BlockOrder{5, 7, 2, 3}, BlockOrder{6, 3, 6, 3}, BlockOrder{3, 8, 4, 5}}) {
    const Tensor t = graph.addVariable(poplar::FLOAT, {order.rows, order.columns}, "t");
    const std::vector<std::size_t> elements = elements_of(order.apply(t));
    ASSERT_EQ(elements.size(), t.numElements());
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const BlockOrder::Block b = order.at(i);
      ASSERT_TRUE(b.begin <= i && i < b.end);
      const std::size_t row = b.row + (i - b.begin) / b.width, column = b.column + (i - b.begin) % b.width;
      EXPECT_EQ(elements[i], row * order.columns + column) << i;
    }
  }
}

TEST(BlockOrder, IsFoundInTheTensor) {
  poplar::Graph graph;
  const Tensor flat = graph.addVariable(poplar::FLOAT, {48 * 40}, "flat");
  const Tensor matrix = flat.reshape({3, 5, 16, 8}).dimShuffle({0, 2, 1, 3}).reshape({48, 40});
  const auto order = block_order_of(matrix);
  ASSERT_TRUE(order.has_value());
  EXPECT_EQ(order->height, 16u);
  EXPECT_EQ(order->width, 8u);
  EXPECT_TRUE(order->apply(matrix).isContiguous());
  EXPECT_FALSE(block_order_of(flat.reshape({48, 40}).transpose()).has_value());
}

TEST(BlockOrder, DimensionsFollowMemory) {
  poplar::Graph graph;
  const Tensor t = graph.addVariable(poplar::FLOAT, {3, 1, 5, 7}, "t");
  EXPECT_EQ(memory_order(t), (std::vector<unsigned>{0, 1, 2, 3}));
  EXPECT_EQ(memory_order(t.dimShuffle({3, 1, 0, 2})), (std::vector<unsigned>{2, 1, 3, 0}));
}

}  // namespace
}  // namespace popops::internal
