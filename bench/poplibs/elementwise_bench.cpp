// Element-wise operations beside hand-written loops on as many threads, beside NumPy where python3 has it, and beside oneDNN, all
// in the same run: a fused chain of five operations over 10^7 floats, evaluated in blocks and compiled to a codelet; one
// transcendental function; one sum. On the CPU device and on the 1,472 tiles of an IPU. And what the first run of either way costs.
#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <dnnl.h>
#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>
#include <popops/ElementWise.hpp>
#include <popops/codelets.hpp>
#include <poputil/TileMapping.hpp>

#include "bench.h"

namespace pando::bench {
namespace {

using poplar::Tensor;
using namespace popops::expr;

constexpr unsigned kThreads = 2;
constexpr std::size_t kElements = 10000000;

// max((a * b + c) * 0.5 - a, 0)
const Any kChain = Max((_1 * _2 + _3) * 0.5f - _1, Const(0.0f));

using Work = std::function<void(poplar::Graph&, const std::vector<Tensor>& in, const Tensor& out, poplar::program::Sequence&)>;

// Three operands of n floats and a result, ready to run.
class Machine {
 public:
  Machine(const poplar::Device& device, std::size_t n, const Work& work) {
    poplar::Graph graph(device.getTarget());
    popops::addCodelets(graph);
    std::vector<Tensor> in;
    for (const char* name : {"a", "b", "c"}) {
      in.push_back(graph.addVariable(poplar::FLOAT, {n}, name));
      poputil::mapTensorLinearly(graph, in.back());
      graph.createHostWrite(name, in.back());
    }
    const Tensor out = graph.clone(in[0], "out");
    graph.createHostRead("out", out);
    poplar::program::Sequence prog;
    build_ = seconds_of([&] { work(graph, in, out, prog); });
    compile_ = seconds_of([&] {
      engine_ = std::make_unique<poplar::Engine>(graph, prog, poplar::OptionFlags{{"pando.threads", std::to_string(kThreads)}});
      engine_->load(device);
    });
    for (const char* name : {"a", "b", "c"}) {
      const std::vector<float> values = operand(n, name[0]);
      engine_->writeTensor(name, values.data(), values.data() + n);
    }
    first_ = seconds_of([&] { run(); });
  }

  static std::vector<float> operand(std::size_t n, char name) {
    std::vector<float> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>((i * 37 + static_cast<unsigned char>(name)) % 1000) * 0.004f - 2.0f;
    return out;
  }
  std::vector<float> result(std::size_t n) {
    std::vector<float> out(n);
    engine_->readTensor("out", out.data(), out.data() + n);
    return out;
  }
  void run() { engine_->run(0); }
  double to_first_result() const { return build_ + compile_ + first_; }
  double build() const { return build_; }

