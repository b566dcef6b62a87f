#include "transform/devices/complete_places.h"

#include "ir/op_row.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace pando::transform {

using namespace ir;

namespace {

bool complete(const Place& p) { return p.device.known() && p.tiles != TileSet::undefined; }

void fill(Place& place, const Place& from) {
  if (!place.device.known()) place.device = from.device;
  if (place.tiles == TileSet::undefined) place.tiles = from.tiles;
}

const Place kDefault{Device::numbered(0), TileSet::compute, Memory::tile};

class Completion {
 public:
  explicit Completion(Module& m) : m_(m), done_(m.graph_count(), false) {}

  void run() {
    for (std::size_t g = 0; g < m_.graph_count(); ++g) graph(GraphId(static_cast<GraphId::rep>(g)));
    for (std::size_t s = 0; s < m_.state_count(); ++s) {
      State& state = m_.state(StateId(static_cast<StateId::rep>(s)));
      if (state.input) state.type = m_.value(m_.graph(m_.main_graph()).inputs[*state.input]).type;
    }
  }

 private:
  const Place& place(ValueId v) const { return m_.type_of(v).place; }
  void set(ValueId v, const Place& from) {
    if (complete(place(v)) || !m_.type_of(v).is_tensor()) return;
    Type t = m_.type_of(v);
    fill(t.place, from);
    m_.set_type(v, t);
  }

  // Graphs that are carried come first: they say where they want their inputs.
  void graph(GraphId id) {
    if (done_[id.index()]) return;
    done_[id.index()] = true;
    for (OpId o : m_.graph(id).ops) {
      for (GraphId g : std::vector<GraphId>(m_.graphs(o).begin(), m_.graphs(o).end())) graph(g);
    }
    for (OpId o : m_.graph(id).ops) prefer(o);
    const std::vector<ValueId> inputs = m_.graph(id).inputs;
    for (ValueId v : inputs) settle(v);
    for (OpId o : m_.graph(id).ops) results(o);
  }

  // Notes what an op's other operands and results say of an operand that has no place yet; the first op that says something counts.
  void prefer(OpId o) {
    const bool all_known = std::all_of(m_.operands(o).begin(), m_.operands(o).end(), [&](ValueId v) { return complete(place(v)); });
    if (all_known) return;
    if (m_.graphs(o).size() == 1) {
      const auto& inputs = m_.graph(m_.graphs(o)[0]).inputs;
      for (std::size_t i = 0; i < m_.operands(o).size() && i < inputs.size(); ++i) fill(preferences_[m_.operand(o, i)], place(inputs[i]));
      return;
    }
    if (m_.row(o).moves) {
      // A copy between devices says where it reads.
      const std::int64_t source = m_.attributes(o).integer("source", -1);
      if (source >= 0)
        fill(preferences_[m_.operand(o, 0)], {Device::numbered(static_cast<std::int32_t>(source)), TileSet::compute, Memory::tile});
      return;
    }
    Place known;
    for (ValueId v : m_.operands(o)) fill(known, place(v));
    for (ValueId v : m_.results(o)) fill(known, place(v));
    for (ValueId v : m_.operands(o)) fill(preferences_[v], known);
  }

  void settle(ValueId v) {
    if (const auto it = preferences_.find(v); it != preferences_.end()) set(v, it->second);
    set(v, kDefault);
  }

  void results(OpId o) {
    if (m_.operands(o).empty()) {
      for (ValueId v : m_.results(o)) settle(v);
      return;
    }
    Place known;
    if (!m_.row(o).moves) {
      for (ValueId v : m_.operands(o)) fill(known, place(v));
    }
    const auto graphs = m_.graphs(o);
    const std::size_t outputs = graphs.empty() ? 0 : m_.graph(graphs[0]).outputs.size();
    for (std::size_t i = 0; i < m_.results(o).size(); ++i) {
      const ValueId v = m_.result(o, i);
      if (i < outputs) set(v, place(m_.graph(graphs[0]).outputs[i]));
      // What a graph has modified is an operand's new version.
      if (!graphs.empty() && i >= outputs) {
        const std::int64_t operand = m_.attributes(o).ints("modified")[i - outputs];
        set(v, place(m_.operand(o, static_cast<std::size_t>(operand))));
      }
      set(v, known);
      settle(v);
    }
  }

  Module& m_;
  std::vector<bool> done_;
  std::unordered_map<ValueId, Place> preferences_;
};

}  // namespace

void complete_places(Module& module) { Completion(module).run(); }

}  // namespace pando::transform
