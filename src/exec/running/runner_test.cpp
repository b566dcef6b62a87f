#include "exec/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <random>
#include <sstream>
#include <thread>

#include "base/sanitizers.h"
#include "exec/test_kernels.h"
#include "poplar/exceptions.hpp"

namespace pando::exec {
namespace {

using namespace testing_kernels;
using testing::ElementsAre;
using testing::HasSubstr;
using tile::bytes_of;
using tile::Move;
using tile::Op;
using tile::SyncId;

TileId t(unsigned n) { return TileId(n); }

struct Hand : tile::HandMade {
  Codelets k;
  Hand(unsigned ipus, unsigned tiles, std::uint64_t bytes = 4096) : HandMade(ipus, tiles, bytes), k(add_codelets(library)) {}

  std::uint32_t add(StreamId s, unsigned tile, std::uint64_t offset, std::uint32_t n, float by) {
    return add_compute(s, {{k.add, t(tile), {{t(tile), n, offset}}, bytes_of(by)}});
  }
  std::unique_ptr<Runner> runner(unsigned threads = 2, Options options = {}) {
    EXPECT_THAT(tile::verify(program, library), testing::IsEmpty());
    for (std::size_t i = program.codelet_names.size(); i < library.size(); ++i)
      program.codelet_names.push_back(library[CodeletId(static_cast<std::uint32_t>(i))].name);
    options.threads = threads;
    return std::make_unique<Runner>(std::make_shared<tile::Program>(program), library, options);
  }
};

float& at(Runner& r, unsigned tile, std::uint64_t offset, unsigned replica = 0) {
  return *reinterpret_cast<float*>(r.tile_base(replica, t(tile)) + offset);
}

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) { return e.what(); }
  return "no error";
}

TEST(Run, ComputesAndExchanges) {
  Hand p(1, 4);
  const StreamId s = p.add_ipu(0);
  p.emit(s, Op::exchange, p.add_exchange({{t(1), t(0), 0, 64, 16}}, {{t(0), t(0), 64, 96, 4, 4, 4, 8}}));
  p.emit(s, Op::compute, p.add_compute(s, {{p.k.scale, t(0), {{t(0), 7, 96}, {t(0), 7, 128}}, bytes_of(10.0f)}}));
  p.end_all();
  auto r = p.runner();
  for (int i = 0; i < 4; ++i) at(*r, 1, i * 4) = static_cast<float>(i + 1);
  r->run(0);
  EXPECT_EQ(at(*r, 0, 64 + 12), 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(at(*r, 0, 128 + i * 8), 10.0f * (i + 1));
  EXPECT_EQ(at(*r, 0, 132), 0);
}

TEST(Run, RowsAndStateVectors) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  std::string state = bytes_of(std::uint32_t{2}) + bytes_of(10.0f) + bytes_of(1.0f);
  p.emit(s, Op::compute, p.add_compute(s, {{p.k.row_sum, t(0), {{TileId(), 2, 0}, {t(0), 2, 0}, {t(0), 1, 64}, {t(0), 1, 128}}, state}}));
  p.end_all();
  auto r = p.runner();
  at(*r, 0, 0) = 1, at(*r, 0, 4) = 2, at(*r, 0, 64) = 5;
  r->run(0);
  EXPECT_EQ(at(*r, 0, 128), 35);
}

