// Views: broadcasting, dimensions split and joined; how tensors lie in variables.
#include <gmock/gmock.h>

#include <cmath>

#include "poputil/Broadcast.hpp"
#include "poputil/Util.hpp"
#include "poputil/VarStructure.hpp"
#include "poputil/exceptions.hpp"

namespace poputil {
namespace {

using poplar::FLOAT;
using poplar::Graph;
using poplar::HALF;
using poplar::Target;
using poplar::Tensor;
using testing::ElementsAre;
using testing::Pair;
using Shape = std::vector<std::size_t>;

struct Tensors : testing::Test {
  Graph graph{Target::createIPUTarget(1, 4, "ipu2")};
  Tensor make(const Shape& shape) { return graph.addVariable(FLOAT, shape); }
};

TEST_F(Tensors, BroadcastMatchesShapes) {
  struct Case {
    Shape a, b, both;
  };
  for (const auto& [a, b, both] : std::vector<Case>{{{4}, {3, 1}, {3, 4}},
                                                    {{}, {2, 3}, {2, 3}},
                                                    {{1, 4}, {4, 4}, {4, 4}},
                                                    {{}, {}, {}},
                                                    {{1}, {0}, {0}},
                                                    {{5, 1, 7}, {1, 6, 1}, {5, 6, 7}}}) {
    Tensor s = make(a), t = make(b);
    const Tensor s0 = s, t0 = t;
    EXPECT_TRUE(canBroadcastToMatch(s, t) && canBroadcastToMatch(t, s));
    broadcastToMatch(s, t);
    EXPECT_EQ(s.shape(), both);
    EXPECT_EQ(t.shape(), both);
    Tensor u = s0, v = t0, w = make({});
    broadcastToMatch(u, v, w);
    EXPECT_EQ(u, s);
    EXPECT_EQ(v, t);
    EXPECT_EQ(w.shape(), both);
    Tensor x = s0;
    broadcastToMatch(x, both);
    EXPECT_EQ(x, s);
  }
  Tensor row = make({3});
  const Tensor before = row;
  broadcastToMatch(row, {2, 3});
  EXPECT_EQ(row[1], before);
}

TEST_F(Tensors, BroadcastErrors) {
  Tensor a = make({3}), b = make({4}), c = make({2, 3});
  EXPECT_FALSE(canBroadcastToMatch(a, b));
  EXPECT_THROW(broadcastToMatch(a, b), poplibs_error);
  EXPECT_THROW(broadcastToMatch(c, a, b), poplibs_error);
  EXPECT_THROW(broadcastToMatch(a, Shape{4}), poplibs_error);
  EXPECT_THROW(broadcastToMatch(c, Shape{3}), poplibs_error);
  EXPECT_THROW(broadcastToMatch(a, Shape{1}), poplibs_error);
}

TEST_F(Tensors, RanksAreExpandedInFront) {
  Tensor a = make({3}), b = make({2, 5, 3});
  expandToMatchRanks(a, b);
  EXPECT_EQ(a.shape(), (Shape{1, 1, 3}));
  expandToMatchRanks(b, a);
  EXPECT_EQ(b.shape(), (Shape{2, 5, 3}));
}

TEST_F(Tensors, DimensionsAreFactoredAndJoined) {
  const Tensor t = make({2, 6, 4, 5});
  const Tensor f = factorDims(t, {3, 2}, 1);
  EXPECT_EQ(f.shape(), (Shape{2, 2, 2, 3, 2, 5}));
  EXPECT_EQ(f.index({1, 1, 0, 2, 1}), t.index({1, 1 * 3 + 2, 0 * 2 + 1}));
  EXPECT_EQ(unfactorDims(f, 2, 1), t);
  EXPECT_EQ(factorDims(t, {}), t);
  EXPECT_THROW(factorDims(t, {4}, 1), poplibs_error);
  EXPECT_THROW(factorDims(t, {0}, 1), poplibs_error);
  EXPECT_THROW(factorDims(t, {1, 1}, 3), poplibs_error);
  EXPECT_THROW(unfactorDims(t, 2, 1), poplibs_error);
  EXPECT_THROW(unfactorDims(t, 1u << 31), poplibs_error);
}

TEST_F(Tensors, InnermostGrouping) {
  const Tensor t = make({6, 8});
  EXPECT_EQ(detectInnermostGrouping(graph, t), 8u);
  EXPECT_EQ(detectInnermostGrouping(graph, t.transpose()), 1u);
  // Blocks of 4 along the columns: {2, 6, 4} in memory.
  const Tensor blocked = make({2, 6, 4}).dimShuffle({1, 0, 2}).reshape({6, 8});
  EXPECT_EQ(detectInnermostGrouping(graph, blocked), 4u);
  // The first row is one run, others are not.
  EXPECT_EQ(detectInnermostGrouping(graph, concat(t.slice(0, 1), poplar::concat(make({1, 6}), make({1, 2}), 1))), 2u);
  EXPECT_EQ(detectInnermostGrouping(graph, make({})), 1u);
  EXPECT_EQ(detectInnermostGrouping(graph, make({3, 0})), 1u);
  EXPECT_EQ(detectInnermostGrouping(graph, make({1}).broadcast(5, 0)), 1u);
}

TEST_F(Tensors, DimGroupings) {
  const Tensor t = make({2, 3});
  EXPECT_THAT(detectDimGroupings(graph, t), ElementsAre(Pair(1, 3), Pair(0, 2)));
  EXPECT_THAT(detectDimGroupings(graph, t.transpose()), ElementsAre(Pair(0, 3), Pair(1, 2)));
  // In memory {G = 2, rows = 6, columns of a group = 4}.
  const Tensor blocked = make({2, 6, 4}).dimShuffle({1, 0, 2}).reshape({6, 8});
  EXPECT_THAT(detectDimGroupings(graph, blocked), ElementsAre(Pair(1, 4), Pair(0, 6), Pair(1, 2)));
  EXPECT_THAT(detectDimGroupings(graph, make({1, 1})), ElementsAre());
  EXPECT_THAT(detectDimGroupings(graph, make({3}).broadcast(2, 0).reshape({2, 3})), ElementsAre(Pair(1, 3)));
  EXPECT_THAT(detectDimGroupings(graph, make({0, 4})), ElementsAre());
  EXPECT_THAT(detectDimGroupings(graph, make({})), ElementsAre());
}

TEST_F(Tensors, PartitionsAreContiguous) {
  struct Case {
    Shape shape, parts;
  };
  for (const auto& [shape, parts] : std::vector<Case>{
           {{3, 8, 18}, {1, 1, 1}}, {{3, 8, 18}, {3, 2, 9}}, {{5, 8, 48}, {4, 3, 10}}, {{3, 0, 2}, {1, 2, 1}}, {{7}, {20}}, {{}, {}}}) {
    const Tensor t = createPartitionableTensor(graph, HALF, shape, parts);
    EXPECT_EQ(t.shape(), shape);
    EXPECT_FALSE(t.containsAliases());
    std::size_t elements = 0;
    std::vector<Shape> positions;
    iterateTensorPartitions(t, parts, [&](const Shape& i, const Tensor& s) {
      positions.push_back(i);
      elements += s.numElements();
      EXPECT_LE(s.getContiguousRegions().size(), 1u);
    });
    EXPECT_EQ(elements, t.numElements());
    EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end()));
    EXPECT_EQ(std::adjacent_find(positions.begin(), positions.end()), positions.end());
  }
  EXPECT_THROW(createPartitionableTensor(graph, HALF, {4}, {0}), poplibs_error);
  EXPECT_THROW(createPartitionableTensor(graph, HALF, {4, 4}, {1}), poplibs_error);
  EXPECT_THROW(createPartitionableTensor(graph, HALF, {4}, {0xffffffff}), poplibs_error);
  EXPECT_THROW(createPartitionableTensor(graph, HALF, {4, 4}, {std::size_t{1} << 32, std::size_t{1} << 32}), poplibs_error);
  EXPECT_THROW(iterateTensorPartitions(make({4}), {1, 1}, [](const Shape&, const Tensor&) {}), poplibs_error);
}

