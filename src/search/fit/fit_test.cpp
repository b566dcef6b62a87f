#include "search/fit/fit.h"

#include "search/fit/stack_json.h"
#include "search/shapes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

namespace pando::search {
namespace {

using testing::HasSubstr;

TimedSteps read(const std::string& text, const std::string& words = "") {
  return timed_steps(simulate::Csv::read(text, "steps.csv"), "steps.csv", simulate::cluster_named("h100"), words);
}

// Rows whose seconds come from known constants give these back, and rows that are left out are met, too.
TEST(Fit, FindsConstants) {
  std::string text = "model,seq,tp,pp,dp,microbatch_size,global_batch,recompute,step_s\n";
  TimedSteps steps;
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  for (const char* row : {"llama3-8b,8192,1,1,8,1,64,full", "llama3-8b,8192,2,1,4,1,64,none", "llama3-8b,4096,2,4,1,2,64,selective",
                          "gpt3-xl,2048,1,1,8,4,256,none", "gpt3-xl,2048,4,1,2,1,64,none", "gpt3-13b,2048,2,4,2,1,64,full"})
    text += std::string(row) + ",1\n";
  steps = read(text);
  ASSERT_EQ(steps.rows.size(), 6u);
  Stack known = stack_named("megatron");
  known.pace = 0.8;
  known.op_seconds = {{"h100", 4e-5}};
  const simulate::Cluster c = with_stack(h100, known);
  for (TimedStep& r : steps.rows) r.seconds = estimate(facts_of(r.model, c, r.batch), r.strategy).seconds;
  const Fit fit = fit_stack(steps.rows, h100, stack_named("megatron"));
  EXPECT_NEAR(fit.stack.pace, 0.8, 0.01);
  EXPECT_LT(fit.fitted(), 0.01);
  EXPECT_LT(fit.left_out(), 0.02);
  EXPECT_GT(fit.before(), 0.1);
  EXPECT_FALSE(fit.stack.waits);
  const std::string said = to_text(fit, h100);
  EXPECT_THAT(said, testing::Not(HasSubstr("more than the machine reaches")));
  EXPECT_THAT(said, testing::Not(HasSubstr("agree on no constants")));
  // As a file and back.
  const Stack again = stack_from_json(to_json(fit.stack), "mine.json");
  EXPECT_EQ(with_stack(h100, again), with_stack(h100, fit.stack));
}

TEST(Fit, FewRows) {
  const TimedSteps one = read("model,seq,gpus,global_batch,step_s\nllama3-8b,8192,8,64,20\n");
  const Fit fit = fit_stack(one.rows, simulate::cluster_named("h100"), stack_named("megatron"));
  EXPECT_TRUE(fit.pace_alone);
  EXPECT_NEAR(fit.rows[0].fitted, 20, 0.2);
  EXPECT_EQ(fit.rows[0].left_out, 0);
  EXPECT_THROW(fit_stack({}, simulate::cluster_named("h100"), stack_named("megatron")), poplar::poplar_error);
}

TEST(Fit, SaysWhatCannotBe) {
  const simulate::Cluster& h100 = simulate::cluster_named("h100");
  const auto text = [&](const std::string& rows) {
    return to_text(fit_stack(read("model,strategy,global_batch,step_s\n" + rows).rows, h100, stack_named("megatron")), h100);
  };
  EXPECT_THAT(text("llama3-8b,d=8,32,1.5\n"), HasSubstr(" is more than the machine reaches: are model, samples, devices and seconds"));
  EXPECT_THAT(text("llama3-8b,t=2 p=2 d=2 zero=1,32,4.5\nllama3-8b,t=8 comm=sequence-parallel,32,4.1\n"
                   "llama3-8b,t=4 d=2 zero=1 comm=sequence-parallel,32,3.9\nllama3-8b,t=2 p=4,32,4.9\n"),
              HasSubstr("these rows agree on no constants, so predict without them"));
}

TEST(TimedSteps, Columns) {
  const TimedSteps s = read(
      "layers,hidden_size,num_attention_heads,seq_length,strategy,devices,batch,tokens_per_s_per_gpu_measured\n"
      "32,4096,32,2048,\"t=2 p=2 d=2 b=1\",8,64,4000\n"
      "32,4096,32,2048,--tensor-model-parallel-size 2 --micro-batch-size 1,8,64,4000\n");
  ASSERT_EQ(s.rows.size(), 2u);
  EXPECT_DOUBLE_EQ(s.rows[0].seconds, 64.0 * 2048 / 8 / 4000);
  EXPECT_EQ(s.rows[1].strategy.data, 4);
  // What breaks a rule is left out, with its line.
  const TimedSteps broken = read("model,seq,tp,dp,global_batch,step_s\nllama3-8b,8192,7,1,7,3\n");
  EXPECT_TRUE(broken.rows.empty());
  EXPECT_THAT(broken.left_out.at(0), HasSubstr("line 2: "));
  EXPECT_THAT(broken.left_out.at(0), HasSubstr("32 heads do not divide over t=7"));
}

TEST(TimedSteps, Messages) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      read(text);
    } catch (const poplar::poplar_error& e) { return e.what(); }
    return "taken";
  };
  EXPECT_THAT(message("model,step_s\n"), HasSubstr("steps.csv: it has no rows"));
  EXPECT_THAT(message("gpus,step_s\n8,1\n"), HasSubstr("no column says what ran"));
  EXPECT_THAT(message("model,gpus\nllama3-8b,8\n"), HasSubstr("no column says how long a step took"));
  EXPECT_THAT(message("model,gpus,step_s\nllama3-8b,8,1\n"), HasSubstr("steps.csv:2"));
  EXPECT_THAT(message("model,gpus,global_batch,step_s\nllama9,8,64,1\n"), HasSubstr("llama9"));
  EXPECT_THAT(message("model,seq,gpus,global_batch,step_s\nllama3-8b,8192,8,64,-1\n"), HasSubstr("a positive number is expected"));
  EXPECT_THAT(message("model,seq,gpus,global_batch,step_s\nllama3-8b,8192,8,64,fast\n"), HasSubstr("'fast' is not a number"));
  EXPECT_THAT(message("model,seq,tp,gpus,global_batch,step_s\nllama3-8b,8192,3,8,64,1\n"), HasSubstr("8 devices do not divide over t=3"));
  EXPECT_THAT(message("model,seq,gpus,global_batch,recompute,step_s\nllama3-8b,8192,8,64,some,1\n"), HasSubstr("some"));
}

