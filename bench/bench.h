// What the benchmarks share: the best of several, the calibration of the host, and the figures of the table.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace pando::bench {

// What a benchmark's main returns. An error goes to standard error, with the program's name.
inline int exit_status(const char* name, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}: {}\n", name, e.what());
    return 1;
  }
  return 0;
}

inline double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Of all threads of this process.
inline double processor_seconds_of(const std::function<void()>& work) {
  const auto now = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

// One run, for two libraries that are timed in turns: OpenMP's threads spin for milliseconds after their work and would take the
// other side's processor. So both wait until that is over, run once to be warm, and run again on time.
inline double seconds_in_turn(const std::function<void()>& work) {
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  work();
  return seconds_of(work);
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

// One published figure. With a peer (or a hand loop, or another size) measured in the same run, the target bounds the ratio
// ours / peer; without one it bounds `ours`. No target: the figure is shown and not judged.
struct Figure {
  std::string what;
  std::string unit;
  double ours = 0;
  double peer = 0;  // 0: none
  std::string peer_name;
  double at_most = 0;   // 0: no such bound
  double at_least = 0;  // 0: no such bound
};

inline double judged(const Figure& f) { return f.peer > 0 ? f.ours / f.peer : f.ours; }
inline bool has_target(const Figure& f) { return f.at_most > 0 || f.at_least > 0; }
inline bool is_good(const Figure& f) { return (f.at_most <= 0 || judged(f) <= f.at_most) && (f.at_least <= 0 || judged(f) >= f.at_least); }
inline std::string target_of(const Figure& f) {
  if (!has_target(f)) return "";
  const double bound = f.at_most > 0 ? f.at_most : f.at_least;
  return fmt::format("{} {:g}{}", f.at_most > 0 ? "<=" : ">=", bound, f.peer > 0 ? " x" : " " + f.unit);
}

// Shows the figure, and appends it to the file that PANDO_BENCH_FIGURES names, for the table of `./x bench`: one per line,
// fields between tabs.
inline void print_figure(const Figure& f) {
  const std::string verdict = !has_target(f) ? "" : is_good(f) ? "ok" : "short";
  const std::string ours = fmt::format("{:.3g} {}", f.ours, f.unit);
  const std::string peer = f.peer > 0 ? fmt::format("{:.3g} {}", f.peer, f.unit) : "";
  const std::string ratio = f.peer > 0 ? fmt::format("{:.2f}", f.ours / f.peer) : "";
  fmt::print("{}: {}{} {} {}\n", f.what, ours, peer.empty() ? "" : fmt::format("; {}: {}, ratio {}", f.peer_name, peer, ratio),
             target_of(f), verdict);
  std::fflush(stdout);
  const char* path = std::getenv("PANDO_BENCH_FIGURES");
  std::FILE* file = path != nullptr ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return;
  fmt::print(file, "{}\t{}\t{}\t{}\t{}\t{}\t{}\n", f.what, ours, f.peer_name, peer, ratio, target_of(f), verdict);
  std::fclose(file);
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
  fmt::print("host: {} cores; memcpy {:.1f} GB/s on one thread, {:.1f} on two; a barrier of two {:.0f} ns\n",
             std::thread::hardware_concurrency(), memcpy_gigabytes_per_second(1), memcpy_gigabytes_per_second(2), barrier_nanoseconds());
}

}  // namespace pando::bench
