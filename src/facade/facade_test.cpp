// Values of the public API: tensors, programs, targets, options. No codelet and no compiler is needed.
#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "facade/engine/engine_option_rows.h"
#include "facade/state/state.h"
#include "graph/program.h"
#include "pando/mapping.hpp"
#include "pando/ownership.hpp"
#include "poplar/DeviceManager.hpp"
#include "poplar/Engine.hpp"
#include "poplar/IPUModel.hpp"
#include "poplar/Quarter.hpp"
#include "poplar/TypeConversion.hpp"

namespace {

using namespace poplar;
using namespace poplar::program;
using pando::facade::Access;

// The class is exact, and the text names the thing.
template <class E, class F>
void expect_error(F f, const std::string& part) {
  try {
    f();
    FAIL() << "nothing was thrown; expected: " << part;
  } catch (const E& e) {
    EXPECT_EQ(typeid(e), typeid(E));
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

Target model(unsigned ipus = 1) {
  IPUModel m("tiny4");
  m.numIPUs = ipus;
  return m.createDevice().getTarget();
}

using Shape = std::vector<std::size_t>;

TEST(Tensor, ViewsHaveTheShapesOfTheReference) {
  Graph graph(model());
  const Tensor t = graph.addVariable(FLOAT, {3, 4, 5}, "t");
  EXPECT_EQ(t[1].shape(), (Shape{4, 5}));
  EXPECT_EQ(t.index({1, 2}).shape(), (Shape{5}));
  EXPECT_EQ(t.slice({0, 1, 2}, {2, 2, 5}).shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(t.slice({0, 1}, {2, 2}).shape(), (Shape{2, 1, 5}));  // of the leading dimensions
  EXPECT_EQ(t.slice(1, 3, 1).shape(), (Shape{3, 2, 5}));
  EXPECT_EQ(t.reshapePartial(0, 2, {6, 2}).shape(), (Shape{6, 2, 5}));
  EXPECT_EQ(t.flatten(1, 3).shape(), (Shape{3, 20}));
  EXPECT_EQ(t.expand({0, 3}).shape(), (Shape{1, 3, 4, 5, 1}));
  EXPECT_EQ(t.expand({0, 3}).squeeze({0, 4}).shape(), t.shape());
  EXPECT_EQ(t.dimRoll(2).shape(), (Shape{5, 3, 4}));
  EXPECT_EQ(t.dimRoll(0, 2).shape(), (Shape{4, 5, 3}));
  EXPECT_EQ(t.dimShufflePartial({0, 1}, {2, 0}).shape(), (Shape{4, 5, 3}));
  EXPECT_EQ(t.subSample(2, 1).shape(), (Shape{3, 2, 5}));
  EXPECT_EQ(t.upsample(2, 2, UpsampleMethod::REPEAT).shape(), (Shape{3, 4, 10}));
  EXPECT_EQ(concat(t, t, 1).shape(), (Shape{3, 8, 5}));
  EXPECT_EQ(concat(t, t).shape(), (Shape{6, 4, 5}));
  EXPECT_EQ(append(t, t[0], 0).shape(), (Shape{4, 4, 5}));
  const std::vector<std::vector<Interval>> lists = {{{0, 1}, {2, 3}}, {{1, 2}}};
  EXPECT_EQ(t.slices(lists, 1)[0].shape(), (Shape{3, 2, 5}));
  EXPECT_EQ(t.slices(lists, 1)[1], t.slice(1, 2, 1));
  EXPECT_EQ(t.shapeToString(), "{3,4,5}");
}

TEST(Tensor, RegionsAndAliases) {
  Graph graph(model());
  const Tensor t = graph.addVariable(INT, {2, 3}, "t");
  EXPECT_EQ(t.getContiguousRegions(), (std::vector<Interval>{{0, 6}}));
  EXPECT_EQ(t.slice(0, 2, 1).getVarRegions().size(), 2u);
  EXPECT_TRUE(t.broadcast(2, 0).containsAliases());
  EXPECT_FALSE(t.transpose().containsAliases());
  EXPECT_TRUE(t.isParallelWriteable());
  EXPECT_TRUE(t[0].intersectsWith(t.flatten()));
  EXPECT_FALSE(t[0].intersectsWith(t[1]));
}

TEST(Tensor, ErrorsNameShapeAndArguments) {
  Graph graph(model());
  const Tensor t = graph.addVariable(FLOAT, {3, 4}, "t");
  expect_error<index_error>([&] { t[3]; }, "{3,4}");
  expect_error<index_error>([&] { t.slice(2, 5, 0); }, "5");
  expect_error<index_error>([&] { t.dim(2); }, "dimension 2");
  expect_error<index_error>([&] { t.slice({0, 0, 0}, {1, 1, 1}); }, "3 begins");
  expect_error<index_error>([&] { t.slice(Shape{0, 0}, Shape{1}); }, "1 ends");
  expect_error<tensor_creation_error>([&] { t.squeeze({0}); }, "does not have size 1");
  expect_error<tensor_creation_error>([&] { t.expand({0}).transpose(); }, "{1,3,4}");
  expect_error<poplar_error>([] { Tensor().rank(); }, "default-constructed");
  EXPECT_FALSE(t.getMetadata().valid());
}

TEST(Constants, AreConvertedAndFilled) {
  Graph graph(model());
  const Tensor c = graph.addConstant<float>(FLOAT, {4}, {1.0, 1.5, 2.0, 2.5});
  float value = 0;
  ASSERT_TRUE(c[3].getConstantValue(&value));
  EXPECT_EQ(value, 2.5f);
  EXPECT_FALSE(c.getConstantValue(&value));  // not one element
  int whole = 0;
  const Tensor h = graph.addConstant(HALF, {2, 3}, 7, "h");
  ASSERT_TRUE(h[1][2].getConstantValue(&whole));
  EXPECT_EQ(whole, 7);
  EXPECT_FALSE(graph.addVariable(INT, {}, "v").getConstantValue(&whole));
  EXPECT_TRUE(c.containsConstant());
  expect_error<tensor_creation_error>([&] { graph.addConstant<float>(FLOAT, {3}, {1.0, 2.0}); }, "2 values for 3 elements");
}

TEST(Clone, KeepsOrderMappingAndAliases) {
  Graph graph(model());
  const Tensor t = graph.addVariable(FLOAT, {4, 6}, "t");
  for (unsigned i = 0; i < 4; ++i) graph.setTileMapping(t[i], i);
  const Tensor view = t.transpose().slice(1, 4).reverse(0);
  const Tensor copy = graph.clone(view, "copy");
  EXPECT_EQ(copy.shape(), view.shape());
  EXPECT_EQ(graph.getTileMapping(copy), graph.getTileMapping(view));
  EXPECT_FALSE(copy.intersectsWith(view));
  EXPECT_EQ(copy.getVarRegions().size(), 12u);  // still column by column of a row-major variable
  const Tensor aliased = graph.clone(t[0].broadcast(2, 0), "a", TensorCloneMethod::PRESERVE_ORDER_AND_ALIASES);
  EXPECT_EQ(aliased.slice(0, 6), aliased.slice(6, 12));
  EXPECT_FALSE(graph.clone(t[0].broadcast(2, 0)).containsAliases());
  const Tensor three =
      graph.cloneN(t, 3, "n", TensorCloneMethod::CREATE_NEW_ORDER, TensorCloneDuplicationMethod::DUPLICATE_BY_TILE_CONTIGUOUS_REGION);
  EXPECT_EQ(three.shape(), (Shape{3, 4, 6}));
  EXPECT_EQ(graph.getTileMapping(three[2]), graph.getTileMapping(t));
  EXPECT_FALSE(three.containsAliases());
}

// What a convolution makes: {groups of channels, batch, height, width, channels of a group}, seen as {batch, channels, height, width}.
TEST(Clone, KeepsGroupsOfChannels) {
  Graph graph(Target::createIPUTarget(1, 8, "ipu2"));
  const Tensor t = graph.addVariable(FLOAT, {2, 3, 4, 5, 8}, "t");
  for (unsigned i = 0; i < 6; ++i) graph.setTileMapping(t.flatten(0, 2)[i], i + 1);
  const Tensor view = t.dimShuffle({1, 0, 4, 2, 3}).reshape({3, 16, 4, 5}).reverse(2);
  Tensor copy = graph.clone(HALF, view, "copy");
  EXPECT_EQ(copy.shape(), view.shape());
  EXPECT_EQ(copy.elementType(), HALF);
  EXPECT_EQ(graph.getTileMapping(copy), graph.getTileMapping(view));
  // The same elements are neighbours in both.
  Tensor flat = copy.flatten(), like = view.flatten();
  graph.reorderToSimplify(&flat, {&like});
  EXPECT_TRUE(flat.isContiguous());
  EXPECT_EQ(like, t.flatten());
  // Channels that are no whole group, and a sliced view.
  const Tensor part = view.slice({0, 4, 0, 1}, {3, 12, 4, 4});
  Tensor again = graph.clone(part).flatten(), original = part.flatten();
  EXPECT_EQ(graph.getTileMapping(again), graph.getTileMapping(original));
  graph.reorderToSimplify(&again, {&original});
  EXPECT_TRUE(again.isContiguous());
}

TEST(Programs, AreValues) {
  Graph graph(model());
  const Tensor a = graph.addVariable(INT, {2}, "a"), b = graph.addVariable(INT, {2}, "b");
  Sequence first;
  Sequence copy = first;
  first.add(Copy(a, b));
  EXPECT_TRUE(copy.isEmpty());
  EXPECT_FALSE(first.isEmpty());
  const Sequence outer({first, Copy(b, a)});
  const auto steps = [](const Program& p) { return std::get<pando::graph::Sequence>(Access::node(p)->body).steps.size(); };
  first.add(Copy(b, a));
  EXPECT_EQ(steps(first), 2u);
  EXPECT_EQ(std::get<pando::graph::Sequence>(std::get<pando::graph::Sequence>(Access::node(outer)->body).steps[0]->body).steps.size(), 1u);
  first.add(first);  // itself as it was
  EXPECT_EQ(steps(first), 3u);
  const Sequence old_form(Copy(a, b), Copy(b, a), first);
  EXPECT_EQ(steps(old_form), 3u);
}

TEST(Programs, ErrorsNameTheThing) {
  Graph graph(model());
  const Tensor a = graph.addVariable(INT, {4}, "a"), b = graph.addVariable(INT, {3}, "b"), f = graph.addVariable(FLOAT, {4}, "f");
  const Tensor c = graph.addConstant(INT, {4}, 1, "c");
  const DataStream in = graph.addHostToDeviceFIFO("in", INT, 4);
  expect_error<control_program_error>([&] { Copy(a, b); }, "destination Tensor int {3} of {b}");
  expect_error<type_error>([&] { Copy(a, f); }, "destination Tensor float {4} of {f}");
  expect_error<control_program_error>([&] { Copy(a, c); }, "writes constant 'c'");
  expect_error<control_program_error>([&] { Copy(c, b[0].expand({0}).broadcast(4, 0)); }, "holds an element twice");
  expect_error<control_program_error>([&] { Copy(a, in); }, "stream 'in' goes from the host to the device");
  expect_error<control_program_error>([&] { Copy(in, b); }, "stream 'in', which has 4");
  expect_error<control_program_error>([&] { If(a, Sequence(), Sequence()); }, "takes one element; the tensor has shape {4}");
  expect_error<type_error>([&] { RepeatWhileTrue(Sequence(), f[0], Sequence()); },
                           "takes type bool, int, unsigned int; the tensor has float");
  expect_error<control_program_error>([&] { Switch(a[0]).add(1, Sequence()).add(1, Sequence()); }, "two cases for value 1");
  expect_error<graph_replication_error>([&] { CrossReplicaCopy(a, a, {{0, 1}}); }, "the graph has 1");
}

TEST(Targets, HaveTheMachinesNumbers) {
  const Target t = IPUModel().createDevice().getTarget();
  EXPECT_EQ(t.getNumTiles(), 1472u);
  EXPECT_EQ(t.getNumWorkerContexts(), 6u);
  EXPECT_EQ(t.getExchangeBytesPerCycle(), 4u);
  EXPECT_EQ(t.getBytesPerTile(), 624u * 1024);
  EXPECT_EQ(t.getVectorWidth(FLOAT), 2u);
  EXPECT_EQ(t.getVectorWidth(HALF), 4u);
  EXPECT_EQ(t.getTypeLimitsMaxAs<int>(UNSIGNED_SHORT), 65535);
  EXPECT_EQ(t.getTargetType(), TargetType::IPU_MODEL);
  EXPECT_EQ(IPUModel("ipu1").createDevice().getTarget().getNumTiles(), 1216u);
  EXPECT_EQ(Device::createCPUDevice().getTarget().getNumTiles(), 1u);
  std::stringstream bytes;
  t.serialize(bytes);
  EXPECT_EQ(Target(bytes), t);
  EXPECT_NE(model(), t);
  expect_error<invalid_machine_model>([] { IPUModel("ipu9"); }, "'ipu9'");
  std::stringstream junk("junk");
  expect_error<parse_error>([&] { Target{junk}; }, "no serialised target");
  IPUModel none;
  none.tilesPerIPU = 0;
  expect_error<invalid_machine_model>([&] { none.createDevice(); }, "tilesPerIPU");
}

// Planners ask for the tiles that are left, and then whether there are any.
TEST(Targets, MayBeLeftWithoutTilesButHaveNoGraphThen) {
  const Target t = model(2).createVirtualTarget(2, 0);
  EXPECT_EQ(t.getNumIPUs(), 2u);
  EXPECT_EQ(t.getTilesPerIPU(), 0u);
  EXPECT_EQ(t.getNumTiles(), 0u);
  EXPECT_EQ(model(2).createVirtualTarget(1, 3).getNumTiles(), 3u);
  expect_error<invalid_machine_model>([&] { Graph{t}; }, "a graph needs a target with tiles, not 2 IPUs of 0 tiles");
  expect_error<invalid_machine_model>([] { model().createVirtualTarget(0, 4); }, "not 0 IPUs of 4 tiles");
  expect_error<invalid_machine_model>([] { Target::createIPUTarget(1, 0, "ipu2"); }, "not 1 IPUs of 0 tiles");
}

TEST(Targets, IpuModelFieldsOverride) {
  IPUModel m;
  m.numIPUs = 2;
  m.tilesPerIPU = 10;
  m.memoryBytesPerTile = 300 * 1024;
  m.minIPUSyncDelay = 7;
  const Target t = m.createDevice().getTarget();
  EXPECT_EQ(t.getNumTiles(), 20u);
  EXPECT_EQ(t.getBytesPerTile(), 300u * 1024);
  EXPECT_EQ(t.getMinIPUSyncDelay(), 7u);
}

TEST(Replication, TheGraphSeesOneReplica) {
  Graph graph(model(4), replication_factor(2));
  EXPECT_EQ(graph.getReplicationFactor(), 2u);
  EXPECT_EQ(graph.getTarget().getNumIPUs(), 2u);
  expect_error<graph_replication_error>([] { Graph(model(3), replication_factor(2)); }, "3 IPUs");
}

TEST(VirtualGraphs, RenumberTilesAndNest) {
  Graph graph(model());  // 4 tiles
  Graph upper = graph.createVirtualGraph(1, 4);
  Graph last = upper.createVirtualGraph(std::vector<unsigned>{2});
  EXPECT_EQ(last.convertVirtualTileToPhysicalTile(0), 3u);
  const Tensor t = last.addVariable(INT, {2}, "t");
  last.setTileMapping(t, 0);
  EXPECT_EQ(graph.getTileMapping(t)[3].size(), 1u);
  EXPECT_EQ(upper.getTileMapping(t)[2].size(), 1u);
  EXPECT_EQ(upper.getTarget().getNumTiles(), 3u);
  expect_error<invalid_tile_mapping>([&] { last.setTileMapping(t, 1); }, "the virtual graph has 1 tiles");
  expect_error<invalid_tile_mapping>([&] { upper.createVirtualGraph(0, 4294967295u); }, "the virtual graph has 3 tiles");
  graph.setTileMapping(t, 0);
  bool complete = true;
  last.getTileMapping(t, &complete);
  EXPECT_FALSE(complete);
}

TEST(Mappings, AreOneListToo) {
  using pando::TileInterval;
  Graph graph(model());  // 4 tiles
  const Tensor t = graph.addVariable(INT, {3, 4}, "t");
  EXPECT_TRUE(pando::tile_intervals(graph, t).empty());
  pando::set_tile_intervals(graph, t, {{8, 12, 3}, {0, 6, 1}, {6, 8, 0}});
  EXPECT_EQ(pando::tile_intervals(graph, t), (std::vector<TileInterval>{{0, 6, 1}, {6, 8, 0}, {8, 12, 3}}));
  EXPECT_EQ(graph.getTileMapping(t), (Graph::TileToTensorMapping{{{6, 8}}, {{0, 6}}, {}, {{8, 12}}}));
  // Of a whole variable at once; then a part of it, seen another way.
  pando::set_tile_intervals(graph, t, {{0, 4, 2}, {4, 8, 2}, {8, 12, 0}});
  EXPECT_EQ(pando::tile_intervals(graph, t), (std::vector<TileInterval>{{0, 8, 2}, {8, 12, 0}}));
  pando::set_tile_intervals(graph, t.dimShuffle({1, 0}), {{0, 2, 1}});
  EXPECT_EQ(pando::tile_intervals(graph, t), (std::vector<TileInterval>{{0, 1, 1}, {1, 4, 2}, {4, 5, 1}, {5, 8, 2}, {8, 12, 0}}));
  // A virtual graph numbers the tiles that it sees.
  Graph upper = graph.createVirtualGraph(2, 4);
  EXPECT_EQ(pando::tile_intervals(upper, t), (std::vector<TileInterval>{{1, 4, 0}, {5, 8, 0}}));
  pando::set_tile_intervals(upper, t, {{0, 12, 1}});
  EXPECT_EQ(pando::tile_intervals(graph, t), (std::vector<TileInterval>{{0, 12, 3}}));
  expect_error<invalid_tile_mapping>([&] { pando::set_tile_intervals(upper, t, {{0, 12, 2}}); }, "the virtual graph has 2 tiles");
  expect_error<invalid_tile_mapping>([&] { pando::set_tile_intervals(graph, t, {{0, 3, 1}, {2, 4, 1}}); }, "[2, 3) twice");
  expect_error<invalid_tile_mapping>([&] { pando::set_tile_intervals(graph, t, {{0, 13, 1}}); }, "which has 12");
}

TEST(Graphs, BadInputNamesTheThing) {
  Graph graph(model());
  const Tensor t = graph.addVariable(INT, {2}, "counts");
  expect_error<invalid_tile_mapping>([&] { graph.setTileMapping(t, 4); }, "counts");
  expect_error<invalid_tile_mapping>([&] { graph.getTileMapping(t); }, "counts");
  expect_error<unknown_vertex_type>([&] { graph.addVertex(graph.addComputeSet(), "Nothing"); }, "'Nothing'");
  expect_error<file_load_error>([&] { graph.addCodelets("not_there.cpp"); }, "not_there.cpp");
  expect_error<undefined_vertex_error>([&] { graph.connect(VertexRef(7)["x"], t); }, "field 'x'");
  expect_error<invalid_option>([&] { graph.addHostToDeviceFIFO("s", INT, 2, ReplicatedStreamMode::REPLICATE, {{"depth", "2"}}); },
                               "Unrecognised option 'depth'");
}

TEST(Options, AreCheckedAndOverridden) {
  const auto options = [](OptionFlags flags) { return EngineOptions(flags).getOptionFlags(); };
  expect_error<invalid_option>([&] { options({{"debug.instrumant", "true"}}); }, "Unrecognised option 'debug.instrumant'");
  expect_error<invalid_option>([&] { options({{"debug.instrument", "perhaps"}}); }, "'perhaps'");
  expect_error<invalid_option>([&] { options({{"exchange.streamBufferOverlap", "some"}}); }, "any|hostRearrangeOnly|none");
  testing::internal::CaptureStderr();
  options({{"target.textSectionSizeInBytes", "4096"}});
  options({{"target.textSectionSizeInBytes", "4096"}});
  const std::string warning = testing::internal::GetCapturedStderr();
  EXPECT_EQ(warning, "warning: option 'target.textSectionSizeInBytes' is obsolete and has no effect\n");
  testing::internal::CaptureStderr();
  options({{"opt.maxLinkerThreads", "4"}});
  options({{"opt.maxLinkerThreads", "5"}, {"pando.bind", "false"}});
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "warning: option 'opt.maxLinkerThreads' has no effect here\n");
  setenv("POPLAR_ENGINE_OPTIONS", R"({"debug.instrument": "false", "opt.maxCompilationThreads": 2})", 1);
  const OptionFlags merged = options({{"debug.instrument", "true"}});
  unsetenv("POPLAR_ENGINE_OPTIONS");
  EXPECT_EQ(merged.at("debug.instrument"), StringRef("false"));
  EXPECT_EQ(merged.at("opt.maxCompilationThreads"), StringRef("2"));
  OptionFlags flags;
  expect_error<parse_error>([&] { readJSON(StringRef("{"), flags); }, "no JSON");
  expect_error<invalid_option>([] { RuntimeOptions(OptionFlags{{"target.speed", "9"}}); }, "Unrecognised option 'target.speed'");
}

TEST(Options, HaveARowThatTakesThemOrNoEffect) {
  using pando::facade::engine_option_rows;
  for (const pando::facade::OptionRow& row : engine_option_rows()) EXPECT_EQ(row.effect.empty(), row.take == nullptr) << row.name;
  const auto parsed = pando::facade::parse_engine_options({{"autoReport.all", "true"},
                                                           {"autoReport.outputExecutionProfile", "false"},
                                                           {"pando.prefetchTiles", "false"},
                                                           {"pando.splitVariables", "false"},
                                                           {"pando.threads", "3"}});
  EXPECT_TRUE(parsed.graph_report);
  EXPECT_FALSE(parsed.execution_report);
  EXPECT_FALSE(parsed.exec.prefetch_tiles);
  EXPECT_FALSE(parsed.compile.split_variables);
  EXPECT_TRUE(parsed.compile.bind);
  EXPECT_EQ(parsed.exec.threads, 3u);
}

TEST(DeviceManager, EmulatesWhenAsked) {
  unsetenv("PANDO_EMULATED_IPUS");
  EXPECT_TRUE(DeviceManager().getDevices(TargetType::IPU, 1).empty());
  setenv("PANDO_EMULATED_IPUS", "4", 1);
  const DeviceManager manager = DeviceManager::createDeviceManager();
  unsetenv("PANDO_EMULATED_IPUS");
  EXPECT_EQ(manager.getNumDevices(), 7u);  // 4 + 2 + 1
  auto pairs = manager.getDevices(TargetType::IPU, 2);
  ASSERT_EQ(pairs.size(), 2u);
  ASSERT_TRUE(pairs[0].attach());
  auto single = manager.getDevice(0);
  EXPECT_FALSE(single.attach());  // a pair has it
  EXPECT_EQ(manager.getChildDeviceIds(pairs[0].getId()), (std::vector<unsigned>{0, 1}));
  pairs[0].detach();
  EXPECT_TRUE(single.attach());
  expect_error<index_error>([&] { manager.getDevice(7); }, "device 7");
}

TEST(DeviceManager, EmulatesTheMachineThatIsNamed) {
  setenv("PANDO_EMULATED_IPUS", "1", 1);
  const DeviceManager manager = DeviceManager::createDeviceManager();
  unsetenv("PANDO_EMULATED_IPUS");
  EXPECT_EQ(manager.getDevice(0).getTarget().getTileClockFrequency(), pando::find_machine("ipu2")->clock_hz);
  for (const auto& [name, machine] : {std::pair("bow", "bow"), {"ipu21", "ipu21"}, {"Bow-Pod16", "bow"}}) {
    setenv("PANDO_EMULATED_MACHINE", name, 1);
    EXPECT_EQ(manager.getDevice(0).getTarget().getTileClockFrequency(), pando::find_machine(machine)->clock_hz) << name;
  }
  setenv("PANDO_EMULATED_MACHINE", "stern", 1);
  expect_error<invalid_option>([&] { manager.getDevice(0); }, "PANDO_EMULATED_MACHINE is 'stern'");
  unsetenv("PANDO_EMULATED_MACHINE");
}

TEST(DeviceManager, AnEngineNeedsItsDeviceUntilThatIsDetached) {
  setenv("PANDO_EMULATED_IPUS", "1", 1);
  const DeviceManager manager = DeviceManager::createDeviceManager();
  unsetenv("PANDO_EMULATED_IPUS");
  std::optional<Device> device = manager.getDevice(0);
  ASSERT_TRUE(device->attach());
  Graph graph(device->getTarget());
  const Tensor t = graph.addVariable(FLOAT, {2}, "t");
  graph.setTileMapping(t, 0);
  graph.createHostRead("read", t);
  Engine engine(graph, program::Sequence());
  engine.load(*device);
  engine.run(0);
  device->detach();
  float values[2];
  expect_error<poplar_error>([&] { engine.run(0); }, "was detached");
  expect_error<poplar_error>([&] { engine.readTensor("read", values, values + 2); }, "was detached");
  ASSERT_TRUE(device->attach());
  expect_error<poplar_error>([&] { engine.run(0); }, "was detached");
  engine.load(*device);
  // The object's end gives back the IPU, and the engine keeps what it is loaded onto.
  device.reset();
  engine.run(0);
  engine.readTensor("read", values, values + 2);
  ASSERT_TRUE(manager.getDevice(0).attach());
}

TEST(TypeConversion, RoundsAndSaturates) {
  const std::vector<float> values = {1.0f, -2.5f, 70000.0f};
  std::vector<std::uint16_t> halfs(3);
  convertToDeviceType(HALF, values, halfs.data());
  EXPECT_EQ(halfs, (std::vector<std::uint16_t>{0x3c00, 0xc100, 0x7c00}));
  std::vector<int> ints(3);
  const float f[] = {1e20f, -1e20f, 2.9f};
  poplar::pando_detail::convertElements(FLOAT, f, INT, ints.data(), 3, QuarterMetadata());
  EXPECT_EQ(ints, (std::vector<int>{2147483647, -2147483647 - 1, 2}));
  const double doubles[] = {1 + 0x1p-11 + 0x1p-40, 65519.999};  // in float, a tie and what rounds to infinity
  copyDoubleToDeviceHalf(model(), doubles, halfs.data(), 2);
  EXPECT_EQ(halfs, (std::vector<std::uint16_t>{0x3c01, 0x7bff, 0x7c00}));
  const QuarterMetadata m(QuarterMetadata::Format::F143, 0);
  std::vector<unsigned char> quarters(4);
  convertToDeviceType(QUARTER, m, std::vector<float>{240, 1e9f, -1, 0}, quarters.data());
  std::vector<float> back(4);
  convertFromDeviceType(QUARTER, m, quarters.data(), back);
  EXPECT_EQ(back, (std::vector<float>{240, 240, -1, 0}));
  EXPECT_EQ(QuarterMetadata(QuarterMetadata(QuarterMetadata::Format::F152, -7).getBinary()),
            QuarterMetadata(QuarterMetadata::Format::F152, -7));
  expect_error<overflow_error>([] { QuarterMetadata(QuarterMetadata::Format::F143, 32); }, "32");
}

TEST(TypeConversion, NullPointersAreRejectedUnlessNothingIsConverted) {
  const Target target = model();
  float value = 1;
  double wide = 1;
  std::uint16_t bits = 0;
  expect_error<poplar_error>([&] { copyFloatToDeviceHalf(target, nullptr, &bits, 1); }, "null pointer to read");
  expect_error<poplar_error>([&] { copyFloatToDeviceHalf(target, &value, nullptr, 1); }, "null pointer to write");
  expect_error<poplar_error>([&] { copyDeviceHalfToFloat(target, nullptr, &value, 1); }, "null pointer to read");
  expect_error<poplar_error>([&] { copyDeviceHalfToFloat(target, &bits, nullptr, 1); }, "null pointer to write");
  expect_error<poplar_error>([&] { copyDoubleToDeviceHalf(target, nullptr, &bits, 1); }, "null pointer to read");
  expect_error<poplar_error>([&] { copyDeviceHalfToDouble(target, &bits, nullptr, 1); }, "null pointer to write");
  expect_error<poplar_error>([&] { convertFromDeviceType(FLOAT, nullptr, &value, 1); }, "null pointer to read");
  copyFloatToDeviceHalf(target, nullptr, nullptr, 0);
  copyDoubleToDeviceHalf(target, &wide, &bits, 1);
  EXPECT_EQ(bits, 0x3c00);
}

TEST(Ownership, WhatBelongsToAnotherGraphIsRejectedEvenIfEmpty) {
  Graph own(model()), other(model());
  const Tensor mine = own.addVariable(FLOAT, {0}, "mine"), foreign = other.addVariable(FLOAT, {0}, "foreign");
  pando::require_own(own, mine, "a row");
  pando::require_own(own, own.addComputeSet(), "a set");
  pando::require_own(own, Sequence(), "a program");
  expect_error<graph_connection_error>([&] { pando::require_own(own, foreign, "a row"); }, "a row: it belongs to another graph");
  expect_error<graph_connection_error>([&] { pando::require_own(own, other.addComputeSet(), "a set"); },
                                       "a set: it belongs to another graph");
  expect_error<graph_connection_error>([&] { pando::require_own(own, Execute(other.addComputeSet()), "a program"); },
                                       "a program: it belongs to another graph");
}

TEST(DebugContext, JoinsPaths) {
  const DebugNameAndId parent("layer");
  const DebugNameAndId child(parent, "conv");
  EXPECT_EQ(child.getPathName(), "layer/conv");
  const auto path = [](const DebugContext& c) { return c.getPathName(); };
  EXPECT_EQ(path({child, "weights"}), "layer/conv/weights");
  EXPECT_EQ(path({child}), "layer/conv");
  EXPECT_EQ(path("x"), "x");
  EXPECT_EQ(path({}), "");
  const DebugInfo info(DebugContext("op"), "test");
  EXPECT_EQ(path({info, "y"}), "op/y");
}

TEST(Tensor, SlicesOfOneElementRepeatIt) {
  Graph graph(model());
  const Tensor one = graph.addVariable(FLOAT, {1}, "one"), two = graph.addVariable(FLOAT, {2}, "two");
  const std::vector<std::vector<Interval>> lists = {{{0, 3}, {5, 6}}, {{0, 1}}};
  const std::vector<Tensor> parts = one.slices(lists);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].shape(), (std::vector<std::size_t>{4}));
  EXPECT_EQ(parts[0].getVarRegions().size(), 4u);
  EXPECT_EQ(parts[1], one);
  EXPECT_THROW(two.slices(lists), index_error);
  EXPECT_THROW(one.slice(0, 3), index_error);
}

TEST(DebugInfo, ValuesGoToTheOpenStream) {
  const std::string file = testing::TempDir() + "debug_info.json";
  EXPECT_FALSE(DebugInfo::isStreamerOpen());
  DebugInfo::initializeStreamer(file, DebugSerializationFormat::JSON);
  EXPECT_TRUE(DebugInfo::isStreamerOpen());
  { DebugInfo(DebugContext("op"), "test").setValue("size", 7); }
  DebugInfo::closeStreamer();
  EXPECT_FALSE(DebugInfo::isStreamerOpen());
  { DebugInfo(DebugContext("unseen"), "test").setValue("size", 8); }
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  const auto entries = nlohmann::json::parse(text.str()).at("contexts");
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].at("size"), 7);
  EXPECT_EQ(entries[0].at("path"), "op");
  EXPECT_THAT(entries[0].at("location").at("fileName").get<std::string>(), testing::HasSubstr("facade_test.cpp"));
}

