// The report of an engine as pva shows it: what the compiled program consists of, and what its steps cost by tile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "pando/host.hpp"
#include "poplar/Engine.hpp"
#include "poplar/IPUModel.hpp"
#include "profile/report.h"
#include "pva/pva.hpp"

namespace {

using namespace poplar;
using namespace poplar::program;
using testing::ElementsAre;

// Twice: vertices on tiles 0 and 1 (two of them), then what they wrote goes to the next tile.
struct ReportedLoop {
  Device device = IPUModel("tiny4").createDevice();
  Graph graph{device.getTarget()};
  Tensor a = graph.addVariable(FLOAT, {3, 16}, "numbers"), b = graph.addVariable(FLOAT, {3, 16}, "moved");
  Program program;

  ReportedLoop() {
    std::stringstream source(
        "#include <poplar/Vertex.hpp>\n"
        "class Twice : public poplar::Vertex { public: poplar::InOut<poplar::Vector<float>> x;\n"
        "  void compute() { for (unsigned i = 0; i < x.size(); ++i) x[i] *= 2; } };");
    graph.addCodelets(source);
    const ComputeSet cs = graph.addComputeSet("twice");
    for (unsigned i = 0; i < 3; ++i) {
      graph.setTileMapping(a[i], i == 0 ? 0 : 1);
      graph.setTileMapping(b[i], 2);
      const VertexRef v = graph.addVertex(cs, "Twice", {{"x", a[i]}});
      graph.setTileMapping(v, i == 0 ? 0 : 1);
      graph.setPerfEstimate(v, 100 * (i + 1));
    }
    graph.createHostWrite("in", a);
    graph.createHostRead("out", b);
    program = Repeat(2, Sequence({Execute(cs), Copy(a, b, false, "move")}));
  }
};

struct SeenPrograms : pva::ProgramVisitor {
  std::vector<std::string> names, variables;
  void visitOnTileExecute(const pva::OnTileExecuteProgram& p) override { note("execute ", p); }
  void visitDoExchange(const pva::DoExchangeProgram& p) override { note("exchange ", p); }
  void note(const char* what, const pva::ProgramWithVars& p) {
    names.push_back(what + p.name());
    for (const pva::Var& v : p.vars())
      if (v.name() == "numbers" || v.name() == "moved") variables.push_back(v.name() + " " + std::to_string(v.bytes()));
  }
};

// Libraries have no places of their own (PANDO_LIBRARY).
TEST(Report, WhatALibraryMakesBelongsToTheLineThatCalledIt) {
  const SourceLocation user("main", "user.cpp", 7), library;
  const DebugContext called("sum", user);
  EXPECT_EQ(DebugContext(called, "out", library).getSourceLocation().getLineNumber(), 7u);
  const DebugInfo info(called, "popops");
  const DebugNameAndId name(info, "parts"), part(name, "first");
  for (const DebugContext& below :
       {DebugContext(info, "out", library), DebugContext(name, "out", library), DebugContext(part, "out", library)})
    EXPECT_EQ(below.getSourceLocation().getFileName(), std::string("user.cpp"));
  EXPECT_EQ(DebugContext(called, "inner", SourceLocation("f", "inner.cpp", 3)).getSourceLocation().getLineNumber(), 3u)
      << "the innermost place that is known";
  EXPECT_FALSE(DebugContext("alone", library).getSourceLocation().isValid());
}

// As a helper function of a user's program makes them: names are equal, lines are not.
TEST(Report, RowsOfOneNameHaveTheirOwnLines) {
  Device device = IPUModel("tiny4").createDevice();
  Graph graph(device.getTarget());
  std::stringstream source(
      "#include <poplar/Vertex.hpp>\n"
      "class Clear : public poplar::Vertex { public: poplar::Output<poplar::Vector<float>> x;\n"
      "  void compute() { for (unsigned i = 0; i < x.size(); ++i) x[i] = 0; } };");
  graph.addCodelets(source);
  Sequence program;
  unsigned reads = 0;
  for (const unsigned line : {10u, 20u, 20u}) {
    const DebugContext context("again", SourceLocation("main", "user.cpp", line));
    const Tensor x = graph.addVariable(FLOAT, {line}, context);
    const ComputeSet cs = graph.addComputeSet(context);
    graph.setTileMapping(x, 0);
    graph.createHostRead("x" + std::to_string(reads++), x);
    for (unsigned i = 0; i < line; i += 10) {
      const VertexRef v = graph.addVertex(cs, "Clear", {{"x", x.slice(i, i + 10)}});
      graph.setTileMapping(v, 0);
      graph.setPerfEstimate(v, 100, 7);
    }
    program.add(Execute(cs));
  }
  const std::string directory = testing::TempDir() + "rows_of_one_name";
  const Engine engine(graph, program, {{"autoReport.outputGraphProfile", "true"}, {"autoReport.directory", directory}});
  std::ifstream file(directory + "/profile.pando", std::ios::binary);
  const pando::profile::Report report = pando::profile::read_report({std::istreambuf_iterator<char>(file), {}});
  std::vector<std::string> rows;
  const auto line = [&](std::uint32_t row) { return row == 0 ? 0 : report.sources[row - 1].line; };
  for (const auto& r : report.residents)
    if (r.name == "again" && report.categories[r.category].category == "variable")
      rows.push_back("variable " + std::to_string(line(r.source)) + ": " + std::to_string(r.bytes));
  for (const auto& cs : report.compute_sets)
    rows.push_back("compute set " + std::to_string(line(cs.source)) + ": " + std::to_string(cs.flops));
  EXPECT_THAT(rows, ElementsAre("variable 10: 40", "variable 20: 160", "compute set 10: 7", "compute set 20: 14", "compute set 20: 14"));
  std::filesystem::remove_all(directory);
}

TEST(Report, StepsHaveTheirLines) {
  Device device = IPUModel("tiny4").createDevice();
  Graph graph(device.getTarget());
  const Tensor x = graph.addVariable(FLOAT, {8}, "x"), y = graph.addVariable(FLOAT, {8}, "y"), z = graph.addVariable(FLOAT, {8}, "z");
  graph.setTileMapping(x, 0);
  graph.setTileMapping(y, 1);
  graph.setTileMapping(z, 2);
  const DataStream in = graph.addHostToDeviceFIFO("in", FLOAT, 8), out = graph.addDeviceToHostFIFO("out", FLOAT, 8);
  const RemoteBuffer buffer = graph.addRemoteBuffer("buffer", FLOAT, 8);
  const auto at = [](const char* name, unsigned line) { return DebugContext(name, SourceLocation("main", "user.cpp", line)); };
  Sequence body({Copy(x, y, false, at("again", 30)), Copy(y, z, false, at("again", 31))});
  {
    const pando::SourceScope scope(graph, "user.py", 40);
    body.add(Copy(z, x, false, DebugContext("below", SourceLocation())));
  }
  const Sequence program({Copy(in, x, false, at("", 10)), Copy(buffer, y, at("", 11)), Repeat(3, body, at("", 12)),
                          Copy(z, out, false, DebugContext("", SourceLocation()))});
  const std::string directory = testing::TempDir() + "steps_have_their_lines";
  const Engine engine(graph, program, {{"autoReport.outputGraphProfile", "true"}, {"autoReport.directory", directory}});
  std::ifstream file(directory + "/profile.pando", std::ios::binary);
  const pando::profile::Report report = pando::profile::read_report({std::istreambuf_iterator<char>(file), {}});
  std::filesystem::remove_all(directory);
  std::vector<std::string> steps;
  for (const auto& s : report.program) {
    const auto from = s.source == 0 ? pando::profile::Source() : report.sources[s.source - 1];
    steps.push_back(s.kind + " " + s.name + " " + from.file + ":" + std::to_string(from.line));
  }
  EXPECT_THAT(steps, ElementsAre("host in user.cpp:10", "remote buffer user.cpp:11", "loop  user.cpp:12", "exchange again user.cpp:30",
                                 "exchange again user.cpp:31", "exchange below user.py:40", "host out :0"));
}

// Copies that do not depend on one another are one exchange, which all their lines made.
TEST(Report, CopiesThatAreOneExchangeHaveAllTheirLines) {
  Device device = IPUModel("tiny4").createDevice();
  Graph graph(device.getTarget());
  const Tensor x = graph.addVariable(FLOAT, {8}, "x"), y = graph.addVariable(FLOAT, {8}, "y");
  graph.setTileMapping(x, 0);
  graph.setTileMapping(y, 1);
  const auto copy = [&](std::size_t from, unsigned line) {
    return Copy(x.slice(from, from + 2), y.slice(from, from + 2), false, DebugContext("part", SourceLocation("main", "user.cpp", line)));
  };
  const Sequence program({copy(0, 30), copy(2, 31), copy(4, 31), copy(6, 12), WriteUndef(x), copy(0, 50)});
  const std::string directory = testing::TempDir() + "all_lines";
  const Engine engine(graph, program, {{"autoReport.outputGraphProfile", "true"}, {"autoReport.directory", directory}});
  std::ifstream file(directory + "/profile.pando", std::ios::binary);
  const pando::profile::Report report = pando::profile::read_report({std::istreambuf_iterator<char>(file), {}});
  std::filesystem::remove_all(directory);
  std::vector<std::vector<std::uint32_t>> lines;
  for (const auto& s : report.program) {
    if (s.kind != "exchange") continue;
    lines.emplace_back(1, report.sources[s.source - 1].line);
    for (const std::uint32_t other : s.other_sources) lines.back().push_back(report.sources[other - 1].line);
  }
  EXPECT_THAT(lines, ElementsAre(ElementsAre(30, 31, 12), ElementsAre(50)));
}

TEST(Report, CodeletsSayWhatTheyDid) {
  const std::string directory = testing::TempDir() + "codelets_are_defined", path = directory + "/scale.cpp";
  std::filesystem::create_directories(directory);
  std::ofstream(path)
      << "#include <poplar/Vertex.hpp>\n\nusing namespace poplar;\ntemplate <class T>\nclass Scale : public Vertex {\n public:\n"
         "  Input<Vector<T>> in;\n  Output<Vector<T>> out;\n  void compute() { out[0] = in[0]; }\n};\ntemplate class Scale<float>;\n";
  {
    Device device = IPUModel("tiny4").createDevice();
    Graph graph(device.getTarget());
    graph.addCodelets(path);
    std::stringstream text(
        "#include <poplar/Vertex.hpp>\n\nstruct Clear : poplar::Vertex { poplar::Output<float> x; void compute() { *x = 0; } };");
    graph.addCodelets(text);
    const Tensor x = graph.addVariable(FLOAT, {16}, "x"), y = graph.addVariable(FLOAT, {16}, "y");
    graph.setTileMapping(x, 0);
    graph.setTileMapping(y, 0);
    const ComputeSet scale = graph.addComputeSet("scale"), clear = graph.addComputeSet("clear");
    const VertexRef s = graph.addVertex(scale, "Scale<float>", {{"in", x}, {"out", y}}), c = graph.addVertex(clear, "Clear", {{"x", x[0]}});
    for (const VertexRef& v : {s, c}) graph.setTileMapping(v, 0);
    graph.setPerfEstimate(s, 100, 7);
    Engine engine(graph, Sequence({Execute(clear), Repeat(3, Execute(scale))}),
                  {{"autoReport.all", "true"}, {"autoReport.directory", directory}});
    engine.load(device);
    engine.run(0);
  }
  std::ifstream file(directory + "/profile.pando", std::ios::binary);
  const pando::profile::Report report = pando::profile::read_report({std::istreambuf_iterator<char>(file), {}});
  std::filesystem::remove_all(directory);
  std::vector<std::string> did;
  for (const auto& c : report.codelets) did.push_back(c.codelet + " " + std::to_string(c.flops) + " " + std::to_string(c.operand_bytes));
  EXPECT_THAT(did, testing::UnorderedElementsAre("Scale<float> 21 384", "Clear 0 4"));
  EXPECT_EQ(report.target.flops_per_cycle_f32, 32u);
  EXPECT_EQ(report.target.flops_per_cycle_f16, 128u);
  EXPECT_EQ(report.target.load_bytes_per_cycle, 16u);
}

// What the message suggests was compiled, so it can be believed.
TEST(Report, TheSmallestChangeIsCompiled) {
  const auto change_of = [](std::size_t elements, std::size_t elsewhere) {
    Device device = IPUModel("tiny4").createDevice();
    Graph graph(device.getTarget());
    const Tensor x = graph.addVariable(FLOAT, {elements}, "x"), y = graph.addVariable(FLOAT, {elements / 16}, "y");
    graph.setTileMapping(x, 2);
    graph.setTileMapping(y, 2);
    graph.createHostWrite("x", x);
    graph.createHostRead("y", y);
    if (elsewhere > 0) {
      const Tensor z = graph.addVariable(FLOAT, {elsewhere}, "z");
      graph.setTileMapping(z, 0);
      graph.createHostRead("z", z);
    }
    const std::string directory = testing::TempDir() + "the_smallest_change";
    const Program program = Copy(x.slice(0, elements / 16), y);
    EXPECT_THROW(Engine(graph, program, {{"autoReport.outputGraphProfile", "true"}, {"autoReport.directory", directory}}),
                 graph_memory_allocation_error);
    std::ifstream file(directory + "/profile.pando", std::ios::binary);
    const pando::profile::Report report = pando::profile::read_report({std::istreambuf_iterator<char>(file), {}});
    std::filesystem::remove_all(directory);
    return report.compiled_change;
  };
  const std::size_t tile = IPUModel("tiny4").createDevice().getTarget().getBytesPerTile() / 4;
  EXPECT_EQ(change_of(tile, 0), "map 'x' evenly over 2 of the 4 tiles instead of 1: compiled so, the program fits");
  EXPECT_THAT(change_of(3 * tile, tile / 2),
              testing::MatchesRegex("map 'x' evenly over 4 of the 4 tiles instead of 1, and change more: "
                                    "compiled so, with the vertices where they are, tile 0 still lacks [0-9.]+ KiB"));
  EXPECT_THAT(change_of(5 * tile, 0), testing::IsEmpty()) << "no change of one mapping would do";
}

TEST(Report, TheProgramIsAListWithLoops) {
  ReportedLoop m;
  Engine engine(m.graph, m.program, {{"autoReport.outputLoweredVars", "true"}});
  const pva::Report report = engine.getReport(false);
  SeenPrograms seen;
  std::vector<pva::Program::Type> types;
  for (const auto& p : report.compilation().programs()) p->accept(seen), types.push_back(p->type());
  EXPECT_THAT(seen.names, ElementsAre("execute twice", "exchange move"));
  EXPECT_THAT(seen.variables, ElementsAre("moved 192", "numbers 192", "moved 192", "numbers 192"));
  using Type = pva::Program::Type;
  const auto programs = report.compilation().programs();
  const auto loop = std::find_if(programs.begin(), programs.end(), [](const auto& p) { return p->type() == Type::Repeat; });
  ASSERT_NE(loop, programs.end());
  ASSERT_EQ((*loop)->children().size(), 1u);
  const auto body = (*loop)->children()[0];
  EXPECT_EQ(body->type(), Type::Sequence);
  std::vector<std::string> inside;
  for (const auto& p : body->children()) inside.push_back(p->name());
  EXPECT_THAT(inside, ElementsAre("twice", "move"));
  EXPECT_EQ(body->children()[0]->_id(), programs[static_cast<std::size_t>(loop - programs.begin()) + 2]->_id());
  EXPECT_TRUE(body->children()[0]->children().empty());
}

// What calls and branches are made of, from the engine and from the file; what is live on a tile.
TEST(Report, CallsAndBranchesAreAmongThePrograms) {
  Device device = IPUModel("tiny4").createDevice();
  Graph graph(device.getTarget());
  std::vector<Tensor> t;
  for (unsigned i = 0; i < 4; ++i) graph.setTileMapping(t.emplace_back(graph.addVariable(FLOAT, {8}, "t" + std::to_string(i))), i);
  const Tensor p = graph.addVariable(BOOL, {}, "p"), n = graph.addVariable(INT, {}, "n");
  graph.setTileMapping(p, 0);
  graph.setTileMapping(n, 0);
  graph.createHostWrite("p", p);
  graph.createHostWrite("n", n);
  graph.createHostWrite("t0", t[0]);
  graph.createHostRead("t3", t[3]);
  const Function f = graph.addFunction(Sequence({Copy(t[0], t[1], false, "there"), Copy(t[1], t[2], false, "back")}));
  const Sequence program(
      {Call(f, {"first"}), Repeat(3, Repeat(2, Call(f), {"inner"}), {"outer"}),
       If(p, Copy(t[2], t[3], false, "yes"), Sequence(), {"choose"}),
       Switch(n, {{-2, Copy(t[1], t[3], false, "minus two")}, {5, Sequence()}}, Copy(t[0], t[3], false, "else"), {"pick"})});
  const std::string directory = testing::TempDir() + "pando_calls_and_branches";
  Engine engine(graph, program, {{"autoReport.outputGraphProfile", "true"}, {"autoReport.directory", directory}});
  const std::function<std::string(const pva::Program&)> text_of = [&](const pva::Program& q) {
    using Type = pva::Program::Type;
    const std::map<Type, std::string> words{{Type::Call, "call"},         {Type::If, "if"},
                                            {Type::Switch, "switch"},     {Type::Repeat, "repeat"},
                                            {Type::Sequence, "sequence"}, {Type::DoExchange, "exchange"}};
    const auto word = words.find(q.type());
    std::string out = (word == words.end() ? "?" : word->second) + " " + q.name();
    const auto children = q.children();
    if (children.empty()) return out;
    out += "(";
    for (const auto& c : children) out += (c == children.front() ? "" : ", ") + text_of(*c);
    return out + ")";
  };
  for (const pva::Report& report : {engine.getReport(false), pva::openReport(directory + "/profile.pop")}) {
    const pva::Compilation c = report.compilation();
    struct Outer : pva::ProgramVisitor {
      std::vector<std::string> calls, choices;
      void visitCall(const pva::CallProgram& q) override { calls.push_back(q.name()); }
      void visitIf(const pva::IfProgram& q) override { choices.push_back("if " + q.name()); }
      void visitSwitch(const pva::SwitchProgram& q) override { choices.push_back("switch " + q.name()); }
    } seen;
    std::vector<std::string> texts;
    for (const auto& q : c.programs()) {
      q->accept(seen);
      if (q->type() != pva::Program::Type::DoExchange) texts.push_back(text_of(*q));
    }
    EXPECT_THAT(seen.calls, testing::SizeIs(2));
    EXPECT_THAT(seen.choices, ElementsAre("if choose", "switch pick"));
    EXPECT_THAT(texts, testing::Contains(testing::MatchesRegex("call first.sequence .*.exchange there, exchange back..")));
    EXPECT_THAT(texts, testing::Contains(testing::StartsWith("repeat outer(sequence outer(repeat inner(sequence inner(call ")));
    EXPECT_THAT(texts, testing::Contains("if choose(sequence true(exchange yes))"));
    EXPECT_THAT(texts, testing::Contains("switch pick(sequence -2(exchange minus two), sequence default(exchange else))"));

    // Live memory: a tile's steps, with what is always live, add up to its fullest step.
    const auto steps = c.livenessProgramSteps();
    EXPECT_THAT(steps, testing::SizeIs(testing::Ge(5u)));
    for (unsigned tile = 0; tile < 4; ++tile) {
      std::uint64_t most = 0, always = 0;
      for (const auto& s : steps) most = std::max(most, s.notAlwaysLiveMemoryForTile(tile).bytes());
      for (const auto& v : c.alwaysLiveVariablesForTile(tile)) always += v.size();
      EXPECT_EQ(always, c.tiles()[tile].memory().alwaysLiveBytes());
      EXPECT_EQ(always + most, c.tiles()[tile].memory().total().excludingGaps());
      EXPECT_EQ(most, c.tiles()[tile].memory().notAlwaysLiveBytes());
    }
    for (const auto& s : steps) {
      std::uint64_t sum = 0, by_tile = 0;
      for (const auto& v : s.notAlwaysLiveMemory().variables()) sum += v.size();
      for (unsigned tile = 0; tile < 4; ++tile) by_tile += s.notAlwaysLiveMemoryForTile(tile).bytes();
      EXPECT_EQ(sum, s.notAlwaysLiveMemory().bytes()) << s.program()->name();
      EXPECT_EQ(sum, by_tile) << s.program()->name();
    }
    EXPECT_THROW(steps[0].notAlwaysLiveMemoryForTile(4), index_error);
    EXPECT_THROW(c.alwaysLiveVariablesForTile(4), index_error);
  }
  std::filesystem::remove_all(directory);
}

TEST(Report, VerticesByTileAndByComputeSet) {
  ReportedLoop m;
  const pva::Report report = Engine(m.graph, m.program).getReport(false);
  std::vector<std::uint64_t> counts;
  for (const pva::Tile& t : report.compilation().tiles()) {
    counts.push_back(0);
    for (const pva::VertexInstances& v : t.memory().vertices()) {
      EXPECT_EQ(v.type().name(), "Twice");
      counts.back() += v.count();
    }
    EXPECT_EQ(t.memory().category().vertexInstanceState().nonInterleaved().nonOverlapped(), t.memory().category("vertex state"));
    EXPECT_EQ(t.memory().total(), t.memory().total().excludingGaps());
    EXPECT_GE(t.memory().total().includingGaps(), t.memory().total().excludingGaps());
  }
  EXPECT_THAT(counts, ElementsAre(1, 2, 0, 0));
  EXPECT_GT(report.compilation().tiles()[1].memory().category().vertexInstanceState().total(), 0u);
  const auto sets = report.compilation().computeSets();
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].name(), "twice");
  ASSERT_EQ(sets[0].vertices().size(), 1u);
  EXPECT_EQ(sets[0].vertices()[0].count(), 3u);
  SeenPrograms seen;
  for (const auto& p : report.compilation().programs()) p->accept(seen);
  EXPECT_TRUE(seen.variables.empty());  // nobody asked for them
}

