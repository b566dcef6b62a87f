#include "ir/semantics/interpreter.h"
#include "pando/model_error.hpp"
#include "project/testing/testing.h"
#include "transform/distribute/parts.h"

#include <poplar/exceptions.hpp>

#include <limits>

namespace pando::project::testing {
namespace {

TEST(Project, TheNotesLoopUnderEachPolicy) {
  for (const std::string policy : {"strict", "delay", "stash", "2BW 4", "flush 4"}) {
    SCOPED_TRACE(policy);
    const Projected p = projected(note(), policy);
    const std::string text = print(p.program);
    expect_golden("note_" + policy.substr(0, policy.find(' ')), text);
    EXPECT_EQ(to_string(verify(p.program)), "");
    const ProjectedProgram again = parse(text);
    EXPECT_EQ(print(again), text);
    EXPECT_EQ(to_string(verify(again)), "");
    for (const std::int64_t samples : {1, 2, 3, 4, 8, 32}) {
      if (samples % p.program.policy.window != 0) continue;
      const RunResult wanted = run_reference(p.loop, p.lags, note_inputs(samples), samples);
      for (const std::int64_t capacity : {std::int64_t{0}, std::int64_t{1}, std::int64_t{3}, kUnbounded}) {
        const MachineOptions options{samples, capacity};
        EXPECT_EQ(differs_in_terms(p.program, p.loop, p.lags, options).value_or(""), "");
        EXPECT_EQ(run(p.program, note_inputs(samples), options), wanted) << samples << " samples, capacity " << capacity;
        EXPECT_EQ(run(again, note_inputs(samples), options), wanted) << "parsed, " << samples << " samples, capacity " << capacity;
      }
    }
  }
}

TEST(Project, SamplesThatNoHostHoldsAreRejected) {
  const Projected p = projected(note(), "strict");
  check_samples(p.program, 1000);
  EXPECT_THROW(check_samples(p.program, std::int64_t{1} << 40), poplar::poplar_error);
  EXPECT_THROW(check_samples(p.program, std::numeric_limits<std::int64_t>::max()), poplar::poplar_error);
  EXPECT_THROW(run(p.program, note_inputs(1), {std::int64_t{1} << 40, std::nullopt}), poplar::poplar_error);
}

// Of the loop's body, a loop of its own goes to the other device and back; the state that both read is updated at the end.
TEST(Project, LoopsOfTheBodyAreWrittenOutWhereTheyGoThroughSeveralDevices) {
  const std::string text = R"(module
stream 0 "x" to device: Tensor[(3), float32]
variable "v" input 0: Tensor[(3), float32, 0] = float32(3)[0.5, -0.25, 0.75]
variable "w" input 1: Tensor[(3), float32, 1] = float32(3)[1.0, 0.5, -0.5]

graph main(v: Tensor[(3), float32, 0], w: Tensor[(3), float32, 1]):
    x: Tensor[(3), float32] = host_load(stream=@stream0)
    y: Tensor[(3), float32, 0] = mul(v, x)
    z: Tensor[(3), float32, 0] = repeat(y, w, count=2) @round
    u: Tensor[(3), float32, 0] = sub(v, z)
    return
    final v = u

graph round(a: Tensor[(3), float32, 0], w: Tensor[(3), float32, 1]):
    there: Tensor[(3), float32, 1] = send(a, device=1)
    m: Tensor[(3), float32, 1] = mul(there, w)
    back: Tensor[(3), float32, 0] = send(m, device=0)
    b: Tensor[(3), float32, 0] = tanh(back)
    return b
)";
  for (const std::string policy : {"strict", "delay", "stash", "2BW 4", "flush 2"}) {
    const Projected p = projected(ir::parse(text), policy);
    EXPECT_EQ(p.program.devices.size(), 2u);
    EXPECT_EQ(to_string(verify(p.program)), "") << policy;
    const HostInputs inputs{{"x", slices(8, {3}, 5)}};
    for (const std::int64_t capacity : {std::int64_t{0}, std::int64_t{1}, kUnbounded}) {
      EXPECT_EQ(run(p.program, inputs, {8, capacity}), run_reference(p.loop, p.lags, inputs, 8)) << policy;
    }
  }
  // Under `strict` it is the sequential loop.
  const ir::Module whole = ir::parse(text);
  ir::Interpreter sequential(whole);
  const ir::HostTensor samples = slices(8, {3}, 5);
  for (std::int64_t i = 0; i < 8; ++i) {
    sequential.set_input(ir::HostStreamId(0), transform::part_of(samples, {i, 0}, {1, 3}).reshaped({1, 1, 3}));
    sequential.run();
  }
  const Projected p = projected(ir::parse(text), "strict");
  EXPECT_EQ(run(p.program, {{"x", slices(8, {3}, 5)}}, {8, 1}).states.at("v"), sequential.state(ir::StateId(0), 0));
}

TEST(Project, BranchesOnSeveralDevicesAreRejected) {
  const std::string text = R"(module
stream 0 "x" to device: Tensor[(3), float32]

graph main():
    x: Tensor[(3), float32, 0] = host_load(stream=@stream0)
    c: Tensor[(), bool, 0] = constant(data=bool()[1])
    y: Tensor[(3), float32, 0] = conditional(c, x) @yes @no
    return

graph yes(a: Tensor[(3), float32, 0]):
    there: Tensor[(3), float32, 1] = send(a, device=1)
    back: Tensor[(3), float32, 0] = send(there, device=0)
    return back

graph no(a: Tensor[(3), float32, 0]):
    return a
)";
  try {
    make_loop(ir::parse(text), parse_policy("strict"));
    ADD_FAILURE() << "accepted";
  } catch (const ModelError& e) { EXPECT_EQ(e.id(), "branch-on-several-devices") << e.what(); }
}

}  // namespace
}  // namespace pando::project::testing
