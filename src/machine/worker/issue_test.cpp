#include "machine/worker/issue.h"

#include <gmock/gmock.h>

#include <random>

namespace pando {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Issue issue(std::string_view name, std::vector<std::uint32_t> after = {}, bool late = false) {
  const WorkerInstruction* const row = find_worker_instruction(name);
  EXPECT_NE(row, nullptr) << name;
  return {row, std::move(after), late, 0, ""};
}

unsigned slots(const std::vector<Issue>& block) {
  const std::vector<Bundle> bundles = schedule(block);
  EXPECT_THAT(check_schedule(block, bundles), IsEmpty());
  return slots_of(bundles);
}

TEST(Issue, IndependentHalvesShareASlot) {
  EXPECT_EQ(slots({issue("ld32"), issue("f32add")}), 1u);
  EXPECT_EQ(slots({issue("ld32"), issue("f32add", {0})}), 2u);
  EXPECT_EQ(slots({issue("ld32"), issue("ld32"), issue("f32add", {0, 1}), issue("st32", {2})}), 4u);
  EXPECT_EQ(slots({}), 0u);
}

TEST(Issue, LongInstructionsKeepTheirWorker) { EXPECT_EQ(slots({issue("f32exp"), issue("f32add", {0})}), 4u); }

TEST(Issue, UpdatesAndControlComeLast) {
  EXPECT_EQ(slots({issue("f32add"), issue("add", {}, true), issue("brnzdec")}), 3u);
  EXPECT_EQ(slots({issue("brnz"), issue("f32add")}), 2u);
}

// The loop of a public compilation of a five-point stencil that reads two rows above and below: loads hide behind arithmetic.
TEST(Issue, LoadsHideBehindArithmetic) {
  std::vector<Issue> block;
  for (int i = 0; i < 5; ++i) block.push_back(issue("ld32"));
  for (std::uint32_t i = 0; i < 4; ++i) block.push_back(issue("f32add", {i == 0 ? 0 : 4 + i, i + 1}));
  EXPECT_EQ(slots(block), 6u);
}

TEST(Issue, TheCheckerSeesWhatIsWrong) {
  const std::vector<Issue> block = {issue("ld32"), issue("f32add", {0})};
  const auto messages = [&](std::vector<Bundle> bundles) { return testing::PrintToString(check_schedule(block, bundles)); };
  EXPECT_THAT(messages({{0, 1, 1}}), HasSubstr("1 reads 0 too early"));
  EXPECT_THAT(messages({{0, Bundle::kNone, 1}}), HasSubstr("instruction 1 (f32add) issues 0 times"));
  EXPECT_THAT(messages({{Bundle::kNone, 0, 1}, {1, Bundle::kNone, 1}}), HasSubstr("wrong half"));
  EXPECT_THAT(messages({{0, Bundle::kNone, 0}, {Bundle::kNone, 1, 1}}), HasSubstr("cut short"));
  EXPECT_THAT(messages({{}, {7, Bundle::kNone, 1}}), HasSubstr("instruction 7 of 2"));
}

TEST(Issue, RandomBlocksAreScheduledRight) {
  const unsigned seed = 20261126;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const auto all = worker_instructions();
  for (int round = 0; round < 300; ++round) {
    std::vector<Issue> block;
    unsigned in_order = 0;
    for (std::uint32_t i = 0, n = random() % 30; i < n; ++i) {
      const WorkerInstruction& row = all[random() % all.size()];
      if (row.ends_bundles) continue;
      Issue next{&row, {}, random() % 8 == 0, 0, ""};
      for (std::uint32_t k = 0; k < block.size(); ++k)
        if (random() % 4 == 0 && (next.late || !block[k].late)) next.after.push_back(k);
      in_order += row.slots;
      block.push_back(std::move(next));
    }
    EXPECT_LE(slots(block), in_order);
  }
}

TEST(Issue, RowsAreKnownByName) {
  for (const WorkerInstruction& row : worker_instructions()) EXPECT_EQ(find_worker_instruction(row.name), &row);
  EXPECT_EQ(find_worker_instruction("f32frobnicate"), nullptr);
  EXPECT_EQ(find_worker_instruction("f32ln")->slots, 6u);
}

}  // namespace
}  // namespace pando
