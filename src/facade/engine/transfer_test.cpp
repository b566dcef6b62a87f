// Transfers with a capacity (pando/transfer.hpp) as a user writes them, and the threads that engines of one device share.
#include "pando/transfer.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "poplar/DeviceManager.hpp"
#include "poplar/Engine.hpp"
#include "poplar/Graph.hpp"
#include "poplar/IPUModel.hpp"
#include "poplar/exceptions.hpp"

namespace {

using namespace poplar;
using poplar::program::Copy;
using poplar::program::Program;
using poplar::program::Repeat;
using poplar::program::Sequence;
using testing::ElementsAre;
using testing::HasSubstr;

Device model(unsigned ipus) {
  IPUModel m;
  m.numIPUs = ipus;
  m.tilesPerIPU = 4;
  return m.createDevice();
}

// A number goes round a ring of IPUs; each round every IPU passes on what it has.
TEST(Transfer, ARingOfIpusPassesOnWhatItHas) {
  for (const unsigned ipus : {2u, 3u, 4u})
    for (const unsigned capacity : {1u, 3u}) {
      const Device device = model(ipus);
      Graph graph(device);
      std::vector<Tensor> has;
      std::vector<pando::Channel> channels;
      for (unsigned i = 0; i < ipus; ++i) {
        has.push_back(graph.addVariable(INT, {2}, "has" + std::to_string(i)));
        graph.setTileMapping(has[i][0], 4 * i);
        graph.setTileMapping(has[i][1], 4 * i + 3);
        graph.setInitialValue(has[i], ArrayRef<int>{static_cast<int>(i), static_cast<int>(10 * i)});
        channels.push_back(pando::add_channel(graph, INT, 2, capacity, "ring" + std::to_string(i)));
      }
      Sequence round;
      for (unsigned i = 0; i < ipus; ++i) round.add(pando::send(channels[i], has[i]));
      for (unsigned i = 0; i < ipus; ++i) round.add(pando::receive(channels[i], has[(i + 1) % ipus]));
      graph.createHostRead("first", has[0]);
      for (const char* threads : {"1", "2", "4"}) {
        Engine engine(graph, Repeat(5, round), {{"pando.threads", threads}});
        engine.load(device);
        engine.run(0);
        int got[2] = {};
        engine.readTensor("first", got, got + 2);
        const int from = static_cast<int>((5 * ipus - 5) % ipus);
        EXPECT_THAT(got, ElementsAre(from, 10 * from)) << ipus << " IPUs, capacity " << capacity;
      }
    }
}

TEST(Transfer, ChannelsKnowTheirGraph) {
  const Device device = model(2);
  Graph graph(device), other(device);
  const Tensor x = graph.addVariable(FLOAT, {2}, "x");
  const pando::Channel channel = pando::add_channel(other, FLOAT, 2, 1, "other's");
  EXPECT_THROW(pando::send(channel, x), control_program_error);
  EXPECT_THROW(pando::receive(pando::Channel(), x), control_program_error);
  EXPECT_THROW(pando::add_channel(graph, FLOAT, 0, 1), graph_object_creation_error);
}

// A ring without slots: everybody sends first.
TEST(Transfer, ARingWithoutSlotsEndsWithAnError) {
  const Device device = model(2);
  Graph graph(device);
  const Tensor a = graph.addVariable(FLOAT, {1}, "a"), b = graph.addVariable(FLOAT, {1}, "b");
  graph.setTileMapping(a, 0);
  graph.setTileMapping(b, 4);
  graph.setInitialValue(a, 1.0f);
  graph.setInitialValue(b, 2.0f);
  const pando::Channel there = pando::add_channel(graph, FLOAT, 1, 0, "there"), back = pando::add_channel(graph, FLOAT, 1, 0, "back");
  Engine engine(graph, Sequence{pando::send(there, a), pando::send(back, b), pando::receive(there, b), pando::receive(back, a)});
  engine.load(device);
  try {
    engine.run(0);
    FAIL() << "no error";
  } catch (const control_program_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("to send through channel 'there', where 'ipu1.compute' does not come"));
  }
}

std::size_t threads_of_this_process() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator()));
}

TEST(Threads, EnginesOfOneDeviceShareThem) {
  const Device device = model(1);
  Graph graph(device);
  const Tensor a = graph.addVariable(FLOAT, {1024}, "a"), b = graph.addVariable(FLOAT, {1024}, "b");
  graph.setTileMapping(a, 0);
  graph.setTileMapping(b, 1);
  const std::size_t before = threads_of_this_process();
  std::vector<std::unique_ptr<Engine>> engines;
  for (int i = 0; i < 8; ++i) {
    engines.push_back(std::make_unique<Engine>(graph, Copy(a, b), OptionFlags{{"pando.threads", "3"}}));
    engines.back()->load(device);
    engines.back()->run(0);
  }
  // Two beside the caller, and who looks for vertices without an end.
  EXPECT_EQ(threads_of_this_process(), before + 3);
}

}  // namespace