TEST(Control, RepeatCallSwitchAndWhile) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  const std::uint32_t one = p.add(s, 0, 0, 1, 1), ten = p.add(s, 0, 4, 1, 10), never = p.add(s, 0, 8, 1, 1);
  const std::uint32_t below =
      p.add_compute(s, {{p.k.below, t(0), {{t(0), 1, 0}}, bytes_of(20.0f)}}, tile::Location{t(0), 64, ElementType::boolean});
  const std::uint32_t predicate = p.add_location(t(0), 64, ElementType::boolean), control = p.add_location(t(0), 68, ElementType::int_);
  // 3 x { call f }, f: 2 x { +1 }; a loop of 0 rounds
  const std::uint32_t skip = p.emit(s, Op::jump);
  const std::uint32_t f = p.next_instruction(s);
  p.repeat(s, 2, [&] { p.emit(s, Op::compute, one); });
  p.emit(s, Op::ret);
  p.aim(s, skip, p.next_instruction(s));
  p.repeat(s, 3, [&] { p.aim(s, p.emit(s, Op::call), f); });
  p.repeat(s, 0, [&] { p.emit(s, Op::compute, never); });
  // while (x < 20) x += 1
  p.emit(s, Op::loop_mark);
  const std::uint32_t test = p.emit(s, Op::compute, below);
  const std::uint32_t leave = p.emit(s, Op::branch_false, 0, predicate);
  p.emit(s, Op::compute, one);
  p.aim(s, p.emit(s, Op::loop_next), test);
  p.aim(s, leave, p.emit(s, Op::loop_exit));
  // switch (-3)
  const std::uint32_t other = p.emit(s, Op::branch_case, 0, control, 7),
                      match = p.emit(s, Op::branch_case, 0, control, static_cast<std::uint32_t>(-3));
  const std::uint32_t out = p.emit(s, Op::jump);
  p.aim(s, other, p.next_instruction(s));
  p.emit(s, Op::compute, never);
  p.aim(s, match, p.next_instruction(s));
  p.emit(s, Op::compute, ten);
  p.aim(s, out, p.next_instruction(s));
  p.end_all();
  auto r = p.runner();
  const std::int32_t minus_three = -3;
  std::memcpy(r->tile_base(0, t(0)) + 68, &minus_three, 4);
  r->run(0);
  EXPECT_EQ(at(*r, 0, 0), 20);
  EXPECT_EQ(at(*r, 0, 4), 10);
  EXPECT_EQ(at(*r, 0, 8), 0);
  r->run(0);  // memory persists; the loops start anew
  EXPECT_EQ(at(*r, 0, 0), 26);
}

// What only a stranger's program does: no checker of numbers sees where jumps lead.
TEST(Control, EndsOfWhatDidNotBeginAreErrors) {
  for (const Op op : {Op::repeat_end, Op::loop_next, Op::loop_exit, Op::ret}) {
    Hand p(1, 1);
    const StreamId s = p.add_ipu(0);
    p.emit(s, op);
    p.end_all();
    Runner r(std::make_shared<tile::Program>(p.program), p.library, {});
    EXPECT_THAT(message_of<poplar::control_program_error>([&] { r.run(0); }), HasSubstr("that did not begin"));
  }
  // A call ends no loop; loops without ends nest no deeper than memory holds.
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  p.emit(s, Op::loop_mark);
  p.program.streams[s.index()].code.push_back({.op = Op::jump, .target = 0});
  p.end_all();
  Runner r(std::make_shared<tile::Program>(p.program), p.library, {});
  EXPECT_THAT(message_of<poplar::control_program_error>([&] { r.run(0); }), HasSubstr("loops and calls deep"));
}

TEST(Control, CombineIsTheAnd) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  for (const unsigned offset : {0, 1, 2, 3}) p.add_location(t(0), offset, ElementType::boolean);
  p.emit(s, Op::combine, 0, 4);
  p.end_all();
  auto r = p.runner();
  char* m = r->tile_base(0, t(0));
  std::memcpy(m, "\1\1\1\0", 4);
  r->run(0);
  EXPECT_EQ(m[3], 1);
  m[1] = 0;
  r->run(0);
  EXPECT_EQ(m[3], 0);
}

TEST(Control, CodeMustBeLoaded) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  p.program.functions = {"layer"};
  p.program.programs = 2;
  p.program.streams[0].entries = {0, 2};
  const std::uint32_t plus = p.add(s, 0, 0, 1, 1);
  p.emit(s, Op::load_code, 0);
  const std::uint32_t call = p.emit(s, Op::call, 0, 1);
  p.emit(s, Op::drop_code, 0);
  const std::uint32_t again = p.emit(s, Op::call, 0, 1);
  p.emit(s, Op::end);
  p.aim(s, call, p.next_instruction(s));
  p.aim(s, again, p.next_instruction(s));
  p.emit(s, Op::compute, plus);
  p.emit(s, Op::ret);
  auto r = p.runner();
  EXPECT_THAT(message_of<poplar::control_program_error>([&] { r->run(0); }), HasSubstr("function 'layer' is called, but its code"));
  EXPECT_EQ(at(*r, 0, 0), 1);
  EXPECT_THAT(message_of<poplar::control_program_error>([&] { r->run(9); }), HasSubstr("there is no program 9; the executable has 2"));
}

