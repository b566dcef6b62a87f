#include "profile/question.h"
#include "base/testing/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <utility>

#include "poplar/exceptions.hpp"
#include "profile/advice.h"
#include "profile/compare.h"
#include "profile/example_report.h"
#include "profile/export.h"
#include "profile/facts.h"
#include "profile/file/container.h"

namespace pando::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string argument_of(const QuestionRow& q) {
  if (q.argument == "CODELET") return "=Add";
  return q.argument == "STEP" ? "=2" : q.argument == "DEPTH" || q.argument.empty() ? "" : "=0";
}

TEST(Questions, EachAnswersFullAndEmptyReports) {
  Report empty, one = example_report();
  empty.target.tiles = 0;
  for (const QuestionRow* q : questions()) {
    SCOPED_TRACE(q->name);
    const Json answer = ask(one, std::string(q->name) + argument_of(*q), 10);
    ASSERT_TRUE(answer["rows"].is_array());
    EXPECT_NE(answer_text(answer), "");
    try {
      EXPECT_TRUE(ask(empty, std::string(q->name), 10)["rows"].is_array());
    } catch (const poplar::invalid_option&) { EXPECT_NE(q->argument, ""); }
  }
}

TEST(Questions, TheMapOfATile) {
  EXPECT_EQ(answer_text(ask(example_report(), "map=2@1", 10)),
            "tile         2\n"
            "step         1\n"
            "end          303\n"
            "gaps         103\n"
            "largest_gap  103\n"
            "\n"
            "map=2@1\n"
            "  offset  size  category  name   live\n"
            "       0    25  stack     stack  always\n"
            "      25   103  gap\n"
            "     128   175  variable  x      now\n");
  EXPECT_EQ(ask(example_report(), "map=2@0", 10)["end"], 25);
}

TEST(Questions, WhatIsLiveAtThePeak) {
  const Json live = ask(example_report(), "live", 10);
  EXPECT_EQ(live["step"], 1);
  EXPECT_EQ(live["tile"], 2);
  EXPECT_EQ(live["rows"][0]["name"], "x");
  EXPECT_EQ(live["rows"][0]["kept_by"], "a to b");
  EXPECT_EQ(live["rows"][0]["source"], "model.py:12");
  EXPECT_EQ(live["rows"][1]["kept_by"], "always live");
}

TEST(Questions, CyclesByLineAndWhyThereAreNone) {
  EXPECT_EQ(answer_text(ask(example_report(), "lines=Add", 10)),
            "codelet     Add\n"
            "cycles      1,120\n"
            "executions  16\n"
            "source      counted\n"
            "\n"
            "lines=Add\n"
            "  cycles  share  file     line  text\n"
            "   1,000  0.893  add.cpp     7    out[i] = a[i] + b[i];\n"
            "     120  0.107  add.cpp     8  }\n");
  Report r = example_report();
  EXPECT_EQ(ask(r, "lines", 1)["rows"].size(), 1u);
  for (CodeletCycles& c : r.codelets) c.lines.clear();
  EXPECT_EQ(ask(r, "lines=Add", 10)["lines"], "none: compile it with popc -g");
  EXPECT_EQ(ask(r, "lines", 10)["without_lines"][0]["why"], "compile it with popc -g");
  r.codelets[0].source = "estimated by the program";
  EXPECT_EQ(ask(r, "lines=Add", 10)["lines"], "none: its cycles are estimated by the program");
  r.codelets[0].source = "not counted: it prints";
  EXPECT_EQ(ask(r, "lines=Add", 10)["lines"], "none: not counted: it prints");
}

