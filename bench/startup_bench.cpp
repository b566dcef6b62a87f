// From the start of a process to the first result of the smallest program, with its codelet built before: the process is this
// one, started again with `--child`, written against the public API.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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

// One vertex on one tile adds two numbers.
int child(const std::string& codelet) {
  const poplar::Device device = poplar::IPUModel("ipu2").createDevice();
  poplar::Graph graph(device.getTarget());
  graph.addCodelets(codelet);
  const poplar::Tensor t = graph.addVariable(poplar::FLOAT, {3}, "t");
  graph.setTileMapping(t, 0);
  graph.setInitialValue(t, poplar::ArrayRef<float>({40, 2, 0}));
  const poplar::ComputeSet set = graph.addComputeSet("add");
  const poplar::VertexRef v = graph.addVertex(set, "Adder", {{"a", t[0]}, {"b", t[1]}, {"sum", t[2]}});
  graph.setTileMapping(v, 0);
  graph.createHostRead("t", t);
  poplar::Engine engine(graph, poplar::program::Execute(set));
  engine.load(device);
  engine.run();
  float values[3] = {};
  engine.readTensor("t", values, values + 3);
  return values[2] == 42 ? 0 : 1;
}

bool start_and_wait(const std::string& self, const std::string& codelet) {
  std::vector<std::string> words = {self, "--child", codelet};
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  arguments.push_back(nullptr);
  pid_t pid = 0;
  if (posix_spawn(&pid, self.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) return false;
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run(const std::string& self) {
  const std::string codelet = source_path("bench/codelets/adder.cpp");
  if (!start_and_wait(self, codelet)) return fmt::print("the smallest program fails\n"), 1;  // this builds the codelet
  bool good = true;
  const double seconds = best_of(20, [&] { good &= start_and_wait(self, codelet); });
  if (!good) return fmt::print("the smallest program fails\n"), 1;
  print_figure({.what = "start of a process to its first result, codelet built", .unit = "ms", .ours = 1e3 * seconds, .at_most = 20});
  return 0;
}

}  // namespace
}  // namespace pando::bench

int main(int argc, char** argv) {
  if (argc == 3 && std::string(argv[1]) == "--child") return pando::bench::child(argv[2]);
  return pando::bench::run("/proc/self/exe");
}
