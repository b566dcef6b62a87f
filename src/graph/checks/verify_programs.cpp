#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/sizes.h"
#include "graph/checks/verify_parts.h"
#include "graph/graph.h"
#include "graph/program_walk.h"
#include "graph/step_rules.h"

namespace pando::graph {

namespace {

class Checker {
 public:
  explicit Checker(const Graph& graph)
      : graph_(graph), rules_(graph, [this] { return path_.empty() ? std::string() : " ('" + path_ + "')"; }) {}

  void check(const Program& program) {
    path_ = program.name;
    std::visit([&](const auto& body) { step(body); }, program.body);
  }

 private:
  template <class Map, class I>
  void known(const Map& map, I id, const char* what) const {
    if (!id.valid() || id.index() >= map.size())
      fail(ErrorKind::control_program_error, "unknown-object", "{}{}: number {}; the graph has {}", what,
           path_.empty() ? "" : " ('" + path_ + "')", id.value, map.size());
  }

  void step(const Sequence&) {}
  void step(const Repeat&) {}
  void step(const Execute& p) {
    known(graph_.compute_sets(), p.compute_set, "Execute of a compute set");
    if (!p.result.valid()) return;
    rules_.predicate(p.result, "Execute: the result");
    rules_.written(p.result, "Execute: the result");
  }
  void step(const Copy& p) { rules_.copy(p.source, p.destination, "Copy"); }
  void step(const HostToDevice& p) {
    known(graph_.fifos(), p.fifo, "Copy from a stream");
    rules_.fifo(graph_.fifos()[p.fifo], true, p.destination, "Copy from a stream");
  }
  void step(const DeviceToHost& p) {
    known(graph_.fifos(), p.fifo, "Copy to a stream");
    rules_.fifo(graph_.fifos()[p.fifo], false, p.source, "Copy to a stream");
  }
  void step(const RemoteRead& p) {
    known(graph_.remote_buffers(), p.buffer, "Copy from a remote buffer");
    rules_.written(p.tensor, "Copy from a remote buffer");
    rules_.rows(graph_.remote_buffers()[p.buffer], p.tensor, p.offset, "Copy from a remote buffer");
  }
  void step(const RemoteWrite& p) {
    known(graph_.remote_buffers(), p.buffer, "Copy to a remote buffer");
    rules_.rows(graph_.remote_buffers()[p.buffer], p.tensor, p.offset, "Copy to a remote buffer");
  }
  void step(const RepeatWhile& p) {
    rules_.predicate(p.predicate, p.until ? "RepeatWhileFalse: the predicate" : "RepeatWhileTrue: the predicate");
  }
  void step(const If& p) { rules_.predicate(p.predicate, "If: the predicate"); }
  void step(const Switch& p) {
    rules_.control(p.control, "Switch: the control");
    std::vector<std::int32_t> values;
    for (const auto& [value, body] : p.cases) values.push_back(value);
    rules_.cases(std::move(values));
  }
  void step(const Call& p) { known(graph_.functions(), p.function, "Call of a function"); }
  void step(const LoadFunction& p) { known(graph_.functions(), p.function, "load of a function"); }
  void step(const HostCall& p) {
    known(graph_.host_functions(), p.function, "Call of a host function");
    rules_.host_call(graph_.host_functions()[p.function], p.inputs, p.outputs);
  }
  void step(const Sync&) {}
  void step(const Print& p) { rules_.needs(p.tensor, "PrintTensor"); }
  void step(const Error& p) {
    if (p.condition.valid()) rules_.predicate(p.condition, "AbortOnCondition: the predicate");
  }
  void step(const WriteUndef& p) {
    rules_.needs(p.tensor, "WriteUndef");
    rules_.not_constant(p.tensor, "WriteUndef");
  }
  void step(const CrossReplicaCopy& p) {
    rules_.copy(p.source, p.destination, "CrossReplicaCopy");
    rules_.replica_map(p.map, p.destination);
  }
  void step(const Send& p) {
    known(graph_.channels(), p.channel, "send");
    rules_.sent(graph_.channels()[p.channel], p.source);
  }
  void step(const Receive& p) {
    known(graph_.channels(), p.channel, "receive");
    rules_.written(p.destination, "receive");
    rules_.block(graph_.channels()[p.channel], p.destination, "receive");
  }
  void step(const CycleStamp& p) {
    rules_.written(p.stamp, "cycle count");
    rules_.same_type(ElementType::unsigned_int, p.stamp.type(), "cycle count");
    rules_.elements(p.stamp, 2, "cycle count", "a cycle count");
    if (p.tile.value >= graph_.machine().tiles())
      fail(ErrorKind::invalid_tile_mapping, "no-such-tile", "cycle count of tile {}; machine '{}' has {} tiles", p.tile.value,
           graph_.machine().name, graph_.machine().tiles());
  }