// A table that is cut says so, as text and as JSON; with as many rows as it names nothing is missing.
TEST(Questions, CutTablesSayHowManyRowsAreMissing) {
  Report r = example_report();
  r.residents.resize(25, r.residents[0]);
  r.run_times.assign(1234, RunTimes{});
  r.program.all().resize(12, std::as_const(r).program[0]);
  r.codelets.resize(11, r.codelets[0]);
  r.exchanges.resize(14, r.exchanges[0]);
  const Json codelets = ask(r, "codelets", 10);
  EXPECT_EQ(codelets["more"], 1);
  EXPECT_THAT(answer_text(codelets), ::testing::EndsWith("\n  … and 1 more (--top 11 gives all)\n"));
  EXPECT_THAT(answer_text(ask(r, "runs", 10)), ::testing::EndsWith("\n  … and 1,224 more (--top 1234 gives all)\n"));
  for (const QuestionRow* q : questions()) {
    SCOPED_TRACE(q->name);
    const std::string query = std::string(q->name) + argument_of(*q);
    const std::size_t all = ask(r, query, 100'000)["rows"].size();
    EXPECT_FALSE(ask(r, query, 100'000).contains("more"));
    const Json one = ask(r, query, 1);
    if (one["rows"].size() == all) continue;
    EXPECT_EQ(one["rows"].size() + one["more"].get<std::size_t>(), all);
    EXPECT_THAT(answer_text(one), HasSubstr("(--top " + std::to_string(all) + " gives all)"));
  }
  Report b = r;
  for (Resident& v : b.residents) v.bytes += 1;
  b.residents.back().name = "other";
  EXPECT_THAT(answer_text(compare(r, b, 1)), HasSubstr("  … and 2 more (--top 3 gives all)\n"));
}

TEST(Questions, ReportsOfTilesSayWhyTheyHaveNoSchedule) {
  Report r = example_report();
  r.target.ipus = 4;
  for (const char* question : {"schedule", "messages"}) {
    const Json answer = ask(r, question, 10);
    EXPECT_THAT(answer["why_none"].get<std::string>(),
                ::testing::StartsWith("the report is of a program on tiles (4 IPUs), not of a step of several devices: pando simulate"));
    EXPECT_THAT(answer_text(answer), HasSubstr("--ask exchanges what they send each other"));
    EXPECT_TRUE(answer["rows"].empty());
  }
  r.plan.title = "a search";
  r.plan.points.push_back({});
  EXPECT_THAT(ask(r, "schedule", 10)["why_none"].get<std::string>(), ::testing::StartsWith("the report is of a search,"));
  r.plan.devices.push_back({});
  EXPECT_FALSE(ask(r, "schedule", 10).contains("why_none"));
}

TEST(Questions, WhatIsAskedForIsChecked) {
  const auto error = [](const std::string& query) {
    try {
      ask(example_report(), query, 10);
    } catch (const poplar::invalid_option& e) { return std::string(e.what()); }
    return std::string();
  };
  EXPECT_THAT(error("nothing"), HasSubstr("does not answer 'nothing'; expected advice, buffers"));
  EXPECT_THAT(error("slowest"), HasSubstr("does not answer 'slowest'; the nearest is slowest_steps; expected"));
  EXPECT_THAT(error("runz"), HasSubstr("; the nearest is runs; expected"));
  EXPECT_THAT(error("lines=Ad"), HasSubstr("no codelet 'Ad' was executed"));
  std::ostringstream out;
  const auto export_error = [&](const std::string& format, const std::string& table) {
    try {
      export_report(example_report(), format, {.table = table}, out);
    } catch (const poplar::invalid_option& e) { return std::string(e.what()); }
    return std::string();
  };
  EXPECT_THAT(export_error("perfeto", ""), HasSubstr("; the nearest is perfetto; expected"));
  EXPECT_THAT(export_error("csv", "step"), HasSubstr("; the nearest is steps; expected"));
  EXPECT_THAT(error("tile=4"), HasSubstr("there is no tile 4; the report has 4 tiles, numbered from 0"));
  EXPECT_THAT(error("map=4"), HasSubstr("there is no tile 4"));
  EXPECT_THAT(error("map=2@3"), HasSubstr("no step has the order 3; the last one has 2"));
  EXPECT_THAT(error("map=2@"), HasSubstr("expected the number of a step, found ''"));
  EXPECT_THAT(error("operations=0"), HasSubstr("expected how many names, from 1 to 99, found '0'"));
  EXPECT_THAT(error("tile=x"), HasSubstr("expected the number of a tile, found 'x'"));
  EXPECT_THAT(error("variables=1"), HasSubstr("'variables' has no argument"));
  EXPECT_THAT(error("lines=Sub"), HasSubstr("no codelet 'Sub' was executed; the report has Add"));
  EXPECT_THAT(error("live=77"), HasSubstr("no step that has memory has the order 77"));
}

// Each rule finds its fault where that is all there is, and nothing in an empty report.
TEST(Advice, NothingInAnEmptyReport) { EXPECT_TRUE(advise({}).empty()); }

Report one_step(Cycles cycles) {
  Report r = example_report();
  r.steps.resize(1);
  r.steps[0] = {"ipu0.compute", "b", "compute", 1, cycles, 16, 0, 0, 1, 2};
  r.steps[0].profile = 1;
  r.steps[0].used_workers = 6;
  r.tile_profiles = {{true, {0, 4, 100}}};
  for (TileMemory& t : r.tiles) t.with_gaps = t.used;
  return r;
}

std::vector<std::string> rules_of(const Report& report) {
  std::vector<std::string> out;
  for (const Finding& f : advise(report)) out.push_back(f.rule);
  return out;
}

// What there is not is said, and why.
TEST(Questions, TilesHaveNoPlan) {
  const Json plan = ask(example_report(), "plan", 10);
  EXPECT_TRUE(plan["rows"].empty());
  EXPECT_FALSE(plan.contains("seconds"));
  EXPECT_THAT(plan["why_none"].get<std::string>(), HasSubstr("the report is of a program on tiles"));
}

TEST(Questions, RunsHaveTheNamesThatTheProgramGaveThem) {
  EXPECT_FALSE(ask(example_report(), "runs", 10)["rows"][0].contains("name"));
  Report r = example_report();
  r.run_times.push_back({0, 1500, 3000, 1, "warm"});
  EXPECT_EQ(ask(r, "runs", 10)["rows"][0]["name"], "");
  EXPECT_EQ(ask(r, "runs", 10)["rows"][1]["name"], "warm");
}

TEST(Advice, AnExchangeBoundStepThatOnlySendsNamesNoBytes) {
  Report r = one_step({1000, 1500, 0, 0, 0, 0, 0});
  EXPECT_THAT(advise(r)[0].evidence[0].text, HasSubstr("1,500 cycles in which the tiles of ipu0.compute send"));
  r.steps[0].exchanged_bytes = 48;
  EXPECT_THAT(advise(r)[0].evidence[0].text, HasSubstr("48 B received by the tiles of ipu0.compute"));
}

TEST(Advice, EachRuleFindsItsFault) {
  EXPECT_THAT(rules_of(one_step({1000, 0, 0, 0, 0, 0, 0})), ElementsAre());
  EXPECT_THAT(rules_of(one_step({1000, 1500, 0, 0, 0, 0, 0})), ElementsAre("exchange_bound"));
  EXPECT_THAT(rules_of(one_step({1000, 0, 0, 500, 0, 0, 0})), ElementsAre("sync_bound"));
  EXPECT_THAT(rules_of(one_step({1000, 0, 500, 0, 0, 0, 0})), ElementsAre("rearrangement"));
  EXPECT_THAT(rules_of(one_step({1000, 0, 0, 0, 0, 900, 0})), ElementsAre("host_bound"));
  Report r = one_step({1000, 0, 0, 0, 0, 0, 0});
  r.steps[0].tile_balance = 0.25;
  EXPECT_THAT(rules_of(r), ElementsAre("unbalanced"));
  EXPECT_EQ(advise(r)[0].cost, 0.75);
  EXPECT_EQ(advise(r)[0].evidence[0].step, 0u);
  r = one_step({1000, 0, 0, 0, 0, 0, 0});
  r.tile_profiles[0].ranges = {0, 1, 100};
  EXPECT_THAT(rules_of(r), ElementsAre("few_tiles"));
  r = one_step({1000, 0, 0, 0, 0, 0, 0});
  r.steps[0].used_workers = 1;
  r.steps[0].slowest_cycles = 160;
  EXPECT_THAT(rules_of(r), ElementsAre("few_workers"));
  EXPECT_DOUBLE_EQ(advise(r)[0].cost, 0.6);  // 40 of the vertex' 160 cycles stay as they are
  r.steps[0].slowest_cycles = 45;            // more vertices would gain next to nothing
  EXPECT_THAT(rules_of(r), ElementsAre());
  r = one_step({1000, 0, 0, 0, 0, 0, 0});
  r.steps[0].unestimated_vertices = 8;
  EXPECT_THAT(rules_of(r), ElementsAre("unestimated"));
  r = one_step({1000, 0, 0, 0, 0, 0, 0});
  r.tiles[3].with_gaps = 900;
  EXPECT_THAT(rules_of(r), ElementsAre("gaps"));
  r = one_step({1000, 0, 0, 0, 0, 0, 0});
  for (Placement& p : r.placements) p.live = 0;
  for (Placement& p : r.placements) p.size = 400;
  EXPECT_THAT(rules_of(r), ElementsAre("always_live"));
  r = one_step({1000, 0, 0, 0, 0, 0, 0});
  r.categories[1].category = "vertex code";
  r.tiles[3].by_category[1] = 300;
  r.tiles[3].with_gaps = 210;
  EXPECT_THAT(rules_of(r), ElementsAre("loadable_code"));
  r.categories[1].category = "exchange buffer";
  EXPECT_THAT(rules_of(r), ElementsAre("exchange_buffers"));
  r = example_report();
  r.exchanges[0].bytes = 4000;
  r.exchanges[0].traffic = {{0, 3, 4000, 1000}};
  EXPECT_THAT(rules_of(r), ::testing::Contains("one_by_one"));
}

// However many rules look at steps: each block of a long file is read once, and then those of the evidence.
TEST(Advice, ReadsTheStepsOnce) {
  Report r = example_report();
  constexpr std::size_t kSteps = 6 * Steps::kBlock;
  StepCycles s = std::as_const(r).steps[0];
  s.cycles = {1000, 1500, 500, 900, 0, 2000, 0};
  std::size_t reads = 0;
  r.steps = Steps(kSteps, [&](std::size_t begin, std::size_t end) {
    ++reads;
    return std::vector<StepCycles>(end - begin, s);
  });
  EXPECT_GE(advise(r).size(), 3u);
  EXPECT_LE(reads, kSteps / Steps::kBlock + 1);
}

// What does not fit is shown at the step at which its tile is fullest, whatever is the peak over all tiles.
TEST(Advice, OutOfMemoryIsSeenAtTheFullestStepOfItsTile) {
  Report r = example_report();
  r.out_of_memory = "tile 3 needs more";
  r.tiles[3].with_gaps = 2000;
  r.live_sets = {{{0, 1}}, {{2, 4}}};
  r.residents.assign(2, r.residents[0]);
  r.residents[1].name = "y";
  r.placements = {{3, 0, 0, false, 0, 100}, {3, 1, 0, false, 100, 900}};
  for (Placement& p : r.placements) p.live = p.resident + 1;
  r.liveness[0].steps = {{0, "a", 1000, 1500, 3}, {2, "b", 900, 900, 3}};
  EXPECT_EQ(fullest_order(r, 3), 2u);
  EXPECT_EQ(fullest_order(r, 0), 0u);  // it has nothing: the peak
  const Json why = ask(r, "why_not_fit", 10);
  EXPECT_EQ(why["step"], 2);
  EXPECT_EQ(why["rows"][0]["name"], "y");
  EXPECT_EQ(advise(r)[0].evidence[0].order, 2u);
}

TEST(Advice, OutOfMemoryNamesTheSmallestChange) {
  Report r = example_report();
  r.out_of_memory = "tile 3 needs more";
  r.tiles[3] = {1100, 1100, {1000, 100}, 100};
  r.residents[0] = {"x", 0, 1, 1000, 1000, 0, 1, 3, 1};
  r.placements = {{3, 0, 1, false, 100, 1000}};
  r.liveness[0].steps = {{1, "a", 1000, 1100, 3}};
  EXPECT_THAT(smallest_changes(r), ElementsAre("map 'x' over at least 2 of the 4 tiles instead of 1: it has 1000 B on tile 3",
                                               "store 'x' in a type of half the size: it has 1000 B on tile 3"));
  EXPECT_EQ(smallest_spread(r)->resident, 0u);
  EXPECT_EQ(smallest_spread(r)->tiles, 2u);
  r.compiled_change = "map 'x' evenly over 2 of the 4 tiles instead of 1: compiled so, the program fits";
  EXPECT_EQ(smallest_changes(r)[0], r.compiled_change);
  std::ostringstream file;
  write_report(r, file);
  EXPECT_EQ(read_report(file.str()).compiled_change, r.compiled_change);
  Report too_much = r;  // what does not fit comes last
  too_much.compiled_change = "map 'x' evenly over 4 of the 4 tiles instead of 1, and change more: compiled so, tile 3 still lacks 12 B";
  EXPECT_EQ(smallest_changes(too_much).size(), 3u);
  EXPECT_EQ(smallest_changes(too_much)[2], too_much.compiled_change);
  EXPECT_EQ(advise(r)[0].rule, "out_of_memory");
  EXPECT_FALSE(ask(r, "why_not_fit", 10)["fits"].get<bool>());
}

// docs/level/report.md names each question, rule and format.
TEST(Documentation, NamesEveryRow) {
  std::ifstream in(source_path("docs/level/report.md"));
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const QuestionRow* q : questions()) EXPECT_THAT(page, HasSubstr("`" + std::string(q->name)));
  for (const AdviceRow* a : advice_rules()) EXPECT_THAT(page, HasSubstr("| `" + std::string(a->name) + "` |"));
  for (const ExportRow* e : exports()) EXPECT_THAT(page, HasSubstr("`" + std::string(e->name) + "`"));
}

TEST(Exports, EachIsWellFormed) {
  for (const ExportRow* e : exports()) {
    SCOPED_TRACE(e->name);
    for (const Report& r : {example_report(), Report{}}) {
      std::ostringstream out;
      export_report(r, std::string(e->name), {}, out);
      EXPECT_NE(out.str(), "");
      if (e->ending.ends_with(".json")) EXPECT_FALSE(Json::parse(out.str(), nullptr, false).is_discarded());
    }
  }
  std::ostringstream out;
  EXPECT_THROW(export_report({}, "xml", {}, out), poplar::invalid_option);
  EXPECT_THROW(export_report({}, "csv", {.table = "none"}, out), poplar::invalid_option);
  EXPECT_THROW(export_report({}, "dot", {.table = "steps"}, out), poplar::invalid_option);
  EXPECT_THROW(export_report({}, "dot", {.from = 5}, out), poplar::invalid_option);
}

// CSV is written without the file: it is what the file has.
TEST(Exports, CsvHasTheRowsOfTheFile) {
  const Report r = example_report();
  std::ostringstream bytes;
  write_report(r, bytes);
  const Container file = Container::parse(bytes.str());
  for (const TableSpec& table : table_specs()) {
    SCOPED_TRACE(table.name);
    std::ostringstream csv;
    export_report(r, "csv", {.table = std::string(table.name)}, csv);
    const std::string text = csv.str();
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), file.rows(table.name) + 1);
    std::uint64_t row = 0;
    each_row(r, table.name, [&](std::span<const std::uint64_t> values, const TextOf& name) {
      ASSERT_EQ(values.size(), table.columns.size());
      for (std::size_t c = 0; c < values.size(); ++c) {
        const ColumnSpec& column = table.columns[c];
        const std::uint64_t written = file.slice(table.name, column.name, row, row + 1)[0];
        if (column.holds == Holds::text)
          EXPECT_EQ(name(values[c]), file.text(written)) << column.name;
        else
          EXPECT_EQ(values[c], written) << column.name;
      }
      ++row;
    });
    EXPECT_EQ(row, file.rows(table.name));
  }
}

