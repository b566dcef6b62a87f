#include "search/programs/least_time.h"

#include "schedule/generate.h"
#include "simulate/cluster.h"
#include "transform/distribute/device_order.h"
#include "transform/distribute/recompute.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace pando::search {

namespace {

using ir::OpId;
using ir::ValueId;
using transform::Layout;
using transform::Phase;
using transform::Program;
using transform::Stages;
using transform::When;

// In how many parts the layout cuts an op.
double parts_of(const ir::Module& m, const Layout& l, OpId o) {
  double parts = 1;
  for (std::size_t a = 0; a < transform::kAxes; ++a) {
    bool cut = false;
    for (ValueId v : m.results(o)) cut |= !l.raw[v.index()][a].is_replicated();
    for (std::size_t i = 0; i < m.operands(o).size(); ++i) cut |= !l.demand[m.op(o).operand_begin + i][a].is_replicated();
    if (cut) parts *= static_cast<double>(l.sizes[a]);
  }
  return parts;
}

// Of the part that a device has of a microbatch.
double local_bytes(const ir::Module& m, const Layout& l, ValueId v) {
  double parts = 1;
  for (std::size_t a = 0; a < transform::kAxes; ++a) {
    if (l.raw[v.index()][a].is_sharded()) parts *= static_cast<double>(l.sizes[a]);
  }
  return static_cast<double>(m.types().bytes_of(m.value(v).type)) / parts;
}

std::int32_t rank_at(const std::vector<std::int32_t>& ranks, std::int32_t stage) { return ranks[static_cast<std::size_t>(stage)]; }

std::int32_t stage_count(const transform::Strategy& s) { return s.table ? s.table->stages() : s.pipeline * s.stages_per_rank; }

// By stage. Stages that a table does not name are on rank 0.
std::vector<std::int32_t> ranks_of_stages(const transform::Strategy& s) {
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(stage_count(s)), 0);
  if (s.table) {
    for (std::size_t r = 0; r < s.table->ranks.size(); ++r) {
      for (const schedule::Cell& c : s.table->ranks[r]) {
        if (schedule::computes(c.action)) ranks[static_cast<std::size_t>(c.stage)] = static_cast<std::int32_t>(r);
      }
    }
    return ranks;
  }
  const bool in_a_v = s.pipeline > 1 && s.stages_per_rank == 2 && schedule::is_in_a_v(s.schedule);
  for (std::int32_t i = 0; i < stage_count(s); ++i) {
    ranks[static_cast<std::size_t>(i)] = in_a_v && i >= s.pipeline ? 2 * s.pipeline - 1 - i : i % s.pipeline;
  }
  return ranks;
}

bool keeps_backward_whole(const transform::Strategy& s) { return !s.table && !schedule::splits_backward(s.schedule); }

// One microbatch alone: each stage runs its ops in order, when what they take is there. How long it idles until its last op.
class Alone {
 public:
  Alone(const ir::Module& m, std::size_t stages) : m_(m), clock_(stages, 0), work_(stages, 0), there_(m.value_count(), 0) {}

  void forward(OpId o, std::size_t stage, double seconds) {
    double begin = clock_[stage];
    for (ValueId v : m_.operands(o)) begin = std::max(begin, there_[v.index()]);
    end(stage, begin, seconds);
    for (ValueId v : m_.results(o)) there_[v.index()] = clock_[stage];
  }
  // Time runs back from the end of all: ops come in reverse order, what is made is there before what takes it.
  void reverse(OpId o, std::size_t stage, double seconds) {
    double begin = clock_[stage];
    for (ValueId v : m_.results(o)) begin = std::max(begin, there_[v.index()]);
    end(stage, begin, seconds);
    for (ValueId v : m_.operands(o)) there_[v.index()] = std::max(there_[v.index()], clock_[stage]);
  }
  double idle(std::size_t stage) const { return clock_[stage] - work_[stage]; }

 private:
  void end(std::size_t stage, double begin, double seconds) {
    clock_[stage] = begin + seconds;
    work_[stage] += seconds;
  }
  const ir::Module& m_;
  std::vector<double> clock_, work_, there_;
};

}  // namespace

LeastTime::LeastTime(const Program& program, const simulate::CostModel& costs)
    : program_(program), costs_(costs), known_(program.module.op_count()) {}

double LeastTime::of_op(OpId o, double parts) {
  auto& known = known_[o.index()];
  const auto it = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.first == parts; });
  if (it != known.end()) return it->second;
  known.emplace_back(parts, costs_.least_seconds(program_.module, o, parts));
  return known.back().second;
}

