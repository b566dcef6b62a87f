// The graph of graph_bench at 32 IPUs as a user's program makes it: poplar::Graph, compileGraph, Executable::serialize; then
// another process that reads the executable and loads it onto a device. Each half is a process of its own, started again with
// `--build FILE CODELET` or `--load FILE`, so that its memory and its caches are its own.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include <poplar/Engine.hpp>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>
#include <poplar/Program.hpp>

#include "base/testing/places.h"
#include "bench.h"

extern char** environ;

namespace pando::bench {
namespace {

using poplar::Tensor;

constexpr unsigned kIpus = 32, kWorkers = 6, kFloats = 16;

// What a child measured, on its standard output.
struct Measured {
  double build = 0, compile = 0, serialize = 0, load = 0, run = 0, mebibytes = 0;
};

poplar::Device device() {
  poplar::IPUModel model("ipu2");
  model.numIPUs = kIpus;
  return model.createDevice();
}

// x and y: a row of 96 floats per tile; each vertex reads 16 floats and one neighbour on either side.
poplar::program::Program build(poplar::Graph& graph, const std::string& codelet) {
  graph.addCodelets(codelet);
  const std::size_t tiles = graph.getTarget().getNumTiles(), row = kWorkers * kFloats, n = tiles * row;
  const Tensor x = graph.addVariable(poplar::FLOAT, {n + 2}, "x"), y = graph.addVariable(poplar::FLOAT, {n + 2}, "y");
  poplar::Graph::TileToTensorMapping mapping(tiles);
  for (std::size_t t = 0; t < tiles; ++t) mapping[t] = {{t == 0 ? 0 : t * row + 1, t + 1 == tiles ? n + 2 : (t + 1) * row + 1}};
  for (const Tensor& v : {x, y}) {
    graph.setTileMapping(v, mapping);
    graph.setInitialValue(v, poplar::ArrayRef<float>(std::vector<float>(n + 2, 1)));
  }
  const poplar::ComputeSet set = graph.addComputeSet("smooth");
  for (std::size_t b = 0; b < n / kFloats; ++b) {
    const poplar::VertexRef v = graph.addVertex(set, "Halo");
    graph.setTileMapping(v, static_cast<unsigned>(b / kWorkers));
    graph.connect(v["x"], x.slice(b * kFloats, b * kFloats + kFloats + 2));
    graph.connect(v["y"], y.slice(b * kFloats + 1, b * kFloats + kFloats + 1));
  }
  graph.createHostRead("x", x);
  poplar::program::Sequence steps;
  steps.add(poplar::program::Execute(set));
  steps.add(poplar::program::Copy(y.slice(1, n + 1), x.slice(1, n + 1)));
  return poplar::program::Repeat(10, steps);
}

Measured build_and_save(const std::string& file, const std::string& codelet) {
  Measured m;
  const poplar::Device on = device();
  poplar::Graph graph(on.getTarget());
  poplar::program::Program program;
  m.build = seconds_of([&] { program = build(graph, codelet); });
  poplar::Executable executable;
  m.compile = seconds_of([&] { executable = poplar::compileGraph(graph, {program}); });
  m.serialize = seconds_of([&] {
    std::ofstream out(file, std::ios::binary);
    executable.serialize(out);
  });
  m.mebibytes = peak_mebibytes();
  return m;
}

Measured load_and_run(const std::string& file) {
  Measured m;
  const poplar::Device on = device();
  std::unique_ptr<poplar::Engine> engine;
  m.load = seconds_of([&] {
    std::ifstream in(file, std::ios::binary);
    engine = std::make_unique<poplar::Engine>(poplar::Executable::deserialize(in));
    engine->load(on);
  });
  m.run = seconds_of([&] { engine->run(0); });
  std::vector<float> x(on.getTarget().getNumTiles() * kWorkers * kFloats + 2);
  engine->readTensor("x", x.data(), x.data() + x.size());
  for (const float f : x)
    if (f != 1) throw std::runtime_error(fmt::format("a mean of ones is {}", f));
  m.mebibytes = peak_mebibytes();
  return m;
}

// What a child of this program with these arguments measured.
Measured in_a_process(std::vector<std::string> words) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  words.insert(words.begin(), "/proc/self/exe");
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
  pid_t child = 0;
  const int failure = posix_spawn(&child, words[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failure != 0) throw std::runtime_error("cannot start " + words[0]);
  Measured m;
  const bool complete = ::read(ends[0], &m, sizeof m) == sizeof m;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!complete || status != 0) throw std::runtime_error(words[1] + " failed");
  return m;
}

void report(const Measured& m) {
  if (::write(3, &m, sizeof m) != sizeof m) throw std::runtime_error("cannot report");
}

void run() {
  const std::string file = (std::filesystem::temp_directory_path() / fmt::format("pando-bench-{}.poplar", getpid())).string();
  in_a_process({"--build", file, source_path("bench/codelets/halo.cpp")});  // this builds the codelet
  Measured built, loaded;
  built.build = loaded.load = loaded.run = 1e30;
  for (int i = 0; i < 2; ++i) {
    const Measured m = in_a_process({"--build", file, source_path("bench/codelets/halo.cpp")});
    if (m.build + m.compile < built.build + built.compile) built = m;
  }
  for (int i = 0; i < 3; ++i) {
    const Measured m = in_a_process({"--load", file});
    if (m.load < loaded.load) loaded = m;
  }
  const double mebibytes = static_cast<double>(std::filesystem::file_size(file)) / (1 << 20);
  std::filesystem::remove(file);
  const std::string what = fmt::format("public API, {} tiles x 6 vertices, halo: ", kIpus * 1472);
  fmt::print("{}building {:.2f} s, compileGraph {:.2f} s, serialize {:.2f} s\n", what, built.build, built.compile, built.serialize);
  print_figure({.what = what + "build + compile", .unit = "s", .ours = built.build + built.compile, .at_most = 10});
  print_figure({.what = what + "peak memory", .unit = "GiB", .ours = built.mebibytes / 1024, .at_most = 4});
  print_figure({.what = what + "executable", .unit = "MiB", .ours = mebibytes});
  print_figure({.what = what + "deserialize + load", .unit = "s", .ours = loaded.load, .at_most = 1});
  print_figure({.what = what + "one run of 10 steps after loading", .unit = "s", .ours = loaded.run});
}

}  // namespace
}  // namespace pando::bench

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  return pando::bench::exit_status("executable_bench", [&] {
    if (words.size() == 3 && words[0] == "--build")
      pando::bench::report(pando::bench::build_and_save(words[1], words[2]));
    else if (words.size() == 2 && words[0] == "--load")
      pando::bench::report(pando::bench::load_and_run(words[1]));
    else
      pando::bench::run();
  });
}