TEST(DebugInfo, TheDefaultFormatIsBinary) {
  const std::string file = testing::TempDir() + "debug_info.cbor";
  DebugInfo::initializeStreamer(file);
  for (const char* name : {"a", "b"}) DebugInfo(DebugContext(name), "test").setValue("values", ProfileValue::Map{{"x", 0.5}});
  DebugInfo::closeStreamer();
  std::ifstream in(file, std::ios::binary);
  const auto entries = nlohmann::json::from_cbor(in).at("contexts");
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].at("path"), "b");
  EXPECT_EQ(entries[1].at("values").at("x"), 0.5);
}

TEST(DebugInfo, AFileWithoutEntriesReadsToo) {
  const std::string file = testing::TempDir() + "debug_info_empty.json";
  DebugInfo::initializeStreamer(file, DebugSerializationFormat::JSON);
  DebugInfo::closeStreamer();
  std::ifstream in(file);
  EXPECT_TRUE(nlohmann::json::parse(in).at("contexts").empty());
}

TEST(ProfileValue, IsAValue) {
  ProfileValue v = ProfileValue::Map{{"a", 1}, {"b", ProfileValue::Vector{true, "x"}}};
  const ProfileValue copy = v;
  v = 3;
  EXPECT_EQ(copy["b"][1].asString(), "x");
  std::ostringstream out;
  out << copy;
  EXPECT_EQ(out.str(), R"({"a":1,"b":[true,"x"]})");
  expect_error<type_error>([&] { copy.asString(); }, "a map, not a string");
}

