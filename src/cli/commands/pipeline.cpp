// pando pipeline: splits a loop program into one program for each device, skews it, checks it, runs it.
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <map>
#include <memory>

#include "base/command/arguments.h"
#include "base/command/files.h"
#include "base/messages.h"
#include "base/text/counted.h"
#include "cli/command_row.h"
#include "ir/checks/read_module.h"
#include "ir/error.h"
#include "ir/shared/print_tensor.h"
#include "project/checks/check.h"
#include "project/running/run.h"
#include "project/text/draw.h"
#include "project/text/parse.h"
#include "project/text/print.h"
#include "transform/devices/unroll_pmap.h"
#include "transform/expand.h"
#include "transform/flatten_tuples.h"

namespace pando::cli {
namespace {

using namespace pando::project;

struct Arguments {
  std::string input, policy, output;
  std::vector<std::string> capacities, inputs;
  std::int64_t samples = 0, draw = 0;
  std::uint32_t seed = 1;
  bool brief = false, quiet = false;
};

std::int64_t capacity_of(const std::string& text) {
  if (text == "unbounded") return kUnbounded;
  std::int64_t n = -1;
  const auto [p, e] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (e != std::errc() || p != text.data() + text.size() || n < 0) {
    ir::reject(ir::ErrorClass::value, "capacity", "'{}' is not a capacity; a number of messages or 'unbounded' is", text);
  }
  return n;
}

ProjectOptions options_of(const Arguments& a) {
  ProjectOptions options;
  for (const std::string& c : a.capacities) {
    const std::size_t equals = c.rfind('=');
    if (equals == std::string::npos) {
      options.capacity = capacity_of(c);
    } else {
      options.capacities[c.substr(0, equals)] = capacity_of(c.substr(equals + 1));
    }
  }
  return options;
}

// A program that is projected already has capacities of its own.
void set_capacities(ProjectedProgram& p, const Arguments& a) {
  const ProjectOptions options = options_of(a);
  std::map<std::string, std::int64_t> left = options.capacities;
  for (Stream& s : p.streams) {
    if (!a.capacities.empty() && a.capacities.size() > options.capacities.size()) s.capacity = options.capacity;
    if (const auto it = options.capacities.find(s.name); it != options.capacities.end()) s.capacity = it->second;
    left.erase(s.name);
  }
  if (!left.empty()) ir::reject(ir::ErrorClass::value, "stream-name", "there is no stream '{}'", left.begin()->first);
}

// Numbers between blanks or commas.
void read_numbers(const std::string& file, ir::HostTensor& to) {
  const std::string text = read_file(file);
  std::int64_t n = 0;
  for (std::size_t at = text.find_first_not_of(" ,\n\t\r"); at != std::string::npos;) {
    const std::size_t end = std::min(text.find_first_of(" ,\n\t\r", at), text.size());
    double v = 0;
    const auto [p, e] = std::from_chars(text.data() + at, text.data() + end, v);
    if (e != std::errc() || p != text.data() + end)
      ir::reject(ir::ErrorClass::value, "number-expected", "{}: '{}' is not a number", file, text.substr(at, end - at));
    if (n < to.elements()) to.set(n, v);
    ++n;
    at = text.find_first_not_of(" ,\n\t\r", end);
  }
  if (n < to.elements()) ir::reject(ir::ErrorClass::value, "stream-too-short", "{} has {} numbers; {} are read", file, n, to.elements());
}

// Between -1 and 1; integers are 0 to 3.
void make_numbers(std::uint32_t seed, ir::HostTensor& to) {
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::int64_t i = 0; i < to.elements(); ++i) {
    state = state * 1664525u + 1013904223u;
    to.set(i, ir::is_floating(to.dtype()) ? static_cast<double>(state >> 8) / (1 << 23) - 1 : static_cast<double>(state >> 30));
  }
}

HostInputs inputs_of(const ProjectedProgram& p, const Arguments& a) {
  std::map<std::string, std::string> files;
  for (const std::string& i : a.inputs) {
    const std::size_t equals = i.find('=');
    if (equals == std::string::npos) ir::reject(ir::ErrorClass::value, "input", "'{}': an input is STREAM=FILE", i);
    files[i.substr(0, equals)] = i.substr(equals + 1);
  }
  HostInputs inputs;
  std::uint32_t number = 0;
  for (const Stream& s : p.streams) {
    if (s.from != kHost || inputs.contains(s.host)) continue;
    const ir::Type& t = p.module->type(s.type);
    ir::Shape shape{a.samples * s.slices};
    shape.insert(shape.end(), t.shape.begin(), t.shape.end());
    ir::HostTensor& data = inputs[s.host] = ir::HostTensor(t.dtype, shape);
    const auto file = files.find(s.host);
    if (file == files.end()) {
      make_numbers(a.seed + number++, data);
    } else {
      read_numbers(file->second, data);
      files.erase(file);
    }
  }
  if (!files.empty()) ir::reject(ir::ErrorClass::value, "stream-name", "no stream '{}' comes from the host", files.begin()->first);
  return inputs;
}

void show(const RunResult& r) {
  PrintFormat format;
  format.summarise_threshold = 32;
  for (const auto& [name, t] : r.states) fmt::print("{} =\n{}\n", name, ir::text_of(t, format));
  for (const auto& [name, all] : r.outputs) {
    for (std::size_t i = 0; i < all.size(); ++i) fmt::print("{} {} =\n{}\n", name, i, ir::text_of(all[i], format));
  }
}

struct Loop {
  LoopProgram program;
  Lags lags;
};

int run_samples(const ProjectedProgram& p, const Loop* loop, const Arguments& a) {
  check_samples(p, a.samples);
  const HostInputs inputs = inputs_of(p, a);
  const MachineOptions options{a.samples, std::nullopt};
  RunResult result;
  try {
    result = run(p, inputs, options);
  } catch (const Deadlock& e) {
    complain_of("pipeline", e.what());
    return kNo;
  }
  show(result);
  if (!loop) return 0;
  const auto difference = differs_in_terms(p, loop->program, loop->lags, options);
  if (!difference && result == run_reference(loop->program, loop->lags, inputs, a.samples)) {
    fmt::print("{}: equal to the reference of '{}', in terms and bit for bit\n", counted(a.samples, "sample"), to_string(p.policy));
    return 0;
  }
  complain_of("pipeline", fmt::format("not equal to the reference of '{}': {}", to_string(p.policy),
                                      difference.value_or("the same terms, other bits")));
  return kNo;
}

// pmap and collectives on tuples as ops on tensors of one device each.
ir::Module without_tuples(ir::Module m) {
  bool has_tuples = false;
  for (ir::OpId o : m.graph(m.main_graph()).ops) {
    for (ir::ValueId v : m.results(o)) has_tuples |= !m.type_of(v).is_tensor();
  }
  if (!has_tuples) return m;
  m = transform::unroll_pmap(m);
  transform::expand(m, [](const ir::OpRow& row) { return !row.moves; });
  transform::flatten_tuples(m);
  return m;
}

int run(const Arguments& a) {
  const std::string text = read_file(a.input);
  const std::size_t first = text.find_first_not_of(" \n");
  const bool projected = first != std::string::npos && text.compare(first, 8, "project ") == 0;
  ProjectedProgram p;
  Loop loop;
  if (projected) {
    if (!a.policy.empty())
      ir::reject(ir::ErrorClass::value, "state-policy", "{} is projected already; its policy is in its first line", a.input);
    p = project::parse(text, a.input);
    set_capacities(p, a);
  } else {
    ir::Module body = ir::read_module(text, a.input);
    if (a.policy.empty())
      ir::reject(ir::ErrorClass::value, "state-policy", "name a policy of state with --policy: strict, delay, stash, '2BW M' or 'flush M'");
    loop.program = make_loop(without_tuples(std::move(body)), parse_policy(a.policy));
    loop.lags = solve_lags(loop.program);
    p = project::project(loop.program, loop.lags, options_of(a));
  }
  PrintOptions options;
  options.whole = !a.brief;
  if (!a.quiet) write_file(a.output.empty() ? "-" : a.output, print(p, options));
  if (const auto found = verify(p); !found.empty()) {
    complain_of("pipeline", to_string(found));
    return kNo;
  }
  if (a.draw > 0) fmt::print("{}", draw(p, a.draw));
  return a.samples > 0 ? run_samples(p, projected ? nullptr : &loop, a) : 0;
}

void describe(CLI::App* command, Invocation& invocation) {
  const auto a = std::make_shared<Arguments>();
  command->add_option("input", a->input, "The text of a module whose main graph is a loop's body; or of a projected program")->required();
  command->add_option("--policy", a->policy,
                      "Which versions of state samples read: strict, delay, 'delay at most N', stash, '2BW M', 'flush M'");
  command
      ->add_option("--capacity", a->capacities,
                   "Messages that may wait in each stream (1), or unbounded; STREAM=N for one; 0: a rendezvous")
      ->delimiter(',');
  command->add_option("-o,--output", a->output, "Where the program's text goes; standard output otherwise");
  command->add_flag("--brief", a->brief, "Without data, graphs and single buffers: to be read, not to be parsed");
  command->add_flag("-q,--quiet", a->quiet, "Without the program's text");
  command->add_option("--draw", a->draw, "Draw the trips of so many samples")->check(whole_number(1, 1000));
  command->add_option("--samples", a->samples, "Run it on so many samples and compare it with the policy's reference")
      ->check(whole_number(1, std::int64_t{1} << 30));
  command->add_option("--input", a->inputs, "STREAM=FILE: what the host sends, as numbers, slice after slice");
  command->add_option("--seed", a->seed, "Numbers for streams without --input")
      ->capture_default_str()
      ->check(whole_number(0, std::numeric_limits<std::uint32_t>::max()));
  command->callback([a, &invocation] { invocation.status = run(*a); });
}

}  // namespace

CommandRow command_pipeline() {
  return {
      .name = "pipeline",
      .group = CommandGroup::distribute,
      .summary = "Split a loop program into a pipelined program for each device; check it and run it",
      .describe = describe,
      .examples = {{"pando pipeline loop.pando --policy stash -o pipeline.txt", "one program for each device, with streams between them"},
                   {"pando pipeline loop.pando --policy '2BW 4' --samples 8 -q",
                    "run eight samples and compare with the policy's reference"},
                   {"pando pipeline loop.pando --policy delay --draw 6 -q", "draw the trips of six samples"}},
      .statuses = {{"0", "the program obeys the rules, and equals its reference where it ran"},
                   {"1", "it does not; the message says what and where"},
                   {"2", "the input or the command line is wrong"}},
      .aliases = {"project"},
  };
}

}  // namespace pando::cli
