// Supersteps and exchanges of the executor next to hand-written loops over the same addresses, in the same run, alternating;
// each figure is the best of several. Tile programs are made by hand, so that only the executor is measured.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <thread>

#include "base/process/threads.h"
#include "bench.h"
#include "exec/runner.h"
#include "tile/hand_made.h"

namespace pando::bench {
namespace {

using tile::HandMade;
using tile::HandMadeVertex;
using tile::Move;
using tile::Op;

constexpr unsigned kTiles = 1472, kWorkers = 6, kFloats = 16, kThreads = 2;

struct Saxpy {
  float* in;
  std::uint64_t in_size;
  float* out;
  std::uint64_t out_size;
};

inline void saxpy(const float* in, float* out, std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) out[i] = in[i] * 1.5f + out[i];
}

// A spinning barrier of kThreads threads.
class Barrier {
 public:
  void wait() {
    const unsigned phase = phase_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == kThreads) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
    } else {
      for (unsigned spins = 0; phase_.load(std::memory_order_acquire) == phase; ++spins)
        if (spins < 100000)
          spin_pause();
        else
          std::this_thread::yield();
    }
  }

 private:
  alignas(64) std::atomic<unsigned> arrived_{0};
  alignas(64) std::atomic<unsigned> phase_{0};
};

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Nanoseconds of one round of `body(thread)` on both threads with two barriers.
double hand_loop(unsigned rounds, const std::function<void(unsigned)>& body) {
  Barrier barrier;
  const auto part = [&](unsigned thread) {
    for (unsigned i = 0; i < rounds; ++i) {
      barrier.wait();
      body(thread);
      barrier.wait();
    }
  };
  std::thread other(part, 1);
  const auto begin = Clock::now();
  part(0);
  const double time = seconds(begin);
  other.join();
  return time / rounds * 1e9;
}

double program(exec::Runner& runner, unsigned rounds) {
  const auto begin = Clock::now();
  runner.run(0);
  return seconds(begin) / rounds * 1e9;
}

std::unique_ptr<exec::Runner> make_runner(HandMade& p, exec::Options options = {}) {
  p.end_all();
  options.threads = kThreads;
  return std::make_unique<exec::Runner>(std::make_shared<tile::Program>(p.program), p.library, options);
}

// Alternates the two, best of `tries`.
std::pair<double, double> best_of(unsigned tries, const std::function<double()>& ours, const std::function<double()>& peer) {
  double a = 1e30, b = 1e30;
  for (unsigned i = 0; i < tries; ++i) {
    a = std::min(a, ours());
    b = std::min(b, peer());
  }
  return {a, b};
}

// As users write it: popc compiles it.
constexpr const char* kSaxpySource = R"(#include <poplar/Vertex.hpp>
  class Saxpy : public poplar::Vertex {
   public:
    poplar::Input<poplar::Vector<float>> in;
    poplar::InOut<poplar::Vector<float>> out;
    void compute() { for (unsigned i = 0; i < out.size(); ++i) out[i] = in[i] * 1.5f + out[i]; }
  };)";

CodeletId saxpy_codelet(HandMade& p, const std::string& flags = "") {
  return p.library.module(p.library.compile({{}, kSaxpySource}, flags, nullptr)).codelets[0];
}

// One vertex for each worker of each tile, each operand in cache lines of its own.
std::uint32_t add_saxpys(HandMade& p, StreamId s, CodeletId codelet, std::uint32_t floats) {
  const std::uint64_t apart = (floats * sizeof(float) + 63) / 64 * 64;
  std::vector<HandMadeVertex> vertices;
  for (unsigned t = 0; t < kTiles; ++t)
    for (unsigned w = 0; w < kWorkers; ++w)
      vertices.push_back({codelet, TileId(t), {{TileId(t), floats, 2 * w * apart}, {TileId(t), floats, (2 * w + 1) * apart}}, ""});
  return p.add_compute(s, vertices);
}

