// pando-measure: predictions beside runs. `pando measure`, `pando simulate --fidelity cycles` and --validate, and
// --cost compiled of `pando simulate` and `pando search` become it.
//
//     pando-measure program FILE --machine ipu2 --tiles 64      one placed program: predicted, and by the cycle model
//     pando-measure ipus | host | ranks [--svg FILE]            many, with their correlation
//     pando-measure published DIR [--rows]                      published measurements beside what the model says of them
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/command/help.h"
#include "base/error.h"
#include "base/messages.h"
#include "cli/command_row.h"
#include "cli/shared/compiled_costs.h"
#include "ir/checks/read_module.h"
#include "measure/grid.h"
#include "measure/published/published.h"
#include "measure/run.h"
#include "simulate/cluster_json.h"
#include "simulate/costs/flatten.h"
#include "simulate/simulate.h"

namespace pando::cli {
CommandRow command_simulate();
CommandRow command_search();
}  // namespace pando::cli

namespace {

using namespace pando;

struct Arguments {
  std::string input, machine = "ipu2", host, svg, only, folder, cost = "machine";
  std::int64_t tiles = 64;
  double seconds = 20;
  bool profile = false, rows = false;
};

std::string cluster_name(const Arguments& a) { return a.tiles > 0 ? fmt::format("{}:{}", a.machine, a.tiles) : a.machine; }

// What `--cost` names, on a cluster.
class Costs {
 public:
  Costs(const Arguments& a, const simulate::Cluster& cluster, const std::string& machine) : formula_(cluster) {
    if (a.cost == "compiled") compiled_ = cli::compiled_costs(formula_, machine);
  }
  const simulate::CostModel& model() const { return compiled_ ? *compiled_ : static_cast<const simulate::CostModel&>(formula_); }

 private:
  simulate::ClusterCostModel formula_;
  std::unique_ptr<simulate::CostModel> compiled_;
};

void program(const Arguments& a) {
  const ir::Module m = ir::read_module(read_file(a.input), a.input, ir::ModuleRules::of_devices);
  const simulate::Cluster cluster = simulate::cluster_of(cluster_name(a));
  const Costs costs(a, cluster, cluster_name(a));
  const simulate::Program simulated = simulate::flatten(m, costs.model());
  const simulate::Timeline t = simulate::run_clock(simulated, cluster, {.overlap = costs.model().overlaps()});
  fmt::print("{}", costs.model().report());
  std::string text;
  const measure::IpuRun r = measure::run_on_ipus(m, a.machine, a.tiles, &text);
  fmt::print("{}: simulated {:.6g} s; compiled to tiles, by the cycle model {:.6g} s ({} cycles on {} IPUs); difference {:+.1f} %\n",
             cluster.name, t.seconds, r.seconds, r.cycles, static_cast<std::int64_t>(simulated.used_devices().size()) * m.replicas(),
             100 * (t.seconds / r.seconds - 1));
  if (a.profile) fmt::print("{}", text);
}

void report(const Arguments& a, const measure::Grid& g, const std::string& title) {
  fmt::print("{}\n", measure::summary(g));
  if (!a.svg.empty()) write_file(a.svg, measure::scatter_svg(g, title));
}

void show(const measure::Pair& p) {
  fmt::print("{}\n", measure::to_text(p));
  std::fflush(stdout);
}

std::vector<measure::Configuration> chosen(const Arguments& a, std::vector<measure::Configuration> all) {
  if (!a.only.empty()) std::erase_if(all, [&](const measure::Configuration& x) { return x.what.find(a.only) == std::string::npos; });
  if (all.size() < 2)
    fail(ErrorKind::invalid_option, "too-few-configurations", "{} of the configurations have '{}' in their names", all.size(), a.only);
  return all;
}

void ipus(const Arguments& a) {
  const simulate::Cluster cluster = simulate::cluster_of(cluster_name(a));
  const Costs costs(a, cluster, cluster_name(a));
  const auto g = measure::compare_on_ipus(chosen(a, measure::ipu_configurations()), cluster, a.machine, a.tiles, show, &costs.model());
  fmt::print("{}", costs.model().report());
  report(a, g, fmt::format("simulated against the cycle model, {}", cluster_name(a)));
}

void host(const Arguments& a, measure::HostRun how) {
  const simulate::Cluster c = a.host.empty() ? measure::calibrate_runs(0.2 * a.seconds, how) : simulate::cluster_of(a.host);
  const Costs costs(a, c, "");
  const auto all = chosen(a, measure::host_configurations());
  const auto g = measure::compare_on_host(all, c, 0.8 * a.seconds / static_cast<double>(all.size()), show, how, &costs.model());
  fmt::print("{}", costs.model().report());
  report(a, g, how == measure::HostRun::ranks ? "simulated against MPI ranks on this host" : "simulated against this host");
}

// A command with --cost compiled, whose command line this is.
int run_here(const cli::CommandRow& row, int argc, char** argv) {
  CLI::App app{"Pando", "pando"};
  cli::Invocation invocation;
  row.describe(app.add_subcommand(std::string(row.name)), invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) { return explain(app, error); } catch (const std::exception& error) {
    cli::complain_of(row.name, error.what());
    return cli::kWrong;
  }
  return invocation.status;
}

}  // namespace

