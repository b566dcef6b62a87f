// Pieces of a program that can be compiled alone: ops that follow each other on one device (or transfers between the same devices), with as
// much around them as decides how they are laid out and what they are computed with.
//
//     device 1:  matmul  relu  matmul  relu_grad | all_reduce | sgd
//                \______ core: one window ______/   \_ one __/   \one/
//
// A window is a module of its own. Its devices are counted from 0 and its values named by their place in it, so that equal stretches of a
// program (of devices, microbatches, layers) are equal texts: whoever keeps what a window costs finds it by its text.
#pragma once

#include "ir/module.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pando::pricing {

// Ops of one graph that are priced together, in its order.
struct Core {
  std::vector<ir::OpId> ops;
  // Between devices; otherwise on one.
  bool crosses = false;
};

struct Cores {
  std::vector<Core> cores;
  // Ops that no window can hold, with the reason.
  std::vector<std::pair<ir::OpId, std::string>> left_out;
};

// Every op of a graph that takes time by itself (not views, tuples, or ops that carry graphs) is in one core, or left out. A long stretch
// is cut where the ops themselves say so, so that equal layers are cut alike.
Cores cores_of(const ir::Module& module, ir::GraphId graph);

struct Window {
  // Inputs and outputs are what the ops need, and what somebody else reads.
  ir::Module module;
  std::int32_t devices = 1;
  // In order; op i is named "o<i>" in the module.
  std::vector<ir::OpId> ops;
  bool crosses = false;
};

// Cuts windows out of one graph.
class WindowCutter {
 public:
  WindowCutter(const ir::Module& module, ir::GraphId graph);
  // With the ops that make what the core reads and that read what it makes, up to two deep, on its devices; and the first product that
  // reads an input, as that decides how the input lies.
  Window cut(const Core& core) const;

 private:
  // Ops of a window by their position in the graph; true: of the core.
  struct Chosen {
    std::map<std::uint32_t, std::pair<ir::OpId, bool>> ops;
    std::set<std::int32_t> devices;
  };
  // What number each device has in the window.
  using Numbers = std::map<std::int32_t, std::int32_t>;
  Chosen choose(const Core& core) const;
  // Whether it was added: it is not there yet, and may be.
  bool add(Chosen& chosen, ir::OpId op) const;
  bool is_made(const Chosen& chosen, ir::ValueId v) const;
  void add_deciders(Chosen& chosen) const;
  void add_data(Chosen& chosen) const;
  std::map<ir::ValueId, ir::ValueId> write_inputs(const Chosen& chosen, const Numbers& numbers, ir::Module& to) const;
  // What values of the module are in the window, those that it begins with among them.
  std::map<ir::ValueId, ir::ValueId> write_ops(const Chosen& chosen, const Numbers& numbers, std::map<ir::ValueId, ir::ValueId> values,
                                               Window& window) const;
  void write_ends(const Chosen& chosen, const std::map<ir::ValueId, ir::ValueId>& inputs, const std::map<ir::ValueId, ir::ValueId>& values,
                  ir::Module& to) const;

  const ir::Module& m_;
  ir::GraphId graph_;
  // By op and value of the module; only those of the graph have some.
  std::vector<std::uint32_t> position_;
  std::vector<std::vector<ir::OpId>> readers_;
  // Of the graph, or what an input becomes.
  std::vector<bool> is_output_;
};

// Which op of a window a step of its run belongs to, by the step's name: the number in "o12/multiply"; kHalo for those around the core;
// kUnknown for names that say nothing.
inline constexpr std::int32_t kHalo = -1, kUnknown = -2;
std::int32_t op_of_step(std::string_view name);

}  // namespace pando::pricing
