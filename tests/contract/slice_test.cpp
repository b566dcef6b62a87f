// A thin slice through every sentence of the execution contract, on four tiles and two IPUs:
//
//   ipu0: tile 0 computes, tile 1 is an IO tile.     ipu1: tiles 2 and 3 compute.
//
// with one user codelet (Scale), one per-tile mutable global (Count), one vertex that suspends below two calls and goes on in a
// later compute set (Begin, GoOn), one initial image (Table), one copy overlapped on an IO tile (staging), two IPUs whose streams
// sync only where they must (the copy of `half`), one function whose code is loaded and dropped (f), and one variable written
// in halves that take the same memory (wide).
#include <algorithm>
#include <sstream>

#include "setting.h"

namespace pando::contract {
namespace {

using namespace graph;
using testing::ElementsAre;

constexpr std::size_t kWide = 64;

class Slice : public Setting {
 public:
  Slice() : Setting(tiles(2, 2)) {
    add_user_codelets();
    add_variables();
    program_ = sequence({first_ipu(), second_ipu(), meeting(), halves()});
  }

  std::vector<ProgramPtr> programs() const { return {program_}; }

 private:
  void add_variables() {
    const std::vector<std::uint32_t> table = {100, 200};
    graph.images.push_back({"table", std::string(reinterpret_cast<const char*>(table.data()), 8)});
    in_ = graph.add_fifo({"in", true, ElementType::float_, 8, ReplicatedFifo::replicate, 1});
    wide_in_ = graph.add_fifo({"wide_in", true, ElementType::float_, kWide, ReplicatedFifo::replicate, 1});
    staging_ = variable("staging", 8, {1});
    x_ = variable("x", 8, {0});
    scaled_ = variable("scaled", 8, {0});
    half_ = variable("half", 8, {2});
    counts_ = variable("counts", 2, {0}, ElementType::unsigned_int);
    words_ = variable("words", 2, {3}, ElementType::unsigned_int);
    graph.set_initial_value(words_, std::string("\1\0\0\0\2\0\0\0", 8));
    at_ = variable("at", 3, {3});
    state_ = variable("state", 3, {3}, ElementType::int_);
    wide_ = variable("wide", 2 * kWide, {3});
    sum_ = variable("sum", kWide, {3});
    for (const auto& [name, view] : std::vector<std::pair<std::string, View>>{
             {"scaled", scaled_}, {"half", half_}, {"counts", counts_}, {"words", words_}, {"at", at_}, {"state", state_}, {"sum", sum_}})
      readable(name, view);
  }

  ProgramPtr execute(const std::string& name, const std::string& codelet, std::uint32_t tile,
                     const std::vector<std::pair<std::string, View>>& operands) {
    const ComputeSetId set = graph.add_compute_set(name);
    const VertexId v = user_vertex(set, codelet, tile, operands);
    if (codelet == "Scale") {
      const float factor = 3;
      graph.set_initial_value({v, "factor", {}}, ElementType::float_, std::string(reinterpret_cast<const char*>(&factor), 4), 1);
    }
    return make_program(Execute{set, {}}, name);
  }

  // The IO tile fetches a block while the compute tile counts; then they sync.
  ProgramPtr first_ipu() {
    return sequence({make_program(HostToDevice{in_, staging_}, "fetch"), execute("count", "Count", 0, {{"count", counts_.index(0)}}),
                     execute("count again", "Count", 0, {{"count", counts_.index(1)}}), copy(staging_, x_),
                     execute("scale", "Scale", 0, {{"x", x_}, {"y", scaled_}})});
  }

  // A table from an image, by a function whose code comes and goes; a walk in three compute sets.
  ProgramPtr second_ipu() {
    const FunctionId f = graph.add_function(execute("look up", "Table", 3, {{"v", words_}}), "f");
    graph.functions()[f].in_streaming_memory = true;
    std::vector<ProgramPtr> steps = {make_program(LoadFunction{f}), make_program(Call{f}), make_program(Call{f})};
    for (std::size_t i = 0; i < 3; ++i)
      steps.push_back(
          execute("walk " + std::to_string(i), i == 0 ? "Begin" : "GoOn", 3, {{"at", at_.index(i)}, {"state", state_.index(i)}}));
    return sequence(steps);
  }

  ProgramPtr meeting() { return sequence({copy(scaled_.reverse(0), half_), add(half_, half_, 2, "half")}); }

  ProgramPtr halves() {
    const View low = wide_.slice(0, kWide, 0), high = wide_.slice(kWide, 2 * kWide, 0);
    return sequence({make_program(HostToDevice{wide_in_, low}), add(low, sum_, 3, "low"), make_program(HostToDevice{wide_in_, high}),
                     add(high, sum_, 3, "high")});
  }

