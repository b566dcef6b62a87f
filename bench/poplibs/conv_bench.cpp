// Convolutions of ResNet beside oneDNN's on as many threads, in its own preferred layouts, in the same run: forward, the gradient of
// the input and that of the weights, on the CPU device and on the 1,472 tiles of an IPU with the exchange and everything counted; what
// building, planning and compiling takes; and the cycles of the machine that plans for the host's time and plans for cycles are modelled to
// take.
#include <dlfcn.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <dnnl.hpp>
#include <poplar/CycleCount.hpp>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/codelets.hpp>
#include <popops/codelets.hpp>

#include "bench.h"

namespace pando::bench {
namespace {

using poplar::Tensor;
using poplin::ConvParams;

constexpr unsigned kThreads = 2;

enum class Pass { forward, input_gradient, weight_gradient };

struct Case {
  std::string name;
  std::size_t batch, in, out, size, kernel, stride;
};

ConvParams params_of(const Case& c) {
  const unsigned pad = static_cast<unsigned>(c.kernel / 2), stride = static_cast<unsigned>(c.stride);
  ConvParams::InputTransform in(2);
  in.paddingLower = in.paddingUpper = {pad, pad};
  ConvParams::OutputTransform out(2);
  out.stride = {stride, stride};
  return ConvParams(poplar::FLOAT, poplar::FLOAT, c.batch, {c.size, c.size}, {c.kernel, c.kernel}, c.in, c.out, 1, in,
                    ConvParams::InputTransform(2), out);
}

// Ready to run.
class Machine {
 public:
  Machine(const poplar::Device& device, const ConvParams& params, Pass pass, const poplar::OptionFlags& options = {}) {
    poplar::Graph graph(device.getTarget());
    popops::addCodelets(graph);
    poplin::addCodelets(graph);
    poplar::program::Sequence prog;
    build_ = seconds_of([&] {
      poplin::PlanningCache cache;
      if (pass == Pass::forward) {
        const Tensor in = poplin::createInput(graph, params, "in", options, &cache),
                     weights = poplin::createWeights(graph, params, "weights", options, &cache);
        graph.createHostRead("out", poplin::convolution(graph, in, weights, params, false, prog, "conv", options, &cache));
      } else if (pass == Pass::input_gradient) {
        const ConvParams back = poplin::getGradientParams(params);
        const Tensor deltas = poplin::createInput(graph, back, "deltas", options, &cache),
                     weights = poplin::createWeights(graph, params, "weights", options, &cache);
        graph.createHostRead("out", poplin::convolution(graph, deltas, weights, back, true, prog, "conv", options, &cache));
      } else {
        const Tensor in = poplin::createInput(graph, params, "in", options, &cache);
        const Tensor deltas = poplin::createConvOutput(graph, params, "deltas", options, &cache);
        graph.createHostRead("out", poplin::calculateWeightDeltas(graph, deltas, in, params, prog, "conv", options, &cache));
      }
    });
    const bool on_tiles = graph.getTarget().getNumTiles() > 1;
    if (on_tiles) graph.createHostRead("cycles", poplar::cycleCount(graph, prog, 0, poplar::SyncType::INTERNAL));
    compile_ = seconds_of([&] {
      engine_ = std::make_unique<poplar::Engine>(graph, prog, poplar::OptionFlags{{"pando.threads", std::to_string(kThreads)}});
      engine_->load(device);
    });
    run();
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

// oneDNN's convolution with the memory formats that it chooses.
class Peer {
 public:
  Peer(const Case& c, Pass pass) : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using dnnl::memory;
    const auto n = [](std::size_t v) { return static_cast<memory::dim>(v); };
    const memory::dim pad = n(c.kernel / 2), size = (n(c.size) + 2 * pad - n(c.kernel)) / n(c.stride) + 1;
    const auto any = [](const memory::dims& dims) { return memory::desc(dims, memory::data_type::f32, memory::format_tag::any); };
    const memory::desc in = any({n(c.batch), n(c.in), n(c.size), n(c.size)}), weights = any({n(c.out), n(c.in), n(c.kernel), n(c.kernel)}),
                       out = any({n(c.batch), n(c.out), size, size});
    const memory::dims stride = {n(c.stride), n(c.stride)}, padding = {pad, pad};
    const auto algorithm = dnnl::algorithm::convolution_direct;
    const dnnl::convolution_forward::primitive_desc forward(
        {dnnl::prop_kind::forward_training, algorithm, in, weights, out, stride, padding, padding}, engine_);
    if (pass == Pass::forward) {
      primitive_ = dnnl::convolution_forward(forward);
      arguments_ = {{DNNL_ARG_SRC, make(forward.src_desc())},
                    {DNNL_ARG_WEIGHTS, make(forward.weights_desc())},
                    {DNNL_ARG_DST, make(forward.dst_desc())}};
    } else if (pass == Pass::input_gradient) {
      const dnnl::convolution_backward_data::primitive_desc back({algorithm, in, weights, out, stride, padding, padding}, engine_, forward);
      primitive_ = dnnl::convolution_backward_data(back);
      arguments_ = {{DNNL_ARG_DIFF_SRC, make(back.diff_src_desc())},
                    {DNNL_ARG_WEIGHTS, make(back.weights_desc())},
                    {DNNL_ARG_DIFF_DST, make(back.diff_dst_desc())}};
    } else {
      const dnnl::convolution_backward_weights::primitive_desc back({algorithm, in, weights, out, stride, padding, padding}, engine_,
                                                                    forward);
      primitive_ = dnnl::convolution_backward_weights(back);
      arguments_ = {{DNNL_ARG_SRC, make(back.src_desc())},
                    {DNNL_ARG_DIFF_WEIGHTS, make(back.diff_weights_desc())},
                    {DNNL_ARG_DIFF_DST, make(back.diff_dst_desc())}};
    }
    run();
  }

  void run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

 private:
  dnnl::memory make(const dnnl::memory::desc& desc) {
    dnnl::memory memory(desc, engine_);
    std::memset(memory.get_data_handle(), 0, desc.get_size());
    return memory;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

void set_peer_threads() {
  using Set = void (*)(int);
  const auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set == nullptr) throw std::runtime_error("the peer has no OpenMP");
  set(kThreads);
}

constexpr const char* kPasses[] = {"forward", "input gradient", "weight gradient"};

void measure(const Case& c, Pass pass, double at_least, bool on_tiles) {
  const ConvParams params = params_of(c);
  Peer peer(c, pass);
  Machine cpu(poplar::Device::createCPUDevice(), params, pass);
  std::unique_ptr<Machine> tiles;
  if (on_tiles)
    tiles = std::make_unique<Machine>(poplar::IPUModel("ipu2").createDevice(), params, pass,
                                      poplar::OptionFlags{{"pando.planObjective", "hostTime"}});
  double best_peer = 1e30, best_cpu = 1e30, best_tiles = 1e30;  // taken in turns: what else the host does hits all alike
  for (unsigned i = 0; i < 15; ++i) {
    best_peer = std::min(best_peer, seconds_in_turn([&] { peer.run(); }));
    best_cpu = std::min(best_cpu, seconds_in_turn([&] { cpu.run(); }));
    if (on_tiles) best_tiles = std::min(best_tiles, seconds_in_turn([&] { tiles->run(); }));
  }
  const double gigaflops = 1e-9 * static_cast<double>(poplin::getFwdFlops(params));
  const std::string what = fmt::format("f32 conv {}, {}, two threads: ", c.name, kPasses[static_cast<int>(pass)]);
  print_figure({what + "CPU device", "GFLOP/s", gigaflops / best_cpu, gigaflops / best_peer, "oneDNN", 0, at_least});
  if (!on_tiles) return;
  print_figure({what + "1,472 tiles", "GFLOP/s", gigaflops / best_tiles, gigaflops / best_peer, "oneDNN", 0, 0.6});
  const Machine few_cycles(poplar::IPUModel("ipu2").createDevice(), params, pass);
  print_figure({.what = what + "1,472 tiles, modelled",
                .unit = "cycles",
                .ours = tiles->cycles(),
                .peer = few_cycles.cycles(),
                .peer_name = "plan for cycles"});
  print_figure({.what = fmt::format("conv {}, {} on 1,472 tiles: plan + build + compile + load", c.name, kPasses[static_cast<int>(pass)]),
                .unit = "s",
                .ours = tiles->build() + tiles->compile(),
                .at_most = 0.5});
  fmt::print("  CPU device: build {:.3f} s, compile and load {:.3f} s; 1,472 tiles: build {:.3f} s, compile and load {:.3f} s\n",
             cpu.build(), cpu.compile(), tiles->build(), tiles->compile());
}

void run() {
  set_peer_threads();
  const Case middle{"3x3, 64 -> 64, 56x56, batch 8", 8, 64, 64, 56, 3, 1};
  measure(middle, Pass::forward, 0.8, true);
  measure(middle, Pass::input_gradient, 0, true);
  measure(middle, Pass::weight_gradient, 0, true);
  const Case later{"3x3, 128 -> 128, 28x28, batch 8", 8, 128, 128, 28, 3, 1};
  for (const Pass pass : {Pass::forward, Pass::input_gradient, Pass::weight_gradient}) measure(later, pass, 0, true);
  measure({"1x1, 256 -> 64, 56x56, batch 8", 8, 256, 64, 56, 1, 1}, Pass::forward, 0, true);
  measure({"3x3, 512 -> 512, 7x7, batch 8", 8, 512, 512, 7, 3, 1}, Pass::forward, 0, false);
  measure({"7x7 stride 2, 3 -> 64, 224x224, batch 4", 4, 3, 64, 224, 7, 2}, Pass::forward, 0, false);
}

}  // namespace
}  // namespace pando::bench

int main() { return pando::bench::exit_status("conv_bench", pando::bench::run); }
