// Host ends of a run: FIFOs, callbacks and their order, remote buffers, host functions, prints, errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>
#include <sstream>
#include <thread>

#include "exec/runner.h"
#include "exec/test_kernels.h"
#include "poplar/exceptions.hpp"

namespace pando::exec {
namespace {

using namespace testing_kernels;
using testing::ElementsAre;
using testing::HasSubstr;
using tile::bytes_of;
using tile::Op;
using tile::SyncId;
using tile::Transfer;

TileId t(unsigned n) { return TileId(n); }

struct Hand : tile::HandMade {
  Codelets k;
  Hand(unsigned ipus, unsigned tiles) : HandMade(ipus, tiles, 4096), k(add_codelets(library)) {}
  std::uint32_t add(StreamId s, unsigned tile, std::uint64_t offset, std::uint32_t n, float by) {
    return add_compute(s, {{k.add, t(tile), {{t(tile), n, offset}}, bytes_of(by)}});
  }
  std::unique_ptr<Runner> runner(unsigned threads = 2, Options options = {}) {
    EXPECT_THAT(tile::verify(program, library), testing::IsEmpty());
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

// What callbacks did, in their order; and whether two ever ran at the same time.
struct Log {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::atomic<int> inside{0};
  bool overlapped = false;

  void add(const std::string& line) {
    if (inside.fetch_add(1) != 0) overlapped = true;
    {
      const std::lock_guard lock(mutex);
      lines.push_back(line);
    }
    inside.fetch_sub(1);
  }
};

// Fills blocks with 1, 2, 3 ... and logs.
struct Source final : FifoCallback {
  Source(Log& l, std::string n, bool ahead) : log(l), name(std::move(n)), prefetches(ahead) {}
  void fill(void* block) {
    const float value = static_cast<float>(++blocks);
    std::memcpy(block, &value, 4);
  }
  bool prefetch(void* block) override {
    log.add(name + " prefetch");
    if (prefetches) fill(block);
    return prefetches;
  }
  void fetch(void* block) override {
    log.add(name + " fetch");
    fill(block);
  }
  void complete() override { log.add(name + " complete"); }
  Log& log;
  std::string name;
  bool prefetches;
  int blocks = 0;
};

struct Sink final : FifoCallback {
  Sink(Log& l, std::string n) : log(l), name(std::move(n)) {}
  void fetch(void* block) override {
    float value = 0;
    std::memcpy(&value, block, 4);
    log.add(name + " took " + std::to_string(static_cast<int>(value)));
  }
  Log& log;
  std::string name;
};

TEST(Fifos, BuffersAreRings) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  const std::uint32_t in = p.add_fifo("in", true, t(0), 0, 2), out = p.add_fifo("out", false, t(0), 0, 2);
  const std::uint32_t plus = p.add(s, 0, 0, 2, 100);
  p.repeat(s, 5, [&] {
    p.emit(s, Op::transfer, in);
    p.emit(s, Op::compute, plus);
    p.emit(s, Op::transfer, out);
  });
  p.end_all();
  auto r = p.runner();
  float source[6] = {1, 2, 3, 4, 5, 6}, sink[4] = {};
  r->connect("in", source, source + 6);
  r->connect("out", sink, sink + 4);
  r->run(0);
  EXPECT_THAT(sink, ElementsAre(103, 104, 101, 102));  // blocks 4 and 3
  float one[2] = {7, 8};
  r->connect("in", one, nullptr);
  r->run(0);
  EXPECT_THAT(sink, ElementsAre(107, 108, 107, 108));
}

TEST(Fifos, ConnectionErrors) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  p.emit(s, Op::transfer, p.add_fifo("in", true, t(0), 0, 2));
  p.end_all();
  auto r = p.runner();
  float data[3] = {};
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->connect("inn", data, data + 2); }),
              HasSubstr("no stream has the handle 'inn'; there are: 'in'"));
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->connect("in", data, data + 3); }),
              HasSubstr("not a multiple of its block of 8 bytes"));
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->connect("in", nullptr, nullptr); }), HasSubstr("null buffer"));
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->connect("in", 3, nullptr); }), HasSubstr("no replica 3"));
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->run(0); }), HasSubstr("stream 'in' is not connected"));
  Log log;
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->connect("in", 0, std::unique_ptr<FifoCallback>()); }),
              HasSubstr("no callback"));
}

