#include "simulate/observed/prediction.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/output_file.h"
#include "base/source_location.h"
#include "poplar/exceptions.hpp"
#include "profile/report.h"
#include "simulate/costs/cost_model.h"
#include "simulate/costs/flatten.h"
#include "simulate/ipu_cluster.h"

namespace pando::simulate {

namespace {

// A clock that records more of them takes more memory than a report has room for events.
constexpr std::int64_t kMostPredictedSteps = 4'000'000;

}  // namespace

profile::DevicePlan prediction(const Program& program, const Timeline& timeline, const std::string& machine, const std::string& costs) {
  profile::DevicePlan plan{.title = fmt::format("predicted for {}", machine), .machine = machine, .text = costs};
  plan.seconds = timeline.seconds;
  for (std::size_t d = 0; d < timeline.devices.size(); ++d) {
    const DeviceTimes& t = timeline.devices[d];
    plan.devices.push_back({fmt::format("device {}", d), t.computing, t.transferring, t.end, {}});
  }
  profile::PlanNames name(plan);
  for (const Event& e : timeline.events)
    profile::add_event(plan, {static_cast<std::uint32_t>(e.device), name(program.label(e.label)), e.transfer, e.start, e.seconds});
  for (const Message& m : timeline.messages)
    profile::add_message(plan, {static_cast<std::uint32_t>(m.from), static_cast<std::uint32_t>(m.to), name(program.label(m.label)),
                                static_cast<std::uint64_t>(m.bytes), m.sent, m.received});
  return plan;
}

profile::DevicePlan prediction(const ir::Module& module, const std::string& machine, std::int64_t tiles) {
  const std::string name = tiles > 0 ? fmt::format("{}:{}", machine, tiles) : machine;
  const auto none = [&](std::string_view why) {
    return profile::DevicePlan{
        .title = fmt::format("no prediction for {}", name), .machine = name, .text = fmt::format("no prediction: {}\n", why)};
  };
  const std::optional<Cluster> cluster = ipu_cluster_named(name);
  if (!cluster) return none(fmt::format("'{}' is not a machine with tiles that programs are distributed over", name));
  try {
    const ClusterCostModel costs(*cluster);
    const Program program = flatten(module, costs);
    const bool draws = program.unfolded_steps() <= kMostPredictedSteps;
    const Timeline timeline = run_clock(program, *cluster, {.overlap = costs.overlaps(), .record_events = draws});
    return prediction(program, timeline, name,
                      fmt::format("by formulas of the machine (pando simulate --machine {})\n{}", name,
                                  draws ? "" : "its steps are too many to be drawn\n"));
  } catch (const std::exception& e) { return none(without_id(e.what())); }
}

void add_prediction(const std::string& report_file, const profile::DevicePlan& prediction) {
  std::string bytes;
  if (const std::string why = read_input_file(report_file, bytes, kMostModelBytes); !why.empty())
    fail(ErrorKind::file_load_error, "unreadable-file", "cannot read {}: {}", report_file, why);
  try {
    bytes = profile::with_prediction(std::move(bytes), prediction);
  } catch (const poplar::parse_error& e) { fail_at(ErrorKind::parse_error, id_of(e.what()), {report_file}, "{}", without_id(e.what())); }
  if (const std::string why = write_output_file(report_file, bytes); !why.empty())
    fail(ErrorKind::poplar_error, "unwritable-file", "cannot write {}: {}", report_file, why);
}

}  // namespace pando::simulate
