// What contract tests build small programs with: a graph on a few tiles, and ways to compile and run it.
#pragma once

#include <gmock/gmock.h>

#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/testing/golden.h"
#include "compile/compile.h"
#include "exec/runner.h"
#include "graph/graph.h"
#include "tile/observer.h"

namespace pando::contract {

using graph::ProgramPtr;
using graph::View;

inline Machine tiles(unsigned ipus, unsigned tiles_per_ipu) {
  Machine m = *find_machine("tiny4");
  m.ipus = ipus;
  m.tiles_per_ipu = tiles_per_ipu;
  return m;
}

inline ProgramPtr sequence(std::vector<ProgramPtr> steps) { return graph::make_program(graph::Sequence{std::move(steps)}); }
inline ProgramPtr copy(const View& from, const View& to) { return graph::make_program(graph::Copy{from, to}); }

// On how many threads the kernels of the built-in codelets ran.
class Trace {
 public:
  // Forgets all threads. From now on a kernel waits (for 20 seconds, once) until `at_least` threads are in kernels or were: that
  // a second thread takes part must not depend on how busy the host is.
  void expect(std::size_t at_least);
  void arrive();
  std::size_t threads();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::thread::id> threads_;
  std::size_t expected_ = 0;
};
Trace& trace();

class Setting {
 public:
  explicit Setting(Machine machine, unsigned replicas = 1);
  graph::Graph graph;

  // A float variable on one tile, or spread over `on` in equal blocks.
  View variable(const std::string& name, std::size_t elements, std::vector<std::uint32_t> on, ElementType type = ElementType::float_);
  View variable(const std::string& name, const std::vector<float>& values, std::vector<std::uint32_t> on);
  // y = x + 1, element by element, on `tile`; one vertex of the built-in codelet "Add".
  ProgramPtr add(const View& x, const View& y, std::uint32_t tile, const std::string& name = "add");
  void add_vertex(ComputeSetId set, const View& x, const View& y, std::uint32_t tile);
  // The codelets of codelets/slice.cpp, through popc.
  void add_user_codelets();
  VertexId user_vertex(ComputeSetId set, const std::string& codelet, std::uint32_t tile,
                       const std::vector<std::pair<std::string, View>>& operands);
  void readable(const std::string& name, const View& view) { graph.add_host_handle(name, view, true, false); }

  std::shared_ptr<const tile::Program> compile(const std::vector<ProgramPtr>& programs, compile::Options options = {});
  std::unique_ptr<exec::Runner> load(std::shared_ptr<const tile::Program> program, unsigned threads, bool prefetch_tiles = true);

  template <class T>
  static std::vector<T> read(exec::Runner& runner, const std::string& name, std::size_t elements) {
    std::vector<T> out(elements);
    runner.read(name, out.data(), out.data() + elements);
    return out;
  }
};

// A host end made of a function.
class HostEnd final : public exec::FifoCallback {
 public:
  explicit HostEnd(std::function<void(void*)> function) : function_(std::move(function)) {}
  void fetch(void* block) override { function_(block); }

 private:
  std::function<void(void*)> function_;
};

// Allocations of a program whose name contains `part`.
std::vector<tile::Allocation> allocations(const tile::Program& program, const std::string& part);
std::vector<tile::Allocation> allocations(const tile::Program& program, tile::Category category);

}  // namespace pando::contract
