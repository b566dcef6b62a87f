// pando simulate: times and memory of a placed program, without running it; and published measurements beside the model.
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/error.h"
#include "base/messages.h"
#include "base/text/counted.h"
#include "cli/command_row.h"
#include "cli/shared/compiled_costs.h"
#include "cli/shared/plan_report.h"
#include "cli/shared/transformer.h"
#include "ir/checks/read_module.h"
#include "search/fit/stack_json.h"
#include "search/search.h"
#include "search/settings/emit_settings.h"
#include "search/stack.h"
#include "search/timeline.h"
#include "simulate/cluster_json.h"
#include "simulate/costs/cost_model_planned.h"
#include "simulate/costs/flatten.h"
#include "simulate/ipu_cluster.h"
#include "simulate/observed/beside.h"
#include "simulate/observed/prediction.h"
#include "simulate/simulate.h"
#include "simulate/traces/chakra.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string input, machine = "selene", cost = "machine", table, trace, report, beside, into, chakra, validate, model, strategy;
  std::string fidelity = "ops", stack = "megatron";
  std::int64_t batch = 0, seq = 0, devices = 0, tiles = 64;
  // The whole command line.
  std::vector<std::string> given;
  bool unfolded = false, no_overlap = false, rows = false, ops = false;
};

void print_times(const simulate::Program& p, const simulate::Timeline& t) {
  fmt::print("{}, {} ({} run one by one): {:.9g} s\n", counted(p.used_devices().size(), "device"), counted(t.steps_covered, "step"),
             t.steps_run, t.seconds);
  fmt::print("{:>6} {:>14} {:>14} {:>14} {:>7}\n", "device", "ends", "computes", "transfers", "busy");
  for (const std::int32_t d : p.used_devices()) {
    const auto& x = t.devices[static_cast<std::size_t>(d)];
    fmt::print("{:>6} {:14.6g} {:14.6g} {:14.6g} {:6.1f}%\n", d, x.end, x.computing, x.transferring,
               t.seconds > 0 ? 100 * x.computing / t.seconds : 0);
  }
}

void print_memory(const simulate::Program& p, const std::vector<simulate::DeviceMemory>& all) {
  fmt::print("{:>6} {:>14}", "device", "peak bytes");
  for (std::size_t k = 0; k < simulate::kMemoryKinds; ++k) fmt::print(" {:>13}", simulate::name_of(static_cast<simulate::MemoryKind>(k)));
  fmt::print("\n");
  for (const std::int32_t d : p.used_devices()) {
    const simulate::DeviceMemory& m = all[static_cast<std::size_t>(d)];
    fmt::print("{:>6} {:>14}", d, m.peak);
    for (std::int64_t b : m.at_peak) fmt::print(" {:>13}", b);
    fmt::print("\n");
  }
}

std::unique_ptr<simulate::CostModel> model_of(const Arguments& a, const simulate::Cluster& cluster) {
  if (a.cost == "reference") return std::make_unique<simulate::ReferenceCostModel>();
  if (a.cost == "reference-dgx2") return std::make_unique<simulate::ReferenceCostModel>(simulate::reference_dgx2());
  return std::make_unique<simulate::ClusterCostModel>(cluster);
}

// The last one looks at those before it.
using Costs = std::vector<std::unique_ptr<simulate::CostModel>>;

Costs costs_of(const Arguments& a, const simulate::Cluster& cluster) {
  Costs costs;
  costs.push_back(model_of(a, cluster));
  if (a.cost == "plans") {
    const auto ipu = simulate::ipu_named(a.machine);
    if (!ipu)
      fail(ErrorKind::poplar_error, "cost-plans", "--cost plans needs a machine with tiles, such as ipu2 or ipu2:64, not '{}'", a.machine);
    costs.push_back(std::make_unique<simulate::PlannedCostModel>(*costs.back(), *ipu));
  }
  if (a.cost == "compiled") {
    costs.push_back(compiled_costs(*costs.back(), a.machine));
    if (!costs.back()) become("pando-measure", a.given);
  }
  if (!a.table.empty()) costs.push_back(std::make_unique<simulate::TableCostModel>(*costs.back(), read_file(a.table), a.table));
  return costs;
}