TEST(Graph, AConstantOfAHostTypeThatIsKnownLate) {
  Graph graph(model());
  const double values[] = {1.5, -2.25};
  const Tensor two = graph.addConstant(FLOAT, {2}, values, TypeTraits::make<double>(), false, {"two"});
  float read[2] = {};
  ASSERT_TRUE(two[0].getConstantValue(&read[0]));
  ASSERT_TRUE(two[1].getConstantValue(&read[1]));
  EXPECT_EQ(read[0], 1.5f);
  EXPECT_EQ(read[1], -2.25f);
  const signed char minus = -3;
  const Tensor filled = graph.addConstant(INT, {2, 2}, &minus, TypeTraits::make<signed char>(), true);
  int last = 0;
  ASSERT_TRUE(filled[1][1].getConstantValue(&last));
  EXPECT_EQ(last, -3);
  expect_error<type_error>([&] { graph.addConstant(FLOAT, {2}, values, TypeTraits(), false); }, "traits of 0 bytes");
}

TEST(Sequence, AnyProgramConvertsToOne) {
  Graph graph(model());
  const Tensor t = graph.addVariable(FLOAT, {2}, "t");
  graph.setTileMapping(t, 0);
  const Program copy = Copy(t[0], t[1]);
  Sequence steps = copy;
  steps.add(WriteUndef(t));
  std::ostringstream text;
  dumpProgram(graph, steps, text);
  EXPECT_NE(text.str().find("Copy v0[0]"), std::string::npos) << text.str();
}

