#include "compile/compile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "codelet/hand_made.h"
#include "machine/machine.h"

namespace pando::compile {
namespace {

using graph::make_program;
using graph::ProgramPtr;
using graph::View;

Field field(const char* name, FieldKind kind) { return hand_made_field(name, kind); }

Codelet codelet(const char* name, std::vector<Field> fields, std::uint32_t code_bytes) {
  Codelet c = hand_made_codelet(name, std::move(fields));
  c.code_bytes = code_bytes;
  return c;
}

// Four tiles; codelets Map (in -> out) and Set (out).
class CompileTest : public testing::Test {
 protected:
  CompileTest() : graph_(machine(), 1) {
    graph_.library().add_builtin("test", {codelet("Map", {field("in", FieldKind::input), field("out", FieldKind::output)}, 96),
                                          codelet("Set", {field("out", FieldKind::output)}, 64)});
    options_.validate = true;
  }
  virtual Machine machine() {
    Machine m = *find_machine("tiny4");
    m.ipus = 2;
    m.tiles_per_ipu = 2;
    return m;
  }

  View variable(std::size_t elements, std::uint32_t tile, const char* name) {
    const View v = graph_.view(graph_.add_variable(ElementType::float_, {elements}, name));
    graph_.set_tile_mapping(v, TileId(tile));
    return v;
  }
  ProgramPtr map(const View& in, const View& out, std::uint32_t tile, const char* name) {
    const ComputeSetId cs = graph_.add_compute_set(name);
    const VertexId v = graph_.add_vertex(cs, "Map");
    graph_.connect({v, "in", {}}, in);
    graph_.connect({v, "out", {}}, out);
    graph_.set_tile_mapping(v, TileId(tile));
    return make_program(graph::Execute{cs, {}}, name);
  }
  ProgramPtr set(const View& out, std::uint32_t tile, const char* name) {
    const ComputeSetId cs = graph_.add_compute_set(name);
    const VertexId v = graph_.add_vertex(cs, "Set");
    graph_.connect({v, "out", {}}, out);
    graph_.set_tile_mapping(v, TileId(tile));
    return make_program(graph::Execute{cs, {}}, name);
  }
  static ProgramPtr copy(const View& from, const View& to) { return make_program(graph::Copy{from, to}); }
  static ProgramPtr sequence(std::vector<ProgramPtr> steps) { return make_program(graph::Sequence{std::move(steps)}); }

  const tile::Program& compile_one(ProgramPtr p) {
    result_ = compile(graph_, {std::move(p)}, options_);
    return *result_.program;
  }
  // Bytes that travel: a repeated run travels once.
  static std::uint64_t bytes(const std::vector<tile::Move>& moves) {
    std::uint64_t n = 0;
    for (const tile::Move& m : moves) n += std::uint64_t{m.bytes} * (m.source_step == 0 ? 1 : m.count);
    return n;
  }
  // Bytes of a tile that hold a variable at some time.
  std::uint64_t variable_bytes(std::uint32_t tile) {
    std::vector<Interval> used;
    for (const tile::Allocation& a : result_.program->allocations)
      if (a.tile.value == tile && a.category == tile::Category::variable) used.push_back({a.offset, a.offset + a.size});
    normalise(used);
    return total_size(used);
  }
  std::vector<tile::Op> ops(std::size_t stream) {
    std::vector<tile::Op> list;
    for (const tile::Instruction& i : result_.program->streams[stream].code) list.push_back(i.op);
    return list;
  }

