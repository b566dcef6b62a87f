#include "search/programs/program_search.h"

#include "base/process/stop.h"
#include "pando/model_error.hpp"
#include "schedule/synthesised.h"
#include "search/programs/fold.h"
#include "search/programs/least_memory.h"
#include "search/programs/least_time.h"
#include "search/programs/one_rank.h"
#include "search/programs/program_space.h"
#include "search/programs/recompute_choices.h"
#include "search/searcher.h"
#include "search/strategy_text.h"
#include "simulate/costs/flatten.h"
#include "transform/distribute/distributed_already.h"
#include "transform/distribute/layout/layout.h"

#include <fmt/format.h>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace pando::search {

namespace {

using transform::Program;

// The rule by which the transforms reject something; empty: they do not.
template <class F>
Violation violation_of(F&& f) {
  try {
    f();
  } catch (const ModelError& e) { return {e.id(), e.what()}; } catch (const poplar::poplar_error& e) {
    return {"schedule", e.what()};
  }
  return {};
}

// What takes least of all that a group's plainest point leads to: nothing is computed again.
Strategy without_recomputing(Strategy s) {
  s.recompute = Recompute::none;
  s.recomputed_layers.clear();
  return s;
}

// Bounds of the points of one group: they have one schedule, and one layout for each stage of ZeRO.
class BoundsOfGroup {
 public:
  BoundsOfGroup(const Program& program, Layouts& layouts, LeastTime& times) : program_(program), known_(layouts), times_(times) {}

  // Bytes of the fullest device; 0 for what the transforms reject.
  std::int64_t least_bytes(const Strategy& s) {
    std::int64_t bytes = 0;
    violation_of([&] {
      if (!table_) table_ = transform::table_of(s);
      bytes = least_memory(program_, s, layout_of(s), *table_).bytes();
    });
    return bytes;
  }
  // With what is computed again; 0 for what the transforms reject.
  double least_seconds(const Strategy& s) {
    double seconds = 0;
    violation_of([&] { seconds = times_.seconds(s, layout_of(s)); });
    return seconds;
  }

 private:
  const transform::Layout& layout_of(const Strategy& s) {
    auto it = layouts_.find(s.zero);
    if (it == layouts_.end()) it = layouts_.emplace(s.zero, known_.of(s)).first;
    return *it->second;
  }

  const Program& program_;
  Layouts& known_;
  LeastTime& times_;
  std::optional<schedule::Table> table_;
  std::map<std::int32_t, std::shared_ptr<const transform::Layout>> layouts_;
};

class ProgramEstimator final : public Estimator<ProgramEstimate> {
 public:
  ProgramEstimator(const Program& program, const simulate::Cluster& cluster, const Space& space, const simulate::CostModel* costs)
      : Estimator(space.memory > 0 ? space.memory : static_cast<double>(cluster.memory_bytes)),
        program_(program),
        cluster_(cluster),
        space_(space),
        own_(cluster),
        costs_(costs ? *costs : own_),
        times_(program, costs_),
        fold_(program) {}

  // The estimate may come from fewer layers and microbatches.
  Violation estimate(const Strategy& s, ProgramEstimate& e) override {
    return violation_of([&] {
      std::optional<ProgramEstimate> folded;
      if (is_large(s)) folded = fold_.estimate(s, cluster_, costs_);
      folded_ += folded.has_value();
      e = folded ? std::move(*folded) : estimate_program(program_, s, cluster_, &costs_, 0, fold_.layouts().of(s).get());
      const bool is_plain = s.recompute == Recompute::none && !s.offload_weights && !s.offload_optimizer && !s.offload_activations;
      if (is_plain) computing_[s.zero] = e.computing;
    });
  }
  std::int64_t folded() const override { return folded_; }