TEST(ArrayRef, ItsTypeIsDeduced) {
  const std::vector<std::size_t> sizes = {2, 3};
  const std::array<int, 2> numbers = {4, 5};
  const float plain[] = {6, 7, 8};
  static_assert(std::is_same_v<decltype(ArrayRef(sizes)), ArrayRef<std::size_t>>);
  static_assert(std::is_same_v<decltype(ArrayRef(numbers)), ArrayRef<int>>);
  static_assert(std::is_same_v<decltype(ArrayRef(plain)), ArrayRef<float>>);
  EXPECT_EQ(ArrayRef(sizes)[1], 3u);
  EXPECT_EQ(ArrayRef(plain).size(), 3u);
}

TEST(DebugContext, AStepBelowAContext) {
  const DebugContext outer("outer");
  const DebugContext inner = {outer, "inner"};
  EXPECT_EQ(inner.getPathName(), "outer/inner");
  const DebugContext two = {"a", "b"};  // a parent that is a name stays a DebugNameAndId
  EXPECT_EQ(two.getPathName(), "a/b");
  std::ostringstream text;
  text << inner;
  EXPECT_EQ(text.str(), "outer/inner");
}

TEST(Graph, TraceRunsWhatItIsGiven) {
  Graph graph(model());
  int runs = 0;
  graph.trace({"plan", "build"}, [&] { ++runs; });
  EXPECT_EQ(runs, 1);
}

}  // namespace
