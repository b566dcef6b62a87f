// What check_bounds rejects of a stranger's program, one number at a time.
#include <gmock/gmock.h>

#include <functional>

#include "codelet/hand_made.h"
#include "poplar/exceptions.hpp"
#include "tile/hand_made.h"

namespace pando::tile {
namespace {

struct Sample : HandMade {
  Sample() : HandMade(1, 4, 1024) {
    const ModuleId m = library.add_builtin(
        "test", {hand_made_codelet("Scale", {hand_made_field("in", FieldKind::input), hand_made_field("out", FieldKind::output)})});
    program.codelet_names = {"Scale"};
    const StreamId s = add_ipu(0);
    const std::uint32_t exchange = add_exchange({{TileId(1), TileId(0), 0x20, 0x40, 16}}, {{TileId(0), TileId(0), 0x40, 0x60, 4, 2, 8, 4}});
    const std::uint32_t compute =
        add_compute(s, {{library.module(m).codelets[0], TileId(0), {{TileId(0), 4, 0x40}, {TileId(0), 4, 0x80}}, "", 30}});
    emit(s, Op::exchange, exchange);
    emit(s, Op::compute, compute);
    end_all();
  }
};

std::string rejection(const std::function<void(Program&)>& change) {
  Sample sample;
  change(sample.program);
  try {
    check_bounds(sample.program, sample.library);
  } catch (const poplar::poplar_error& e) { return e.what(); }
  return "";
}

TEST(Bounds, AGoodProgramIsTaken) {
  EXPECT_EQ(rejection([](Program&) {}), "");
}

TEST(Bounds, MovesLieInMemoryAndWriteNoByteTwice) {
  using testing::HasSubstr;
  const auto arranged = [](const std::function<void(Move&)>& change) {
    return rejection([&](Program& p) { change(p.exchanges[0].arrange[0]); });
  };
  EXPECT_THAT(arranged([](Move& m) { m.destination_step = 3; }), HasSubstr("writes a byte twice"));
  EXPECT_THAT(arranged([](Move& m) { m.destination_step = -3; }), HasSubstr("writes a byte twice"));
  EXPECT_THAT(arranged([](Move& m) { m.destination_step = 0; }), HasSubstr("writes a byte twice"));
  // Empty runs, of which there could be any number.
  EXPECT_THAT(arranged([](Move& m) { m.bytes = 0, m.count = ~0u, m.destination_step = m.source_step = 0; }),
              HasSubstr("writes a byte twice"));
  // The source is two runs of four bytes, eight bytes apart, at 0x40.
  EXPECT_EQ(arranged([](Move& m) { m.destination = 0x40; }), "");
  EXPECT_THAT(arranged([](Move& m) { m.destination = 0x43; }), HasSubstr("onto what it reads"));
  EXPECT_THAT(arranged([](Move& m) { m.destination = 0x4a, m.destination_step = -4; }), HasSubstr("onto what it reads"));
  EXPECT_THAT(arranged([](Move& m) { m.destination = 0x44, m.source_step = m.destination_step = 4; }), HasSubstr("onto what it reads"));
  EXPECT_EQ(arranged([](Move& m) { m.destination = 0x44, m.destination_step = 8; }), "");  // between them
  EXPECT_EQ(arranged([](Move& m) { m.destination_step = -4; }), "");
  EXPECT_EQ(arranged([](Move& m) { m.source_step = 0; }), "");
  EXPECT_THAT(arranged([](Move& m) { m.destination_step = 1024; }), HasSubstr("where there is no memory"));
  EXPECT_THAT(arranged([](Move& m) { m.source = ~std::uint64_t{3}; }), HasSubstr("where there is no memory"));
  EXPECT_NE(arranged([](Move& m) { m.destination_tile = TileId(4); }), "");
}

TEST(Bounds, MovesWithoutASourceOnlyPoison) {
  const auto without_source = [](Op op) {
    return rejection([op](Program& p) {
      p.exchanges[0].receive[0].source_tile = TileId();
      p.exchanges[0].receive[0].source = std::uint64_t{1} << 40;
      for (Instruction& in : p.streams[0].code)
        if (in.op == Op::exchange) in.op = op;
    });
  };
  EXPECT_EQ(without_source(Op::poison), "");
  EXPECT_NE(without_source(Op::exchange), "");
  EXPECT_NE(without_source(Op::cross_replica), "");
}

TEST(Bounds, CopiesAcrossReplicasMayLieAcrossThemselves) {
  const auto rejected_as = [](std::initializer_list<Op> ops) {
    return rejection([&](Program& p) {
      const auto x = static_cast<std::uint32_t>(p.exchanges.size());
      p.exchanges.emplace_back();
      p.exchanges.back().receive.push_back({TileId(1), TileId(1), 0x40, 0x44, 8});
      p.replica_maps.push_back({{0, 0}});
      for (Op op : ops) {
        Instruction in;
        in.op = op;
        in.a = x;
        p.streams[0].code.insert(p.streams[0].code.begin(), in);
      }
    });
  };
  EXPECT_EQ(rejected_as({Op::cross_replica}), "");
  EXPECT_THAT(rejected_as({Op::exchange}), testing::HasSubstr("onto what it reads"));
  EXPECT_THAT(rejected_as({Op::cross_replica, Op::exchange}), testing::HasSubstr("onto what it reads"));
}

TEST(Bounds, TypesAreKnownBeforeTheyAreUsed) {
  EXPECT_NE(rejection([](Program& p) {
              FifoInfo f;
              f.handle = "in";
              f.type = static_cast<ElementType>(255);
              f.elements = 1;
              p.fifos.push_back(f);
              Transfer t;
              t.kind = Transfer::Kind::fifo;
              t.index = 0;
              p.transfers.push_back(t);
            }),
            "");
}

TEST(Bounds, AHostBlockThatIsMadeForATransferIsFilledByIt) {
  const auto printed = [](std::uint64_t bytes) {
    return rejection([&](Program& p) {
      p.prints.push_back({"", {4}, {}});
      Transfer t;
      t.kind = Transfer::Kind::print;
      t.to_device = false;
      t.host_bytes = bytes;
      Move move;
      move.source_tile = TileId(0);
      move.source = 0x40;
      move.bytes = 16;
      t.moves.push_back(move);
      p.transfers.push_back(t);
    });
  };
  EXPECT_EQ(printed(16), "");
  EXPECT_THAT(printed(std::uint64_t{1} << 46), testing::HasSubstr("more bytes than are moved"));
}

TEST(Bounds, OperandsLieInMemory) {
  const auto operand = [](const std::function<void(Operand&)>& change) { return rejection([&](Program& p) { change(p.operands[0]); }); };
  EXPECT_NE(operand([](Operand& o) { o.offset = ~std::uint64_t{0}; }), "");
  EXPECT_NE(operand([](Operand& o) { o.count = 1024; }), "");
  EXPECT_NE(operand([](Operand& o) { o.tile = TileId(4); }), "");
}

}  // namespace
}  // namespace pando::tile