void superstep() {
  constexpr unsigned kRounds = 500, kTries = 5;
  HandMade p(1, kTiles, 16384);
  const CodeletId codelet = saxpy_codelet(p);
  const auto kernel = p.library[codelet].kernel;
  const StreamId s = p.add_ipu(0);
  const std::uint32_t step = add_saxpys(p, s, codelet, kFloats);
  p.repeat(s, kRounds, [&] { p.emit(s, Op::compute, step); });
  auto runner = make_runner(p);

  std::vector<char*> tiles;
  for (unsigned t = 0; t < kTiles; ++t) tiles.push_back(runner->tile_base(0, TileId(t)));
  const auto same_addresses = [&](unsigned thread) {
    for (unsigned t = thread * kTiles / 2; t < (thread + 1) * kTiles / 2; ++t)
      for (unsigned w = 0; w < kWorkers; ++w)
        saxpy(reinterpret_cast<float*>(tiles[t] + w * 128), reinterpret_cast<float*>(tiles[t] + w * 128 + 64), kFloats);
  };
  // What any list of small vertices costs: where each lies and how long it is comes from memory.
  std::vector<Saxpy> list;
  for (char* tile : tiles)
    for (unsigned w = 0; w < kWorkers; ++w)
      list.push_back({reinterpret_cast<float*>(tile + w * 128), kFloats, reinterpret_cast<float*>(tile + w * 128 + 64), kFloats});
  const auto over_list = [&](unsigned thread) {
    std::uint64_t at = 0;
    kernel(reinterpret_cast<char*>(&list[thread * list.size() / 2]), sizeof(Saxpy), list.size() / 2, &at);
  };
  std::vector<float> in(kTiles * kWorkers * kFloats), out(in.size());
  const auto compact = [&](unsigned thread) {
    const std::size_t half = in.size() / 2;
    const float* const from = in.data();
    float* const __restrict to = out.data();
    for (std::size_t i = thread * half; i < (thread + 1) * half; ++i) to[i] = from[i] * 1.5f + to[i];
  };
  const auto [ours, same] = best_of(kTries, [&] { return program(*runner, kRounds); }, [&] { return hand_loop(kRounds, same_addresses); });
  const auto [once_more, listed] =
      best_of(kTries, [&] { return program(*runner, kRounds); }, [&] { return hand_loop(kRounds, over_list); });
  const auto [again, dense] = best_of(kTries, [&] { return program(*runner, kRounds); }, [&] { return hand_loop(kRounds, compact); });
  const double best = std::min({ours, once_more, again});
  const std::string what = fmt::format("superstep of {} 16-float vertices on {} tiles", kTiles * kWorkers, kTiles);
  print_figure(
      {.what = what, .unit = "us", .ours = best / 1e3, .peer = same / 1e3, .peer_name = "hand loop, same addresses", .at_most = 1.2});
  print_figure({.what = what,
                .unit = "us",
                .ours = best / 1e3,
                .peer = listed / 1e3,
                .peer_name = "its kernel over a list, same addresses",
                .at_most = 1.2});
  print_figure({.what = what, .unit = "us", .ours = best / 1e3, .peer = dense / 1e3, .peer_name = "hand loop, compact data"});

  HandMade empty(1, kTiles, 16384);
  const CodeletId one_saxpy = saxpy_codelet(empty);
  const StreamId s2 = empty.add_ipu(0);
  const std::uint32_t small = empty.add_compute(s2, {{one_saxpy, TileId(0), {{TileId(0), 16, 0}, {TileId(0), 16, 64}}, ""}});
  std::vector<HandMadeVertex> few;
  for (unsigned t = 0; t < 256; ++t) few.push_back({one_saxpy, TileId(t), {{TileId(t), 16, 0}, {TileId(t), 16, 64}}, ""});
  const std::uint32_t shared = empty.add_compute(s2, few);
  empty.program.programs = 2;
  empty.repeat(s2, 20000, [&] { empty.emit(s2, Op::compute, small); });
  empty.emit(s2, Op::end);
  empty.program.streams[0].entries = {0, empty.next_instruction(s2)};
  empty.repeat(s2, 20000, [&] { empty.emit(s2, Op::compute, shared); });
  auto tiny = make_runner(empty);
  double one = 1e30, two = 1e30;
  for (unsigned i = 0; i < kTries; ++i) {
    one = std::min(one, program(*tiny, 20000));
    const auto begin = Clock::now();
    tiny->run(1);
    two = std::min(two, seconds(begin) / 20000 * 1e9);
  }
  print_figure({.what = "superstep of 1 vertex, run by one thread", .unit = "ns", .ours = one});
  print_figure({.what = "superstep of 256 vertices on 256 tiles, shared", .unit = "ns", .ours = two});
}

