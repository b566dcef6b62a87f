// What the programs of programs_bench share: a graph with their codelets, times in turns, results that are compared.
#pragma once

#include <popops/codelets.hpp>

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>

#include <memory>

#include "base/testing/places.h"
#include "bench.h"

namespace pando::bench {

using namespace poplar;
using program::Copy;
using program::Execute;
using program::Repeat;
using program::Sequence;

class Program {
 public:
  Program() : device(IPUModel().createDevice()), graph(device.getTarget()) {
    graph.addCodelets(source_path("bench/codelets/programs.cpp"));
    popops::addCodelets(graph);
  }
  // Returns the seconds that it takes.
  double compile(const program::Program& prog) {
    return seconds_of([&] {
      engine = std::make_unique<Engine>(graph, prog);
      engine->load(device);
    });
  }
  template <class T>
  void write(const char* name, const std::vector<T>& values) {
    engine->writeTensor(name, values.data(), values.data() + values.size());
  }
  template <class T>
  std::vector<T> read(const char* name, std::size_t n) {
    std::vector<T> values(n);
    engine->readTensor(name, values.data(), values.data() + n);
    return values;
  }

  Device device;
  Graph graph;
  std::unique_ptr<Engine> engine;
};

struct Times {
  double ours = 1e30, peer = 1e30;
};

// In turns, so that both see the same machine.
inline Times race(Program& p, const std::function<void()>& peer) {
  Times t;
  for (int i = 0; i < 5; ++i) {
    t.ours = std::min(t.ours, seconds_in_turn([&] { p.engine->run(0); }));
    t.peer = std::min(t.peer, seconds_in_turn(peer));
  }
  return t;
}

inline void print(const std::string& what, double per, const Times& t, double at_most, double compiling, double compile_limit) {
  print_figure({what, "ms", 1e3 * t.ours / per, 1e3 * t.peer / per, "OpenMP", at_most});
  print_figure({what + ": compiling", "s", compiling, 0, "", compile_limit});
}

template <class T>
void check_equal(const char* what, const std::vector<T>& ours, const std::vector<T>& peer) {
  for (std::size_t i = 0; i < peer.size(); ++i)
    if (ours[i] != peer[i]) throw std::runtime_error(fmt::format("{}: element {} is {}, the loop has {}", what, i, ours[i], peer[i]));
}

// In files of their own.
void sparse_product();
void sample_sort();

}  // namespace pando::bench
