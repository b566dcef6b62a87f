#include "lower/decisions.h"

#include "lower/lowering.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::lower {

using ir::OpId;
using ir::ValueId;
using poplar::Tensor;

void Decisions::begin(std::string title) {
  open_.push_back(parts_.size());
  parts_.push_back({std::move(title), {}, {}});
}

void Decisions::end() { open_.pop_back(); }

void Decisions::line(const std::string& text) {
  Part& part = parts_[open_.back()];
  part.lines += "  " + text + "\n";
  for (const std::string& note : part.notes) part.lines += "    " + note + "\n";
  part.notes.clear();
}

void Decisions::note(std::string text) { parts_[open_.back()].notes.push_back(std::move(text)); }

void Decisions::finish() {
  for (const Part& part : parts_) {
    if (!part.lines.empty()) *out_ += part.title + "\n" + part.lines;
  }
}

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

std::string Lowering::text_of(OpId op) const {
  const std::string_view row = module_.row(op).name;
  return fmt::format("{}{}", row, module_.op(op).in_place && !row.ends_with('_') ? "_" : "");
}

// In whose memory a value lies; `candidates` are asked first to last.
std::string Lowering::where_lies(ValueId v, std::span<const ValueId> candidates, bool is_view) const {
  const Slot& mine = slots_[v];
  const auto shares = [&](const Slot& other) {
    return std::any_of(mine.storages.begin(), mine.storages.end(),
                       [&](StorageId s) { return std::binary_search(other.storages.begin(), other.storages.end(), s); });
  };
  for (ValueId w : candidates) {
    if (!w.valid() || w == v || !has_slot(w) || !shares(slots_[w])) continue;
    const bool whole = slots_[w].tensor == mine.tensor;
    return fmt::format("{} '{}'", is_view ? (whole ? "where it is:" : "a view of") : whole ? "over" : "over a part of", name_of(w));
  }
  for (StorageId s : mine.storages) {
    if (storages_[s].function != function_) return fmt::format("where its graph leaves it, {}", tiles_of(graph_, mine.tensor));
  }
  const auto why = why_.find(v);
  return fmt::format("new, {}{}", tiles_of(graph_, mine.tensor), why == why_.end() ? "" : ", " + why->second);
}

void Lowering::tell_variable(ValueId v) {
  const auto why = why_.find(v);
  decisions_.line(fmt::format("'{}' {}: {}{}", name_of(v), ir::to_string(module_.type_of(v).shape), tiles_of(graph_, slots_[v].tensor),
                              why == why_.end() ? "" : ", " + why->second));
}

void Lowering::tell_op(OpId op) {
  std::vector<ValueId> operands;
  for (ValueId v : module_.operands(op)) operands.push_back(resolved(v));
  std::vector<std::string> results;
  for (ValueId v : module_.results(op)) {
    results.push_back(fmt::format(
        "'{}' {}", name_of(v), has_slot(v) ? where_lies(v, operands, module_.row(op).view != ir::View::none) : std::string("not stored")));
  }
  std::string of;
  for (ValueId v : operands) of += fmt::format("{}'{}'", of.empty() ? "" : ", ", name_of(v));
  decisions_.line(results.empty() ? fmt::format("{} of {}", text_of(op), of)
                                  : fmt::format("{}: {}", text_of(op), fmt::join(results, "; ")));
}

void Lowering::tell_copy(ValueId v, const Slot& slot, std::span<const ValueId> readers) {
  std::string why = "it may not be written there";
  if (std::any_of(slot.storages.begin(), slot.storages.end(), [&](StorageId s) { return storages_[s].function != function_; }))
    why = "it lies in another function's memory";
  std::vector<std::string> names;
  for (ValueId w : readers) names.push_back(fmt::format("'{}'", name_of(w)));
  if (!names.empty()) why = fmt::format("{} {} still read", fmt::join(names, ", "), names.size() == 1 ? "is" : "are");
  decisions_.note(fmt::format("'{}' is copied first: {}", name_of(v), why));
}

// Ops that are computed inside another one, and that one, in the order of the list.
std::vector<OpId> Lowering::with_fused(OpId op) const {
  std::vector<OpId> all;
  for (ValueId v : module_.operands(op)) {
    const OpId producer = module_.value(resolved(v)).producer;
    if (!producer.valid()) continue;
    const auto fused = plan_.fused_into.find(producer.value);
    if (fused == plan_.fused_into.end() || fused->second != op || producer == op) continue;
    for (OpId o : with_fused(producer)) {
      if (std::find(all.begin(), all.end(), o) == all.end()) all.push_back(o);
    }
  }
  all.push_back(op);
  return all;
}

void Lowering::tell_pass(const Group& group) {
  std::vector<std::string> ops, results, reads;
  std::vector<ValueId> leaves;
  for (const Leaf& l : group.leaves) {
    leaves.push_back(l.value);
    if (l.value.valid()) reads.push_back(fmt::format("'{}'", name_of(l.value)));
  }
  for (const Member& m : group.members) {
    for (OpId o : with_fused(m.op)) ops.push_back(text_of(o));
    if (has_slot(m.result)) results.push_back(fmt::format("'{}' {}", name_of(m.result), where_lies(m.result, leaves, false)));
  }
  decisions_.line(fmt::format("{}{}: {}; reads {}", ops.size() > 1 ? "one pass of " : "", fmt::join(ops, ", "), fmt::join(results, "; "),
                              fmt::join(reads, ", ")));
}

}  // namespace pando::lower
