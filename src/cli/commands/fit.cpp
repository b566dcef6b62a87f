// pando fit: the constants of a stack from steps that a user timed.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "cli/command_row.h"
#include "search/fit/fit.h"
#include "search/fit/stack_json.h"
#include "simulate/cluster_json.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string steps, machine, stack = "megatron", words, output, name;
};

int run(const Arguments& a) {
  const simulate::Cluster machine = simulate::cluster_of(a.machine);
  const search::Stack from = search::stack_of(a.stack);
  const search::TimedSteps steps = search::timed_steps(simulate::Csv::read(read_file(a.steps), a.steps), a.steps, machine, a.words);
  for (const std::string& row : steps.left_out) complain_of("fit", "left out: " + row);
  search::Fit fit = search::fit_stack(steps.rows, machine, from);
  fmt::print("{} {}, {} {} of {}\n{}", machine.name, from.name, steps.rows.size(), steps.rows.size() == 1 ? "row" : "rows", a.steps,
             search::to_text(fit, machine));
  if (a.output.empty()) return 0;
  fit.stack.name = a.name.empty() ? std::filesystem::path(a.output).stem().string() : a.name;
  write_file(a.output, search::to_json(fit.stack));
  return 0;
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto a = std::make_shared<Arguments>();
  command
      ->add_option("steps", a->steps,
                   "A CSV of timed steps: model (or layers, hidden, heads, seq ...), strategy (or tp, pp, dp ...), global_batch, step_s")
      ->required();
  command->add_option("--machine", a->machine, "The machine that ran them, by name or as a JSON file (pando machines lists them)");
  command->add_option("--stack", a->stack, "What the constants begin with, and what is not fitted: a stack by name, or a JSON file")
      ->capture_default_str();
  command->add_option("--words", a->words, "Words of a strategy that hold for all rows and that no column says, as 'zero=3 data-overlap'");
  CLI::Option* const output = command->add_option("-o,--output", a->output, "Write the stack as a JSON file, for --stack");
  command->add_option("--name", a->name, "The stack's name in it; the file's without it")->needs(output);
  command->callback([a, &invocation] {
    if (a->machine.empty()) throw CLI::RequiredError("--machine (pando machines lists them)");
    invocation.status = run(*a);
  });
}

}  // namespace

CommandRow command_fit() {
  return {
      .name = "fit",
      .group = CommandGroup::predict,
      .summary = "Fit a stack's constants to steps that you timed",
      .describe = describe,
      .examples = {{"pando fit steps.csv --machine h100 --stack torchtitan -o mine.json",
                    "how far each row is off, and a stack for --stack"},
                   {"pando search llama3-8b --machine h100 --stack mine.json --devices 64 --batch 512", "a search with it"}},
      .statuses = {{"0", "fitted"}, {"2", "the table or the command line is wrong"}},
  };
}

}  // namespace pando::cli
