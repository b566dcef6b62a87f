#include "compile/compile.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "base/process/stop.h"
#include "compile/plan.h"
#include "compile/print_plan.h"

namespace pando::compile {

namespace {

constexpr int kPasses = 7;

class Progress {
 public:
  explicit Progress(const Options& options) : options_(options) {}
  // Of what is no pass over a plan.
  void done(const char* pass, const std::string& text) {
    ++step_;
    check_stop();
    if (options_.progress) options_.progress(step_, kPasses);
    if (options_.log) options_.log(pass, text);
  }
  void done(const Plan& plan, Pass pass, const std::string& text) {
    done(name_of(pass), text);
    if (options_.show_plan) options_.show_plan(name_of(pass), text_after(pass, plan, options_.shown_tile));
  }

 private:
  const Options& options_;
  int step_ = 0;
};

// The tables that need no lowering.
void copy_tables(const graph::Graph& graph, std::size_t programs, tile::Program& out) {
  out.machine = graph.machine();
  out.replication = graph.replication_factor();
  out.programs = static_cast<unsigned>(programs);
  for (const graph::Fifo& f : graph.fifos())
    out.fifos.push_back({f.handle, f.to_device, f.type, f.elements, f.mode == graph::ReplicatedFifo::broadcast, f.buffering_depth});
  for (const graph::RemoteBuffer& r : graph.remote_buffers()) out.remote_buffers.push_back({r.handle, r.type, r.elements, r.repeats});
  for (const graph::HostFunction& h : graph.host_functions()) out.host_functions.push_back({h.handle, h.inputs, h.outputs});
  for (const graph::Function& f : graph.functions()) out.functions.push_back(f.name);
  const Library& library = graph.library();
  for (std::size_t i = 0; i < library.size(); ++i) out.codelet_names.push_back(library[CodeletId(static_cast<std::uint32_t>(i))].name);
  for (std::size_t i = 0; i < library.modules(); ++i)
    out.modules.push_back(library.module(ModuleId(static_cast<std::uint32_t>(i))).gp_bytes);
}

}  // namespace

namespace {
std::string kib(std::uint64_t bytes) {
  return bytes < 1024 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
}
}  // namespace

std::string OutOfMemory::message() const {
  std::string text = fmt::format(
      "out of memory on tile {}: {} of {}memory are needed and {} are there, {} too much; most is live at step '{}'", tile.value,
      kib(needed), region.empty() ? "" : region + " ", kib(available), kib(needed - std::min(needed, available)), step);
  if (largest.empty()) return text;
  text += "; the largest live there:";
  for (const auto& [name, bytes] : largest) text += fmt::format(" {} ({}),", name, kib(bytes));
  text.pop_back();
  return text;
}

namespace {

Result compile_verified(const graph::Graph& graph, const std::vector<graph::ProgramPtr>& programs, const Options& options,
                        const Progress begin) {
  Progress progress = begin;
  Plan plan{graph, options, std::make_shared<tile::Program>()};
  copy_tables(graph, programs.size(), *plan.out);

  assign_streams(plan, programs);  // every tile that the program uses belongs to one stream from here on
  progress.done(plan, Pass::assign_streams, fmt::format("{} streams", plan.out->streams.size()));

  lay_out_variables(plan);  // every mapped element has a shard and an offset
  progress.done(plan, Pass::lay_out_variables, fmt::format("{} shards", plan.shards.size()));

  lower_programs(plan, programs);  // steps with symbolic addresses; every byte they touch is in `accesses`
  progress.done(plan, Pass::lower_programs, fmt::format("{} actions, {} steps", plan.actions.size(), plan.orders));

  find_live_ranges(plan);  // shards are cut into fragments; each has a live range
  progress.done(plan, Pass::find_live_ranges, fmt::format("{} live ranges", plan.out->live_ranges.size()));

  place_memory(plan);  // fragments have addresses
  progress.done(plan, Pass::place_memory, plan.out_of_memory ? plan.out_of_memory->message() : "all tiles fit");
  if (plan.out_of_memory && plan.merged_copies) {
    // Copies at once need all their sources and destinations at once; one by one they may fit.
    Options one_by_one = options;
    one_by_one.merge_copies = false;
    return compile_verified(graph, programs, one_by_one, begin);
  }

  emit(plan);  // addresses are resolved; one instruction list per stream
  progress.done(plan, Pass::emit, fmt::format("{} exchanges, {} compute steps", plan.out->exchanges.size(), plan.out->computes.size()));

  if (options.validate)
    for (const std::string& fault : tile::verify(*plan.out, graph.library())) {
      std::fprintf(stderr, "pando: tile program: %s\n", fault.c_str());
      PANDO_CHECK(!"the compiler made a tile program that its verifier rejects");
    }
  return Result{std::move(plan.out), std::move(plan.out_of_memory), std::move(plan.name_lines), std::move(plan.other_lines)};
}

}  // namespace

Result compile(const graph::Graph& graph, const std::vector<graph::ProgramPtr>& programs, const Options& options) {
  Progress progress(options);
  graph::verify(graph, programs);
  progress.done("verify", fmt::format("{} variables, {} vertices", graph.variables().size(), graph.vertices().size()));
  return compile_verified(graph, programs, options, progress);
}

}  // namespace pando::compile
