#include "search/programs/program_search.h"

#include "base/error.h"
#include "base/process/stop.h"
#include "ir/op_row.h"
#include "pando/model_error.hpp"
#include "schedule/synthesised.h"
#include "search/programs/fold.h"
#include "search/programs/least_memory.h"
#include "search/programs/least_time.h"
#include "search/programs/program_space.h"
#include "search/programs/recompute_choices.h"
#include "simulate/costs/flatten.h"
#include "transform/distribute/distributed_already.h"
#include "transform/distribute/layout/layout.h"
#include "transform/distribute/strategy_text.h"

#include <poplar/exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <tuple>

namespace pando::search {

namespace {

using transform::Program;

// --- one point --------------------------------------------------------------------------------------------------------------------------

struct Refusal {
  std::string rule, message;
};

// The estimate, or which rule refuses. `folded`: the estimate may come from fewer layers and microbatches; says whether it does.
std::optional<ProgramEstimate> try_estimate(const Program& program, const transform::Strategy& s, const simulate::Cluster& cluster,
                                            const simulate::CostModel* costs, Refusal& refusal, FoldedProgram* fold = nullptr,
                                            std::int64_t* folded = nullptr) {
  try {
    if (fold != nullptr) {
      if (auto e = fold->estimate(s, cluster, *costs)) {
        ++*folded;
        return e;
      }
    }
    return estimate_program(program, s, cluster, costs);
  } catch (const ModelError& e) { refusal = {e.id(), e.what()}; } catch (const poplar::poplar_error& e) {
    refusal = {"schedule", e.what()};
  }
  return std::nullopt;
}

// --- the search -------------------------------------------------------------------------------------------------------------------------

// What takes least of all that a group's plainest point leads to: nothing is computed again.
transform::Strategy without_recomputing(transform::Strategy s) {
  s.recompute = transform::Recompute::none;
  s.recomputed_layers.clear();
  return s;
}

// Bounds of the points of one group: they have one schedule, and one layout for each stage of ZeRO.
class BoundsOfGroup {
 public:
  BoundsOfGroup(const Program& program, LeastTime& times) : program_(program), times_(times) {}

  // Bytes of the fullest device; 0 for what the transforms refuse.
  std::int64_t least_bytes(const transform::Strategy& s) {
    try {
      if (!table_) table_ = transform::table_of(s);
      return least_memory(program_, s, layout_of(s), *table_).bytes();
    } catch (const ModelError&) { return 0; } catch (const poplar::poplar_error&) {
      return 0;
    }
  }
  // With what is computed again; 0 for what the transforms refuse.
  double least_seconds(const transform::Strategy& s) {
    try {
      return times_.seconds(s, layout_of(s));
    } catch (const ModelError&) { return 0; }
  }

 private:
  const transform::Layout& layout_of(const transform::Strategy& s) {
    auto it = layouts_.find(s.zero);
    if (it == layouts_.end()) it = layouts_.emplace(s.zero, transform::lay_out(program_, s)).first;
    return it->second;
  }

  const Program& program_;
  LeastTime& times_;
  std::optional<schedule::Table> table_;
  std::map<std::int32_t, transform::Layout> layouts_;
};

class ProgramSearcher {
 public:
  ProgramSearcher(const Program& program, const simulate::Cluster& cluster, const ProgramSpace& space, const SearchOptions& options,
                  const simulate::CostModel* costs)
      : program_(program),
        cluster_(cluster),
        options_(options),
        own_(cluster),
        costs_(costs ? *costs : own_),
        limit_(space.memory > 0 ? space.memory : static_cast<double>(cluster.memory_bytes)),
        times_(program, costs_),
        fold_(program),
        fold_from_(space.fold_from) {
    r_.equal_from = fold_.first(), r_.equal_to = fold_.end();
    const transform::SpaceFacts facts = facts_of(program, costs_, cluster, space);
    r_.samples = facts.samples;
    for (ProgramGroup& g : program_groups(facts)) {
      check_stop();
      Candidate c{std::move(g), 0, false};
      if (!name_costs(c)) continue;
      if (space.recompute_sets > 0) add_layers(c.group, facts.layer_seconds, space.recompute_sets);
      c.group.first_index = r_.certificate.points;
      r_.certificate.points += static_cast<std::int64_t>(c.group.points.size());
      candidates_.push_back(std::move(c));
    }
  }