TEST(Numbers, RoundToHalf) {
  const Target target = Target::createIPUTarget(1, "ipu2");
  EXPECT_EQ(castToDeviceHalfValue(target, 2049), 2048);
  EXPECT_EQ(castToDeviceHalfValue(target, 0.1), 0.0999755859375);
  EXPECT_TRUE(checkAccuracyWhenCast(target, 0.5, FLOAT, HALF, 0));
  EXPECT_TRUE(checkAccuracyWhenCast(target, 0, FLOAT, HALF, 0));
  EXPECT_FALSE(checkAccuracyWhenCast(target, 0.1, FLOAT, HALF, 1e-4));
  EXPECT_TRUE(checkAccuracyWhenCast(target, 0.1, FLOAT, HALF, 1e-3));
  EXPECT_TRUE(checkAccuracyWhenCast(target, 0.1, HALF, FLOAT, 0));
  EXPECT_FALSE(checkAccuracyWhenCast(target, 1e6, FLOAT, HALF, 1));
  EXPECT_FALSE(checkAccuracyWhenCast(target, NAN, FLOAT, HALF, 1));
  EXPECT_THROW(checkAccuracyWhenCast(target, 1, poplar::INT, HALF, 1), poplibs_error);
}

TEST(Numbers, BalancedPartition) {
  EXPECT_THAT(balancedPartition(10, 4), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(balancedPartition(0, 2), ElementsAre(0, 0));
  EXPECT_THROW(balancedPartition(3, 0), poplibs_error);
  EXPECT_THROW(balancedPartition(-1, 2), poplibs_error);
}

}  // namespace
}  // namespace poputil