TEST(Exports, Texts) {
  std::ostringstream csv, dot, trace;
  export_report(example_report(), "csv", {.table = "variables"}, csv);
  EXPECT_EQ(csv.str(),
            "name,category,bytes,tiles,largest,always_live_bytes,first,last,source\n"
            "x,0,700,4,175,0,1,3,model.py:12\n"
            "stack,1,100,4,25,100,0,0,\n");
  export_report(example_report(), "dot", {}, dot);
  EXPECT_THAT(dot.str(), HasSubstr("subgraph cluster_1 {\n    label=\"loop again\";\n    s2 [label=\"b\\ncompute\", shape=box];\n  }"));
  EXPECT_THAT(dot.str(), HasSubstr("s0 -> s2;"));
  export_report(example_report(), "perfetto", {}, trace);
  const Json events = Json::parse(trace.str())["traceEvents"];
  ASSERT_EQ(events.size(), 4u);  // the row's name, and the loop of three rows: 500 + 500, 500 ...
  EXPECT_EQ(events.back()["ts"], 1000);
}

// Statements of Graphviz's language, as far as reports use it: nodes, edges, attributes and subgraphs; strings with escapes.
class DotReader {
 public:
  explicit DotReader(const std::string& text) : text_(text) {}
  // Nodes with their labels, as they are shown.
  std::map<std::string, std::string> nodes;
  std::vector<std::pair<std::string, std::string>> edges;
  std::size_t subgraphs = 0;

