#include "poplibs/poplin/conv/plan/plan.h"

#include <poplar/exceptions.hpp>

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "poplibs/poplin/plan/cost.h"
#include "poplibs/poplin/plan/planning_cache.h"
#include "poplibs/poputil/reject.h"

namespace poplin::conv {
namespace {

// All that a plan depends on.
using Key = std::pair<poplar::Target, std::vector<double>>;

Key key_of(const poplar::Target& target, const Options& o, const Problem& p, Kind kind) {
  const auto number = [](auto n) { return static_cast<double>(n); };
  const pando::planning::PartitionConstraints& c = o.constraints;
  std::vector<double> key = {number(kind),      o.memory_proportion, number(o.half_partials), o.objective ? number(*o.objective) : -1,
                             number(c.groups),  number(c.batch),     number(c.out_channels),  number(c.in_channels),
                             number(c.serial),  number(p.groups),    number(p.batch),         number(p.in_channels),
                             number(p.in_type), number(p.out_type),  number(p.out_channels),  number(p.lines.size())};
  for (const Line& line : p.lines)
    for (const std::int64_t n : {line.in, line.out, line.taps, line.stride, line.dilation, line.offset, line.step})
      key.push_back(number(n));
  for (const unsigned n : c.field) key.push_back(n);
  return {target, key};
}

struct PlanTable : std::map<Key, ConvolutionPlan> {};

}  // namespace

ConvolutionPlan find_plan(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind) {
  const pando::Machine machine = plan::machine_of(target);
  const std::optional<ConvolutionPlan> plan = plan_convolution(problem, kind, options, machine);
  if (!plan)
    poputil::reject_option("partition-size", "planConstraints: the partition has more blocks than the target has places, {}",
                           pando::planning::places_of(machine));
  return *plan;
}

ConvolutionPlan plan_for(const poplar::Target& target, const Options& options, const Problem& problem, Kind kind, PlanningCache* cache) {
  if (cache == nullptr) return find_plan(target, options, problem, kind);
  PlanTable& plans = cache->impl->table<PlanTable>();
  const Key key = key_of(target, options, problem, kind);
  const auto found = plans.find(key);
  return found != plans.end() ? found->second : plans.emplace(key, find_plan(target, options, problem, kind)).first->second;
}

}  // namespace poplin::conv
