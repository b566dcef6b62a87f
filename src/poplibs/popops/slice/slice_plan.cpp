#include "poplibs/popops/slice/slice_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include <poputil/OptionParsing.hpp>
#include <poputil/exceptions.hpp>

#include "poplibs/popops/slice/slice_args.h"
#include "poplibs/poputil/reject.h"

namespace popops {

SlicePlan::SlicePlan() : internal(std::make_unique<SlicePlanInternal>()) {}
SlicePlan::~SlicePlan() = default;
SlicePlan::SlicePlan(const SlicePlan& other) : internal(std::make_unique<SlicePlanInternal>(*other.internal)) {}
SlicePlan::SlicePlan(SlicePlan&& other) = default;
SlicePlan& SlicePlan::operator=(const SlicePlan& other) {
  if (this != &other) internal = std::make_unique<SlicePlanInternal>(*other.internal);
  return *this;
}
SlicePlan& SlicePlan::operator=(SlicePlan&& other) = default;
SlicePlan::SlicePlan(std::unique_ptr<SlicePlanInternal> from) : internal(std::move(from)) {}

namespace {

auto key(const SlicePlanInternal& p) {
  return std::make_tuple(p.made, p.type.toString(), p.groups, p.problem.rows, p.problem.columns, p.problem.lookups, p.problem.grain,
                         p.problem.slice, p.problem.update, p.problem.memory, p.problem.host, p.partition.rows, p.partition.columns,
                         p.partition.lookups);
}

}  // namespace

bool operator<(const SlicePlan& a, const SlicePlan& b) noexcept { return key(*a.internal) < key(*b.internal); }
bool operator==(const SlicePlan& a, const SlicePlan& b) noexcept { return key(*a.internal) == key(*b.internal); }
bool operator!=(const SlicePlan& a, const SlicePlan& b) noexcept { return !(a == b); }

std::ostream& operator<<(std::ostream& o, const SlicePlan& p) {
  const SlicePlanInternal& i = *p.internal;
  if (!i.made) return o << "SlicePlan: none";
  o << "SlicePlan: " << i.problem.rows / std::max<std::size_t>(1, i.groups) << " entries of " << i.problem.columns << ' '
    << i.type.toString();
  if (i.groups != 1) o << ", " << i.groups << " groups";
  return o << ", " << i.problem.lookups << " lookups; parts: " << i.partition.rows << " of the entries x " << i.partition.columns
           << " of the output x " << i.partition.lookups << " of the lookups";
}

namespace internal {

SliceOptions parse_slice_options(const poplar::OptionFlags& options) {
  using poplibs::OptionHandler;
  SliceOptions out;
  std::string operation = "add", distribution = "uniform", partials = "float", constraints;
  bool sorted = false, padding = false;
  const std::map<std::string, std::string> operations = {{"none", "none"}, {"add", "add"}, {"max", "max"}, {"mul", "mul"}};
  const std::map<std::string, std::string> distributions = {{"uniform", "uniform"}, {"onePoint", "onePoint"}};
  const std::map<std::string, std::string> types = {{"half", "half"}, {"float", "float"}};
  const poplibs::OptionSpec spec{
      {"usedForSlice", OptionHandler::createWithBool(out.used_for_slice)},
      {"usedForUpdate", OptionHandler::createWithBool(out.used_for_update)},
      {"availableMemoryProportion", OptionHandler::createWithDouble(out.memory)},
      {"operationForUpdate", OptionHandler::createWithEnum(operation, operations)},
      {"indicesAreSorted", OptionHandler::createWithBool(sorted)},
      {"indicesDistribution", OptionHandler::createWithEnum(distribution, distributions)},
      {"partialType", OptionHandler::createWithEnum(partials, types)},
      {"paddingIndexUsed", OptionHandler::createWithBool(padding)},
      {"planConstraints", OptionHandler::createWithString(constraints)},
      {"remapOutOfBoundIndices", OptionHandler::createWithBool(out.remap)},
      {"validateIndices", OptionHandler::createWithBool(out.validate)},
      {"pando.planObjective", OptionHandler::createWithEnum(out.host, std::map<std::string, bool>{{"cycles", false}, {"hostTime", true}})},
  };
  for (const auto& option : options) spec.parse(option.first, option.second);
  // What the original's planner is told means nothing to this one.
  if (!constraints.empty() && !nlohmann::json::accept(constraints))
    poputil::reject_option("constraints", "planConstraints: '{}' is no JSON", constraints);
  return out;
}

SliceProblem problem_of(const poplar::Graph& graph, const poplar::Type& type, std::size_t rows, std::size_t columns, std::size_t lookups) {
  SliceProblem p;
  p.rows = rows;
  p.columns = columns;
  p.lookups = lookups;
  p.type_bytes = graph.getTarget().getTypeSize(type);
  p.grain = column_grain(columns, p.type_bytes);
  return p;
}

std::unique_ptr<Grid> grid_of(const SlicePlan& plan, std::size_t rows, std::size_t columns) {
  const SlicePlanInternal& p = plan.getImpl();
  if (!p.made || p.problem.rows != rows || p.problem.columns != columns || rows * columns == 0) return nullptr;
  return std::make_unique<Grid>(make_grid(rows, columns, p.problem.grain, p.partition));
}

}  // namespace internal

namespace embedding {

SlicePlan plan(const poplar::Graph& graph, const poplar::Type& type, const std::size_t groups, const std::size_t entries,
               const std::size_t output, const std::vector<std::size_t>& lookups, const poplar::OptionFlags& flags) {
  const internal::SliceOptions options = internal::parse_slice_options(flags);
  if (!options.used_for_slice && !options.used_for_update)
    internal::slice_error("embedding::plan", "usedForSlice and usedForUpdate are both false");
  auto made = std::make_unique<SlicePlanInternal>();
  made->made = true;
  made->type = type;
  made->groups = groups;
  const std::size_t most = lookups.empty() ? 1 : *std::max_element(lookups.begin(), lookups.end());
  made->problem = internal::problem_of(graph, type, groups * entries, output, groups * most);
  made->problem.slice = options.used_for_slice;
  made->problem.update = options.used_for_update;
  made->problem.memory = options.memory;
  made->problem.host = options.host;
  made->partition = internal::choose_partition(graph.getTarget(), made->problem);
  return SlicePlan(std::move(made));
}

SlicePlan plan(const poplar::Graph& graph, const poplar::Type& type, const std::size_t entries, const std::size_t output,
               const std::vector<std::size_t>& lookups, const poplar::OptionFlags& options) {
  return plan(graph, type, 1, entries, output, lookups, options);
}

std::vector<SlicePlan> planMultiple(const std::vector<SlicePlanningParameters>& spds) {
  std::vector<SlicePlan> out;
  for (const SlicePlanningParameters& p : spds)
    out.push_back(plan(p.graph, p.dataType, p.groupSize, p.numEntries, p.outputSize, p.numLookups, p.optionFlags));
  return out;
}

}  // namespace embedding
}  // namespace popops

namespace poputil {

template <>
poplar::ProfileValue toProfileValue(const popops::SlicePlan& p) {
  std::ostringstream text;
  text << p;
  return poplar::ProfileValue(text.str());
}

}  // namespace poputil
