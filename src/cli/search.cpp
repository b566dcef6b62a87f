// pando search: the best strategy for a training step on a machine.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <sstream>

#include "cli/commands.h"
#include "cli/files.h"
#include "search/search.h"
#include "simulate/cluster_json.h"

namespace pando::cli {
namespace {

struct Arguments {
  std::string model, machine = "selene", memory, by = "time", svg, why;
  std::vector<std::int64_t> devices{8};
  search::Space space;
  std::size_t top = 5;
  bool frontier = false, brute_force = false, quiet = false;
};

// "28GB", "28GiB" or bytes; 0 if it is none of these.
double bytes_of(const std::string& text) {
  std::size_t used = 0;
  double n = 0;
  try {
    n = std::stod(text, &used);
  } catch (const std::exception&) {
    return 0;
  }
  const std::string unit = text.substr(used);
  if (unit.empty() || unit == "B") return n;
  if (unit == "GB") return n * 1e9;
  if (unit == "GiB") return n * 1024 * 1024 * 1024;
  return 0;
}

void show_progress(const search::Certificate& c) { fmt::print(stderr, "\r{} of {} points evaluated, {} excluded", c.evaluated, c.points, c.by_rule + c.by_memory + c.by_time); }

int run(Arguments& a) {
  if (!a.memory.empty()) {
    a.space.memory = bytes_of(a.memory);
    if (a.space.memory <= 0) {
      fmt::print(stderr, "pando search: --memory {}: a number with B, GB or GiB is expected\n", a.memory);
      return kWrong;
    }
  }
  const search::Transformer model = search::transformer_named(a.model);
  const simulate::Cluster cluster = simulate::cluster_of(a.machine);
  search::SearchOptions options{.top = a.top, .frontier = a.frontier || !a.svg.empty(), .brute_force = a.brute_force};
  if (!a.quiet) options.progress = show_progress;
  search::Result best;
  double lowest = 0;
  for (std::int64_t devices : a.devices) {
    search::Space space = a.space;
    space.devices = devices;
    const auto begin = std::chrono::steady_clock::now();
    search::Result r = search::search(model, cluster, space, options);
    if (!a.quiet) fmt::print(stderr, "\r{:60}\r{} devices: {:.2f} s\n", "", devices, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (a.devices.size() > 1) fmt::print("{} devices:\n{}", devices, search::to_table(r));
    if (r.best.empty()) continue;
    // A device costs the same for every point; without a price, device-hours are compared.
    const auto& f = r.best.front();
    const double per_sample = f.estimate.seconds / static_cast<double>(f.strategy.batch);
    const double price = a.by == "price" ? per_sample * static_cast<double>(devices) * (cluster.price_per_hour > 0 ? cluster.price_per_hour : 1) : per_sample;
    if (best.best.empty() || price < lowest) {
      lowest = price;
      best = std::move(r);
      a.space.devices = devices;
    }
  }
  if (a.devices.size() == 1) fmt::print("{}", search::to_table(best));
  else if (!best.best.empty()) fmt::print("by {}: {} devices\n", a.by, a.space.devices);
  if (!a.why.empty()) fmt::print("why not {}:\n  {}", a.why, search::why_not(model, cluster, a.space, search::parse_strategy(a.why, a.space.batch), best));
  if (!a.svg.empty()) write_file(a.svg, search::frontier_svg(best, a.space.memory > 0 ? a.space.memory : static_cast<double>(cluster.memory_bytes)));
  return best.best.empty() ? kNo : 0;
}

}  // namespace

void add_search(CLI::App& app, int& status) {
  CLI::App* const command = app.add_subcommand("search", "Find the best distribution of a training step, with a certificate");
  const auto a = std::make_shared<Arguments>();
  std::string models, machines;
  for (const auto& t : search::transformers()) models += " " + t.name;
  for (const auto& c : simulate::clusters()) machines += " " + c.name;
  command->add_option("model", a->model, "A transformer by name, or a JSON file of its sizes:" + models)->required();
  command->add_option("--machine", a->machine, "A machine by name, or a JSON file:" + machines)->capture_default_str();
  command->add_option("--devices", a->devices, "Devices; several numbers are compared")->delimiter(',')->check(CLI::PositiveNumber);
  command->add_option("--batch", a->space.batch, "Samples of a step")->required()->check(CLI::PositiveNumber);
  command->add_option("--memory", a->memory, "Memory of a device (28GB, 80GiB); the machine's without it");
  command->add_option("--require", a->space.require, "Only strategies with these values, as 't=8 recompute=full'");
  command->add_flag("--wide", a->space.wide, "All axes: ZeRO 2 and 3, zero-bubble schedules, context and expert parallelism, offload");
  command->add_option("--by", a->by, "What is least: time, or price")->check(CLI::IsMember({"time", "price"}))->capture_default_str();
  command->add_option("--top", a->top, "How many are shown")->check(CLI::Range(1, 1000))->capture_default_str();
  command->add_flag("--frontier", a->frontier, "Show what no other beats in both time and memory");
  command->add_option("--svg", a->svg, "Draw memory against samples a second into a file");
  command->add_option("--why-not", a->why, "A strategy: why is it not the answer?");
  command->add_flag("--brute-force", a->brute_force, "Evaluate every point");
  command->add_flag("--quiet", a->quiet, "No progress");
  command->callback([a, &status] { status = run(*a); });
  command->footer("Exit status: 0 found, 1 nothing fits, 2 wrong input.");
}

}  // namespace pando::cli