  // A group's bound is that of its degrees until it would be looked into, then that of its stages.
  std::vector<PointGroup> groups(ProgramResult& r, bool bounded) override {
    r.equal_from = fold_.first(), r.equal_to = fold_.end();
    const SpaceFacts facts = facts_of(program_, costs_, cluster_, space_);
    r.samples = facts.samples;
    std::vector<PointGroup> all;
    for (ProgramGroup& g : program_groups(facts)) {
      check_stop();
      PointGroup group{.is_closest = false, .number = groups_.size()};
      if (!name_costs(g, group)) continue;
      if (space_.recompute_sets > 0) add_layers(g, facts.layer_seconds, space_.recompute_sets);
      group.first_index = r.certificate.points;
      group.points = static_cast<std::int64_t>(g.points.size());
      r.certificate.points += group.points;
      groups_.push_back(std::move(g));
      all.push_back(std::move(group));
    }
    if (bounded) bound_by_degrees(all, r);
    return all;
  }
  Violation bound(PointGroup& g) override {
    g.is_closest = true;
    return violation_of([&] { g.seconds = std::max(g.seconds, least_seconds_of(without_recomputing(head_of(g)))); });
  }

  std::vector<PointGroup> parts(const PointGroup& g, bool /*bounded*/) override {
    computing_.clear();
    bounds_.emplace(program_, fold_.layouts(), times_);
    return {g};
  }
  void each_point(const PointGroup& part, const std::function<void(const Strategy&)>& f) override {
    for (const Strategy& s : std::exchange(groups_[part.number].points, {})) f(s);
  }

  double least_seconds(const Strategy& s, double enough) override {
    if (const auto plain = computing_.find(s.zero); plain != computing_.end() && kTimesCaution * plain->second > enough)
      return kTimesCaution * plain->second;
    if (s.recompute == Recompute::none || enough == std::numeric_limits<double>::infinity()) return 0;
    return is_folded(s) ? folded_bound(s) : bounds_->least_seconds(s);
  }
  // What is made in small is as quick as this bound.
  double least_bytes(const Strategy& s) override { return is_folded(s) ? 0 : static_cast<double>(bounds_->least_bytes(s)); }

  std::string words(const Strategy& s) const override { return to_string(s, Spelling::whole); }
  bool is_said_first(const Violation& v) const override { return v.rule == "recompute-layers" || v.rule == "cut"; }
  std::string lack(const ProgramEstimate& e) const override {
    return fmt::format("device {} needs {} bytes ({}), {:.0f} more than the {:.0f} that it has", e.fullest, e.peak, kinds_text(e.at_peak),
                       static_cast<double>(e.peak) - limit_, limit_);
  }
  std::string taken(const ProgramEstimate& e) const override { return fmt::format("{:.6g} s, {} bytes", e.seconds, e.peak); }
  std::string against(const Strategy&, const ProgramEstimate& e, const ProgramEstimate& best) const override {
    return fmt::format(
        "{:.6g} s, {:.2f} % slower than the best ({:.6g} s)\n  the busiest device computes {:.6g} s ({:+.6g})\n  the longest transfers "
        "take {:.6g} s ({:+.6g})\n"
        "  the busiest device waits for {:.6g} s ({:+.6g})",
        e.seconds, 100 * (e.seconds / best.seconds - 1), best.seconds, e.computing, e.computing - best.computing, e.transferring,
        e.transferring - best.transferring, e.seconds - e.computing, e.seconds - e.computing - (best.seconds - best.computing));
  }

 private:
  // The plainest.
  const Strategy& head_of(const PointGroup& g) const { return groups_[g.number].points.front(); }

  // What each rank may hold so that it needs as much memory as the one that needs most, in microbatches.
  void level(schedule::Problem& p, const Strategy& s, const transform::Layout& layout) const {
    // Which stages a rank has is all that counts here.
    schedule::Table table;
    for (std::int32_t r = 0; r < s.pipeline; ++r) {
      table.ranks.push_back({{r, 0, schedule::Action::forward}});
      if (p.in_a_v) table.ranks.back().push_back({2 * s.pipeline - 1 - r, 0, schedule::Action::forward});
    }
    const ActivationsOfLayers kept = activations_of_layers(program_, s, layout, table);
    std::vector<std::int64_t> always(static_cast<std::size_t>(s.pipeline), 0), each(always);
    for (std::size_t i = 0; i < kept.rank.size(); ++i) always[static_cast<std::size_t>(kept.rank[i])] += kept.variables[i];
    for (std::size_t l = 0; l < kept.bytes.size(); ++l) {
      if (kept.stage[l] >= 0) each[static_cast<std::size_t>(kept.rank[static_cast<std::size_t>(kept.stage[l])])] += kept.bytes[l];
    }
    const double limit = p.memory[0], most = s.microbatches;
    double need = 0;
    for (std::size_t r = 0; r < each.size(); ++r)
      need = std::max(need, static_cast<double>(always[r]) + limit * static_cast<double>(each[r]));
    p.memory.assign(each.size(), limit);
    for (std::size_t r = 0; r < each.size(); ++r) {
      const double more = each[r] > 0 ? std::floor((need - static_cast<double>(always[r])) / static_cast<double>(each[r]) + 1e-9) : most;
      p.memory[r] = std::max(limit, std::min(more, most));
    }
  }

