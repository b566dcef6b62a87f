#include "emit/torch/reference.h"

#include "emit/torch/reference_values.h"
#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/semantics/infer.h"
#include "ir/semantics/interpreter.h"
#include "project/running/run.h"
#include "transform/distribute/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace pando::emit {

using namespace ir;

namespace {

// The module with its outputs stored to streams of their names.
struct WithOutputs {
  Module module;
  std::vector<std::pair<std::string, HostStreamId>> outputs;
};

WithOutputs store_outputs(const Module& module) {
  WithOutputs w{module, {}};
  Module& m = w.module;
  std::set<std::string> seen;
  const auto store = [&](const auto& self, ValueId v, const std::string& name) -> void {
    const Type t = m.type_of(v);
    if (!t.is_tensor()) {
      for (std::size_t i = 0; i < t.elements.size(); ++i) {
        const OpId e = infer_and_add(m, m.main_graph(), "get_element", {{v}}, {{"index", static_cast<std::int64_t>(i)}});
        self(self, m.result(e), name + '.' + std::to_string(i));
      }
      return;
    }
    if (!seen.insert(name).second) return;
    const HostStreamId s = m.add_stream({"output " + name, HostStream::Direction::device_to_host, t.dtype, t.shape});
    infer_and_add(m, m.main_graph(), "host_store", {{v}}, {{"stream", s}});
    w.outputs.emplace_back(name, s);
  };
  const std::vector<ValueId> outputs = m.graph(m.main_graph()).outputs;
  for (ValueId v : outputs) store(store, v, std::string(m.name_of(v)));
  return w;
}

// Blocks of each stream in one step.
std::map<HostStreamId, std::int64_t> blocks_of(const Module& m) {
  std::map<HostStreamId, std::int64_t> blocks;
  const auto count = [&](const auto& self, OpId o, std::int64_t times) -> void {
    if (has(m.row(o).effects, Effects::stream)) blocks[std::get<HostStreamId>(*m.attributes(o).find("stream"))] += times;
    const std::int64_t inner = m.row(o).control == Control::repeat ? m.attributes(o).integer("count") * times : times;
    for (GraphId g : m.graphs(o)) {
      for (OpId x : m.graph(g).ops) self(self, x, inner);
    }
  };
  for (OpId o : m.graph(m.main_graph()).ops) count(count, o, 1);
  return blocks;
}

// (1, replicas, shape) as (1, shape).
HostTensor without_replicas(const HostTensor& t) {
  Shape shape = t.shape();
  shape.erase(shape.begin() + 1);
  return t.reshaped(shape);
}

Tensors run_module(const Module& module, const Options& options, std::int64_t steps, bool perturbed) {
  const WithOutputs w = store_outputs(module);
  const Module& m = w.module;
  const MadeData data(options);
  Interpreter interpreter(m);
  Perturbation perturbation;
  if (perturbed) interpreter.on_results([&](const OpRow& row, std::vector<HostValue>& r) { perturbation(row, r); });
  for (std::size_t s = 0; s < m.state_count(); ++s) {
    const StateId id(static_cast<StateId::rep>(s));
    const State& state = m.state(id);
    const Type& t = m.type(state.type);
    interpreter.set_state(id, 0, data.variable(state.name, t.dtype, t.shape, state.data.valid() ? m.blob(state.data) : HostTensor()));
  }
  const std::map<HostStreamId, std::int64_t> blocks = blocks_of(m);
  std::map<HostStreamId, HostTensor> inputs;
  for (const auto& [id, n] : blocks) {
    const HostStream& s = m.stream(id);
    if (s.direction == HostStream::Direction::host_to_device) inputs[id] = data.blocks(s.name, s.dtype, s.shape, n * steps);
  }
  Tensors variables, outputs;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (const auto& [id, all] : inputs) {
      HostTensor mine = blocks_from(all, step * blocks.at(id), blocks.at(id));
      Shape shape = mine.shape();
      shape.insert(shape.begin() + 1, 1);
      interpreter.set_input(id, mine.reshaped(shape));
    }
    interpreter.run();
    for (const auto& [id, n] : blocks) {
      const HostStream& s = m.stream(id);
      if (s.direction != HostStream::Direction::device_to_host) continue;
      const auto own = std::find_if(w.outputs.begin(), w.outputs.end(), [&](const auto& o) { return o.second == id; });
      HostTensor& to = outputs[own == w.outputs.end() ? s.name : own->first];
      to = behind(to, without_replicas(interpreter.output(id, n)));
    }
  }
  for (std::size_t s = 0; s < m.state_count(); ++s) {
    const StateId id(static_cast<StateId::rep>(s));
    variables[m.state(id).name] = interpreter.state(id, 0);
  }
  return joined(variables, outputs, options.pieces);
}

// Of one run, about: multiplications and additions.
double operations_of(const Module& m, GraphId graph);

