#include "transform/distribute/recompute.h"

#include "ir/error.h"
#include "ir/op_row.h"

#include <algorithm>

namespace pando::transform {

namespace {

using ir::OpId;
using ir::ValueId;

class Choice {
 public:
  Choice(const Program& program, const Strategy& strategy, const Layout& layout)
      : program_(program), m_(program.module), strategy_(strategy), layout_(layout) {}

  std::vector<bool> run() {
    std::vector<bool> again(m_.value_count(), false);
    if (strategy_.recompute == Recompute::none) return again;
    check_layers();
    const std::vector<bool> core = strategy_.recompute == Recompute::selective ? between_products() : std::vector<bool>();
    for (OpId o : ops()) {
      if (!is_forward(o) || !chosen(program_.layer_of(o)) || (!core.empty() && !core[o.index()])) continue;
      if (m_.row(o).effects != ir::Effects::none || m_.operands(o).empty()) continue;
      for (ValueId v : m_.results(o)) again[v.index()] = true;
    }
    keep_what_leaves(again);
    return again;
  }

 private:
  const std::vector<OpId>& ops() const { return m_.graph(m_.main_graph()).ops; }
  bool is_forward(OpId o) const { return layout_.when[o.index()] == When::each && program_.phase_of(o) == Phase::forward; }
  bool chosen(std::uint32_t layer) const {
    const auto& list = strategy_.recomputed_layers;
    return list.empty() || std::find(list.begin(), list.end(), layer) != list.end();
  }

  void check_layers() const {
    std::uint32_t layers = 0;
    for (OpId o : ops()) {
      if (is_forward(o)) layers = std::max(layers, program_.layer_of(o) + 1);
    }
    for (std::uint32_t layer : strategy_.recomputed_layers) {
      if (layer < layers) continue;
      ir::reject(ir::ErrorClass::value, "recompute-layers", "layer {} is to be recomputed; the program has {} layers, the first is 0",
                 layer, layers);
    }
  }

  void keep_what_leaves(std::vector<bool>& again) const {
    for (OpId o : ops()) {
      for (ValueId v : m_.operands(o)) {
        if (again[v.index()] && is_forward(o) && program_.layer_of(o) != program_.layer_of(m_.value(v).producer)) again[v.index()] = false;
      }
    }
    for (ValueId v : m_.graph(m_.main_graph()).outputs) again[v.index()] = false;
  }

  // Products of two activations of the same layer, and what lies between them.
  std::vector<bool> between_products() const {
    std::vector<bool> product(m_.op_count(), false), behind(m_.op_count(), false), core(m_.op_count(), false);
    const auto is_activation = [&](ValueId v) {
      const OpId p = m_.value(v).producer;
      return p.valid() && is_forward(p);
    };
    for (OpId o : ops()) {
      if (!is_forward(o)) continue;
      product[o.index()] = m_.row(o).product == ir::Product::matrices && is_activation(m_.operand(o, 0)) && is_activation(m_.operand(o, 1));
      behind[o.index()] = product[o.index()];
      for (ValueId v : m_.operands(o)) {
        const OpId p = m_.value(v).producer;
        if (is_activation(v) && program_.layer_of(p) == program_.layer_of(o)) behind[o.index()] = behind[o.index()] || behind[p.index()];
      }
    }
    // Backwards: what leads to a product.
    std::vector<bool> leads(m_.value_count(), false);
    for (std::size_t i = ops().size(); i-- > 0;) {
      const OpId o = ops()[i];
      if (!is_forward(o)) continue;
      bool before = product[o.index()];
      for (ValueId v : m_.results(o)) before = before || leads[v.index()];
      core[o.index()] = before && behind[o.index()];
      if (!before) continue;
      for (ValueId v : m_.operands(o)) {
        const OpId p = m_.value(v).producer;
        if (p.valid() && program_.layer_of(p) == program_.layer_of(o)) leads[v.index()] = true;
      }
    }
    return core;
  }

  const Program& program_;
  const ir::Module& m_;
  const Strategy& strategy_;
  const Layout& layout_;
};

}  // namespace

std::vector<bool> recomputed_values(const Program& program, const Strategy& strategy, const Layout& layout) {
  return Choice(program, strategy, layout).run();
}

}  // namespace pando::transform
