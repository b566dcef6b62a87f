#include "emit/torch/placed.h"

#include "base/check.h"
#include "emit/torch/torch_row.h"
#include "ir/checks/verify.h"
#include "ir/checks/verify_distribution.h"
#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/op_table.h"
#include "ir/semantics/infer.h"
#include "split/place.h"
#include "transform/devices/complete_places.h"
#include "transform/devices/unroll_pmap.h"
#include "transform/distribute/flatten.h"
#include "transform/expand.h"
#include "transform/flatten_tuples.h"
#include "transform/prune.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace pando::emit {

using namespace ir;

namespace {

constexpr std::int32_t kSeveral = -1;

bool has_row(const OpRow& row) {
  const TorchRow* torch = find_torch_row(op_kind(row.name));
  return torch != nullptr;
}

// Written by the writers of graphs, not by rows.
bool is_structural(const OpRow& row) {
  return row.control != Control::none || row.tuple != Tuple::none || row.constant || has(row.effects, Effects::stream) ||
         has(row.effects, Effects::remote) || has(row.effects, Effects::code);
}

class Placer {
 public:
  explicit Placer(Module module) : m_(std::move(module)) {}

  Placed run() {
    prepare();
    resolve_tuples();
    devices_of_ops();
    split::insert_sends(m_, devices_);
    check_torch_ops(m_);
    list_steps();
    list_ends();
    p_.module = std::move(m_);
    return std::move(p_);
  }

 private:
  void prepare() {
    check(m_);
    if (const auto wrong = verify_distribution(m_); !wrong.empty())
      throw_model_error(ErrorClass::popart, "not-distributed", to_string(wrong));
    std::set<std::uint32_t> variables;
    for (std::size_t s = 0; s < m_.state_count(); ++s) {
      if (const auto& input = m_.state(StateId(static_cast<StateId::rep>(s))).input) variables.insert(*input);
    }
    for (std::uint32_t i = 0; i < m_.graph(m_.main_graph()).inputs.size(); ++i) {
      if (!variables.contains(i))
        reject(ErrorClass::value, "input-without-variable", "input '{}' of the main graph is not a variable",
               m_.name_of(m_.graph(m_.main_graph()).inputs[i]));
    }
    for (ValueId v : m_.graph(m_.main_graph()).outputs) name_output(m_.name_of(v), m_.value(v).type);
    if (has_pmap()) m_ = transform::unroll_pmap(m_);
    m_ = transform::write_out_across(std::move(m_));
    transform::expand(m_, [](const OpRow& row) { return has_row(row) || is_structural(row); });
    transform::flatten_tuples(m_);
    transform::prune(m_);
    if (m_.replicas() > 1)
      reject(ErrorClass::not_implemented, "replicas", "a module of {} replicas; one with devices is expected (pando transform --data)",
             m_.replicas());
    transform::complete_places(m_);
    for (OpId o : m_.graph(m_.main_graph()).ops) {
      if (m_.op(o).context != Context::normal)
        reject(ErrorClass::not_implemented, "context-in-emit", "'{}' belongs to a program of its own; the main program is written",
               m_.name_of(o));
    }
  }

  bool has_pmap() const {
    const OpKind pmap = op_kind("pmap");
    for (std::size_t g = 0; g < m_.graph_count(); ++g) {
      for (OpId o : m_.graph(GraphId(static_cast<GraphId::rep>(g))).ops) {
        if (m_.op(o).kind == pmap) return true;
      }
    }
    return false;
  }

  // Transforms make new names. A tuple becomes its elements.
  void name_output(const std::string& name, TypeId type) {
    const Type& t = m_.type(type);
    if (t.is_tensor()) return output_names_.push_back(name);
    for (std::size_t i = 0; i < t.elements.size(); ++i) name_output(name + '.' + std::to_string(i), t.elements[i]);
  }

  std::int32_t device_of(ValueId v) const { return std::max(0, m_.type_of(v).place.device.value); }

