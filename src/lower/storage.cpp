// Who lies where, and what has to move before storage is overwritten.
#include "base/check.h"
#include "lower/lowering.h"
#include "lower/terms/element_types.h"

#include <fmt/format.h>

#include <algorithm>

namespace pando::lower {

using ir::ValueId;
using poplar::Tensor;
using poplar::program::Copy;

StorageId Lowering::add_storage(bool writable, bool temporary) {
  const auto id = static_cast<StorageId>(storages_.size());
  storages_.push_back({writable, temporary, function_, scope_, {}});
  if (function_storages_) function_storages_->push_back(id);
  return id;
}

Slot Lowering::fresh_slot(Tensor t) { return {std::move(t), {add_storage(true, true)}}; }
Slot Lowering::read_only_slot(Tensor t) { return {std::move(t), {add_storage(false, false)}}; }

void Lowering::define(ValueId v, Slot slot) {
  for (StorageId s : slot.storages) storages_[s].values.push_back(v);
  slots_[v] = std::move(slot);
  scope_of_[v] = scope_;
  function_of_[v] = function_;
}

const Slot& Lowering::slot(ValueId v) {
  v = resolved(v);
  if (!has_slot(v)) make_constant(v);
  return slots_[v];
}

void Lowering::begin_op(ir::OpId op) {
  current_.clear();
  for (ValueId v : module_.operands(op)) {
    v = resolved(v);
    PANDO_CHECK(analysis_.uses(v) > 0);
    --analysis_.uses(v);
    current_.push_back(v);
  }
}

std::vector<ValueId> Lowering::readers_of(const Slot& slot, ValueId self) const {
  std::vector<ValueId> readers;
  for (StorageId s : slot.storages) {
    for (ValueId w : storages_[s].values) {
      const Slot& other = slots_[w];
      // A value that has moved since.
      if (!std::binary_search(other.storages.begin(), other.storages.end(), s)) continue;
      if (function_of_[w] != function_) continue;
      const bool read_now = w != self && std::find(current_.begin(), current_.end(), w) != current_.end();
      const bool read_later = const_cast<Lowering*>(this)->analysis_.uses(w) > 0;
      if (!read_now && !read_later) continue;
      if (std::find(readers.begin(), readers.end(), w) != readers.end()) continue;
      if (w == self || other.tensor.intersectsWith(slot.tensor)) readers.push_back(w);
    }
  }
  return readers;
}

bool Lowering::can_move(ValueId v) const { return scope_of_[v] == scope_ && function_of_[v] == function_; }

// For a copy of a value that lies in `t`: as that. Elements that are there many times need more room than the one that they are.
Tensor Lowering::place_like(ValueId v, const Tensor& t, const std::string& name) {
  const ir::Type& type = module_.type_of(v);
  return t.containsAliases() && t.elementType() == element_type(type.dtype) ? linear(graph_at(type.place), type, name)
                                                                            : graph_.clone(t, name);
}

void Lowering::move_away(ValueId v) {
  PANDO_CHECK(can_move(v));
  const Tensor from = slots_[v].tensor;
  const Tensor to = place_like(v, from, name_of(v) + "/kept");
  if (loads_ && function_ == 0) loads_->spread(graph_, to);
  program_->add(Copy(from, to, false, name_of(v) + "/kept"));
  define(v, fresh_slot(to));
  if (decisions_) decisions_.note(fmt::format("'{}' moves: what it lies in is overwritten, and it is still read", name_of(v)));
}

Slot Lowering::writable(ValueId v, bool keep_contents) {
  v = resolved(v);
  const Slot here = slot(v);
  bool usable = here.tensor.isParallelWriteable();
  std::vector<ValueId> readers;
  for (StorageId s : here.storages) usable = usable && storages_[s].writable && storages_[s].function == function_;
  if (usable) {
    readers = readers_of(here, v);
    std::size_t moved = 0;
    bool movable = true;
    for (ValueId w : readers) {
      moved += slots_[w].tensor.numElements();
      movable = movable && can_move(w);
    }
    if (movable && moved <= here.tensor.numElements()) {
      for (ValueId w : readers) move_away(w);
      return here;
    }
  }
  if (decisions_) tell_copy(v, here, readers);
  const Tensor to = place_like(v, here.tensor, name_of(v) + "/copy");
  if (keep_contents) program_->add(Copy(here.tensor, to, false, name_of(v) + "/copy"));
  return fresh_slot(to);
}

bool Lowering::is_dead_temporary(ValueId v) {
  v = resolved(v);
  if (!has_slot(v) || analysis_.uses(v) > 0) return false;
  const Slot& s = slots_[v];
  for (StorageId id : s.storages) {
    const Storage& storage = storages_[id];
    if (!storage.writable || !storage.temporary || storage.function != function_ || storage.scope != scope_) return false;
  }
  return s.tensor.isParallelWriteable() && readers_of(s, v).empty();
}

void Lowering::assign_all(std::span<const Tensor> dst, std::span<const Tensor> src) {
  std::vector<Tensor> from(src.begin(), src.end());
  for (std::size_t i = 0; i < dst.size(); ++i) {
    if (from[i] == dst[i] || dst[i].numElements() == 0) continue;
    for (std::size_t j = i + 1; j < dst.size(); ++j) {
      if (from[j] == dst[j] || !from[j].intersectsWith(dst[i])) continue;
      const Tensor kept = graph_.clone(from[j], "kept");
      program_->add(Copy(from[j], kept));
      from[j] = kept;
    }
    program_->add(Copy(from[i], dst[i]));
  }
}

// What a run of the function overwrites: its own variables and those of the functions that it calls.
bool Lowering::overwritten_by(const Function& f, ValueId v) const {
  for (StorageId s : slots_[v].storages) {
    if (f.calls.contains(storages_[s].function)) return true;
  }
  return false;
}

void Lowering::before_running(std::span<const ir::GraphId> graphs) {
  for (ir::GraphId g : reachable(graphs)) {
    if (!is_function(g)) continue;
    const Function& f = function(g);
    std::vector<ValueId> moving;
    for (StorageId s : f.storages) {
      for (ValueId v : storages_[s].values) {
        if (function_of_[v] != function_ || analysis_.uses(v) == 0 || !overwritten_by(f, v)) continue;
        if (can_move(v) && std::find(moving.begin(), moving.end(), v) == moving.end()) moving.push_back(v);
      }
    }
    for (ValueId v : moving) move_away(v);
  }
}

}  // namespace pando::lower
