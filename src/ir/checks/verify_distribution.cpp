#include "ir/checks/verify_distribution.h"

#include "ir/op_row.h"
#include "ir/op_table.h"
#include "ir/text/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace pando::ir {

namespace {

using Variables = std::set<std::int32_t>;

// Devices of a value, tuples element by element; -1: none is said.
void devices_of(const Module& m, TypeId type, std::vector<std::int32_t>& all) {
  const Type& t = m.type(type);
  if (t.is_tensor()) {
    all.push_back(t.place.device.value);
  } else {
    for (TypeId e : t.elements) devices_of(m, e, all);
  }
}

class Rules {
 public:
  Rules(const Module& m, std::optional<std::int32_t> devices) : m_(m), devices_(devices), seen_(m.graph_count()) {}

  std::vector<Violation> run() {
    if (m_.graph_count() == 0) return {};
    carried_.assign(m_.graph_count(), false);
    for (std::size_t g = 0; g < m_.graph_count(); ++g) {
      for (OpId o : m_.graph(id(g)).ops) {
        for (GraphId c : m_.graphs(o)) carried_[c.index()] = true;
      }
    }
    for (std::size_t g = 0; g < m_.graph_count(); ++g) {
      if (!carried_[g]) graph(id(g), {});
    }
    for (std::size_t g = 0; g < m_.graph_count(); ++g) {
      for (OpId o : m_.graph(id(g)).ops) op(o);
    }
    return std::move(found_);
  }

 private:
  static GraphId id(std::size_t g) { return GraphId(static_cast<std::uint32_t>(g)); }
  void add(std::string rule, GraphId g, std::string message) {
    found_.push_back({std::move(rule), "graph " + m_.graph(g).name, std::move(message), {}, {}, g, {}});
  }
  void add(std::string rule, OpId o, std::string message) {
    found_.push_back({std::move(rule), print_op(m_, o, {.elide_data = true}), std::move(message), m_.location_text(o), o, {}, {}});
  }

  // Variables that are bound where a graph runs.
  void graph(GraphId g, const Variables& bound) {
    if (!seen_[g.index()].insert(bound).second) return;
    const Graph& graph = m_.graph(g);
    for (ValueId v : graph.inputs) variable(g, m_.value(v).type, bound, v);
    for (OpId o : graph.ops) {
      for (ValueId v : m_.results(o)) variable(g, m_.value(v).type, bound, v);
      Variables inner = bound;
      if (m_.row(o).control == Control::map) inner.insert(static_cast<std::int32_t>(m_.attributes(o).integer("device_var")));
      for (GraphId c : m_.graphs(o)) this->graph(c, inner);
    }
  }

  void variable(GraphId where, TypeId type, const Variables& bound, ValueId v) {
    devices_.has_value() ? range(where, type, v) : void();
    scratch_.clear();
    devices_of(m_, type, scratch_);
    for (std::int32_t d : scratch_) {
      const Device device{d};
      if (!device.is_variable() || bound.contains(device.variable_number())) continue;
      add("device-variable", where, fmt::format("'{}' lies on d{}, which no pmap binds here", m_.name_of(v), device.variable_number()));
      return;
    }
  }
  void range(GraphId where, TypeId type, ValueId v) {
    scratch_.clear();
    devices_of(m_, type, scratch_);
    for (std::int32_t d : scratch_) {
      if (d < *devices_) continue;
      add("device-range", where, fmt::format("'{}' lies on device {}; there are {}", m_.name_of(v), d, *devices_));
      return;
    }
  }

  void op(OpId o) {
    if (crosses_devices(m_.row(o))) group(o);
    if (has(m_.row(o).effects, Effects::stream)) stream(o);
  }

  void group(OpId o) {
    for (const auto values : {m_.operands(o), m_.results(o)}) {
      for (ValueId v : values) {
        if (m_.type_of(v).is_tensor()) continue;
        scratch_.clear();
        devices_of(m_, m_.value(v).type, scratch_);
        std::sort(scratch_.begin(), scratch_.end());
        const auto twice = std::adjacent_find(scratch_.begin(), scratch_.end());
        if (!scratch_.empty() && std::find(scratch_.begin(), scratch_.end(), -1) != scratch_.end()) {
          add("group-device", o, fmt::format("an element of '{}' lies on no device", m_.name_of(v)));
          return;
        }
        if (twice != scratch_.end()) {
          add("group-device", o, fmt::format("two elements of '{}' lie on device {}", m_.name_of(v), *twice));
          return;
        }
      }
    }
  }

  void stream(OpId o) {
    const auto s = std::get<HostStreamId>(*m_.attributes(o).find("stream"));
    const ValueId v = m_.results(o).empty() ? m_.operand(o, 0) : m_.result(o);
    const std::int32_t d = m_.type_of(v).place.device.value;
    const auto [it, added] = device_of_stream_.try_emplace(s.value, d);
    if (it->second == d) return;
    add("stream-devices", o,
        fmt::format("stream '{}' is used by device {}, too; each device needs a stream of its own", m_.stream(s).name, it->second));
  }

  const Module& m_;
  std::optional<std::int32_t> devices_;
  std::vector<std::set<Variables>> seen_;
  std::vector<bool> carried_;
  std::map<std::uint32_t, std::int32_t> device_of_stream_;
  std::vector<std::int32_t> scratch_;
  std::vector<Violation> found_;
};

}  // namespace

std::vector<Violation> verify_distribution(const Module& module, std::optional<std::int32_t> devices) {
  return Rules(module, devices).run();
}

}  // namespace pando::ir
