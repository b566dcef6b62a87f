// Sums of 10^8 floats over every axis, on the CPU device and on 1,472 tiles, beside a hand-written sum of as many bytes on as many threads:
// the bandwidth at which memory can be read.
#include <memory>

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <popops/Fill.hpp>
#include <popops/Reduce.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include "bench.h"

namespace pando::bench {
namespace {

constexpr std::size_t kElements = 100'000'000;
constexpr unsigned kRuns = 5;

struct Case {
  const char* name;
  std::vector<std::size_t> shape, dims;
};

const Case kCases[] = {
    {"all of 10^8", {kElements}, {0}},
    {"last axis of 10^4 x 10^4", {10000, 10000}, {1}},
    {"first axis of 10^4 x 10^4", {10000, 10000}, {0}},
    {"middle axis of 100 x 10^4 x 100", {100, 10000, 100}, {1}},
};

// The sum of n floats, by eight vectors.
float hand_sum(const float* p, std::size_t n) {
  using Vector = float __attribute__((vector_size(64), aligned(4)));
  Vector sums[8] = {};
  constexpr std::size_t kStep = 8 * 16;
  for (std::size_t i = 0; i + kStep <= n; i += kStep)
    for (unsigned v = 0; v < 8; ++v) sums[v] += *reinterpret_cast<const Vector*>(p + i + 16 * v);
  float total = 0;
  for (const Vector& v : sums)
    for (unsigned l = 0; l < 16; ++l) total += v[l];
  return total;
}

double read_gigabytes_per_second(const std::vector<float>& data, unsigned threads) {
  std::vector<float> sums(threads * 16);
  const double seconds = best_of(kRuns, [&] {
    std::vector<std::thread> team;
    const std::size_t part = data.size() / threads;
    for (unsigned t = 0; t < threads; ++t) team.emplace_back([&, t] { sums[t * 16] = hand_sum(data.data() + t * part, part); });
    for (std::thread& t : team) t.join();
  });
  asm volatile("" : : "r"(sums.data()) : "memory");
  return static_cast<double>(data.size() * sizeof(float)) / seconds / 1e9;
}

struct Measured {
  double build = 0, compile = 0, run = 0;
};

Measured measure(const poplar::Device& device, const Case& c) {
  Measured m;
  poplar::Graph graph(device.getTarget());
  popops::addCodelets(graph);
  const poplar::Tensor x = graph.addVariable(poplar::FLOAT, c.shape, "x");
  poputil::mapTensorLinearly(graph, x);
  poplar::program::Sequence fill, reduce;
  popops::fill(graph, x, fill, 1.0f);
  poplar::Tensor sum;
  m.build = seconds_of([&] { sum = popops::reduce(graph, x, c.dims, popops::Operation::ADD, reduce); });
  graph.createHostRead("sum", sum);
  std::unique_ptr<poplar::Engine> engine;
  m.compile = seconds_of([&] { engine = std::make_unique<poplar::Engine>(graph, std::vector<poplar::program::Program>{fill, reduce}); });
  engine->load(device);
  engine->run(0);
  m.run = best_of(kRuns, [&] { engine->run(1); });
  std::vector<float> result(sum.numElements());
  engine->readTensor("sum", result.data(), result.data() + result.size());
  const float expected = static_cast<float>(kElements / result.size());
  for (const float f : result)
    if (f != expected) throw std::runtime_error(fmt::format("a sum of {} ones is {}", expected, f));
  return m;
}

void run() {
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const std::vector<float> data(kElements, 1);
  for (const bool ipu : {false, true}) {
    const poplar::Device device = ipu ? poplar::IPUModel("ipu2").createDevice() : poplar::Device::createCPUDevice();
    for (const Case& c : kCases) {
      const Measured m = measure(device, c);
      const double peer = read_gigabytes_per_second(data, threads);
      const std::string what = fmt::format("reduce, {}, sum of {} floats: ", ipu ? "1,472 tiles" : "CPU device", c.name);
      print_figure({.what = what + "bytes read",
                    .unit = "GB/s",
                    .ours = 4e-9 * kElements / m.run,
                    .peer = peer,
                    .peer_name = "hand-written sum",
                    .at_least = ipu ? 0 : 0.7});
      print_figure({.what = what + "graph", .unit = "s", .ours = m.build});
      print_figure({.what = what + "compile", .unit = "s", .ours = m.compile});
    }
  }
}

}  // namespace
}  // namespace pando::bench

int main() { return pando::bench::exit_status("reduce_bench", pando::bench::run); }
