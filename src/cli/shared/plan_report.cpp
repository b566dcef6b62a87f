#include "cli/shared/plan_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <tuple>

#include "base/command/files.h"
#include "profile/report.h"
#include "search/memory/memory_report.h"

namespace pando::cli {
namespace {

std::vector<std::string> memory_kinds() {
  std::vector<std::string> kinds;
  for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k) kinds.emplace_back(simulate::name_of(static_cast<simulate::MemoryKind>(k)));
  return kinds;
}

// The tensors of the main graph's inputs. Those of one name, shape and size on several devices are one row.
class InputPlaces {
 public:
  InputPlaces(profile::DevicePlan& plan, const ir::Module& module, const simulate::Program& program, const std::vector<std::uint32_t>& rows)
      : plan_(plan), module_(module), program_(program), row_of_(rows) {}

  void fill() {
    if (program_.bodies.empty()) return;
    for (const ir::ValueId v : module_.graph(module_.main_graph()).inputs) add(module_.name_of(v), module_.value(v).type);
    std::stable_sort(plan_.values.begin(), plan_.values.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  }

 private:
  void add(const std::string& name, ir::TypeId type) {
    const ir::Type& t = module_.type(type);
    if (!t.is_tensor()) {
      for (const ir::TypeId e : t.elements) add(name, e);
      return;
    }
    const simulate::Body& main = program_.bodies.front();
    const simulate::Slot& slot = main.slots[main.inputs[next_++]];
    const std::string shape = fmt::format("{}({})", ir::name_of(t.dtype), fmt::join(t.shape, ", "));
    const std::uint32_t device = row_of_[static_cast<std::size_t>(main.devices[slot.device].number)];
    const auto [it, added] = rows_.emplace(std::tuple(name, shape, slot.bytes), plan_.values.size());
    if (added) plan_.values.push_back({name, std::string(simulate::name_of(slot.kind)), shape, static_cast<double>(slot.bytes), {}});
    plan_.values[it->second].devices.push_back(device);
  }

  profile::DevicePlan& plan_;
  const ir::Module& module_;
  const simulate::Program& program_;
  const std::vector<std::uint32_t>& row_of_;
  std::size_t next_ = 0;
  std::map<std::tuple<std::string, std::string, std::int64_t>, std::size_t> rows_;
};

}  // namespace

void add_timeline(profile::DevicePlan& plan, const ir::Module& module, const simulate::Program& program, const simulate::Timeline& timeline,
                  const std::vector<simulate::DeviceMemory>& memory) {
  plan.seconds = timeline.seconds;
  plan.kinds = memory_kinds();
  // Numbers need not begin at 0; devices that nothing lies on have no row.
  std::vector<std::uint32_t> row_of(timeline.devices.size());
  for (const std::int32_t number : program.used_devices()) {
    const auto d = static_cast<std::size_t>(number);
    row_of[d] = static_cast<std::uint32_t>(plan.devices.size());
    const simulate::DeviceTimes& t = timeline.devices[d];
    profile::PlanDevice& device = plan.devices.emplace_back();
    device = {fmt::format("device {}", d), t.computing, t.transferring, t.end, {}};
    for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k)
      device.memory.push_back(d < memory.size() ? static_cast<double>(memory[d].at_peak[k]) : 0);
  }
  profile::PlanNames name(plan);
  const std::vector<std::int64_t> used = simulate::memory_of_events(program);
  for (std::size_t i = 0; i < timeline.events.size(); ++i) {
    const simulate::Event& e = timeline.events[i];
    profile::PlanEvent event{row_of[static_cast<std::size_t>(e.device)], name(program.label(e.label)), e.transfer, e.start, e.seconds};
    event.bytes = static_cast<double>(used[i]);
    profile::add_event(plan, event);
  }
  for (const simulate::Message& m : timeline.messages)
    profile::add_message(plan, {row_of[static_cast<std::size_t>(m.from)], row_of[static_cast<std::size_t>(m.to)],
                                name(program.label(m.label)), static_cast<std::uint64_t>(m.bytes), m.sent, m.received});
  InputPlaces(plan, module, program, row_of).fill();
}

namespace {

// The pipeline ranks of a transformer's step.
class StepPlan {
 public:
  StepPlan(profile::DevicePlan& plan, const search::StepTimeline& t, const std::vector<search::RankMemory>& memory)
      : plan_(plan), t_(t), memory_(memory), name_(plan) {}

  void fill() {
    for (std::size_t r = 0; r < t_.table.ranks.size(); ++r) add_rank(r);
    for (std::size_t r = 0; r < t_.table.ranks.size(); ++r)
      for (std::size_t i = 0; i < t_.table.ranks[r].size(); ++i) add_message(r, i);
    add_stages();
  }

 private:
  using Pass = std::tuple<std::int32_t, std::int32_t, bool>;  // stage, microbatch, forward
  struct Place {
    std::size_t rank = 0;
    double end = 0;
  };

  static constexpr auto kActivations = static_cast<std::size_t>(simulate::MemoryKind::activations);

  void event(std::size_t r, const std::string& what, bool transfer, double begin, double seconds, double bytes) {
    if (seconds <= 0) return;
    profile::PlanDevice& device = plan_.devices[r];
    profile::PlanEvent e{static_cast<std::uint32_t>(r), name_(what), transfer, begin, seconds};
    e.bytes = bytes;
    profile::add_event(plan_, e);
    (transfer ? device.transferring : device.computing) += seconds;
    device.end = std::max(device.end, begin + seconds);
  }

