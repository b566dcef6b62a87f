// pando schedule: makes, reads, checks, draws and writes tables of pipeline schedules.
#include <fmt/format.h>

#include <memory>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/messages.h"
#include "base/text/counted.h"
#include "cli/command_row.h"
#include "schedule/draw.h"
#include "schedule/generate.h"
#include "schedule/lower.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string input, name, output, svg;
  schedule::Shape shape;
  schedule::Costs costs;
  std::vector<double> memory;
  double columns = 1, released = 0;
  bool in_a_v = false, draw = false, lower = false, list = false;
  schedule::LowerOptions lowering;
};

schedule::Table table_of(const Arguments& a) {
  if (!a.input.empty()) return schedule::read_csv(read_file(a.input), a.input);
  if (!a.name.empty()) return schedule::generate(a.name, a.shape);
  schedule::Problem problem;
  problem.shape = a.shape;
  problem.in_a_v = a.in_a_v;
  problem.costs = a.costs;
  if (!a.memory.empty()) problem.memory = a.memory;
  problem.released = a.released;
  return schedule::synthesise(problem);
}

// Every schedule that has a name, with what its row says.
void print_list() {
  fmt::print("{:<22} {:<9} {:<6} {}\n", "name", "stages", "I, W", "order");
  for (const schedule::ScheduleRow* row : schedule::schedule_table()) {
    const std::string stages = row->stages_per_rank == 0 ? "any" : fmt::format("{}{}", row->stages_per_rank, row->in_a_v ? ", V" : "");
    fmt::print("{:<22} {:<9} {:<6} {} ({})\n", row->name, stages, row->splits_backward ? "apart" : "one", row->doc, row->source);
  }
}

int run(const Arguments& a) {
  const schedule::Table table = table_of(a);
  if (const auto broken = schedule::first_broken_rule(table)) {
    complain_of("schedule", fmt::format("{}: {}", broken->rule, broken->message));
    return kNo;
  }
  const auto stages = static_cast<std::size_t>(table.stages());
  schedule::Timing timing = schedule::replay(table, a.costs);
  timing.peak = schedule::peaks(table, a.released);
  const auto microbatches = table.microbatches();
  fmt::print("{}, {}, {} {}: makespan {:.9g}, longest rank {:.9g}, bubble {:.4f} %\n", counted(table.ranks.size(), "rank"),
             counted(stages, "stage"), microbatches, microbatches == 1 ? "microbatch" : "microbatches", timing.makespan, timing.span,
             100 * timing.bubble);
  fmt::print("activations at the most, in microbatches of a rank:");
  for (double p : timing.peak) fmt::print(" {:g}", p);
  fmt::print("\n");
  if (a.draw) fmt::print("{}", schedule::draw_text(table, timing, a.costs, a.columns));
  if (!a.output.empty()) write_file(a.output, schedule::write_csv(a.lower ? schedule::lower(table, a.lowering) : table));
  if (!a.svg.empty()) write_file(a.svg, schedule::draw_svg(table, timing, a.costs));
  return 0;
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto a = std::make_shared<Arguments>();
  std::string names;
  for (const std::string& n : schedule::names()) names += " " + n;
  CLI::Option* const input =
      command->add_option("input", a->input, "CSV: a line for each rank, cells <stage><F|I|W|B><microbatch> in order of execution");
  CLI::Option* const name =
      command->add_option("--name", a->name, "Make the schedule of this name:" + names + ", or synthesised:MEMORY[:F:I:W[:TRANSFER]]")
          ->excludes(input);
  CLI::Option* const ranks =
      command->add_option("--ranks", a->shape.ranks, "Pipeline ranks")->excludes(input)->check(at_least_one<std::int32_t>());
  command->add_option("--microbatches", a->shape.microbatches, "Microbatches")->needs(ranks)->check(at_least_one<std::int32_t>());
  command->add_option("--stages-per-rank", a->shape.stages_per_rank, "Stages on each rank")
      ->needs(ranks)
      ->capture_default_str()
      ->check(at_least_one<std::int32_t>());
  command
      ->add_option("--memory", a->memory,
                   "Without a name: the most activations that a rank may hold, in microbatches; one number, or one for each rank")
      ->excludes(name)
      ->delimiter(',')
      ->check(check_positive);
  command->add_option("--released", a->released, "The share of an activation that I gives back; W gives back the rest")
      ->check(check_not_negative)
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag("--v", a->in_a_v, "Without a name: rank r has stages r and 2 p - 1 - r")->excludes(name);
  command->add_option("--forward", a->costs.forward, "Cost of F: one, or one for each stage")->delimiter(',')->check(check_not_negative);
  command->add_option("--input-gradient", a->costs.input_gradient, "Cost of I")->delimiter(',')->check(check_not_negative);
  command->add_option("--weight-gradient", a->costs.weight_gradient, "Cost of W; B costs both")->delimiter(',')->check(check_not_negative);
  command->add_option("--transfer", a->costs.transfer, "Cost of a transfer between ranks")->check(check_not_negative);
  CLI::Option* const list =
      command->add_flag("--list", a->list, "List the schedules that have names: stages a rank, whether I and W stand apart, the order");
  list->excludes(input)->excludes(name)->excludes(ranks);
  command->add_flag("--draw", a->draw, "Draw it in time");
  command->add_option("--columns", a->columns, "Columns for one unit of cost")->check(check_positive);
  command->add_option("--svg", a->svg, "Draw it into a file");
  CLI::Option* const output = command->add_option("-o,--output", a->output, "Write the table as CSV; - is standard output");
  CLI::Option* const lower =
      command->add_flag("--lower", a->lower, "Write it with its transfers between ranks, and what data-parallel ranks do");
  lower->needs(output);
  command->add_flag("--defer", a->lowering.defer_receives, "With --lower: receive as late as possible")->needs(lower);
  command->add_flag("!--no-shards", a->lowering.shards, "With --lower: transfers alone")->needs(lower);
  command->callback([a, input, ranks, &invocation] {
    if (a->list) return print_list();
    if (input->count() == 0 && ranks->count() == 0) throw CLI::RequiredError("a CSV file, or --ranks");
    invocation.status = run(*a);
  });
}

}  // namespace

CommandRow command_schedule() {
  return {
      .name = "schedule",
      .group = CommandGroup::distribute,
      .summary = "Make, check, draw and write pipeline schedules",
      .describe = describe,
      .examples = {{"pando schedule --name 1F1B --ranks 4 --microbatches 8 --draw", "make one by name and draw it"},
                   {"pando schedule --ranks 4 --microbatches 8 --memory 3 -o mine.csv", "the best that holds three activations on a rank"},
                   {"pando schedule mine.csv", "check a table"}},
      .statuses = {{"0", "the schedule obeys all rules"},
                   {"1", "it breaks one, which the message names"},
                   {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