  // Whether all of it is a graph.
  bool read() { return next() == "digraph" && next() == "program" && block() && next().empty(); }

 private:
  // An identifier, a string with its quotes or a sign; "" at the end, "?" for what is neither.
  std::string next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    if (at_ == text_.size()) return {};
    const std::size_t begin = at_;
    if (text_[at_] == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) at_ += text_[at_] == '\\';
      return at_ < text_.size() ? text_.substr(begin, ++at_ - begin) : "?";
    }
    if (text_.compare(at_, 2, "->") == 0) return at_ += 2, "->";
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    if (at_ > begin) return text_.substr(begin, at_ - begin);
    return std::string("{}[]=;,").find(text_[at_]) == std::string::npos ? "?" : std::string(1, text_[at_++]);
  }
  std::string peek() {
    const std::size_t was = at_;
    std::string token = next();
    at_ = was;
    return token;
  }
  static bool is_name(const std::string& token) { return !token.empty() && (token[0] == '_' || std::isalpha(token[0])); }
  bool block() {
    if (next() != "{") return false;
    while (peek() != "}")
      if (!statement()) return false;
    return next() == "}";
  }
  bool statement() {
    const std::string name = next();
    if (name == "subgraph") return ++subgraphs, is_name(next()) && block();
    if (!is_name(name)) return false;
    const std::string sign = next();
    if (sign == "=") return value() && next() == ";";
    if (sign == "->") return edges.emplace_back(name, next()), is_name(edges.back().second) && next() == ";";
    if (sign != "[") return false;
    for (std::string separator = ","; separator != "]"; separator = next()) {
      if (separator != ",") return false;
      const std::string attribute = next();
      if (!is_name(attribute) || next() != "=" || !value()) return false;
      if (attribute == "label") nodes[name] = value_;
    }
    return next() == ";";
  }
  bool value() {
    value_ = next();
    return is_name(value_) || value_[0] == '"';
  }

  const std::string text_;
  std::string value_;
  std::size_t at_ = 0;
};

