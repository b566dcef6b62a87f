// The execution contract, sentences 5 to 9: memory.
#include <algorithm>

#include "setting.h"

namespace pando::contract {
namespace {

using namespace graph;
using testing::ElementsAre;
using testing::Gt;

std::uint64_t bytes_of(const std::vector<tile::Allocation>& list) {
  std::uint64_t bytes = 0;
  for (const tile::Allocation& a : list) bytes += a.size;
  return bytes;
}

// 5. A tile's address space has the target's regions; code lies where it may run; nothing lies outside or overlaps while live.
TEST(Contract05, AllocationsLieInTheTargetsRegions) {
  Setting s(tiles(1, 4));
  const View x = s.variable("x", {1, 2, 3, 4, 5, 6, 7, 8}, {0, 1});
  s.readable("x", x);
  const auto program = s.compile({s.add(x, x, 0)});
  const Machine& m = s.graph.machine();
  for (const tile::Allocation& a : program->allocations) {
    EXPECT_LE(a.offset + a.size, m.bytes_per_tile());
    if (a.category != tile::Category::vertex_code) continue;
    const auto holds = [&](const MemoryRegion& r) { return r.executable && r.begin <= a.offset && a.offset + a.size <= r.end; };
    EXPECT_TRUE(std::any_of(m.regions.begin(), m.regions.end(), holds)) << "code at " << a.offset;
  }
  EXPECT_THAT(allocations(*program, tile::Category::vertex_code), testing::SizeIs(1)) << "one codelet on one tile";
}

// 5. Offsets have 64 bits: the CPU device has more than 4 GiB. 5. The stride between tiles is an odd number of pages.
TEST(Contract05, TheCpuDeviceHasMoreThanFourGigabytes) {
  static_assert(sizeof(TileOffset) == 8);
  Setting s(*find_machine("cpu"));
  const std::size_t n = std::size_t{5} << 28;  // 5 GiB of floats, of which a few are touched
  const View big = s.variable("big", n, {0}), other = s.variable("other", n, {0}), small = s.variable("small", {1, 2, 3}, {0});
  s.readable("out", other.slice(n - 3, n, 0));
  s.graph.add_host_handle("whole", big.slice(n - 3, n, 0), true, true);
  const auto program =
      s.compile({sequence({copy(small, big.slice(n - 3, n, 0)), s.add(big.slice(n - 3, n, 0), other.slice(n - 3, n, 0), 0)})});
  EXPECT_THAT(program->tile_bytes[0], Gt(std::uint64_t{1} << 32));
  const auto runner = s.load(program, 1);
  runner->run(0);
  EXPECT_THAT(Setting::read<float>(*runner, "out", 3), ElementsAre(2, 3, 4));
}

TEST(Contract05, TheHostStrideBetweenTilesIsAnOddNumberOfPages) {
  Setting s(tiles(1, 4));
  const View x = s.variable("x", {1, 2, 3, 4}, {0, 1, 2, 3});
  s.readable("x", x);
  const auto runner = s.load(s.compile({s.add(x, x, 0)}), 1);
  const std::ptrdiff_t stride = runner->tile_base(0, TileId(1)) - runner->tile_base(0, TileId(0));
  EXPECT_EQ(stride % 4096, 0);
  EXPECT_EQ(stride / 4096 % 2, 1);
  EXPECT_EQ(runner->tile_base(0, TileId(3)) - runner->tile_base(0, TileId(2)), stride);
}

// 6. Accounting uses the target's layout: vertex state has 32-bit pointers; code is an estimate and says so.
TEST(Contract06, VertexStateHasTheTargetsSizeAndCodeIsTaggedAsAnEstimate) {
  Setting s(tiles(1, 4));
  const View x = s.variable("x", {1, 2, 3, 4}, {0});
  s.readable("x", x);
  const ComputeSetId set = s.graph.add_compute_set("cs");
  for (std::size_t i = 0; i < 4; ++i) s.add_vertex(set, x.slice(i, i + 1, 0), x.slice(i, i + 1, 0), 0);
  const auto program = s.compile({make_program(Execute{set, {}})});
  const Codelet& codelet = *s.graph.library().find("Add");
  const std::uint64_t state = codelet.target_state_bytes({0, 0});
  EXPECT_EQ(state, 16u) << "two spans: a 32-bit pointer and a 32-bit size each";
  EXPECT_GE(bytes_of(allocations(*program, tile::Category::vertex_state)), 4 * state);
  EXPECT_LT(bytes_of(allocations(*program, tile::Category::vertex_state)), 4 * codelet.host_size);
  for (const tile::Allocation& a : allocations(*program, tile::Category::vertex_code)) EXPECT_TRUE(a.estimated);
  for (const tile::Allocation& a : allocations(*program, tile::Category::variable)) EXPECT_FALSE(a.estimated);
}

// 7. Code is an allocation with a live range; mutable globals and function statics are one copy per tile, in its memory.
TEST(Contract07, CodeOfAFunctionInStreamingMemoryIsLiveOnlyWhileLoaded) {
  const auto code_is_always_live = [](bool streamed) {
    Setting s(tiles(1, 4));
    const View x = s.variable("x", {1, 2, 3, 4}, {0}), y = s.variable("y", 4, {1});
    s.readable("y", y);
    const FunctionId f = s.graph.add_function(s.add(x, y, 1), "f");
    s.graph.functions()[f].in_streaming_memory = streamed;
    std::vector<ProgramPtr> steps = {copy(x.reverse(0), x)};
    if (streamed) steps.push_back(make_program(LoadFunction{f}));
    steps.push_back(make_program(Call{f}));
    steps.push_back(copy(y.reverse(0), y));
    const auto program = s.compile({sequence(steps)});
    const auto code = allocations(*program, tile::Category::vertex_code);
    EXPECT_THAT(code, testing::SizeIs(1));
    return code.at(0).always_live;
  };
  EXPECT_TRUE(code_is_always_live(false));
  EXPECT_FALSE(code_is_always_live(true));
}

TEST(Contract07, GlobalsAndFunctionStaticsAreOneCopyPerTileInItsMemory) {
  Setting s(tiles(1, 4));
  s.add_user_codelets();
  const View counts = s.variable("counts", 3, {0}, ElementType::unsigned_int);
  s.readable("counts", counts);
  std::vector<ProgramPtr> steps;
  for (std::size_t i = 0; i < 3; ++i) {
    const ComputeSetId set = s.graph.add_compute_set("count" + std::to_string(i));
    s.user_vertex(set, "Count", i == 2 ? 3 : 0, {{"count", counts.index(i)}});
    steps.push_back(make_program(Execute{set, {}}));
  }
  const auto program = s.compile({sequence(steps)});
  std::set<TileId> with_globals;
  for (const tile::Allocation& a : allocations(*program, tile::Category::globals)) {
    with_globals.insert(a.tile);
    EXPECT_TRUE(a.always_live);
  }
  EXPECT_THAT(with_globals, ElementsAre(TileId(0), TileId(3)));
  const auto runner = s.load(program, 2);
  runner->run(0);
  EXPECT_THAT(Setting::read<unsigned>(*runner, "counts", 3), ElementsAre(1111, 1212, 1111));
}

// 8. Liveness is per byte range of a variable on a tile: a variable that is written in halves, whose halves are not live together,
// takes half the memory.
TEST(Contract08, AVariableWrittenInHalvesTakesHalfTheMemory) {
  const auto bytes_used = [](bool split) {
    Setting s(tiles(1, 1));
    const std::size_t n = 4096;
    const View v = s.variable("v", 2 * n, {0}), sum = s.variable("sum", n, {0});
    s.readable("sum", sum);
    const FifoId in = s.graph.add_fifo({"in", true, ElementType::float_, n, ReplicatedFifo::replicate, 1});
    const View low = v.slice(0, n, 0), high = v.slice(n, 2 * n, 0);
    compile::Options options;
    options.split_variables = split;
    options.infer_io_tiles = false;
    const auto program = s.compile(
        {sequence({make_program(HostToDevice{in, low}), s.add(low, sum, 0), make_program(HostToDevice{in, high}), s.add(high, sum, 0)})},
        options);
    const auto runner = s.load(program, 1);
    std::vector<float> block(n, 3);
    runner->connect("in", block.data(), block.data() + n);
    runner->run(0);
    EXPECT_THAT(Setting::read<float>(*runner, "sum", n), testing::Each(4));
    return program->tile_bytes[0];
  };
  const std::uint64_t whole = bytes_used(false), halves = bytes_used(true);
  EXPECT_LE(halves + 4 * 4096, whole) << "one half of v is saved";
}

TEST(Contract08, AFunctionUsedByTwoStreamsIsProjectedToEach) {
  Setting s(tiles(2, 2));
  const View x = s.variable("x", {1, 2, 3, 4}, {0, 2});
  s.readable("x", x);
  const ComputeSetId set = s.graph.add_compute_set("both");
  s.add_vertex(set, x.slice(0, 2, 0), x.slice(0, 2, 0), 0);
  s.add_vertex(set, x.slice(2, 4, 0), x.slice(2, 4, 0), 2);
  const FunctionId f = s.graph.add_function(make_program(Execute{set, {}}), "f");
  const auto program = s.compile({sequence({make_program(Call{f}), make_program(Call{f})})});
  unsigned with_calls = 0;
  for (const tile::Stream& stream : program->streams)
    with_calls += std::count_if(stream.code.begin(), stream.code.end(), [](const auto& i) { return i.op == tile::Op::call; }) == 2;
  EXPECT_EQ(with_calls, 2u);
  const auto runner = s.load(program, 2);
  runner->run(0);
  EXPECT_THAT(Setting::read<float>(*runner, "x", 4), ElementsAre(3, 4, 5, 6));
}

// 9. The extension header: a reserved range with an initial image, the tile's base address, resumption, reset of one tile.
TEST(Contract09, AReservedRangeStartsWithItsImageAndIsRestoredByAReset) {
  Setting s(tiles(1, 4));
  s.add_user_codelets();
  const std::vector<std::uint32_t> table = {5, 6, 7};
  s.graph.images.push_back({"table", std::string(reinterpret_cast<const char*>(table.data()), 12)});
  const View v = s.variable("v", 4, {1}, ElementType::unsigned_int);
  s.graph.set_initial_value(v, std::string(16, '\0'));
  s.readable("v", v);
  const ComputeSetId set = s.graph.add_compute_set("cs");
  s.user_vertex(set, "Table", 1, {{"v", v}});
  const auto program = s.compile({make_program(Execute{set, {}})});
  const auto reserved = allocations(*program, tile::Category::reserved);
  ASSERT_THAT(reserved, testing::SizeIs(1));
  EXPECT_EQ(reserved[0].offset, 0x18000u);
  EXPECT_EQ(reserved[0].size, 0x100u);
  const auto runner = s.load(program, 2);
  runner->run(0);
  runner->run(0);
  EXPECT_THAT(Setting::read<unsigned>(*runner, "v", 4), ElementsAre(5 + 6, 12, 14, 0));
  runner->reset_tile(0, TileId(1));
  runner->run(0);
  EXPECT_THAT(Setting::read<unsigned>(*runner, "v", 4), ElementsAre(11 + 5, 18, 21, 0)) << "the count began again";
}

TEST(Contract09, AVertexKnowsItsTile) {
  Setting s(tiles(2, 2));
  s.add_user_codelets();
  const View found = s.variable("found", 3, {3}, ElementType::unsigned_int);
  s.readable("found", found);
  const ComputeSetId set = s.graph.add_compute_set("cs");
  s.user_vertex(set, "Where", 3, {{"found", found}});
  const auto runner = s.load(s.compile({make_program(Execute{set, {}})}), 2);
  runner->run(0);
  EXPECT_THAT(Setting::read<unsigned>(*runner, "found", 3), ElementsAre(3, 4, 1));
}

TEST(Contract09, AVertexSuspendsBelowTwoCallsAndGoesOnInALaterComputeSet) {
  Setting s(tiles(1, 4));
  s.add_user_codelets();
  const View at = s.variable("at", 4, {1}), state = s.variable("state", 4, {2}, ElementType::int_);
  s.readable("at", at);
  s.readable("state", state);
  std::vector<ProgramPtr> steps;
  for (std::size_t i = 0; i < 4; ++i) {
    const ComputeSetId set = s.graph.add_compute_set("walk" + std::to_string(i));
    s.user_vertex(set, i == 0 ? "Begin" : "GoOn", 1, {{"at", at.index(i)}, {"state", state.index(i)}});
    steps.push_back(make_program(Execute{set, {}}));
  }
  const auto program = s.compile({sequence(steps)});
  for (unsigned threads : {1u, 2u}) {
    const auto runner = s.load(program, threads);
    runner->run(0);
    EXPECT_THAT(Setting::read<float>(*runner, "at", 4), ElementsAre(1, 13, 33, 33));
    EXPECT_THAT(Setting::read<int>(*runner, "state", 4), ElementsAre(0, 0, 1, -1)) << "suspended, suspended, returned, none";
  }
}

}  // namespace
}  // namespace pando::contract
