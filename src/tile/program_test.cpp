#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/testing/processor_time.h"
#include "codelet/hand_made.h"
#include "poplar/exceptions.hpp"
#include "tile/hand_made.h"

namespace pando::tile {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TileId t(unsigned n) { return TileId(n); }

// Two tiles of one IPU: tile 1 sends 16 bytes to tile 0; there a vertex scales them.
struct Sample : HandMade {
  CodeletId scale;
  std::uint32_t exchange = 0, compute = 0;
  StreamId s;

  Sample() : HandMade(1, 4, 1024) {
    const ModuleId m = library.add_builtin(
        "test", {hand_made_codelet("Scale", {hand_made_field("in", FieldKind::input), hand_made_field("out", FieldKind::output),
                                             hand_made_field("factor", FieldKind::state, FieldShape::scalar)})});
    scale = library.module(m).codelets[0];
    program.codelet_names = {"Scale"};
    s = add_ipu(0);
    exchange = add_exchange({{t(1), t(0), 0x20, 0x40, 16}}, {{t(0), t(0), 0x40, 0x60, 4, 2, 8, 4}});
    compute = add_compute(s, {{scale, t(0), {{t(0), 4, 0x40}, {t(0), 4, 0x80}}, bytes_of(2.5f), 30}});
    allocate(t(0), "received", 0x40, 16, {{1, 3}});
    allocate(t(0), "arranged", 0x60, 8, {{1, 3}});
    allocate(t(0), "out", 0x80, 16);
    allocate(t(1), "in", 0x20, 16);
    emit(s, Op::exchange, exchange);
    emit(s, Op::compute, compute);
    end_all();
  }
  std::vector<std::string> problems() const { return verify(program, library); }
};

TEST(Print, ShowsStreamsStepsAndMemory) {
  Sample p;
  EXPECT_EQ(print(p.program, p.library),
            R"(tile program for hand-made: 1 IPU of 4 tiles, replication 1, programs 1
stream s0 ipu0.compute: tiles 0..3
  program 0:
     0 #1 exchange x0
     1 #2 compute c0
     2 #3 end
compute c0 "compute0": s0, compute set 0
  Scale x 1
    t0: v0
exchange x0 "exchange0": receive 16 bytes, arrange 8 bytes
  recv t1@0x20 -> t0@0x40 16 bytes
  arrange t0@0x40 -> t0@0x60 4 bytes x 2, step 8 -> 4
memory t0: 1024 bytes
  [0x40, 0x50) variable "received", live [1, 3)
  [0x60, 0x68) variable "arranged", live [1, 3)
  [0x80, 0x90) variable "out", live always
memory t1: 1024 bytes
  [0x20, 0x30) variable "in", live always
)");
}

TEST(Print, OneTileShowsItsVerticesAndWhatItSends) {
  Sample p;
  PrintOptions options;
  options.only_tile = t(0);
  EXPECT_THAT(print(p.program, p.library, options), HasSubstr("Scale v0 in = t0@0x40[4] out = t0@0x80[4] factor = 2.5 (30 cycles)\n"));
  options.only_tile = t(1);
  const std::string text = print(p.program, p.library, options);
  EXPECT_THAT(text, HasSubstr("send t1@0x20 -> t0@0x40 16 bytes\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Scale")));
  EXPECT_THAT(text, testing::Not(HasSubstr("received")));
}

TEST(Print, BoundOperandsSayBind) {
  Sample p;
  p.program.computes[0].bound = {{t(1), t(0), 0x20, 0x40, 16}};
  EXPECT_THAT(print(p.program, p.library), HasSubstr("  bind t1@0x20 -> t0@0x40 16 bytes\n"));
}

TEST(Verify, AcceptsTheSample) { EXPECT_THAT(Sample().problems(), IsEmpty()); }

TEST(Verify, FindsAByteReceivedTwice) {
  Sample p;
  p.program.exchanges[0].receive.push_back({t(2), t(0), 0x20, 0x44, 4});
  EXPECT_THAT(p.problems(), Contains(HasSubstr("exchange x0 receive: t0@0x44 is written twice")));
}

TEST(Verify, FindsAByteReceivedAndRead) {
  Sample p;
  p.program.exchanges[0].receive.push_back({t(0), t(1), 0x40, 0x28, 4});
  EXPECT_THAT(p.problems(), Contains(HasSubstr("exchange x0 receive: t0@0x40 is read and written")));
}

TEST(Verify, FindsAnArrangeAcrossTiles) {
  Sample p;
  p.program.exchanges[0].arrange[0].source_tile = t(1);
  p.program.exchanges[0].arrange[0].source = 0x20;
  EXPECT_THAT(p.problems(), Contains(HasSubstr("crosses tiles")));
}

TEST(Verify, FindsAnUnsortedReceive) {
  Sample p;
  p.program.exchanges[0].receive.push_back({t(1), t(0), 0x28, 0x80, 4});
  p.program.exchanges[0].receive.push_back({t(1), t(0), 0x2c, 0x60, 4});
  EXPECT_THAT(p.problems(), Contains(HasSubstr("receive is not sorted at move 2")));
}

TEST(Verify, FindsOverlappingLiveAllocations) {
  Sample p;
  p.allocate(t(0), "late", 0x48, 16, {{3, 5}});
  EXPECT_THAT(p.problems(), IsEmpty());  // after "received", whose bytes it takes over
  p.allocate(t(0), "clash", 0x48, 4, {{2, 4}});
  EXPECT_THAT(p.problems(), Contains(HasSubstr("\"received\" [0x40, 0x50) and \"clash\" [0x48, 0x4c) are live together")));
}

