#include "search/programs/least_memory.h"

#include "ir/op_row.h"
#include "transform/distribute/device_order.h"
#include "transform/distribute/recompute.h"
#include "transform/distribute/stages/stages.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

namespace pando::search {

namespace {

using ir::Module;
using ir::OpId;
using ir::ValueId;
using transform::Layout;
using transform::Phase;
using transform::Program;
using transform::Spec;
using transform::Specs;
using transform::Stages;
using transform::When;

bool splits(const schedule::Table& table) {
  for (const auto& row : table.ranks) {
    for (const schedule::Cell& c : row) {
      if (c.action == schedule::Action::weight_gradient) return true;
    }
  }
  return false;
}

class Bound {
 public:
  Bound(const Program& program, const transform::Strategy& strategy, const Layout& layout, const schedule::Table& table)
      : program_(program),
        m_(program.module),
        strategy_(strategy),
        layout_(layout),
        table_(table),
        stages_(assign_stages(program, strategy, layout, table.stages())),
        splits_(splits(table)),
        by_stage_(static_cast<std::size_t>(table.stages())) {
    find_ranks();
    find_roots();
    find_cuts();
  }

  LeastMemory run() {
    variables();
    if (!strategy_.offload_activations) activations();
    if (strategy_.microbatches > 1) sums();
    LeastMemory most;
    for (std::size_t r = 0; r < table_.ranks.size(); ++r) {
      const LeastMemory here = of_rank(r);
      if (r == 0 || here.bytes() > most.bytes()) most = here;
    }
    const transform::DeviceStrides strides = strides_of(strategy_);
    most.device = strategy_.first_device + static_cast<std::int32_t>(most.rank * strides.pipeline);
    return most;
  }

  ActivationsOfLayers by_layer() {
    variables();
    activations();
    if (strategy_.microbatches > 1) sums();
    ActivationsOfLayers all;
    for (OpId o : main().ops) {
      if (!is_forward(o) || stages_.of_op[o.index()] < 0) continue;
      const std::size_t layer = program_.layer_of(o);
      if (layer >= all.stage.size()) all.stage.resize(layer + 1, -1);
      all.stage[layer] = stages_.of_op[o.index()];
    }
    all.bytes.resize(all.stage.size(), 0);
    for (const auto& [where, kept] : kept_) {
      const std::uint32_t layer = program_.layer_of(m_.value(where.first).producer);
      if (layer < all.stage.size() && where.second == all.stage[layer]) all.bytes[layer] += kept.bytes;
    }
    for (std::size_t s = 0; s < by_stage_.size(); ++s) {
      all.rank.push_back(by_stage_[s].rank);
      all.held.push_back(held(static_cast<std::int32_t>(s)));
      all.variables.push_back(by_stage_[s].variables + by_stage_[s].sums);
    }
    return all;
  }

 private:
  // Bytes of a stage: always; of each microbatch until I (or B), and until W (or B); from the second backward pass on.
  struct OfStage {
    std::int64_t variables = 0, to_input = 0, to_weight = 0, sums = 0;
    std::int32_t rank = 0;
  };

  const ir::Graph& main() const { return m_.graph(m_.main_graph()); }
  OfStage& stage(std::int32_t s) { return by_stage_[static_cast<std::size_t>(s)]; }
  bool is_forward(OpId o) const { return layout_.when[o.index()] == When::each && program_.phase_of(o) == Phase::forward; }
  bool is_backward(OpId o) const { return layout_.when[o.index()] == When::each && program_.phase_of(o) != Phase::forward; }

  void find_ranks() {
    for (std::size_t r = 0; r < table_.ranks.size(); ++r) {
      for (const schedule::Cell& c : table_.ranks[r]) {
        if (schedule::computes(c.action)) stage(c.stage).rank = static_cast<std::int32_t>(r);
      }
    }
  }

  // What lies in another value's memory: views. What overwrites another value has no memory of its own that is known.
  void find_roots() {
    root_.resize(m_.value_count());
    for (std::size_t v = 0; v < root_.size(); ++v) root_[v] = ValueId(static_cast<std::uint32_t>(v));
    for (OpId o : main().ops) {
      const ir::OpRow& row = m_.row(o);
      const bool overwrites = m_.op(o).in_place || row.modifies[0].operand >= 0 || row.modifies_more != nullptr;
      for (ValueId v : m_.results(o)) {
        if (overwrites || row.view == ir::View::of_all_operands) root_[v.index()] = ValueId();
        if (row.view == ir::View::of_first_operand) root_[v.index()] = root_[m_.operand(o, 0).index()];
      }
    }
  }

