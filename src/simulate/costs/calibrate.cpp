#include "simulate/costs/calibrate.h"

#include "base/error.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include <unistd.h>

namespace pando::simulate {

namespace {

using SteadyClock = std::chrono::steady_clock;

// The quickest run within a time; at least three.
template <class F>
double best_seconds(double budget, F work) {
  double best = 1e30;
  const auto begin = SteadyClock::now();
  for (int i = 0; i < 3 || std::chrono::duration<double>(SteadyClock::now() - begin).count() < budget; ++i) {
    const auto start = SteadyClock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(SteadyClock::now() - start).count());
  }
  return best;
}

// In two halves of the time at least.
template <class F>
double quickest(double budget, F work) {
  return agreed_seconds([&] { return best_seconds(budget / 2, work); });
}

struct Rate {
  double size = 0, rate = 0;
};

// The best rate is the peak; the others are shares of it.
double to_efficiency(const std::vector<Rate>& rates, Efficiency& e) {
  double peak = 0;
  for (const Rate& r : rates) peak = std::max(peak, r.rate);
  e.points.clear();
  for (const Rate& r : rates) e.points.emplace_back(r.size, r.rate / peak);
  return peak;
}

void measure_products(const HostKernels& kernels, double budget, Cluster& c) {
  std::vector<Rate> rates;
  for (std::int64_t n : {16, 32, 64, 128, 256, 512, 1024}) {
    const auto elements = static_cast<std::size_t>(n * n);
    std::vector<float> x(elements, 1), y(elements, 1), z(elements);
    const double operations = 2.0 * static_cast<double>(n * n * n);
    // Small ones often, so that the clock can tell.
    const int times = static_cast<int>(std::max(1.0, 2e6 / operations));
    const double seconds = quickest(budget / 7, [&] {
      for (int i = 0; i < times; ++i) kernels.product(n, n, n, x.data(), y.data(), z.data());
    });
    rates.push_back({operations, operations * times / seconds});
  }
  c.single_operations = c.half_operations = to_efficiency(rates, c.matmul_efficiency);
}

void measure_memory_rates(double budget, Cluster& c) {
  std::vector<Rate> rates;
  for (std::size_t n : {std::size_t{256}, std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20, std::size_t{1} << 23}) {
    std::vector<float> x(n, 1), y(n, 2), z(n);
    const int times = static_cast<int>(std::max<std::size_t>(1, 262144 / n));
    const double seconds = quickest(budget / 5, [&] {
      for (int i = 0; i < times; ++i) {
        for (std::size_t k = 0; k < n; ++k) z[k] = x[k] + y[k];
        asm volatile("" : : "r"(z.data()) : "memory");
      }
    });
    rates.push_back({static_cast<double>(12 * n), static_cast<double>(12 * n) * times / seconds});
  }
  c.memory_bytes_per_second = to_efficiency(rates, c.memory_efficiency);
  c.vector_operations = c.memory_bytes_per_second / 4;
}

// Two threads add up each other's parts: seconds of one all-reduce of so many floats.
double exchange_seconds(std::size_t n, double budget) {
  std::vector<float> parts[2] = {std::vector<float>(n, 1), std::vector<float>(n, 2)},
                     sums[2] = {std::vector<float>(n), std::vector<float>(n)};
  std::atomic<unsigned> arrived{0};
  std::atomic<bool> stop{false};
  unsigned round[2] = {0, 0};
  const auto sync = [&](int me) {
    ++round[me];
    arrived.fetch_add(1);
    while (arrived.load() < 2 * round[me]) std::this_thread::yield();
  };
  const auto reduce = [&](int me) {
    sync(me);
    for (std::size_t i = 0; i < n; ++i) sums[me][i] = parts[0][i] + parts[1][i];
    sync(me);
  };
  std::thread other([&] {
    for (;;) {
      sync(1);
      if (stop.load()) return;
      reduce(1);
    }
  });
  const double best = best_seconds(budget, [&] {
    sync(0);
    reduce(0);
  });
  stop = true;
  sync(0);
  other.join();
  return best;
}

}  // namespace

double agreed_seconds(const std::function<double()>& measure) {
  constexpr int kMost = 8;
  constexpr double kBound = 1.2;
  double best = measure();
  for (int i = 1; i < kMost; ++i) {
    const double next = measure(), slower = std::max(best, next);
    best = std::min(best, next);
    if (slower <= kBound * best) break;
  }
  return best;
}

void reject_implausible(const Cluster& host) {
  constexpr double kMostBytes = 1e13, kMostOperations = 1e17, kLongestMessage = 1e-2;
  const auto check = [](const char* what, double value, double scale, const char* unit, double most) {
    if (value > 0 && value <= most) return;
    fail(ErrorKind::no_environment, "host-too-busy",
         "{} of {:.4g} {}; more than 0 and at most {:g} is plausible. The host is too busy to be measured: stop other programs, or give "
         "more "
         "--seconds",
         what, value / scale, unit, most / scale);
  };
  check("products", host.single_operations, 1e9, "GFLOP/s", kMostOperations);
  check("memory", host.memory_bytes_per_second, 1e9, "GB/s", kMostBytes);
  for (const NetworkLevel& level : host.levels) {
    check("messages", level.bytes_per_second, 1e9, "GB/s", kMostBytes);
    check("a message", level.latency, 1e-6, "us", kLongestMessage);
  }
}

Cluster calibrate_host(const HostKernels& kernels, double seconds) {
  Cluster c;
  c.name = "host";
  c.doc = "this host, a device for each thread";
  c.source = "measured by pando calibrate";
  c.launch = 1e-7;
  c.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  measure_products(kernels, 0.5 * seconds, c);
  measure_memory_rates(0.3 * seconds, c);
  NetworkLevel threads;
  threads.name = "threads";
  threads.devices = static_cast<std::int32_t>(std::max(2u, std::thread::hardware_concurrency()));
  const std::size_t small = 64, large = std::size_t{1} << 20;
  const double few = agreed_seconds([&] { return exchange_seconds(small, 0.05 * seconds); }),
               many = agreed_seconds([&] { return exchange_seconds(large, 0.05 * seconds); });
  // An all-reduce of two moves each byte once, in two messages.
  threads.latency = few / 2;
  threads.bytes_per_second = 4.0 * static_cast<double>(large) / std::max(1e-9, many - few);
  c.levels = {threads};
  reject_implausible(c);
  return c;
}

}  // namespace pando::simulate