TEST(Fifos, PrefetchWhenABlockIsNeeded) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  const std::uint32_t in = p.add_fifo("in", true, t(0), 0, 1);
  p.repeat(s, 2, [&] { p.emit(s, Op::transfer, in); });
  p.end_all();
  auto r = p.runner();
  Log log;
  r->connect("in", 0, std::make_unique<Source>(log, "a", true));
  r->run(0);
  EXPECT_THAT(log.lines, ElementsAre("a fetch", "a complete", "a prefetch", "a complete"));
  EXPECT_EQ(at(*r, 0, 0), 2);
  log.lines.clear();
  r->connect("in", 0, std::make_unique<Source>(log, "b", false));
  r->run(0);
  EXPECT_THAT(log.lines, ElementsAre("b fetch", "b complete", "b prefetch", "b fetch", "b complete"));
  log.lines.clear();
  Options options;
  options.prefetch = false;
  auto plain = p.runner(1, options);
  plain->connect("in", 0, std::make_unique<Source>(log, "c", true));
  plain->run(0);
  EXPECT_THAT(log.lines, ElementsAre("c fetch", "c complete", "c fetch", "c complete"));
}

// A prefetch that waits for the result of the round before.
TEST(Fifos, PrefetchMayWaitForEarlierResults) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  const std::uint32_t in = p.add_fifo("in", true, t(0), 0, 1), out = p.add_fifo("out", false, t(0), 0, 1);
  const std::uint32_t plus = p.add(s, 0, 0, 1, 10);
  p.program.fifos[0].depth = 3;
  p.repeat(s, 3, [&] {
    p.emit(s, Op::transfer, in);
    p.emit(s, Op::compute, plus);
    p.emit(s, Op::transfer, out);
  });
  p.end_all();
  struct Back final : FifoCallback {
    explicit Back(std::vector<float>& r) : results(r) {}
    bool prefetch(void* block) override {
      for (int tries = 0; results.size() < blocks && tries < 100; ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_EQ(results.size(), blocks) << "called before the result came";
      return fetch(block), true;
    }
    void fetch(void* block) override {
      const float value = results.empty() ? 1 : 2 * results.back();
      std::memcpy(block, &value, 4);
      ++blocks;
    }
    std::vector<float>& results;
    std::size_t blocks = 0;
  };
  struct Take final : FifoCallback {
    explicit Take(std::vector<float>& r) : results(r) {}
    void fetch(void* block) override {
      results.emplace_back();
      std::memcpy(&results.back(), block, 4);
    }
    std::vector<float>& results;
  };
  auto r = p.runner();
  std::vector<float> results;
  r->connect("in", 0, std::make_unique<Back>(results));
  r->connect("out", 0, std::make_unique<Take>(results));
  r->run(0);
  EXPECT_THAT(results, ElementsAre(11, 32, 74));
}

// True until `host_was_called`, or for so long that the test fails.
std::atomic<bool> host_was_called;
bool waits_for_host(char*, std::uint64_t, std::uint64_t, std::uint64_t*) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  while (!host_was_called && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return !host_was_called;
}