// A step of a transformer under a strategy, without a program.
int run_model(const Arguments& a) {
  const search::Transformer model = transformer_of(a.model, a.seq);
  const simulate::Cluster machine = simulate::cluster_of(a.machine),
                          cluster = a.stack == "none" ? machine : search::with_stack(machine, search::stack_of(a.stack));
  const search::ReadSettings settings =
      strategy_of("simulate", "--strategy", a.strategy, search::facts_of(model, cluster, a.batch), a.devices, a.batch);
  check_devices(settings.strategy, a.devices);
  const search::Strategy& s = settings.strategy;
  if (settings.batch == 0) throw CLI::RequiredError("--batch");
  const search::StrategyFacts facts = search::facts_of(model, cluster, settings.batch);
  if (const search::Violation v = search::first_violation(facts, s)) {
    complain_of("simulate", fmt::format("{}: {}", v.rule, v.message));
    return kNo;
  }
  search::Result r;
  r.samples = facts.batch;
  r.best.push_back({s, search::estimate(facts, s), 0});
  const std::string text = search::to_table(r) + search::rates_of(facts, r.best.front());
  const double needs = r.best.front().estimate.memory_bytes(), has = static_cast<double>(cluster.memory_bytes);
  fmt::print("{}", text);
  if (needs > has) {
    complain_of("simulate", fmt::format("note: it does not fit: {:.2f} GiB of {:.2f}; pando memory says what would make it fit",
                                        needs / search::kGib, has / search::kGib));
  }
  if (!a.trace.empty()) write_file(a.trace, search::chrome_trace(search::timeline_of(facts, s)));
  if (!a.report.empty()) {
    profile::DevicePlan plan{.title = fmt::format("{} on {} of {}", model.name, counted(s.devices(), "device"), cluster.name),
                             .machine = cluster.name};
    plan.text = text;
    plan.memory_limit = static_cast<double>(cluster.memory_bytes);
    add_step(plan, facts, s);
    write_plan(plan, a.report);
  }
  return 0;
}

// Only machines of tiles have a cycle model.
void run_cycles(const Arguments& a) {
  const std::string machine = a.machine == "selene" ? "ipu2" : a.machine;
  const auto ipu = simulate::ipu_named(machine);
  if (!ipu)
    fail(ErrorKind::poplar_error, "cycles-machine", "--fidelity cycles needs a machine with tiles, such as ipu2, not '{}'", machine);
  // "ipu2:64" says how many tiles.
  const std::size_t colon = machine.find(':');
  const std::string tiles = colon == std::string::npos ? std::to_string(a.tiles) : std::to_string(ipu->tiles_per_ipu);
  become("pando-measure", {"program", a.input, "--machine", machine.substr(0, colon), "--tiles", tiles});
}