  // In how many parts each value lies somewhere, by axis.
  void find_cuts() {
    cut_.assign(m_.value_count(), {});
    const auto note = [&](ValueId v, const Specs& specs) {
      for (std::size_t a = 0; a < transform::kAxes; ++a) cut_[v.index()][a] = cut_[v.index()][a] || specs[a].is_sharded();
    };
    for (std::size_t v = 0; v < cut_.size(); ++v) {
      note(ValueId(static_cast<std::uint32_t>(v)), layout_.raw[v]);
      note(ValueId(static_cast<std::uint32_t>(v)), layout_.resolved[v]);
    }
    for (OpId o : main().ops) {
      for (std::size_t i = 0; i < m_.operands(o).size(); ++i) note(m_.operand(o, i), layout_.demand[m_.op(o).operand_begin + i]);
    }
  }

  std::int64_t bytes_of(ValueId v, const std::array<bool, transform::kAxes>& cut) const {
    const ir::Type& t = m_.type_of(v);
    if (!t.is_tensor() || t.place.memory != ir::Memory::tile) return 0;
    std::int64_t n = ir::elements_of(t.shape) * static_cast<std::int64_t>(ir::size_of(t.dtype));
    for (std::size_t a = 0; a < transform::kAxes; ++a) {
      if (cut[a]) n /= layout_.sizes[a];
    }
    return n;
  }
  static std::array<bool, transform::kAxes> cut_by(const Specs& specs) {
    std::array<bool, transform::kAxes> cut{};
    for (std::size_t a = 0; a < transform::kAxes; ++a) cut[a] = specs[a].is_sharded();
    return cut;
  }

  // --- what is there all the time

  void variables() {
    for (std::size_t i = 0; i < main().inputs.size(); ++i) {
      const ValueId v = main().inputs[i];
      if (stages_.portable[v.index()] || stages_.home[v.index()] < 0 || is_off_chip(i, v)) continue;
      const Specs& specs = layout_.raw[v.index()];
      const std::int64_t times = specs[transform::kTime].is_sharded() ? layout_.sizes[transform::kTime] : 1;
      stage(stages_.home[v.index()]).variables += times * bytes_of(v, cut_by(specs));
    }
  }
  bool is_off_chip(std::size_t input, ValueId v) const {
    if (program_.is_batch(input)) return false;
    const ValueId w = layout_.weight_of[v.index()];
    return w == v ? strategy_.offload_weights : w.valid() && strategy_.offload_optimizer;
  }

  // --- what passes keep for passes

  // What a backward pass takes of a stage: memory, and whether weight gradients do.
  struct Kept {
    std::int64_t bytes = 0;
    bool for_weights = false;
  };

  void activations() {
    again_ = recomputed_values(program_, strategy_, layout_);
    for (OpId o : main().ops) {
      if (!is_backward(o)) continue;
      const std::int32_t at = stages_.of_op[o.index()];
      if (at < 0) continue;
      for (ValueId v : m_.operands(o)) take(v, at, splits_ && stages_.for_weights[o.index()]);
    }
    // What is computed again takes what it is made of, in its own stage.
    const std::vector<OpId>& ops = main().ops;
    for (std::size_t i = ops.size(); i-- > 0;) {
      if (!is_forward(ops[i])) continue;
      for (ValueId v : m_.results(ops[i])) {
        const auto it = wanted_again_.find(v);
        if (it == wanted_again_.end()) continue;
        for (ValueId operand : m_.operands(ops[i])) take(operand, stages_.of_op[ops[i].index()], it->second);
      }
    }
    for (const auto& [where, kept] : kept_) {
      OfStage& s = stage(where.second);
      (kept.for_weights ? s.to_weight : s.to_input) += kept.bytes;
    }
  }

