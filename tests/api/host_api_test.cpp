// Parts of the host's API that public programs use here and there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poplar/IeeeHalf.hpp>
#include <poplar/TypeConversion.hpp>
#include <poplar/exceptions.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;
using testing::ElementsAre, testing::HasSubstr;

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) { return e.what(); }
  return "no error";
}

TEST(HostApi, TypesIntervalsAndOptions) {
  EXPECT_TRUE(FLOAT.isFloatingPoint() && HALF.isFloatingPoint() && QUARTER.isFloatingPoint() && DOUBLE.isFloatingPoint());
  EXPECT_FALSE(INT.isFloatingPoint() || BOOL.isFloatingPoint() || QUARTER_METADATA.isFloatingPoint() || Type().isFloatingPoint());
  const Interval i(3, 7);
  EXPECT_EQ(i.lower(), 3u);
  EXPECT_EQ(i.upper(), 7u);
  OptionFlags flags{{"a", "1"}};
  readJSONFromEnv("PANDO_TEST_NO_SUCH_OPTIONS", flags);
  EXPECT_EQ(flags, (OptionFlags{{"a", "1"}}));
  const Environment e("PANDO_TEST_OPTIONS", R"({"b": "x", "c": 2})");
  readJSONFromEnv("PANDO_TEST_OPTIONS", flags);
  EXPECT_EQ(flags, (OptionFlags{{"a", "1"}, {"b", "x"}, {"c", "2"}}));
  const Environment bad("PANDO_TEST_OPTIONS", "[");
  EXPECT_THROW(readJSONFromEnv("PANDO_TEST_OPTIONS", flags), parse_error);
}

// Against the conversion that the library does: all 65,536 halfs, and floats next to the middle between two of them.
TEST(HostApi, IeeeHalfRoundsAsTheLibraryDoes) {
  unsigned different = 0;
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const std::uint16_t half = static_cast<std::uint16_t>(bits);
    float value = 0;
    convertFromDeviceType(HALF, &half, &value, 1);
    const float ours = IeeeHalf::fromBits(half);
    if (std::isnan(value)) {
      different += !std::isnan(ours);
      continue;
    }
    different += ours != value || std::signbit(ours) != std::signbit(value) || IeeeHalf(value).bit16() != half;
    if (std::isinf(value) || bits == 0x7bff || bits == 0xfbff) continue;
    const float next = IeeeHalf::fromBits(static_cast<std::uint16_t>(half + 1)), middle = (value + next) / 2;
    for (const float x : {middle, std::nextafterf(middle, value), std::nextafterf(middle, next)}) {
      std::uint16_t expected = 0;
      convertToDeviceType(HALF, ArrayRef<float>(&x, 1), &expected);
      different += IeeeHalf(x).bit16() != expected;
    }
  }
  EXPECT_EQ(different, 0u);
  EXPECT_EQ(IeeeHalf(65519.0f).bit16(), 0x7bff);
  EXPECT_EQ(IeeeHalf(65520.0f).bit16(), 0x7c00);
  EXPECT_EQ(IeeeHalf(-1e-9f).bit16(), 0x8000);
  EXPECT_TRUE(std::isnan(static_cast<float>(IeeeHalf(std::nanf("")))));
}

TEST(HostApi, ConstantsOfHalfBits) {
  Setting s;
  const std::uint16_t bits[] = {0x3c00, 0x4000, 0xc200};
  const Tensor t = s.graph.addConstantHalf(HALF, {3}, bits);
  float value = 0;
  EXPECT_TRUE(t[2].getConstantValue(&value));
  EXPECT_EQ(value, -3);
  EXPECT_THROW(s.graph.addConstantHalf(FLOAT, {3}, bits), type_error);
}

TEST(HostApi, ClonesOfAnotherType) {
  Setting s;
  const Tensor t = s.variable(FLOAT, {2, 3}, "t", 2);
  for (const auto how :
       {TensorCloneDuplicationMethod::DUPLICATE_BY_OUTER_DIMENSION, TensorCloneDuplicationMethod::DUPLICATE_BY_TILE_CONTIGUOUS_REGION}) {
    const Tensor copies = s.graph.cloneN(INT, t, 4, "copies", TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES, how);
    EXPECT_EQ(copies.elementType(), INT);
    EXPECT_EQ(copies.shape(), (std::vector<std::size_t>{4, 2, 3}));
    EXPECT_THAT(s.graph.getTileMapping(copies)[2], ElementsAre(Interval(0, 24)));
  }
}

