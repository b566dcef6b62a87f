// Golden texts of all axes: tests/golden/axis/NAME.txt is for the axis of NAME.cpp. Its first lines are strategies, written by hand:
//
//     gpt3-13b selene 64: t=8 p=2      a transformer, a machine, the samples of a step
//     program: tensor=2                a small GPT and its training step
//
// What the row says, which values spaces have, and what is answered to each strategy follows after the line "# answers", written by
// PANDO_BLESS=1 build/bin/test_search --gtest_filter='*Axes*'. An axis without a file fails.
#include "base/testing/golden.h"
#include "ir/op_row.h"
#include "models/gpt.h"
#include "pando/model_error.hpp"
#include "search/axis.h"
#include "search/programs/bridge.h"
#include "search/programs/program_space.h"
#include "search/search.h"
#include "transform/distribute/parallelise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <poplar/exceptions.hpp>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

namespace pando::search {

#define X(name) Axis axis_##name();
#include "axis_manifest.inc"
#undef X

namespace {

constexpr std::string_view kAnswers = "# answers\n";

struct NamedAxis {
  std::string name;
  Axis (*make)();
};
const NamedAxis kAxes[] = {
#define X(name) {#name, axis_##name},
#include "axis_manifest.inc"
#undef X
};

std::string file_of(const std::string& name) { return "axis/" + name + ".txt"; }

transform::Program step_of_a_gpt() {
  models::Gpt g{.layers = 2, .heads = 4, .width = 32, .vocabulary = 32, .sequence = 8, .batch = 8};
  g.experts = 2;
  g.optimizer.kind = models::Optimizer::adam;
  return models::build_gpt(g);
}

std::string described(const Axis& a) {
  std::string text = fmt::format("{}\n", a.doc);
  for (const std::string_view line : {a.trainers, a.outside, a.program.doc}) {
    if (!line.empty()) text += fmt::format("{}\n", line);
  }
  return text;
}

// The values of a prediction's spaces: of 16 devices and 64 samples, after three choices of other axes.
std::string predicted_values(const Axis& a, const std::string& question) {
  if (a.get == nullptr) return "";
  std::string text, model_name, machine;
  std::istringstream(question) >> model_name >> machine;
  const Transformer model = transformer_named(model_name);
  const simulate::Cluster& cluster = simulate::cluster_named(machine);
  for (const Reach reach : {Reach::calculon, Reach::trainers, Reach::everything}) {
    Space space{16, 64, reach, 0, ""};
    space.recompute_sets = 2;
    const StrategyFacts sizes{model, cluster, space.batch};
    for (const char* words : {"t=2 d=8", "t=2 p=2 d=4 zero=1", "t=2 p=4 d=2 recompute=full comm=sequence-parallel"}) {
      const SpaceFacts facts{.space = space, .sizes = &sizes};
      Values values;
      add_values(a, facts, parse_strategy(words, Spelling::brief), values);
      std::vector<std::string> said;
      for (const std::int64_t v : values) said.push_back(a.flag ? std::to_string(v) : text_of(a, v));
      text += fmt::format("space {}, {}: {}\n", name_of(reach), words, fmt::join(said, " "));
    }
  }
  return text;
}

// By word of an axis and its value, the points of a space.
using Points = std::map<std::string, std::map<std::string, std::size_t>>;

// Of programs on 4 devices, two in each of two nodes.
Points points_of(const transform::Program& program, Space space) {
  const simulate::Cluster& cluster = simulate::cluster_named("h100");
  const simulate::ClusterCostModel costs(cluster);
  space.devices = 4, space.first_device = 6, space.most_microbatches = 2;
  Points points;
  for (const ProgramGroup& g : program_groups(facts_of(program, costs, cluster, space))) {
    for (const Strategy& s : g.points) {
      std::istringstream words(to_string(s, Spelling::whole));
      for (std::string word; words >> word;) ++points[word.substr(0, word.find('='))][word];
      ++points["all"]["all"];
    }
  }
  return points;
}

std::string values_of_programs(const Axis& a, const transform::Program& program) {
  if (a.program.position == 0) return "";
  if (a.program.nesting == 0) return "no space of programs has it\n";
  static const Points tried = points_of(program, {.reach = Reach::trainers, .cuts = 1}),
                      demanded = points_of(program, {.reach = Reach::everything, .require = "pipeline=2 tensor=2 schedule=ZB-H1"});
  std::string text;
  for (const auto& [name, points] :
       {std::pair{"4 devices", &tried}, std::pair{"everything, pipeline=2 tensor=2 schedule=ZB-H1", &demanded}}) {
    text += fmt::format("programs, {}:", name);
    std::size_t rest = points->at("all").at("all");
    if (const auto found = points->find(std::string(a.word)); found != points->end()) {
      for (const auto& [value, n] : found->second) text += fmt::format(" {} x {},", n, value), rest -= n;
    }
    text += fmt::format(" {} without\n", rest);
  }
  return text;
}

std::string said_of_a_prediction(const Transformer& model, const std::string& machine, std::int64_t batch, const std::string& words) {
  const StrategyFacts facts{model, simulate::cluster_named(machine), batch};
  const Strategy s = parse_strategy(words, Spelling::brief);
  std::string text = fmt::format("  {}\n", to_string(s, Spelling::brief));
  if (const Violation v = first_violation(facts, s)) return text + fmt::format("  {}: {}\n", v.rule, v.message);
  const Estimate e = estimate(facts, s);
  text += fmt::format("  {:.4g} s, {:.4g} GiB, {:.4g} GiB of the second memory\n", e.seconds, e.memory_bytes() / kGib, e.far_bytes / kGib);
  if (const auto missing = missing_of(s); !missing.empty()) return text + fmt::format("  missing: {}\n", fmt::join(missing, "; "));
  return text + fmt::format("  {}\n", to_options(transforms_of(facts, s)));
}

// Ops of all devices by name, and bytes of the first device.
std::string said_of_a_program(const transform::Program& program, const std::string& words) {
  const Strategy s = parse_strategy(words, Spelling::whole);
  std::string text = fmt::format("  {}\n  {}\n", to_string(s, Spelling::whole), to_options(s));
  const transform::Distributed d = transform::parallelise(program, s);
  const ir::Module& m = d.module;
  std::map<std::string_view, std::size_t> ops;
  std::map<std::int32_t, std::int64_t> bytes;
  const ir::Graph& main = m.graph(m.main_graph());
  for (const ir::OpId o : main.ops) ++ops[m.row(o).name];
  for (const ir::ValueId v : main.inputs) bytes[m.type_of(v).place.device.value] += m.types().bytes_of(m.value(v).type);
  std::vector<std::string> counts;
  for (const auto& [name, n] : ops) counts.push_back(fmt::format("{} {}", n, name));
  text += fmt::format("  {}\n  bytes of inputs:", fmt::join(counts, ", "));
  for (const auto& [device, n] : bytes) text += fmt::format(" {} on {},", n, device);
  text.back() = '\n';
  for (const std::string& line : transform::to_lines(d.whole)) text += "  " + line + "\n";
  return text;
}

std::string answer(const transform::Program& program, const std::string& question) {
  const std::size_t colon = question.find(": ");
  if (colon == std::string::npos) throw std::runtime_error("no ': ' in '" + question + "'");
  const std::string words = question.substr(colon + 2);
  std::istringstream head(question.substr(0, colon));
  std::string model, machine;
  std::int64_t batch = 0;
  head >> model >> machine >> batch;
  try {
    if (model == "program") return said_of_a_program(program, words);
    return said_of_a_prediction(transformer_named(model), machine, batch, words);
  } catch (const std::exception& e) { return fmt::format("  {}\n", e.what()); }
}

class Axes : public testing::TestWithParam<NamedAxis> {};

TEST_P(Axes, SayAndDo) {
  const std::string golden = read_golden(file_of(GetParam().name)), questions = golden.substr(0, golden.find(kAnswers));
  ASSERT_FALSE(questions.empty()) << file_of(GetParam().name) << " has strategies in its first lines (" << __FILE__ << ")";
  static const transform::Program program = step_of_a_gpt();
  const Axis a = GetParam().make();
  std::string text = described(a) + predicted_values(a, questions) + values_of_programs(a, program);
  std::istringstream lines(questions);
  for (std::string line; std::getline(lines, line);) text += line + "\n" + answer(program, line);
  expect_golden(file_of(GetParam().name), questions + std::string(kAnswers) + text);
}

INSTANTIATE_TEST_SUITE_P(All, Axes, testing::ValuesIn(kAxes), [](const auto& of) { return of.param.name; });

TEST(AxisTexts, AreOfAxes) {
  std::set<std::string> names;
  for (const NamedAxis& a : kAxes) names.insert(a.name + ".txt");
  for (const auto& file : std::filesystem::directory_iterator(golden_path("axis")))
    EXPECT_TRUE(names.contains(file.path().filename())) << file.path() << " belongs to no file of src/search/axes";
}

}  // namespace
}  // namespace pando::search