int run(const Arguments& a) {
  if (!a.model.empty()) return run_model(a);
  if (a.fidelity == "cycles") run_cycles(a);
  if (!a.validate.empty()) {
    std::vector<std::string> arguments{"published", a.validate};
    if (a.rows) arguments.emplace_back("--rows");
    become("pando-measure", arguments);
  }
  const ir::Module module = ir::read_module(read_file(a.input), a.input, ir::ModuleRules::of_devices);
  const simulate::Cluster cluster = simulate::cluster_of(a.machine);
  const Costs costs = costs_of(a, cluster);
  const simulate::Program p = simulate::flatten(module, *costs.back());
  const bool trace = !a.trace.empty() || !a.beside.empty() || !a.report.empty() || !a.into.empty();
  const simulate::Timeline t =
      a.cost.starts_with("reference")
          ? simulate::run_reference_clock(p, trace)
          : simulate::run_clock(p, cluster,
                                {.folded = !a.unfolded, .overlap = !a.no_overlap && costs.back()->overlaps(), .record_events = trace});
  print_times(p, t);
  const std::vector<simulate::DeviceMemory> memory = simulate::measure_memory(p, !a.unfolded);
  print_memory(p, memory);
  fmt::print("{}", costs.back()->report());
  if (a.ops) {
    for (const auto& [name, n] : p.histogram()) fmt::print("{:>10} {}\n", n, name);
  }
  std::vector<simulate::MeasuredEvent> measured;
  if (!a.beside.empty()) {
    measured = simulate::read_trace(read_file(a.beside), a.beside);
    fmt::print("{}", simulate::compare(p, t, measured));
  }
  if (!a.trace.empty()) write_file(a.trace, measured.empty() ? simulate::chrome_trace(p, t) : simulate::chrome_trace(p, t, measured));
  if (!a.report.empty()) {
    profile::DevicePlan plan{.title = fmt::format("{} on {} of {}", a.input, counted(p.used_devices().size(), "device"), cluster.name),
                             .machine = cluster.name};
    plan.memory_limit = static_cast<double>(cluster.memory_bytes);
    add_timeline(plan, module, p, t, memory);
    write_plan(plan, a.report);
  }
  if (!a.into.empty()) {
    simulate::add_prediction(a.into,
                             simulate::prediction(p, t, cluster.name, fmt::format("--cost {}\n{}", a.cost, costs.back()->report())));
  }
  if (!a.chakra.empty()) {
    const simulate::ChakraGroups groups = simulate::chakra_groups(p);
    for (std::int32_t d = 0; d < p.devices(); ++d) write_file(fmt::format("{}.{}.et", a.chakra, d), simulate::chakra_trace(p, groups, d));
    write_file(a.chakra + ".groups.json", simulate::to_json(groups));
  }
  return 0;
}

