// Collectives, against sums by hand; the replicas' results are the same bits.
#include <gtest/gtest.h>
#include <gcl/Collectives.hpp>
#include <gcl/TileAllocation.hpp>

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <popops/TensorCollectives.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/exceptions.hpp>

#include <sstream>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using gcl::CollectiveOperator, gcl::CommGroup, gcl::CommGroupType;
using program::Sequence;
using Collective = std::function<Tensor(Graph&, const Tensor&, Sequence&)>;

// Element i of replica r's data: sums of them depend on their order.
float value(unsigned r, std::size_t i) { return 1.0f / static_cast<float>(3 + r + 7 * i); }

// The results of all replicas, one after the other. Each has data of this shape.
std::vector<float> run_replicas(unsigned replicas, const std::vector<std::size_t>& shape, const Collective& build) {
  IPUModel model;
  model.numIPUs = replicas;
  model.tilesPerIPU = 4;
  const Device device = model.createDevice();
  Graph graph(device, replication_factor(replicas));
  const Tensor data = graph.addVariable(FLOAT, shape, "data");
  poputil::mapTensorLinearly(graph, data);
  const DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, data.numElements());
  Sequence prog{program::Copy(in, data)};
  const Tensor out = build(graph, data, prog);
  graph.createHostRead("out", out);
  Engine engine(graph, prog);
  engine.load(device);
  std::vector<float> values;
  for (unsigned r = 0; r < replicas; ++r)
    for (std::size_t i = 0; i < data.numElements(); ++i) values.push_back(value(r, i));
  engine.connectStream("in", values);
  engine.run();
  std::vector<float> results(replicas * out.numElements());
  engine.readTensor("out", results);
  return results;
}

std::vector<unsigned> members(const CommGroup& group, unsigned replicas, unsigned r) {
  const unsigned size = group.replicaGroupSize();
  std::vector<unsigned> out;
  for (unsigned other = 0; other < replicas; ++other)
    if (group.type() == CommGroupType::ALL || (group.type() == CommGroupType::CONSECUTIVE && other / size == r / size) ||
        (group.type() == CommGroupType::ORTHOGONAL && other % (replicas / size) == r % (replicas / size)))
      out.push_back(other);
  return out;
}

const std::vector<CommGroup> kGroups = {CommGroup(), CommGroup(CommGroupType::CONSECUTIVE, 2), CommGroup(CommGroupType::ORTHOGONAL, 2),
                                        CommGroup(CommGroupType::CONSECUTIVE, 1), CommGroup(CommGroupType::ORTHOGONAL, 4)};

double expected_of(CollectiveOperator op, const std::vector<unsigned>& group, unsigned own, std::size_t i) {
  double sum = 0, most = 0;
  for (const unsigned m : group) {
    sum += static_cast<double>(value(m, i));
    most = std::max(most, static_cast<double>(value(m, i)));
  }
  switch (op) {
    case CollectiveOperator::ADD: return sum;
    case CollectiveOperator::MEAN: return sum / static_cast<double>(group.size());
    case CollectiveOperator::MAX: return most;
    default: return static_cast<double>(value(own, i));
  }
}

TEST(CrossReplica, AllReduce) {
  for (const CommGroup& group : kGroups)
    for (const CollectiveOperator op :
         {CollectiveOperator::ADD, CollectiveOperator::MAX, CollectiveOperator::MEAN, CollectiveOperator::LOCAL}) {
      const auto results = run_replicas(
          4, {2, 5}, [&](Graph& g, const Tensor& data, Sequence& prog) { return gcl::allReduceCrossReplica(g, data, op, prog, group); });
      for (unsigned r = 0; r < 4; ++r)
        for (std::size_t i = 0; i < 10; ++i) {
          const auto together = members(group, 4, r);
          EXPECT_NEAR(static_cast<double>(results[r * 10 + i]), expected_of(op, together, r, i), 1e-6) << op << " on " << r << ' ' << i;
          const unsigned same = op == CollectiveOperator::LOCAL ? r : together[0];
          EXPECT_EQ(results[r * 10 + i], results[same * 10 + i]) << "bits of replica " << r;
        }
    }
}

TEST(CrossReplica, AllReduceInPlaceAndToADestination) {
  for (const bool in_place : {false, true}) {
    const auto results = run_replicas(3, {7}, [&](Graph& g, const Tensor& data, Sequence& prog) {
      Tensor out = in_place ? data : g.clone(data);
      if (in_place)
        gcl::allReduceInPlaceCrossReplica(g, out, CollectiveOperator::ADD, prog, {});
      else
        gcl::allReduceToDestinationCrossReplica(g, data, out, CollectiveOperator::ADD, prog, {});
      return out;
    });
    for (unsigned r = 0; r < 3; ++r)
      for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(results[r * 7 + i], value(0, i) + value(1, i) + value(2, i), 1e-6f);
  }
}

