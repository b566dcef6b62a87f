// Tensors shared out to replicas tile by tile: host and device have the same order, and nothing leaves its tile.
#include <gtest/gtest.h>
#include <gcl/CollectiveBalancedReorder.hpp>
#include <gcl/Collectives.hpp>

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <popops/Zero.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include <numeric>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using gcl::CollectiveBalancedHostRearrangement, gcl::CollectiveBalancedReorder;
using program::Copy;
using program::Sequence;

constexpr unsigned kTiles = 8;

Device replicas_of(unsigned replicas) {
  IPUModel model;
  model.numIPUs = replicas;
  model.tilesPerIPU = kTiles;
  return model.createDevice();
}

// How references lie: linearly, some on few tiles; every element on another tile than its neighbours; in a transposed variable.
enum class Layout { linear, few, scattered, transposed };
const Layout kLayouts[] = {Layout::linear, Layout::few, Layout::scattered, Layout::transposed};

Tensor reference(Graph& graph, Layout layout, const std::vector<std::size_t>& shape) {
  const std::size_t n = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  if (layout == Layout::transposed) {
    const Tensor t = graph.addVariable(FLOAT, {shape[1], shape[0]}, "reference");
    poputil::mapTensorLinearly(graph, t);
    return t.transpose();
  }
  const Tensor t = graph.addVariable(FLOAT, shape, "reference");
  if (layout == Layout::linear) poputil::mapTensorLinearly(graph, t);
  for (std::size_t i = 0; i < n && layout != Layout::linear; ++i)
    graph.setTileMapping(t.flatten()[i], layout == Layout::few ? (i < n / 3 ? 5 : 2) : static_cast<unsigned>(i * 5 % kTiles));
  return t;
}

std::vector<float> counted(std::size_t n) {
  std::vector<float> out(n);
  std::iota(out.begin(), out.end(), 1.0f);
  return out;
}

TEST(BalancedReorder, HostGoesThereAndBack) {
  for (const Layout layout : kLayouts)
    for (const unsigned replicas : {1u, 2u, 3u, 4u})
      for (const unsigned grain : {1u, 4u})
        for (const bool map : {false, true}) {
          Graph graph(replicas_of(1).getTarget());
          const Tensor t = reference(graph, layout, {7, 13});
          const CollectiveBalancedReorder cbr(graph, t, replicas, {"cbr"}, map, grain);
          const CollectiveBalancedHostRearrangement& host = cbr.getHostRearrangement();
          EXPECT_EQ(cbr.getReferenceShape(), t.shape());
          EXPECT_EQ(host.getReplicationFactor(), replicas);
          EXPECT_EQ(host.getTotalElementsPerReplica() % grain, 0u);
          EXPECT_GE(host.getNumRearrangedTensorElems(), t.numElements());
          EXPECT_LE(host.getNumRearrangedTensorElems(), t.numElements() + kTiles * replicas * grain);
          EXPECT_EQ(host.getElementMap().empty(), !map || layout == Layout::linear || layout == Layout::few) << static_cast<int>(layout);
          EXPECT_NE(host.getElementMap().empty(), host.getGatheredToRefSlices().empty());
          const std::vector<float> values = counted(91);
          std::vector<float> rearranged(host.getNumRearrangedTensorElems(), -1), back(91);
          host.rearrangeForCollective(values, rearranged);
          EXPECT_EQ(std::count(rearranged.begin(), rearranged.end(), 0.0f), static_cast<long>(rearranged.size()) - 91);  // padding
          host.undoRearrangeForCollective(rearranged, back);
          EXPECT_EQ(back, values);
          // A copy by its parts, and elements of three bytes.
          CollectiveBalancedHostRearrangement copy;
          copy.setReplicationFactor(host.getReplicationFactor());
          copy.setTotalElementsPerReplica(host.getTotalElementsPerReplica());
          copy.setGatheredToRefSlices(host.getGatheredToRefSlices());
          copy.setElementMap(host.getElementMap());
          std::vector<char> bytes(91 * 3), there(copy.getNumRearrangedTensorElems() * 3), again(91 * 3);
          std::iota(bytes.begin(), bytes.end(), '\1');
          copy.rearrangeForCollective(bytes, there, 3);
          copy.undoRearrangeForCollective(there, again, 3);
          EXPECT_EQ(again, bytes);
        }
}

// Elements of the view lie on the tiles of the reference's, and replicas' parts where those of all are.
TEST(BalancedReorder, NothingLeavesItsTile) {
  for (const Layout layout : kLayouts) {
    Graph graph(replicas_of(1).getTarget());
    const Tensor t = reference(graph, layout, {7, 13});
    CollectiveBalancedReorder cbr(graph, t, 3, {"cbr"}, false, 2);
    const Tensor all = cbr.createCollectivesTensor(HALF, "all"), part = cbr.createReplicaSlice(HALF);
    EXPECT_EQ(all.shape(), (std::vector<std::size_t>{3, cbr.getHostRearrangement().getTotalElementsPerReplica()}));
    EXPECT_EQ(part.shape(), (std::vector<std::size_t>{all.dim(1)}));
    EXPECT_TRUE(all.elementType() == HALF && all.isParallelWriteable());
    EXPECT_EQ(graph.getTileMapping(cbr.undoRearrangeForCollective(all)), graph.getTileMapping(t));
    EXPECT_EQ(graph.getTileMapping(cbr.undoRearrangeForCollective(all.flatten())), graph.getTileMapping(t));
    for (unsigned replica = 0; replica < 3; ++replica) EXPECT_EQ(graph.getTileMapping(all[replica]), graph.getTileMapping(part));
  }
}

