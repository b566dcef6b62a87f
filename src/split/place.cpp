#include "split/place.h"

#include "ir/error.h"
#include "ir/semantics/infer.h"
#include "ir/text/print.h"

#include <unordered_map>

namespace pando::split {

using namespace ir;

namespace {

constexpr std::int32_t kUnknown = -1;

class Completion {
 public:
  explicit Completion(Module& m)
      : m_(m),
        graph_(m.graph(m.main_graph())),
        ops_(m.op_count(), kUnknown),
        inputs_(graph_.inputs.size(), kUnknown),
        users_(m.value_count(), kUnknown),
        input_of_final_(m.value_count(), kNone) {}

  std::vector<std::int32_t> run() {
    for (std::size_t i = graph_.updated_inputs.size(); i-- > 0;)
      input_of_final_[graph_.updated_inputs[i].index()] = static_cast<std::uint32_t>(i);
    for (OpId o : graph_.ops) annotated(o);
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      const Device d = m_.type_of(graph_.inputs[i]).place.device;
      if (d.known()) put_input(i, d.value);
    }
    for (OpId o : graph_.ops) {
      if (ops_[o.index()] != kUnknown) put_op(o, ops_[o.index()]);
    }
    do {
      changed_ = false;
      for (OpId o : graph_.ops) forward(o);
      for (auto o = graph_.ops.rbegin(); o != graph_.ops.rend(); ++o) backward(*o);
    } while (changed_);
    write();
    return std::move(ops_);
  }

 private:
  void annotated(OpId o) {
    if (m_.row(o).moves && m_.graphs(o).empty()) {
      std::vector<TypeId> types;
      for (ValueId v : m_.operands(o)) types.push_back(m_.value(v).type);
      const auto results = infer_types(m_, m_.row(o), types, m_.attributes(o), {}, m_.op(o).in_place);
      for (std::size_t i = 0; i < results.size() && i < m_.results(o).size(); ++i) {
        Type t = m_.type_of(m_.result(o, i));
        if (!t.place.device.known()) t.place = results[i].place;
        m_.set_type(m_.result(o, i), t);
      }
    }
    for (ValueId v : m_.results(o)) {
      const Device d = m_.type_of(v).place.device;
      if (!d.known()) continue;
      if (d.is_variable())
        reject(ErrorClass::value, "device-variable", "'{}' lies on a device variable; a loop body has numbered devices", m_.name_of(v));
      std::int32_t& mine = ops_[o.index()];
      if (mine != kUnknown && mine != d.value) {
        reject(ErrorClass::value, "two-devices", "{}: results lie on devices {} and {}; an op runs on one", print_op(m_, o), mine, d.value);
      }
      mine = d.value;
    }
  }

  std::int32_t device_of(ValueId v) const {
    const Value& value = m_.value(v);
    if (!value.producer.valid()) return inputs_[value.index];
    return is_constant(m_, value.producer) ? kUnknown : ops_[value.producer.index()];
  }

  // An input and what makes its new contents are together.
  void put_input(std::size_t i, std::int32_t d) {
    if (inputs_[i] != kUnknown) return;
    inputs_[i] = d;
    changed_ = true;
    const OpId update = m_.value(graph_.updated_inputs[i]).producer;
    if (update.valid() && ops_[update.index()] == kUnknown) put_op(update, d);
  }
  void put_op(OpId o, std::int32_t d) {
    changed_ |= ops_[o.index()] != d;
    ops_[o.index()] = d;
    for (ValueId v : m_.results(o)) {
      if (const std::uint32_t i = input_of_final_[v.index()]; i != kNone) put_input(i, d);
    }
    if (is_transfer(m_, o)) return;
    for (ValueId v : m_.operands(o)) {
      if (!m_.value(v).producer.valid()) put_input(m_.value(v).index, d);
    }
  }

  void forward(OpId o) {
    if (ops_[o.index()] != kUnknown || is_constant(m_, o)) return;
    std::int32_t found = kUnknown;
    for (ValueId v : m_.operands(o)) {
      const std::int32_t d = device_of(v);
      if (d == kUnknown) continue;
      if (found == kUnknown) found = d;
      if (m_.value(v).producer.valid()) continue;
      found = d;
      break;
    }
    if (found != kUnknown) put_op(o, found);
  }
  // What nothing is known of lies where its first user is: called from the last op to the first, so the first user comes last.
  void backward(OpId o) {
    const std::int32_t d = ops_[o.index()];
    for (ValueId v : m_.results(o)) {
      if (const std::int32_t user = users_[v.index()]; ops_[o.index()] == kUnknown && user != kUnknown && !is_constant(m_, o))
        put_op(o, user);
    }
    if ((d == kUnknown && ops_[o.index()] == kUnknown) || is_transfer(m_, o)) return;
    for (ValueId v : m_.operands(o)) users_[v.index()] = ops_[o.index()];
  }

