#include "lower/parts/destinations.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::lower {

using ir::GraphId;
using ir::OpId;
using ir::ValueId;
using poplar::Tensor;

namespace {

// Views between a value and what it is put together with.
constexpr int kMaxViews = 8;

}  // namespace

Tensor Destinations::of(ValueId v) const {
  const auto it = destinations_.find(v);
  return it == destinations_.end() ? Tensor() : it->second;
}

void Destinations::find(OpId call, GraphId graph) {
  if (analysis_.is_function(graph) || !chooses_) return;
  const auto results = module_.results(call);
  const auto& outputs = module_.graph(graph).outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& users = analysis_.users(results[i]);
    // One that is in the program: it counts as a read. The result is what it reads: what it overwrites lies somewhere already.
    if (users.size() != 1 || analysis_.uses(results[i]) != 1 || !module_.row(users[0].first).overwrites) continue;
    const ValueId home = storages_.resolved(module_.operand(users[0].first, 0));
    if (analysis_.uses(home) != 1 || !storages_.may_be_overwritten_early(home)) continue;
    const ir::Type &to = module_.type_of(home), &from = module_.type_of(outputs[i]);
    if (to.shape != from.shape || to.dtype != from.dtype) continue;
    destinations_[outputs[i]] = storages_.own_slot(home).tensor;
    if (decisions_)
      decisions_.note(fmt::format("its '{}' may be computed where '{}' lies", module_.name_of(outputs[i]), module_.name_of(home)));
  }
}

bool Destinations::is_put_together(OpId concat) const {
  if (!chooses_ || module_.row(concat).view != ir::View::of_all_operands) return false;
  const auto& users = analysis_.users(module_.result(concat));
  return std::count_if(users.begin(), users.end(),
                       [&](const auto& use) { return module_.row(use.first).product == ir::Product::matrices; }) > 1;
}

Tensor Destinations::whole_of(OpId concat) {
  const auto known = wholes_.find(concat);
  if (known != wholes_.end()) return known->second;
  if (decisions_)
    decisions_.note(fmt::format("parts of '{}' may be computed where they are put together", module_.name_of(module_.result(concat))));
  return wholes_.emplace(concat, layouts_.new_tensor(module_.result(concat))).first->second;
}

Tensor Destinations::place_in_whole(ValueId v, int depth) {
  const auto& users = analysis_.users(v);
  if (depth == kMaxViews || users.size() != 1 || analysis_.uses(v) != 1) return {};
  const auto& [op, index] = users[0];
  if (is_put_together(op)) {
    const auto axis = static_cast<unsigned>(module_.attributes(op).integer("axis"));
    std::size_t begin = 0;
    const auto length = [&](std::size_t i) { return static_cast<std::size_t>(module_.type_of(module_.operand(op, i)).shape[axis]); };
    for (std::size_t i = 0; i < index; ++i) begin += length(i);
    return whole_of(op).slice(begin, begin + length(index), axis);
  }
  const Row* row = find_row(module_.row(op).name);
  if (row == nullptr || !row->unview || row->unview == keeps_layout || index != 0) return {};
  const Tensor t = place_in_whole(module_.result(op), depth + 1);
  return t.valid() ? row->unview(module_, op, t) : t;
}

}  // namespace pando::lower
