// An engine that runs: callbacks and other threads can stop it, and nothing else.
#include <gtest/gtest.h>
#include <pando/host.hpp>
#include <poplar/exceptions.hpp>
#include <pva/pva.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

class Calls : public StreamCallback {
 public:
  explicit Calls(std::function<void()> f) : f_(std::move(f)) {}
  void fetch(void*) override { f_(); }

 private:
  std::function<void()> f_;
};

class HostCalls : public HostCallback {
 public:
  explicit HostCalls(std::function<void()> f) : f_(std::move(f)) {}
  void operator()(ArrayRef<const void*>, ArrayRef<void*>) override { f_(); }

 private:
  std::function<void()> f_;
};

struct Row {
  const char* name;
  std::function<void(Engine&)> use;
};

// A program that repeats a host function and a stream, and one that does nothing.
struct Reentry : testing::TestWithParam<const char*> {
  Setting s;
  std::unique_ptr<Engine> engine;
  float block[8] = {};

  Reentry() {
    const Tensor x = s.variable(FLOAT, {4}, "x"), y = s.variable(FLOAT, {4}, "y", 3);
    s.graph.createHostWrite("x", x);
    s.graph.createHostRead("x", x);
    s.graph.addRemoteBuffer("far", FLOAT, 4, 2);
    const DataStream in = s.graph.addHostToDeviceFIFO("in", FLOAT, 4), other = s.graph.addHostToDeviceFIFO("other", FLOAT, 4);
    const HostFunction call = s.graph.addHostFunction("call", {}, {});
    engine = std::make_unique<Engine>(s.graph,
                                      ArrayRef<Program>({Repeat(3, Sequence({Call(call, {}, {}), Copy(in, x), Copy(x, y)})), Sequence(),
                                                         Copy(other, x), Repeat(~0u, Copy(x, y))}),
                                      OptionFlags{{"pando.threads", GetParam()}});
    engine->load(s.device);
    in_stream([] {});
    in_function([] {});
    engine->connectStream("other", block);
  }
  void in_stream(std::function<void()> f) {
    engine->connectStreamToCallback("in", std::unique_ptr<StreamCallback>(new Calls(std::move(f))));
  }
  void in_function(std::function<void()> f) {
    engine->connectHostFunction("call", 0, std::unique_ptr<HostCallback>(new HostCalls(std::move(f))));
  }

  std::vector<Row> rows() {
    return {
        {"run", [](Engine& e) { e.run(1); }},
        {"load", [this](Engine& e) { e.load(s.device); }},
        {"prepare", [this](Engine& e) { e.prepare(s.device); }},
        {"deploy", [](Engine& e) { e.deploy(); }},
        {"loadAndRun", [this](Engine& e) { e.loadAndRun(s.device, 1); }},
        {"connectStream", [this](Engine& e) { e.connectStream("other", block); }},
        {"connectStream of a range", [this](Engine& e) { e.connectStream("in", block, block + 8); }},
        {"connectStreamToCallback", [](Engine& e) { e.connectStreamToCallback("in", std::unique_ptr<StreamCallback>(new Calls([] {}))); }},
        {"connectHostFunction", [](Engine& e) { e.connectHostFunction("call", 0, std::unique_ptr<HostCallback>(new HostCalls([] {}))); }},
        {"writeTensor", [this](Engine& e) { e.writeTensor("x", block); }},
        {"readTensor", [this](Engine& e) { e.readTensor("x", block); }},
        {"copyToRemoteBuffer", [this](Engine& e) { e.copyToRemoteBuffer(static_cast<const void*>(block), "far", 0); }},
        {"copyFromRemoteBuffer", [this](Engine& e) { e.copyFromRemoteBuffer("far", static_cast<void*>(block), 0); }},
        {"setPrintStream", [](Engine& e) { e.setPrintStream(std::cerr); }},
        {"resetExecutionProfile", [](Engine& e) { e.resetExecutionProfile(); }},
        {"disableExecutionProfiling", [](Engine& e) { e.disableExecutionProfiling(); }},
        {"getReport", [](Engine& e) { e.getReport(); }},
        {"getExecutionProfile", [](Engine& e) { e.getExecutionProfile(); }},
        {"reset_tile", [](Engine& e) { pando::reset_tile(e, 0); }},
    };
  }
  // The text of what `f` throws.
  static std::string thrown_by(const std::function<void()>& f) {
    try {
      f();
    } catch (const poplar_error& e) { return e.what(); }
    return "nothing";
  }
};

TEST_P(Reentry, CallbacksMayNotUseTheirEngine) {
  for (const Row& row : rows()) {
    in_function([&] { row.use(*engine); });
    EXPECT_NE(thrown_by([&] { engine->run(0); }).find("[engine-running]"), std::string::npos) << row.name << " in a host function";
    in_function([] {});
    int caught = 0;
    in_stream([&] { caught += thrown_by([&] { row.use(*engine); }).find("[engine-running]") != std::string::npos; });
    EXPECT_NO_THROW(engine->run(0)) << row.name;
    EXPECT_GE(caught, 3) << row.name << " in a stream's callback";
    in_stream([] {});
  }
}

TEST_P(Reentry, OtherThreadsMayNotUseItWhileItRuns) {
  std::atomic<bool> is_running{false}, go_on{false};
  in_function([&] {
    is_running = true;
    while (!go_on) std::this_thread::yield();
  });
  std::thread runs([&] { engine->run(0); });
  while (!is_running) std::this_thread::yield();
  for (const Row& row : rows()) EXPECT_NE(thrown_by([&] { row.use(*engine); }).find("[engine-running]"), std::string::npos) << row.name;
  EXPECT_GT(engine->getTileClockFrequency(), 0);
  go_on = true;
  runs.join();
  engine->run(0);
}

TEST_P(Reentry, AnotherEngineMayRunInACallback) {
  Engine inner(s.graph, Sequence(), {{"pando.threads", GetParam()}});
  inner.load(s.device);
  int runs = 0;
  in_function([&] { inner.run(0), ++runs; });
  in_stream([&] { inner.run(0), ++runs; });
  engine->run(0);
  EXPECT_GE(runs, 6);
}

TEST_P(Reentry, ACallbackMayStopIt) {
  int calls = 0;
  in_function([&] { ++calls, engine->stop(); });
  engine->run(0);
  EXPECT_EQ(calls, 1);
}

TEST_P(Reentry, ACallbackMayDestroyIt) {
  Engine* const e = engine.get();
  in_function([this] { engine.reset(); });
  EXPECT_NE(thrown_by([&] { e->run(0); }).find("[engine-gone]"), std::string::npos);
}

TEST_P(Reentry, AssigningToItInACallbackIsDestroyingIt) {
  in_stream([&] { *engine = Engine(s.graph, Sequence()); });
  EXPECT_NE(thrown_by([&] { engine->run(0); }).find("[engine-gone]"), std::string::npos);
  engine->load(s.device);
  engine->run(0);
}

TEST_P(Reentry, AnotherThreadThatDestroysItWaitsForTheRunsEnd) {
  std::atomic<bool> ended{false};
  Engine* const e = engine.get();
  std::thread runs([&] {
    e->run(3);
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  const auto begin = std::chrono::steady_clock::now();
  engine.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  runs.join();
  EXPECT_TRUE(ended);
}

INSTANTIATE_TEST_SUITE_P(Threads, Reentry, testing::Values("1", "3"));

}  // namespace
}  // namespace api