TEST(Report, CyclesOfEachTileIfTheyAreAskedFor) {
  for (const bool asked : {false, true}) {
    ReportedLoop m;
    const std::string directory = testing::TempDir() + "pando_tile_cycles";
    Engine engine(m.graph, m.program,
                  {{"pando.inferIoTiles", "false"},
                   {"debug.instrumentCompute", asked ? "true" : "false"},
                   {"autoReport.all", "true"},
                   {"autoReport.directory", directory}});
    engine.load(m.device);
    engine.run();
    for (const pva::Report& report : {engine.getReport(), pva::openReport(directory + "/profile.pop")}) {
      std::vector<std::uint64_t> cycles;
      for (const pva::Step& s : report.execution().steps()) {
        for (const pva::ExecutedComputeSet& cs : s.computeSets()) {
          EXPECT_EQ(cs.name(), "twice");
          EXPECT_EQ(s.program()->type(), pva::Program::Type::OnTileExecute);
          EXPECT_EQ(cs.cyclesByTile(), cs.estimatedCyclesByTile());
          cycles = cs.cyclesByTile();
          EXPECT_EQ(cycles, s.cyclesByTile());
          if (asked) EXPECT_EQ(*std::max_element(cycles.begin(), cycles.end()), s.cycles());
        }
        if (s.name() == "move" && s.kind() == "exchange") {
          EXPECT_EQ(s.program()->type(), pva::Program::Type::DoExchange);
          EXPECT_EQ(s.cyclesByTile(),
                    asked ? (std::vector<std::uint64_t>{s.cycles(), s.cycles(), s.cycles(), 0}) : std::vector<std::uint64_t>());
        }
      }
      ASSERT_EQ(cycles.size(), asked ? 4u : 0u);
      if (!asked) continue;
      // Two executions; two vertices on tile 1 run on two workers of six.
      EXPECT_EQ(cycles[1] - cycles[0], 2u * 6 * (300 - 100));
      EXPECT_EQ(cycles[2], 0u);
    }
    std::filesystem::remove_all(directory);
  }
}

}  // namespace