// Stream 0 loops until stream 1's callback has run. Its own host step comes after the loop, so it does not delay the callback.
TEST(HostOrder, ALoopWithoutHostStepsDelaysNobody) {
  for (const bool quiet : {true, false}) {
    Hand p(2, 1);
    const StreamId a = p.add_ipu(0), b = p.add_ipu(1);
    Codelet wait = hand_made_codelet("Wait", {}, waits_for_host);
    const ModuleId m = p.library.add_builtin("wait", {wait});
    const std::uint32_t late = p.add_fifo("late", true, t(0), 0, 1), early = p.add_fifo("early", true, t(1), 0, 1);
    const std::uint32_t test =
        p.add_compute(a, {{p.library.module(m).codelets[0], t(0), {}, ""}}, tile::Location{t(0), 64, ElementType::boolean});
    // At most 2,000 rounds of at least a millisecond if nobody calls.
    p.repeat(a, quiet ? 2000 : 50, [&] {
      p.emit(a, Op::compute, test);
      if (!quiet) p.emit(a, Op::transfer, late);
    });
    p.emit(b, Op::transfer, early);
    p.emit(a, Op::transfer, late);
    p.end_all();
    auto r = p.runner(2);
    Log log;
    host_was_called = false;
    struct Call final : FifoCallback {
      void fetch(void*) override { host_was_called = true; }
    };
    r->connect("early", 0, std::make_unique<Call>());
    r->connect("late", 0, std::make_unique<Source>(log, "late", false));
    const auto begin = std::chrono::steady_clock::now();
    r->run(0);
    const bool soon = std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1900);
    if (quiet) EXPECT_TRUE(soon) << "the callback waited for the loop's end";
    EXPECT_EQ(std::count(log.lines.begin(), log.lines.end(), "late fetch"), quiet ? 1 : 51);
  }
}

TEST(Fifos, ReplicasTakeConsecutiveBlocksOrTheSame) {
  Hand p(1, 1);
  p.program.replication = 3;
  const StreamId s = p.add_ipu(0);
  const std::uint32_t each = p.add_fifo("each", true, t(0), 0, 1), same = p.add_fifo("same", true, t(0), 4, 1, true);
  const std::uint32_t called = p.add_fifo("called", true, t(0), 8, 1, true), out = p.add_fifo("out", false, t(0), 0, 1);
  p.repeat(s, 2, [&] {
    p.emit(s, Op::transfer, each);
    p.emit(s, Op::transfer, same);
    p.emit(s, Op::transfer, called);
    p.emit(s, Op::transfer, out);
  });
  p.end_all();
  auto r = p.runner(3);
  float blocks[6] = {1, 2, 3, 4, 5, 6}, sink[6] = {};
  Log log;
  r->connect("each", blocks, blocks + 6);
  r->connect("same", blocks, blocks + 6);
  r->connect("called", 0, std::make_unique<Source>(log, "s", false));
  r->connect("out", sink, sink + 6);
  r->run(0);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(at(*r, 0, 0, i), 4 + i);
    EXPECT_EQ(at(*r, 0, 4, i), 2);
    EXPECT_EQ(at(*r, 0, 8, i), 2);
  }
  EXPECT_THAT(sink, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(log.lines, ElementsAre("s fetch", "s complete", "s prefetch", "s fetch", "s complete"));
}

// IPU 0 takes input in every round and does little; IPU 1 gives output in every round after much work. They never sync, yet the
// callbacks come in the program's order.
TEST(Order, CallbacksOfTwoStreamsKeepTheProgramsOrder) {
  Hand p(2, 1);
  const StreamId a = p.add_ipu(0), b = p.add_ipu(1);
  const std::uint32_t in = p.add_fifo("in", true, t(0), 0, 1), out = p.add_fifo("out", false, t(1), 0, 1);
  const std::uint32_t plus = p.add(b, 1, 0, 1, 1);
  const auto loop = [&](StreamId s, auto&& body) {
    const std::uint32_t begin = p.emit_at(s, 1, Op::repeat, 0, 0, 20);
    body();
    const std::uint32_t end = p.emit_at(s, 9, Op::repeat_end);
    p.aim(s, end, begin + 1);
    p.aim(s, begin, end + 1);
  };
  loop(a, [&] { p.emit_at(a, 2, Op::transfer, in); });
  loop(b, [&] {
    const std::uint32_t begin = p.emit_at(b, 3, Op::repeat, 0, 0, 50);
    p.emit_at(b, 4, Op::compute, plus);
    p.aim(b, p.emit_at(b, 5, Op::repeat_end), begin + 1);
    p.emit_at(b, 6, Op::transfer, out);
  });
  p.end_all();
  std::vector<std::string> expected;
  for (int i = 1; i <= 20; ++i) {
    if (i > 1) expected.push_back("in prefetch");
    for (const char* what : {"in fetch", "in complete"}) expected.push_back(what);
    expected.push_back("out took " + std::to_string(50 * i));
  }
  for (const unsigned threads : {1u, 2u, 4u}) {
    Log log;
    auto r = p.runner(threads);
    r->connect("in", 0, std::make_unique<Source>(log, "in", false));
    r->connect("out", 0, std::make_unique<Sink>(log, "out"));
    r->run(0);
    EXPECT_EQ(log.lines, expected) << threads << " threads";
    EXPECT_FALSE(log.overlapped);
  }
}

