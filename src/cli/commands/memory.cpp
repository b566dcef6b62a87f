// pando memory: what a training step needs of each device, before it is launched.
#include <fmt/format.h>

#include <memory>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/error.h"
#include "base/messages.h"
#include "base/text/counted.h"
#include "cli/command_row.h"
#include "cli/shared/transformer.h"
#include "cli/shared/words.h"
#include "search/fit/stack_json.h"
#include "search/memory/memory_report.h"
#include "search/search.h"
#include "search/settings/emit_settings.h"
#include "search/stack.h"
#include "simulate/cluster_json.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string model, machine, strategy, stack = "megatron", memory, csv;
  std::int64_t devices = 0, batch = 0, seq = 0;
};

// The quickest that fits; or, where nothing does, what needs least.
search::Strategy chosen(const search::StrategyFacts& f, const Arguments& a, double limit) {
  if (a.batch == 0) throw CLI::RequiredError("--batch, or a --strategy that says it,");
  search::Space space;
  space.devices = a.devices, space.batch = a.batch, space.memory = limit;
  const search::Result r = search::search(f.model, f.cluster, space);
  if (!r.best.empty()) return r.best.front().strategy;
  if (r.least) return r.least->strategy;
  fail(ErrorKind::poplar_error, "memory-strategy", "no strategy of {} and a batch of {} keeps the rules; say --strategy",
       counted(a.devices, "device"), a.batch);
}

void print_fit(const search::StrategyFacts& f, const search::Strategy& s, const search::Estimate& e, double limit, double whole) {
  const std::string kept =
      whole > limit ? fmt::format(" ({:.2f} less what the context, collectives and the allocator keep)", whole / search::kGib) : "";
  const double needs = e.memory_bytes();
  if (e.fits(limit, f.cluster)) {
    fmt::print("it fits: the fullest device (rank {}) needs {:.2f} of {:.2f} GiB{}, {:.2f} are left; {:.4g} s a step\n", e.fullest_stage,
               needs / search::kGib, limit / search::kGib, kept, (limit - needs) / search::kGib, e.seconds);
    return;
  }
  if (needs > limit) {
    fmt::print("it does not fit: the fullest device (rank {}) needs {:.2f} of {:.2f} GiB{}, {:.2f} more than it has\n", e.fullest_stage,
               needs / search::kGib, limit / search::kGib, kept, (needs - limit) / search::kGib);
  } else {
    fmt::print("it does not fit: {:.2f} GiB are offloaded to a second memory of {:.2f}\n", e.far_bytes / search::kGib,
               static_cast<double>(f.cluster.far_bytes) / search::kGib);
  }
  const std::vector<search::FittingChange> changes = search::changes_that_fit(f, s, limit);
  if (changes.empty())
    fmt::print("no change of one or two words makes it fit; pando search looks at all strategies, also of more --devices\n");
  for (std::size_t i = 0; i < std::min<std::size_t>(3, changes.size()); ++i) {
    fmt::print("{} {}: {:.2f} GiB, {:.4g} s a step ({:+.1f} %)\n",
               i == 0 ? "what would do, the quickest first:" : "                               or", changes[i].words,
               changes[i].estimate.memory_bytes() / search::kGib, changes[i].estimate.seconds,
               100 * (changes[i].estimate.seconds / e.seconds - 1));
  }
}

int run(Arguments a) {
  const simulate::Cluster machine = simulate::cluster_of(a.machine),
                          cluster = a.stack == "none" ? machine : search::with_stack(machine, search::stack_of(a.stack));
  search::Transformer model = transformer_of(a.model, a.seq);
  search::LayerMemo memo;
  search::StrategyFacts facts = search::facts_of(model, cluster, a.batch, &memo);
  const double limit = a.memory.empty() ? static_cast<double>(cluster.memory_bytes) : device_memory_of(a.memory);
  search::Strategy s;
  if (a.strategy.empty()) {
    if (a.devices == 0) throw CLI::RequiredError("--devices, or a --strategy,");
    s = chosen(facts, a, limit);
  } else {
    const search::ReadSettings r = strategy_of("memory", "--strategy", a.strategy, facts, a.devices, a.batch);
    s = r.strategy;
    facts.batch = r.batch;
    if (facts.batch == 0) throw CLI::RequiredError("--batch");
    check_devices(s, a.devices);
  }
  if (const search::Violation v = search::first_violation(facts, s)) {
    complain_of("memory", fmt::format("{}: {}", v.rule, v.message));
    return kNo;
  }
  fmt::print("{}: {:.4g} billion parameters, {} of {} on {} {}\n{}\n", model.name, model.parameters() / 1e9, counted(facts.batch, "sample"),
             counted(model.seq, "token"), s.devices(), cluster.name, search::to_string(s, search::Spelling::brief));
  for (const std::string& note : model.notes) fmt::print("note: {}\n", note);
  const std::vector<search::RankMemory> ranks = search::memory_of_ranks(facts, s);
  fmt::print("{}", search::memory_table(ranks));
  if (!a.csv.empty()) write_file(a.csv, search::memory_csv(ranks));
  const search::Estimate e = search::estimate(facts, s);
  print_fit(facts, s, e, limit, a.memory.empty() ? static_cast<double>(machine.memory_bytes) : limit);
  return e.fits(limit, cluster) ? 0 : kNo;
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto a = std::make_shared<Arguments>();
  command->add_option("model", a->model, "A transformer by name, its config.json (Hugging Face), or a JSON file of its sizes")->required();
  command->add_option("--machine", a->machine, "A machine by name, or a JSON file (pando machines lists them)")->required();
  command->add_option("--devices", a->devices, "Devices")->check(at_least_one<std::int32_t>());
  add_batch(*command, a->batch, "");
  add_seq_length(*command, a->seq, "");
  command->add_option(
      "--strategy", a->strategy,
      "As 't=8 p=8 d=16 recompute=full' (pando search --words), flags of Megatron-LM, or TRAINER:FILE; otherwise the quickest "
      "that fits");
  command->add_option("--stack", a->stack, "The software that runs the step, which keeps memory; none: nothing is kept")
      ->capture_default_str();
  command->add_option("--memory", a->memory, "Memory of a device (28GB, 80GiB); the machine's, less what the stack keeps, without it");
  command->add_option("--csv", a->csv, "Write bytes by rank and kind into a file; - is standard output");
  command->callback([a, &invocation] { invocation.status = run(*a); });
}

}  // namespace

CommandRow command_memory() {
  return {
      .name = "memory",
      .group = CommandGroup::predict,
      .summary = "What a training step needs of each device's memory, and what makes it fit",
      .describe = describe,
      .examples = {{"pando memory llama3-8b --machine h100 --devices 64 --batch 512", "of the quickest strategy that fits"},
                   {"pando memory config.json --seq-length 8192 --machine h100 --strategy d=64 --batch 512", "of this one"}},
      .statuses = {{"0", "it fits"}, {"1", "it does not fit"}, {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
