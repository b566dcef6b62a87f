// What a run of several devices says of a step: recorder, replay, phases, the plan made of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/files/testing.h"
#include "ir/text/parse.h"
#include "ranks/testing.h"
#include "ranks/timeline/phases.h"
#include "ranks/timeline/plan_of_run.h"
#include "ranks/timeline/replay.h"

namespace pando::ranks {
namespace {

using ::testing::HasSubstr;

// A device whose steps take so many cycles of a microsecond.
struct Device {
  DeviceTimeline timeline{.texts = {"step", "compute"}, .clock_hz = 1e6};
  Device& step(std::uint64_t cycles, std::uint32_t stream = 0) {
    timeline.steps.push_back({0, 1, static_cast<std::uint32_t>(timeline.steps.size()), stream, cycles, 0, 0});
    return *this;
  }
  Device& message(std::uint32_t channel, bool sends, std::uint64_t number) {
    timeline.messages.push_back({channel, static_cast<std::uint32_t>(timeline.steps.size() - 1), number, sends, 0, 0});
    return *this;
  }
  Device& sends(std::uint64_t cycles, std::uint64_t number) { return step(cycles).message(0, true, number); }
  Device& receives(std::uint64_t cycles, std::uint64_t number) { return step(cycles).message(0, false, number); }
};

std::string times_of(const std::vector<ReplayedStep>& steps) {
  std::string out;
  for (const ReplayedStep& s : steps) out += fmt::format("{:.0f}-{:.0f} ", 1e6 * s.begin, 1e6 * s.end);
  return out;
}

std::vector<std::string> replayed(const Device& a, const Device& b, std::int64_t capacity) {
  std::vector<std::string> out;
  for (const auto& steps : replay({a.timeline, b.timeline}, {{.name = "x", .from = 0, .to = 1, .capacity = capacity}}))
    out.push_back(times_of(steps));
  return out;
}

TEST(Replay, AReceiverWaitsForItsMessage) {
  const Device a = Device().step(100).sends(10, 0).step(50), b = Device().step(20).receives(10, 0).step(5);
  EXPECT_EQ(replayed(a, b, 1), (std::vector<std::string>{"0-100 100-110 110-160 ", "0-20 110-120 120-125 "}));
}

TEST(Replay, ASenderThatIsFarAheadWaits) {
  const Device a = Device().sends(10, 0).sends(10, 1).sends(10, 2), b = Device().step(100).receives(10, 0).receives(10, 1).receives(10, 2);
  EXPECT_EQ(replayed(a, b, 1), (std::vector<std::string>{"0-10 110-120 130-140 ", "0-100 100-110 120-130 140-150 "}));
  EXPECT_EQ(replayed(a, b, 2), (std::vector<std::string>{"0-10 10-20 110-120 ", "0-100 100-110 110-120 120-130 "}));
  EXPECT_EQ(replayed(a, b, exec::kUnboundedChannel), (std::vector<std::string>{"0-10 10-20 20-30 ", "0-100 100-110 110-120 120-130 "}));
}

TEST(Replay, BothEndsOfARendezvousWait) {
  const Device a = Device().sends(10, 0).step(5), b = Device().step(100).receives(10, 0);
  EXPECT_EQ(replayed(a, b, 0), (std::vector<std::string>{"0-110 110-115 ", "0-100 100-110 "}));
}

TEST(Replay, StreamsRunBesideEachOtherAndWhatWasNotRecordedHoldsNothingUp) {
  const Device a = Device().step(100, 0).step(30, 1).step(10, 0), b = Device().step(10).receives(10, 7);
  EXPECT_EQ(replayed(a, b, 1), (std::vector<std::string>{"0-100 0-30 100-110 ", "0-10 10-20 "}));
}

TEST(Recorder, KeepsTheFirstStepWithTheHostsTimesOfTheLast) {
  Recorder r(3);
  r.done({"upload", "host", 0, 0, 50});
  for (const std::uint64_t begin : {50, 250}) {
    r.begin();
    r.done({"a", "compute", 3, 0, begin + 100});
    r.message(4, true, Recorder::now());
    r.done({"b", "host", 4, 0, begin + 200});
  }
  r.end();
  const DeviceTimeline t = r.take();
  ASSERT_EQ(t.steps.size(), 2u);
  EXPECT_EQ(t.texts[t.steps[1].name], "b");
  EXPECT_EQ(t.steps[0].cycles, 100u);
  EXPECT_EQ(t.steps[1].cycles, 100u);
  EXPECT_LE(t.steps[0].host_end, t.steps[1].host_end);
  ASSERT_EQ(t.messages.size(), 1u);
  EXPECT_EQ(t.messages[0].step, 1u);
  EXPECT_EQ(t.messages[0].number, 0u);
}

TEST(Recorder, CountsStepsThatItHasNoRoomFor) {
  Recorder r(1);
  r.begin();
  for (unsigned i = 0; i < 4; ++i) r.done({"a", "compute", i, 0, i});
  r.end();
  const DeviceTimeline t = r.take();
  EXPECT_EQ(t.steps.size(), 1u);
  EXPECT_EQ(t.steps_lost, 3u);
}

// Two stages that train: forward on both, the loss's gradient back.
constexpr const char* kTraining = R"(module
variable "x" input 0: Tensor[(2, 4), float32, 1]
variable "w0" input 1: Tensor[(4, 4), float32, 1]
variable "w1" input 2: Tensor[(4, 4), float32, 2]

graph main(x: Tensor[(2, 4), float32, 1], w0: Tensor[(4, 4), float32, 1], w1: Tensor[(4, 4), float32, 2]):
    y0: Tensor[(2, 4), float32, 1] = matmul(x, w0)
    a0: Tensor[(2, 4), float32, 2] = send(y0, device=2)
    y1: Tensor[(2, 4), float32, 2] = matmul(a0, w1)
    r: Tensor[(2, 4), float32, 2] = relu(y1)
    dy1: Tensor[(2, 4), float32, 2] = relu_grad(y1, r)
    (da: Tensor[(2, 4), float32, 2], dw1: Tensor[(4, 4), float32, 2]) = matmul_grad(a0, w1, dy1)
    dy0: Tensor[(2, 4), float32, 1] = send(da, device=1)
    (dx: Tensor[(2, 4), float32, 1], dw0: Tensor[(4, 4), float32, 1]) = matmul_grad(x, w0, dy0)
    v0: Tensor[(4, 4), float32, 1] = sub(w0, dw0)
    v1: Tensor[(4, 4), float32, 2] = sub(w1, dw1)
    return
    final w0 = v0
    final w1 = v1
)";

TEST(Phases, TheBackwardPassIsWhatDependsOnAGradient) {
  const Program program = split_program(ir::parse(kTraining), {});
  const auto phases = phases_of(program);
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0].at("y0"), "forward");
  EXPECT_EQ(phases[0].at("dw0"), "backward");
  EXPECT_EQ(phases[0].at("v0"), "update");
  EXPECT_EQ(phases[1].at("y1"), "forward");
  EXPECT_EQ(phases[1].at("da"), "backward");
}