 private:
  std::unique_ptr<poplar::Engine> engine_;
  double build_ = 0, compile_ = 0, first_ = 0;
};

// A loop over [0, n) on kThreads threads that live as long as the measurement.
void by_hand(std::size_t n, const std::function<void(std::size_t, std::size_t)>& loop) {
  std::vector<std::thread> team;
  const auto part = [&](unsigned t) { loop(n * t / kThreads, n * (t + 1) / kThreads); };
  for (unsigned t = 1; t < kThreads; ++t) team.emplace_back(part, t);
  part(0);
  for (std::thread& t : team) t.join();
}

struct Arrays {
  std::vector<float> a = Machine::operand(kElements, 'a'), b = Machine::operand(kElements, 'b'), c = Machine::operand(kElements, 'c'),
                     out = std::vector<float>(kElements);
};

void chain_by_hand(Arrays& x) {
  by_hand(kElements, [&x](std::size_t begin, std::size_t end) {
    const float* __restrict a = x.a.data(), * __restrict b = x.b.data(), * __restrict c = x.c.data();
    float* __restrict out = x.out.data();
    for (std::size_t i = begin; i < end; ++i) {
      const float v = (a[i] * b[i] + c[i]) * 0.5f - a[i];
      out[i] = v > 0.0f ? v : 0.0f;
    }
  });
}

void sum_by_hand(Arrays& x) {
  by_hand(kElements, [&x](std::size_t begin, std::size_t end) {
    const float* __restrict a = x.a.data(), * __restrict b = x.b.data();
    float* __restrict out = x.out.data();
    for (std::size_t i = begin; i < end; ++i) out[i] = a[i] + b[i];
  });
}

void check(const std::vector<float>& ours, const std::vector<float>& expected, float tolerance) {
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (!(std::abs(ours[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i]))))
      throw std::runtime_error(fmt::format("element {} is {}, not {}", i, ours[i], expected[i]));
}

// oneDNN's exponential function on as many threads.
class Peer {
 public:
  Peer() {
    using Set = void (*)(int);
    const auto set = reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
    if (set == nullptr) throw std::runtime_error("the peer has no OpenMP");
    set(kThreads);
    dnnl_engine_create(&engine_, dnnl_cpu, 0);
    dnnl_stream_create(&stream_, engine_, dnnl_stream_default_flags);
    const dnnl_dims_t shape = {static_cast<dnnl_dim_t>(kElements)};
    dnnl_memory_desc_init_by_tag(&memory_, 1, shape, dnnl_f32, dnnl_a);
    dnnl_eltwise_desc_t description;
    dnnl_eltwise_forward_desc_init(&description, dnnl_forward_inference, dnnl_eltwise_exp, &memory_, 0, 0);
    dnnl_primitive_desc_t chosen = nullptr;
    dnnl_primitive_desc_create(&chosen, &description, nullptr, engine_, nullptr);
    dnnl_primitive_create(&primitive_, chosen);
    dnnl_primitive_desc_destroy(chosen);
  }
  void run(Arrays& x) {
    dnnl_memory_t from = nullptr, to = nullptr;
    dnnl_memory_create(&from, &memory_, engine_, x.a.data());
    dnnl_memory_create(&to, &memory_, engine_, x.out.data());
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}};
    dnnl_primitive_execute(primitive_, stream_, 2, arguments);
    dnnl_stream_wait(stream_);
    dnnl_memory_destroy(from);
    dnnl_memory_destroy(to);
  }

 private:
  dnnl_engine_t engine_ = nullptr;
  dnnl_stream_t stream_ = nullptr;
  dnnl_memory_desc_t memory_;
  dnnl_primitive_t primitive_ = nullptr;
};

// Seconds of the chain in NumPy, best of some; 0 if python3 has no NumPy.
double numpy_seconds() {
  const std::string program =
      "import numpy as n, time\n"
      "a, b, c = (n.linspace(-2, 2, 10000000, dtype=n.float32) for _ in range(3))\n"
      "best = 1e9\n"
      "for _ in range(5):\n"
      "  t = time.perf_counter(); n.maximum((a * b + c) * n.float32(0.5) - a, n.float32(0)); best = min(best, time.perf_counter() - t)\n"
      "print(best)\n";
  std::FILE* const out =
      popen(("python=/usr/bin/python3; [ -x $python ] || python=python3; $python -c '" + program + "' 2>/dev/null").c_str(), "r");
  double seconds = 0;
  const bool read = out != nullptr && std::fscanf(out, "%lf", &seconds) == 1;
  if (out != nullptr) pclose(out);
  return read ? seconds : 0;
}

Work chain(const poplar::OptionFlags& options) {
  return [options](poplar::Graph& graph, const std::vector<Tensor>& in, const Tensor& out, poplar::program::Sequence& prog) {
    popops::mapWithOutput(graph, kChain, in, out, prog, {}, options);
  };
}

const poplar::OptionFlags kBlocks = {{"enableGenerateCodelet", "false"}}, kCompiled = {{"forceGenerateCodelet", "true"}};

// Times of ours and the peer's, taken in turns: what else the host does hits both.
struct Pair {
  double ours = 1e30, peer = 1e30;
};
Pair in_turns(const std::function<void()>& ours, const std::function<void()>& peer) {
  Pair best;
  for (unsigned i = 0; i < 12; ++i) {
    best.ours = std::min(best.ours, seconds_in_turn(ours));
    best.peer = std::min(best.peer, seconds_in_turn(peer));
  }
  return best;
}

