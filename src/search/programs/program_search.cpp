#include "search/programs/program_search.h"

#include "base/error.h"
#include "ir/op_row.h"
#include "pando/model_error.hpp"
#include "search/programs/program_space.h"
#include "search/programs/strategy_text.h"
#include "simulate/flatten.h"
#include "transform/distribute/layout.h"

#include <poplar/exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

namespace pando::search {

namespace {

using transform::Phase;
using transform::Program;
using transform::Strategy;
using transform::When;

// Times are whole picoseconds, and bounds are sums in another order than what they bound.
constexpr double kCaution = 1 - 1e-6;

// --- one point --------------------------------------------------------------------------------------------------------------------------

struct Refusal {
  std::string rule, message;
};

// The estimate, or which rule refuses.
std::optional<ProgramEstimate> try_estimate(const Program& program, const Strategy& s, const simulate::Cluster& cluster,
                                            const simulate::CostModel* costs,
                                            Refusal& refusal) {
  try {
    return estimate_program(program, s, cluster, costs);
  } catch (const ModelError& e) {
    refusal = {e.id(), e.what()};
  } catch (const poplar::poplar_error& e) {
    refusal = {"schedule", e.what()};
  }
  return std::nullopt;
}

// --- bounds -----------------------------------------------------------------------------------------------------------------------------

// In how many parts the layout cuts an op.
double parts_of(const ir::Module& m, const transform::Layout& l, ir::OpId o) {
  double parts = 1;
  for (std::size_t a = 0; a < transform::kAxes; ++a) {
    bool cut = false;
    for (ir::ValueId v : m.results(o)) cut |= !l.raw[v.index()][a].is_replicated();
    for (std::size_t i = 0; i < m.operands(o).size(); ++i) cut |= !l.demand[m.op(o).operand_begin + i][a].is_replicated();
    if (cut) parts *= static_cast<double>(l.sizes[a]);
  }
  return parts;
}

bool keeps_backward_whole(const std::string& schedule) { return schedule == "GPipe" || schedule == "1F1B" || schedule == "eager-1F1B"; }

// `chain`: one microbatch's ops on one replica, through all stages. Whatever the stages, a rank waits for the first microbatch to come
// through those before it, does its part of every microbatch, and then the last one goes back through those before it: with c_r seconds of
// a microbatch on rank r, no step is shorter than m c_r + c_0 + ... + c_(r-1) for any r. Under all divisions of the chain, the least is
// reached where these are equal.
double pipelined(double chain, double m, double p) { return chain / (1 - std::pow(1 - 1 / m, p)); }

double least_seconds(const Program& program, const Strategy& s, const transform::Layout& layout, const simulate::CostModel& costs) {
  const ir::Module& m = program.module;
  const double ranks = static_cast<double>(s.data) * s.expert * s.context * s.tensor, microbatches = s.microbatches, pipeline = s.pipeline;
  double chain = 0, updates = 0;
  for (ir::OpId o : m.graph(m.main_graph()).ops) {
    const When when = layout.when[o.index()];
    if (when == When::each) chain += costs.least_seconds(m, o, parts_of(m, layout, o));
    if (when == When::behind && program.phase_of(o) == Phase::update) updates += costs.least_seconds(m, o, ranks);
  }
  double least = (microbatches * chain + updates) / pipeline;
  if (s.pipeline > 1 && s.stages_per_rank == 1 && keeps_backward_whole(s.schedule)) {
    least = std::max(least, pipelined(chain, microbatches, pipeline));
  }
  return kCaution * least;
}

// --- the search -------------------------------------------------------------------------------------------------------------------------

class Searcher {
 public:
  Searcher(const Program& program, const simulate::Cluster& cluster, const ProgramSpace& space, const SearchOptions& options,
           const simulate::CostModel* costs)
      : program_(program), cluster_(cluster), options_(options), own_(cluster), costs_(costs ? *costs : own_),
        limit_(space.memory > 0 ? space.memory : static_cast<double>(cluster.memory_bytes)) {
    const ProgramFacts facts = facts_of(program, costs_);
    r_.samples = facts.samples;
    for (ProgramGroup& g : program_groups(facts, space)) candidates_.push_back({std::move(g), 0});
    for (const Candidate& c : candidates_) r_.certificate.points += static_cast<std::int64_t>(c.group.points.size());
  }

