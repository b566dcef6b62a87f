#include "transform/devices/place_calls.h"

#include "ir/op_row.h"
#include "ir/op_table.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace pando::transform {

using namespace ir;

namespace {

class CallPlacement {
 public:
  explicit CallPlacement(Module& m) : m_(m), moved_(m.value_count(), false), unsaid_(m.graph_count(), true) {}

  void run() {
    const Graph& main = m_.graph(m_.main_graph());
    if (std::ranges::none_of(main.ops,
                             [&](OpId o) { return std::ranges::any_of(m_.results(o), [&](ValueId v) { return device(v) > 0; }); }))
      return;
    find_unsaid();
    // Results go by what their graphs said before.
    for (OpId o : main.ops) follow(o);
    for (std::size_t g = 0; g < m_.graph_count(); ++g) {
      if (unsaid_[g]) forget(GraphId(static_cast<GraphId::rep>(g)));
    }
  }

 private:
  // -1: of a value that is no tensor, or that nobody has placed.
  std::int32_t device(ValueId v) const {
    const Type& t = m_.type_of(v);
    return t.is_tensor() && t.place.device.known() && !t.place.device.is_variable() ? t.place.device.value : -1;
  }

  template <class F>
  void each_value(GraphId g, F f) {
    for (ValueId v : m_.graph(g).inputs) f(v);
    for (OpId o : m_.graph(g).ops) {
      for (ValueId v : m_.results(o)) f(v);
    }
  }

  // Graphs that are called by value alone, with nothing beyond device 0 in them or in what they call.
  void find_unsaid() {
    static const OpKind call = op_kind("call");
    unsaid_[m_.main_graph().index()] = false;
    for (std::size_t g = 0; g < m_.graph_count(); ++g) {
      const GraphId id(static_cast<GraphId::rep>(g));
      each_value(id, [&](ValueId v) {
        const Type& t = m_.type_of(v);
        if (!t.is_tensor() || device(v) > 0 || t.place.device.is_variable()) unsaid_[g] = false;
      });
      for (OpId o : m_.graph(id).ops) {
        for (GraphId called : m_.graphs(o)) {
          if (m_.op(o).kind != call) unsaid_[called.index()] = false;
        }
      }
    }
    for (bool any = true; any;) {
      any = false;
      for (std::size_t g = 0; g < m_.graph_count(); ++g) {
        for (OpId o : m_.graph(GraphId(static_cast<GraphId::rep>(g))).ops) {
          for (GraphId called : m_.graphs(o)) {
            if (unsaid_[g] && !unsaid_[called.index()]) unsaid_[g] = false, any = true;
          }
        }
      }
    }
  }

  // Of an op of the main graph.
  void follow(OpId o) {
    const auto graphs = m_.graphs(o);
    const bool calls = graphs.size() == 1 && unsaid_[graphs[0].index()];
    const bool follows = std::ranges::any_of(m_.operands(o), [&](ValueId v) { return moved_[v.index()]; });
    if ((!calls && !follows) || m_.row(o).moves == !calls) return;
    std::optional<std::int32_t> there;
    for (ValueId v : m_.operands(o)) {
      const std::int32_t d = device(v);
      if (d < 0) continue;
      if (there && *there != d) return;
      there = d;
    }
    if (!there || *there == 0) return;
    for (ValueId v : m_.results(o)) {
      if (device(v) != 0) continue;
      Type t = m_.type_of(v);
      t.place.device = Device::numbered(*there);
      m_.set_type(v, t);
      moved_[v.index()] = true;
    }
  }

  void forget(GraphId g) {
    each_value(g, [&](ValueId v) {
      Type t = m_.type_of(v);
      if (!t.is_tensor()) return;
      t.place = {};
      m_.set_type(v, t);
    });
  }

  Module& m_;
  std::vector<bool> moved_, unsaid_;
};

}  // namespace

void place_calls(Module& module) { CallPlacement(module).run(); }

}  // namespace pando::transform
