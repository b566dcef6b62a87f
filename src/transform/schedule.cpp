#include "transform/schedule.h"

#include "ir/op_row.h"
#include "ir/semantics/order_rules.h"
#include "transform/steps.h"

#include <algorithm>
#include <optional>

namespace pando::transform {

using namespace ir;

namespace {

// Less than one part of so many is not worth another order.
constexpr std::int64_t kWorthwhile = 32;

// Where values lie on several devices or on IO tiles, the order says what runs beside what.
bool overlaps(const Module& m, const Graph& g) {
  Device device;
  const auto elsewhere = [&](ValueId v) {
    const Type& t = m.type_of(v);
    if (!t.is_tensor()) return true;
    if (t.place.tiles == TileSet::io) return true;
    if (!t.place.device.known()) return false;
    if (!device.known()) device = t.place.device;
    return !(device == t.place.device);
  };
  if (std::any_of(g.inputs.begin(), g.inputs.end(), elsewhere)) return true;
  return std::any_of(g.ops.begin(), g.ops.end(), [&](OpId o) {
    const auto results = m.results(o);
    return std::any_of(results.begin(), results.end(), elsewhere);
  });
}

// The bytes of graphs, callees first, each once.
class Peaks {
 public:
  // `reordered`: the same module; each of its graphs gets the best order that was found, before its callers are looked at.
  explicit Peaks(const Module& module, Module* reordered = nullptr)
      : module_(module), reordered_(reordered), rules_(module), peaks_(module.graph_count()) {}

  std::int64_t of(GraphId graph) {
    if (peaks_[graph]) return *peaks_[graph];
    const Steps steps(module_, graph, rules_, [&](OpId o) { return passing(o); });
    std::int64_t peak = steps.peak_bytes(steps.listed());
    if (reordered_ != nullptr && !overlaps(module_, module_.graph(graph))) peak = improve(graph, steps, peak);
    peaks_[graph] = peak;
    return peak;
  }

 private:
  std::int64_t improve(GraphId graph, const Steps& steps, std::int64_t peak) {
    const std::int64_t fixed = steps.input_bytes();
    std::vector<std::uint32_t> best;
    std::int64_t least = peak;
    for (const auto& order : {steps.early_frees(), steps.least_growth()}) {
      const std::int64_t bytes = steps.peak_bytes(order);
      if (least - bytes <= (least - fixed) / kWorthwhile) continue;
      least = bytes;
      best = order;
    }
    if (!best.empty()) reordered_->graph(graph).ops = steps.ops(best);
    return least;
  }

  // What the graphs of an op take beside their operands and results.
  std::int64_t passing(OpId o) {
    if (has(module_.row(o).effects, Effects::code)) return 0;
    std::int64_t most = 0;
    for (GraphId g : module_.graphs(o)) {
      std::int64_t bytes = of(g);
      for (ValueId v : module_.graph(g).inputs) bytes -= module_.types().bytes_of(module_.value(v).type);
      most = std::max(most, bytes);
    }
    for (ValueId v : module_.results(o)) most -= module_.types().bytes_of(module_.value(v).type);
    return std::max<std::int64_t>(0, most);
  }

  const Module& module_;
  Module* reordered_;
  OrderRules rules_;
  DenseMap<GraphId, std::optional<std::int64_t>> peaks_;
};

}  // namespace

std::int64_t peak_bytes(const Module& module, GraphId graph) { return Peaks(module).of(graph); }

void schedule(Module& module) {
  Peaks peaks(module, &module);
  for (std::size_t i = 0; i < module.graph_count(); ++i) peaks.of(GraphId(static_cast<GraphId::rep>(i)));
}

}  // namespace pando::transform