// Sharded weights: the host puts its order into remote buffers, replicas gather them; gradients are reduced into each replica's part, which
// the host reads back. Host order and device order are the same, or sums would be of other elements.
TEST(BalancedReorder, ShardedWeights) {
  for (const Layout layout : kLayouts)
    for (const unsigned replicas : {2u, 3u}) {
      const Device device = replicas_of(replicas);
      Graph graph(device, replication_factor(replicas));
      popops::addCodelets(graph);
      const Tensor weights = reference(graph, layout, {7, 13});
      CollectiveBalancedReorder cbr(graph, weights, replicas, {"cbr"}, true, 2);
      const CollectiveBalancedHostRearrangement& host = cbr.getHostRearrangement();
      const std::size_t per_replica = host.getTotalElementsPerReplica();
      const RemoteBuffer shards = graph.addRemoteBuffer("shards", FLOAT, per_replica, 1);
      const Tensor shard = cbr.createReplicaSlice(FLOAT);
      Sequence prog{Copy(shards, shard)};
      const Tensor gathered = cbr.undoRearrangeForCollective(gcl::allGatherCrossReplica(graph, shard, prog));
      EXPECT_EQ(gathered.shape(), weights.shape());
      prog.add(Copy(gathered, weights));
      const Tensor gradients = cbr.createCollectivesTensor(FLOAT, "gradients");
      popops::zero(graph, gradients, prog);
      prog.add(Copy(weights, cbr.undoRearrangeForCollective(gradients)));
      const Tensor reduced = gcl::reduceScatterCrossReplica(graph, gradients.flatten(), gcl::CollectiveOperator::ADD, prog);
      ASSERT_EQ(reduced.numElements(), per_replica);
      prog.add(Copy(reduced, shards));
      graph.createHostRead("weights", weights);
      Engine engine(graph, prog);
      engine.load(device);
      const std::vector<float> values = counted(91);
      std::vector<float> rearranged(host.getNumRearrangedTensorElems());
      host.rearrangeForCollective(values, rearranged);
      for (unsigned r = 0; r < replicas; ++r) engine.copyToRemoteBuffer(rearranged.data() + r * per_replica, "shards", 0, r);
      engine.run();
      std::vector<float> seen(replicas * 91);
      engine.readTensor("weights", seen);
      for (std::size_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], values[i % 91]) << i;
      for (unsigned r = 0; r < replicas; ++r) engine.copyFromRemoteBuffer("shards", rearranged.data() + r * per_replica, 0, r);
      std::vector<float> sums(91);
      host.undoRearrangeForCollective(rearranged, sums);
      for (std::size_t i = 0; i < 91; ++i) ASSERT_EQ(sums[i], static_cast<float>(replicas) * values[i]) << i;
    }
}

TEST(BalancedReorder, Rejections) {
  Graph graph(replicas_of(1).getTarget());
  const Tensor t = reference(graph, Layout::linear, {20}), nowhere = graph.addVariable(FLOAT, {3}, "nowhere");
  EXPECT_THROW(CollectiveBalancedReorder(graph, t, 0), poputil::poplibs_error);
  EXPECT_THROW(CollectiveBalancedReorder(graph, t, 2, {}, false, 0), poputil::poplibs_error);
  EXPECT_THROW(CollectiveBalancedReorder(graph, nowhere, 2), invalid_tile_mapping);
  const CollectiveBalancedReorder cbr(graph, t, 3);
  EXPECT_THROW(cbr.undoRearrangeForCollective(t), poputil::poplibs_error);
  const CollectiveBalancedHostRearrangement& host = cbr.getHostRearrangement();
  std::vector<float> values(20), rearranged(host.getNumRearrangedTensorElems()), few(19);
  EXPECT_THROW(host.rearrangeForCollective(few, rearranged), poputil::poplibs_error);
  EXPECT_THROW(host.rearrangeForCollective(values, few), poputil::poplibs_error);
  EXPECT_THROW(host.undoRearrangeForCollective(rearranged, few), poputil::poplibs_error);
  EXPECT_THROW(host.undoRearrangeForCollective(few, values), poputil::poplibs_error);
  EXPECT_THROW(host.rearrangeForCollective(values, rearranged, 0), poputil::poplibs_error);
  CollectiveBalancedHostRearrangement wrong = host;
  wrong.setGatheredToRefSlices({{0, 1000}});
  EXPECT_THROW(wrong.rearrangeForCollective(std::vector<float>(1000), rearranged), poputil::poplibs_error);
  // Nothing to share out.
  const Tensor empty = graph.addVariable(FLOAT, {0, 4}, "empty");
  CollectiveBalancedReorder none(graph, empty, 2);
  EXPECT_EQ(none.undoRearrangeForCollective(none.createCollectivesTensor(FLOAT, "none")).shape(), empty.shape());
  EXPECT_EQ(none.createReplicaSlice(FLOAT).numElements(), 0u);
}

}  // namespace
}  // namespace oplib