  const Graph& graph_;
  std::string path_;
  StepRules rules_;
};

// Depth-first over calls: a function that is reached while it is still open recurs. Bodies and what they call nest together.
class RecursionFinder {
 public:
  explicit RecursionFinder(const Graph& graph)
      : graph_(graph), state_(graph.functions().size(), State::unseen), depth_(graph.functions().size(), 0) {}

  // How deep the function nests, what it calls included.
  std::uint32_t enter(FunctionId id) {
    State& state = state_[id.index()];
    if (state == State::done) return depth_[id.index()];
    open_.push_back(id);
    if (state == State::open) recurs(id);
    state = State::open;
    const ProgramPtr& body = graph_.functions()[id].body;
    const std::uint32_t own = body ? body->depth : 1;
    open_depth_ += own;
    if (open_depth_ > kMostNesting) too_deep(id);
    depth_[id.index()] = own + deepest_call(body);
    if (depth_[id.index()] > kMostNesting) too_deep(id);
    state = State::done;
    open_depth_ -= own;
    open_.pop_back();
    return depth_[id.index()];
  }

  std::uint32_t deepest_call(const ProgramPtr& body) {
    std::uint32_t deepest = 0;
    ProgramWalk walk;
    walk.visit(body, [&](const Program& p) {
      if (const auto* call = std::get_if<Call>(&p.body)) deepest = std::max(deepest, enter(call->function));
    });
    return deepest;
  }

 private:
  enum class State : std::uint8_t { unseen, open, done };

  [[noreturn]] void too_deep(FunctionId id) const {
    fail(ErrorKind::control_program_error, "too-deep", "function '{}' and what it calls are nested deeper than {}",
         graph_.functions()[id].name, kMostNesting);
  }

  [[noreturn]] void recurs(FunctionId id) const {
    std::string chain;
    for (auto it = std::find(open_.begin(), open_.end(), id); it != open_.end(); ++it)
      chain += (chain.empty() ? "" : " -> ") + fmt::format("{} '{}'", it->value, graph_.functions()[*it].name);
    fail(ErrorKind::graph_recursion_error, "recursion", "a function calls itself: function {}", chain);
  }

  const Graph& graph_;
  std::vector<State> state_;
  std::vector<FunctionId> open_;
  std::vector<std::uint32_t> depth_;  // of the ones that are done
  std::uint32_t open_depth_ = 0;      // of the bodies of the open ones together
};

// A program that is in two places is written out twice: forty sequences, each of the one before, twice, are 2^40 steps.
class StepCount {
 public:
  // Of steps that are written out, at most; tables of this size fill a host's memory.
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 24;

  std::uint64_t of(const ProgramPtr& program) {
    if (!program) return 0;
    const auto known = counts_.find(program.get());
    if (known != counts_.end()) return known->second;
    std::uint64_t steps = 1;
    for_each_part(*program, [&](const ProgramPtr& part) { steps = saturating_add(steps, of(part)); });
    return counts_[program.get()] = steps;
  }

 private:
  std::unordered_map<const Program*, std::uint64_t> counts_;
};

void verify_size(const Graph& graph, std::span<const ProgramPtr> programs) {
  StepCount count;
  const auto check = [&](const ProgramPtr& program, const std::string& what) {
    const std::uint64_t steps = count.of(program);
    if (steps <= StepCount::kMost) return;
    fail(ErrorKind::control_program_error, "too-many-steps",
         "{} has {} steps when what it repeats is written out; at most {} are possible: a loop (Repeat) or a function (addFunction, Call) "
         "has its steps once",
         what, steps == ~std::uint64_t{0} ? "more than 2^64" : std::to_string(steps), StepCount::kMost);
  };
  for (const Function& f : graph.functions()) check(f.body, fmt::format("function '{}'", f.name));
  for (std::size_t i = 0; i < programs.size(); ++i) check(programs[i], fmt::format("program {}", i));
}

}  // namespace

void verify_programs(const Graph& graph, std::span<const ProgramPtr> programs) {
  verify_size(graph, programs);
  Checker checker(graph);
  ProgramWalk walk;
  auto check = [&](const Program& p) { checker.check(p); };
  for (const Function& f : graph.functions()) walk.visit(f.body, check);
  for (const ProgramPtr& p : programs) walk.visit(p, check);
  RecursionFinder recursion(graph);
  for (std::uint32_t i = 0; i < graph.functions().size(); ++i) recursion.enter(FunctionId(i));
}

}  // namespace pando::graph