  ProgramResult run() {
    if (!options_.brute_force) bound_groups();
    look_at_all(candidates_, options_, r_, [&](Candidate& c) { return look(c); });
    return std::move(r_);
  }

 private:
  struct Candidate {
    ProgramGroup group;
    // What none of its points is below, once it is bounded.
    double seconds = 0;
    bool bounded = false;
  };

  // A group's bound is that of its degrees until it would be looked into, then that of its stages. True: it has a new bound.
  bool look(Candidate& c) {
    if (excluded(c.seconds, static_cast<std::int64_t>(c.group.points.size()))) return false;
    if (!c.bounded && !options_.brute_force) return bound(c);
    look_into(c);
    return false;
  }

  // False: the transforms refuse the group.
  bool bound(Candidate& c) {
    try {
      c.seconds = std::max(c.seconds, least_seconds(without_recomputing(c.group.points.front())));
      c.bounded = true;
      return true;
    } catch (const ModelError& e) { r_.against(e.id(), e.what(), static_cast<std::int64_t>(c.group.points.size())); }
    return false;
  }

  // What each rank may hold so that it needs as much memory as the one that needs most, in microbatches.
  void level(schedule::Problem& p, const transform::Strategy& s, const transform::Layout& layout) const {
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
  bool name_costs(Candidate& c) {
    const transform::Strategy& plainest = c.group.points.front();
    if (!schedule::is_synthesised(plainest.schedule) || schedule::has_costs(plainest.schedule)) return true;
    try {
      schedule::Problem p = schedule::problem_of(plainest.schedule, {plainest.pipeline, plainest.microbatches, plainest.stages_per_rank});
      const transform::Layout layout = transform::lay_out(program_, plainest);
      p.costs = times_.costs_of(plainest, layout);
      if (c.group.levelled) {
        level(p, plainest, layout);
        if (std::all_of(p.memory.begin(), p.memory.end(), [&](double m) { return m == p.memory[0]; })) return false;
      }
      c.seconds = times_.seconds(without_recomputing(plainest), layout);
      c.bounded = true;
      const std::string with_transfers = schedule::name_of(p);
      p.costs.transfer = 0;
      const std::string without = schedule::name_of(p);
      if (c.group.transfers_cost && with_transfers == without) return false;
      for (transform::Strategy& s : c.group.points) s.schedule = c.group.transfers_cost ? with_transfers : without;
    } catch (const ModelError&) {
      // The group is refused where it is looked at.
    }
    return true;
  }

  // Behind each point where all layers compute again, those where some do.
  void add_layers(ProgramGroup& g, const std::vector<double>& layer_seconds, std::int32_t most) {
    std::map<transform::Recompute, std::vector<std::vector<std::uint32_t>>> choices;
    std::vector<transform::Strategy> all;
    try {
      std::optional<transform::Layout> layout;
      for (const transform::Strategy& s : g.points) {
        all.push_back(s);
        if (s.recompute == transform::Recompute::none || !s.recomputed_layers.empty()) continue;
        if (!layout) layout = transform::lay_out(program_, g.points.front());
        auto it = choices.find(s.recompute);
        if (it == choices.end())
          it = choices.emplace(s.recompute, recompute_choices(program_, s, *layout, transform::table_of(s), layer_seconds, most)).first;
        for (const auto& layers : it->second) {
          all.push_back(s);
          all.back().recomputed_layers = layers;
        }
      }
      g.points = std::move(all);
    } catch (const ModelError&) {
    } catch (const poplar::poplar_error&) {
      // Refused where it is looked at.
    }
  }

  // Some rank of a pipeline does at least its share of what one stage of all layers does. Groups with equal degrees share this bound; those
  // that the transforms refuse for their degrees go.
  void bound_groups() {
    struct OfDegrees {
      double seconds = 0;
      Refusal refusal;
    };
    std::map<std::string, OfDegrees> known;
    std::vector<Candidate> left;
    for (Candidate& c : candidates_) {
      check_stop();
      if (!c.bounded) {
        const transform::Strategy s = in_one_stage(c.group.points.front());
        const auto [it, added] = known.try_emplace(to_string(s));
        OfDegrees& of_degrees = it->second;
        if (added) {
          try {
            of_degrees.seconds = least_seconds(s);
          } catch (const ModelError& e) { of_degrees.refusal = {e.id(), e.what()}; }
        }
        if (!of_degrees.refusal.rule.empty()) {
          r_.against(of_degrees.refusal.rule, of_degrees.refusal.message, static_cast<std::int64_t>(c.group.points.size()));
          continue;
        }
        c.seconds = kTimesCaution * of_degrees.seconds / c.group.points.front().pipeline;
      }
      left.push_back(std::move(c));
    }
    candidates_ = std::move(left);
  }

  // 0 for what the transforms refuse.
  double folded_bound(const transform::Strategy& s) {
    try {
      return fold_.least_seconds(s, costs_).value_or(0);
    } catch (const ModelError&) { return 0; }
  }

  double least_seconds(const transform::Strategy& s) {
    if (fold_from_ > 0) {
      if (const auto seconds = fold_.least_seconds(s, costs_)) return *seconds;
    }
    return times_.seconds(s, transform::lay_out(program_, s));
  }

  // What a point has to be below to count.
  double worst_kept() const {
    if (options_.proves_only_the_best && !r_.best.empty() && r_.folded > 0) return r_.best.front().estimate.seconds;
    return r_.worst_kept(options_.top);
  }

  // A frontier needs all points.
  bool may_exclude() const { return !options_.brute_force && !options_.frontier; }
  // Whether points of at least so many seconds can be left out; counts them.
  bool excluded(double seconds, std::int64_t points) {
    if (!may_exclude() || seconds <= worst_kept()) return false;
    r_.slower(seconds, points);
    return true;
  }

  void look_into(const Candidate& c) {
    // By ZeRO's stage: what the busiest device computes without recomputing and with everything on chip.
    std::map<std::int32_t, double> computing;
    BoundsOfGroup bounds(program_, times_);
    std::int64_t index = c.group.first_index;
    for (const transform::Strategy& s : c.group.points) {
      check_stop();
      const std::int64_t here = index++;
      const bool recomputes = s.recompute != transform::Recompute::none;
      const auto plain = computing.find(s.zero);
      if (plain != computing.end() && excluded(kTimesCaution * plain->second, 1)) continue;
      const bool is_folded = is_large(s) && fold_.folds(s);
      if (recomputes && worst_kept() < std::numeric_limits<double>::infinity() && may_exclude() &&
          excluded(is_folded ? folded_bound(s) : bounds.least_seconds(s), 1))
        continue;
      // What is made in small is as quick as this bound.
      if (!options_.brute_force && !is_folded && static_cast<double>(bounds.least_bytes(s)) > limit_) {
        ++r_.certificate.by_memory;
        continue;
      }
      const std::optional<ProgramEstimate> e = evaluate(s, here);
      if (e && !recomputes && !s.offload_weights && !s.offload_optimizer && !s.offload_activations) { computing[s.zero] = e->computing; }
    }
  }

  std::optional<ProgramEstimate> evaluate(const transform::Strategy& s, std::int64_t index) {
    Refusal refusal;
    const std::optional<ProgramEstimate> e =
        try_estimate(program_, s, cluster_, &costs_, refusal, is_large(s) ? &fold_ : nullptr, &r_.folded);
    if (!e) {
      r_.against(refusal.rule, refusal.message, 1);
      return e;
    }
    ++r_.certificate.evaluated;
    if (static_cast<double>(e->peak) > limit_) {
      ++r_.certificate.too_large;
      return e;
    }
    r_.keep({s, *e, index}, options_.top, options_.frontier);
    return e;
  }

  // Ops of the program over devices, about.
  bool is_large(const transform::Strategy& s) const {
    const auto ops = static_cast<double>(program_.module.graph(program_.module.main_graph()).ops.size());
    return fold_from_ > 0 && ops * s.data * s.tensor * s.expert * s.context * s.microbatches > static_cast<double>(fold_from_);
  }

  const Program& program_;
  const simulate::Cluster& cluster_;
  const SearchOptions& options_;
  simulate::ClusterCostModel own_;
  const simulate::CostModel& costs_;
  double limit_;
  LeastTime times_;
  FoldedProgram fold_;
  std::int64_t fold_from_;
  std::vector<Candidate> candidates_;
  ProgramResult r_;
};

}  // namespace

ProgramEstimate estimate_program(const Program& program, const transform::Strategy& strategy, const simulate::Cluster& cluster,
                                 const simulate::CostModel* costs, std::int32_t made) {
  const simulate::ClusterCostModel own(cluster);
  transform::Strategy s = strategy;
  s.verify = false;
  transform::Distributed d = transform::parallelise_some(program, s, made > 0 ? made : s.microbatches);
  if (costs == nullptr) costs = &own;
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

double least_program_seconds(const Program& program, const transform::Strategy& strategy, const simulate::CostModel& costs) {
  try {
    return LeastTime(program, costs).seconds(strategy, transform::lay_out(program, strategy));
  } catch (const ModelError&) { return 0; }
}

LeastMemory least_program_memory(const Program& program, const transform::Strategy& strategy) {
  return least_memory(program, strategy, transform::lay_out(program, strategy), transform::table_of(strategy));
}

ProgramResult search_program(const Program& program, const simulate::Cluster& cluster, const ProgramSpace& space,
                             const SearchOptions& options, const simulate::CostModel* costs) {
  transform::refuse_distributed(program.module);
  return ProgramSearcher(program, cluster, space, options, costs).run();
}

std::string why_not(const Program& program, const simulate::Cluster& cluster, const ProgramSpace& space, const transform::Strategy& s,
                    const ProgramResult& result, const simulate::CostModel* costs) {
  const std::int64_t devices = s.devices();
  Refusal refusal;
  const std::optional<ProgramEstimate> e = try_estimate(program, s, cluster, costs, refusal);
  // What is not there at all is said first: other devices would not help.
  const bool names_nothing = !e && (refusal.rule == "recompute-layers" || refusal.rule == "cut");
  if (devices != space.devices && !names_nothing) {
    return fmt::format("devices: it takes {} devices, {} were asked for\n", devices, space.devices);
  }
  if (!e) return fmt::format("{}: {}\n", refusal.rule, refusal.message);
  const double limit = space.memory > 0 ? space.memory : static_cast<double>(cluster.memory_bytes);
  if (static_cast<double>(e->peak) > limit) {
    return fmt::format("memory: device {} needs {} bytes ({}), {:.0f} more than the {:.0f} that it has\n", e->fullest, e->peak,
                       kinds_text(e->at_peak), static_cast<double>(e->peak) - limit, limit);
  }
  if (result.best.empty()) return fmt::format("it fits: {:.6g} s, {} bytes\n", e->seconds, e->peak);
  const FoundProgram& f = result.best.front();
  const ProgramEstimate& b = f.estimate;
  if (to_string(f.strategy) == to_string(s)) return "it is the best\n";
  return fmt::format(
      "time: {:.6g} s, {:.2f} % slower than the best ({:.6g} s)\n  the busiest device computes {:.6g} s ({:+.6g})\n  the longest transfers "
      "take {:.6g} s ({:+.6g})\n"
      "  the busiest device waits for {:.6g} s ({:+.6g})\n",
      e->seconds, 100 * (e->seconds / b.seconds - 1), b.seconds, e->computing, e->computing - b.computing, e->transferring,
      e->transferring - b.transferring, e->seconds - e->computing, e->seconds - e->computing - (b.seconds - b.computing));
}

}  // namespace pando::search