  // --- tuples: what each element is
  ValueId now(ValueId v) const { return p_.now(v); }

  void resolve_tuples() {
    const GraphId main = m_.main_graph();
    const std::vector<OpId> ops = m_.graph(main).ops;
    for (OpId o : ops) {
      for (ValueId v : m_.results(o)) {
        if (!m_.type_of(v).is_tensor()) elements_[v].resize(m_.type_of(v).elements.size());
      }
      if (m_.row(o).tuple == Tuple::make) {
        for (std::size_t i = 0; i < m_.operands(o).size(); ++i) elements_[m_.result(o)][i] = now(m_.operand(o, i));
      } else if (m_.row(o).tuple == Tuple::element) {
        ValueId& e = elements_.at(m_.operand(o, 0))[static_cast<std::size_t>(m_.attributes(o).integer("index"))];
        if (e.valid())
          p_.instead[m_.result(o).value] = e;
        else
          e = m_.result(o);
      }
    }
    for (auto& [tuple, elements] : elements_) {
      for (std::size_t i = 0; i < elements.size(); ++i) {
        if (elements[i].valid()) continue;
        const OpId added =
            infer_and_add(m_, main, "get_element", {{tuple}}, {{"index", static_cast<std::int64_t>(i)}}, {}, false, {}, m_.name_of(tuple));
        elements[i] = m_.result(added);
      }
    }
  }

  // The tensors of an op's operands or results.
  std::vector<ValueId> tensors(std::span<const ValueId> values) const {
    std::vector<ValueId> all;
    for (ValueId v : values) {
      if (m_.type_of(v).is_tensor()) {
        all.push_back(now(v));
      } else {
        const auto& elements = elements_.at(v);
        all.insert(all.end(), elements.begin(), elements.end());
      }
    }
    return all;
  }

  // --- devices
  bool is_collective(OpId o) const {
    const TorchRow* row = find_torch_row(m_.op(o).kind);
    if (!row || (row->traffic == Traffic::none && !row->on_each_device)) return false;
    if (!row->write) return true;
    // All on one device: a computation.
    std::set<std::int32_t> devices;
    for (ValueId v : tensors(m_.operands(o))) devices.insert(device_of(v));
    return devices.size() > 1;
  }

  void devices_of_ops() {
    devices_.assign(m_.op_count(), kSeveral);
    for (OpId o : m_.graph(m_.main_graph()).ops) {
      if (m_.row(o).tuple != Tuple::none || is_collective(o)) continue;
      const auto own = m_.results(o).empty() ? m_.operands(o) : m_.results(o);
      if (own.empty()) {
        devices_[o.index()] = 0;
        continue;
      }
      const std::int32_t d = device_of(own[0]);
      for (ValueId v : m_.results(o)) {
        if (!m_.type_of(v).is_tensor() || device_of(v) != d)
          reject(ErrorClass::not_implemented, "op-on-several-devices", "'{}' ({}) has results on several devices", m_.name_of(v),
                 m_.row(o).name);
      }
      devices_[o.index()] = d;
    }
  }

  // --- steps
  void list_steps() {
    for (OpId o : m_.graph(m_.main_graph()).ops) {
      if (m_.row(o).tuple != Tuple::none) continue;
      if (is_collective(o)) {
        collective(o);
      } else if (split::is_transfer(m_, o)) {
        const ValueId from = now(m_.operand(o, 0)), to = m_.result(o);
        steps(device_of(from)).push_back({o, StepKind::send, {from}, {}});
        steps(device_of(to)).push_back({o, StepKind::receive, {}, {to}});
      } else {
        DeviceStep s{o, StepKind::local, {}, {}};
        for (ValueId v : m_.operands(o)) s.reads.push_back(now(v));
        s.writes.assign(m_.results(o).begin(), m_.results(o).end());
        steps(devices_[o.index()]).push_back(std::move(s));
      }
    }
  }
  std::vector<DeviceStep>& steps(std::int32_t device) { return p_.devices[device].steps; }

