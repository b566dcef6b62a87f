#include "lower/least_live.h"

#include "ir/op_row.h"
#include "ir/shared/kept_values.h"
#include "lower/row.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace pando::lower {

using ir::Context;
using ir::GraphId;
using ir::Module;
using ir::OpId;
using ir::ValueId;

namespace {

// Views of all elements: who reads the view reads the operand.
bool is_whole_view(const Module& m, OpId o) {
  const Row* row = find_row(m.row(o).name);
  return m.row(o).view != ir::View::none && row != nullptr && row->unview != nullptr;
}

// Whether the op always makes a tensor of its own: it gives no operand on.
bool makes_tensor(const Module& m, OpId o) {
  const Row* row = find_row(m.row(o).name);
  if (row == nullptr || row->expression == nullptr) return row != nullptr && row->makes_tensor;
  std::vector<Any> operands;
  for (unsigned i = 1; i <= m.operands(o).size(); ++i) operands.push_back(popops::expr::PlaceHolder(i));
  const Any e = row->expression(Expression(m, o, std::move(operands)));
  return static_cast<const popops::expr::Expr&>(e).getAs<popops::expr::PlaceHolder>() == nullptr;
}

class Scanner {
 public:
  explicit Scanner(const Module& m) : m_(m), roots_(m.value_count()) {}

  std::map<std::int32_t, LeastLive> run() {
    std::map<std::int32_t, LeastLive> most;
    for (const Context context : {Context::normal, Context::accumulate_outer, Context::weights_from_host, Context::weights_to_host}) {
      std::vector<OpId> ops;
      for (OpId o : m_.graph(m_.main_graph()).ops) {
        if (ir::runs_in(m_, o, context)) ops.push_back(o);
      }
      keep_worse(most, scan(m_.main_graph(), ops));
    }
    return most;
  }

 private:
  using ByDevice = std::map<std::int32_t, LeastLive>;

  static void keep_worse(ByDevice& most, const ByDevice& other) {
    for (const auto& [device, live] : other) {
      if (live.bytes > most[device].bytes) most[device] = live;
    }
  }

  std::int64_t bytes_of(ValueId v) const {
    const ir::Type& t = m_.type_of(v);
    if (!t.is_tensor() || t.place.memory != ir::Memory::tile) return 0;
    return ir::elements_of(t.shape) * static_cast<std::int64_t>(ir::size_of(t.dtype));
  }
  std::int32_t device_of(ValueId v) const { return std::max(0, m_.type_of(v).place.device.value); }

  const ByDevice& of_graph(GraphId g) {
    const auto [it, is_new] = graphs_.try_emplace(g);
    if (is_new) {
      ByDevice found = scan(g, m_.graph(g).ops);
      graphs_[g] = std::move(found);
    }
    return graphs_[g];
  }

  bool is_pass(OpId o) const { return m_.row(o).elementwise || is_elementwise(find_row(m_.row(o).name)); }

  // Values whose memory a value lies in: itself, those that it is a view of, or none that is known.
  void note_roots(OpId o) {
    const ir::OpRow& row = m_.row(o);
    for (ValueId r : m_.results(o)) roots_[r.index()] = {r};
    if (row.view == ir::View::none) return;
    std::vector<ValueId>& all = roots_[m_.result(o).index()];
    all.clear();
    const std::size_t n = row.view == ir::View::of_all_operands ? m_.operands(o).size() : is_whole_view(m_, o) ? 1 : 0;
    for (std::size_t i = 0; i < n; ++i) {
      const std::vector<ValueId>& from = roots_[m_.operand(o, i).index()];
      all.insert(all.end(), from.begin(), from.end());
    }
  }

  // Ops that are run: others' results are not made.
  std::vector<OpId> needed(GraphId g, const std::vector<OpId>& ops) const {
    std::set<ValueId> read;
    for (ValueId v : m_.graph(g).outputs) read.insert(v);
    for (ValueId v : m_.graph(g).updated_inputs) read.insert(v);
    std::vector<OpId> kept;
    for (std::size_t i = ops.size(); i-- > 0;) {
      const OpId o = ops[i];
      const auto results = m_.results(o);
      const bool any = m_.row(o).effects != ir::Effects::none || m_.op(o).graph_count > 0 || !ir::new_versions(m_, o).empty() ||
                       std::any_of(results.begin(), results.end(), [&](ValueId v) { return read.contains(v); });
      if (!any) continue;
      kept.push_back(o);
      read.insert(m_.operands(o).begin(), m_.operands(o).end());
    }
    std::reverse(kept.begin(), kept.end());
    return kept;
  }

