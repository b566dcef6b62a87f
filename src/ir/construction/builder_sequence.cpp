// The user's order: which op comes after which (Builder::push_sequence).
#include "ir/construction/builder.h"
#include "ir/error.h"

namespace pando::ir {

void Builder::push_sequence(SequenceMode mode) { sequences_.push_back({mode, {}, {}}); }

// A block that ends counts as its last op (ordered) or as all its ops (unordered) for the block around it.
void Builder::pop_sequence() {
  if (sequences_.empty()) reject(ErrorClass::value, "no-open-sequence", "a sequence ends here that did not begin");
  const Sequence inner = std::move(sequences_.back());
  sequences_.pop_back();
  if (sequences_.empty() || inner.mode == SequenceMode::pass) return;
  Sequence& outer = sequences_.back();
  for (const auto& [key, ops] : inner.mode == SequenceMode::ordered ? inner.previous : inner.collected) {
    if (ops.empty()) continue;
    if (outer.mode == SequenceMode::ordered) outer.previous[key] = ops;
    if (outer.mode != SequenceMode::unordered) continue;
    auto& all = outer.collected[key];
    all.insert(all.end(), ops.begin(), ops.end());
  }
}

// What the next op comes after: what the innermost ordered block that has an op did last. Nothing outside a block that passes counts.
std::vector<OpId> Builder::ops_before(const std::pair<GraphId, Context>& key) const {
  for (auto block = sequences_.rbegin(); block != sequences_.rend() && block->mode != SequenceMode::pass; ++block) {
    if (block->mode != SequenceMode::ordered) continue;
    const auto it = block->previous.find(key);
    if (it != block->previous.end() && !it->second.empty()) return it->second;
  }
  return {};
}

void Builder::order(GraphId graph, OpId op) {
  if (sequences_.empty() || sequences_.back().mode == SequenceMode::pass) return;
  const auto key = std::make_pair(graph, context_);
  for (OpId before : ops_before(key)) module_.graph(graph).after.emplace_back(before, op);
  Sequence& here = sequences_.back();
  if (here.mode == SequenceMode::ordered) {
    here.previous[key] = {op};
  } else {
    here.collected[key].push_back(op);
  }
}

}  // namespace pando::ir
