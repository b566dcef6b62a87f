#include "split/share_buffers.h"

#include "ir/error.h"
#include "ir/op_row.h"
#include "ir/semantics/infer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

namespace pando::split {

using namespace ir;

namespace {

// An op of the main graph that uses a buffer, or whose graphs do.
struct User {
  OpId op;
  bool inside = false;
};

class Sharing {
 public:
  Sharing(Module& m, std::vector<std::int32_t>& devices) : m_(m), devices_(devices) {}

  void run() {
    const std::vector<OpId> ops = m_.graph(m_.main_graph()).ops;
    for (OpId o : ops) find(o, o, false);
    std::map<BufferId, std::int32_t> homes;
    for (const auto& [buffer, users] : users_) {
      if (const auto home = home_of(buffer, users)) homes[buffer] = *home;
    }
    if (homes.empty()) return;
    std::vector<OpId> order;
    for (OpId o : ops) {
      for (std::uint32_t i = 0; i < m_.op(o).operand_count; ++i) m_.set_operand(o, i, now(m_.operand(o, i)));
      const auto home = homes.find(buffer_of(o));
      if (home == homes.end() || device(o) == home->second) {
        order.push_back(o);
      } else if (m_.results(o).empty()) {
        device(o) = home->second;
        order.push_back(o);
      } else {
        load_at(o, home->second, order);
      }
    }
    Graph& main = m_.graph(m_.main_graph());
    main.ops = std::move(order);
    for (ValueId& v : main.outputs) v = now(v);
    for (ValueId& v : main.updated_inputs) v = now(v);
    for (auto& [first, then] : main.after) first = behind(first), then = behind(then);
  }

 private:
  std::int32_t& device(OpId o) { return devices_[o.index()]; }
  BufferId buffer_of(OpId o) const {
    const AttributeValue* const buffer = m_.op(o).graph_count == 0 ? m_.attributes(o).find("buffer") : nullptr;
    return buffer ? std::get<BufferId>(*buffer) : BufferId();
  }
  ValueId now(ValueId v) const {
    const auto it = instead_.find(v.value);
    return it == instead_.end() ? v : it->second;
  }
  OpId behind(OpId o) const {
    const auto it = moved_.find(o);
    return it == moved_.end() ? o : it->second;
  }

  void find(OpId top, OpId o, bool inside) {
    if (const BufferId b = buffer_of(o); b.valid()) users_[b].push_back({top, inside});
    for (GraphId g : m_.graphs(o)) {
      for (OpId inner : m_.graph(g).ops) find(top, inner, true);
    }
  }

  // None: one device uses it.
  std::optional<std::int32_t> home_of(BufferId b, const std::vector<User>& users) {
    const User* home = &users[0];
    bool several = false;
    for (const User& u : users) {
      several |= device(u.op) != device(users[0].op);
      if (!u.inside) continue;
      if (home->inside && device(home->op) != device(u.op)) {
        reject(ErrorClass::not_implemented, "buffer-of-several-devices",
               "remote buffer {} is used inside of graphs on two devices: by {} '{}' on device {} and by {} '{}' on device {}; its rows go "
               "between "
               "devices only in the main graph",
               m_.buffer(b).number, m_.row(home->op).name, m_.name_of(home->op), device(home->op), m_.row(u.op).name, m_.name_of(u.op),
               device(u.op));
      }
      home = &u;
    }
    if (!several) return std::nullopt;
    return device(home->op);
  }

  // Loaded at home, sent to where it was to be. What it would have overwritten is not needed.
  void load_at(OpId o, std::int32_t home, std::vector<OpId>& order) {
    const ValueId old = m_.result(o), row = m_.operand(o, m_.op(o).operand_count - 1);
    const std::int32_t there = device(o);
    const GraphId main = m_.main_graph();
    const OpId load = infer_and_add(m_, main, "remote_load", {{row}}, {{"buffer", buffer_of(o)}}, {}, false, {}, m_.name_of(old) + ".row");
    Type type = m_.type_of(old);
    type.place.device = Device::numbered(home);
    m_.set_type(m_.result(load), type);
    const OpId send =
        infer_and_add(m_, main, "send", {{m_.result(load)}}, {{"device", std::int64_t{there}}}, {}, false, {}, m_.name_of(old));
    devices_.push_back(home);
    devices_.push_back(there);
    for (OpId fresh : {load, send}) {
      m_.op(fresh).location = m_.op(o).location;
      order.push_back(fresh);
    }
    instead_[old.value] = m_.result(send);
    moved_[o] = load;
  }

  Module& m_;
  std::vector<std::int32_t>& devices_;
  std::map<BufferId, std::vector<User>> users_;
  std::unordered_map<std::uint32_t, ValueId> instead_;
  std::map<OpId, OpId> moved_;
};

}  // namespace

void share_buffers(Module& module, std::vector<std::int32_t>& devices) { Sharing(module, devices).run(); }

}  // namespace pando::split
