// pando search: the best strategy for a training step on a machine.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <sstream>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/messages.h"
#include "base/text/counted.h"
#include "base/text/similar_names.h"
#include "cli/command_row.h"
#include "cli/shared/plan_report.h"
#include "cli/shared/search_program.h"
#include "cli/shared/stop_on_interrupt.h"
#include "cli/shared/transformer.h"
#include "cli/shared/words.h"
#include "ir/text/print.h"
#include "search/fit/stack_json.h"
#include "search/programs/bridge.h"
#include "search/search.h"
#include "search/settings/emit_settings.h"
#include "search/stack.h"
#include "simulate/cluster_json.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string model, machine, memory, by = "time", svg, report, why;
  // Of a program; its space is that of a transformer, too.
  ProgramArguments program;
  std::vector<std::int64_t> devices{8};
  std::size_t top = 5;
  bool says_top = false;
  std::int64_t batch = 0, seq = 0;
  std::string reach = "trainers", stack = "megatron";
  bool words = false, unfolded = false;
  bool frontier = false, brute_force = false, quiet = false, wide = false;
};

void show_progress(const search::Certificate& c) {
  fmt::print(stderr, "\r{} of {} points evaluated, {} excluded", c.evaluated, c.points, c.by_rule + c.by_memory + c.by_time);
}

// Over the line of progress, where there is one.
std::string clear_progress() { return isatty(STDERR_FILENO) ? fmt::format("\r{:60}\r", "") : std::string(); }

int run_program(Arguments& a, const simulate::Cluster& cluster) {
  ProgramArguments& p = a.program;
  if (a.batch != 0) throw CLI::ValidationError("--batch", "a program has its samples: of an ONNX model, say --dimension NAME=SIZE");
  p.input = a.model;
  p.svg = a.svg;
  p.report = a.report;
  p.why = a.why;
  p.quiet = a.quiet;
  p.devices = a.devices;
  p.machine = a.machine;
  p.by_price = a.by == "price";
  p.space.reach = a.wide ? search::Reach::everything : search::Reach::trainers;
  p.space.fold_from = a.unfolded ? 0 : p.space.fold_from;
  p.options = {.top = a.top,
               .proves_only_the_best = !a.says_top,
               .frontier = a.frontier || !a.svg.empty() || !a.report.empty(),
               .brute_force = a.brute_force,
               .keeps_when_stopped = true};
  if (!a.quiet && isatty(STDERR_FILENO)) p.options.progress = show_progress;
  return search_for_program(p, cluster);
}

// The winner in a trainer's words; or as a program: a GPT of these sizes, distributed.
void emit(const Arguments& a, const search::StrategyFacts& facts, const search::Strategy& s, double limit) {
  const auto [target, path] = emit_target_of(a.program.emit);
  if (target != nullptr) {
    if (target->folder != nullptr) {
      if (const std::string note = target->folder(facts, s, path); !note.empty()) complain_of("search", "note: " + note);
      return;
    }
    const search::Settings settings = target->settings(facts, s);
    write_file(path.empty() ? "-" : path, settings.text);
    for (const std::string& warning : search::warnings_of(facts, *target, s, settings, limit)) complain_of("search", "note: " + warning);
    const bool has_stack = std::ranges::find(search::stacks(), target->name, &search::Stack::name) != search::stacks().end();
    if (has_stack && !a.stack.starts_with(target->name))
      complain_of("search", fmt::format("note: the prediction is of stack {}; --stack {} predicts what {} does", a.stack, target->name,
                                        target->name));
    return;
  }
  const search::Strategy t = search::transforms_of(facts, s);
  const transform::Program whole = search::program_of(facts.model, facts.batch);
  search::check_can_be_written(whole, t, a.program.emit);
  write_file(a.program.emit, ir::print(transform::parallelise(whole, t).module));
  complain_of("search", fmt::format("{}: {}", a.program.emit, search::to_string(t, search::Spelling::whole)));
}

profile::DevicePlan plan_of(const Arguments& a, const search::StrategyFacts& facts, const search::Result& found, const std::string& why,
                            double limit) {
  const auto& [model, cluster, batch, memo, shapes] = facts;
  profile::DevicePlan plan{.title = fmt::format("{} on {} of {}", model.name, counted(a.program.space.devices, "device"), cluster.name),
                           .machine = cluster.name};
  const search::Report report = report_of(found);
  plan.text = search::to_table(report) + search::outside_of(a.program.space);
  plan.text +=
      found.best.empty() ? search::why_nothing(model, cluster, a.program.space, found) : search::rates_of(facts, found.best.front());
  plan.why_not = why;
  plan.memory_limit = limit;
  add_points(plan, report);
  if (!found.best.empty()) add_step(plan, facts, found.best.front().strategy);
  return plan;
}