TEST(Exports, DotIsAGraph) {
  Report r = example_report();
  std::size_t around = 0;
  for (const ProgramStep& s : std::as_const(r).program) around += stands_around(s);
  const std::size_t steps = std::as_const(r).program.size() - around;
  for (const char* name : {"plain", "\"quoted\"; } -> [", "ends in \\", "two\nlines", "\\\"", ""}) {
    SCOPED_TRACE(name);
    for (ProgramStep& s : r.program) s.name = name;
    std::ostringstream out;
    export_report(r, "dot", {}, out);
    DotReader dot(out.str());
    ASSERT_TRUE(dot.read()) << out.str();
    EXPECT_EQ(dot.nodes.size(), steps);
    EXPECT_EQ(dot.edges.size(), steps - 1);
    EXPECT_EQ(dot.subgraphs, around);
    for (const auto& [from, to] : dot.edges) EXPECT_TRUE(dot.nodes.contains(from) && dot.nodes.contains(to)) << from << " " << to;
  }
}

// Cycle and length of each executed step of a trace.
std::vector<std::pair<int, int>> events_of(const Report& report, const ExportOptions& options, std::string* left_out = nullptr) {
  std::ostringstream out;
  const std::string said = export_report(report, "perfetto", options, out);
  if (left_out) *left_out = said;
  std::vector<std::pair<int, int>> events;
  const Json trace = Json::parse(out.str());
  for (const Json& e : trace["traceEvents"])
    if (e["ph"] == "X") events.emplace_back(e["ts"], e["dur"]);
  return events;
}