TEST(CrossReplica, ReduceScatterAndAllGather) {
  for (const CommGroup& group : kGroups) {
    const std::size_t size = members(group, 4, 0).size(), part = (10 + size - 1) / size;
    const auto scattered = run_replicas(4, {10}, [&](Graph& g, const Tensor& data, Sequence& prog) {
      return gcl::reduceScatterCrossReplica(g, data, CollectiveOperator::ADD, prog, group);
    });
    ASSERT_EQ(scattered.size(), 4 * part);
    const auto gathered = run_replicas(4, {5, 2}, [&](Graph& g, const Tensor& data, Sequence& prog) {
      const Tensor t = gcl::allGatherCrossReplica(g, data, prog, group);
      EXPECT_EQ(t.shape(), (std::vector<std::size_t>{size, 5, 2}));
      return t;
    });
    for (unsigned r = 0; r < 4; ++r) {
      const auto together = members(group, 4, r);
      const auto place = static_cast<std::size_t>(std::find(together.begin(), together.end(), r) - together.begin());
      for (std::size_t i = 0; i < part; ++i) {
        const std::size_t at = place * part + i;
        const double sum = at < 10 ? expected_of(CollectiveOperator::ADD, together, r, at) : 0;
        EXPECT_NEAR(static_cast<double>(scattered[r * part + i]), sum, 1e-6) << r << ' ' << i;
      }
      for (std::size_t m = 0; m < size; ++m)
        for (std::size_t i = 0; i < 10; ++i)
          EXPECT_EQ(gathered[(r * size + m) * 10 + i], value(together[m], i)) << r << ' ' << m << ' ' << i;
    }
  }
}

TEST(CrossReplica, AllToAllAndBroadcast) {
  const auto exchanged =
      run_replicas(3, {3, 4}, [&](Graph& g, const Tensor& data, Sequence& prog) { return gcl::allToAllCrossReplica(g, data, prog); });
  for (unsigned r = 0; r < 3; ++r)
    for (unsigned m = 0; m < 3; ++m)
      for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(exchanged[(r * 3 + m) * 4 + i], value(m, r * 4 + i));
  const auto sent = run_replicas(
      3, {4}, [&](Graph& g, const Tensor& data, Sequence& prog) { return gcl::broadcastCrossReplica(g, data, prog, {}, {}, 2); });
  for (unsigned r = 0; r < 3; ++r)
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(sent[r * 4 + i], value(2, i));
}

TEST(CrossReplica, Rejections) {
  run_replicas(4, {3}, [&](Graph& g, const Tensor& data, Sequence& prog) {
    EXPECT_THROW(gcl::allReduceCrossReplica(g, data, CollectiveOperator::ADD, prog, {CommGroupType::CONSECUTIVE, 3}),
                 poputil::poplibs_error);
    EXPECT_THROW(gcl::allToAllCrossReplica(g, data, prog), poputil::poplibs_error);
    EXPECT_THROW(gcl::broadcastCrossReplica(g, data, prog, {}, {}, 4), poputil::poplibs_error);
    Tensor other = g.clone(data.slice(0, 2));
    EXPECT_THROW(gcl::allReduceToDestinationCrossReplica(g, data, other, CollectiveOperator::ADD, prog, {}), poputil::poplibs_error);
    return data;
  });
  EXPECT_EQ(gcl::operatorFromString("MEAN"), CollectiveOperator::MEAN);
  EXPECT_THROW(gcl::operatorFromString("mean"), poputil::poplibs_error);
}

TEST(WithinReplica, Collectives) {
  // Parts on the two IPUs of one graph.
  IPUModel model;
  model.numIPUs = 2;
  model.tilesPerIPU = 4;
  const Device device = model.createDevice();
  Graph graph(device);
  const Tensor parts = graph.addVariable(FLOAT, {2, 6}, "parts");
  for (unsigned i = 0; i < 2; ++i)
    for (unsigned k = 0; k < 6; ++k) graph.setTileMapping(parts[i][k], 4 * i + k % 4);
  std::vector<float> values;
  for (unsigned i = 0; i < 12; ++i) values.push_back(static_cast<float>(i * i));
  graph.setInitialValue<float>(parts, values);
  Sequence prog;
  const Tensor all = gcl::allReduceWithinReplica(graph, parts, CollectiveOperator::ADD, prog);
  // By their older names.
  const popops::Chunks chunks = popops::reduceScatter(graph, parts, popops::CollectiveOperator::MAX, prog);
  const Tensor gathered = popops::allGather(graph, chunks, prog), again = popops::allReduce(graph, parts, popops::Operation::ADD, prog);
  const popops::Chunks same_chunks = popops::reduceScatter(graph, parts, popops::Operation::MAX, prog);
  ASSERT_EQ(same_chunks.chunks.size(), chunks.chunks.size());
  EXPECT_EQ(popops::Chunks(3).chunks.size(), 3u);
  EXPECT_EQ(popops::Chunk(parts, 1, 2).offset, 2u);
  EXPECT_EQ(graph.getTileMapping(all), graph.getTileMapping(parts));
  const auto of_chunk = graph.getTileMapping(chunks.chunks[1].tensor), of_gathered = graph.getTileMapping(gathered[1]);
  for (unsigned t = 0; t < 4; ++t) EXPECT_TRUE(of_chunk[t].empty() && of_gathered[t].empty()) << "not on the second IPU";
  graph.createHostRead("all", all);
  graph.createHostRead("again", again);
  graph.createHostRead("gathered", gathered);
  Engine engine(graph, prog);
  engine.load(device);
  engine.run();
  std::vector<float> sums(12), same(12), most(12);
  engine.readTensor("all", sums);
  engine.readTensor("again", same);
  EXPECT_EQ(sums, same);
  engine.readTensor("gathered", most);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(sums[i], values[i % 6] + values[6 + i % 6]);
    EXPECT_EQ(most[i], values[6 + i % 6]);
  }
}

