// Projected programs on ranks, against the runner of src/project.
#include "project/parts/pipeline.h"
#include "base/testing/places.h"

#include "ir/text/parse.h"
#include "project/project.h"
#include "project/running/run.h"
#include "project/text/print.h"
#include "ranks/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

namespace pando::ranks {
namespace {

using namespace ir;
using namespace pando::project;
using ::testing::HasSubstr;

std::string note() {
  std::ifstream in(source_path("tests/golden/project/note.txt"));
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

HostTensor fractions(Shape shape, double by) {
  HostTensor t(DType::float32, shape);
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, std::sin(by * static_cast<double>(i)));
  return t;
}

TEST(Pipeline, equals_the_reference_of_each_policy_with_every_capacity_and_number_of_ranks) {
  constexpr std::int64_t kSamples = 12;
  const HostInputs inputs{{"x", fractions({kSamples, 3, 3}, 0.7)}, {"l", fractions({kSamples, 3, 3}, 1.3)}};
  Data data;
  for (const auto& [name, t] : inputs) data.add_array(name, t);
  for (const char* policy : {"strict", "delay", "stash", "2BW 2", "flush 4"}) {
    const LoopProgram loop = make_loop(ir::parse(note()), parse_policy(policy));
    const ProjectedProgram projected = project::project(loop);
    const RunResult reference = project::run(projected, inputs, {kSamples, std::nullopt});
    std::vector<Result> results;
    for (std::int64_t capacity : {0, 1, 2}) {
      for (unsigned ranks : {1u, 2u}) {
        const Program p = read_pipeline(project::print(projected), "text", kSamples, {.capacity = capacity, .capacities = {}}, true);
        results.push_back(testing::run_on({p}, ranks, data, {}));
        EXPECT_EQ(testing::differences(results[0], results.back()), "") << policy << ", capacity " << capacity << ", " << ranks << " ranks";
      }
    }
    Result wanted;
    for (const auto& [name, t] : reference.states) wanted.variables.emplace_back(name, t);
    EXPECT_LT(testing::distance(wanted, results[0]), 1e-4) << policy;
  }
}

TEST(Pipeline, a_loop_is_rolled_and_a_rule_that_is_broken_is_named) {
  const auto text_of = [](const char* policy) {
    return project::print(project::project(make_loop(ir::parse(note()), parse_policy(policy))));
  };
  for (const char* policy : {"strict", "delay", "stash", "2BW 2", "flush 4"}) {
    const auto ops = [text = text_of(policy)](std::int64_t samples) {
      return read_pipeline(text, "text", samples, {}, false).parts[0].module.op_count();
    };
    EXPECT_EQ(ops(100), ops(1000)) << policy;
  }
  const std::string text = text_of("delay");
  EXPECT_THROW(read_pipeline(text, "text", 0, {}, false), std::exception);
  std::string broken = text;
  const std::size_t copies = broken.find(" x 2\n");
  ASSERT_NE(copies, std::string::npos);
  broken.erase(copies, 4);
  while (broken.find("a[t % 2]") != std::string::npos) broken.replace(broken.find("a[t % 2]"), 8, "a");
  while (broken.find("a[(t - 1) % 2]") != std::string::npos) broken.replace(broken.find("a[(t - 1) % 2]"), 14, "a");
  try {
    read_pipeline(broken, "text", 5, {}, false);
    ADD_FAILURE() << "accepted";
  } catch (const std::exception& e) { EXPECT_THAT(e.what(), HasSubstr("C2-overwritten")); }
}

}  // namespace
}  // namespace pando::ranks