  graph::Graph graph_;
  Options options_;
  Result result_;
};

TEST_F(CompileTest, OneMoveForAContiguousCopy) {
  const View a = variable(100, 0, "a"), b = variable(100, 1, "b");
  const tile::Program& p = compile_one(copy(a, b));
  ASSERT_EQ(p.exchanges.size(), 1u);
  ASSERT_EQ(p.exchanges[0].receive.size(), 1u);
  EXPECT_EQ(p.exchanges[0].receive[0].bytes, 400u);
  EXPECT_TRUE(p.exchanges[0].arrange.empty());
}

TEST_F(CompileTest, AGraphWithoutProgramsIsOne) {
  const View a = variable(16, 0, "a");
  graph_.set_initial_value(a, std::string(64, 'x'));
  options_.validate = true;
  const Result none = compile(graph_, {}, options_);
  EXPECT_EQ(none.program->programs, 0u);
  EXPECT_TRUE(tile::verify(*none.program, graph_.library()).empty());
}

TEST_F(CompileTest, TransposeIsStridedNotElementwise) {
  const View a = variable(64 * 64, 0, "a"), b = variable(64 * 64, 1, "b");
  const tile::Program& p = compile_one(copy(a.reshape({64, 64}).dim_shuffle({1, 0}), b.reshape({64, 64})));
  EXPECT_EQ(p.exchanges[0].receive.size(), 64u);
}

TEST_F(CompileTest, BroadcastArrivesOnceOnATile) {
  const View a = variable(8, 0, "a"), b = variable(32, 1, "b");
  const tile::Program& p = compile_one(copy(a.reshape({1, 8}).broadcast(4, 0), b.reshape({4, 8})));
  EXPECT_EQ(bytes(p.exchanges[0].receive), 32u);
  options_.merge_moves = false;  // spelled out: one arrival, three copies on the tile
  const tile::Program& plain = compile_one(copy(a.reshape({1, 8}).broadcast(4, 0), b.reshape({4, 8})));
  EXPECT_EQ(bytes(plain.exchanges[0].receive), 32u);
  EXPECT_EQ(bytes(plain.exchanges[0].arrange), 96u);
}

TEST_F(CompileTest, ScalarBroadcastIsOneMove) {
  const View a = variable(1, 0, "a"), b = variable(1000, 1, "b");
  const tile::Program& p = compile_one(copy(a.broadcast(1000, 0), b));
  ASSERT_EQ(p.exchanges[0].receive.size(), 1u);
  EXPECT_EQ(p.exchanges[0].receive[0].count, 1000u);
  EXPECT_EQ(p.exchanges[0].receive[0].source_step, 0);
}

TEST_F(CompileTest, ACopyOntoItselfReversedIsStaged) {
  const View a = variable(16, 0, "a");
  const tile::Program& p = compile_one(copy(a.reverse(0), a));
  EXPECT_EQ(bytes(p.exchanges[0].receive), 64u);
  EXPECT_EQ(bytes(p.exchanges[0].arrange), 64u);
  EXPECT_TRUE(tile::verify(p, graph_.library()).empty());
}

TEST_F(CompileTest, ACopyOntoItselfIsNothing) {
  const View a = variable(16, 0, "a");
  const tile::Program& p = compile_one(copy(a, a));
  EXPECT_EQ(ops(0), (std::vector<tile::Op>{tile::Op::end}));
  EXPECT_TRUE(p.exchanges.empty());
}

TEST_F(CompileTest, OverlappingOperandsArriveOnce) {
  options_.bind = false;
  const View a = variable(16, 0, "a"), b = variable(12, 1, "b"), c = variable(12, 1, "c");
  const ComputeSetId cs = graph_.add_compute_set("cs");
  for (const auto& [in, out] : {std::pair(a.slice(0, 12, 0), b), std::pair(a.slice(4, 16, 0), c)}) {
    const VertexId v = graph_.add_vertex(cs, "Map");
    graph_.connect({v, "in", {}}, in);
    graph_.connect({v, "out", {}}, out);
    graph_.set_tile_mapping(v, TileId(1));
  }
  const tile::Program& p = compile_one(sequence({set(a, 0, "set"), make_program(graph::Execute{cs, {}})}));
  ASSERT_EQ(p.exchanges.size(), 1u);
  ASSERT_EQ(p.exchanges[0].receive.size(), 1u);
  EXPECT_EQ(p.exchanges[0].receive[0].bytes, 64u);
}

TEST_F(CompileTest, BindsAReadOnlyOperandInOnePieceOnAnotherTile) {
  const View a = variable(16, 0, "a"), b = variable(16, 1, "b");
  const ProgramPtr program = sequence({set(a, 0, "set"), map(a, b, 1, "map")});
  const tile::Program& bound = compile_one(program);
  EXPECT_TRUE(bound.exchanges.empty());
  EXPECT_EQ(bytes(bound.computes[1].bound), 64u);
  EXPECT_EQ(bound.operands[bound.vertices[1].operands].tile, TileId(0));
  options_.bind = false;
  const tile::Program& received = compile_one(program);
  EXPECT_EQ(bytes(received.exchanges[0].receive), 64u);
  EXPECT_EQ(received.operands[received.vertices[1].operands].tile, TileId(1));
}

TEST_F(CompileTest, NeverBindsAcrossStreams) {
  const View a = variable(16, 0, "a"), b = variable(16, 2, "b");
  const tile::Program& p = compile_one(sequence({set(a, 0, "set"), map(a, b, 2, "map")}));
  ASSERT_EQ(p.streams.size(), 2u);
  ASSERT_EQ(p.exchanges.size(), 1u);
  EXPECT_EQ(p.syncs.size(), 1u);
  EXPECT_TRUE(p.computes[1].bound.empty());
}

TEST_F(CompileTest, AnOutputInPiecesIsScattered) {
  const View a = variable(8, 0, "a"), b = variable(16, 0, "b");
  const tile::Program& p = compile_one(sequence({set(a, 0, "set"), map(a, b.sub_sample(2, 0), 0, "map")}));
  ASSERT_EQ(p.exchanges.size(), 1u);
  EXPECT_EQ(bytes(p.exchanges[0].receive), 32u);
  EXPECT_EQ(ops(0), (std::vector<tile::Op>{tile::Op::compute, tile::Op::compute, tile::Op::exchange, tile::Op::end}));
}

TEST_F(CompileTest, VariablesThatAreNotLiveTogetherShareMemory) {
  const View a = variable(100, 0, "a"), b = variable(100, 0, "b"), c = variable(100, 0, "c"), d = variable(100, 0, "d");
  const ProgramPtr program = sequence({set(a, 0, "1"), map(a, b, 0, "2"), map(b, c, 0, "3"), map(c, d, 0, "4")});
  compile_one(program);
  EXPECT_EQ(variable_bytes(0), 800u);
  options_.share_memory = false;
  compile_one(program);
  EXPECT_EQ(variable_bytes(0), 1600u);
}

// The halves of `a` are never needed together: one partial write that halves memory.
TEST_F(CompileTest, LivenessIsPerByteRange) {
  const View a = variable(2000, 0, "a"), b = variable(1, 0, "b");
  const View low = a.slice(0, 1000, 0), high = a.slice(1000, 2000, 0);
  const ProgramPtr program = sequence({set(low, 0, "1"), map(low, b, 0, "2"), set(high, 0, "3"), map(high, b, 0, "4")});
  compile_one(program);
  EXPECT_LT(variable_bytes(0), 4100u);
  options_.split_variables = false;
  compile_one(program);
  EXPECT_GE(variable_bytes(0), 8000u);
}

TEST_F(CompileTest, TilesThatOnlyCopyAreIo) {
  const View a = variable(16, 0, "a"), b = variable(16, 1, "b");
  const tile::Program& p = compile_one(sequence({copy(b, a), map(a, a, 0, "map")}));
  ASSERT_EQ(p.streams.size(), 2u);
  EXPECT_EQ(p.streams[0].name, "ipu0.compute");
  EXPECT_EQ(p.streams[1].name, "ipu0.io");
  ASSERT_EQ(p.syncs.size(), 1u);
  EXPECT_EQ(p.syncs[0].streams.size(), 2u);
  options_.infer_io_tiles = false;
  EXPECT_EQ(compile_one(sequence({copy(b, a), map(a, a, 0, "map2")})).streams.size(), 1u);
}

TEST_F(CompileTest, AnExplicitTileGroupOverrides) {
  const View a = variable(16, 0, "a"), b = variable(16, 1, "b");
  graph_.set_tile_group(TileId(1), false);
  const tile::Program& p = compile_one(sequence({copy(b, a), map(a, a, 0, "map")}));
  EXPECT_EQ(p.streams.size(), 1u);
}

TEST_F(CompileTest, APredicateTravelsToTheStreamsThatBranch) {
  const View p0 = graph_.view(graph_.add_variable(ElementType::boolean, {}, "p"));
  graph_.set_tile_mapping(p0, TileId(0));
  const View a = variable(16, 2, "a");
  const ProgramPtr branch = make_program(graph::If{p0, set(a, 2, "then"), nullptr});
  const tile::Program& p = compile_one(branch);
  ASSERT_EQ(p.streams.size(), 2u);
  ASSERT_EQ(p.exchanges.size(), 1u);
  for (std::size_t s = 0; s < 2; ++s) EXPECT_EQ(ops(s)[0], tile::Op::exchange);
  // Each stream tests a value on a tile of its own.
  for (const tile::Stream& s : p.streams)
    for (const tile::Instruction& i : s.code)
      if (i.op == tile::Op::branch_true) { EXPECT_TRUE(std::find(s.tiles.begin(), s.tiles.end(), p.locations[i.b].tile) != s.tiles.end()); }
}

TEST_F(CompileTest, StreamsThatDoNotCrossDoNotSync) {
  const View a = variable(16, 0, "a"), b = variable(16, 2, "b");
  const tile::Program& p = compile_one(sequence({set(a, 0, "1"), set(b, 2, "2"), map(a, a, 0, "3"), map(b, b, 2, "4")}));
  EXPECT_EQ(p.streams.size(), 2u);
  EXPECT_TRUE(p.syncs.empty());
}

TEST_F(CompileTest, CodeOfAFunctionInStreamingMemoryIsLiveFromLoadToLastCall) {
  const View a = variable(16, 0, "a");
  const ProgramPtr body = set(a, 0, "body");
  const FunctionId f = graph_.add_function(body, "f");
  graph_.functions()[f].in_streaming_memory = true;
  const ProgramPtr call = make_program(graph::Call{f});
  const tile::Program& p = compile_one(
      sequence({map(a, a, 0, "before"), make_program(graph::LoadFunction{f}), call, map(a, a, 0, "between"), call, map(a, a, 0, "after")}));
  std::vector<tile::Op> expected{tile::Op::compute,   tile::Op::load_code, tile::Op::call, tile::Op::compute, tile::Op::call,
                                 tile::Op::drop_code, tile::Op::compute,   tile::Op::end,  tile::Op::compute, tile::Op::ret};
  EXPECT_EQ(ops(0), expected);
  const auto code = std::find_if(p.allocations.begin(), p.allocations.end(), [&](const tile::Allocation& x) {
    return x.category == tile::Category::vertex_code && p.names[x.name.index()] == "Set";
  });
  ASSERT_NE(code, p.allocations.end());
  EXPECT_FALSE(code->always_live);
  EXPECT_EQ(p.live_ranges[code->live].front().first, 1u);
  EXPECT_TRUE(code->estimated);
}

// The next round calls it again.
TEST_F(CompileTest, CodeOfAFunctionThatALoopCallsIsNotDroppedInTheLoop) {
  const View a = variable(16, 0, "a");
  const FunctionId f = graph_.add_function(set(a, 0, "body"), "f");
  graph_.functions()[f].in_streaming_memory = true;
  const ProgramPtr call = make_program(graph::Call{f}), load = make_program(graph::LoadFunction{f});
  compile_one(sequence({load, make_program(graph::Repeat{3, call}), map(a, a, 0, "after"),
                        make_program(graph::Repeat{2, sequence({load, call, map(a, a, 0, "in")})})}));
  const std::vector<tile::Op> expected{tile::Op::load_code, tile::Op::repeat,  tile::Op::call,       tile::Op::repeat_end,
                                       tile::Op::compute,   tile::Op::repeat,  tile::Op::load_code,  tile::Op::call,
                                       tile::Op::drop_code, tile::Op::compute, tile::Op::repeat_end, tile::Op::end,
                                       tile::Op::compute,   tile::Op::ret};
  EXPECT_EQ(ops(0), expected);
}

// Code that several codelets share is there once per tile; what is declared is no estimate.
TEST_F(CompileTest, DeclaredCode) {
  Codelet first = codelet("First", {field("out", FieldKind::output)}, 80),
          second = codelet("Second", {field("out", FieldKind::output)}, 96);
  second.code_declared = true;
  first.shared_code = second.shared_code = {{"library", 5000}};
  graph_.library().add_builtin("sharing", {first, second});
  const View a = variable(16, 0, "a");
  const ComputeSetId work = graph_.add_compute_set("work");
  for (const char* name : {"First", "Second"}) {
    const VertexId v = graph_.add_vertex(work, name);
    graph_.connect({v, "out", {}}, std::string(name) == "First" ? a.slice(0, 8, 0) : a.slice(8, 16, 0));
    graph_.set_tile_mapping(v, TileId(0));
  }
  const tile::Program& p = compile_one(make_program(graph::Execute{work, {}}));
  std::set<std::string> code;
  for (const tile::Allocation& x : p.allocations)
    if (x.category == tile::Category::vertex_code)
      code.insert(p.names[x.name.index()] + " " + std::to_string(x.size) + (x.estimated ? " estimate" : " declared"));
  EXPECT_EQ(code, (std::set<std::string>{"First 80 estimate", "Second 96 declared", "code of library 5000 declared"}));
}

// What a library reads through the tile's memory cannot lie in another tile's.
TEST_F(CompileTest, OperandsOfALibrarysCallerAreReceived) {
  Codelet caller = codelet("Caller", {field("in", FieldKind::input), field("out", FieldKind::output)}, 80);
  caller.shared_ranges = {{4096, 1024, ""}};
  graph_.library().add_builtin("calling", {caller});
  const View a = variable(16, 0, "a"), b = variable(16, 1, "b");
  for (const char* name : {"Map", "Caller"}) {
    const ComputeSetId set = graph_.add_compute_set(name);
    const VertexId v = graph_.add_vertex(set, name);
    graph_.connect({v, "in", {}}, a);
    graph_.connect({v, "out", {}}, b);
    graph_.set_tile_mapping(v, TileId(1));
    const tile::Program& p = compile_one(sequence({this->set(a, 0, "fill"), make_program(graph::Execute{set, {}}, name)}));
    EXPECT_EQ(p.computes.back().bound.empty(), std::string(name) == "Caller") << name;
    EXPECT_EQ(p.exchanges.empty(), std::string(name) == "Map") << name;
  }
}

TEST_F(CompileTest, ReservedRangesOfATile) {
  Codelet first = codelet("First", {field("out", FieldKind::output)}, 80),
          second = codelet("Second", {field("out", FieldKind::output)}, 96);
  first.shared_ranges = {{0, 64, ""}, {4096, 1024, ""}};
  second.shared_ranges = {{4096, 1024, ""}};
  Codelet third = second;
  third.name = "Third";
  third.reserved = {5000, 8, ""};
  graph_.library().add_builtin("reserving", {first, second, third});
  const View a = variable(16, 0, "a");
  const auto work = [&](const char* name) {
    const ComputeSetId set = graph_.add_compute_set(name);
    const VertexId v = graph_.add_vertex(set, name);
    graph_.connect({v, "out", {}}, a);
    graph_.set_tile_mapping(v, TileId(0));
    return make_program(graph::Execute{set, {}}, name);
  };
  const tile::Program& p = compile_one(sequence({work("First"), work("Second")}));
  std::vector<std::uint64_t> begins;
  for (const tile::Allocation& x : p.allocations)
    if (x.category == tile::Category::reserved) begins.push_back(x.offset);
  std::sort(begins.begin(), begins.end());
  EXPECT_EQ(begins, (std::vector<std::uint64_t>{0, 4096}));
  try {
    compile_one(work("Third"));
    FAIL() << "overlapping ranges";
  } catch (const std::exception& e) {
    EXPECT_NE(std::string(e.what()).find(
                  "tile 0: codelet Third reserves bytes 4096 to 5120, of which some are reserved by Third (bytes 5000 to 5008)"),
              std::string::npos)
        << e.what();
  }
}

// What lives as long as the program lies in one block of a tile, unless only its pieces fit.
TEST_F(CompileTest, WhatIsAlwaysLiveIsOneBlockWhereThereIsRoom) {
  Codelet middle = codelet("Middle", {field("out", FieldKind::output)}, 80);
  middle.shared_ranges = {{300'000, 1024, ""}};
  graph_.library().add_builtin("reserving", {middle});
  const View out = variable(2, 0, "out");
  const ComputeSetId cs = graph_.add_compute_set("work");
  const VertexId v = graph_.add_vertex(cs, "Middle");
  graph_.connect({v, "out", {}}, out);
  graph_.set_tile_mapping(v, TileId(0));
  const ProgramPtr program = make_program(graph::Execute{cs, {}});
  for (const char* name : {"a", "b", "c", "d"}) graph_.add_host_handle(name, variable(35'000, 0, name), true, true);
  const auto hosted = [&] {  // begins of the hosted variables
    std::vector<std::uint64_t> begins;
    for (const tile::Allocation& x : result_.program->allocations)
      if (x.tile.value == 0 && x.size == 140'000) begins.push_back(x.offset);
    return begins;
  };
  compile_one(program);
  EXPECT_FALSE(result_.out_of_memory);
  ASSERT_EQ(hosted().size(), 4u);
  EXPECT_LE(hosted()[1] + 140'000, 300'000u);
  EXPECT_GE(hosted()[2], 301'024u);
  graph_.add_host_handle("e", variable(35'000, 1, "e"), true, true);
  graph_.add_host_handle("f", variable(35'000, 1, "f"), true, true);
  compile_one(program);
  std::vector<std::uint64_t> begins;
  for (const tile::Allocation& x : result_.program->allocations)
    if (x.tile.value == 1 && x.size == 140'000) begins.push_back(x.offset);
  ASSERT_EQ(begins.size(), 2u);
  EXPECT_EQ(begins[1], begins[0] + 140'000);
}

// The host reads a tensor that it writes by the same moves backwards, whichever handle comes first; not where they would go through its
// block from the end.
TEST_F(CompileTest, HandlesOfOneTensorShareTheirMoves) {
  const View x = graph_.view(graph_.add_variable(ElementType::float_, {64, 32}, "x")), y = variable(64, 1, "y");
  for (std::uint32_t t = 0; t < 4; ++t) graph_.set_tile_mapping(x.slice(16 * t, 16 * t + 16, 0), TileId(3 - t));
  const View turned = x.dim_shuffle({1, 0});
  graph_.add_host_handle("get", turned, true, false);
  graph_.add_host_handle("put", turned, false, true);
  graph_.add_host_handle("both", x, true, true);
  graph_.add_host_handle("other", turned.slice(0, 8, 0), true, false);
  graph_.add_host_handle("backwards", y.reverse(0), true, true);
  const tile::Program& p = compile_one(set(y, 1, "fill"));
  const auto moves = [&](tile::TransferId t) { return p.transfers[t.index()].moves; };
  const auto turn = [](std::vector<tile::Move> list) {
    for (tile::Move& m : list) {
      std::swap(m.source_tile, m.destination_tile);
      std::swap(m.source, m.destination);
      std::swap(m.source_step, m.destination_step);
    }
    return list;
  };
  EXPECT_FALSE(p.transfers[p.handles[0].read.index()].to_device);
  EXPECT_FALSE(moves(p.handles[0].read).empty());
  EXPECT_EQ(moves(p.handles[0].read), turn(moves(p.handles[1].write)));
  EXPECT_EQ(moves(p.handles[2].read), turn(moves(p.handles[2].write)));
  EXPECT_EQ(bytes(moves(p.handles[3].read)), 8 * 64 * 4u);
  for (const tile::Move& m : moves(p.handles[4].read)) EXPECT_GE(m.destination_step, 0);
}

TEST_F(CompileTest, OutOfMemoryNamesTileStepAndVariables) {
  const View a = variable(100'000, 1, "big"), b = variable(100'000, 1, "other");
  const ProgramPtr program = sequence({set(a, 1, "fill"), map(a, b, 1, "work")});
  compile_one(program);
  ASSERT_TRUE(result_.out_of_memory);
  const std::string text = result_.out_of_memory->message();
  EXPECT_EQ(result_.out_of_memory->tile, TileId(1));
  EXPECT_NE(text.find("tile 1"), std::string::npos) << text;
  EXPECT_NE(text.find("'work'"), std::string::npos) << text;
  EXPECT_NE(text.find("variable 'big' (390.6 KiB)"), std::string::npos) << text;
  EXPECT_TRUE(result_.program->out_of_memory);
  EXPECT_FALSE(result_.program->allocations.empty());  // the report can be written
}

// Code must lie in the executable region: too much of it is said so, though the tile has room.
TEST_F(CompileTest, TooMuchCodeNamesTheExecutableRegion) {
  graph_.library().add_builtin("large", {codelet("Large", {field("out", FieldKind::output)}, 300'000)});
  const View a = variable(16, 0, "a");
  const ComputeSetId cs = graph_.add_compute_set("cs");
  const VertexId v = graph_.add_vertex(cs, "Large");
  graph_.connect({v, "out", {}}, a);
  graph_.set_tile_mapping(v, TileId(0));
  compile_one(make_program(graph::Execute{cs, {}}));
  ASSERT_TRUE(result_.out_of_memory);
  const std::string text = result_.out_of_memory->message();
  EXPECT_NE(text.find("of executable memory are needed and 208.0 KiB are there"), std::string::npos) << text;
  EXPECT_NE(text.find("vertex code 'Large' (293.0 KiB)"), std::string::npos) << text;
}

TEST_F(CompileTest, CompilingIsDeterministic) {
  const View a = variable(64, 0, "a"), b = variable(64, 2, "b");
  const ProgramPtr program = sequence({set(a, 0, "1"), copy(a, b), map(b, a, 1, "2")});
  compile_one(program);
  const std::string first = tile::print(*result_.program, graph_.library());
  compile_one(program);
  EXPECT_EQ(first, tile::print(*result_.program, graph_.library()));
}

TEST_F(CompileTest, IndependentCopiesAreOneExchange) {
  const View a = variable(16, 0, "a"), b = variable(16, 1, "b"), c = variable(16, 0, "c"), d = variable(16, 1, "d");
  const auto exchanges = [&](std::vector<ProgramPtr> steps) { return compile_one(sequence(std::move(steps))).exchanges.size(); };
  EXPECT_EQ(exchanges({copy(a, b), copy(c, d)}), 1u);
  EXPECT_EQ(exchanges({copy(a, b), copy(b, c)}), 2u);  // reads what was written
  EXPECT_EQ(exchanges({copy(a, b), copy(c, a)}), 2u);  // writes what was read
  EXPECT_EQ(exchanges({copy(a, b), copy(c, b)}), 2u);  // writes it again
  EXPECT_EQ(exchanges({copy(a.slice(0, 8, 0), b.slice(0, 8, 0)), copy(a.slice(8, 16, 0), b.slice(8, 16, 0))}), 1u);
  EXPECT_EQ(exchanges({copy(a.slice(0, 8, 0), a.slice(4, 12, 0)), copy(c, d)}), 2u);  // is staged: the other one need not be
  EXPECT_EQ(exchanges({copy(c, d), copy(a.slice(0, 8, 0), a.slice(4, 12, 0))}), 2u);
  EXPECT_EQ(exchanges({copy(a, b), make_program(graph::WriteUndef{c}), copy(c, d)}),
            3u);  // something stands between them: a list of places, too
  EXPECT_EQ(exchanges({copy(a, b), make_program(graph::Copy{c, d}, "named")}), 1u);
  EXPECT_EQ(result_.program->names[result_.program->exchanges[0].name.index()], "copy");  // the first one's
  options_.merge_copies = false;
  EXPECT_EQ(exchanges({copy(a, b), copy(c, d)}), 2u);
}

// Each copy alone fits: x is dead before y is written. At once both have to be there.
TEST_F(CompileTest, CopiesThatFitOneByOneOnlyStayApart) {
  Machine one = machine();
  one.ipus = 1;
  one.tiles_per_ipu = 4;
  graph_ = graph::Graph(one, 1);
  graph_.library().add_builtin("test", {codelet("Map", {field("in", FieldKind::input), field("out", FieldKind::output)}, 96),
                                        codelet("Set", {field("out", FieldKind::output)}, 64)});
  const std::size_t n = one.bytes_per_tile() / 4 / 5 * 3;
  const View x = variable(n, 0, "x"), to = variable(n, 1, "to"), from = variable(n, 2, "from"), y = variable(n, 0, "y"),
             z = variable(8, 0, "z");
  const auto program = [&] { return sequence({set(x, 0, "x"), set(from, 2, "from"), copy(x, to), copy(from, y), map(y, z, 0, "y")}); };
  options_.infer_io_tiles = false;
  options_.validate = options_.bounded_memory = false;
  EXPECT_EQ(compile_one(program()).exchanges.size(), 1u);
  options_.validate = options_.bounded_memory = true;
  EXPECT_EQ(compile_one(program()).exchanges.size(), 2u);
  EXPECT_FALSE(result_.out_of_memory);
}

TEST_F(CompileTest, ControlCodeIsThatOfTilesThatTakePart) {
  const View a = variable(8, 0, "a"), b = variable(8, 1, "b");
  std::vector<ProgramPtr> steps;
  for (int i = 0; i < 20; ++i) steps.push_back(set(a, 0, "a"));
  for (int i = 0; i < 10; ++i) steps.push_back(make_program(graph::WriteUndef{b}));
  steps.push_back(copy(a, b));
  options_.infer_io_tiles = false;
  compile_one(sequence(steps));
  const auto control = [&](std::uint32_t tile) {
    std::uint64_t n = 0;
    for (const tile::Allocation& x : result_.program->allocations)
      if (x.tile.value == tile && x.category == tile::Category::control_code) n += x.size;
    return n / 8;
  };
  EXPECT_EQ(control(0), 21u);  // its vertices, and the copy
  EXPECT_EQ(control(1), 2u);   // it lets the vertices pass, and takes part in the copy
}

// Copies of grids between random mappings: programs are the same, however it is found out what the copies read.
TEST_F(CompileTest, RegularCopiesAreThoseThatTheirMovesMake) {
  std::mt19937 rng(5);
  const auto pick = [&](std::size_t n) { return static_cast<std::size_t>(rng() % n); };
  const auto mapped = [&](const char* name, std::size_t rows, std::size_t columns) {
    const View v = graph_.view(graph_.add_variable(ElementType::float_, {rows, columns}, name)), flat = v.flatten();
    for (std::size_t at = 0, tile = 0; at < rows * columns; ++tile) {
      const std::size_t n = std::min(rows * columns - at, 40 + pick(rows * columns / 2));
      graph_.set_tile_mapping(flat.slice(at, at + n, 0), TileId(static_cast<std::uint32_t>(tile % 4)));
      at += n;
    }
    return v;
  };
  std::size_t whole = 0;
  for (int round = 0; round < 60; ++round) {
    graph_ = graph::Graph(machine(), 1);
    const std::size_t rows = 20 + pick(40), columns = 20 + pick(40), part = pick(3) == 0 ? rows - 1 - pick(8) : rows;
    const View a = mapped("a", rows, columns), b = mapped("b", columns, part), c = mapped("c", rows, columns);
    const View turned = a.slice(0, part, 0).dim_shuffle({1, 0});
    const View source =
        pick(4) == 0 ? a.slice(0, 1, 1).broadcast(static_cast<unsigned>(columns), 1).slice(0, part, 0).dim_shuffle({1, 0}) : turned;
    const auto program = [&] { return sequence({copy(c, a), copy(pick(2) == 0 ? source : turned.reverse(0), b), copy(b, turned)}); };
    const ProgramPtr both = program();
    options_.regular_copies = false;
    const std::string slow = tile::print(compile_one(both), graph_.library());
    options_.regular_copies = true;
    EXPECT_EQ(tile::print(compile_one(both), graph_.library()), slow) << "round " << round;
    for (const tile::Exchange& x : result_.program->exchanges) whole += x.receive.size() > 64;
  }
  EXPECT_GT(whole, 60u);
}

// Of many vertices on a tile that read the same elements in the same order, which lie in pieces, one buffer serves all.
TEST_F(CompileTest, EqualOperandsAreGatheredOnceHoweverManyThereAre) {
  constexpr std::size_t kColumns = 100, kRounds = 3;
  const View a = variable(kColumns * 8, 0, "a"), out = variable(kColumns * kRounds * 8, 1, "out");
  const ComputeSetId cs = graph_.add_compute_set("columns");
  for (std::size_t i = 0; i < kColumns * kRounds; ++i) {
    const VertexId v = graph_.add_vertex(cs, "Map");
    graph_.connect({v, "in", {}}, a.reshape({8, kColumns}).slice(i % kColumns, i % kColumns + 1, 1).flatten());
    graph_.connect({v, "out", {}}, out.slice(8 * i, 8 * i + 8, 0));
    graph_.set_tile_mapping(v, TileId(1));
  }
  const tile::Program& p = compile_one(make_program(graph::Execute{cs, {}}));
  ASSERT_EQ(p.exchanges.size(), 1u);
  EXPECT_EQ(bytes(p.exchanges[0].receive), kColumns * 8 * 4);
}

}  // namespace
}  // namespace pando::compile
