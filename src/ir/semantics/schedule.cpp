#include "ir/semantics/schedule.h"

#include "base/check.h"
#include "ir/semantics/order_rules.h"

#include <set>
#include <unordered_map>

namespace pando::ir {

namespace {

class Scheduler {
 public:
  Scheduler(const Module& module, GraphId graph) : module_(module), graph_(module.graph(graph)), order_(OrderRules(module).of(graph)) {
    for (std::size_t i = 0; i < graph_.ops.size(); ++i) {
      for (ValueId v : std::set<ValueId>(module.operands(graph_.ops[i]).begin(), module.operands(graph_.ops[i]).end()))
        users_[v.value].push_back(i);
    }
    for (ValueId v : graph_.outputs) keep_.insert(v.value);
    for (ValueId v : graph_.updated_inputs) keep_.insert(v.value);
    for (auto& [v, users] : users_) left_[v] = users.size();
  }

  std::vector<OpId> run() {
    std::vector<OpId> order;
    std::set<std::pair<std::int64_t, std::size_t>> ready;
    std::vector<std::int64_t> key(graph_.ops.size());
    std::vector<bool> is_ready(graph_.ops.size()), done(graph_.ops.size());
    const auto add = [&](std::size_t i) {
      ready.emplace(key[i] = growth(i), i);
      is_ready[i] = true;
    };
    for (std::size_t i = 0; i < order_.waits.size(); ++i) {
      if (order_.waits[i] == 0) add(i);
    }
    while (!ready.empty()) {
      const std::size_t i = ready.begin()->second;
      ready.erase(ready.begin());
      done[i] = true;
      order.push_back(graph_.ops[i]);
      for (ValueId v : std::set<ValueId>(module_.operands(graph_.ops[i]).begin(), module_.operands(graph_.ops[i]).end())) {
        if (--left_[v.value] != 1) continue;
        // Its last reader frees it now.
        for (std::size_t user : users_[v.value]) {
          if (done[user] || !is_ready[user]) continue;
          ready.erase({key[user], user});
          ready.emplace(key[user] = growth(user), user);
        }
      }
      for (std::size_t n : order_.next[i]) {
        if (--order_.waits[n] == 0) add(n);
      }
    }
    PANDO_CHECK(order.size() == graph_.ops.size());
    return order;
  }

 private:
  // Bytes that become live, less those that are freed. Inputs of the main graph are variables, which stay.
  std::int64_t growth(std::size_t i) const {
    std::int64_t bytes = 0;
    for (ValueId v : module_.results(graph_.ops[i])) bytes += bytes_of(v);
    for (ValueId v : std::set<ValueId>(module_.operands(graph_.ops[i]).begin(), module_.operands(graph_.ops[i]).end())) {
      const bool variable = !module_.value(v).producer.valid() && module_.value(v).graph == module_.main_graph();
      if (left_.at(v.value) == 1 && !variable && !keep_.contains(v.value)) bytes -= bytes_of(v);
    }
    return bytes;
  }
  std::int64_t bytes_of(ValueId v) const { return module_.types().bytes_of(module_.value(v).type); }

  const Module& module_;
  const Graph& graph_;
  Precedence order_;
  // By value: positions of its readers, and how many of them have not come yet.
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> users_;
  std::unordered_map<std::uint32_t, std::size_t> left_;
  std::set<std::uint32_t> keep_;
};

}  // namespace

std::vector<OpId> least_live_order(const Module& module, GraphId graph) { return Scheduler(module, graph).run(); }

}  // namespace pando::ir
