// A graph's ops as steps with the bytes that they make and free: what schedule and peak_bytes count.
#pragma once

#include "ir/module.h"
#include "ir/semantics/order_rules.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace pando::transform {

// What the op's graphs take for themselves while it runs.
using PassingBytes = std::function<std::int64_t(ir::OpId)>;

// A step is one op with the element-wise ops that only it reads: lowering computes them in one pass. Constants are no steps.
class Steps {
 public:
  Steps(const ir::Module& module, ir::GraphId graph, const ir::OrderRules& rules, const PassingBytes& passing);

  // In which the graph's list has them.
  std::vector<std::uint32_t> listed() const;
  // Steps that free what they do not make come as soon as they can; the others as the list has them.
  std::vector<std::uint32_t> early_frees() const;
  // Always the step that adds the fewest bytes.
  std::vector<std::uint32_t> least_growth() const;
  std::int64_t peak_bytes(const std::vector<std::uint32_t>& order) const;
  std::int64_t input_bytes() const { return input_bytes_; }
  // The ops of these steps; constants before their first reader.
  std::vector<ir::OpId> ops(const std::vector<std::uint32_t>& order) const;

 private:
  struct Step {
    std::vector<std::uint32_t> positions;
    // Storages, each once.
    std::vector<std::uint32_t> reads;
    std::vector<std::pair<std::uint32_t, std::int64_t>> makes;
    std::int64_t made = 0, passing = 0;
    bool elementwise = false;
    std::vector<std::uint32_t> next;
    std::uint32_t waits = 0;
  };
  struct Storage {
    std::vector<std::uint32_t> readers;
    // Beyond the graph's end, or for ever.
    bool kept = false;
  };
  class Live;

  void find_constants(const ir::Precedence& precedence);
  std::vector<std::uint32_t> roots(const ir::Precedence& precedence) const;
  void make(const ir::Precedence& precedence, const PassingBytes& passing);
  void add_op(Step& step, std::uint32_t position, bool last);
  template <class Key>
  std::vector<std::uint32_t> greedy(Key key) const;

  const ir::Module& module_;
  const ir::Graph& graph_;
  ir::Storages storages_;
  std::int64_t input_bytes_ = 0;
  // By position: a constant that nobody has ordered.
  std::vector<bool> constant_;
  std::vector<Step> steps_;
  std::vector<Storage> contents_;
};

}  // namespace pando::transform
