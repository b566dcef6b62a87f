// Codelets that fault, or that do not end: the run ends with an error that says where, and the engine can be loaded again.
#include <gtest/gtest.h>
#include <poplar/exceptions.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "setting.h"

namespace api {
namespace {

using namespace poplar;
using namespace poplar::program;

// 24 vertices, six on each tile; vertex 13 is faulty in the way that `kind` says.
struct Faults : Setting {
  explicit Faults(int kind, const char* type = "Faulty", const char* threads = "1", const char* flags = "") : threads(threads) {
    graph.addCodelets(codelet_file("faults.cpp"), CodeletFileType::Auto, flags);
    const Tensor x = graph.addVariable(INT, {24, 3}, "x"), y = graph.addVariable(INT, {24, 3}, "y");
    for (unsigned i = 0; i < 24; ++i) {
      graph.setTileMapping(x[i], 3 - i / 6);
      graph.setTileMapping(y[i], i / 6);
      const VertexRef v = graph.addVertex(set, type, {{"x", x[i]}, {"y", y[i]}, {"kind", i == 13 ? kind : 0}});
      graph.setTileMapping(v, i / 6);
    }
    graph.createHostWrite("x", x);
    graph.createHostRead("y", y);
    program.add(Execute(set));
  }
  Engine engine() { return Engine(graph, {program, Sequence()}, {{"pando.threads", threads}}); }

  std::string message() {
    Engine e = engine();
    e.load(device);
    std::string text;
    try {
      e.run(0);
      return "nothing";
    } catch (const application_runtime_error& error) { text = error.what(); }
    return text;
  }
  const char* threads;
};

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}

TEST(FaultsOfCodelets, SayWhereTheyWere) {
  const std::string place = "vertex 13 (Faulty) on tile 2, in compute set 'work' (step c0)";
  for (const char* threads : {"1", "4"}) {
    expect_parts(Faults(1, "Faulty", threads).message(), {place, "used the address 0x10", "[vertex-fault]"});
    expect_parts(Faults(2, "Faulty", threads).message(), {place, "divided by zero"});
    expect_parts(Faults(3, "Faulty", threads).message(), {place, "illegal instruction"});
    expect_parts(Faults(4, "Faulty", threads).message(), {"out of luck (left " + place, "[vertex-exception]"});
    expect_parts(Faults(5, "Faulty", threads).message(), {place, "used the address"});
    expect_parts(Faults(7, "Faulty", threads).message(), {"no std::exception (left " + place});
    expect_parts(Faults(8, "Faulty", threads).message(), {place, "used the address 0x40"});
    expect_parts(Faults(9, "Faulty", threads).message(),
                 {place, "called abort(): ", "faults.cpp:", "Assertion `kind != 9' failed.", "[vertex-fault]"});
    expect_parts(Faults(10, "Faulty", threads).message(), {place, "called abort(); load the engine again"});
    expect_parts(Faults(1, "FaultyHere", threads).message(), {"vertex 13 (FaultyHere) on tile 2", "used the address 0x10"});
  }
}

TEST(FaultsOfCodelets, NameTheSourceLine) {
  expect_parts(Faults(1, "Faulty", "1", "-g").message(), {"faults.cpp:26; load"});
  EXPECT_EQ(Faults(1).message().find("faults.cpp"), std::string::npos);
}

TEST(FaultsOfCodelets, TheEngineCanBeLoadedAgain) {
  Faults bad(1, "Faulty", "2"), good(0, "Faulty", "2");
  Engine broken = bad.engine(), whole = good.engine();
  std::vector<int> x(72, 21), y(72);
  for (int round = 0; round < 20; ++round) {
    broken.load(bad.device);
    EXPECT_THROW(broken.run(0), application_runtime_error);
    try {
      broken.run(1);
      ADD_FAILURE() << "it runs on";
    } catch (const application_runtime_error& error) { expect_parts(error.what(), {"load the engine again"}); }
    broken.load(bad.device);
    broken.run(1);
    whole.load(good.device);
    whole.writeTensor("x", x.data(), x.data() + 72);
    whole.run(0);
    whole.readTensor("y", y.data(), y.data() + 72);
    EXPECT_EQ(y, std::vector<int>(72, 42));
  }
}

// What comes from outside, and abort() of the host's own code, end the process as ever.
TEST(FaultsOfCodelets, AbortOfTheHostEndsTheProcess) {
  EXPECT_EXIT(
      {
        Faults s(10);
        s.message();
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(
      {
        Faults s(9);
        s.message();
        std::raise(SIGABRT);
      },
      testing::KilledBySignal(SIGABRT), "");
}

// An exception that leaves compute() leaves the program as it was, but for that vertex.
TEST(FaultsOfCodelets, AfterAnExceptionAnotherProgramRuns) {
  Faults s(4);
  Engine e = s.engine();
  e.load(s.device);
  EXPECT_THROW(e.run(0), application_runtime_error);
  e.run(1);
}

// While it goes on: who waits hears which one it is.
TEST(FaultsOfCodelets, AVertexThatDoesNotEndIsNamed) {
  Faults s(6, "Faulty", "2");
  Engine e(s.graph, {s.program}, {{"pando.threads", "2"}, {"pando.vertexSeconds", "1"}});
  e.load(s.device);
  testing::internal::CaptureStderr();
  std::thread runs([&] { EXPECT_THROW(e.run(0), application_runtime_error); });
  std::this_thread::sleep_for(std::chrono::milliseconds(4500));
  e.stop();
  runs.join();
  const std::string text = testing::internal::GetCapturedStderr(),
                    said = "pando: vertex 13 (Faulty) on tile 2, in compute set 'work' (step c0) has not ended for";
  expect_parts(text, {said + " 1 s; Engine::stop()", said + " 2 s"});
}

TEST(FaultsOfCodelets, AVertexThatDoesNotEndIsStopped) {
  for (const char* threads : {"1", "3"}) {
    Faults s(6, "Faulty", threads);
    Engine e = s.engine();
    e.load(s.device);
    std::string text;
    std::thread runs([&] {
      try {
        e.run(0);
      } catch (const application_runtime_error& error) { text = error.what(); }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto begin = std::chrono::steady_clock::now();
    e.stop();
    runs.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    expect_parts(text, {"vertex 13 (Faulty) on tile 2", "did not end", "[vertex-stopped]"});
    e.load(s.device);
    e.run(1);
  }
}

}  // namespace
}  // namespace api