// A transfer that several streams sync at is one host step, done by the last to come.
TEST(Order, AHostStepWithASync) {
  Hand p(2, 1);
  const StreamId a = p.add_ipu(0), b = p.add_ipu(1);
  const SyncId m = p.add_sync({a, b});
  const std::uint32_t in = p.add_fifo("in", true, t(0), 0, 1), out = p.add_fifo("out", false, t(1), 0, 1);
  p.program.transfers[in].moves.push_back({TileId(), t(1), 0, 0, 4});
  const std::uint32_t plus = p.add(b, 1, 0, 1, 1);
  for (const StreamId s : {a, b}) {
    const std::uint32_t begin = p.emit_at(s, 1, Op::repeat, 0, 0, 10);
    p.emit_at(s, 2, Op::transfer, in, 0, 0, m);
    if (s == b) p.emit_at(s, 3, Op::compute, plus);
    if (s == b) p.emit_at(s, 4, Op::transfer, out);
    const std::uint32_t end = p.emit_at(s, 5, Op::repeat_end);
    p.aim(s, end, begin + 1);
    p.aim(s, begin, end + 1);
  }
  p.end_all();
  for (const unsigned threads : {1u, 2u, 4u}) {
    Log log;
    auto r = p.runner(threads);
    r->connect("in", 0, std::make_unique<Source>(log, "in", false));
    r->connect("out", 0, std::make_unique<Sink>(log, "out"));
    r->run(0);
    ASSERT_EQ(log.lines.size(), 39u);
    EXPECT_EQ(log.lines[38], "out took 11");
    EXPECT_EQ(log.lines[36], "in fetch");
  }
}