// Two IPUs: each adds on its own; every round they sync and swap.
TEST(Syncs, StreamsSwapData) {
  Hand p(2, 1);
  const StreamId a = p.add_ipu(0), b = p.add_ipu(1);
  const SyncId m = p.add_sync({a, b});
  const std::uint32_t swap = p.add_exchange({{t(1), t(0), 0, 64, 4}, {t(0), t(1), 0, 64, 4}});
  const std::uint32_t back_a = p.add_exchange({}, {{t(0), t(0), 64, 0, 4}}), back_b = p.add_exchange({}, {{t(1), t(1), 64, 0, 4}});
  const std::uint32_t plus_a = p.add(a, 0, 0, 1, 1), plus_b = p.add(b, 1, 0, 1, 100);
  const auto body = [&](StreamId s, std::uint32_t plus, std::uint32_t back) {
    const std::uint32_t begin = p.emit_at(s, 1, Op::repeat, 0, 0, 1000);
    p.emit_at(s, 2, Op::compute, plus);
    p.emit_at(s, 3, Op::exchange, swap, 0, 0, m);
    p.emit_at(s, 4, Op::exchange, back);
    const std::uint32_t end = p.emit_at(s, 5, Op::repeat_end);
    p.aim(s, end, begin + 1);
    p.aim(s, begin, end + 1);
  };
  body(a, plus_a, back_a);
  body(b, plus_b, back_b);
  p.end_all();
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    auto r = p.runner(threads);
    r->run(0);
    EXPECT_EQ(at(*r, 0, 0), 50500) << threads;
    EXPECT_EQ(at(*r, 1, 0), 50500) << threads;
  }
}

TEST(Syncs, ABranchIsDecidedOnceForAll) {
  Hand p(2, 1);
  const StreamId a = p.add_ipu(0), b = p.add_ipu(1);
  const SyncId m = p.add_sync({a, b});
  const std::uint32_t predicate = p.add_location(t(0), 64, ElementType::unsigned_int);
  const std::uint32_t plus[] = {p.add(a, 0, 0, 1, 1), p.add(b, 1, 0, 1, 1)};
  for (const StreamId s : {a, b}) {
    const std::uint32_t skip = p.emit_at(s, 1, Op::branch_false, 0, predicate, 0, m);
    p.emit_at(s, 2, Op::compute, plus[s.value]);
    p.aim(s, skip, p.next_instruction(s));
  }
  p.end_all();
  auto r = p.runner();
  r->run(0);
  EXPECT_EQ(at(*r, 1, 0), 0);
  r->tile_base(0, t(0))[66] = 1;
  r->run(0);
  EXPECT_EQ(at(*r, 1, 0), 1);
}

TEST(Syncs, StreamsThatNeverSyncAreReported) {
  Hand p(2, 1);
  const StreamId a = p.add_ipu(0), b = p.add_ipu(1);
  const SyncId m = p.add_sync({a, b});
  p.emit_at(a, 1, Op::sync, 0, 0, 0, m);
  const std::uint32_t skip = p.emit_at(b, 1, Op::jump);
  p.emit_at(b, 1, Op::sync, 0, 0, 0, m);
  p.aim(b, skip, 2);
  p.end_all();
  auto r = p.runner();
  EXPECT_THAT(message_of<poplar::control_program_error>([&] { r->run(0); }),
              HasSubstr("stream 'ipu0.compute' waits at step 1, 'sync', to sync with 'ipu1.compute'"));
}