TEST(Exports, ATraceOfSomeCycles) {
  using ::testing::ElementsAreArray;
  Report r = example_report();
  // 5, then 3 x (10, 2 x (1 + 4), 20), then 7: 5 + 3 x 40 + 7 = 132 cycles.
  r.traces = {{{0, 0, 0, 5, 1}, {0, 4, 0, 40, 3}, {1, 0, 0, 10, 1}, {0, 1, 0, 5, 2}, {1, 0, 1, 4, 1}, {0, 0, 0, 20, 1}, {1, 0, 0, 7, 1}},
              {}};
  const std::vector<std::pair<int, int>> all = events_of(r, {});
  ASSERT_EQ(all.size(), 1u + 3 * 4 + 1);
  EXPECT_EQ(all[2], (std::pair(16, 4)));
  EXPECT_EQ(all.back(), (std::pair(125, 7)));
  for (int from = 0; from < 134; from += 3)
    for (int to = from; to < 140; to += 5) {
      std::vector<std::pair<int, int>> wanted;
      for (const auto& e : all)
        if (e.first < to && e.first + e.second > from) wanted.push_back(e);
      EXPECT_THAT(events_of(r, {.from = static_cast<std::uint64_t>(from), .to = static_cast<std::uint64_t>(to)}), ElementsAreArray(wanted))
          << from << " to " << to;
    }
  std::string left_out;
  EXPECT_EQ(events_of(r, {.most_events = 3}, &left_out).size(), 3u);
  EXPECT_EQ(left_out, "ipu0.compute: the first 3 executed steps are written, up to cycle 20; --from 20 goes on");
  const std::vector<std::pair<int, int>> rest = events_of(r, {.from = 20}, &left_out);
  EXPECT_THAT(rest, ElementsAreArray(std::vector(all.begin() + 3, all.end())));
  EXPECT_EQ(left_out, "");
}