  FifoId in_, wide_in_;
  View staging_, x_, scaled_, half_, counts_, words_, at_, state_, wide_, sum_;
  ProgramPtr program_;
};

// What the host reads after a run, as text.
std::string results(Slice& slice, std::shared_ptr<const tile::Program> program, unsigned threads) {
  const auto runner = slice.load(std::move(program), threads);
  std::vector<float> block = {1, 2, 3, 4, 5, 6, 7, 8}, wide(2 * kWide, 7);
  runner->connect("in", block.data(), block.data() + 8);
  runner->connect("wide_in", wide.data(), wide.data() + wide.size());
  runner->run(0);
  EXPECT_THAT(Setting::read<float>(*runner, "scaled", 8), ElementsAre(3, 6, 9, 12, 15, 18, 21, 24));
  EXPECT_THAT(Setting::read<float>(*runner, "half", 8), ElementsAre(25, 22, 19, 16, 13, 10, 7, 4));
  EXPECT_THAT(Setting::read<unsigned>(*runner, "counts", 2), ElementsAre(1111, 1212));
  EXPECT_THAT(Setting::read<unsigned>(*runner, "words", 2), ElementsAre(1 + 100 + 101, 2 + 200 + 200));
  EXPECT_THAT(Setting::read<float>(*runner, "at", 3), ElementsAre(1, 13, 33));
  EXPECT_THAT(Setting::read<int>(*runner, "state", 3), ElementsAre(0, 0, 1));
  EXPECT_THAT(Setting::read<float>(*runner, "sum", kWide), testing::Each(8));
  std::string all;
  for (const char* name : {"scaled", "half", "at", "sum"}) {
    const std::vector<float> values = Setting::read<float>(*runner, name,
                                                           name == std::string("sum")  ? kWide
                                                           : name == std::string("at") ? 3
                                                                                       : 8);
    all.append(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  }
  return all;
}

TEST(Slice, RunsToTheSameBitsOnOneAndTwoThreads) {
  Slice slice;
  const auto program = slice.compile(slice.programs());
  const std::string one = results(slice, program, 1);
  EXPECT_EQ(one, results(slice, program, 2));
}

TEST(Slice, StreamsSyncOnlyWhereTheyMust) {
  Slice slice;
  const auto program = slice.compile(slice.programs());
  std::vector<std::string> names;
  for (const tile::Stream& s : program->streams) names.push_back(s.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("ipu0.compute", "ipu0.io", "ipu1.compute"));
  // The IO tile and the compute tile sync for the copy out of staging; the two IPUs for the copy of `half`.
  std::set<std::vector<std::string>> syncs;
  unsigned count = 0;
  for (const tile::Stream& s : program->streams)
    for (const tile::Instruction& i : s.code) {
      if (!i.sync.valid()) continue;
      std::vector<std::string> who;
      for (StreamId id : program->syncs[i.sync.index()].streams) who.push_back(program->streams[id.index()].name);
      if (who.size() > 1) {
        syncs.insert(who);
        ++count;
      }
    }
  EXPECT_THAT(syncs, testing::UnorderedElementsAre(testing::UnorderedElementsAre("ipu0.compute", "ipu0.io"),
                                                   testing::UnorderedElementsAre("ipu0.compute", "ipu1.compute")));
  EXPECT_EQ(count, 4u) << "two syncs, each in two streams";
}

TEST(Slice, CodeIsDroppedAndTheHalvesOfAVariableShareMemory) {
  Slice slice;
  const auto program = slice.compile(slice.programs());
  bool dropped = false;
  for (const tile::Allocation& a : allocations(*program, "Table")) dropped |= a.category == tile::Category::vertex_code && !a.always_live;
  EXPECT_TRUE(dropped) << "the code of Table is not always live";
  compile::Options whole;
  whole.split_variables = false;
  const auto unsplit = slice.compile(slice.programs(), whole);
  const auto size = [](const tile::Program& p) {
    std::uint64_t begin = ~std::uint64_t{0}, end = 0;
    for (const tile::Allocation& a : allocations(p, "wide"))
      if (a.category == tile::Category::variable) {
        begin = std::min(begin, a.offset);
        end = std::max(end, a.offset + a.size);
      }
    return end - begin;
  };
  EXPECT_EQ(size(*unsplit), 2 * kWide * 4);
  EXPECT_EQ(size(*program), kWide * 4);
}

// The dumps. They hold no estimates of host code, which depend on the host: the memory of the tile level is left out.
TEST(Slice, GraphLevel) {
  Slice slice;
  expect_golden("slice/graph.txt", graph::print(slice.graph, slice.programs()));
}

TEST(Slice, TileLevel) {
  Slice slice;
  const auto program = slice.compile(slice.programs());
  tile::PrintOptions options;
  options.memory = false;
  expect_golden("slice/tile.txt", tile::print(*program, slice.graph.library(), options));
}

}  // namespace
}  // namespace pando::contract
