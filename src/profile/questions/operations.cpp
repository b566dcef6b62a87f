#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "profile/facts.h"
#include "profile/question.h"

namespace pando::profile {

namespace {

Json answer_operations(const Report& report, const Query& query) {
  constexpr std::uint64_t kDeepest = 100;
  const std::size_t depth = query.argument.empty() ? 1 : argument_number(query, "name", kDeepest);
  if (depth == 0) fail(ErrorKind::invalid_option, "report-argument", "expected how many names, from 1 to {}, found '0'", kDeepest - 1);
  struct Sum {
    Cycles cycles;
    std::uint64_t steps = 0, executions = 0, flops = 0, bytes = 0;
    std::set<std::uint32_t> sources;
  };
  std::map<std::string, Sum> sums;
  for (const StepCycles& s : report.steps) {
    Sum& sum = sums[operation_of(s.name, depth)];
    sum.cycles = sum.cycles + s.cycles;
    sum.flops += s.flops;
    sum.executions += s.executions;
    ++sum.steps;
    for (const std::uint32_t row : sources_of(report, s)) sum.sources.insert(row);
  }
  for (const Resident& r : report.residents) {
    Sum& sum = sums[operation_of(r.name, depth)];
    sum.bytes += r.bytes;
    if (r.source > 0) sum.sources.insert(r.source);
  }
  std::vector<std::pair<std::string, Sum>> order(sums.begin(), sums.end());
  const auto cost = [](const Cycles& c) { return c.total() - c.wait; };
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return std::pair(cost(a.second.cycles), a.second.bytes) > std::pair(cost(b.second.cycles), b.second.bytes);
  });
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(order.size(), query.top); ++i) {
    const auto& [name, s] = order[i];
    rows.push_back({{"cycles", cost(s.cycles)},
                    {"compute", s.cycles.compute},
                    {"exchange", s.cycles.exchange + s.cycles.local_copy + s.cycles.global_exchange},
                    {"steps", s.steps},
                    {"executions", s.executions},
                    {"flops", s.flops},
                    {"bytes", s.bytes},
                    {"operation", name},
                    {"source", sources_text(report, {s.sources.begin(), s.sources.end()})}});
  }
  return cut_rows({{"rows", std::move(rows)}}, order.size());
}

}  // namespace

extern const QuestionRow question_operations;
constinit const QuestionRow question_operations = {
    "operations", "DEPTH", "cycles and memory by operation: the first DEPTH names of debug paths (1 without it)", answer_operations};

}  // namespace pando::profile