// A random program on 64 tiles with large steps: the same bits on any number of threads.
TEST(Determinism, SameBitsOnAnyNumberOfThreads) {
  Hand p(1, 64, 16384);
  const StreamId s = p.add_ipu(0);
  std::mt19937 random(7);
  p.repeat(s, 20, [&] {
    std::vector<tile::HandMadeVertex> vertices;
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned v = 0; v < 8; ++v) {
        if (v % 2)
          vertices.push_back({p.k.add, t(i), {{t(i), 64, v * 256}}, bytes_of(0.1f * static_cast<float>(v))});
        else
          vertices.push_back({p.k.scale, t(i), {{t(i), 64, v * 256}, {t(i), 64, 8192 + v * 256}}, bytes_of(1.01f)});
      }
    p.emit(s, Op::compute, p.add_compute(s, vertices));
    std::vector<Move> receive, arrange;
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned b = 0; b < 16; ++b) receive.push_back({t(random() % 64), t(i), 256 + (random() % 4) * 512, 4096 + b * 128, 128});
    for (unsigned i = 0; i < 64; ++i)
      arrange.push_back({t(i), t(i), 4096, 0, 256}), arrange.push_back({t(i), t(i), 4352, 512, 4, 64, 4, 4});
    p.emit(s, Op::exchange, p.add_exchange(receive, arrange));
  });
  p.end_all();
  std::string expected;
  for (const unsigned threads : {1u, 2u, 3u, 8u}) {
    auto r = p.runner(threads);
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned k = 0; k < 512; ++k) at(*r, i, k * 4) = static_cast<float>(i * 512 + k);
    r->run(0);
    std::string bytes;
    for (unsigned i = 0; i < 64; ++i) bytes.append(r->tile_base(0, t(i)), 16384);
    if (expected.empty()) expected = bytes;
    EXPECT_TRUE(bytes == expected) << threads << " threads";
  }
}

TEST(Fibers, SuspendTwoCallsDeepAndGoOnInALaterStep) {
  Hand p(1, 16);
  const StreamId s = p.add_ipu(0);
  std::vector<tile::HandMadeVertex> vertices;
  for (unsigned i = 0; i < 16; ++i) vertices.push_back({p.k.resumable, t(i), {{t(i), 1, 0}, {t(i), 1, 64}}, ""});
  const std::uint32_t first = p.add_compute(s, vertices, tile::Location{t(0), 128, ElementType::boolean});
  const std::uint32_t plus = p.add(s, 3, 0, 1, 1);
  p.emit(s, Op::compute, first);
  p.emit(s, Op::compute, plus);
  p.end_all();
  auto r = p.runner(3);
  for (unsigned i = 0; i < 16; ++i) at(*r, i, 0) = static_cast<float>(i);
  for (int run = 0; run < 3; ++run) {
    r->run(0);
    EXPECT_EQ(r->tile_base(0, t(0))[128], 0);
  }
  EXPECT_EQ(at(*r, 5, 64), 15);
  EXPECT_EQ(at(*r, 3, 64), 3 + 4 + 5);
  r->run(0);
  EXPECT_EQ(r->tile_base(0, t(0))[128], 1);
  EXPECT_EQ(at(*r, 5, 64), 1015);
}

TEST(Fibers, ResetDropsASuspendedFiber) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  p.emit(s, Op::compute, p.add_compute(s, {{p.k.resumable, t(0), {{t(0), 1, 0}, {t(0), 1, 64}}, ""}}));
  p.end_all();
  auto r = p.runner();
  at(*r, 0, 0) = 1;
  for (int i = 0; i < 10; ++i) {
    r->run(0);
    r->reset_tile(0, t(0));
  }
  EXPECT_EQ(at(*r, 0, 64), 10);  // ten first parts, never a second
}

#if !defined(PANDO_SANITIZED)
TEST(Fibers, StackOverflowIsAnError) {
  Hand p(1, 4);
  const StreamId s = p.add_ipu(0);
  p.emit(s, Op::compute, p.add_compute(s, {{p.k.overflows, t(2), {{t(2), 1, 0}}, ""}}));
  p.end_all();
  auto r = p.runner();
  for (int i = 0; i < 2; ++i)
    EXPECT_THAT(message_of<poplar::application_runtime_error>([&] { r->run(0); }), HasSubstr("tile 2: a resumable vertex used more than"));
}
#endif

