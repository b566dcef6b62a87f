// Products of square float matrices beside oneDNN's on as many threads in the same run: on the CPU device, and on the 1,472 tiles
// of an IPU with the exchange and everything counted; what building, planning and compiling one of them takes; and the cycles of the
// machine that products in blocks are modelled to take, beside those of plans for cycles.
#include <dlfcn.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <dnnl.h>
#include <poplar/CycleCount.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poplin/MatMul.hpp>
#include <poplin/codelets.hpp>

#include "bench.h"

namespace pando::bench {
namespace {

using poplar::Tensor;

constexpr unsigned kThreads = 2;

// A product of n x n matrices, ready to run.
class Machine {
 public:
  Machine(const poplar::Device& device, unsigned n, const poplar::OptionFlags& options = {}) {
    poplar::Graph graph(device.getTarget());
    poplin::addCodelets(graph);
    poplar::program::Sequence prog;
    build_ = seconds_of([&] {
      poplin::PlanningCache cache;
      const std::vector<std::size_t> shape = {n, n};
      const Tensor a = poplin::createMatMulInputLHS(graph, poplar::FLOAT, shape, shape, "a", options, &cache);
      const Tensor b = poplin::createMatMulInputRHS(graph, poplar::FLOAT, shape, shape, "b", options, &cache);
      const Tensor c = poplin::matMul(graph, a, b, prog, "c", options, &cache);
      graph.createHostWrite("a", a);
      graph.createHostWrite("b", b);
      graph.createHostRead("c", c);
    });
    const bool on_tiles = graph.getTarget().getNumTiles() > 1;
    if (on_tiles) graph.createHostRead("cycles", poplar::cycleCount(graph, prog, 0, poplar::SyncType::INTERNAL));
    compile_ = seconds_of([&] {
      engine_ = std::make_unique<poplar::Engine>(graph, prog, poplar::OptionFlags{{"pando.threads", std::to_string(kThreads)}});
      engine_->load(device);
    });
    const std::vector<float> ones(std::size_t{n} * n, 1), twos(std::size_t{n} * n, 2);
    engine_->writeTensor("a", ones.data(), ones.data() + ones.size());
    engine_->writeTensor("b", twos.data(), twos.data() + twos.size());
    run();
    std::vector<float> c(ones.size());
    engine_->readTensor("c", c.data(), c.data() + c.size());
    for (const float f : c)
      if (f != 2 * static_cast<float>(n)) throw std::runtime_error(fmt::format("a product of ones and twos is {}", f));
    if (on_tiles) engine_->readTensor("cycles", cycles_, cycles_ + 2);
  }

  void run() { engine_->run(0); }
  double build() const { return build_; }
  double compile() const { return compile_; }
  double cycles() const { return 4294967296.0 * cycles_[1] + cycles_[0]; }

 private:
  std::unique_ptr<poplar::Engine> engine_;
  double build_ = 0, compile_ = 0;
  unsigned cycles_[2] = {};
};

void set_peer_threads() {
  using Set = void (*)(int);
  const auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set == nullptr) throw std::runtime_error("the peer has no OpenMP");
  set(kThreads);
}

// Best times, taken in turns: what else the host does hits all alike.
struct Best {
  double peer = 1e30, cpu = 1e30, tiles = 1e30;
};

Best measure(unsigned n, Machine& cpu, Machine& tiles) {
  const std::vector<float> a(std::size_t{n} * n, 1), b(a);
  std::vector<float> c(a.size());
  Best best;
  for (unsigned i = 0, rounds = n > 1024 ? 7 : 20; i < rounds; ++i) {
    best.peer = std::min(best.peer, seconds_in_turn([&] { dnnl_sgemm('N', 'N', n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n); }));
    best.cpu = std::min(best.cpu, seconds_in_turn([&] { cpu.run(); }));
    best.tiles = std::min(best.tiles, seconds_in_turn([&] { tiles.run(); }));
  }
  return best;
}

void run() {
  set_peer_threads();
  const poplar::Device cpu = poplar::Device::createCPUDevice(), ipu = poplar::IPUModel("ipu2").createDevice();
  for (const unsigned n : {512u, 1024u, 2048u}) {
    Machine on_cpu(cpu, n), on_tiles(ipu, n);
    const Best best = measure(n, on_cpu, on_tiles);
    const double gigaflops = 2e-9 * n * n * n;
    const std::string what = fmt::format("f32 matMul {}, two threads: ", n);
    print_figure({what + "CPU device", "GFLOP/s", gigaflops / best.cpu, gigaflops / best.peer, "oneDNN", 0, 0.85});
    print_figure({what + "1,472 tiles", "GFLOP/s", gigaflops / best.tiles, gigaflops / best.peer, "oneDNN", 0, n == 2048 ? 0.35 : 0});
    Machine in_blocks(ipu, n, {{"pando.layout", "blocks"}});
    const double blocks = best_of(7, [&] { in_blocks.run(); });
    print_figure({what + "1,472 tiles, in blocks", "GFLOP/s", gigaflops / blocks, gigaflops / best.peer, "oneDNN", 0, 0});
    print_figure({.what = what + "1,472 tiles, in blocks, modelled",
                  .unit = "cycles",
                  .ours = in_blocks.cycles(),
                  .peer = on_tiles.cycles(),
                  .peer_name = "plan for cycles"});
    if (n == 2048)
      print_figure({.what = "f32 matMul 2048 on 1,472 tiles: plan + build + compile + load",
                    .unit = "s",
                    .ours = on_tiles.build() + on_tiles.compile(),
                    .at_most = 0.5});
    fmt::print("  CPU device: build {:.3f} s, compile and load {:.3f} s; 1,472 tiles: build {:.3f} s, compile and load {:.3f} s\n",
               on_cpu.build(), on_cpu.compile(), on_tiles.build(), on_tiles.compile());
  }
}

}  // namespace
}  // namespace pando::bench

int main() { return pando::bench::exit_status("matmul_bench", pando::bench::run); }