  // Whether an op's result has memory that is not counted elsewhere; of a call, its graph's outputs that are made there.
  bool is_made(OpId o, std::size_t result) {
    if (m_.row(o).control != ir::Control::call) return m_.results(o).size() == 1 && makes_tensor(m_, o) && ir::new_versions(m_, o).empty();
    const ir::Graph& inner = m_.graph(m_.graphs(o)[0]);
    if (result >= inner.outputs.size()) return false;
    of_graph(m_.graphs(o)[0]);
    const std::vector<ValueId>& roots = roots_[inner.outputs[result].index()];
    if (roots.size() != 1 || m_.value(roots[0]).graph != m_.graphs(o)[0] || !m_.value(roots[0]).producer.valid()) return false;
    const auto same = [&](ValueId v) {
      return std::find(roots_[v.index()].begin(), roots_[v.index()].end(), roots[0]) != roots_[v.index()].end();
    };
    return std::count_if(inner.outputs.begin(), inner.outputs.end(), same) == 1 &&
           is_made(m_.value(roots[0]).producer, m_.value(roots[0]).index);
  }

  struct Span {
    ValueId value;
    std::size_t made = 0, last = 0;
  };

  // From the op that makes a value to the last one that reads it from memory.
  std::vector<Span> spans(GraphId g, const std::vector<OpId>& ops) {
    for (ValueId v : m_.graph(g).inputs) roots_[v.index()] = {v};
    std::map<ValueId, Span> found;
    std::set<ValueId> elsewhere;
    const auto drop = [&](ValueId v) { elsewhere.insert(roots_[v.index()].begin(), roots_[v.index()].end()); };
    for (std::size_t p = 0; p < ops.size(); ++p) {
      const OpId o = ops[p];
      const bool reads = !is_pass(o) && m_.row(o).view == ir::View::none, writes = !ir::new_versions(m_, o).empty();
      for (ValueId v : m_.operands(o)) {
        if (writes) drop(v);
        for (ValueId root : roots_[v.index()]) {
          if (const auto it = found.find(root); reads && it != found.end()) it->second.last = p;
        }
      }
      note_roots(o);
      for (std::size_t i = 0; i < m_.results(o).size(); ++i) {
        const ValueId v = m_.result(o, i);
        if (bytes_of(v) > 0 && is_made(o, i)) found[v] = {v, p, p};
      }
    }
    for (ValueId v : m_.graph(g).updated_inputs) drop(v);
    if (g != m_.main_graph()) {
      for (ValueId v : m_.graph(g).outputs) drop(v);
    }
    std::vector<Span> all;
    for (const auto& [v, span] : found) {
      if (span.last > span.made && !elsewhere.contains(v)) all.push_back(span);
    }
    return all;
  }

  // At each op: what is there when it begins; where it has graphs, what is there before and behind it, and what they hold.
  ByDevice scan(GraphId g, const std::vector<OpId>& listed) {
    const std::vector<OpId> ops = needed(g, listed);
    const std::vector<Span> all = spans(g, ops);
    std::vector<std::vector<const Span*>> begin(ops.size() + 1), end(ops.size() + 1);
    for (const Span& s : all) {
      begin[s.made + 1].push_back(&s);
      end[s.last].push_back(&s);
    }
    std::map<std::int32_t, std::int64_t> now;
    std::map<std::int32_t, std::pair<std::int64_t, std::size_t>> worst;
    const auto consider = [&](std::int32_t device, std::int64_t bytes, std::size_t p) {
      if (bytes > worst[device].first) worst[device] = {bytes, p};
    };
    for (std::size_t p = 0; p < ops.size(); ++p) {
      for (const Span* s : begin[p]) now[device_of(s->value)] += bytes_of(s->value);
      for (const Span* s : begin[p]) consider(device_of(s->value), now[device_of(s->value)], p);
      for (const Span* s : end[p]) now[device_of(s->value)] -= bytes_of(s->value);
      for (GraphId inner : m_.graphs(ops[p])) {
        for (const auto& [device, live] : of_graph(inner)) consider(device, now[device] + live.bytes, p);
      }
    }
    ByDevice found;
    for (const auto& [device, at] : worst) found[device] = live_at(ops, all, device, at.first, at.second);
    return found;
  }

  LeastLive live_at(const std::vector<OpId>& ops, const std::vector<Span>& all, std::int32_t device, std::int64_t bytes, std::size_t p) {
    std::vector<ValueId> before, across;
    std::int64_t sum = 0;
    for (const Span& s : all) {
      if (device_of(s.value) != device || s.made >= p || s.last < p) continue;
      before.push_back(s.value);
      sum += bytes_of(s.value);
      if (s.last > p) across.push_back(s.value);
    }
    LeastLive live{bytes, ops[p], before};
    if (sum < bytes) {
      live.values = across;
      const LeastLive* most = nullptr;
      for (GraphId inner : m_.graphs(ops[p])) {
        const auto it = graphs_[inner].find(device);
        if (it != graphs_[inner].end() && (!most || it->second.bytes > most->bytes)) most = &it->second;
      }
      live.at = most->at;
      live.values.insert(live.values.end(), most->values.begin(), most->values.end());
    }
    std::stable_sort(live.values.begin(), live.values.end(), [&](ValueId a, ValueId b) { return bytes_of(a) > bytes_of(b); });
    return live;
  }

  const Module& m_;
  std::vector<std::vector<ValueId>> roots_;
  std::map<GraphId, ByDevice> graphs_;
};

}  // namespace

std::map<std::int32_t, LeastLive> least_live(const Module& module) { return Scanner(module).run(); }

}  // namespace pando::lower
