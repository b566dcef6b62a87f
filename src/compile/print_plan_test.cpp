// Golden texts of all passes: tests/golden/plan/PASS.txt is what a pass has put into the plan of one program. PANDO_BLESS=1 rewrites them.
// A pass is what plan.h declares and compile.cpp calls; one without a text fails.
#include "compile/print_plan.h"
#include "base/testing/places.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "base/testing/golden.h"
#include "codelet/hand_made.h"
#include "machine/machine.h"

namespace pando::compile {
namespace {

using graph::make_program;
using graph::ProgramPtr;
using graph::View;

Machine two_ipus_of_two_tiles() {
  Machine m = *find_machine("tiny4");
  m.ipus = 2;
  m.tiles_per_ipu = 2;
  return m;
}

// Tile 1 is for IO. The host's numbers go to x, which lies on tiles 0 and 2; tile 2 takes them, and they go back in reverse, and to tile 3,
// which reads them where they are. Then come steps that passes treat in their own way: a loop with a condition, branches, a function, rows
// of a remote buffer.
class PlanTest : public testing::Test {
 protected:
  PlanTest() : graph_(two_ipus_of_two_tiles(), 1) {
    const Field in = hand_made_field("in", FieldKind::input), out = hand_made_field("out", FieldKind::output);
    Codelet map = hand_made_codelet("Map", {in, out}), set = hand_made_codelet("Set", {out});
    map.code_bytes = 96;
    set.code_bytes = 64;
    graph_.library().add_builtin("test", {map, set});
    graph_.set_tile_group(TileId(1), true);
    options_.validate = true;
    options_.log = [this](const char* pass, const std::string&) { passes_.emplace_back(pass); };
    options_.show_plan = [this](const char* pass, const std::string& text) { EXPECT_TRUE(texts_.emplace(pass, text).second) << pass; };
  }

  View variable(ElementType type, std::size_t elements, std::uint32_t tile, const char* name) {
    const View v = graph_.view(graph_.add_variable(type, {elements}, name));
    graph_.set_tile_mapping(v, TileId(tile));
    return v;
  }
  ComputeSetId compute_set(const char* name, std::uint32_t tile, const View& out, const View& in = {}) {
    const ComputeSetId cs = graph_.add_compute_set(name);
    const VertexId v = graph_.add_vertex(cs, in.valid() ? "Map" : "Set");
    if (in.valid()) graph_.connect({v, "in", {}}, in);
    graph_.connect({v, "out", {}}, out);
    graph_.set_tile_mapping(v, TileId(tile));
    return cs;
  }
  static ProgramPtr sequence(std::vector<ProgramPtr> steps) { return make_program(graph::Sequence{std::move(steps)}); }
  static ProgramPtr execute(ComputeSetId cs, const View& result = {}) { return make_program(graph::Execute{cs, result}); }

  std::vector<ProgramPtr> programs() {
    const ElementType f = ElementType::float_;
    const View staged = variable(f, 8, 1, "staged"), x = variable(f, 8, 0, "x"), y = variable(f, 8, 2, "y");
    graph_.set_tile_mapping(x.slice(6, 8, 0), TileId(2));
    const View z = variable(f, 4, 3, "z"), n = variable(ElementType::unsigned_int, 1, 0, "n"),
               going = variable(ElementType::boolean, 1, 0, "going");
    graph_.set_initial_value(n, std::string_view("\3\0\0\0", 4));
    graph_.add_host_handle("y", y, true, false);
    const FifoId in = graph_.add_fifo({"in", true, f, 8, graph::ReplicatedFifo::replicate, 1});
    const RemoteBufferId rows = graph_.add_remote_buffer({"rows", f, 8, 16});
    const FunctionId function = graph_.add_function(execute(compute_set("refill", 0, x.slice(0, 4, 0))), "refill");
    const ProgramPtr call = make_program(graph::Call{function});
    const ComputeSetId map = compute_set("map", 2, y.slice(0, 4, 0), x.slice(0, 4, 0)), last = compute_set("last", 3, z, y.slice(4, 8, 0));
    return {sequence({make_program(graph::HostToDevice{in, staged}), make_program(graph::Copy{staged, x}),
                      make_program(graph::Repeat{3, sequence({execute(map), make_program(graph::Copy{y.reverse(0), x})})}, "rounds"),
                      make_program(graph::RepeatWhile{execute(last, going), going, false, call}),
                      make_program(graph::Switch{n, {{1, call}, {2, make_program(graph::WriteUndef{y})}}, {}}),
                      make_program(graph::If{going, make_program(graph::Sync{graph::SyncScope::external}), {}})}),
            make_program(graph::RemoteWrite{rows, y, n}, "save")};
  }

  graph::Graph graph_;
  Options options_;
  std::vector<std::string> passes_;  // in order
  std::map<std::string, std::string> texts_;
};

std::string contents(const std::string& path) {
  std::ifstream file(source_path(path));
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(PlanTest, EveryPassHasAText) {
  compile(graph_, programs(), options_);
  ASSERT_EQ(passes_.front(), "verify");  // it checks the graph, before there is a plan
  std::set<std::string> seen;
  for (const std::string& pass : passes_) {
    if (pass == "verify") continue;
    ASSERT_TRUE(texts_.contains(pass)) << "the pass " << pass << " has no text: name it in print_plan.h";
    EXPECT_FALSE(texts_[pass].empty()) << pass;
    EXPECT_TRUE(seen.insert(texts_[pass]).second) << pass << " has the text of another pass";
    expect_golden("plan/" + pass + ".txt", texts_[pass]);
  }
  EXPECT_EQ(texts_.size() + 1, passes_.size());
  for (const auto& entry : std::filesystem::directory_iterator(golden_path("plan")))
    EXPECT_TRUE(texts_.contains(entry.path().stem())) << entry.path() << " is no pass's";
}

// What plan.h declares is a pass that compile.cpp calls.
TEST_F(PlanTest, EveryDeclaredPassIsSeen) {
  compile(graph_, programs(), options_);
  const std::string header = contents("src/compile/plan.h");
  const std::regex declared("\nvoid (\\w+)\\(Plan& plan");
  std::size_t found = 0;
  for (std::sregex_iterator it(header.begin(), header.end(), declared), end; it != end; ++it, ++found)
    EXPECT_TRUE(texts_.contains((*it)[1])) << "no text says what " << (*it)[1] << " does";
  EXPECT_EQ(found, texts_.size());
}

TEST_F(PlanTest, OneTileOnly) {
  options_.shown_tile = TileId(1);
  compile(graph_, programs(), options_);
  EXPECT_EQ(texts_["assign_streams"], "stream s1 ipu0.io (io): tiles 1\n");
  EXPECT_NE(texts_["lay_out_variables"].find(" on t1: variable \"staged\", 32 bytes"), std::string::npos) << texts_["lay_out_variables"];
  for (const auto& [pass, text] : texts_)
    for (const char* other : {" on t0", " on t2", "memory t0", "memory t2"}) EXPECT_EQ(text.find(other), std::string::npos) << pass << text;
}

TEST_F(PlanTest, WhatDoesNotFitIsSaid) {
  const View large = variable(ElementType::float_, 400'000, 0, "large");
  compile(graph_, {execute(compute_set("fill", 0, large))}, options_);
  EXPECT_NE(texts_["place_memory"].find("\nout of memory on tile 0: "), std::string::npos) << texts_["place_memory"];
}

}  // namespace
}  // namespace pando::compile
