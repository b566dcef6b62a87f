// Softmax and gelu on the CPU device, against a loop by hand on as many threads.
#include <poplar/Device.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <popnn/NonLinearity.hpp>
#include <popnn/codelets.hpp>

#include <cmath>

#include "bench.h"

namespace {

using namespace poplar;
using pando::bench::Figure;
using program::Sequence;

// Seconds of one run of what `build` adds, in a program that does it `repetitions` times.
double seconds_of_program(const std::vector<std::size_t>& shape, unsigned repetitions,
                          const std::function<void(Graph&, const Tensor&, Sequence&)>& build) {
  const Device device = Device::createCPUDevice();
  Graph graph(device.getTarget());
  popnn::addCodelets(graph);
  const Tensor x = graph.addVariable(FLOAT, shape, "x");
  graph.setTileMapping(x, 0);
  Sequence body;
  build(graph, x, body);
  Engine engine(graph, program::Repeat(repetitions, body));
  engine.load(device);
  engine.run(0);
  return pando::bench::best_of(5, [&] { engine.run(0); }) / repetitions;
}

// The peer: `work(begin, end)` over [0, n) on all threads of the host.
double seconds_by_hand(std::size_t n, unsigned repetitions, const std::function<void(std::size_t, std::size_t)>& work) {
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  return pando::bench::best_of(5,
                               [&] {
                                 std::vector<std::thread> team;
                                 for (unsigned t = 0; t < threads; ++t)
                                   team.emplace_back([&, t] {
                                     for (unsigned i = 0; i < repetitions; ++i) work(n * t / threads, n * (t + 1) / threads);
                                   });
                                 for (std::thread& t : team) t.join();
                               }) /
         repetitions;
}

void show(const char* what, double ours, double peer) {
  Figure figure;
  figure.what = what;
  figure.unit = "ms";
  figure.ours = 1e3 * ours;
  figure.peer = 1e3 * peer;
  figure.peer_name = "loop by hand with std::exp and std::tanh";
  figure.at_most = 1;
  pando::bench::print_figure(figure);
}

}  // namespace

int main() {
  constexpr std::size_t kRows = 1024, kColumns = 1000, kElements = 10'000'000;
  std::vector<float> in(kElements, 0.5f), out(kElements);
  const double softmax =
      seconds_of_program({kRows, kColumns}, 20, [](Graph& g, const Tensor& x, Sequence& prog) { popnn::softmax(g, x, prog); });
  show("softmax of 1024 x 1000 floats, CPU device", softmax, seconds_by_hand(kRows, 20, [&](std::size_t begin, std::size_t end) {
         for (std::size_t r = begin; r < end; ++r) {
           const float* x = in.data() + r * kColumns;
           float *y = out.data() + r * kColumns, max = x[0], sum = 0;
           for (std::size_t i = 1; i < kColumns; ++i) max = std::max(max, x[i]);
           for (std::size_t i = 0; i < kColumns; ++i) sum += y[i] = std::exp(x[i] - max);
           for (std::size_t i = 0; i < kColumns; ++i) y[i] /= sum;
         }
       }));
  const double gelu = seconds_of_program({kElements}, 2, [](Graph& g, const Tensor& x, Sequence& prog) { popnn::gelu(g, x, prog); });
  show("gelu of 10^7 floats, CPU device", gelu, seconds_by_hand(kElements, 1, [&](std::size_t begin, std::size_t end) {
         for (std::size_t i = begin; i < end; ++i) {
           const float x = in[i];
           out[i] = 0.5f * x * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
         }
       }));
}