  void write() {
    const auto place = [&](ValueId v, std::int32_t d) {
      const Type& now = m_.type_of(v);
      if (now.is_tensor() && now.place.device == Device::numbered(d) && now.place.tiles != TileSet::undefined) return;
      Type t = now;
      if (!t.is_tensor())
        reject(ErrorClass::not_implemented, "tuple-in-loop", "'{}' is a tuple; expand collectives and flatten tuples before projecting",
               m_.name_of(v));
      t.place.device = Device::numbered(d);
      if (t.place.tiles == TileSet::undefined) t.place.tiles = TileSet::compute;
      m_.set_type(v, t);
    };
    for (OpId o : graph_.ops) {
      std::int32_t& d = ops_[o.index()];
      if (d == kUnknown) d = 0;
      for (ValueId v : m_.results(o)) place(v, d);
    }
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::int32_t d = inputs_[i] == kUnknown ? 0 : inputs_[i];
      place(graph_.inputs[i], d);
      const OpId update = m_.value(graph_.updated_inputs[i]).producer;
      if (update.valid() && ops_[update.index()] != d) {
        reject(ErrorClass::value, "state-on-two-devices", "'{}' lies on device {}, its new contents '{}' on device {}; send them back",
               m_.name_of(graph_.inputs[i]), d, m_.name_of(graph_.updated_inputs[i]), ops_[update.index()]);
      }
    }
    for (std::size_t s = 0; s < m_.state_count(); ++s) {
      State& state = m_.state(StateId(static_cast<StateId::rep>(s)));
      if (state.input) state.type = m_.value(graph_.inputs[*state.input]).type;
    }
  }

  Module& m_;
  Graph& graph_;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::int32_t> ops_, inputs_;
  // By value: the device of its first user; which input it is the new contents of.
  std::vector<std::int32_t> users_;
  std::vector<std::uint32_t> input_of_final_;
  bool changed_ = false;
};

class Sends {
 public:
  Sends(Module& m, std::vector<std::int32_t>& devices) : m_(m), devices_(devices), behind_(m.op_count()) {}

  void run() {
    const GraphId main = m_.main_graph();
    const std::vector<OpId> ops = m_.graph(main).ops;
    for (OpId o : ops) {
      if (is_transfer(m_, o) || devices_[o.index()] < 0) continue;
      for (std::uint32_t i = 0; i < m_.op(o).operand_count; ++i) {
        const ValueId v = m_.operand(o, i);
        const std::int32_t to = devices_[o.index()];
        if (m_.type_of(v).place.device.value != to) m_.set_operand(o, i, on_device(v, to));
      }
    }
    std::vector<OpId> order = at_the_beginning_;
    for (OpId o : ops) {
      order.push_back(o);
      order.insert(order.end(), behind_[o.index()].begin(), behind_[o.index()].end());
    }
    m_.graph(main).ops = std::move(order);
  }

 private:
  ValueId on_device(ValueId v, std::int32_t to) {
    const auto [it, is_new] = sent_.try_emplace(static_cast<std::uint64_t>(v.value) << 32 | static_cast<std::uint32_t>(to));
    if (!is_new) return it->second;
    const OpId producer = m_.value(v).producer;
    const std::string name = m_.name_of(v) + "." + std::to_string(to);
    const Place place{Device::numbered(to), m_.type_of(v).place.tiles, m_.type_of(v).place.memory};
    OpId added;
    if (producer.valid() && is_constant(m_, producer)) {
      std::vector<TypeId> types;
      for (ValueId r : m_.results(producer)) {
        Type t = m_.type_of(r);
        t.place = place;
        types.push_back(m_.type(t));
      }
      added = m_.add_op(m_.main_graph(), m_.op(producer).kind, {}, Attributes(m_.attributes(producer)), {}, types, name);
    } else {
      added = infer_and_add(m_, m_.main_graph(), "send", {{v}}, {{"device", std::int64_t{to}}}, {}, false, {}, name);
    }
    m_.op(added).location = producer.valid() ? m_.op(producer).location : LocationId();
    devices_.push_back(to);
    if (producer.valid()) {
      behind_[producer.index()].push_back(added);
    } else {
      at_the_beginning_.push_back(added);
    }
    return it->second = m_.result(added, m_.value(v).producer.valid() && is_constant(m_, producer) ? m_.value(v).index : 0);
  }

  Module& m_;
  std::vector<std::int32_t>& devices_;
  // The ops that were added behind an op.
  std::vector<std::vector<OpId>> behind_;
  std::vector<OpId> at_the_beginning_;
  std::unordered_map<std::uint64_t, ValueId> sent_;
};

}  // namespace

bool is_transfer(const Module& m, OpId o) {
  const Op& op = m.op(o);
  if (!m.row(o).moves || op.graph_count || op.operand_count != 1 || op.result_count != 1) return false;
  const Type &from = m.type_of(m.operand(o, 0)), &to = m.type_of(m.result(o, 0));
  return from.is_tensor() && to.is_tensor() && from.dtype == to.dtype && from.shape == to.shape && from.place.device != to.place.device;
}

bool is_constant(const Module& m, OpId o) {
  return m.op(o).operand_count == 0 && m.op(o).graph_count == 0 && m.row(o).effects == Effects::none;
}

std::vector<std::int32_t> complete_devices(Module& module) { return Completion(module).run(); }

void insert_sends(Module& module, std::vector<std::int32_t>& devices) { Sends(module, devices).run(); }

}  // namespace pando::split