// A slow callback on the IO tiles: the compute stream, which has no host steps, goes on meanwhile.
TEST(Overlap, ComputeGoesOnDuringASlowCallback) {
  Hand p(1, 2);
  const StreamId compute = p.add_stream("ipu0.compute", 0, {t(0)}), io = p.add_stream("ipu0.io", 0, {t(1)}, true);
  const SyncId m = p.add_sync({compute, io});
  const std::uint32_t in = p.add_fifo("in", true, t(1), 0, 1);
  const std::uint32_t plus = p.add(compute, 0, 0, 1, 1);
  const std::uint32_t over = p.add_exchange({{t(1), t(0), 0, 64, 4}});
  p.emit_at(io, 1, Op::transfer, in);
  p.emit_at(compute, 2, Op::compute, plus);
  for (const StreamId s : {compute, io}) p.emit_at(s, 3, Op::exchange, over, 0, 0, m);
  p.end_all();
  auto r = p.runner(2);
  struct Watch final : tile::StepObserver {
    std::atomic<bool> computed{false};
    void on_begin(unsigned) override {}
    void on_step(const tile::StepEvent& e) override {
      if (e.stream == StreamId(0) && e.instruction == 0) computed.store(true);
    }
    void on_end() override {}
    std::uint64_t cycles(ReplicaId, StreamId) const override { return 0; }
  } watch;
  struct Slow final : FifoCallback {
    Slow(std::atomic<bool>& c, bool& s) : computed(c), saw(s) {}
    void fetch(void* block) override {
      const float value = 42;
      std::memcpy(block, &value, 4);
      for (int i = 0; i < 20000 && !saw; ++i) {  // until the compute step is over, or two seconds
        saw = computed.load();
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
    std::atomic<bool>& computed;
    bool& saw;
  };
  bool saw = false;
  r->set_observer(&watch);
  r->connect("in", 0, std::make_unique<Slow>(watch.computed, saw));
  r->run(0);
  EXPECT_TRUE(saw);
  EXPECT_EQ(at(*r, 0, 64), 42);
}

TEST(Callbacks, ExceptionsReachTheCallerAndTheRunnerStaysUsable) {
  Hand p(2, 1);
  const StreamId a = p.add_ipu(0), b = p.add_ipu(1);
  const SyncId m = p.add_sync({a, b});
  p.emit_at(a, 1, Op::transfer, p.add_fifo("in", true, t(0), 0, 1));
  for (const StreamId s : {a, b}) p.emit_at(s, 2, Op::sync, 0, 0, 0, m);
  p.end_all();
  auto r = p.runner();
  struct Throws final : FifoCallback {
    void fetch(void*) override { throw std::runtime_error("no data"); }
  };
  r->connect("in", 0, std::make_unique<Throws>());
  EXPECT_EQ(message_of<std::runtime_error>([&] { r->run(0); }), "no data");
  float one = 5;
  r->connect("in", &one, nullptr);
  r->run(0);
  EXPECT_EQ(at(*r, 0, 0), 5);
}

Transfer remote(bool to_device, unsigned tile, std::uint64_t offset, std::uint64_t floats, std::uint64_t rows,
                std::vector<tile::Location> at) {
  Transfer x;
  x.kind = Transfer::Kind::remote;
  x.to_device = to_device;
  x.host_bytes = floats * 4 * rows;
  x.row_bytes = floats * 4;
  x.rows = std::move(at);
  const auto bytes = static_cast<std::uint32_t>(x.host_bytes);
  x.moves = {to_device ? tile::Move{TileId(), t(tile), 0, offset, bytes} : tile::Move{t(tile), TileId(), offset, 0, bytes}};
  return x;
}

TEST(Remote, RowsAndTheirLimit) {
  Hand p(1, 1);
  p.program.replication = 2;
  const StreamId s = p.add_ipu(0);
  p.program.remote_buffers = {{"weights", ElementType::float_, 2, 4}};
  const std::vector<tile::Location> rows = {{t(0), 512, ElementType::unsigned_int}, {t(0), 516, ElementType::unsigned_int}};
  p.emit(s, Op::transfer, p.add_transfer(remote(true, 0, 0, 2, 2, rows)));
  p.emit(s, Op::transfer, p.add_transfer(remote(false, 0, 4, 2, 1, {})));
  p.end_all();
  auto r = p.runner();
  for (unsigned row = 0; row < 4; ++row)
    for (unsigned i = 0; i < 2; ++i) {
      const float values[2] = {row * 10.0f + i * 100, row * 10.0f + 1 + i * 100};
      r->copy_to_remote("weights", values, row, i);
    }
  const auto set_rows = [&](std::uint32_t a, std::uint32_t b) {
    for (unsigned i = 0; i < 2; ++i) {
      std::memcpy(r->tile_base(i, t(0)) + 512, &a, 4);
      std::memcpy(r->tile_base(i, t(0)) + 516, &b, 4);
    }
  };
  set_rows(3, 1);
  r->run(0);
  EXPECT_EQ(at(*r, 0, 0), 30);
  EXPECT_EQ(at(*r, 0, 8), 10);
  EXPECT_EQ(at(*r, 0, 12, 1), 111);
  float row0[2];
  r->copy_from_remote("weights", row0, 0, 0);
  EXPECT_THAT(row0, ElementsAre(31, 10));
  set_rows(1, 4);
  EXPECT_THAT(message_of<poplar::application_runtime_error>([&] { r->run(0); }), HasSubstr("remote buffer 'weights': row 4 of 4"));
  EXPECT_THAT(message_of<poplar::application_runtime_error>([&] { r->copy_to_remote("weights", row0, 7, 0); }), HasSubstr("row 7 of 4"));
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->copy_to_remote("wheights", row0, 0, 0); }),
              HasSubstr("no remote buffer"));
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->copy_to_remote("weights", row0, 0, 2); }), HasSubstr("no replica 2"));
}