void judge(const std::string& what, const Pair& times, const std::string& peer, double at_least) {
  const double gigabytes = static_cast<double>(kElements) / 1e9;
  print_figure({.what = "element-wise, 10^7 floats, " + what,
                .unit = "G elements/s",
                .ours = gigabytes / times.ours,
                .peer = gigabytes / times.peer,
                .peer_name = peer,
                .at_least = at_least});
}

void run_chain(const poplar::Device& device, const std::string& where, Arrays& x, double numpy) {
  for (const bool compiled : {false, true}) {
    Machine machine(device, kElements, chain(compiled ? kCompiled : kBlocks));
    chain_by_hand(x);
    check(machine.result(kElements), x.out, 1e-6f);  // the hand loop rounds a * b + c once
    const Pair times = in_turns([&] { machine.run(); }, [&] { chain_by_hand(x); });
    const std::string what = std::string("chain of five ") + (compiled ? "compiled" : "in blocks") + ", " + where;
    judge(what, times, "hand loop", 0.8);
    if (numpy > 0) judge(what, {times.ours, numpy}, "NumPy", 3);
  }
}

void run_functions(const poplar::Device& device, const std::string& where, Arrays& x, Peer& peer) {
  Machine exponential(device, kElements,
                      [](poplar::Graph& graph, const std::vector<Tensor>& in, const Tensor& out, poplar::program::Sequence& prog) {
                        popops::expWithOutput(graph, in[0], out, prog);
                      });
  peer.run(x);
  check(exponential.result(kElements), x.out, 1e-6f);
  judge("exp, " + where, in_turns([&] { exponential.run(); }, [&] { peer.run(x); }), "oneDNN", 0.8);
  Machine sum(device, kElements,
              [](poplar::Graph& graph, const std::vector<Tensor>& in, const Tensor& out, poplar::program::Sequence& prog) {
                popops::addWithOutput(graph, in[0], in[1], out, prog);
              });
  judge("a + b, " + where, in_turns([&] { sum.run(); }, [&] { sum_by_hand(x); }), "hand loop", 0.8);
}

// From the call to the first result, with nothing in the cache of codelets, of a chain over few elements.
void run_first(const poplar::Device& device) {
  const std::filesystem::path cache = std::filesystem::temp_directory_path() / fmt::format("pando-bench-elementwise-{}", getpid());
  setenv("XDG_CACHE_HOME", cache.c_str(), 1);
  const Machine blocks(device, 10000, chain(kBlocks)), compiled(device, 10000, chain(kCompiled)), cached(device, 10000, chain(kCompiled));
  std::filesystem::remove_all(cache);
  print_figure({.what = "element-wise, 10^4 floats, from map() to the first result, in blocks",
                .unit = "ms",
                .ours = 1e3 * blocks.to_first_result(),
                .at_most = 10});
  print_figure({.what = "element-wise, 10^4 floats, from map() to the first result, compiled",
                .unit = "ms",
                .ours = 1e3 * compiled.to_first_result()});
  print_figure({.what = "element-wise, 10^4 floats, from map() to the first result, compiled and cached",
                .unit = "ms",
                .ours = 1e3 * cached.to_first_result()});
}

void run() {
  print_calibration();
  Arrays x;
  Peer peer;
  const double numpy = numpy_seconds();
  if (numpy == 0) fmt::print("python3 has no NumPy: its figures are left out\n");
  const poplar::Device cpu = poplar::Device::createCPUDevice();
  poplar::IPUModel model("ipu2");
  const poplar::Device ipu = model.createDevice();
  run_first(cpu);
  run_chain(cpu, "CPU device", x, numpy);
  run_chain(ipu, "1,472 tiles", x, numpy);
  run_functions(cpu, "CPU device", x, peer);
  run_functions(ipu, "1,472 tiles", x, peer);
}

}  // namespace
}  // namespace pando::bench

int main() { return pando::bench::exit_status("elementwise_bench", pando::bench::run); }