  // Of a rank's memory the activations come and go: each microbatch's from its forward pass to the last of its backward passes.
  void add_rank(std::size_t r) {
    profile::PlanDevice& device = plan_.devices.emplace_back();
    device = {fmt::format("rank {}", r), 0, 0, 0, std::vector<double>(simulate::kMemoryKinds, 0.0)};
    if (r < memory_.size()) device.memory.assign(memory_[r].bytes.begin(), memory_[r].bytes.end());
    const double peak = std::max(r < t_.timing.peak.size() ? t_.timing.peak[r] : 0, 1e-9), activations = device.memory[kActivations],
                 others = std::accumulate(device.memory.begin(), device.memory.end(), 0.0) - activations;
    const double chunk = static_cast<double>(t_.table.ranks.size()) / std::max<std::int32_t>(1, t_.table.stages());
    double held = 0;
    for (std::size_t i = 0; i < t_.table.ranks[r].size(); ++i) {
      const schedule::Cell& c = t_.table.ranks[r][i];
      if (!schedule::computes(c.action)) continue;
      const double begin = t_.timing.start[r][i], seconds = t_.costs.of(c);
      if (c.action == schedule::Action::forward) held += chunk;
      event(r, schedule::to_string(c), false, begin, seconds, others + activations * std::min(1.0, held / peak));
      if (c.action == schedule::Action::backward || c.action == schedule::Action::weight_gradient) held -= chunk;
      if (c.action != schedule::Action::weight_gradient)
        ends_[{c.stage, c.microbatch, c.action == schedule::Action::forward}] = {r, begin + seconds};
    }
    const double end = t_.post_validation && !t_.table.ranks[r].empty() ? t_.timing.start[r].back() + t_.costs.of(t_.table.ranks[r].back())
                                                                        : t_.timing.makespan;
    event(r, "exchange of gradients", true, end, t_.exchange, others);
    event(r, "optimizer", false, end + t_.exchange, t_.optimizer, others);
  }

  // What a pass needs of a stage on another rank.
  void add_message(std::size_t r, std::size_t i) {
    const schedule::Cell& c = t_.table.ranks[r][i];
    const bool forward = c.action == schedule::Action::forward;
    if (!forward && !schedule::is_backward(c.action)) return;
    const auto from = ends_.find({forward ? c.stage - 1 : c.stage + 1, c.microbatch, forward});
    if (from == ends_.end() || from->second.rank == r) return;
    profile::add_message(plan_, {static_cast<std::uint32_t>(from->second.rank), static_cast<std::uint32_t>(r),
                                 name_(forward ? "activations" : "gradients of activations"), static_cast<std::uint64_t>(t_.message_bytes),
                                 from->second.end, t_.timing.start[r][i]});
  }

  // Which layers lie on which rank.
  void add_stages() {
    std::map<std::int32_t, std::size_t> rank_of;
    std::map<std::size_t, double> layers;
    for (const auto& [pass, place] : ends_) rank_of.emplace(std::get<0>(pass), place.rank);
    for (const auto& [stage, rank] : rank_of) layers[rank] += layers_of(stage);
    double first = 0;
    for (const auto& [stage, rank] : rank_of) {
      const double n = layers_of(stage), weights = plan_.devices[rank].memory[static_cast<std::size_t>(simulate::MemoryKind::weights)];
      plan_.values.push_back({fmt::format("stage {}", stage),
                              "weights",
                              fmt::format("layers {:.0f} to {:.0f}", first, first + n - 1),
                              layers[rank] > 0 ? weights * n / layers[rank] : 0,
                              {static_cast<std::uint32_t>(rank)}});
      first += n;
    }
  }
  double layers_of(std::int32_t stage) const {
    const auto i = static_cast<std::size_t>(stage);
    return i < t_.layers.size() ? static_cast<double>(t_.layers[i]) : 0;
  }

  profile::DevicePlan& plan_;
  const search::StepTimeline& t_;
  const std::vector<search::RankMemory>& memory_;
  profile::PlanNames name_;
  std::map<Pass, Place> ends_;
};

}  // namespace

void add_step(profile::DevicePlan& plan, const search::StrategyFacts& facts, const search::Strategy& strategy) {
  plan.seconds = search::estimate(facts, strategy).seconds;
  if (facts.model.experts > 0) return;  // what a timeline cannot have
  const search::StepTimeline t = search::timeline_of(facts, strategy);
  const std::vector<search::RankMemory> memory = search::memory_of_ranks(facts, strategy);
  plan.kinds = memory_kinds();
  StepPlan(plan, t, memory).fill();
}

// What is both among the best and on the frontier is one point.
void add_points(profile::DevicePlan& plan, const search::Report& report) {
  std::map<std::string, std::size_t> at;
  const auto add = [&](const search::Report::Line& l, bool frontier) {
    const auto [it, added] = at.emplace(l.strategy, plan.points.size());
    if (added) plan.points.push_back({l.strategy, l.seconds, l.bytes, false});
    plan.points[it->second].frontier |= frontier;
  };
  for (const search::Report::Line& l : report.best) add(l, false);
  for (const search::Report::Line& l : report.frontier) add(l, true);
}

void write_plan(const profile::DevicePlan& plan, const std::string& file) {
  std::ostringstream out;
  profile::write_report(plan, out);
  write_file(file, out.str());
}

}  // namespace pando::cli