TEST(Handles, WriteAndRead) {
  Hand p(1, 2);
  p.program.replication = 2;
  p.add_ipu(0);
  p.end_all();
  Transfer w, rd;
  w.kind = rd.kind = Transfer::Kind::handle;
  w.host_bytes = rd.host_bytes = 8;
  rd.to_device = false;
  w.moves = {{TileId(), t(0), 4, 0, 4}, {TileId(), t(1), 0, 0, 4}};
  rd.moves = {{t(0), TileId(), 0, 4, 4}, {t(1), TileId(), 0, 0, 4}};
  const tile::TransferId write_id(p.add_transfer(w)), read_id(p.add_transfer(rd));
  p.program.handles = {{"x", 8, write_id, read_id}, {"w", 8, write_id, tile::TransferId()}};
  auto r = p.runner();
  const float both[2] = {1, 2}, each[4] = {3, 4, 5, 6};
  float out[4] = {};
  r->write("x", both, both + 2);
  EXPECT_EQ(at(*r, 0, 0), 2);
  EXPECT_EQ(at(*r, 0, 0, 1), 2);
  r->write("x", each, each + 4);
  r->read("x", out, out + 4);
  EXPECT_THAT(out, ElementsAre(3, 4, 5, 6));
  r->read("x", out + 2, nullptr);
  EXPECT_EQ(out[2], 3);
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->read("w", out, nullptr); }), HasSubstr("not made for reading"));
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->write("y", out, nullptr); }), HasSubstr("no tensor has the handle 'y'"));
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->write("x", out, out + 3); }),
              HasSubstr("has 8 bytes, the host's buffer 12"));
}

TEST(HostFunctions, GetInputsAndGiveOutputs) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  p.program.host_functions = {{"mean", {{ElementType::float_, 2}, {ElementType::float_, 1}}, {{ElementType::float_, 1}}}};
  Transfer in, out;
  in.kind = out.kind = Transfer::Kind::host_function;
  in.to_device = false;
  in.host_bytes = 12;
  in.moves = {{t(0), TileId(), 0, 0, 12}};
  out.host_bytes = 4;
  out.moves = {{TileId(), t(0), 0, 64, 4}};
  const std::uint32_t a = p.add_transfer(in), b = p.add_transfer(out);
  p.emit(s, Op::host_call, a, b);
  p.end_all();
  auto r = p.runner();
  EXPECT_THAT(message_of<poplar::stream_connection_error>([&] { r->run(0); }), HasSubstr("host function 'mean' is not connected"));
  r->connect_host_function("mean", 0, [](const std::vector<const void*>& inputs, const std::vector<void*>& outputs) {
    const float* pair = static_cast<const float*>(inputs[0]);
    *static_cast<float*>(outputs[0]) = (pair[0] + pair[1]) / 2 + *static_cast<const float*>(inputs[1]);
  });
  at(*r, 0, 0) = 1, at(*r, 0, 4) = 2, at(*r, 0, 8) = 10;
  r->run(0);
  EXPECT_EQ(at(*r, 0, 64), 11.5f);
}

std::uint32_t add_print(Hand& p, Transfer::Kind kind, const std::string& title) {
  p.program.prints.push_back({title, {2}, {}});
  Transfer x;
  x.kind = kind;
  x.to_device = false;
  x.host_bytes = 8;
  x.index = static_cast<std::uint32_t>(p.program.prints.size() - 1);
  x.moves = {{t(0), TileId(), 0, 0, 8}};
  return p.add_transfer(x);
}

TEST(Prints, TitleAndTensor) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  p.emit(s, Op::print, add_print(p, Transfer::Kind::print, "v2"));
  p.end_all();
  auto r = p.runner();
  std::ostringstream out;
  r->set_print_stream(&out);
  at(*r, 0, 0) = 7, at(*r, 0, 4) = 2.5;
  r->run(0);
  EXPECT_EQ(out.str(), "v2: [7.0000000 2.5000000]\n");
}

