#include "project/loop.h"

#include "ir/checks/verify.h"
#include "ir/error.h"
#include "ir/semantics/infer.h"
#include "ir/text/print.h"
#include "project/order.h"
#include "project/window.h"
#include "split/one_op_per_device.h"
#include "split/place.h"
#include "transform/distribute/flatten.h"

#include <vector>

namespace pando::project {

using namespace ir;

namespace {

template <class... Args>
[[noreturn]] void no_loop(std::string_view id, fmt::format_string<Args...> format, Args&&... args) {
  throw_model_error(ErrorClass::not_implemented, id, fmt::format(format, std::forward<Args>(args)...));
}

// What a graph does beside computing, in graphs that it carries too.
void check_pure(const Module& m, GraphId g, std::vector<bool>& seen) {
  if (seen[g.index()]) return;
  seen[g.index()] = true;
  for (OpId o : m.graph(g).ops) {
    const Effects allowed = g == m.main_graph() ? Effects::stream : Effects::none;
    const auto effects = static_cast<std::uint8_t>(m.row(o).effects);
    if (effects & ~static_cast<std::uint8_t>(allowed)) {
      no_loop("effect-in-loop",
              "{}: the body of a projected loop computes, and loads and stores streams of the host in its main graph; nothing else",
              print_op(m, o));
    }
    for (GraphId c : m.graphs(o)) check_pure(m, c, seen);
  }
}

void check_module(const Module& m) {
  if (m.replicas() != 1) no_loop("replicas-in-loop", "a module of {} replicas; project one replica's", m.replicas());
  for (std::size_t s = 0; s < m.state_count(); ++s) {
    const State& state = m.state(StateId(static_cast<StateId::rep>(s)));
    if (!state.input) no_loop("remote-state-in-loop", "variable '{}' is a row of a remote buffer", state.name);
    if (!state.data.valid())
      no_loop("variable-without-data", "variable '{}' has no data; a projected program says what its variables begin with", state.name);
  }
  for (OpId o : m.graph(m.main_graph()).ops) {
    if (m.op(o).context != Context::normal) no_loop("program-in-loop", "{}: it belongs to another program of the module", print_op(m, o));
  }
  std::vector<bool> seen(m.graph_count());
  check_pure(m, m.main_graph(), seen);
}

// A variable that becomes what another value is already (an input, another's new contents) gets a copy of its own.
void give_finals_of_their_own(Module& m) {
  const GraphId main = m.main_graph();
  std::vector<bool> taken(m.value_count(), false);
  for (std::size_t i = 0; i < m.graph(main).inputs.size(); ++i) {
    const ValueId final = m.graph(main).updated_inputs[i], input = m.graph(main).inputs[i];
    if (final == input) continue;
    if (m.value(final).producer.valid() && !taken[final.index()]) {
      taken[final.index()] = true;
      continue;
    }
    const OpId copy = infer_and_add(m, main, "identity", {{final}}, {}, {}, false, {}, m.name_of(input) + ".next");
    m.graph(main).updated_inputs[i] = m.result(copy);
    taken.resize(m.value_count(), true);
  }
}

// Buffers and streams are known by their values' names.
void give_names_of_their_own(Module& m) {
  const GraphId main = m.main_graph();
  std::vector<bool> taken;
  const auto is_taken = [&](NameId n) {
    if (n.index() >= taken.size()) taken.resize(2 * n.index() + 1, false);
    const bool was = taken[n.index()];
    taken[n.index()] = true;
    return was;
  };
  const auto see = [&](ValueId v) {
    if (!is_taken(m.value(v).name)) return;
    m.set_name(v, m.unique_name_id(main, m.name_of(v)));
    is_taken(m.value(v).name);
  };
  for (ValueId v : m.graph(main).inputs) see(v);
  for (OpId o : m.graph(main).ops) {
    for (ValueId v : m.results(o)) see(v);
  }
}

void find_states(LoopProgram& l) {
  const Module& m = *l.module;
  const Graph& main = m.graph(m.main_graph());
  l.state_of.assign(m.value_count(), -1);
  l.new_version_of.assign(m.value_count(), -1);
  for (std::size_t s = 0; s < m.state_count(); ++s) {
    const State& state = m.state(StateId(static_cast<StateId::rep>(s)));
    LoopState mine;
    mine.name = m.name_of(main.inputs[*state.input]);
    mine.value = main.inputs[*state.input];
    mine.final = main.updated_inputs[*state.input];
    mine.device = m.type_of(mine.value).place.device.value;
    mine.initial = m.blob(state.data).reshaped(m.type(state.type).shape);
    l.state_of[mine.value.index()] = static_cast<std::int32_t>(l.states.size());
    if (mine.final != mine.value) l.new_version_of[mine.final.index()] = static_cast<std::int32_t>(l.states.size());
    l.states.push_back(std::move(mine));
  }
}

// Variables that nothing changes, constants, and what is computed from those alone.
void find_invariants(LoopProgram& l) {
  const Module& m = *l.module;
  std::vector<bool>& fixed = l.fixed;
  fixed.assign(m.value_count(), false);
  for (const LoopState& s : l.states) fixed[s.value.index()] = s.value == s.final;
  for (OpId o : m.graph(m.main_graph()).ops) {
    bool is_fixed = m.row(o).effects == Effects::none;
    for (ValueId v : m.operands(o)) is_fixed = is_fixed && fixed[v.index()];
    for (ValueId v : m.results(o)) is_fixed = is_fixed && l.new_version_of[v.index()] < 0;
    for (ValueId v : m.results(o)) fixed[v.index()] = is_fixed;
    (is_fixed ? l.before : l.body).push_back(o);
  }
}

}  // namespace

LoopProgram make_loop(Module module, const Policy& policy) {
  module = transform::write_out_across(std::move(module));
  check_module(module);
  LoopProgram l;
  l.policy = policy;
  split::one_op_per_device(module);
  give_finals_of_their_own(module);
  l.devices = split::complete_devices(module);
  split::insert_sends(module, l.devices);
  send_order(module, l.devices, policy);
  check(module);
  give_names_of_their_own(module);
  l.module = std::make_shared<Module>(std::move(module));
  find_states(l);
  find_invariants(l);
  l.after = l.module->graph(l.module->main_graph()).after;
  if (policy.windowed()) split_update(l);
  return l;
}

}  // namespace pando::project
