// Random numbers on the CPU device, beside the standard library's generator on as many threads in the same run.
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>
#include <poprand/RandomGen.hpp>
#include <poprand/codelets.hpp>

#include "bench.h"

namespace pando::bench {
namespace {

using poplar::Tensor;
using poplar::program::Sequence;

constexpr unsigned kThreads = 2;
constexpr std::size_t kElements = 10'000'000;

double ours(const std::function<Tensor(poplar::Graph&, const Tensor* seed, const Tensor& reference, Sequence&)>& generate) {
  const poplar::Device cpu = poplar::Device::createCPUDevice();
  poplar::Graph graph(cpu.getTarget());
  poprand::addCodelets(graph);
  const Tensor seed = graph.addConstant<unsigned>(poplar::UNSIGNED_INT, {2}, {1, 2});
  const Tensor reference = graph.addVariable(poplar::FLOAT, {kElements}, "reference");
  graph.setTileMapping(seed, 0);
  graph.setTileMapping(reference, 0);
  Sequence prog;
  generate(graph, &seed, reference, prog);
  poplar::Engine engine(graph, prog, {{"pando.threads", std::to_string(kThreads)}});
  engine.load(cpu);
  engine.run(0);
  return best_of(3, [&] { engine.run(0); });
}

template <class Distribution>
double standard_library() {
  std::vector<float> out(kElements);
  return best_of(2, [&] {
    std::vector<std::thread> team;
    for (unsigned t = 0; t < kThreads; ++t)
      team.emplace_back([&, t] {
        std::mt19937_64 generator(t);
        Distribution distribution;
        for (std::size_t i = kElements * t / kThreads; i < kElements * (t + 1) / kThreads; ++i) out[i] = distribution(generator);
      });
    for (std::thread& thread : team) thread.join();
  });
}

void show(const std::string& what, double seconds, double peer) {
  print_figure({.what = what,
                .unit = "M/s",
                .ours = kElements / seconds / 1e6,
                .peer = kElements / peer / 1e6,
                .peer_name = "std::mt19937_64, 2 threads"});
}

void run() {
  show("random: uniform float numbers",
       ours([](auto& g, auto* seed, auto& r, auto& p) { return poprand::uniform(g, seed, 0, r, poplar::FLOAT, 0, 1, p); }),
       standard_library<std::uniform_real_distribution<float>>());
  show("random: normal float numbers",
       ours([](auto& g, auto* seed, auto& r, auto& p) { return poprand::normal(g, seed, 0, r, poplar::FLOAT, 0, 1, p); }),
       standard_library<std::normal_distribution<float>>());
}

}  // namespace
}  // namespace pando::bench

int main() { pando::bench::run(); }