TEST(Prints, ErrorProgramsShowTheirTensor) {
  Hand p(1, 1);
  const StreamId s = p.add_ipu(0);
  const std::uint32_t condition = p.add_location(t(0), 64, ElementType::boolean);
  p.emit(s, Op::error_if, add_print(p, Transfer::Kind::error, "bad"), condition);
  p.emit(s, Op::error, add_print(p, Transfer::Kind::error, "always"));
  p.end_all();
  auto r = p.runner();
  EXPECT_THAT(message_of<poplar::application_runtime_error>([&] { r->run(0); }), HasSubstr("always: [0.0000000 0.0000000]"));
  r->tile_base(0, t(0))[64] = 1;
  EXPECT_THAT(message_of<poplar::application_runtime_error>([&] { r->run(0); }), HasSubstr("bad: [0.0000000 0.0000000]"));
}

template <class T>
std::string format(const std::vector<T>& values, ElementType type, const std::vector<std::uint64_t>& shape, PrintFormat f = {}) {
  return format_tensor(values.data(), type, shape, f);
}

TEST(Format, WhatTheTutorialsShow) {
  EXPECT_EQ(format<int>({10, 11, 12}, ElementType::int_, {3}), "[10 11 12]");
  EXPECT_EQ(format<float>({7, 6, 4.5, 2.5}, ElementType::float_, {4}), "[7.0000000 6.0000000 4.5000000 2.5000000]");
  EXPECT_EQ(format<float>({5, 4.5, 4, 3.5}, ElementType::float_, {2, 2}), "[\n [5.0000000 4.5000000]\n [4.0000000 3.5000000]\n]");
}

TEST(Format, WidthsSignsAndSpecialValues) {
  EXPECT_EQ(format<int>({1, -10, 100}, ElementType::int_, {3}), "[  1 -10 100]");
  EXPECT_EQ(format<float>({1.5, -20}, ElementType::float_, {2}), "[  1.500000 -20.000000]");
  EXPECT_EQ(format<float>({1, INFINITY, NAN}, ElementType::float_, {3}), "[1.0000000       inf       nan]");
  EXPECT_EQ(format<float>({1e-7f, 1}, ElementType::float_, {2}), "[1.0000000e-07 1.0000000e+00]");
  EXPECT_EQ(format<std::uint16_t>({half_from_float(0.5f)}, ElementType::half, {1}), "[0.5000000]");
  EXPECT_EQ(format<std::uint8_t>({1, 0}, ElementType::boolean, {2}), "[1 0]");
  EXPECT_EQ(format<std::uint32_t>({4000000000u}, ElementType::unsigned_int, {1}), "[4000000000]");
  EXPECT_EQ(format<int>({5}, ElementType::int_, {}), "5");
  EXPECT_EQ(format<int>({}, ElementType::int_, {0}), "[]");
  EXPECT_EQ(format<int>({}, ElementType::int_, {2, 0}), "[]");
  EXPECT_EQ(format<float>({}, ElementType::float_, {std::uint64_t{1} << 40, 1, 0}), "[]");
}

TEST(Format, LongTensorsAreCutAndWideRowsBroken) {
  std::vector<int> many(2000);
  for (int i = 0; i < 2000; ++i) many[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(format<int>(many, ElementType::int_, {2000}), "[   0    1    2 ... 1997 1998 1999]");
  PrintFormat f;
  f.max_line_width = 12;
  EXPECT_EQ(format<int>({10, 20, 30, 40, 50}, ElementType::int_, {5}, f), "[10 20 30\n 40 50]");
  f = {};
  f.separator = ',';
  EXPECT_EQ(format<int>({1, 2, 3, 4}, ElementType::int_, {2, 2}, f), "[\n [1,2],\n [3,4]\n]");
  f.float_format = 3;
  EXPECT_EQ(format<float>({0.1f, 2}, ElementType::float_, {2}, f), "[0.1,  2]");
}

}  // namespace
}  // namespace pando::exec
