// Random modules of the model level on machines: the CPU device and IPUs of four tiles, against the reference interpreter, two runs each.
//
//   fuzz_machines [--seed S|new] [--runs N] [--seconds T] [--show] [--no-fuse] [--aliases]
//
// --aliases: every case is one of views and updates in place. A case that fails prints its seed and its text. Cases whose ops are exact for
// small integers must agree bit for bit.
#include "arguments.h"
#include "ir/semantics/interpreter.h"
#include "ir/text/print.h"
#include "model/generate.h"
#include "pando/model_error.hpp"
#include "random.h"
#include "session/session.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pando::fuzz {
namespace {

using namespace pando::ir;
using session::InputData;
using session::OutputData;
using session::Session;

struct Settings {
  bool show = false, fuse = true, aliases = false;
};

// Cases that tiles cannot compute: types or ops that they do not have, tensors that are wanted on two devices.
std::uint64_t rejected = 0;

// The same program on data that are a rounding away, and with such in the results of its ops. Machines add in other orders than the
// reference interpreter, and do not round what only one pass sees; what that may do to an element is measured: most hardly notice, but what
// is left of a large number, what stands at a step, the difference of equal numbers may become anything.
class Otherwise {
 public:
  Otherwise(const ModelCase& c, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      Random random(i);
      Run& run = runs_.emplace_back(c.builder->module());
      for (std::size_t b = 0; b < run.module.blob_count(); ++b) {
        const BlobId id(static_cast<BlobId::rep>(b));
        run.module.set_blob(id, moved(run.module.blob(id), random));
      }
      run.interpreter.emplace(run.module);
      run.interpreter->on_print([](const std::string&) {});
      run.interpreter->on_results([random](const OpRow& row, std::vector<HostValue>& results) mutable {
        for (HostValue& v : results)
          if (!row.moves && v.elements.empty()) v.tensor = moved(v.tensor, random);
      });
      for (const auto& [stream, data] : c.inputs) run.interpreter->set_input(stream, moved(data, random));
    }
  }
  // False: the program rejects what it computes.
  bool run() {
    try {
      for (Run& r : runs_) r.interpreter->run();
      return true;
    } catch (const ModelError&) { return false; }
  }
  template <class Value>
  std::vector<HostTensor> each(Value value) const {
    std::vector<HostTensor> values;
    for (const Run& r : runs_) values.push_back(value(*r.interpreter));
    return values;
  }

 private:
  struct Run {
    explicit Run(const Module& m) : module(m) {}
    Module module;
    std::optional<Interpreter> interpreter;
  };

  static HostTensor moved(const HostTensor& from, Random& random) {
    if (!is_floating(from.dtype()) || is_float8(from.dtype())) return from;
    const double step = from.dtype() == DType::float16 ? 0x1p-10 : 0x1p-22;
    HostTensor to(from.dtype(), from.shape());
    for (std::int64_t i = 0; i < from.elements(); ++i) {
      // Exponentials are as far off, however little is left of them. What is nothing stays so.
      const double x = from.number(i), off = x == 0 ? 0 : step * (std::abs(x) + 0x1p-4);
      to.set(i, x + (random.chance(50) ? off : -off));
    }
    return to;
  }

  std::deque<Run> runs_;
};

// How far an element may be from what the reference has, beside the tolerance.
double distance(double reference, const std::vector<HostTensor>& others, std::int64_t element) {
  double most = 0;
  for (const HostTensor& t : others) {
    const double other = t.number(element);
    if (std::isfinite(other) != std::isfinite(reference)) return std::numeric_limits<double>::infinity();
    if (std::isfinite(other)) most = std::max(most, std::abs(other - reference));
  }
  return most;
}

// `others`: what the program gives on data that are a rounding away.
bool agree(const HostTensor& expected, const HostTensor& found, const std::vector<HostTensor>& others, bool exact, std::string& where) {
  if (expected.dtype() != found.dtype() || expected.elements() != found.elements()) {
    where = "another shape";
    return false;
  }
  const bool bits = exact || !is_floating(expected.dtype());
  // Of float8 the next number.
  const double tolerance = is_float8(expected.dtype()) ? 0.26 : expected.dtype() == DType::float16 ? 2e-2 : 1e-3;
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double e = expected.number(i), f = found.number(i);
    if (e == f || (std::isnan(e) && std::isnan(f))) continue;
    if (!bits && std::abs(e - f) <= tolerance * (1 + std::abs(e))) continue;
    const double may = distance(e, others, i);
    if (std::isinf(may) || (may > 0 && std::abs(e - f) <= 2 * may)) continue;
    // One by almost nothing, whose sign nobody knows.
    if (std::isinf(f) && std::abs(e) > 1e6 && may >= 0.5 * std::abs(e)) continue;
    // Its root: there or not.
    if (!exact && std::isinf(f) && std::isnan(e) && is_floating(expected.dtype())) continue;
    // Halfs between ops that become one pass do not overflow.
    if (!exact && expected.dtype() == DType::float16 && !std::isfinite(e)) continue;
    // Integers that ops compute as float32.
    if (!exact && !is_floating(expected.dtype()) && std::abs(e) > 1 << 24 && std::abs(e - f) <= 1e-6 * std::abs(e)) continue;
    where = fmt::format("element {}: expected {}, found {}", i, e, f);
    return false;
  }
  return true;
}

