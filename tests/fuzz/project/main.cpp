// Random loop programs, projected: text, rules, and equality with the reference under several capacities; then one thing of the projected
// program is changed, and what the rules let pass must still be right; then its text is broken.
//
//   fuzz_project [--seed S|new] [--runs N] [--seconds T] [--show]
//
// A case that fails prints its seed and its texts.
#include "project/generate.h"

#include "arguments.h"
#include "ir/error.h"
#include "ir/semantics/interpreter.h"
#include "ir/text/parse.h"
#include "project/checks/check.h"
#include "project/running/run.h"
#include "project/text/parse.h"
#include "project/text/print.h"
#include "random.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <set>

namespace pando::fuzz {
namespace {

using namespace pando::project;

struct Counts {
  std::uint64_t programs = 0, actions = 0, pipelined = 0, changed = 0, caught = 0, harmless = 0, strict_rules = 0;
  std::map<std::string, std::uint64_t> rejected;
};

// What a random loop may be rejected for: it is then no case.
const std::set<std::string> kRejections = {"state-on-two-devices", "effect-in-update", "update-across-devices",
                                           "window-too-short",     "two-devices",      "order-across-devices"};

// An order that no data ask for: of any two ops, wherever they lie.
void demand_order(ir::Module& m, Random& r) {
  auto& main = m.graph(m.main_graph());
  if (main.ops.size() < 2 || !r.chance(30)) return;
  for (std::uint64_t n = r.between(1, 5); n > 0; --n) {
    const std::size_t first = r.below(main.ops.size() - 1), then = first + 1 + r.below(main.ops.size() - 1 - first);
    main.after.emplace_back(main.ops[first], main.ops[then]);
  }
}

Policy policy_of(Random& r) {
  Policy p;
  p.kind = static_cast<PolicyKind>(r.below(5));
  if (p.windowed()) p.window = static_cast<std::int64_t>(r.between(p.kind == PolicyKind::flush ? 1 : 2, 5));
  return p;
}

HostInputs inputs_of(std::int64_t samples, Random& r) {
  HostInputs inputs;
  for (const char* name : {"in0", "in1"}) {
    ir::HostTensor t(ir::DType::float32, {samples * 8, 2});
    for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, static_cast<double>(r.below(2000)) / 1000 - 1);
    inputs[name] = t;
  }
  return inputs;
}

std::vector<std::int64_t> sample_counts(const ProjectedProgram& p) {
  std::vector<std::int64_t> all;
  const std::int64_t unit = p.policy.windowed() ? p.policy.window : 1;
  // Further than every lag and every ring.
  for (std::int64_t n = 0; n <= (p.drain + 3 + unit - 1) / unit + 2; ++n) all.push_back(n * unit);
  return all;
}

// How the program differs from its reference for some number of samples.
std::string difference(const ProjectedProgram& p, const LoopProgram& l, const Lags& lags, std::optional<std::int64_t> capacity) {
  for (const std::int64_t n : sample_counts(p)) {
    try {
      if (const auto d = differs_in_terms(p, l, lags, {n, capacity})) return *d;
    } catch (const ModelError& e) { return e.what(); }
  }
  return "";
}

// The same by the model level's own interpreter: one run for each sample.
std::string sequential_difference(const ir::Module& m, const RunResult& have, const HostInputs& inputs, std::int64_t samples) {
  ir::Interpreter interpreter(m);
  std::map<std::string, std::int64_t> loads;
  for (ir::OpId o : m.graph(m.main_graph()).ops) {
    if (m.row(o).effects != ir::Effects::none && m.op(o).operand_count == 0)
      ++loads[m.stream(std::get<ir::HostStreamId>(*m.attributes(o).find("stream"))).name];
  }
  for (std::int64_t i = 0; i < samples; ++i) {
    for (std::uint32_t s = 0; s < 2; ++s) {
      const std::string& name = m.stream(ir::HostStreamId(s)).name;
      const std::int64_t n = std::max<std::int64_t>(1, loads[name]);
      ir::HostTensor slices(ir::DType::float32, {n, 1, 2});
      for (std::int64_t k = 0; k < 2 * n; ++k) slices.set(k, inputs.at(name).number(i * 2 * n + k));
      interpreter.set_input(ir::HostStreamId(s), slices);
    }
    interpreter.run();
  }
  for (std::uint32_t s = 0; s < m.state_count(); ++s) {
    const ir::StateId id(s);
    if (!(interpreter.state(id, 0) == have.states.at(m.state(id).name)))
      return fmt::format("'{}' is not what the interpreter has after {} samples", m.state(id).name, samples);
  }
  return "";
}

std::string check_right(const ProjectedProgram& p, const LoopProgram& l, const Lags& lags, Random& r) {
  const std::string text = print(p);
  const ProjectedProgram again = parse(text);
  if (print(again) != text) return "the text does not parse to the same:\n" + print(again);
  if (const auto found = verify(p); !found.empty()) return "breaks rules:\n" + to_string(found);
  if (const auto found = verify(again); !found.empty()) return "breaks rules when parsed:\n" + to_string(found);
  for (const auto capacity : {std::optional<std::int64_t>(), std::optional<std::int64_t>(0), std::optional<std::int64_t>(1),
                              std::optional<std::int64_t>(kUnbounded)}) {
    if (const std::string d = difference(p, l, lags, capacity); !d.empty())
      return fmt::format("with capacity {}: {}", capacity ? std::to_string(*capacity) : "as declared", d);
  }
  const std::int64_t samples = (p.policy.windowed() ? p.policy.window : 1) * static_cast<std::int64_t>(r.between(1, 6));
  const HostInputs inputs = inputs_of(samples, r);
  const RunResult wanted = run_reference(l, lags, inputs, samples);
  if (run(p, inputs, {samples, std::nullopt}) != wanted) return "other bits than the reference";
  if (run(again, inputs, {samples, 0}) != wanted) return "parsed, other bits than the reference";
  return "";
}

// --- changes

Slot* any_slot(DeviceProgram& d, Random& r) { return d.slots.empty() ? nullptr : &d.slots[r.below(d.slots.size())]; }

bool writes_state(const DeviceProgram& d, const Action& a) {
  for (const Slot& s : d.results(a)) {
    if (d.buffers[s.buffer].kind != BufferKind::value) return true;
  }
  return false;
}

// One change; empty if this one is not possible here.
std::string change(ProjectedProgram& p, Random& r) {
  DeviceProgram& d = p.devices[r.below(p.devices.size())];
  if (d.loop.empty()) return "";
  const std::size_t i = r.below(d.loop.size());
  Action& a = d.loop[i];
  const int by = r.chance(50) ? 1 : -1;
  switch (r.below(9)) {
    case 0: {
      Slot* const s = any_slot(d, r);
      if (!s || d.buffers[s->buffer].copies == 1) return "";
      s->shift += by;
      return fmt::format("device {}: an index of '{}' by {}", d.device, d.buffers[s->buffer].name, by);
    }
    case 1: {
      Buffer& b = d.buffers[r.below(d.buffers.size())];
      if (b.copies + by < 1) return "";
      b.copies += by;
      return fmt::format("device {}: '{}' has {} copies", d.device, b.name, b.copies);
    }
    case 2: a.guard.first += a.guard.first + by < 0 ? 0 : by; return fmt::format("device {}: the beginning of action {}", d.device, i);
    case 3: a.guard.end += by; return fmt::format("device {}: the end of action {}", d.device, i);
    case 4:
      if (i + 1 == d.loop.size()) return "";
      std::swap(d.loop[i], d.loop[i + 1]);
      return fmt::format("device {}: actions {} and {} swapped", d.device, i, i + 1);
    case 5: {
      const std::size_t j = r.below(d.loop.size());
      std::swap(d.loop[i], d.loop[j]);
      return fmt::format("device {}: actions {} and {} swapped", d.device, i, j);
    }
    case 6:
      if (p.drain + by < 0) return "";
      p.drain += by;
      return fmt::format("{} trips more", by);
    case 7:
      if (writes_state(d, a)) return "";
      d.loop.erase(d.loop.begin() + static_cast<std::ptrdiff_t>(i));
      return fmt::format("device {}: no action {}", d.device, i);
    default:
      a.guard.every = a.guard.every + by < 1 ? 2 : a.guard.every + by;
      return fmt::format("device {}: action {} in every {} trips", d.device, i, a.guard.every);
  }
}

std::string check_changed(const ProjectedProgram& right, const LoopProgram& l, const Lags& lags, Random& r, Counts& counts) {
  for (int n = 0; n < 6; ++n) {
    ProjectedProgram p = right;
    const std::string what = change(p, r);
    if (what.empty()) continue;
    ++counts.changed;
    const auto found = verify(p);
    const std::string d = difference(p, l, lags, std::nullopt);
    if (found.empty() && !d.empty()) return fmt::format("changed ({}), no rule is broken, but: {}\n{}", what, d, print(p));
    ++(found.empty() ? counts.harmless : d.empty() ? counts.strict_rules : counts.caught);
  }
  return "";
}

// Texts that somebody has broken: rejected with the place, or read, checked and printed.
void check_broken_text(const ProjectedProgram& p, Random& r) {
  const std::string text = print(p);
  for (int n = 0; n < 4; ++n) {
    std::string broken = text;
    for (std::uint64_t i = r.between(1, 3); i > 0; --i) {
      const std::size_t at = r.below(broken.size()), from = r.below(broken.size()),
                        length = std::min<std::size_t>(r.between(1, 12), broken.size() - from);
      switch (r.below(3)) {
        case 0: broken.erase(from, length); break;
        case 1: broken.insert(at, broken.substr(from, length)); break;
        default: broken[at] = static_cast<char>(r.between(32, 126));
      }
    }
    try {
      const ProjectedProgram read = parse(broken);
      verify(read);
      if (print(parse(print(read))) != print(read))
        throw std::runtime_error("a broken text is read and does not print to the same:\n" + broken);
    } catch (const ModelError&) {
      // Rejected.
    }
  }
}

std::string check_case(std::uint64_t seed, bool show, Counts& counts) {
  Random r(seed ^ 0x5eed);
  const std::string text = generate_loop(seed);
  if (show) fmt::print("{}", text);
  const Policy policy = policy_of(r);
  LoopProgram l;
  ProjectOptions options;
  options.capacity = r.pick<std::int64_t>({0, 1, 2, 7, kUnbounded});
  Lags lags;
  ProjectedProgram p;
  try {
    ir::Module m = ir::parse(text);
    Random order(seed ^ 0x0bde);
    demand_order(m, order);
    l = make_loop(std::move(m), policy);
    lags = solve_lags(l);
    p = project::project(l, lags, options);
  } catch (const ModelError& e) {
    if (!kRejections.contains(e.id())) throw;
    ++counts.rejected[e.id()];
    return "";
  }
  for (Stream& s : p.streams) {
    if (r.chance(20)) s.capacity = r.pick<std::int64_t>({0, 1, 3});
  }
  if (show) fmt::print("{}", print(p));
  ++counts.programs;
  counts.pipelined += p.drain > 0;
  for (const DeviceProgram& d : p.devices) counts.actions += d.loop.size();
  std::string wrong = check_right(p, l, lags, r);
  if (wrong.empty() && policy.kind == PolicyKind::strict) {
    const HostInputs inputs = inputs_of(4, r);
    // As it was written: the interpreter asks nothing of places.
    wrong = sequential_difference(ir::parse(text), run(p, inputs, {4, std::nullopt}), inputs, 4);
  }
  check_broken_text(p, r);
  if (wrong.empty()) wrong = check_changed(p, l, lags, r, counts);
  if (!wrong.empty()) wrong += "\n" + print(p);
  return wrong;
}

int run_all(std::uint64_t seed, std::uint64_t runs, double seconds, bool show) {
  const auto start = std::chrono::steady_clock::now();
  Counts counts;
  std::uint64_t done = 0;
  for (; done < runs; ++done) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) break;
    std::string wrong;
    try {
      wrong = check_case(seed + done, show, counts);
    } catch (const std::exception& e) { wrong = fmt::format("an exception: {}", e.what()); }
    if (wrong.empty()) continue;
    fmt::print("seed {}: {}\n{}", seed + done, wrong, generate_loop(seed + done));
    return 1;
  }
  std::uint64_t rejected = 0;
  for (const auto& [id, n] : counts.rejected) rejected += n;
  fmt::print("{} loops, seeds {} to {}: {} programs ({} with a drain, {} actions), {} rejected\n", done, seed, seed + done - 1,
             counts.programs, counts.pipelined, counts.actions, rejected);
  for (const auto& [id, n] : counts.rejected) fmt::print("  {} {}\n", n, id);
  fmt::print("{} changes: {} wrong and caught, {} right and let pass, {} right in {} samples but rejected\n", counts.changed, counts.caught,
             counts.harmless, counts.strict_rules, "all tried numbers of");
  // Cases must be cases.
  return done >= 100 && (counts.programs < done / 3 || counts.caught == 0) ? 1 : 0;
}

}  // namespace
}  // namespace pando::fuzz

int main(int argc, char** argv) {
  const auto given = pando::fuzz::read_arguments(argc, argv, {}, {"--show"});
  return given ? pando::fuzz::run_all(given->seed, given->runs, given->seconds, given->has("--show")) : 2;
}