// A loop is not unfolded before the time that is asked for.
TEST(Exports, ATraceFarIntoALongRun) {
  Report r = example_report();
  r.traces = {{{0, 1, 0, 10, 1'000'000'000'000}, {1, 0, 0, 10, 1}}, {}};
  EXPECT_EQ(events_of(r, {.from = 9'999'999'999'970}).size(), 3u);
}

TEST(Questions, OperationsAndMergedCopiesHaveAllTheirLines) {
  Report r = example_report();
  r.sources = {{"model.py", 12}, {"model.py", 20}, {"model.py", 30}};
  r.program[0].source = 2;
  r.program[0].other_sources = {3, 1};
  std::ostringstream file;
  write_report(r, file);
  r = read_report(file.str());
  EXPECT_EQ(ask(r, "program", 10)["rows"][0]["source"], "model.py:20, model.py:30, model.py:12");
  EXPECT_EQ(ask(r, "exchanges", 10)["rows"][0]["source"], "model.py:20, model.py:30, model.py:12");
  EXPECT_EQ(ask(r, "slowest_steps", 10)["rows"][1]["source"], "model.py:20, model.py:30, model.py:12");
  const Json operations = ask(r, "operations", 10)["rows"];
  ASSERT_EQ(operations.size(), 4u);
  for (const Json& row : operations)
    EXPECT_EQ(row["source"], row["operation"] == "a"       ? "model.py:12, model.py:20, model.py:30"
                             : row["operation"] == "stack" ? ""
                                                           : "model.py:12")
        << row;
  for (std::uint32_t line = 1; line < 12; ++line) r.sources.push_back({"more.py", line}), r.program[0].other_sources.push_back(line + 3);
  EXPECT_THAT(ask(r, "program", 10)["rows"][0]["source"].get<std::string>(), ::testing::EndsWith("more.py:5 and 6 more"));
}

TEST(Questions, CodeletsSayWhereTheyAreDefined) {
  std::ostringstream file;
  write_report(example_report(), file);
  const Report r = read_report(file.str());
  const Json row = ask(r, "codelets", 1)["rows"][0];
  EXPECT_EQ(row["defined"], "add.cpp:3");
  EXPECT_EQ(row["flops"], 128);
  EXPECT_EQ(row["operand_bytes"], 192);
  const Json vertices = ask(r, "tile=0", 1)["vertices"][0];
  EXPECT_EQ(vertices["defined"], "add.cpp:3");
  EXPECT_EQ(vertices["source"], "model.py:12");
}

TEST(Compare, MatchesByNameAndSortsByDifference) {
  Report b = example_report();
  b.steps[1].cycles.compute = 4000;
  b.residents[0].bytes = 100;
  b.residents.push_back({"y", 0, 1, 5000, 5000, 0, 1, 2, 0});
  const Json rows = compare(example_report(), b, 10);
  ASSERT_EQ(rows["steps"].size(), 1u);
  EXPECT_EQ(rows["steps"][0]["difference"], 3000);
  EXPECT_EQ(rows["steps"][0]["name"], "b");
  ASSERT_EQ(rows["memory"].size(), 2u);
  EXPECT_EQ(rows["memory"][0]["name"], "y");
  EXPECT_EQ(rows["memory"][1]["difference"], -600);
  EXPECT_TRUE(compare(b, b, 10)["steps"].empty());
}

}  // namespace
}  // namespace pando::profile