double operations_of_op(const Module& m, OpId o) {
  double elements = 0;
  for (ValueId v : m.results(o)) {
    if (m.type_of(v).is_tensor()) elements += static_cast<double>(elements_of(m.type_of(v).shape));
  }
  if (m.row(o).on_matrix_units && !m.operands(o).empty() && !m.type_of(m.operand(o, 0)).shape.empty())
    elements *= 2 * static_cast<double>(m.type_of(m.operand(o, 0)).shape.back());
  for (GraphId g : m.graphs(o)) elements += operations_of(m, g) * static_cast<double>(m.attributes(o).integer("count", 1));
  return elements;
}

double operations_of(const Module& m, GraphId graph) {
  double n = 0;
  for (OpId o : m.graph(graph).ops) n += operations_of_op(m, o);
  return n;
}

}  // namespace

void add_reference(const Module& module, const Options& options, Emitted& out) {
  const std::int64_t steps = steps_of(options, operations_of(module, module.main_graph()), out);
  if (steps == 0) return;
  write_reference(run_module(module, options, steps, false), run_module(module, options, steps, true), steps, options, out);
}

// --- projected programs

namespace {

class PerturbedTensors : public project::Tensors {
 public:
  PerturbedTensors(const Module& module, const project::HostInputs& inputs, bool perturbs)
      : project::Tensors(module, inputs), module_(module), perturbs_(perturbs) {}

  std::vector<Value> evaluate(OpId op, std::vector<Value> operands) {
    std::vector<Value> results = project::Tensors::evaluate(op, std::move(operands));
    if (!perturbs_) return results;
    for (Value& v : results) {
      std::vector<HostValue> one{v.value};
      perturbation_(module_.row(op), one);
      v.value = std::move(one[0]);
    }
    return results;
  }

 private:
  const Module& module_;
  bool perturbs_;
  Perturbation perturbation_;
};

// What was stored to a stream of the host, by sample and slice, behind what was there.
void add_outputs(const project::ProjectedProgram& p, const project::Machine<PerturbedTensors>& machine, Tensors& outputs) {
  std::map<std::string, std::vector<const HostTensor*>> all;
  for (std::size_t s = 0; s < p.streams.size(); ++s) {
    const project::Stream& stream = p.streams[s];
    if (stream.to != project::kHost) continue;
    auto& out = all[stream.host];
    const auto& messages = machine.output(s);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const std::size_t at = i * static_cast<std::size_t>(stream.slices) + static_cast<std::size_t>(stream.slice);
      if (out.size() <= at) out.resize(at + 1);
      out[at] = &messages[i].value.tensor;
    }
  }
  for (const auto& [name, blocks] : all) {
    for (const HostTensor* t : blocks) {
      Shape shape = t->shape();
      shape.insert(shape.begin(), 1);
      outputs[name] = behind(outputs[name], t->reshaped(shape));
    }
  }
}

Tensors run_projected(project::ProjectedProgram p, const Options& options, std::int64_t steps, bool perturbs) {
  const MadeData data(options);
  project::HostInputs all;
  for (const project::Stream& s : p.streams) {
    const Type& t = p.module->type(s.type);
    if (s.from == project::kHost && !all.contains(s.host))
      all[s.host] = data.blocks(s.host, t.dtype, t.shape, steps * options.samples * s.slices);
  }
  Tensors variables, outputs;
  for (auto& d : p.devices) {
    for (auto& b : d.buffers) {
      const Type& t = p.module->type(b.type);
      if (b.kind == project::BufferKind::state) b.initial = data.variable(b.name, t.dtype, t.shape, b.initial);
    }
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    project::HostInputs inputs;
    for (const auto& [name, t] : all) inputs[name] = blocks_from(t, step * (t.shape()[0] / steps), t.shape()[0] / steps);
    PerturbedTensors domain(*p.module, inputs, perturbs);
    project::Machine<PerturbedTensors> machine(p, domain, {.samples = options.samples, .capacity = {}});
    machine.run();
    for (std::size_t d = 0; d < p.devices.size(); ++d) {
      for (std::size_t b = 0; b < p.devices[d].buffers.size(); ++b) {
        project::Buffer& buffer = p.devices[d].buffers[b];
        if (buffer.kind == project::BufferKind::state) variables[buffer.name] = buffer.initial = machine.state(d, b).value.tensor;
      }
    }
    add_outputs(p, machine, outputs);
  }
  return joined(variables, outputs, options.pieces);
}

double operations_of_projected(const project::ProjectedProgram& p) {
  double n = 0;
  for (const auto& d : p.devices) {
    for (const auto& a : d.loop) {
      if (a.kind == project::ActionKind::compute) n += operations_of_op(*p.module, a.op);
    }
  }
  return n;
}

}  // namespace

void add_reference(const project::ProjectedProgram& p, const Options& options, Emitted& out) {
  const std::int64_t steps = steps_of(options, operations_of_projected(p) * static_cast<double>(options.samples), out);
  if (steps == 0) return;
  write_reference(run_projected(p, options, steps, false), run_projected(p, options, steps, true), steps, options, out);
}

}  // namespace pando::emit