  void take(ValueId v, std::int32_t at, bool for_weights) {
    const OpId p = m_.value(v).producer;
    if (!p.valid() || !is_forward(p) || stages_.portable[v.index()]) return;
    const std::int32_t home = stages_.home[v.index()];
    if (home < 0) return;
    if (again_[v.index()] && home == at) {
      const auto [it, added] = wanted_again_.try_emplace(v, for_weights);
      if (!added) it->second = it->second && for_weights;
      return;
    }
    // Between stages of one rank nothing is sent.
    if (home != at && stage(home).rank == stage(at).rank) return;
    const ValueId root = root_[v.index()];
    if (!root.valid() || !m_.value(root).producer.valid() || !is_forward(m_.value(root).producer)) return;
    std::int64_t bytes = bytes_of(v, cut_[v.index()]);
    if (home == at) bytes = std::min(bytes, bytes_of(root, cut_[root.index()]));
    const auto [it, added] = kept_.try_emplace({root, at}, Kept{bytes, for_weights});
    if (added) return;
    it->second.bytes = std::min(it->second.bytes, bytes);
    it->second.for_weights = it->second.for_weights || for_weights;
  }

  // --- gradients of all microbatches

  void sums() {
    for (OpId o : main().ops) {
      if (layout_.when[o.index()] != When::behind) continue;
      for (std::size_t i = 0; i < m_.operands(o).size(); ++i) {
        const ValueId v = m_.operand(o, i);
        const OpId p = m_.value(v).producer;
        if (!p.valid() || !is_backward(p) || !layout_.raw[v.index()][transform::kTime].is_partial()) continue;
        if (stages_.home[v.index()] < 0 || !summed_.insert(v).second) continue;
        Specs specs = layout_.raw[v.index()];
        if (strategy_.zero >= 2 && specs[transform::kData].is_partial())
          specs[transform::kData] = layout_.resolved[v.index()][transform::kData];
        stage(stages_.home[v.index()]).sums += bytes_of(v, cut_by(specs));
      }
    }
  }

  // --- the schedule

  // Of how many microbatches a stage holds activations at once.
  std::int32_t held(std::int32_t stage) const {
    std::int32_t now = 0, most = 0;
    for (const schedule::Cell& c : table_.ranks[static_cast<std::size_t>(by_stage_[static_cast<std::size_t>(stage)].rank)]) {
      if (c.stage != stage) continue;
      if (c.action == schedule::Action::forward) most = std::max(most, ++now);
      if (c.action == schedule::Action::backward || c.action == schedule::Action::weight_gradient) --now;
    }
    return most;
  }

  LeastMemory of_rank(std::size_t rank) const {
    LeastMemory most;
    most.rank = static_cast<std::int32_t>(rank);
    for (const OfStage& s : by_stage_) {
      if (s.rank == most.rank) most.variables += s.variables;
    }
    LeastMemory now = most;
    std::map<std::int32_t, std::int32_t> done;
    for (const schedule::Cell& c : table_.ranks[rank]) {
      if (!schedule::computes(c.action)) continue;
      const OfStage& s = by_stage_[static_cast<std::size_t>(c.stage)];
      switch (c.action) {
        case schedule::Action::forward: now.activations += s.to_input + s.to_weight; break;
        case schedule::Action::input_gradient: now.activations -= s.to_input; break;
        case schedule::Action::weight_gradient: now.activations -= s.to_weight; break;
        default: now.activations -= s.to_input + s.to_weight;
      }
      const bool whole = c.action == schedule::Action::backward || c.action == schedule::Action::weight_gradient;
      if (whole && ++done[c.stage] == 2) now.sums += s.sums;
      if (now.bytes() > most.bytes()) most = now;
    }
    return most;
  }

  const Program& program_;
  const Module& m_;
  const transform::Strategy& strategy_;
  const Layout& layout_;
  const schedule::Table& table_;
  Stages stages_;
  bool splits_;
  std::vector<OfStage> by_stage_;
  std::vector<ValueId> root_;
  std::vector<std::array<bool, transform::kAxes>> cut_;
  std::vector<bool> again_;
  std::map<ValueId, bool> wanted_again_;
  std::map<std::pair<ValueId, std::int32_t>, Kept> kept_;
  std::set<ValueId> summed_;
};

}  // namespace

ActivationsOfLayers activations_of_layers(const Program& program, const transform::Strategy& strategy, const Layout& layout,
                                          const schedule::Table& table) {
  return Bound(program, strategy, layout, table).by_layer();
}

LeastMemory least_memory(const Program& program, const transform::Strategy& strategy, const Layout& layout, const schedule::Table& table) {
  return Bound(program, strategy, layout, table).run();
}

}  // namespace pando::search