TEST(HostApi, RegionsAsText) {
  Setting s;
  const Tensor a = s.variable(FLOAT, {8}, "a"), b = s.variable(FLOAT, {4}, "b");
  std::ostringstream out;
  concat(a.slice(2, 5), b).outputRegions(out);
  EXPECT_THAT(out.str(), HasSubstr("  a [2,5)\n  b [0,4)\n"));
}

TEST(HostApi, RearrangersHoldForOtherTensors) {
  Setting s;
  const Tensor a = s.variable(FLOAT, {4, 6}, "a"), b = s.variable(FLOAT, {4}, "b");
  const Tensor t = concat(concat(a.transpose().flatten().slice(5, 20), b), a.flatten().slice(0, 3));
  const TensorRearranger r = s.graph.getSimplifyingRearranger(t);
  Tensor expected = t, others = s.variable(INT, {22}, "others"), expected_others = others;
  s.graph.reorderToSimplify(&expected, {&expected_others});
  EXPECT_EQ(r.rearrange(t), expected);
  EXPECT_EQ(r.rearrange(others), expected_others);
  EXPECT_EQ(r.undoRearrangement(r.rearrange(others)), others);
  EXPECT_LT(r.rearrange(t).getContiguousRegions().size(), t.getContiguousRegions().size());
  // Intervals name the same elements.
  const std::vector<Interval> some = {{1, 4}, {15, 17}};
  const std::vector<Interval> there = r.rearrange(some);
  std::set<std::size_t> before, after;
  for (const Interval& i : some)
    for (std::size_t k = i.begin(); k < i.end(); ++k) before.insert(others[k].getContiguousRegions()[0].begin() + k);
  std::vector<Interval> back = r.undoRearrangement(there);
  EXPECT_EQ(back, some);
  EXPECT_THROW(r.rearrange(a), tensor_creation_error);
  EXPECT_THROW(r.rearrange(std::vector<Interval>{{20, 23}}), index_error);
}

TEST(HostApi, VectorsOfTheHost) {
  Setting s;
  const Tensor t = s.variable(FLOAT, {3}, "t");
  s.graph.createHostWrite("w", t);
  s.graph.createHostRead("r", t);
  const DataStream in = s.graph.addHostToDeviceFIFO("in", FLOAT, 3);
  s.program.add(Copy(in, t));
  Engine engine = s.loaded();
  const std::vector<float> values = {1, 2, 3};
  engine.writeTensor<float>("w", values);
  std::vector<float> got(3);
  engine.readTensor<float>("r", got);
  EXPECT_EQ(got, values);
  std::vector<float> stream = {4, 5, 6};
  engine.connectStream<float>("in", stream);
  engine.run();
  engine.readTensor("r", got);
  EXPECT_EQ(got, stream);
  std::vector<float> shorter(2);
  EXPECT_THROW(engine.writeTensor("w", shorter), poplar_error);
  EXPECT_THROW(engine.readTensor("r", shorter), poplar_error);
}

TEST(HostApi, EnginesShareAnExecutable) {
  Setting s;
  const Tensor t = s.variable(INT, {}, "t");
  s.graph.setInitialValue(t, 7);
  s.graph.createHostRead("r", t);
  s.graph.createHostWrite("w", t);
  const Executable executable = compileGraph(s.graph, {s.program});
  Engine first(executable), second(executable, {{"debug.instrument", "true"}});
  first.load(s.device);
  second.load(s.device);
  const int nine = 9;
  first.writeTensor("w", &nine, &nine + 1);
  int a = 0, b = 0;
  first.readTensor("r", &a, &a + 1);
  second.readTensor("r", &b, &b + 1);
  EXPECT_EQ(a, 9);
  EXPECT_EQ(b, 7);
}

TEST(HostApi, ProductsOfIpus) {
  for (const char* name : {"IPU-POD16", "IPU-POD4", "IPU-M2000", "ipu-pod64", "POD128"}) {
    const Target t = Target::createIPUTarget(4, name);
    EXPECT_EQ(t.getTargetArchString(), "ipu2") << name;
    EXPECT_EQ(t.getNumTiles(), 4 * 1472u);
  }
  EXPECT_GT(Target::createIPUTarget(1, "Bow-Pod16").getTileClockFrequency(),
            Target::createIPUTarget(1, "IPU-POD16").getTileClockFrequency());
  EXPECT_EQ(Target::createIPUTarget(1, 8, "C600").getTargetArchString(), "ipu21");
  EXPECT_THAT(message_of<invalid_machine_model>([] { Target::createIPUTarget(1, "TPU-POD16"); }),
              HasSubstr("there is no machine 'TPU-POD16'"));
}