// A trainer's name that is misspelt is no file's.
void check_emit(const std::string& emit) {
  const std::string name = emit.substr(0, emit.find(':'));
  if (emit.empty() || emit.find_first_of("./") != std::string::npos || search::find_emit_target(name) != nullptr) return;
  std::vector<std::string> targets;
  for (const search::EmitTarget& t : search::emit_targets()) targets.emplace_back(t.name);
  if (const std::vector<std::string> near = similar_names(name, targets); !near.empty())
    throw CLI::ValidationError(
        "--emit", fmt::format("'{}' is not known; the nearest is {} (a file's name has a folder or an end: ./{})", name, near[0], emit));
}

int run(Arguments& a) {
  if (!a.memory.empty()) a.program.space.memory = is_program(a.model) ? memory_of(a.memory) : device_memory_of(a.memory);
  const simulate::Cluster machine = simulate::cluster_of(a.machine);
  if (const auto [target, path] = emit_target_of(a.program.emit); target != nullptr && target->folder != nullptr && path.empty())
    throw CLI::ValidationError("--emit", fmt::format("{} writes files: {}:DIR is expected", target->name, target->name));
  check_emit(a.program.emit);
  if (is_program(a.model)) return run_program(a, machine);
  const simulate::Cluster cluster = a.stack == "none" ? machine : search::with_stack(machine, search::stack_of(a.stack));
  const search::Transformer model = transformer_of(a.model, a.seq);
  if (a.batch == 0) throw CLI::RequiredError("--batch");
  // Words that are none are found before the search.
  const search::StrategyFacts facts = search::facts_of(model, cluster, a.batch);
  search::Strategy asked;
  if (!a.why.empty()) {
    // What another number of devices would do is a question, too.
    asked = strategy_of("search", "--why-not", a.why, facts, a.devices.size() == 1 ? a.devices[0] : 0, a.batch).strategy;
  }
  a.program.space.batch = a.batch;
  a.program.space.reach = a.wide ? search::Reach::everything : search::reach_named(a.reach);
  const search::EmitTarget* const target = emit_target_of(a.program.emit).first;
  a.program.space.runnable = !a.program.emit.empty() && (target == nullptr || target->runnable);
  if (a.program.space.runnable) search::check_has_program(model);
  search::SearchOptions options{.top = a.top,
                                .frontier = a.frontier || !a.svg.empty() || !a.report.empty(),
                                .brute_force = a.brute_force,
                                .keeps_when_stopped = true};
  if (!a.quiet && isatty(STDERR_FILENO)) options.progress = show_progress;
  search::Result best;
  double lowest = 0;
  bool stopped = false;
  for (std::int64_t devices : a.devices) {
    if (stopped) break;
    search::Space space = a.program.space;
    space.devices = devices;
    const auto begin = std::chrono::steady_clock::now();
    search::Result r = search::search(model, cluster, space, options);
    stopped = r.certificate.stopped;
    if (!a.quiet) {
      fmt::print(stderr, "{}{}: {:.2f} s\n", clear_progress(), counted(devices, "device"),
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    if (a.devices.size() > 1) fmt::print("{}:\n{}", counted(devices, "device"), search::to_table(r));
    if (r.best.empty()) {
      if (best.best.empty()) best = std::move(r), a.program.space.devices = devices;
      continue;
    }
    // A device costs the same for every point; without a price, device-hours are compared.
    const auto& f = r.best.front();
    const double per_sample = f.estimate.seconds / static_cast<double>(a.batch);
    const double price = a.by == "price"
                             ? per_sample * static_cast<double>(devices) * (cluster.price_per_hour > 0 ? cluster.price_per_hour : 1)
                             : per_sample;
    if (best.best.empty() || price < lowest) {
      lowest = price;
      best = std::move(r);
      a.program.space.devices = devices;
    }
  }
  if (a.devices.size() == 1)
    fmt::print("{}{}", search::to_table(best), search::outside_of(a.program.space));
  else if (!best.best.empty())
    fmt::print("{}by {}: {}\n", search::outside_of(a.program.space), a.by, counted(a.program.space.devices, "device"));
  if (!best.best.empty()) fmt::print("{}", search::rates_of(facts, best.best.front()));
  if (best.best.empty()) fmt::print("{}", search::why_nothing(model, cluster, a.program.space, best));
  const std::string why =
      a.why.empty() ? "" : fmt::format("{}:\n  {}", a.why, search::why_not(model, cluster, a.program.space, asked, best));
  if (!why.empty()) fmt::print("why not {}", why);
  const double limit = a.program.space.memory > 0 ? a.program.space.memory : static_cast<double>(cluster.memory_bytes);
  if (!a.svg.empty()) write_file(a.svg, search::frontier_svg(report_of(best), limit));
  if (!a.report.empty()) write_plan(plan_of(a, facts, best, why, limit), a.report);
  if (!best.best.empty() && !a.program.emit.empty()) emit(a, facts, best.best.front().strategy, limit);
  if (stopped) return kInterrupted;
  return best.best.empty() ? kNo : 0;
}

// An option that counts for programs alone is a mistake beside a transformer's name.
void reject_options_of_programs(const CLI::App& command) {
  for (const CLI::Option* o : command.get_options()) {
    const std::string& text = o->get_description();
    if (o->count() > 0 && (text.starts_with("Of a program") || text.starts_with("Of an ONNX model")))
      throw CLI::ValidationError(o->get_name(), "it takes a program: an ONNX model or a module's text");
  }
}

// Numbers of devices that are compared.
void check_sizes(const Arguments& a) {
  std::vector<std::int64_t> sorted = a.devices;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw CLI::ValidationError("--devices", fmt::format("{} is given twice", *twice));
  if (a.by == "price" && a.devices.size() == 1)
    throw CLI::ValidationError("--by", "prices of several numbers of devices are compared; --devices has one");
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto a = std::make_shared<Arguments>();
  std::string models, machines;
  for (const auto& t : search::transformers()) models += " " + t.name;
  for (const auto& c : simulate::clusters()) machines += " " + c.name;
  std::string stacks;
  for (const auto& s : search::stacks()) stacks += " " + s.name;
  command->add_option(
      "model", a->model,
      "An ONNX model, a module's text (.txt, .pando), a transformer by name, its config.json (Hugging Face), or a JSON file of its sizes:" +
          models);
  command->add_option("--machine", a->machine,
                      "A machine by name, or a JSON file (pando machines lists them, pando calibrate measures one):" + machines);
  command->add_option("--devices", a->devices, "Devices; several numbers are compared")
      ->delimiter(',')
      ->check(at_least_one<std::int32_t>());
  add_batch(*command, a->batch, "Of a transformer: ");
  CLI::Option* const seq = add_seq_length(*command, a->seq, "Of a transformer: ");
  command->add_option("--memory", a->memory, "Memory of a device (28GB, 80GiB); the machine's without it");
  command->add_option("--require", a->program.space.require, "Only strategies with these values, as 't=8 recompute=full'");
  CLI::Option* const space =
      command
          ->add_option(
              "--space", a->reach,
              "Of a transformer: trainers (what a trainer can run), calculon (degrees that divide, as that search has them), everything "
              "(offload, and schedules and transfers that no trainer has, too)")
          ->check(one_of({"trainers", "calculon", "everything"}))
          ->capture_default_str();
  command
      ->add_option("--stack", a->stack,
                   "Of a transformer: the software that runs the step, which adds waiting and keeps memory:" + stacks + "; none: neither")
      ->capture_default_str();
  command->add_flag("--words", a->words, "Print the words of a strategy, with trainers' names for them");
  command->add_flag("--wide", a->wide, "All axes: of a transformer --space everything; of a program all schedules, more stages, offload")
      ->excludes(space);
  command->add_option("--by", a->by, "What is least: time, or price")->check(one_of({"time", "price"}))->capture_default_str();
  command
      ->add_option(
          "--top", a->top,
          "How many are shown. Without it, of a large program, the search ends when the best is proven: the others shown are the best of "
          "the points looked at")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command->add_flag("--frontier", a->frontier, "Show what no other beats in both time and memory");
  command->add_option("--svg", a->svg, "Draw memory against samples a second into a file");
  command->add_option("--report", a->report,
                      "Write a report: the certificate, the points found, the best one's schedule and memory (pando view shows it)");
  command->add_option("--why-not", a->why, "A strategy, flags of Megatron-LM, or TRAINER:FILE: why is it not the answer?");
  command->add_flag("--brute-force", a->brute_force, "Evaluate every point");
  command->add_flag("--quiet", a->quiet, "No progress");
  command
      ->add_option("--cost", a->program.cost,
                   "Of a program: what its ops cost. machine; compiled: each distinct piece of a point's program is compiled and run once "
                   "(pando simulate --help)")
      ->check(one_of({"machine", "compiled"}))
      ->capture_default_str();
  command->add_flag(
      "--unfolded", a->unfolded,
      "Of a program: make every point whole; large ones are estimated from a few of the equal layers and microbatches without it");
  ProgramArguments& p = a->program;
  std::string targets;
  for (const search::EmitTarget& t : search::emit_targets()) targets += fmt::format("; {}: {}", t.name, t.doc);
  command->add_option(
      "--emit", p.emit,
      "Write the best: FILE as a program (of a transformer: only what transforms can make is searched); of a transformer NAME "
      "or NAME:PATH, as one of these" +
          targets);
  command->add_option("--samples", p.samples, "Of a program: inputs that count samples, as name or name:dimension")->delimiter(',');
  command->add_option("--sequence", p.sequence, "Of a program: inputs that count positions, as name:dimension")->delimiter(',');
  command->add_option("--experts", p.experts, "Of a program: weights that count experts, as name:dimension")->delimiter(',');
  command->add_option("--loss", p.loss, "Of a program: the value that ends the forward pass; otherwise the first output");
  command->add_option("--dimension", p.dimensions, "Of an ONNX model: sizes of named dimensions, as name=size")->delimiter(',');
  command->add_option("--microbatches", p.space.most_microbatches, "Of a program: at most so many")
      ->check(at_least_one<std::int32_t>())
      ->capture_default_str();
  command
      ->add_option("--schedules", p.space.schedules,
                   "Of a program: pipeline schedules that are tried, by name (pando schedule --help); all; synthesised: made for what the "
                   "stages cost")
      ->delimiter(',');
  command
      ->add_option("--schedule-table", p.tables, "Of a program: a schedule as CSV that is tried, too, where its ranks and microbatches fit")
      ->check(CLI::ExistingFile);
  command
      ->add_option(
          "--cuts", p.space.cuts,
          "Of a program: also cut weights over the tensor axis along each dimension, or not at all; so many at once, one without a "
          "number")
      ->expected(0, 1)
      ->default_str("1")
      ->check(whole_number(0, 8));
  command
      ->add_option("--recompute-sets", p.space.recompute_sets,
                   "Also compute activations of some layers again, not of all (of a transformer: of the first layers of each stage); so "
                   "many sets of "
                   "layers at most for each kind of recomputation, 8 without a number")
      ->expected(0, 1)
      ->default_str("8")
      ->check(whole_number(0, 10'000));
  command->add_option("--first-device", p.space.first_device, "Of a program: the number of the first device")
      ->capture_default_str()
      ->check(whole_number(0, std::numeric_limits<std::int32_t>::max()));
  command->add_flag("--check", p.check, "Of a program: run the best and the sequential one in the interpreter; are they equal?");
  command->callback([a, command, seq, &invocation] {
    a->says_top = command->get_option("--top")->count() > 0;
    if (a->words) {
      if (invocation.arguments.size() > 2) throw CLI::ValidationError("--words", "it stands alone: nothing is searched");
      fmt::print("{}", search::words_page());
      return;
    }
    if (a->model.empty()) throw CLI::RequiredError("model");
    if (a->machine.empty()) throw CLI::RequiredError("--machine (pando machines lists them)");
    if (!is_program(a->model)) reject_options_of_programs(*command);
    for (const char* option : {"--space", "--stack"}) {
      if (is_program(a->model) && command->get_option(option)->count() > 0)
        throw CLI::ValidationError(option, "it takes a transformer's name or sizes");
    }
    if (is_program(a->model) && seq->count() > 0) throw CLI::ValidationError("--seq-length", "a program has its positions");
    check_sizes(*a);
    a->program.given = invocation.arguments;
    const StopOnInterrupt stop;
    try {
      invocation.status = run(*a);
    } catch (const Stopped&) {
      complain_of("search", "stopped before any strategy was looked at");
      invocation.status = kInterrupted;
    }
  });
}

}  // namespace

CommandRow command_search() {
  return {
      .name = "search",
      .group = CommandGroup::predict,
      .summary = "Find the best distribution of a training step, with a certificate",
      .describe = describe,
      .examples = {{"pando search gpt3-175b --machine h100 --devices 1024 --batch 1024", "the best strategies of a known transformer"},
                   {"pando search model.onnx --machine h100 --devices 4 --emit model4.pando",
                    "the best of a program, written as a program of four devices"},
                   {"pando search gpt3-13b --machine h100 --devices 16 --batch 64 --why-not d=16", "why a strategy is not the answer"},
                   {"pando search gpt3-13b --machine h100 --devices 16 --batch 64 --report plan.pando", "a report: pando view plan.pando"}},
      .statuses = {{"0", "found"},
                   {"1", "nothing fits, or --check found a difference"},
                   {"2", "the input or the command line is wrong"},
                   {"130", "stopped by Ctrl-C: what is printed is the best so far, with a bound of all that was not looked at"}},
  };
}

}  // namespace pando::cli