std::vector<LeastTime::OfStage> LeastTime::stages_of(const transform::Strategy& s, const Layout& layout, const Stages& stages) {
  const ir::Module& m = program_.module;
  const std::vector<std::int32_t> ranks = ranks_of_stages(s);
  const double devices = static_cast<double>(s.data) * s.expert * s.context * s.tensor;
  std::vector<OfStage> all(ranks.size());
  // A stage that has no other beside it never waits.
  const bool waits = ranks.size() > 1;
  Alone forward(m, ranks.size()), backward(m, ranks.size());
  const auto& ops = m.graph(m.main_graph()).ops;
  std::vector<double> seconds(m.op_count(), 0);
  for (OpId o : ops) {
    const When when = layout.when[o.index()];
    const std::int32_t at = stages.of_op[o.index()];
    if (at < 0) continue;
    const auto stage = static_cast<std::size_t>(at);
    if (when == When::behind && program_.phase_of(o) == Phase::update) all[stage].updates += of_op(o, devices);
    if (when != When::each) continue;
    seconds[o.index()] = of_op(o, parts_of(m, layout, o));
    all[stage].all += seconds[o.index()];
    if (stages.for_weights[o.index()]) all[stage].weight_gradients += seconds[o.index()];
    if (program_.phase_of(o) != Phase::forward) continue;
    all[stage].forward += seconds[o.index()];
    if (waits) forward.forward(o, stage, seconds[o.index()]);
  }
  for (OpId o : computed_again(s, layout, stages)) all[static_cast<std::size_t>(stages.of_op[o.index()])].all += seconds[o.index()];
  for (std::size_t i = waits ? ops.size() : 0; i-- > 0;) {
    const OpId o = ops[i];
    if (layout.when[o.index()] != When::each || program_.phase_of(o) == Phase::forward || stages.of_op[o.index()] < 0) continue;
    backward.reverse(o, static_cast<std::size_t>(stages.of_op[o.index()]), seconds[o.index()]);
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    all[i].rank = ranks[i];
    all[i].idle_before = forward.idle(i);
    all[i].idle_behind = backward.idle(i);
  }
  return all;
}

// What backward ops of the same stage take, and what that is made of.
std::vector<OpId> LeastTime::computed_again(const transform::Strategy& s, const Layout& layout, const Stages& stages) const {
  std::vector<OpId> all;
  if (s.recompute == transform::Recompute::none) return all;
  const ir::Module& m = program_.module;
  const std::vector<bool> again = transform::recomputed_values(program_, s, layout);
  std::vector<bool> wanted(m.value_count(), false);
  const auto want_of = [&](OpId o) {
    for (ValueId v : m.operands(o)) {
      if (again[v.index()] && stages.home[v.index()] >= 0 && stages.home[v.index()] == stages.of_op[o.index()]) wanted[v.index()] = true;
    }
  };
  const auto& ops = m.graph(m.main_graph()).ops;
  for (OpId o : ops) {
    if (layout.when[o.index()] == When::each && program_.phase_of(o) != Phase::forward) want_of(o);
  }
  for (std::size_t i = ops.size(); i-- > 0;) {
    const auto results = m.results(ops[i]);
    if (std::none_of(results.begin(), results.end(), [&](ValueId v) { return wanted[v.index()]; })) continue;
    all.push_back(ops[i]);
    want_of(ops[i]);
  }
  return all;
}

double LeastTime::longest_transfer(const transform::Strategy& s, const Layout& layout, const Stages& stages) const {
  const simulate::Cluster* const cluster = costs_.cluster();
  if (cluster == nullptr || cluster->levels.empty() || s.pipeline == 1) return 0;
  const ir::Module& m = program_.module;
  const std::vector<std::int32_t> ranks = ranks_of_stages(s);
  const simulate::Group pair = simulate::group_of(*cluster, s.first_device, 2, transform::strides_of(s).pipeline);
  const auto passes_forward = [&](OpId o) { return layout.when[o.index()] == When::each && program_.phase_of(o) == Phase::forward; };
  std::set<std::pair<std::uint32_t, std::int32_t>> sent;
  std::map<std::pair<std::int32_t, std::int32_t>, double> seconds;
  for (OpId o : m.graph(m.main_graph()).ops) {
    const std::int32_t to = stages.of_op[o.index()];
    if (!passes_forward(o) || to < 0) continue;
    for (ValueId v : m.operands(o)) {
      const std::int32_t from = stages.home[v.index()];
      const OpId made = m.value(v).producer;
      if (!made.valid() || !passes_forward(made) || from < 0 || rank_at(ranks, from) == rank_at(ranks, to)) continue;
      if (!sent.emplace(v.value, to).second) continue;
      seconds[{from, to}] += simulate::transfer_time(*cluster, simulate::Collective::send, local_bytes(m, layout, v), pair).seconds;
    }
  }
  double longest = 0;
  for (const auto& [stages_of_it, t] : seconds) longest = std::max(longest, t);
  return longest;
}

schedule::Costs LeastTime::costs_of(const transform::Strategy& s, const Layout& layout) {
  const Stages stages = assign_stages(program_, s, layout, stage_count(s));
  schedule::Costs costs{{}, {}, {}, longest_transfer(s, layout, stages)};
  for (const OfStage& stage : stages_of(s, layout, stages)) {
    costs.forward.push_back(stage.forward);
    costs.input_gradient.push_back(stage.all - stage.forward - stage.weight_gradients);
    costs.weight_gradient.push_back(stage.weight_gradients);
  }
  return costs;
}

double LeastTime::seconds(const transform::Strategy& s, const Layout& layout) {
  const std::vector<OfStage> stages = stages_of(s, layout, assign_stages(program_, s, layout, stage_count(s)));
  const bool whole = keeps_backward_whole(s);
  double least = 0;
  for (std::int32_t r = 0; r < s.pipeline; ++r) {
    const OfStage* first = nullptr;
    double work = 0, updates = 0;
    for (const OfStage& stage : stages) {
      if (stage.rank != r) continue;
      if (!first) first = &stage;
      work += stage.all;
      updates += stage.updates;
    }
    if (first) least = std::max(least, first->idle_before + s.microbatches * work + std::max(updates, whole ? first->idle_behind : 0));
  }
  return kTimesCaution * least;
}

}  // namespace pando::search