TEST(Verify, FindsBytesOutsideAllocationsAndMemory) {
  Sample p;
  p.program.exchanges[0].receive[0].source = 0x24;
  EXPECT_THAT(p.problems(), Contains(HasSubstr("bytes [0x24, 0x34) of tile 1 are in no allocation")));
  p.program.exchanges[0].receive[0].source = 1020;
  EXPECT_THAT(p.problems(), Contains(HasSubstr("are outside tile 1's 1024 bytes")));
}

TEST(Verify, FindsWritesOfTwoVertices) {
  Sample p;
  p.add_compute(p.s, {{p.scale, t(0), {{t(0), 4, 0x40}, {t(0), 4, 0x80}}, bytes_of(1.0f)},
                      {p.scale, t(0), {{t(0), 1, 0x40}, {t(0), 1, 0x88}}, bytes_of(1.0f)}});
  EXPECT_THAT(p.problems(), Contains(HasSubstr("compute c1: t0@0x88 is written twice")));
}

TEST(Verify, FindsStreamsThatSyncDifferently) {
  HandMade p(2, 1);
  const StreamId a = p.add_ipu(0), b = p.add_ipu(1);
  const SyncId first = p.add_sync({a, b}), second = p.add_sync({a, b});
  p.emit_at(a, 1, Op::sync, 0, 0, 0, first);
  p.emit_at(a, 2, Op::sync, 0, 0, 0, second);
  p.emit_at(b, 1, Op::sync, 0, 0, 0, first);
  p.emit_at(b, 2, Op::sync, 0, 0, 0, second);
  p.end_all();
  EXPECT_THAT(verify(p.program, p.library), IsEmpty());
  std::swap(p.program.streams[1].code[0], p.program.streams[1].code[1]);
  EXPECT_THAT(verify(p.program, p.library),
              Contains(HasSubstr("streams s0 and s1 do not come to their common syncs in the same sequence")));
  p.program.streams[1].code[0].op = Op::exchange;
  EXPECT_THAT(verify(p.program, p.library), Contains(HasSubstr("come to it with different work")));
}

TEST(Verify, FindsATileInTwoStreams) {
  Sample p;
  p.add_stream("other", 0, {t(3)});
  p.emit(StreamId(1), Op::end);
  EXPECT_THAT(p.problems(), Contains(HasSubstr("tile 3 is in streams s0 and s1")));
}

TEST(Verify, FindsTransfersThatLeaveTheirBlock) {
  Sample p;
  p.add_fifo("f", true, t(0), 0x40, 4);
  EXPECT_THAT(p.problems(), IsEmpty());
  p.program.transfers[0].host_bytes = 8;
  EXPECT_THAT(p.problems(), Contains(HasSubstr("transfer h0: host bytes [0, 16) of 8")));
}

TEST(Binary, RoundTrip) {
  Sample p;
  p.add_fifo("f", true, t(0), 0x40, 4);
  p.program.initial_data = "12345678";
  p.program.images.push_back({256, std::string(10, 'x'), {t(2)}});
  p.program.computes[0].result = Location{t(0), 0x90, ElementType::boolean};
  std::stringstream file;
  write(p.program, file);
  const Program again = read(file);
  EXPECT_EQ(print(again, p.library), print(p.program, p.library));
  EXPECT_EQ(again.state, p.program.state);
  EXPECT_EQ(again.images[0].bytes, p.program.images[0].bytes);
  std::stringstream second;
  write(again, second);
  EXPECT_EQ(second.str(), file.str());
}

TEST(Binary, RejectsBrokenFiles) {
  Sample p;
  std::stringstream file;
  write(p.program, file);
  const std::string good = file.str();
  const auto message = [](std::string bytes) -> std::string {
    std::stringstream in(bytes);
    try {
      read(in);
    } catch (const poplar::graph_object_load_error& e) { return e.what(); }
    return "";
  };
  EXPECT_EQ(message(good), "");
  EXPECT_THAT(message("ELF, no executable of ours at all, really"), HasSubstr("[executable-foreign]"));
  EXPECT_THAT(message(""), HasSubstr("[executable-foreign]"));
  EXPECT_THAT(message(good.substr(0, good.size() - 7)), HasSubstr("[executable-truncated]"));
  std::string newer = good;
  newer[8] = 99;
  EXPECT_THAT(message(newer), HasSubstr("format version 99"));
  for (const std::size_t at : {std::size_t{40}, good.size() / 2, good.size() - 1}) {
    std::string flipped = good;
    flipped[at] ^= 4;
    EXPECT_THAT(message(flipped), HasSubstr("[executable-corrupt]"));
  }
}

// 47,104 tiles, 300,000 vertices: loading takes well under a second.
TEST(Binary, LoadsLargeProgramsQuickly) {
  HandMade p(32, 1472, 65536);
  p.program.vertices.resize(300000);
  p.program.operands.resize(1000000);
  p.program.allocations.resize(1000000);
  p.program.exchanges.resize(1);
  p.program.exchanges[0].receive.resize(200000);
  std::stringstream file;
  write(p.program, file);
  const double begin = processor_seconds();
  const Program again = read(file);
  EXPECT_LT(processor_seconds() - begin, 0.5 * kSlowerBuild);
  EXPECT_EQ(again.vertices.size(), p.program.vertices.size());
}

}  // namespace
}  // namespace pando::tile
