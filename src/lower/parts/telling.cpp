#include "lower/parts/telling.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::lower {

using ir::OpId;
using ir::ValueId;
using poplar::Tensor;

namespace {

// "tile 3", "tiles 0 to 3", "12 of tiles 0 to 40".
std::string tiles_of(const poplar::Graph& graph, const Tensor& t) {
  const auto mapping = graph.getTileMapping(t, false);
  std::size_t count = 0, first = 0, last = 0;
  for (std::size_t tile = 0; tile < mapping.size(); ++tile) {
    if (mapping[tile].empty()) continue;
    first = count++ == 0 ? tile : first;
    last = tile;
  }
  if (count == 0) return "no tile";
  if (count == 1) return fmt::format("tile {}", first);
  return count == last - first + 1 ? fmt::format("tiles {} to {}", first, last) : fmt::format("{} of tiles {} to {}", count, first, last);
}

}  // namespace

std::string text_of(const ir::Module& module, OpId op) {
  const std::string_view row = module.row(op).name;
  return fmt::format("{}{}", row, module.op(op).in_place && !row.ends_with('_') ? "_" : "");
}

// In whose memory a value lies; `candidates` are asked first to last.
std::string Telling::where_lies(ValueId v, std::span<const ValueId> candidates, bool is_view) const {
  const Slot& mine = storages_.own_slot(v);
  const auto shares = [&](const Slot& other) {
    return std::any_of(mine.storages.begin(), mine.storages.end(),
                       [&](StorageId s) { return std::binary_search(other.storages.begin(), other.storages.end(), s); });
  };
  for (ValueId w : candidates) {
    if (!w.valid() || w == v || !storages_.has_slot(w) || !shares(storages_.own_slot(w))) continue;
    const bool whole = storages_.own_slot(w).tensor == mine.tensor;
    return fmt::format("{} '{}'", is_view ? (whole ? "where it is:" : "a view of") : whole ? "over" : "over a part of", name_of(w));
  }
  if (!storages_.is_of_this_function(mine)) return fmt::format("where its graph leaves it, {}", tiles_of(graph_, mine.tensor));
  return fmt::format("new, {}{}", tiles_of(graph_, mine.tensor), decisions_.reason(v));
}

void Telling::variable(ValueId v) {
  decisions_.line(fmt::format("'{}' {}: {}{}", name_of(v), ir::to_string(module_.type_of(v).shape),
                              tiles_of(graph_, storages_.own_slot(v).tensor), decisions_.reason(v)));
}

void Telling::op(OpId op) {
  std::vector<ValueId> operands;
  for (ValueId v : module_.operands(op)) operands.push_back(storages_.resolved(v));
  std::vector<std::string> results;
  for (ValueId v : module_.results(op)) {
    results.push_back(
        fmt::format("'{}' {}", name_of(v),
                    storages_.has_slot(v) ? where_lies(v, operands, module_.row(op).view != ir::View::none) : std::string("not stored")));
  }
  std::string of;
  for (ValueId v : operands) of += fmt::format("{}'{}'", of.empty() ? "" : ", ", name_of(v));
  decisions_.line(results.empty() ? fmt::format("{} of {}", text_of(module_, op), of)
                                  : fmt::format("{}: {}", text_of(module_, op), fmt::join(results, "; ")));
}

// Ops that are computed inside another one, and that one, in the order of the list.
std::vector<OpId> Telling::with_fused(OpId op, const GraphPlan& plan) const {
  std::vector<OpId> all;
  for (ValueId v : module_.operands(op)) {
    const OpId producer = module_.value(storages_.resolved(v)).producer;
    if (!producer.valid()) continue;
    const auto fused = plan.fused_into.find(producer.value);
    if (fused == plan.fused_into.end() || fused->second != op || producer == op) continue;
    for (OpId o : with_fused(producer, plan)) {
      if (std::find(all.begin(), all.end(), o) == all.end()) all.push_back(o);
    }
  }
  all.push_back(op);
  return all;
}

void Telling::pass(const Pass& pass, const GraphPlan& plan) {
  std::vector<std::string> ops, results, reads;
  std::vector<ValueId> leaves;
  for (const Leaf& l : pass.leaves) {
    leaves.push_back(l.value);
    if (l.value.valid()) reads.push_back(fmt::format("'{}'", name_of(l.value)));
  }
  for (const Pass::Member& m : pass.members) {
    for (OpId o : with_fused(m.op, plan)) ops.push_back(text_of(module_, o));
    if (storages_.has_slot(m.result)) results.push_back(fmt::format("'{}' {}", name_of(m.result), where_lies(m.result, leaves, false)));
  }
  decisions_.line(fmt::format("{}{}: {}; reads {}", ops.size() > 1 ? "one pass of " : "", fmt::join(ops, ", "), fmt::join(results, "; "),
                              fmt::join(reads, ", ")));
}

}  // namespace pando::lower