TEST(Tiles, KnowWhereTheyAre) {
  Hand p(1, 8);
  p.program.replication = 2;
  const StreamId s = p.add_ipu(0);
  std::vector<tile::HandMadeVertex> vertices;
  for (unsigned i = 0; i < 8; ++i) vertices.push_back({p.k.where, t(i), {{t(i), 3, 0}}, ""});
  p.emit(s, Op::compute, p.add_compute(s, vertices));
  p.end_all();
  auto r = p.runner();
  r->run(0);
  r->run(0);
  EXPECT_EQ(at(*r, 5, 0, 1), 5);
  EXPECT_EQ(at(*r, 5, 4, 1), 2);  // the second call on this tile, whatever the others did
  EXPECT_EQ(at(*r, 5, 8, 1), 1);
  EXPECT_EQ(at(*r, 5, 8, 0), 0);
}

TEST(Errors, ATrapNamesItsTileAndTheRunnerStaysUsable) {
  Hand p(1, 4);
  const StreamId s = p.add_ipu(0);
  p.program.programs = 2;
  p.program.streams[0].entries = {0, 2};
  p.emit(s, Op::compute, p.add_compute(s, {{p.k.traps, t(3), {{t(3), 1, 0}}, ""}}));
  p.emit(s, Op::end);
  p.emit(s, Op::compute, p.add(s, 1, 0, 1, 1));
  p.emit(s, Op::end);
  auto r = p.runner();
  EXPECT_THAT(message_of<poplar::application_runtime_error>([&] { r->run(0); }), HasSubstr("tile 3: something is wrong"));
  r->run(1);
  EXPECT_EQ(at(*r, 1, 0), 1);
}

TEST(Errors, OutOfMemoryProgramsAreRejected) {
  Hand p(1, 1);
  p.add_ipu(0);
  p.end_all();
  p.program.out_of_memory = true;
  EXPECT_THAT(message_of<poplar::application_runtime_error>([&] { p.runner(); }), HasSubstr("does not fit into tile memory"));
}

TEST(Errors, ForeignLibrariesAreRejected) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  p.emit(s, Op::compute, p.add(s, 0, 0, 1, 1));
  p.end_all();
  p.program.codelet_names = {"Scale", "Subtract"};
  EXPECT_THAT(message_of<poplar::graph_object_load_error>([&] { Runner(std::make_shared<tile::Program>(p.program), p.library, {}); }),
              HasSubstr("codelet 1 'Subtract'"));
}