struct PlanOfRun : pando::InFreshFolder {};

TEST_F(PlanOfRun, HasScheduleMessagesMemoryAndPlaces) {
  Data data;
  data.set_seed(1);
  const auto run = [&](unsigned ranks) {
    Options options{.steps = 2, .device = "ipu_model", .tiles_per_ipu = 4, .profile = (root / "run.pando").string()};
    return testing::run_on({split_program(ir::parse(kTraining), {})}, ranks, data, options).plan;
  };
  const profile::DevicePlan plan = run(1);
  ASSERT_EQ(plan.devices.size(), 2u);
  EXPECT_EQ(plan.devices[0].name, "device 1");
  EXPECT_GT(plan.devices[1].computing, 0);
  EXPECT_GT(plan.seconds, plan.devices[1].computing);
  std::set<std::string> kinds;
  for (const profile::PlanEvent& e : plan.events) {
    kinds.insert(plan.event_kinds[e.kind]);
    EXPECT_GT(e.bytes, 0);
    EXPECT_GE(e.host_seconds, 0);
  }
  for (const char* kind : {"forward", "backward", "update", "send", "receive"}) EXPECT_TRUE(kinds.contains(kind)) << kind;
  ASSERT_EQ(plan.messages.size(), 2u);
  EXPECT_EQ(plan.messages[0].from, 0u);
  EXPECT_EQ(plan.messages[0].to, 1u);
  EXPECT_EQ(plan.messages[0].bytes, 32u);
  EXPECT_LT(plan.messages[0].sent, plan.messages[0].received);
  EXPECT_LE(plan.messages[0].received, plan.messages[1].sent);
  const auto value = std::find_if(plan.values.begin(), plan.values.end(), [](const auto& v) { return v.name == "w1"; });
  ASSERT_NE(value, plan.values.end());
  EXPECT_EQ(value->devices, std::vector<std::uint32_t>{1});
  EXPECT_EQ(value->bytes, 64);
  EXPECT_THAT(plan.text, HasSubstr("bubbles"));
  // The machine's clock says the same for any number of ranks.
  const profile::DevicePlan ranks = run(2);
  ASSERT_EQ(ranks.events.size(), plan.events.size());
  for (std::size_t i = 0; i < plan.events.size(); ++i) {
    EXPECT_EQ(plan.events[i].begin, ranks.events[i].begin);
    EXPECT_EQ(plan.events[i].seconds, ranks.events[i].seconds);
  }
}

}  // namespace
}  // namespace pando::ranks
