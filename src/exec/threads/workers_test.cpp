#include "exec/threads/workers.h"

#include <gmock/gmock.h>

#include <thread>

#include "exec/runner.h"
#include "exec/test_kernels.h"

namespace pando::exec {
namespace {

using tile::HandMade;
using tile::Op;

constexpr unsigned kTiles = 64, kFloats = 512, kRounds = 20;

TileId t(unsigned i) { return TileId(i); }

// Adds 1 to floats of many tiles, in supersteps that are worth sharing; then a block comes from the host.
struct Large : HandMade {
  Large() : HandMade(1, kTiles, 8192) {
    const CodeletId add = testing_kernels::add_codelets(library).add;
    s = add_ipu(0);
    std::vector<tile::HandMadeVertex> vertices;
    for (unsigned i = 0; i < kTiles; ++i) vertices.push_back({add, t(i), {{t(i), kFloats, 0}}, tile::bytes_of(1.0f)});
    const std::uint32_t step = add_compute(s, vertices), in = add_fifo("in", true, t(0), 4096, 1);
    repeat(s, kRounds, [&] { emit(s, Op::compute, step); });
    emit(s, Op::transfer, in);
    end_all();
  }
  std::unique_ptr<Runner> runner(unsigned threads, std::shared_ptr<Workers> workers) {
    Options options;
    options.threads = threads;
    options.workers = std::move(workers);
    return std::make_unique<Runner>(std::make_shared<tile::Program>(program), library, options);
  }
  StreamId s;
};

float at(Runner& r, unsigned tile, unsigned i) { return reinterpret_cast<const float*>(r.tile_base(0, t(tile)))[i]; }

class HostEnd final : public FifoCallback {
 public:
  explicit HostEnd(std::function<void()> function) : function_(std::move(function)) {}
  void fetch(void*) override { function_(); }

 private:
  std::function<void()> function_;
};

void connect(Runner& r, std::function<void()> callback = [] {}) { r.connect("in", 0, std::make_unique<HostEnd>(std::move(callback))); }

TEST(Workers, ManyRunnersHaveAsManyThreadsAsOne) {
  Large p;
  const auto workers = std::make_shared<Workers>();
  std::vector<std::unique_ptr<Runner>> runners;
  for (int i = 0; i < 40; ++i) {
    runners.push_back(p.runner(4, workers));
    connect(*runners.back());
  }
  EXPECT_EQ(workers->size(), 0u) << "threads are made when they are needed";
  for (int round = 0; round < 2; ++round)
    for (auto& r : runners) r->run(0);
  EXPECT_EQ(workers->size(), 3u);
  for (auto& r : runners) EXPECT_EQ(at(*r, kTiles - 1, kFloats - 1), 2 * kRounds);
  p.runner(2, workers);
  EXPECT_EQ(workers->size(), 3u);
}

// With the switch off a thread that has no run sleeps at once; the next run wakes it, and computes the same.
TEST(Workers, ThreadsNeedNotLinger) {
  Large p;
  for (const bool linger : {true, false}) {
    const auto workers = std::make_shared<Workers>();
    Options options;
    options.threads = 3;
    options.workers = workers;
    options.linger = linger;
    Runner r(std::make_shared<tile::Program>(p.program), p.library, options);
    connect(r);
    for (int round = 0; round < 20; ++round) r.run(0);
    EXPECT_EQ(workers->size(), 2u);
    EXPECT_EQ(workers->lingers(), linger);
    EXPECT_EQ(at(r, kTiles - 1, kFloats - 1), 20 * kRounds);
  }
}

TEST(Workers, RunsGoOnBesideEachOther) {
  Large p;
  const auto workers = std::make_shared<Workers>();
  std::vector<std::unique_ptr<Runner>> runners;
  for (int i = 0; i < 4; ++i) {
    runners.push_back(p.runner(3, workers));
    connect(*runners.back());
  }
  std::vector<std::thread> users;
  for (auto& r : runners)
    users.emplace_back([&r] {
      for (int i = 0; i < 25; ++i) r->run(0);
    });
  for (std::thread& u : users) u.join();
  for (auto& r : runners)
    for (const unsigned tile : {0u, kTiles - 1}) EXPECT_EQ(at(*r, tile, 7), 25 * kRounds);
  EXPECT_EQ(workers->size(), 2u);
}

// A callback of a run begins another on the same workers, and makes and destroys a runner.
TEST(Workers, ARunMayBeginAnother) {
  Large p;
  const auto workers = std::make_shared<Workers>();
  const auto outer = p.runner(3, workers), inner = p.runner(3, workers);
  connect(*inner);
  connect(*outer, [&] {
    inner->run(0);
    const auto own = p.runner(2, workers);
    connect(*own);
    own->run(0);
    EXPECT_EQ(at(*own, 5, 5), kRounds);
  });
  for (int i = 0; i < 10; ++i) outer->run(0);
  EXPECT_EQ(at(*outer, 3, 3), 10 * kRounds);
  EXPECT_EQ(at(*inner, 3, 3), 10 * kRounds);
}

// Counts who comes; whoever comes finds nothing to do.
struct Visited final : Workers::Run {
  void take_part(unsigned) override { visits.fetch_add(1); }
  std::atomic<unsigned> visits{0};
};

TEST(Workers, VisitARunThatIsOverOnce) {
  Visited run;
  Workers workers;
  for (unsigned opened = 1; opened <= 20; ++opened) {
    workers.open(run, 2);
    workers.wake();
    while (run.visits.load() < opened) std::this_thread::yield();  // one came each time
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    workers.close(run);
  }
  workers.wait_until_left(run);
  EXPECT_LE(run.visits.load(), 2 * 20u);
}

}  // namespace
}  // namespace pando::exec