  ProgramResult run() {
    if (!options_.brute_force) bound_groups();
    r_.certificate.bound = std::numeric_limits<double>::infinity();
    std::size_t visited = 0;
    for (const Candidate& c : candidates_) {
      if (!excluded(c.seconds, static_cast<std::int64_t>(c.group.points.size()))) look_into(c);
      if (options_.progress && ++visited % 8 == 0) options_.progress(r_.certificate);
    }
    Certificate& cert = r_.certificate;
    cert.best = r_.best.empty() ? 0 : r_.best.front().estimate.seconds;
    if (cert.bound == std::numeric_limits<double>::infinity()) cert.bound = cert.best;
    std::sort(r_.frontier.begin(), r_.frontier.end(), [](const FoundProgram& a, const FoundProgram& b) {
      return a.estimate.peak < b.estimate.peak;
    });
    return std::move(r_);
  }

 private:
  struct Candidate {
    ProgramGroup group;
    double seconds = 0;
  };

  // Groups that the transforms refuse as a whole go, the others are visited by their bounds.
  void bound_groups() {
    std::vector<Candidate> left;
    for (Candidate& c : candidates_) {
      const Strategy& plainest = c.group.points.front();
      try {
        c.seconds = least_seconds(program_, plainest, transform::lay_out(program_, plainest), costs_);
        left.push_back(std::move(c));
      } catch (const ModelError& e) {
        refused(e.id(), static_cast<std::int64_t>(c.group.points.size()));
      }
    }
    std::stable_sort(left.begin(), left.end(), [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
    candidates_ = std::move(left);
  }

  void refused(const std::string& rule, std::int64_t points) {
    r_.certificate.by_rule += points;
    r_.rules[rule] += points;
  }

  double worst_kept() const {
    return r_.best.size() < options_.top ? std::numeric_limits<double>::infinity() : r_.best.back().estimate.seconds;
  }

  // Whether points of at least so many seconds can be left out; counts them. A frontier needs them all.
  bool excluded(double seconds, std::int64_t points) {
    if (options_.brute_force || options_.frontier || seconds <= worst_kept()) return false;
    r_.certificate.by_time += points;
    r_.certificate.bound = std::min(r_.certificate.bound, seconds);
    return true;
  }

  void look_into(const Candidate& c) {
    // By ZeRO's stage: what the busiest device computes without recomputing and with everything on chip.
    std::map<std::int32_t, double> computing;
    std::int64_t index = c.group.first_index;
    for (const Strategy& s : c.group.points) {
      const std::int64_t here = index++;
      const auto plain = computing.find(s.zero);
      if (plain != computing.end() && excluded(kCaution * plain->second, 1)) continue;
      const std::optional<ProgramEstimate> e = evaluate(s, here);
      if (e && s.recompute == transform::Recompute::none && !s.offload_weights && !s.offload_optimizer && !s.offload_activations) {
        computing[s.zero] = e->computing;
      }
    }
  }

  std::optional<ProgramEstimate> evaluate(const Strategy& s, std::int64_t index) {
    Refusal refusal;
    const std::optional<ProgramEstimate> e = try_estimate(program_, s, cluster_, &costs_, refusal);
    if (!e) {
      refused(refusal.rule, 1);
      return e;
    }
    ++r_.certificate.evaluated;
    if (static_cast<double>(e->peak) > limit_) {
      ++r_.certificate.too_large;
      return e;
    }
    FoundProgram f{s, *e, index};
    if (options_.frontier) add_to_frontier(f);
    keep(std::move(f));
    return e;
  }

  static bool before(const FoundProgram& a, const FoundProgram& b) {
    return std::tuple(a.estimate.seconds, a.estimate.peak, a.index) < std::tuple(b.estimate.seconds, b.estimate.peak, b.index);
  }

  void keep(FoundProgram f) {
    auto& best = r_.best;
    if (best.size() == options_.top && !before(f, best.back())) return;
    best.insert(std::upper_bound(best.begin(), best.end(), f, before), std::move(f));
    if (best.size() > options_.top) best.pop_back();
  }

  void add_to_frontier(const FoundProgram& f) {
    const auto beats = [](const FoundProgram& a, const FoundProgram& b) {
      if (a.estimate.seconds == b.estimate.seconds && a.estimate.peak == b.estimate.peak) return a.index < b.index;
      return a.estimate.seconds <= b.estimate.seconds && a.estimate.peak <= b.estimate.peak;
    };
    if (std::any_of(r_.frontier.begin(), r_.frontier.end(), [&](const FoundProgram& a) { return beats(a, f); })) return;
    std::erase_if(r_.frontier, [&](const FoundProgram& b) { return beats(f, b); });
    r_.frontier.push_back(f);
  }

  const Program& program_;
  const simulate::Cluster& cluster_;
  const SearchOptions& options_;
  simulate::ClusterCostModel own_;
  const simulate::CostModel& costs_;
  double limit_;
  std::vector<Candidate> candidates_;
  ProgramResult r_;
};

}  // namespace

ProgramEstimate estimate_program(const Program& program, const transform::Strategy& strategy, const simulate::Cluster& cluster,
                                 const simulate::CostModel* costs) {
  const simulate::ClusterCostModel own(cluster);
  transform::Strategy s = strategy;
  s.verify = false;
  const transform::Distributed d = transform::parallelise(program, s);
  const simulate::Program p = simulate::flatten(d.module, costs ? *costs : own);
  const simulate::Timeline t = simulate::run_clock(p, cluster);
  ProgramEstimate e;
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
    return least_seconds(program, strategy, transform::lay_out(program, strategy), costs);
  } catch (const ModelError&) {
    return 0;
  }
}

ProgramResult search_program(const Program& program, const simulate::Cluster& cluster, const ProgramSpace& space,
                             const SearchOptions& options,
                             const simulate::CostModel* costs) {
  return Searcher(program, cluster, space, options, costs).run();
}

std::string why_not(const Program& program, const simulate::Cluster& cluster, const ProgramSpace& space, const transform::Strategy& s,
                    const ProgramResult& result,
                    const simulate::CostModel* costs) {
  const std::int64_t devices = std::int64_t{s.data} * s.tensor * s.pipeline * s.expert * s.context;
  if (devices != space.devices) return fmt::format("devices: it takes {} devices, {} were asked for\n", devices, space.devices);
  Refusal refusal;
  const std::optional<ProgramEstimate> e = try_estimate(program, s, cluster, costs, refusal);
  if (!e) return fmt::format("{}: {}\n", refusal.rule, refusal.message);
  const double limit = space.memory > 0 ? space.memory : static_cast<double>(cluster.memory_bytes);
  if (static_cast<double>(e->peak) > limit) {
    std::string kinds;
    for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k) {
      if (e->at_peak[k] > 0) {
        kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", simulate::name_of(static_cast<simulate::MemoryKind>(k)), e->at_peak[k]);
      }
    }
    return fmt::format("memory: device {} needs {} bytes ({}), {:.0f} more than the {:.0f} that it has\n", e->fullest, e->peak, kinds,
                       static_cast<double>(e->peak) - limit, limit);
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
          e->transferring - b.transferring,
      e->seconds - e->computing, e->seconds - e->computing - (b.seconds - b.computing));
}

}  // namespace pando::search