TEST(StackFile, Messages) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      stack_from_json(text, "s.json");
    } catch (const poplar::poplar_error& e) { return e.what(); }
    return "taken";
  };
  EXPECT_THAT(message("{"), HasSubstr("s.json: it is not JSON"));
  EXPECT_THAT(message("{\"name\": \"a\", \"pase\": 1}"), HasSubstr("no member 'pase'; the nearest is 'pace'"));
  EXPECT_THAT(message("{\"pace\": 1}"), HasSubstr("'name' is missing"));
  EXPECT_THAT(message("{\"name\": \"a\", \"pace\": 0}"), HasSubstr("'pace' is 0"));
  EXPECT_THAT(message("{\"name\": \"a\", \"op_seconds\": {\"h100\": \"slow\"}}"), HasSubstr("op_seconds of h100"));
  EXPECT_THAT(message("{\"name\": \"a\", \"microbatch_seconds\": 1}"), HasSubstr("'microbatch_seconds' is an object"));
  EXPECT_THAT(message("{\"name\": \"a\", \"unfused\": [\"rms_norm\"]}"), HasSubstr("'unfused' is an object: ops and their two factors"));
  EXPECT_THAT(message("{\"name\": \"a\", \"unfused\": {\"rms_norm\": [9]}}"), HasSubstr("'unfused of rms_norm' is [9]; two numbers"));
  EXPECT_THAT(message("{\"name\": \"a\", \"unfused\": {\"rms_norm\": [9, -1]}}"), HasSubstr("'unfused of rms_norm' is -1"));
  EXPECT_THAT(message("{\"name\": \"a\", \"stops_early\": 1}"), HasSubstr("'stops_early' is 1; true or false is expected"));
  EXPECT_EQ(message("{\"name\": \"a\"}"), "taken");
}

TEST(StackFile, EveryStackIsReadAsItIsWritten) {
  for (const Stack& s : stacks()) {
    const simulate::Cluster machine = simulate::cluster_named("a100-80");
    EXPECT_EQ(to_json(stack_from_json(to_json(s), "s.json")), to_json(s)) << s.name;
    EXPECT_EQ(with_stack(machine, stack_from_json(to_json(s), "s.json")), with_stack(machine, s)) << s.name;
  }
}

}  // namespace
}  // namespace pando::search