TEST(Memory, ImagesAreCopiedOnWriteAndReset) {
  Hand p(1, 4, 65536);
  p.add_ipu(0);
  p.end_all();
  std::string bytes(3 * 4096 + 100, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  p.program.images.push_back({8192, bytes, {t(1), t(2)}});
  p.program.images.push_back({100, "unaligned", {t(1)}});
  p.program.replication = 2;
  auto r = p.runner();
  EXPECT_EQ(std::string(r->tile_base(0, t(1)) + 8192, bytes.size()), bytes);
  EXPECT_EQ(std::string(r->tile_base(0, t(1)) + 100, 9), "unaligned");
  EXPECT_EQ(r->tile_base(0, t(0))[8193], 0);
  std::memset(r->tile_base(0, t(1)) + 8192, 1, bytes.size());
  std::memset(r->tile_base(0, t(1)) + 100, 1, 9);
  EXPECT_EQ(std::string(r->tile_base(0, t(2)) + 8192, bytes.size()), bytes);
  EXPECT_EQ(std::string(r->tile_base(1, t(1)) + 8192, bytes.size()), bytes);
  EXPECT_EQ(std::string(r->tile_base(1, t(1)) + 100, 9), "unaligned");
  r->reset_tile(0, t(1));
  EXPECT_EQ(std::string(r->tile_base(0, t(1)) + 8192, bytes.size()), bytes);
  EXPECT_EQ(std::string(r->tile_base(0, t(1)) + 100, 9), "unaligned");
}

TEST(Memory, AnImageMayBeEmptyOrEndWithItsTile) {
  Hand p(1, 2, 65536);
  p.add_ipu(0);
  p.end_all();
  p.program.images.push_back({61440, "", {t(0)}});
  p.program.images.push_back({65536, "", {t(1)}});
  p.program.images.push_back({61442, std::string(65536 - 61442, 'z'), {t(1)}});
  auto r = p.runner();
  r->tile_base(0, t(0))[61440] = 'a';
  EXPECT_EQ(r->tile_base(0, t(1))[61441], 0);
  EXPECT_EQ(r->tile_base(0, t(1))[65535], 'z');
  std::memset(r->tile_base(0, t(1)) + 61441, 1, 100);
  for (const unsigned tile : {0u, 1u}) r->reset_tile(0, t(tile));
  EXPECT_EQ(r->tile_base(0, t(1))[61441], 1) << "not of the image";
  EXPECT_EQ(r->tile_base(0, t(1))[61442], 'z');
}

TEST(Memory, ManyTilesShareMapsOfOneImage) {
  Hand p(8, 1472, 16384);
  for (unsigned i = 0; i < 8; ++i) p.add_ipu(i);
  p.end_all();
  std::string bytes(5000, 'x');
  std::vector<TileId> tiles;
  for (unsigned i = 0; i < 8 * 1472; ++i)
    if (i % 1000 != 7) tiles.push_back(t(i));
  p.program.images.push_back({4096, bytes, tiles});
  Runner r(std::make_shared<tile::Program>(p.program), p.library, {});
  EXPECT_EQ(std::string(r.tile_base(0, t(9000)) + 4096, 5000), bytes);
  EXPECT_EQ(r.tile_base(0, t(9007))[4096], 0);
  r.tile_base(0, t(9000))[4096 + 4999] = 'y';
  EXPECT_EQ(r.tile_base(0, t(9001))[4096 + 4999], 'x');
  r.reset_tile(0, t(9000));
  EXPECT_EQ(r.tile_base(0, t(9000))[4096 + 4999], 'x');
}

// Maps that fail are somebody else's: too many are rejected before the first.
TEST(Memory, TooManyMapsAreRejected) {
  Hand p(1, 2);
  p.add_ipu(0);
  p.end_all();
  p.program.replication = 40000;
  EXPECT_THROW(p.runner(), poplar::stream_memory_allocation_error);
}

TEST(Memory, InitialDataAndReplicaIndex) {
  Hand p(1, 2);
  p.add_ipu(0);
  p.end_all();
  p.program.replication = 2;
  p.program.initial_data = bytes_of(1.5f) + bytes_of(2.5f);
  p.program.initial_moves = {{TileId(), t(1), 4, 16, 4}, {TileId(), t(0), 0, 8, 4, 3, 0, 4}};
  p.program.replica_index = {{t(1), 32, ElementType::unsigned_int}};
  auto r = p.runner();
  EXPECT_EQ(at(*r, 1, 16, 1), 2.5f);
  EXPECT_EQ(at(*r, 0, 16), 1.5f);
  EXPECT_EQ(r->tile_base(1, t(1))[32], 1);
  EXPECT_EQ(r->tile_base(0, t(1))[32], 0);
}

TEST(Memory, GlobalsAreOnePerTile) {
  Hand p(1, 16);
  const CodeletId count = add_module_with_global(p.library);
  const StreamId s = p.add_ipu(0);
  std::vector<tile::HandMadeVertex> vertices;
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned v = 0; v < 6; ++v) vertices.push_back({count, t(i), {{t(i), 1, v * 4}}, ""});
  p.emit(s, Op::compute, p.add_compute(s, vertices));
  p.end_all();
  p.program.globals = {std::vector<std::uint64_t>(16, ~std::uint64_t{0}), std::vector<std::uint64_t>(16, 512)};
  auto r = p.runner(3);
  r->run(0);
  for (unsigned i = 0; i < 16; ++i)
    for (unsigned v = 0; v < 6; ++v) EXPECT_EQ(at(*r, i, v * 4), 40.0f + static_cast<float>(i + v + 1));  // one tile's vertices in order
  r->run(0);
  r->reset_tile(0, t(2));
  r->run(0);
  EXPECT_EQ(at(*r, 1, 0), 41 + 13);
  EXPECT_EQ(at(*r, 2, 0), 42 + 1);
}

