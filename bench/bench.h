// What the benchmarks share: the best of several, the calibration of the host, and the rows of the table.
//
// A row says what was measured, our figure, the peer's (or the hand loop's) in the same unit, their ratio, and the target.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace pando::bench {

inline double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The shortest of `times` runs.
inline double best_of(unsigned times, const std::function<void()>& work) {
  double best = 1e30;
  for (unsigned i = 0; i < times; ++i) best = std::min(best, seconds_of(work));
  return best;
}

// Highest resident memory of this process so far.
inline double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

inline void print_heading() { fmt::print("{:<58} {:>12} {:>12} {:>8}  {}\n", "what", "ours", "peer", "ratio", "target"); }

// ratio = ours / peer.
inline void print_row(const std::string& what, const std::string& unit, double ours, double peer, const std::string& target) {
  fmt::print("{:<58} {:>12} {:>12} {:>8.2f}  {}\n", what, fmt::format("{:.3g} {}", ours, unit), fmt::format("{:.3g} {}", peer, unit),
             ours / peer, target);
}
// A figure that has no peer.
inline void print_row(const std::string& what, const std::string& unit, double ours, const std::string& target) {
  fmt::print("{:<58} {:>12} {:>12} {:>8}  {}\n", what, fmt::format("{:.3g} {}", ours, unit), "", "", target);
}

// GB/s of memcpy on `threads` threads, each over its own 4 MiB.
inline double memcpy_gigabytes_per_second(unsigned threads) {
  constexpr std::size_t kBytes = 4 << 20, kRounds = 50;
  std::vector<std::vector<char>> from(threads, std::vector<char>(kBytes, 1)), to = from;
  const double seconds = best_of(5, [&] {
    std::vector<std::thread> team;
    for (unsigned t = 0; t < threads; ++t)
      team.emplace_back([&, t] {
        for (std::size_t i = 0; i < kRounds; ++i) {
          std::memcpy(to[t].data(), from[t].data(), kBytes);
          asm volatile("" : : "r"(to[t].data()) : "memory");
        }
      });
    for (std::thread& t : team) t.join();
  });
  return static_cast<double>(threads * kRounds * kBytes) / seconds / 1e9;
}

// Nanoseconds of a barrier of two threads that spin.
inline double barrier_nanoseconds() {
  constexpr unsigned kRounds = 20000;
  return 1e9 / kRounds * best_of(5, [] {
    std::atomic<unsigned> arrived[2] = {0, 0};
    const auto work = [&arrived](unsigned me) {
      for (unsigned i = 1; i <= kRounds; ++i) {
        arrived[me].store(i, std::memory_order_release);
        while (arrived[1 - me].load(std::memory_order_acquire) < i) __builtin_ia32_pause();
      }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
  });
}

inline void print_calibration() {
  fmt::print("host: memcpy {:.0f} GB/s on one thread, {:.0f} on two; a barrier of two {:.0f} ns\n", memcpy_gigabytes_per_second(1),
             memcpy_gigabytes_per_second(2), barrier_nanoseconds());
}

}  // namespace pando::bench
