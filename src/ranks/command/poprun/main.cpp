// poprun: starts a program as several instances, each with its replicas.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/command/arguments.h"
#include "base/command/help.h"
#include "base/error.h"
#include "base/messages.h"
#include "ranks/command/poprun/instance.h"
#include "ranks/command/poprun/options.h"
#include "ranks/launch.h"

namespace pando::ranks {
namespace {

constexpr int kWrong = 2;
// The first argument of the process that mpirun starts.
constexpr const char* kInstance = "--instance-of-poprun";

// Options of machines that have partitions of IPUs to be made; they take one value each.
constexpr const char* kIdle[] = {"--vipu-server-host",
                                 "--vipu-server-port",
                                 "--vipu-server-timeout",
                                 "--vipu-partition",
                                 "--vipu-partition-attempts",
                                 "--vipu-cluster",
                                 "--vipu-allocation",
                                 "--update-partition",
                                 "--reset-partition",
                                 "--remove-partition",
                                 "--num-ilds",
                                 "--offline-mode",
                                 "--sync-type"};

bool is_yes(const std::string& text) { return text == "yes" || text == "true" || text == "on" || text == "1"; }
const CLI::Validator& yes_or_no() {
  static const CLI::Validator check = one_of({"yes", "no", "true", "false", "on", "off", "1", "0"});
  return check;
}

struct Texts {
  std::string hosts, host_file, global, local, numa, topology, tag;
};

void say_idle(const PoprunOptions& o) {
  if (o.idle.empty()) return;
  complain(fmt::format("poprun: warning: no effect here: {}", fmt::join(o.idle, ", ")));
}

std::vector<std::string> read_hosts(const std::string& file) {
  std::ifstream in(file);
  if (!in) fail(ErrorKind::file_load_error, "unreadable-file", "cannot read {}", file);
  std::vector<std::string> hosts;
  for (std::string line; std::getline(in, line);) {
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
    if (!line.empty()) hosts.push_back(line);
  }
  if (hosts.empty()) fail(ErrorKind::file_load_error, "unreadable-file", "{} names no host", file);
  return hosts;
}

void take(PoprunOptions& o, const Texts& texts) {
  o.numa_aware = is_yes(texts.numa);
  o.print_topology = is_yes(texts.topology);
  o.tag_output = is_yes(texts.tag);
  if (!texts.hosts.empty()) o.hosts = hosts_of(texts.hosts);
  if (!texts.host_file.empty()) o.hosts = read_hosts(texts.host_file);
  for (const std::string& text : {texts.global, texts.local}) {
    for (std::string& word : words_of(text)) o.mpi.push_back(std::move(word));
  }
  if (o.replicas % o.instances != 0)
    fail(ErrorKind::invalid_option, "replicas", "{} replicas cannot be dealt out evenly to {} instances", o.replicas, o.instances);
  if (o.instances % std::max<std::size_t>(1, o.hosts.size()) != 0)
    fail(ErrorKind::invalid_option, "hosts", "{} instances cannot be dealt out evenly to {} hosts", o.instances, o.hosts.size());
  if (o.only_output_from >= static_cast<int>(o.instances))
    fail(ErrorKind::invalid_option, "instance", "--only-output-from-instance {}: there are {} instances", o.only_output_from, o.instances);
}

std::vector<std::pair<std::string, std::string>> environment_of(const PoprunOptions& o) {
  std::vector<std::pair<std::string, std::string>> all{{"POPDIST_NUM_INSTANCES", std::to_string(o.instances)},
                                                       {"POPDIST_NUM_TOTAL_REPLICAS", std::to_string(o.replicas)},
                                                       {kLocalReplicas, std::to_string(o.local_replicas())},
                                                       {"POPDIST_NUM_IPUS_PER_REPLICA", std::to_string(o.ipus_per_replica)},
                                                       {"PANDO_POPRUN_TIMEOUT", fmt::format("{}", o.timeout)}};
  if (o.only_output_from >= 0) all.emplace_back(kOnlyOutputFrom, std::to_string(o.only_output_from));
  if (!o.executable_cache.empty()) {
    for (const char* name : {"POPTORCH_CACHE_DIR", "POPXL_CACHE_DIR"}) all.emplace_back(name, o.executable_cache);
  }
  return all;
}

int start(PoprunOptions o) {
  Launcher launcher;
  launcher.name = "poprun";
  launcher.member = "instance";
  launcher.knows_steps = false;
  launcher.one_host = all_here(o.hosts);
  if (launcher.one_host) {
    for (std::string& taken : take_interfaces(o.mpi)) o.idle.push_back(std::move(taken));
  }
  say_idle(o);
  if (o.print_topology) fmt::print("{}", topology_of(o));
  if (o.numa_aware) launcher.placing = {"--map-by", "numa:OVERSUBSCRIBE", "--bind-to", "numa"};
  if (o.tag_output && std::find(o.mpi.begin(), o.mpi.end(), "--tag-output") == o.mpi.end()) launcher.options.push_back("--tag-output");
  const auto environment = environment_of(o);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  if (!launcher.one_host) {
    std::string hosts;
    for (const std::string& host : o.hosts) hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", host, o.instances / o.hosts.size());
    launcher.options.insert(launcher.options.end(), {"--host", hosts});
    for (const auto& [name, value] : environment) launcher.options.insert(launcher.options.end(), {"-x", name});
  }
  launcher.options.insert(launcher.options.end(), o.mpi.begin(), o.mpi.end());
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe"), kInstance};
  command.insert(command.end(), o.command.begin(), o.command.end());
  if (o.verbose > 0) {
    for (const auto& [name, value] : environment) complain(fmt::format("poprun: {}={}", name, value));
    complain(fmt::format("poprun: mpirun {} -n {} {} {}", fmt::join(launcher.placing, " "), o.instances, fmt::join(launcher.options, " "),
                         fmt::join(command, " ")));
  }
  std::fflush(nullptr);
  // On other hosts instances cannot be watched: MPI says what becomes of them.
  return launch(o.instances, command, launcher.one_host ? o.timeout : 0, launcher);
}

void add_options(CLI::App& app, PoprunOptions& o, Texts& texts, std::vector<std::string>& ignored) {
  app.add_option("--num-instances", o.instances, "Processes that run the program")->check(whole_number(1, 1024))->capture_default_str();
  app.add_option("--num-replicas", o.replicas, "Replicas of all instances together, which share them out evenly")
      ->check(whole_number(1, 65536))
      ->capture_default_str();
  app.add_option("--ipus-per-replica", o.ipus_per_replica, "IPUs of a replica")->check(whole_number(1, 65536))->capture_default_str();
  CLI::Option* const hosts =
      app.add_option("-H,--host", texts.hosts, "Where instances run, evenly: host1,host2 or host[1-3,5]; without: on this host");
  app.add_option("--hostfile", texts.host_file, "A file of hosts, one a line")->excludes(hosts);
  app.add_option("--executable-cache-path", o.executable_cache, "A folder for compiled programs");
  app.add_option("--mpi-global-args", texts.global, "Words for mpirun");
  app.add_option("--mpi-local-args", texts.local, "More words for mpirun, as '-x NAME' for a variable that other hosts are to have");
  app.add_option("--numa-aware", texts.numa, "yes: instances are bound to NUMA nodes in turn")->check(yes_or_no())->default_str("no");
  app.add_option("--print-topology", texts.topology, "yes: a table of hosts, instances and replicas")
      ->check(yes_or_no())
      ->default_str("no");
  app.add_option("--only-output-from-instance", o.only_output_from,
                 "What other instances print is left out; of one that fails, the end of its standard error is shown")
      ->check(whole_number(0, 1023));
  texts.tag = "yes";
  app.add_option("--tag-output", texts.tag, "Lines begin with [1,INSTANCE]<stdout>: or <stderr>:")->check(yes_or_no())->default_str("yes");
  app.add_option("--timeout", o.timeout, "Seconds that an instance waits for another one; 0: for ever")
      ->check(check_not_negative)
      ->capture_default_str();
  app.add_flag("-v,--verbose", o.verbose, "What mpirun is given; -vv: the same");
  ignored.resize(std::size(kIdle));
  for (std::size_t i = 0; i < std::size(kIdle); ++i) {
    app.add_option(kIdle[i], ignored[i], "Accepted, without effect: there are no partitions of IPUs to make")->group("Without effect");
  }
}

int command(int argc, char** argv) {
  CLI::App app("Run a program as several instances, each with its replicas: poprun [OPTIONS] PROGRAM [ARGUMENTS]", "poprun");
  app.prefix_command();
  PoprunOptions o;
  Texts texts;
  std::vector<std::string> ignored;
  add_options(app, o, texts, ignored);
  app.footer(
      help_footer({{"poprun --num-instances 2 --num-replicas 4 python train.py", "two processes of two replicas each"},
                   {"poprun --num-instances 2 --num-replicas 2 --only-output-from-instance 0 python train.py", "one of them is heard"}},
                  {{"0", "all instances ended with 0"},
                   {"1 to 255", "the status of the instance that failed first; 128 and a signal's number where one ended it"},
                   {"2", "the command line is wrong"}}));
  try {
    app.parse(argc, argv);
    o.command = app.remaining();
    if (o.command.empty()) throw CLI::RequiredError("PROGRAM");
    if (o.command[0] == "--") o.command.erase(o.command.begin());
    if (o.command.empty() || o.command[0].starts_with("-")) throw CLI::ExtrasError({o.command.empty() ? "--" : o.command[0]});
  } catch (const CLI::ParseError& error) { return explain(app, error); }
  for (const char* name : kIdle) {
    if (app.get_option(name)->count() > 0) o.idle.emplace_back(name);
  }
  take(o, texts);
  return start(std::move(o));
}

}  // namespace
}  // namespace pando::ranks

int main(int argc, char** argv) {
  try {
    if (argc > 2 && argv[1] == std::string_view(pando::ranks::kInstance)) return pando::ranks::run_instance({argv + 2, argv + argc});
    return pando::ranks::command(argc, argv);
  } catch (const std::exception& error) {
    pando::complain(fmt::format("poprun: {}", error.what()));
    return pando::ranks::kWrong;
  }
}
