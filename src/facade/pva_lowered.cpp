// The address map as lowered variables.
#include <algorithm>

#include "base/error.h"
#include "facade/pva_facts.h"
#include "profile/facts.h"
#include "profile/report.h"
#include "pva/pva.hpp"

namespace pva {

using pando::ErrorKind;
using pando::fail;
using pando::profile::Placement;

namespace {

// Orders of the steps that have memory, ascending.
std::vector<std::uint32_t> orders_of(const pando::profile::Report& report) {
  std::vector<std::uint32_t> out;
  for (const pando::profile::ProgramStep& s : report.program)
    if (pando::facade::has_memory(s)) out.push_back(s.order);
  return out;
}

}  // namespace

std::vector<StepInterval> EquivalenceClass::steps() const {
  const std::vector<std::uint32_t> orders = orders_of(*report_);
  if (id_ == 0) return {StepInterval(0, orders.size())};
  const auto at = [&](std::uint32_t order) { return static_cast<std::size_t>(std::ranges::lower_bound(orders, order) - orders.begin()); };
  std::vector<StepInterval> result;
  for (const auto& [begin, end] : report_->live_sets[id_ - 1])
    if (at(begin) < at(end)) result.push_back(StepInterval(at(begin), at(end)));
  return result;
}

std::string LoweredVariable::name() const { return report_->residents[report_->placements[id_].resident].name; }
std::string LoweredVariable::category() const {
  return pando::profile::category_of(*report_, report_->residents[report_->placements[id_].resident]);
}
std::uint64_t LoweredVariable::bytes() const { return report_->placements[id_].size; }
std::uint64_t LoweredVariable::offset() const { return report_->placements[id_].offset; }
unsigned LoweredVariable::tileId() const { return report_->placements[id_].tile; }
EquivalenceClass LoweredVariable::equivalenceClass() const { return {report_, report_->placements[id_].live}; }
bool LoweredVariable::hasUnloweredVar() const {
  const std::string of = category();
  return of == "variable" || of == "constant";
}
LivenessVariable LoweredVariable::unloweredVar() const {
  if (!hasUnloweredVar())
    fail(ErrorKind::index_error, "report-variable", "'{}' is no part of a variable of the graph: its category is '{}'", name(), category());
  const Placement& own = report_->placements[id_];
  std::uint64_t bytes = 0;
  const auto [first, last] = pando::profile::placements_of(*report_, own.tile);
  for (std::size_t i = first; i < last; ++i)
    if (report_->placements[i].resident == own.resident) bytes += report_->placements[i].size;
  return {name(), bytes};
}

std::vector<LoweredVariable> LoweredVariables::forTile(unsigned tile) const {
  const auto [first, last] = pando::profile::placements_of(*report_, pando::facade::checked_tile(*report_, tile, "lowered variables"));
  std::vector<LoweredVariable> result;
  for (std::size_t i = first; i < last; ++i) result.push_back(LoweredVariable(report_, i));
  return result;
}
std::vector<LoweredVariable> LoweredVariables::allBriefVars() const {
  std::vector<LoweredVariable> result;
  for (std::size_t i = 0; i < report_->placements.size(); ++i) result.push_back(LoweredVariable(report_, i));
  return result;
}

}  // namespace pva
