// Random modules of the model level: print and parse, verify, and every executor against the reference interpreter.
//
//   fuzz_model [--seed S|new] [--runs N] [--seconds T] [--show]
//
// A case that fails prints its seed and its text.
#include "arguments.h"
#include "ir/checks/verify.h"
#include "ir/error.h"
#include "ir/semantics/interpreter.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"
#include "model/generate.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

namespace pando::fuzz {
namespace {

using namespace pando::ir;

struct Results {
  std::vector<HostTensor> outputs, states;
  std::string printed;
  // What ended the run, if something did: an index out of range is found when the program runs.
  std::string rejected;
};

Results interpret(const Module& module, const ModelCase& c) {
  Interpreter i(module);
  Results r;
  i.on_print([&](const std::string& text) { r.printed += text; });
  for (const auto& [stream, data] : c.inputs) i.set_input(stream, data);
  try {
    i.run();
  } catch (const ModelError& e) {
    r.rejected = e.id();
    return r;
  }
  for (const auto& [stream, stores] : c.outputs) r.outputs.push_back(i.output(stream, stores));
  for (std::size_t s = 0; s < module.state_count(); ++s) {
    for (std::int64_t replica = 0; replica < module.replicas(); ++replica)
      r.states.push_back(i.state(StateId(static_cast<std::uint32_t>(s)), replica));
  }
  return r;
}

// Where two tensors of one type differ. NaN is NaN, whatever its sign: which one an operation gives is nowhere said.
std::optional<std::int64_t> first_difference(const HostTensor& a, const HostTensor& b) {
  if (a == b) return std::nullopt;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double x = a.number(i), y = b.number(i);
    if (x != y && !(std::isnan(x) && std::isnan(y))) return i;
  }
  return std::nullopt;
}

std::string difference(const Results& a, const Results& b) {
  for (std::size_t i = 0; i < std::min(a.outputs.size(), b.outputs.size()); ++i) {
    if (const auto at = first_difference(a.outputs[i], b.outputs[i]))
      return fmt::format("element {} of output {} is {} and {}", *at, i, a.outputs[i].number(*at), b.outputs[i].number(*at));
  }
  for (std::size_t i = 0; i < std::min(a.states.size(), b.states.size()); ++i) {
    if (const auto at = first_difference(a.states[i], b.states[i]))
      return fmt::format("element {} of variable {} is {} and {}", *at, i, a.states[i].number(*at), b.states[i].number(*at));
  }
  if (a.printed != b.printed) return "prints differ";
  if (a.rejected != b.rejected) return fmt::format("one ends with '{}', the other with '{}'", a.rejected, b.rejected);
  return "";
}

// What is wrong with a case; empty if nothing.
std::string check_case(std::uint64_t seed, bool show) {
  const ModelCase c = generate_model(seed, limits_of(seed));
  const Module& module = c.builder->module();
  const std::string text = print(module);
  if (show) fmt::print("{}", text);
  if (const auto found = verify(module); !found.empty()) return "not valid:\n" + to_string(found);
  const Module again = parse(text);
  if (print(again) != text) return "the text does not parse to the same";
  if (const auto found = verify(again); !found.empty()) return "not valid after parsing:\n" + to_string(found);
  return difference(interpret(module, c), interpret(again, c));
}

int run(std::uint64_t seed, std::uint64_t runs, double seconds, bool show) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t done = 0;
  for (; done < runs; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    std::string wrong;
    try {
      wrong = check_case(seed + done, show);
    } catch (const std::exception& e) { wrong = fmt::format("an exception: {}", e.what()); }
    if (wrong.empty()) continue;
    fmt::print("seed {}: {}\n", seed + done, wrong);
    try {
      fmt::print("{}\n", print(generate_model(seed + done, limits_of(seed + done)).builder->module()));
    } catch (const std::exception&) { fmt::print("the case cannot be generated again\n"); }
    return 1;
  }
  fmt::print("{} modules, seeds {} to {}\n", done, seed, seed + done - 1);
  return 0;
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) {
  const auto given = pando::fuzz::read_arguments(argc, argv, {}, {"--show"});
  return given ? pando::fuzz::run(given->seed, given->runs, given->seconds, given->has("--show")) : 2;
}