// One run of the machine, after one of the interpreter; what differs.
std::string compare_run(Interpreter& reference, const Otherwise* otherwise, Session& s, const ModelCase& c, bool exact) {
  const auto others = [&](auto value) { return otherwise != nullptr ? otherwise->each(value) : std::vector<HostTensor>(); };
  const Module& module = c.builder->module();
  std::vector<InputData> inputs;
  for (HostStreamId id : s.inputs()) {
    const HostTensor& t = c.inputs.at(id);
    const std::int64_t slice = elements_of(module.stream(id).shape) * module.replicas();
    inputs.push_back({id, t.data(), slice == 0 ? 1 : t.elements() / slice});
  }
  std::vector<HostTensor> results;
  std::vector<OutputData> outputs;
  for (HostStreamId id : s.outputs()) {
    Shape shape{c.outputs.at(id), module.replicas()};
    shape.insert(shape.end(), module.stream(id).shape.begin(), module.stream(id).shape.end());
    results.emplace_back(module.stream(id).dtype, shape);
    outputs.push_back({id, results.back().writable(), shape[0]});
  }
  s.run(inputs, outputs);
  std::string where;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto output = [&](const Interpreter& of) { return of.output(outputs[i].stream, c.outputs.at(outputs[i].stream)); };
    if (!agree(output(reference), results[i], others(output), exact, where))
      return fmt::format("stream {}, {}", outputs[i].stream.value, where);
  }
  for (std::size_t i = 0; i < module.state_count(); ++i) {
    const StateId id(static_cast<std::uint32_t>(i));
    const State& state = module.state(id);
    if (module.replicas() > 1 && state.retrieval == Retrieval::one_per_group && state.grouping.groups() > 1) continue;
    const auto data = [&](const Interpreter& of) { return of.state(id, 0); };
    const HostTensor found = s.data(id), expected = data(reference);
    if (found.elements() != expected.elements()) continue;
    if (!agree(expected, found, others(data), exact, where)) return fmt::format("variable '{}', {}", state.name, where);
  }
  return "";
}

// What is wrong with a case; empty if nothing. `times`: so often its tolerance is measured.
std::string check_case_once(std::uint64_t seed, const Settings& settings, std::uint64_t times) {
  ModelLimits limits = limits_of(seed);
  if (settings.aliases) {
    limits.aliases = limits.exact = true;
    limits.gradients = false;
  }
  for (const char* device : {"cpu", "ipu_model"}) {
    const ModelCase c = generate_model(seed, limits);
    if (settings.show && device[0] == 'c') fmt::print("{}", print(c.builder->module()));
    Interpreter reference(c.builder->module());
    reference.on_print([](const std::string&) {});
    for (const auto& [stream, data] : c.inputs) reference.set_input(stream, data);
    std::optional<Otherwise> otherwise;
    if (!limits.exact) otherwise.emplace(c, times);
    session::Options options;
    options.device = device;
    options.tiles_per_ipu = 4;
    options.settings.set("check_ambiguity", false);
    options.settings.set("fuse", settings.fuse);
    try {
      Session s(*c.builder, options);
      s.on_print([](std::string_view) {});
      s.attach();
      s.weights_from_host();
      for (int run = 0; run < 2; ++run) {
        try {
          reference.run();
        } catch (const ModelError&) {
          return "";  // data that the program's meaning rejects
        }
        if (otherwise && !otherwise->run()) return "";
        const std::string wrong = compare_run(reference, otherwise ? &*otherwise : nullptr, s, c, limits.exact);
        if (!wrong.empty()) return fmt::format("{}, run {}: {}", device, run, wrong);
      }
    } catch (const ModelError& e) {
      if (e.id() != "no-such-type-on-tiles" && e.id() != "no-lowering" && e.id() != "empty-program" && e.id() != "different-devices" &&
          e.id() != "different-tile-sets")
        throw;
      if (settings.show) fmt::print("rejected: {}\n", e.what());
      ++rejected;
      return "";
    }
  }
  return "";
}

// What a few tries do not show of a step, many do.
std::string check_case(std::uint64_t seed, const Settings& settings) {
  const std::string wrong = check_case_once(seed, settings, 4);
  return wrong.empty() ? wrong : check_case_once(seed, settings, 100);
}

int run(std::uint64_t seed, std::uint64_t runs, double seconds, const Settings& settings) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t done = 0, failures = 0;
  for (; done < runs; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    std::string wrong;
    try {
      wrong = check_case(seed + done, settings);
    } catch (const std::exception& e) { wrong = fmt::format("an exception: {}", e.what()); }
    if (wrong.empty()) continue;
    ++failures;
    fmt::print("seed {}: {}\n", seed + done, wrong);
  }
  fmt::print("{} modules, seeds {} to {}, {} failures, {} rejected\n", done, seed, seed + done - 1, failures, rejected);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) {
  const auto given = pando::fuzz::read_arguments(argc, argv, {}, {"--show", "--no-fuse", "--aliases"});
  if (!given) return 2;
  pando::fuzz::Settings settings;
  settings.show = given->has("--show");
  settings.fuse = !given->has("--no-fuse");
  settings.aliases = given->has("--aliases");
  return pando::fuzz::run(given->seed, given->runs, given->seconds, settings);
}
