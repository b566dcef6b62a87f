#include "cli/shared/plan_report.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "base/command/files.h"
#include "profile/report.h"
#include "search/memory/memory_report.h"
#include "search/programs/strategy_text.h"
#include "search/shapes.h"

namespace pando::cli {
namespace {

std::vector<std::string> memory_kinds() {
  std::vector<std::string> kinds;
  for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k) kinds.emplace_back(simulate::name_of(static_cast<simulate::MemoryKind>(k)));
  return kinds;
}

// What is both among the best and on the frontier is one point.
class Points {
 public:
  explicit Points(profile::DevicePlan& plan) : plan_(plan) {}
  void add(const std::string& strategy, double seconds, double bytes, bool frontier) {
    const auto [it, added] = at_.emplace(strategy, plan_.points.size());
    if (added) plan_.points.push_back({strategy, seconds, bytes, false});
    plan_.points[it->second].frontier |= frontier;
  }

 private:
  profile::DevicePlan& plan_;
  std::map<std::string, std::size_t> at_;
};

}  // namespace

void add_timeline(profile::DevicePlan& plan, const simulate::Program& program, const simulate::Timeline& timeline,
                  const std::vector<simulate::DeviceMemory>& memory) {
  plan.seconds = timeline.seconds;
  plan.kinds = memory_kinds();
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    const simulate::DeviceTimes& t = timeline.devices[d];
    profile::PlanDevice& device = plan.devices.emplace_back();
    device = {fmt::format("device {}", d), t.computing, t.transferring, t.end, {}};
    for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k)
      device.memory.push_back(d < memory.size() ? static_cast<double>(memory[d].at_peak[k]) : 0);
  }
  profile::PlanNames name(plan);
  for (const simulate::Event& e : timeline.events)
    profile::add_event(plan, {static_cast<std::uint32_t>(e.device), name(program.label(e.label)), e.transfer, e.start, e.seconds});
}

void add_step(profile::DevicePlan& plan, const search::Transformer& model, const simulate::Cluster& cluster,
              const search::Strategy& strategy) {
  plan.seconds = search::estimate(model, cluster, strategy).seconds;
  if (model.experts > 0) return;  // what a timeline cannot have
  const search::StepTimeline t = search::timeline_of(model, cluster, strategy);
  const std::vector<search::RankMemory> memory =
      search::memory_of_ranks({model, cluster, nullptr, search::measured_shapes_of(cluster)}, strategy);
  plan.kinds = memory_kinds();
  profile::PlanNames name(plan);
  for (std::size_t r = 0; r < t.table.ranks.size(); ++r) {
    profile::PlanDevice device{fmt::format("rank {}", r), 0, 0, 0, std::vector<double>(simulate::kMemoryKinds, 0.0)};
    const auto event = [&](const std::string& what, bool transfer, double begin, double seconds) {
      if (seconds <= 0) return;
      profile::add_event(plan, {static_cast<std::uint32_t>(r), name(what), transfer, begin, seconds});
      (transfer ? device.transferring : device.computing) += seconds;
      device.end = std::max(device.end, begin + seconds);
    };
    for (std::size_t i = 0; i < t.table.ranks[r].size(); ++i) {
      const schedule::Cell& c = t.table.ranks[r][i];
      if (schedule::computes(c.action)) event(schedule::to_string(c), false, t.timing.start[r][i], t.costs.of(c));
    }
    const double end =
        t.post_validation && !t.table.ranks[r].empty() ? t.timing.start[r].back() + t.costs.of(t.table.ranks[r].back()) : t.timing.makespan;
    event("exchange of gradients", true, end, t.exchange);
    event("optimizer", false, end + t.exchange, t.optimizer);
    if (r < memory.size()) device.memory.assign(memory[r].bytes.begin(), memory[r].bytes.end());
    plan.devices.push_back(std::move(device));
  }
}

void add_points(profile::DevicePlan& plan, const search::Result& result) {
  Points points(plan);
  const auto add = [&](const search::Found& f, bool frontier) {
    points.add(search::to_string(f.strategy), f.estimate.seconds, f.estimate.memory_bytes(), frontier);
  };
  for (const search::Found& f : result.best) add(f, false);
  for (const search::Found& f : result.frontier) add(f, true);
}

void add_points(profile::DevicePlan& plan, const search::ProgramResult& result) {
  Points points(plan);
  const auto add = [&](const search::FoundProgram& f, bool frontier) {
    points.add(search::to_string(f.strategy), f.estimate.seconds, static_cast<double>(f.estimate.peak), frontier);
  };
  for (const search::FoundProgram& f : result.best) add(f, false);
  for (const search::FoundProgram& f : result.frontier) add(f, true);
}

void write_plan(const profile::DevicePlan& plan, const std::string& file) {
  std::ostringstream out;
  profile::write_report(plan, out);
  write_file(file, out.str());
}

}  // namespace pando::cli