TEST(WithinReplica, Rejections) {
  Graph graph(Target::createIPUTarget(2, "ipu2"));
  Sequence prog;
  const Tensor many = graph.addVariable(FLOAT, {2 * 1472 + 1}, "many"), deep = graph.addVariable(FLOAT, {2, std::size_t{1} << 32}, "deep"),
               parts = graph.addVariable(FLOAT, {2, 4}, "parts");
  graph.setTileMapping(parts, 0);
  EXPECT_THROW(gcl::allReduceWithinReplica(graph, many, CollectiveOperator::ADD, prog), poputil::poplibs_error);
  EXPECT_THROW(gcl::reduceScatterWithinReplica(graph, many, CollectiveOperator::ADD, prog), poputil::poplibs_error);
  EXPECT_THROW(gcl::reduceScatterWithinReplica(graph, deep, CollectiveOperator::ADD, prog), poputil::poplibs_error);
  const auto none = static_cast<CollectiveOperator>(9);
  EXPECT_THROW(gcl::allReduceWithinReplica(graph, parts, none, prog), poputil::poplibs_error);
  // Of another graph, even if nothing is done with it.
  Graph other(graph.getTarget());
  Tensor foreign = other.addVariable(FLOAT, {2, 4}, "foreign");
  EXPECT_THROW(gcl::allReduceInPlaceCrossReplica(graph, foreign, CollectiveOperator::LOCAL, prog, {}), poplar_error);
  gcl::Chunks chunks = gcl::reduceScatterWithinReplica(graph, parts, CollectiveOperator::ADD, prog);
  chunks.originalInput = foreign;
  EXPECT_THROW(gcl::allGatherWithinReplica(graph, chunks, prog), poplar_error);
  std::stringstream text;
  text << CollectiveOperator::LOCAL << " " << none;
  EXPECT_EQ(text.str(), "LOCAL CollectiveOperator(9)");
  CollectiveOperator read = CollectiveOperator::ADD;
  text >> read;
  EXPECT_EQ(read, CollectiveOperator::LOCAL);
  EXPECT_THROW(text >> read, poputil::poplibs_error);
}

// A program's own function of the older type, by a name that gcl has for its own.
std::size_t concatChunks(const popops::Chunks& chunks) { return chunks.chunks.size(); }
TEST(Chunks, OlderOnesAreNotGcls) {
  popops::Chunks chunks;
  chunks.chunks.resize(3);
  EXPECT_EQ(concatChunks(chunks), 3u);
}

TEST(Chunks, AreInTheOrderOfTheirOffsetsThenOfTheirIndices) {
  Graph graph(Target::createIPUTarget(2, "ipu2"));
  const Tensor a = linear(graph, FLOAT, {3}), b = linear(graph, FLOAT, {2}), c = linear(graph, FLOAT, {4});
  gcl::Chunks chunks;
  chunks.chunks = {{a, 1, 0}, {b, 0, 0}, {c, 0, 7}};
  EXPECT_EQ(gcl::concatChunks(chunks), concat({b, a, c}));
  chunks.chunks = {{a, 0, 4}, {b, 1, 2}, {c, 2, 0}};
  EXPECT_EQ(gcl::concatChunks(chunks), concat({c, b, a}));
}

TEST(TileAllocation, SharesOfEachIpu) {
  const Graph graph(Target::createIPUTarget(2, "ipu2"));
  const std::vector<unsigned> io = gcl::perIPUTiles(graph, 0, 32), compute = gcl::perIPUTiles(graph, 32, 1440);
  EXPECT_EQ(io.size() + compute.size(), 1472u);
  EXPECT_EQ(io.front(), 0u);
  EXPECT_EQ(compute.front(), 32u);
  EXPECT_EQ(compute.back(), 1471u);
  EXPECT_EQ(gcl::getMinIoTiles(graph), 32u);
  EXPECT_THROW(gcl::perIPUTiles(graph, 32, 1441), poputil::poplibs_error);
  EXPECT_THROW(gcl::perIPUTiles(graph, 1, 2), poputil::poplibs_error);
  EXPECT_EQ(gcl::perIPUTiles(graph, 1, 2, true, false), (std::vector<unsigned>{1, 2}));
}

}  // namespace
}  // namespace oplib
