#include "transform/flatten_tuples.h"

#include "ir/op_row.h"
#include "transform/ops_list.h"

namespace pando::transform {

using namespace ir;

namespace {

class Flattening {
 public:
  Flattening(Module& m, GraphId graph) : m_(m), graph_(graph) {}

  void run() {
    std::unordered_set<OpId> gone;
    for (OpId o : m_.graph(graph_).ops) {
      if (m_.row(o).tuple == Tuple::make) {
        for (ValueId v : m_.operands(o)) elements_[m_.result(o)].push_back(now(v));
      } else if (m_.row(o).tuple == Tuple::element) {
        const auto made = elements_.find(now(m_.operand(o, 0)));
        if (made == elements_.end()) continue;
        instead_[m_.result(o)] = made->second[static_cast<std::size_t>(m_.attributes(o).integer("index"))];
        gone.insert(o);
      }
    }
    if (elements_.empty()) return;
    replace_values(m_, graph_, instead_);
    if (graph_ == m_.main_graph()) flatten_outputs();
    take_out(m_, graph_, gone);
    take_out(m_, graph_, unread());
  }

 private:
  ValueId now(ValueId v) const {
    const auto it = instead_.find(v);
    return it == instead_.end() ? v : it->second;
  }

  void flatten_outputs() {
    std::vector<ValueId> flat;
    for (ValueId v : m_.graph(graph_).outputs) append(v, flat);
    m_.graph(graph_).outputs = std::move(flat);
  }

  void append(ValueId v, std::vector<ValueId>& flat) const {
    const auto made = elements_.find(v);
    if (made == elements_.end()) return flat.push_back(v);
    for (ValueId e : made->second) append(now(e), flat);
  }

  // From the end: a tuple may be an element of another one.
  std::unordered_set<OpId> unread() const {
    const Graph& g = m_.graph(graph_);
    std::unordered_set<ValueId> read(g.outputs.begin(), g.outputs.end());
    read.insert(g.updated_inputs.begin(), g.updated_inputs.end());
    std::unordered_set<OpId> gone;
    for (auto it = g.ops.rbegin(); it != g.ops.rend(); ++it) {
      if (m_.row(*it).tuple == Tuple::make && !read.contains(m_.result(*it))) {
        gone.insert(*it);
      } else {
        read.insert(m_.operands(*it).begin(), m_.operands(*it).end());
      }
    }
    return gone;
  }

  Module& m_;
  GraphId graph_;
  std::unordered_map<ValueId, std::vector<ValueId>> elements_;
  std::unordered_map<ValueId, ValueId> instead_;
};

}  // namespace

void flatten_tuples(Module& m) {
  for (std::size_t g = 0; g < m.graph_count(); ++g) Flattening(m, GraphId(static_cast<GraphId::rep>(g))).run();
}

}  // namespace pando::transform