  // A schedule that is made for costs is made for those of the group's stages. The layout says its bound, too. False: it is made for the
  // same with what transfers cost, or where every rank may hold what it has room for.
  bool name_costs(ProgramGroup& g, PointGroup& group) {
    const Strategy& plainest = g.points.front();
    if (!schedule::is_synthesised(plainest.schedule) || schedule::has_costs(plainest.schedule)) return true;
    try {
      schedule::Problem p = schedule::problem_of(plainest.schedule, {plainest.pipeline, plainest.microbatches, plainest.stages_per_rank});
      const auto known = fold_.layouts().of(plainest);
      const transform::Layout& layout = *known;
      p.costs = times_.costs_of(plainest, layout);
      if (g.levelled) {
        level(p, plainest, layout);
        if (std::all_of(p.memory.begin(), p.memory.end(), [&](double m) { return m == p.memory[0]; })) return false;
      }
      group.seconds = times_.seconds(without_recomputing(plainest), layout);
      group.is_closest = true;
      const std::string with_transfers = schedule::name_of(p);
      p.costs.transfer = 0;
      const std::string without = schedule::name_of(p);
      if (g.transfers_cost && with_transfers == without) return false;
      for (Strategy& s : g.points) s.schedule = g.transfers_cost ? with_transfers : without;
    } catch (const ModelError&) {
      // The group is rejected where it is looked at.
    }
    return true;
  }

  // Behind each point where all layers compute again, those where some do.
  void add_layers(ProgramGroup& g, const std::vector<double>& layer_seconds, std::int32_t most) {
    std::map<Recompute, std::vector<std::vector<std::uint32_t>>> choices;
    std::vector<Strategy> all;
    // What is rejected here is rejected where it is looked at.
    violation_of([&] {
      std::shared_ptr<const transform::Layout> layout;
      for (const Strategy& s : g.points) {
        all.push_back(s);
        if (s.recompute == Recompute::none || !s.recomputed_layers.empty()) continue;
        if (!layout) layout = fold_.layouts().of(g.points.front());
        auto it = choices.find(s.recompute);
        if (it == choices.end())
          it = choices.emplace(s.recompute, recompute_choices(program_, s, *layout, transform::table_of(s), layer_seconds, most)).first;
        for (const auto& layers : it->second) {
          all.push_back(s);
          all.back().recomputed_layers = layers;
        }
      }
      g.points = std::move(all);
    });
  }

  // Some rank of a pipeline does at least its share of what one stage of all layers does. Groups with equal degrees share this bound; those
  // that the transforms reject for their degrees go.
  void bound_by_degrees(std::vector<PointGroup>& groups, ProgramResult& r) {
    struct OfDegrees {
      double seconds = 0;
      Violation violation;
    };
    std::map<std::string, OfDegrees> known;
    std::vector<PointGroup> left;
    for (PointGroup& g : groups) {
      check_stop();
      if (!g.is_closest) {
        const Strategy s = in_one_stage(head_of(g));
        const auto [it, added] = known.try_emplace(to_string(s, Spelling::whole));
        OfDegrees& of_degrees = it->second;
        if (added) of_degrees.violation = violation_of([&] { of_degrees.seconds = least_seconds_of(s); });
        if (const Violation& v = of_degrees.violation) {
          r.against(v.rule, v.message, g.points);
          continue;
        }
        g.seconds = kTimesCaution * of_degrees.seconds / head_of(g).pipeline;
      }
      left.push_back(std::move(g));
    }
    groups = std::move(left);
  }