// An option that would not count is a mistake.
void reject_idle_options(const CLI::App& command, bool validates, bool is_model, bool cycles) {
  const auto reject = [&](std::initializer_list<const char*> names, const char* why) {
    for (const char* name : names) {
      if (command.get_option(name)->count() > 0) throw CLI::ValidationError(name, why);
    }
  };
  if (validates || is_model) {
    reject({"--cost", "--table", "--fidelity", "--tiles", "--unfolded", "--no-overlap", "--ops", "--beside", "--into", "--chakra"},
           "it takes a program");
  }
  if (command.get_option("--cost")->as<std::string>().starts_with("reference"))
    reject({"--machine", "--no-overlap"}, "the reference's costs have constants of their own");
  if (validates) reject({"--machine", "--trace", "--report"}, "published measurements have their machines");
  if (cycles && command.get_option("--machine")->as<std::string>().find(':') != std::string::npos)
    reject({"--tiles"}, "the machine's name says how many");
  if (cycles)
    reject({"--cost", "--table", "--unfolded", "--no-overlap", "--ops", "--beside", "--into", "--chakra", "--trace", "--report"},
           "the cycle model has no such choice");
  else
    reject({"--tiles"}, "it takes --fidelity cycles");
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto a = std::make_shared<Arguments>();
  std::string machines;
  for (const auto& c : simulate::clusters()) machines += " " + c.name;
  CLI::Option* const input = command->add_option("input", a->input, "A module's text, its values placed on devices");
  command
      ->add_option("--machine", a->machine, "A machine by name, or a JSON file (pando calibrate writes one); --model needs one:" + machines)
      ->capture_default_str();
  command
      ->add_option("--cost", a->cost,
                   "machine; compiled (each distinct piece of the program is compiled and run once, on the cycle model of --machine "
                   "ipu2, or on this host with --machine host.json of pando calibrate); "
                   "plans (machine, but products and convolutions as they are cut over the tiles of --machine ipu2); "
                   "reference (DistIR's, with its default constants); reference-dgx2 (with those of its published grid)")
      ->check(one_of({"machine", "compiled", "plans", "reference", "reference-dgx2"}))
      ->capture_default_str();
  command->add_option("--table", a->table, "Measured ops: a CSV of signatures and seconds, which go before the model");
  command
      ->add_option("--fidelity", a->fidelity,
                   "ops; cycles (also compiles the program to tiles of --machine ipu2 and runs it against the cycle model)")
      ->check(one_of({"ops", "cycles"}))
      ->capture_default_str();
  command->add_option("--tiles", a->tiles, "With --fidelity cycles: tiles of each IPU; 0: the machine's")
      ->check(whole_number(0, 1472))
      ->capture_default_str();
  command->add_flag("--unfolded", a->unfolded, "Run every step, equal ones too (the result is the same)");
  command->add_flag("--no-overlap", a->no_overlap, "Transfers and computing exclude each other");
  command->add_flag("--ops", a->ops, "Count the ops by name");
  command->add_option("--trace", a->trace, "Write a trace for Perfetto or chrome://tracing");
  command->add_option("--report", a->report, "Write a report: when each device does what, what its memory holds (pando view shows it)");
  command->add_option(
      "--beside", a->beside,
      "A trace that was measured (run.py --trace of pando emit): print it beside the prediction by op; --trace writes both");
  command->add_option("--into", a->into,
                      "Put the prediction into this report of a run of the program (pando run --profile): pando view shows the clocks "
                      "side by side");
  command->add_option("--chakra", a->chakra,
                      "Write a Chakra execution trace for each device: PREFIX.0.et, ...; groups of collectives: PREFIX.groups.json");
  CLI::Option* const validate =
      command->add_option("--validate", a->validate, "A folder of published measurements: print them beside the model's predictions");
  command->add_flag("--rows", a->rows, "With --validate: every row")->needs(validate);
  CLI::Option* const model = command->add_option(
      "--model", a->model,
      "Instead of a program: a step of this transformer: a name, a config.json, a JSON file of sizes (see pando search)");
  CLI::Option* const strategy =
      command
          ->add_option("--strategy", a->strategy, "With --model: as 't=8 p=8 d=16 recompute=full', flags of Megatron-LM, or TRAINER:FILE")
          ->needs(model);
  command->add_option("--devices", a->devices, "With --model: devices, for settings of a trainer that do not say how many")
      ->needs(model)
      ->check(at_least_one<std::int32_t>());
  add_batch(*command, a->batch, "With --model: ")->needs(model);
  add_seq_length(*command, a->seq, "With --model: ")->needs(model);
  std::string stacks;
  for (const auto& s : search::stacks()) stacks += " " + s.name;
  command
      ->add_option("--stack", a->stack,
                   "With --model: the software that runs the step, which adds waiting and keeps memory:" + stacks + "; none: neither")
      ->needs(model)
      ->capture_default_str();
  model->needs(strategy);
  command->callback([a, command, input, validate, model, &invocation] {
    const std::size_t subjects = input->count() + validate->count() + model->count();
    if (subjects == 0) throw CLI::RequiredError("a program, --model, or --validate DIR");
    if (subjects > 1) throw CLI::ValidationError("simulate", "a program, --model and --validate exclude each other; one is expected");
    if (model->count() > 0 && command->get_option("--machine")->count() == 0)
      throw CLI::RequiredError("--machine (pando machines lists them)");
    reject_idle_options(*command, validate->count() > 0, model->count() > 0, a->fidelity == "cycles");
    a->given = invocation.arguments;
    invocation.status = run(*a);
  });
}

}  // namespace

CommandRow command_simulate() {
  return {
      .name = "simulate",
      .group = CommandGroup::predict,
      .summary = "Predict times and memory of a placed program",
      .describe = describe,
      .examples = {{"pando simulate four.pando --machine bow-pod", "seconds and bytes of each device"},
                   {"pando simulate four.pando --machine ipu2:64 --cost compiled", "with what its ops cost when they are compiled"},
                   {"pando simulate four.pando --trace trace.json", "a timeline for Perfetto"},
                   {"pando simulate four.pando --report four.report", "a report: pando view four.report shows schedule and memory"},
                   {"pando simulate --model gpt3-175b --machine h100 --strategy 't=8 p=8 d=16' --batch 1024",
                    "a transformer under a strategy, without a program"}},
      .statuses = {{"0", "predicted"},
                   {"1", "the strategy breaks a rule, which the message names"},
                   {"2", "the input or the command line is wrong"}},
  };
}

}  // namespace pando::cli
