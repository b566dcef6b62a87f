#include "project/testing.h"

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

}  // namespace
}  // namespace pando::project::testing