// Vertices of few elements, with and without what popc and the executor do for them.
void small_vertices() {
  constexpr unsigned kRounds = 500, kTries = 5;
  for (const unsigned floats : {1, 3, 7, 15, 31, 32, 64}) {
    const auto runner_of = [&](const std::string& flags, bool strided) {
      HandMade p(1, kTiles, 16384);
      const CodeletId codelet = saxpy_codelet(p, flags);
      const StreamId s = p.add_ipu(0);
      const std::uint32_t step = add_saxpys(p, s, codelet, floats);
      p.repeat(s, kRounds, [&] { p.emit(s, Op::compute, step); });
      exec::Options options;
      options.strided_vertices = strided;
      return make_runner(p, options);
    };
    const auto all = runner_of("", true), long_loops = runner_of("-fno-short-loops", true), listed = runner_of("", false);
    const auto run = [&](const auto& runner) { return [&] { return program(*runner, kRounds); }; };
    const auto [ours, without_short] = best_of(kTries, run(all), run(long_loops));
    const auto [again, without_strides] = best_of(kTries, run(all), run(listed));
    const std::string what = fmt::format("superstep of {} {}-float vertices on {} tiles", kTiles * kWorkers, floats, kTiles);
    const double best = std::min(ours, again) / 1e3;
    print_figure({.what = what, .unit = "us", .ours = best, .peer = without_short / 1e3, .peer_name = "without short loops"});
    print_figure({.what = what, .unit = "us", .ours = best, .peer = without_strides / 1e3, .peer_name = "each looked up"});
  }
}

void exchange(unsigned block, unsigned blocks_per_tile) {
  const unsigned rounds = block >= 1024 ? 8 : 40, tries = 5;
  const std::uint64_t half = std::uint64_t{block} * blocks_per_tile;
  HandMade p(1, kTiles, 2 * half);
  const StreamId s = p.add_ipu(0);
  std::mt19937 random(1);
  std::vector<Move> receive;
  for (unsigned t = 0; t < kTiles; ++t)
    for (unsigned b = 0; b < blocks_per_tile; ++b)
      receive.push_back({TileId(random() % kTiles), TileId(t), (random() % blocks_per_tile) * std::uint64_t{block},
                         half + b * std::uint64_t{block}, block});
  const std::uint32_t step = p.add_exchange(receive);
  p.repeat(s, rounds, [&] { p.emit(s, Op::exchange, step); });
  auto runner = make_runner(p);

  std::vector<std::pair<char*, const char*>> copies;
  for (const Move& m : receive) {
    copies.emplace_back(runner->tile_base(0, m.destination_tile) + m.destination, runner->tile_base(0, m.source_tile) + m.source);
    std::memset(runner->tile_base(0, m.source_tile) + m.source, 1, m.bytes);
  }
  const auto hand = [&](unsigned thread) {
    for (std::size_t i = thread * copies.size() / 2, end = (thread + 1) * copies.size() / 2; i < end; ++i)
      if (block == 64)
        std::memcpy(copies[i].first, copies[i].second, 64);
      else
        std::memcpy(copies[i].first, copies[i].second, block);
  };
  const std::uint64_t bytes = half * kTiles;
  std::vector<char> from(bytes, 1), to(bytes);
  const auto plain = [&](unsigned thread) { std::memcpy(to.data() + thread * bytes / 2, from.data() + thread * bytes / 2, bytes / 2); };
  const auto [ours, loop] = best_of(tries, [&] { return program(*runner, rounds); }, [&] { return hand_loop(rounds, hand); });
  const auto [again, memcpy_time] = best_of(tries, [&] { return program(*runner, rounds); }, [&] { return hand_loop(rounds, plain); });
  const double best = std::min(ours, again);
  const auto rate = [&](double ns) { return static_cast<double>(bytes) / ns; };
  const std::string what = fmt::format("exchange of {}-byte blocks, {} per tile ({} MiB)", block, blocks_per_tile, bytes >> 20);
  print_figure({.what = what,
                .unit = "GB/s",
                .ours = rate(best),
                .peer = rate(memcpy_time),
                .peer_name = "two-thread memcpy",
                .at_least = block == 4096 ? 0.7 : 0});
  print_figure({.what = what,
                .unit = "GB/s",
                .ours = rate(best),
                .peer = rate(loop),
                .peer_name = "loop of copies",
                .at_least = block == 64 ? 0.6 : 0});
}

}  // namespace
}  // namespace pando::bench

int main() {
  pando::bench::superstep();
  pando::bench::small_vertices();
  pando::bench::exchange(4096, 4);
  pando::bench::exchange(4096, 16);
  pando::bench::exchange(64, 64);
  pando::bench::exchange(8, 64);
  return 0;
}