TEST(HostApi, ConvolutionUnits) {
  const Target ipu2 = Target::createIPUTarget(1, "ipu2"), ipu21 = Target::createIPUTarget(1, "ipu21");
  EXPECT_EQ(ipu2.getNumConvUnits(HALF, FLOAT), 8u);
  EXPECT_EQ(ipu2.getNumConvUnits(HALF, HALF), 16u);
  EXPECT_EQ(ipu21.getNumConvUnits(HALF, FLOAT), 16u);
}

TEST(HostApi, CallbacksWithoutPrefetch) {
  struct Callback final : LegacyStreamCallback {
    void fetch(void* p) override { *static_cast<int*>(p) = ++n; }
    int n = 0;
  };
  Setting s;
  const Tensor t = s.variable(INT, {}, "t");
  s.graph.createHostRead("r", t);
  s.program.add(Repeat(3, Copy(s.graph.addHostToDeviceFIFO("in", INT, 1), t)));
  Engine engine = s.loaded();
  engine.connectStreamToCallback("in", std::make_unique<Callback>());
  engine.run();
  int value = 0;
  engine.readTensor("r", &value, &value + 1);
  EXPECT_EQ(value, 3);
}

// A program of a loop whose prefetch waits until the round before has come back.
TEST(HostApi, APrefetchMayWaitForEarlierResults) {
  struct Back final : StreamCallback {
    explicit Back(std::atomic<int>& r) : results(r) {}
    Result prefetch(void* p) override {
      for (int tries = 0; results < blocks && tries < 2000; ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_EQ(results, blocks);
      fetch(p);
      return Result::Success;
    }
    void fetch(void* p) override { *static_cast<int*>(p) = ++blocks; }
    std::atomic<int>& results;
    int blocks = 0;
  };
  Setting s;
  const Tensor t = s.variable(INT, {}, "t");
  s.program.add(
      Repeat(3, Sequence{Copy(s.graph.addHostToDeviceFIFO("in", INT, 1), t), Copy(t, s.graph.addDeviceToHostFIFO("out", INT, 1))}));
  Engine engine = s.loaded();
  std::atomic<int> results{0};
  std::vector<int> values;
  engine.connectStreamToCallback("in", std::make_unique<Back>(results));
  engine.connectStreamToCallback("out", [&](void* p) { values.push_back(*static_cast<int*>(p)), ++results; });
  engine.run();
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
}

TEST(HostApi, ReplicatedGraphsOfAGraph) {
  Setting s(2);
  s.add_codelets();
  Graph same = s.graph.createReplicatedGraph(1);
  EXPECT_EQ(same.getReplicationFactor(), 1u);
  Graph graph = s.graph.createReplicatedGraph(2);
  EXPECT_EQ(graph.getReplicationFactor(), 2u);
  EXPECT_EQ(graph.getTarget().getNumIPUs(), 1u);
  const Tensor index = graph.addReplicationIndexConstant(), t = graph.addVariable(UNSIGNED_INT, {}, "t");
  graph.setTileMapping(index, 0);
  graph.setTileMapping(t, 1);
  graph.createHostRead("r", t);
  Engine engine(s.graph, Copy(index, t));
  engine.load(s.device);
  engine.run();
  unsigned numbers[2] = {7, 7};
  engine.readTensor("r", numbers, numbers + 2);
  EXPECT_THAT(numbers, ElementsAre(0, 1));
  Setting one;
  const Tensor alone = one.variable(FLOAT, {3}, "alone");
  EXPECT_EQ(one.graph.createReplicatedGraph(1).getNonReplicatedTensor(alone).shape(), (std::vector<std::size_t>{1, 3}));
  Setting four(4);
  Graph quarter = four.graph.createReplicatedGraph(2).createReplicatedGraph(2);
  EXPECT_EQ(quarter.getReplicationFactor(), 4u);
  EXPECT_EQ(quarter.getTarget().getNumIPUs(), 1u);
  Setting three(3);
  EXPECT_THAT(message_of<graph_replication_error>([&] { three.graph.createReplicatedGraph(2); }),
              HasSubstr("3 IPUs of 4 tiles cannot be shared out evenly to 2"));
}

}  // namespace
}  // namespace api
