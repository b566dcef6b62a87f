#include "profile/summary.h"

#include <fmt/format.h>

#include <ostream>

#include "profile/facts.h"
#include "profile/text.h"

namespace pando::profile {

void print_summary(const Report& report, const SummaryOptions& options, std::ostream& out) {
  if (!report.plan.title.empty()) {
    print_plan_section(report.plan, out);
    if (!report.predicted.title.empty()) out << fmt::format("a step: {}\n", clocks_text(clocks_of(report)));
    return;
  }
  print_target_section(report, out);
  print_graph_section(report, out);
  print_memory_section(report, options, out);
  print_liveness_section(report, out);
  print_execution_section(report, options, out);
}

// A plan has no tiles: what search and simulate say, and the devices.
void print_plan_section(const DevicePlan& plan, std::ostream& out) {
  out << "Plan: " << plan.title << '\n' << plan.text;
  if (!plan.why_not.empty()) out << "why not " << plan.why_not;
  if (plan.devices.empty()) return;
  out << fmt::format("{:<12} {:>14} {:>14} {:>14} {:>12}\n", "device", "computes, s", "transfers, s", "ends, s", "peak");
  for (const PlanDevice& d : plan.devices) {
    double bytes = 0;
    for (const double b : d.memory) bytes += b;
    out << fmt::format("{:<12} {:>14.6g} {:>14.6g} {:>14.6g} {:>12}\n", d.name, d.computing, d.transferring, d.end,
                       bytes_text(static_cast<std::uint64_t>(bytes)));
  }
}

void print_target_section(const Report& report, std::ostream& out) {
  const TargetInfo& t = report.target;
  out << "Target:\n";
  out << fmt::format("  Machine:             {}, {} {} x {} tiles = {} tiles, {} workers each\n", t.name, t.ipus,
                     t.ipus == 1 ? "IPU" : "IPUs", count_text(t.tiles_per_ipu), count_text(t.tiles), t.workers);
  if (t.bytes_per_tile == 0)
    out << "  Tile memory:         unbounded\n";
  else
    out << fmt::format("  Tile memory:         {} each, {} in all\n", bytes_text(t.bytes_per_tile), bytes_text(t.bytes_per_tile * t.tiles));
  out << fmt::format("  Clock:               {} MHz\n", count_text(static_cast<std::uint64_t>(t.clock_hz / 1e6 + 0.5)));
  if (t.replicas != 1) out << fmt::format("  Replicas:            {} (the numbers below are of one)\n", t.replicas);
}

void print_graph_section(const Report& report, std::ostream& out) {
  const GraphInfo& g = report.graph;
  out << "\nGraph:\n";
  out << fmt::format("  Variables:           {}\n", count_text(g.variables));
  out << fmt::format("  Vertices:            {}\n", count_text(g.vertices));
  out << fmt::format("  Edges:               {}\n", count_text(g.edges));
  out << fmt::format("  Compute sets:        {}\n", count_text(g.compute_sets));
  out << fmt::format("  Programs:            {}\n", count_text(g.programs));
}

}  // namespace pando::profile