  // 0 for what the transforms reject.
  double folded_bound(const Strategy& s) {
    double seconds = 0;
    violation_of([&] { seconds = fold_.least_seconds(s, costs_).value_or(0); });
    return seconds;
  }

  double least_seconds_of(const Strategy& s) {
    if (space_.fold_from > 0) {
      if (const auto seconds = fold_.least_seconds(s, costs_)) return *seconds;
    }
    return times_.seconds(s, *fold_.layouts().of(s));
  }

  bool is_folded(const Strategy& s) { return is_large(s) && fold_.folds(s); }
  // Ops of the program over devices, about.
  bool is_large(const Strategy& s) const {
    const auto ops = static_cast<double>(program_.module.graph(program_.module.main_graph()).ops.size());
    return space_.fold_from > 0 && ops * s.data * s.tensor * s.expert * s.context * s.microbatches > static_cast<double>(space_.fold_from);
  }

  const Program& program_;
  const simulate::Cluster& cluster_;
  const Space& space_;
  simulate::ClusterCostModel own_;
  const simulate::CostModel& costs_;
  LeastTime times_;
  FoldedProgram fold_;
  std::int64_t folded_ = 0;
  std::vector<ProgramGroup> groups_;
  // Of the group that is looked into: what the busiest device computes without recomputing and with everything on chip, by ZeRO's stage.
  std::map<std::int32_t, double> computing_;
  std::optional<BoundsOfGroup> bounds_;
};

}  // namespace

ProgramEstimate estimate_program(const Program& program, const Strategy& strategy, const simulate::Cluster& cluster,
                                 const simulate::CostModel* costs, std::int32_t made, const transform::Layout* layout) {
  const simulate::ClusterCostModel own(cluster);
  if (costs == nullptr) costs = &own;
  Strategy s = strategy;
  s.verify = false;
  transform::Distributed d = transform::parallelise_some(program, s,
                                                         {.microbatches = made > 0 ? made : s.microbatches,
                                                          .first_rank = costs->looks_at_the_network_alone() && ranks_do_alike(s, cluster),
                                                          .layout = layout});
  const simulate::Program p = simulate::flatten(d.module, *costs);
  const simulate::Timeline t = simulate::run_clock(p, cluster, {.overlap = costs->overlaps()});
  ProgramEstimate e;
  e.whole = std::move(d.whole);
  e.seconds = t.seconds;
  for (std::size_t i = 0; i < t.devices.size(); ++i) {
    if (t.devices[i].computing > e.computing) e.computing = t.devices[i].computing, e.busiest = static_cast<std::int32_t>(i);
    e.transferring = std::max(e.transferring, t.devices[i].transferring);
  }
  const std::vector<simulate::DeviceMemory> memory = simulate::measure_memory(p);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    if (memory[i].peak <= e.peak) continue;
    e.peak = memory[i].peak;
    e.at_peak = memory[i].at_peak;
    e.fullest = static_cast<std::int32_t>(i);
  }
  return e;
}

double least_program_seconds(const Program& program, const Strategy& strategy, const simulate::CostModel& costs) {
  double seconds = 0;
  violation_of([&] { seconds = LeastTime(program, costs).seconds(strategy, transform::lay_out(program, strategy)); });
  return seconds;
}

LeastMemory least_program_memory(const Program& program, const Strategy& strategy) {
  return least_memory(program, strategy, transform::lay_out(program, strategy), transform::table_of(strategy));
}

ProgramResult search_program(const Program& program, const simulate::Cluster& cluster, const Space& space, const SearchOptions& options,
                             const simulate::CostModel* costs) {
  transform::reject_distributed(program.module);
  ProgramEstimator estimator(program, cluster, space, costs);
  return Searcher<ProgramEstimate>(estimator, options).run();
}

std::string why_not(const Program& program, const simulate::Cluster& cluster, const Space& space, const Strategy& s,
                    const ProgramResult& result, const simulate::CostModel* costs) {
  // It is made whole.
  Space whole = space;
  whole.fold_from = 0;
  ProgramEstimator estimator(program, cluster, whole, costs);
  return why_not(estimator, space.devices, s, result);
}

}  // namespace pando::search
