#include "cli/shared/search_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "base/command/files.h"
#include "base/text/counted.h"
#include "cli/command_row.h"
#include "cli/shared/compiled_costs.h"
#include "cli/shared/plan_report.h"
#include "cli/shared/stop_on_interrupt.h"
#include "cli/shared/words.h"
#include "ir/checks/read_module.h"
#include "ir/text/print.h"
#include "onnx/import.h"
#include "search/programs/bridge.h"
#include "simulate/costs/cost_model.h"
#include "simulate/costs/flatten.h"
#include "transform/distribute/annotate.h"
#include "transform/distribute/checks/equality.h"

namespace pando::cli {
namespace {

bool is_onnx(const std::string& input) { return input.ends_with(".onnx"); }

transform::Program program_from(const ProgramArguments& a) {
  ir::Module m =
      is_onnx(a.input) ? onnx::import_file(a.input, {.dimensions = sizes_of(a.dimensions)}) : ir::read_module(read_file(a.input), a.input);
  transform::Annotation note{dimensions_of(a.samples), dimensions_of(a.sequence), dimensions_of(a.experts), {}};
  if (!a.loss.empty()) note.loss = a.loss;
  return transform::annotate(std::move(m), note);
}

// What was found with one number of devices.
struct Sized {
  search::Space space;
  search::ProgramResult result;
};

// A device costs the same for every point of a machine, so its price decides nothing: device-seconds are compared.
double price_of(const Sized& s, bool by_price) { return s.result.best.front().estimate.seconds * (by_price ? s.space.devices : 1); }

// The last one looks at those before it.
using CostModels = std::vector<std::unique_ptr<simulate::CostModel>>;

CostModels costs_of(const ProgramArguments& a, const simulate::Cluster& cluster) {
  CostModels costs;
  costs.push_back(std::make_unique<simulate::ClusterCostModel>(cluster));
  if (a.cost != "compiled") return costs;
  costs.push_back(compiled_costs(*costs.back(), a.machine));
  if (!costs.back()) become("pando-measure", a.given);
  return costs;
}

std::vector<Sized> search_sizes(const ProgramArguments& a, const transform::Program& program, const simulate::Cluster& cluster,
                                const simulate::CostModel& costs) {
  std::vector<Sized> all;
  for (const std::int64_t devices : a.devices) {
    Sized s{a.space, {}};
    s.space.devices = devices;
    const auto begin = std::chrono::steady_clock::now();
    s.result = search::search_program(program, cluster, s.space, a.options, &costs);
    if (!a.quiet) {
      fmt::print(stderr, "{}{}: {:.2f} s\n", a.options.progress ? fmt::format("\r{:60}\r", "") : "", counted(devices, "device"),
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    if (a.devices.size() > 1) fmt::print("{}:\n", counted(devices, "device"));
    fmt::print("{}", search::to_table(s.result));
    all.push_back(std::move(s));
    if (all.back().result.certificate.stopped) break;
  }
  return all;
}

// The first where nothing fits.
const Sized& best_of(const std::vector<Sized>& all, bool by_price) {
  const Sized* best = &all.front();
  for (const Sized& s : all) {
    if (s.result.best.empty()) continue;
    if (best->result.best.empty() || price_of(s, by_price) < price_of(*best, by_price)) best = &s;
  }
  return *best;
}

// Of the number of devices that it has, or of the best one.
const Sized& asked_about(const std::vector<Sized>& all, const transform::Strategy& s, const Sized& best) {
  for (const Sized& size : all) {
    if (size.space.devices == s.devices()) return size;
  }
  return best;
}

// What was found with the best number of devices, and when the winner's devices do what.
profile::DevicePlan plan_of(const ProgramArguments& a, const transform::Program& program, const simulate::Cluster& cluster,
                            const simulate::CostModel& costs, const Sized& best, const std::string& why, double limit) {
  profile::DevicePlan plan{.title = fmt::format("{} on {} of {}", a.input, counted(best.space.devices, "device"), cluster.name),
                           .machine = cluster.name};
  const search::Report report = report_of(best.result);
  plan.text = search::to_table(report);
  plan.why_not = why;
  plan.memory_limit = limit;
  add_points(plan, report);
  if (best.result.best.empty()) return plan;
  const transform::Distributed d = transform::parallelise(program, best.result.best.front().strategy);
  const simulate::Program p = simulate::flatten(d.module, costs);
  add_timeline(plan, d.module, p, simulate::run_clock(p, cluster, {.overlap = costs.overlaps(), .record_events = true}),
               simulate::measure_memory(p));
  return plan;
}

// Whether it is equal; prints it.
bool check_winner(const transform::Program& program, const transform::Distributed& d) {
  const transform::Equality e = transform::compare(program, d, 1);
  fmt::print("equality: {}\n", transform::to_text(e));
  return e.equal();
}

}  // namespace

bool is_program(const std::string& input) {
  if (is_onnx(input)) return true;
  if (!input.ends_with(".txt") && !input.ends_with(".pando")) return false;
  return true;
}

std::pair<const search::EmitTarget*, std::string> emit_target_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  const search::EmitTarget* target = search::find_emit_target(text.substr(0, colon));
  return {target, colon == std::string::npos ? "" : text.substr(colon + 1)};
}

int search_for_program(ProgramArguments& a, const simulate::Cluster& cluster) {
  const auto [target, path] = emit_target_of(a.emit);
  if (target != nullptr && target->program == nullptr)
    throw CLI::ValidationError("--emit", fmt::format("{} takes a transformer's name or sizes, not a program", target->name));
  if (!a.dimensions.empty() && !is_onnx(a.input)) throw CLI::ValidationError("--dimension", "it takes an ONNX model");
  transform::Strategy asked;
  asked.first_device = a.space.first_device;
  asked = search::parse_strategy(a.why, search::Spelling::whole, asked);
  const transform::Program program = program_from(a);
  for (const std::string& file : a.tables) a.space.tables.push_back({file, search::table_from(file)});
  const CostModels models = costs_of(a, cluster);
  const simulate::CostModel& costs = *models.back();
  const std::vector<Sized> sizes = search_sizes(a, program, cluster, costs);
  const Sized& best = best_of(sizes, a.by_price);
  const search::ProgramResult& r = best.result;
  if (sizes.size() > 1 && !r.best.empty()) fmt::print("by {}: {}\n", a.by_price ? "price" : "time", counted(best.space.devices, "device"));
  std::string why;
  if (!a.why.empty()) {
    const Sized& about = asked_about(sizes, asked, best);
    why = fmt::format("{}:\n  {}", a.why, search::why_not(program, cluster, about.space, asked, about.result, &costs));
    if (&about != &best)
      why += fmt::format("  {} {} better by {}\n", counted(best.space.devices, "device"), best.space.devices == 1 ? "is" : "are",
                         a.by_price ? "price" : "time");
    fmt::print("why not {}", why);
  }
  fmt::print("{}", costs.report());
  const double limit = a.space.memory > 0 ? a.space.memory : static_cast<double>(cluster.memory_bytes);
  if (!a.svg.empty()) write_file(a.svg, search::frontier_svg(report_of(r), limit));
  if (!a.report.empty()) write_plan(plan_of(a, program, cluster, costs, best, why, limit), a.report);
  const bool stopped = sizes.back().result.certificate.stopped;
  if (r.best.empty()) return stopped ? kInterrupted : kNo;
  if (a.emit.empty() && !a.check) return stopped ? kInterrupted : 0;
  if (!a.emit.empty()) search::check_can_be_written(program, r.best.front().strategy, a.emit);
  const transform::Distributed d = transform::parallelise(program, r.best.front().strategy);
  if (target != nullptr) {
    if (const std::string note = target->program(program, d, path); !note.empty()) complain_of("search", "note: " + note);
  } else if (!a.emit.empty()) {
    write_file(a.emit, ir::print(d.module));
  }
  if (a.check && !check_winner(program, d)) return kNo;
  return stopped ? kInterrupted : 0;
}

}  // namespace pando::cli
