// What plans spare: on tiles a session plans for the host's time, or, if it is told, for the machine's cycles.
#include "session/session.h"

#include "ir/text/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace pando::session {
namespace {

using namespace ir;

// A product, and sums of its rows.
constexpr const char* kProgram = R"(module
stream 0 "y" to host: Tensor[(512), float32]
variable "x" input 0: Tensor[(512, 512), float32]
variable "w" input 1: Tensor[(512, 512), float32]

graph main(x: Tensor[(512, 512), float32], w: Tensor[(512, 512), float32]):
    p: Tensor[(512, 512), float32] = matmul(x, w)
    s: Tensor[(512), float32] = sum(p, axis=[1], keepdims=false)
    host_store(s, stream=@stream0)
    return
)";

struct Outcome {
  std::uint64_t cycles = 0;
  std::string summary;
  HostTensor y;
};

Outcome run(const std::string& objective, std::int64_t threads, const std::string& report = {}) {
  Module m = parse(kProgram);
  for (std::uint32_t s = 0; s < 2; ++s) {
    State& state = m.state(StateId(s));
    HostTensor data(DType::float32, m.type(state.type).shape);
    for (std::int64_t i = 0; i < data.elements(); ++i) data.set(i, static_cast<double>(i * 37 % 7 - 3));  // sums are exact
    state.data = m.add_blob(std::move(data));
  }
  Options o;
  o.tiles_per_ipu = 256;
  if (!report.empty()) o.engine = {{"autoReport.outputExecutionProfile", "true"}, {"autoReport.directory", report}};
  if (!objective.empty()) o.engine["pando.planObjective"] = objective;
  o.engine["pando.threads"] = std::to_string(threads);
  Session session(std::move(m), o);
  session.attach();
  session.weights_from_host();
  session.reset_cycles();
  Outcome out;
  out.y = HostTensor(DType::float32, {1, 1, 512});
  const OutputData to{HostStreamId(0), out.y.writable(), 1};
  session.run({}, {&to, 1});
  out.cycles = session.cycles();
  out.summary = session.profile_summary();
  return out;
}

TEST(PlanObjective, plans_for_cycles_take_fewer_and_the_report_says_which) {
  const Outcome host = run("", 1), cycles = run("cycles", 1), told = run("hostTime", 2);
  EXPECT_LT(cycles.cycles, host.cycles);
  EXPECT_EQ(told.cycles, host.cycles);
  EXPECT_EQ(cycles.y, host.y);
  EXPECT_EQ(run("cycles", 2).y, cycles.y);
  EXPECT_THAT(host.summary, testing::HasSubstr("Plans spare this host's time (pando.planObjective: hostTime)"));
  EXPECT_THAT(cycles.summary, testing::HasSubstr("Plans spare the machine's cycles (pando.planObjective: cycles)"));
  EXPECT_ANY_THROW(run("time", 1));
  EXPECT_EQ(run("auto", 1).cycles, host.cycles);
}

TEST(PlanObjective, runs_that_are_reported_plan_for_cycles_unless_told) {
  const std::string folder = testing::TempDir() + "pando_objective";
  const Outcome plain = run("", 1), reported = run("", 1, folder);
  EXPECT_LT(reported.cycles, plain.cycles);
  EXPECT_EQ(reported.y, plain.y);
  EXPECT_THAT(reported.summary, testing::HasSubstr("pando.planObjective: cycles"));
  EXPECT_EQ(run("hostTime", 1, folder).cycles, plain.cycles);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace pando::session