  void collective(OpId o) {
    const TorchRow& row = *find_torch_row(m_.op(o).kind);
    const std::vector<ValueId> operands = tensors(m_.operands(o)), results = tensors(m_.results(o));
    if (row.on_each_device) {
      for (std::size_t i = 0; i < operands.size(); ++i)
        steps(device_of(results[i])).push_back({o, StepKind::local, {operands[i]}, {results[i]}});
      return;
    }
    Placed::Members members;
    const bool spreads = row.traffic == Traffic::broadcast || row.traffic == Traffic::scatter;
    const std::vector<ValueId>& sides = spreads ? results : operands;
    for (ValueId v : sides) add_member(members, device_of(v));
    members.parts = members.devices.size();
    if (operands.size() != results.size()) {
      const std::int32_t root = device_of(spreads ? operands[0] : results[0]);
      const auto it = std::find(members.devices.begin(), members.devices.end(), root);
      members.root = static_cast<std::size_t>(it - members.devices.begin());
      if (it == members.devices.end()) add_member(members, root);
    }
    const auto put = [&](std::vector<ValueId>& to, const std::vector<ValueId>& values) {
      to.resize(members.devices.size());
      for (ValueId v : values) {
        const auto it = std::find(members.devices.begin(), members.devices.end(), device_of(v));
        to[static_cast<std::size_t>(it - members.devices.begin())] = v;
      }
    };
    put(members.operands, operands);
    put(members.results, results);
    for (std::size_t i = 0; i < members.devices.size(); ++i) {
      DeviceStep s{o, StepKind::collective, {}, {}};
      if (members.operands[i].valid()) s.reads.push_back(members.operands[i]);
      if (members.results[i].valid()) s.writes.push_back(members.results[i]);
      steps(members.devices[i]).push_back(std::move(s));
    }
    p_.collectives.emplace(o.value, std::move(members));
  }
  static void add_member(Placed::Members& m, std::int32_t device) { m.devices.push_back(device); }

  // --- inputs and outputs
  void list_ends() {
    const Graph& main = m_.graph(m_.main_graph());
    for (std::uint32_t i = 0; i < main.inputs.size(); ++i) {
      const std::int32_t d = device_of(main.inputs[i]);
      if (device_of(now(main.updated_inputs[i])) != d) {
        reject(ErrorClass::value, "state-on-two-devices", "'{}' lies on device {}, its new contents on device {}",
               m_.name_of(main.inputs[i]), d, device_of(now(main.updated_inputs[i])));
      }
      p_.devices[d].inputs.push_back(i);
    }
    const std::vector<ValueId> outputs = tensors(main.outputs);
    PANDO_CHECK(outputs.size() == output_names_.size());
    std::set<std::string> seen;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (seen.insert(output_names_[i]).second)
        p_.devices[device_of(outputs[i])].outputs.push_back({output_names_[i], output_names_[i], outputs[i]});
    }
  }

  Module m_;
  Placed p_;
  std::vector<std::string> output_names_;
  std::map<ValueId, std::vector<ValueId>> elements_;
  std::vector<std::int32_t> devices_;
};

}  // namespace

void check_torch_ops(const Module& m) {
  std::map<std::string, std::size_t> unknown;
  for (std::size_t g = 0; g < m.graph_count(); ++g) {
    for (OpId o : m.graph(GraphId(static_cast<GraphId::rep>(g))).ops) {
      const OpRow& row = m.row(o);
      if (!is_structural(row) && !has_row(row)) ++unknown[std::string(row.name)];
    }
  }
  if (unknown.empty()) return;
  std::string text;
  for (const auto& [name, n] : unknown) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, n);
  reject(ErrorClass::not_implemented, "op-without-torch", "ops that are not written in PyTorch: {}", text);
}

Placed place(Module module) { return Placer(std::move(module)).run(); }

}  // namespace pando::emit