int main(int argc, char** argv) {
  for (const cli::CommandRow& row : {cli::command_simulate(), cli::command_search()}) {
    if (argc > 1 && row.name == argv[1]) return run_here(row, argc, argv);
  }
  CLI::App app{"Predictions beside runs", "pando measure"};
  app.require_subcommand(1);
  const std::string footer =
      help_footer({{"pando measure program four.pando --tiles 64", "one program: simulated, and run against the cycle model"},
                   {"pando measure ipus --svg ipus.svg", "networks on 2 to 16 IPUs, drawn as predicted against measured"},
                   {"pando measure published tests/data/distribution", "published measurements beside the model's predictions"},
                   {"pando measure host --seconds 30", "networks on threads of this host"}},
                  {{"0", "measured"}, {"2", "the input or the command line is wrong"}});
  app.footer(footer);
  Arguments a;
  const auto machine = [&](CLI::App* c) {
    c->add_option("--machine", a.machine, "IPUs that pando machines lists")->capture_default_str();
    c->add_option("--tiles", a.tiles, "Of each IPU; 0: the machine's")->check(whole_number(0, 1472))->capture_default_str();
  };
  CLI::App* const one = app.add_subcommand("program", "A placed program: simulated, and compiled to tiles and run against the cycle model");
  one->add_option("input", a.input, "A module's text, its values placed on devices")->required();
  one->add_flag("--profile", a.profile, "Print the report of the run: memory, steps, cycles");
  machine(one);
  CLI::App* const many = app.add_subcommand("ipus", "MLPs and small GPTs on 2 to 16 IPUs, against the cycle model");
  machine(many);
  CLI::App* const here = app.add_subcommand("host", "MLPs and small GPTs on one and two threads of this host, against its clock");
  CLI::App* const ranks =
      app.add_subcommand("ranks", "MLPs and small GPTs on one and two ranks (pando run, mpirun), against this host's clock");
  for (CLI::App* c : {here, ranks}) {
    c->add_option("--host", a.host, "A JSON file of pando calibrate; without it the host is calibrated first");
    c->add_option("--seconds", a.seconds, "For how long, without starting processes")
        ->check(check_positive)
        ->check(CLI::Range(1.0, 3600.0))
        ->capture_default_str();
  }
  CLI::App* const published = app.add_subcommand("published", "Published measurements beside what the model says of them");
  published->add_option("folder", a.folder, "A folder of tables, such as tests/data/distribution")->required();
  published->add_flag("--rows", a.rows, "Every row");
  for (CLI::App* c : {many, here, ranks}) {
    c->add_option("--only", a.only, "Configurations with this text in their names");
    c->add_option("--svg", a.svg, "Draw predicted against measured into a file");
  }
  for (CLI::App* c : {one, many, here}) {
    c->add_option("--cost", a.cost,
                  "What is predicted with: machine (operations and bytes of each op), or compiled (each distinct piece of the program is "
                  "compiled and run once)")
        ->check(one_of({"machine", "compiled"}))
        ->capture_default_str();
  }
  for (CLI::App* c : {one, many, here, ranks, published}) c->footer(footer);
  one->callback([&] { program(a); });
  many->callback([&] { ipus(a); });
  here->callback([&] { host(a, measure::HostRun::sessions); });
  published->callback([&] { fmt::print("{}", measure::to_markdown(measure::compare_published(a.folder), a.rows)); });
  ranks->callback([&] { host(a, measure::HostRun::ranks); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) { return explain(app, error); } catch (const std::exception& error) {
    complain(fmt::format("pando measure: {}", error.what()));
    return 2;
  }
  return 0;
}
