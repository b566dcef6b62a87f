// Operations that are bound by memory, on the CPU device, beside loops written by hand on as many threads in the same run; and what
// adding the op libraries' codelets to a graph takes.
#include <cmath>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poplin/codelets.hpp>
#include <popnn/codelets.hpp>
#include <popops/Cast.hpp>
#include <popops/Rearrange.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>
#include <poprand/codelets.hpp>

#include "bench.h"

namespace pando::bench {
namespace {

using poplar::Graph;
using poplar::Tensor;
using poplar::program::Sequence;

constexpr unsigned kThreads = 2, kRounds = 5;
constexpr std::size_t kElements = 10'000'000;

// An operation repeated kRounds times in one run of the engine.
class Device {
 public:
  explicit Device(const std::function<void(Graph&, Sequence&)>& build) {
    const poplar::Device cpu = poplar::Device::createCPUDevice();
    Graph graph(cpu.getTarget());
    popops::addCodelets(graph);
    Sequence body;
    build(graph, body);
    engine_ = std::make_unique<poplar::Engine>(graph, poplar::program::Repeat(kRounds, body),
                                               poplar::OptionFlags{{"pando.threads", std::to_string(kThreads)}});
    engine_->load(cpu);
    run();
  }
  void run() { engine_->run(0); }

 private:
  std::unique_ptr<poplar::Engine> engine_;
};

// loop(begin, end) over the elements on kThreads threads, kRounds times.
void by_hand(const std::function<void(std::size_t, std::size_t)>& loop) {
  std::vector<std::thread> team;
  for (std::size_t t = 0; t < kThreads; ++t)
    team.emplace_back([&loop, t] {
      for (unsigned round = 0; round < kRounds; ++round) loop(kElements * t / kThreads, kElements * (t + 1) / kThreads);
    });
  for (std::thread& t : team) t.join();
}

// Taken in turns: what else the host does hits both alike.
void compare(const std::string& what, double bytes_per_element, Device& device, const std::function<void(std::size_t, std::size_t)>& loop) {
  double ours = 1e30, peer = 1e30;
  for (unsigned i = 0; i < 7; ++i) {
    ours = std::min(ours, seconds_of([&] { device.run(); }));
    peer = std::min(peer, seconds_of([&] { by_hand(loop); }));
  }
  const double gigabytes = 1e-9 * bytes_per_element * static_cast<double>(kElements) * kRounds;
  print_figure({what + ", 10^7 elements, CPU device, two threads", "GB/s", gigabytes / ours, gigabytes / peer, "hand loop", 0, 0.85});
}

void elementwise() {
  const auto variable = [](Graph& graph, const poplar::Type& type) {
    return graph.addVariable(type, {kElements}, poplar::VariableMappingMethod::LINEAR);
  };
  std::vector<float> a(kElements, 1), b(kElements, 2);
  std::vector<_Float16> narrow(kElements);
  {
    Device cast([&](Graph& graph, Sequence& prog) {
      popops::castWithOutput(graph, variable(graph, poplar::FLOAT), variable(graph, poplar::HALF), prog);
    });
    compare("cast float to half", 6, cast, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) narrow[i] = static_cast<_Float16>(a[i]);
    });
  }
  {
    Device cast([&](Graph& graph, Sequence& prog) {
      popops::castWithOutput(graph, variable(graph, poplar::HALF), variable(graph, poplar::FLOAT), prog);
    });
    compare("cast half to float", 6, cast, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) a[i] = static_cast<float>(narrow[i]);
    });
  }
  {
    Device add([&](Graph& graph, Sequence& prog) {
      popops::scaledAddTo(graph, variable(graph, poplar::FLOAT), variable(graph, poplar::FLOAT), 0.5f, prog);
    });
    compare("scaledAddTo float", 12, add, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) a[i] += 0.5f * b[i];
    });
  }
  {
    Device add([&](Graph& graph, Sequence& prog) {
      popops::scaledAddTo(graph, variable(graph, poplar::HALF), variable(graph, poplar::HALF), 0.5f, prog);
    });
    std::vector<_Float16> other(kElements, static_cast<_Float16>(0.001f));
    compare("scaledAddTo half", 6, add, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        narrow[i] = static_cast<_Float16>(static_cast<float>(narrow[i]) + 0.5f * static_cast<float>(other[i]));
    });
  }
  {
    // 2,500 x 4,000; by hand in blocks of 32 x 32.
    Device transpose([&](Graph& graph, Sequence& prog) {
      const poplar::ComputeSet cs = graph.addComputeSet("transpose");
      popops::rearrange::partialTranspose(graph, variable(graph, poplar::FLOAT).reshape({2500, 4000}), cs);
      prog.add(poplar::program::Execute(cs));
    });
    compare("transpose float", 8, transpose, [&](std::size_t begin, std::size_t end) {
      constexpr std::size_t rows = 2500, columns = 4000, block = 32;
      const std::size_t last = end / rows;
      for (std::size_t c0 = begin / rows; c0 < last; c0 += block)
        for (std::size_t r0 = 0; r0 < rows; r0 += block)
          for (std::size_t c = c0; c < std::min(last, c0 + block); ++c)
            for (std::size_t r = r0; r < std::min(rows, r0 + block); ++r) b[c * rows + r] = a[r * columns + c];
    });
  }
}

void codelets() {
  const poplar::Device ipu = poplar::IPUModel("ipu2").createDevice();
  struct Library {
    const char* name;
    void (*add)(Graph&);
  };
  const std::vector<Library> libraries = {
      {"popops", popops::addCodelets}, {"poplin", poplin::addCodelets}, {"popnn", popnn::addCodelets}, {"poprand", poprand::addCodelets}};
  double first = 0, next = 1e30;
  for (unsigned round = 0; round < 20; ++round) {
    Graph graph(ipu.getTarget());
    double all = 0;
    for (const Library& library : libraries) {
      const double seconds = seconds_of([&] { library.add(graph); });
      if (round == 0) fmt::print("  first graph: {}::addCodelets {:.2f} ms\n", library.name, 1e3 * seconds);
      all += seconds;
    }
    if (round == 0)
      first = all;
    else
      next = std::min(next, all);
  }
  print_figure({.what = "codelets of all op libraries, first graph of a process", .unit = "ms", .ours = 1e3 * first, .at_most = 10});
  print_figure({.what = "codelets of all op libraries, further graphs", .unit = "ms", .ours = 1e3 * next, .at_most = 1});
}

}  // namespace
}  // namespace pando::bench

int main() {
  return pando::bench::exit_status("movement_bench", [&] {
    pando::bench::codelets();
    pando::bench::elementwise();
  });
}