TEST(Poison, FillsUndefinedBytesIfAsked) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  p.emit(s, Op::poison, p.add_exchange({{TileId(), t(0), 0, 16, 8}}));
  p.end_all();
  Options options;
  auto plain = p.runner(1, options);
  plain->run(0);
  EXPECT_EQ(plain->tile_base(0, t(0))[16], 0);
  options.poison_undefined = true;
  auto r = p.runner(1, options);
  r->run(0);
  EXPECT_EQ(static_cast<unsigned char>(r->tile_base(0, t(0))[23]), 0xA5);
  EXPECT_EQ(r->tile_base(0, t(0))[24], 0);
}

TEST(Replicas, CrossReplicaCopyReadsAllBeforeItWrites) {
  Hand p(1, 2);
  const StreamId s = p.add_ipu(0);
  p.program.replication = 3;
  p.program.replica_maps = {{{0, 1}, {1, 2}, {2, 0}}};
  p.emit(s, Op::cross_replica, p.add_exchange({{t(1), t(0), 0, 0, 8}, {t(0), t(1), 0, 0, 8}}), 0);
  p.end_all();
  auto r = p.runner();
  for (unsigned i = 0; i < 3; ++i) at(*r, 0, 0, i) = static_cast<float>(i), at(*r, 1, 0, i) = static_cast<float>(10 + i);
  r->run(0);
  EXPECT_EQ(at(*r, 1, 0, 1), 0);
  EXPECT_EQ(at(*r, 1, 0, 0), 2);
  EXPECT_EQ(at(*r, 0, 0, 2), 11);
}

// Counts events per stream; its clock is the number of events.
struct Counter final : tile::StepObserver {
  std::atomic<unsigned> events[2] = {0, 0};
  void on_begin(unsigned) override {}
  void on_step(const tile::StepEvent& e) override { ++events[e.stream.index()]; }
  void on_end() override {}
  std::uint64_t cycles(ReplicaId, StreamId s) const override { return events[s.index()] + (std::uint64_t{5} << 32); }
};

TEST(Observer, SeesEachWorkingInstructionOncePerStream) {
  Hand p(2, 1);
  const StreamId a = p.add_ipu(0), b = p.add_ipu(1);
  const SyncId m = p.add_sync({a, b});
  const std::uint32_t swap = p.add_exchange({{t(1), t(0), 0, 64, 4}});
  const std::uint32_t plus = p.add(a, 0, 0, 1, 1);
  const std::uint32_t stamp = p.add_location(t(0), 128, ElementType::unsigned_int);
  p.repeat(a, 3, [&] { p.emit(a, Op::compute, plus); });
  p.emit_at(a, 10, Op::exchange, swap, 0, 0, m);
  p.emit_at(b, 10, Op::exchange, swap, 0, 0, m);
  p.emit(a, Op::cycle_stamp, 0, stamp);
  p.end_all();
  Counter counter;
  auto r = p.runner();
  r->set_observer(&counter);
  r->run(0);
  EXPECT_EQ(counter.events[0], 5u);
  EXPECT_EQ(counter.events[1], 1u);
  std::uint32_t words[2];
  std::memcpy(words, r->tile_base(0, t(0)) + 128, 8);
  EXPECT_THAT(words, ElementsAre(4, 5));
}

TEST(Stop, EndsAnEndlessLoop) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  const std::uint32_t plus = p.add(s, 0, 0, 1, 1);
  p.emit(s, Op::loop_mark);
  const std::uint32_t begin = p.emit(s, Op::compute, plus);
  p.aim(s, p.emit(s, Op::loop_next), begin);
  p.end_all();
  auto r = p.runner();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    r->stop();
  });
  r->run(0);
  stopper.join();
  EXPECT_GT(at(*r, 0, 0), 0);
}

}  // namespace
}  // namespace pando::exec
