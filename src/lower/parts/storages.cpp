#include "lower/parts/storages.h"
#include "base/check.h"

#include "lower/terms/element_types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pando::lower {

using ir::ValueId;
using poplar::Tensor;
using poplar::program::Copy;

Storages::Storages(const ir::Module& module, Places& places, Analysis& analysis, Cursor& cursor, Decisions& decisions,
                   std::optional<TileLoads>& loads)
    : module_(module),
      places_(places),
      analysis_(analysis),
      cursor_(cursor),
      decisions_(decisions),
      loads_(loads),
      slots_(module.value_count()),
      scope_of_(module.value_count()),
      function_of_(module.value_count()) {}

StorageId Storages::add_storage(bool writable, bool temporary) {
  const auto id = static_cast<StorageId>(storages_.size());
  storages_.push_back({writable, temporary, cursor_.function(), cursor_.scope(), {}});
  cursor_.own(id);
  return id;
}

Slot Storages::fresh_slot(Tensor t) { return {std::move(t), {add_storage(true, true)}}; }
Slot Storages::read_only_slot(Tensor t) { return {std::move(t), {add_storage(false, false)}}; }
Slot Storages::home_slot(Tensor t) { return {std::move(t), {add_storage(true, false)}}; }

void Storages::share(ValueId v) {
  for (StorageId s : slots_[v].storages) storages_[s].function = storages_[s].scope = 0;
}

ValueId Storages::resolved(ValueId v) const {
  return module_.value(v).graph == module_.main_graph() ? analysis_.resolved(v, cursor_.context()) : v;
}

void Storages::define(ValueId v, Slot slot) {
  for (StorageId s : slot.storages) storages_[s].values.push_back(v);
  slots_[v] = std::move(slot);
  scope_of_[v] = cursor_.scope();
  function_of_[v] = cursor_.function();
}

const Slot& Storages::slot(ValueId v) {
  v = resolved(v);
  if (!has_slot(v)) make_constant_(v);
  return slots_[v];
}

void Storages::begin_op(ir::OpId op) {
  guarded_.clear();
  for (ValueId v : module_.operands(op)) {
    v = resolved(v);
    PANDO_CHECK(analysis_.uses(v) > 0);
    --analysis_.uses(v);
    guarded_.push_back(v);
  }
}

std::vector<ValueId> Storages::readers_of(const Slot& slot, ValueId self) const {
  std::vector<ValueId> readers;
  for (StorageId s : slot.storages) {
    for (ValueId w : storages_[s].values) {
      const Slot& other = slots_[w];
      // A value that has moved since.
      if (!std::binary_search(other.storages.begin(), other.storages.end(), s)) continue;
      if (function_of_[w] != cursor_.function()) continue;
      const bool read_now = w != self && std::find(guarded_.begin(), guarded_.end(), w) != guarded_.end();
      const bool read_later = analysis_.uses(w) > 0;
      if (!read_now && !read_later) continue;
      if (std::find(readers.begin(), readers.end(), w) != readers.end()) continue;
      if (w == self || other.tensor.intersectsWith(slot.tensor)) readers.push_back(w);
    }
  }
  return readers;
}

bool Storages::can_move(ValueId v) const { return scope_of_[v] == cursor_.scope() && function_of_[v] == cursor_.function(); }

// For a copy of a value that lies in `t`: as that. Elements that are there many times need more room than the one that they are.
Tensor Storages::place_like(ValueId v, const Tensor& t, const std::string& name) {
  const ir::Type& type = module_.type_of(v);
  return t.containsAliases() && t.elementType() == element_type(type.dtype) ? add_linear(places_.graph_at(type.place), type, name)
                                                                            : places_.top().clone(t, name);
}

void Storages::move_away(ValueId v) {
  PANDO_CHECK(can_move(v));
  const Tensor from = slots_[v].tensor;
  const Tensor to = place_like(v, from, module_.name_of(v) + "/kept");
  if (loads_ && cursor_.function() == 0) loads_->spread(places_.top(), to);
  cursor_.program().add(Copy(from, to, false, module_.name_of(v) + "/kept"));
  define(v, fresh_slot(to));
  if (decisions_) decisions_.note(fmt::format("'{}' moves: what it lies in is overwritten, and it is still read", module_.name_of(v)));
}

Slot Storages::writable(ValueId v, bool keep_contents) {
  v = resolved(v);
  const Slot here = slot(v);
  bool usable = here.tensor.isParallelWriteable();
  std::vector<ValueId> readers;
  for (StorageId s : here.storages) usable = usable && storages_[s].writable && storages_[s].function == cursor_.function();
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
  const Tensor to = place_like(v, here.tensor, module_.name_of(v) + "/copy");
  if (keep_contents) cursor_.program().add(Copy(here.tensor, to, false, module_.name_of(v) + "/copy"));
  return fresh_slot(to);
}

bool Storages::is_dead_temporary(ValueId v) {
  v = resolved(v);
  if (!has_slot(v) || analysis_.uses(v) > 0) return false;
  const Slot& s = slots_[v];
  for (StorageId id : s.storages) {
    const Storage& storage = storages_[id];
    if (!storage.writable || !storage.temporary || storage.function != cursor_.function() || storage.scope != cursor_.scope()) return false;
  }
  return s.tensor.isParallelWriteable() && readers_of(s, v).empty();
}

// Nobody reads the old contents, not even a part of them, but the op that replaces them.
bool Storages::may_be_overwritten_early(ValueId home) const {
  if (!has_slot(home) || !can_move(home) || std::find(guarded_.begin(), guarded_.end(), home) != guarded_.end()) return false;
  const Slot& slot = slots_[home];
  const std::vector<ValueId> readers = readers_of(slot, home);
  if (!std::all_of(readers.begin(), readers.end(), [&](ValueId w) { return w == home; })) return false;
  const bool writable = std::all_of(slot.storages.begin(), slot.storages.end(), [&](StorageId s) { return storages_[s].writable; });
  return writable && is_of_this_function(slot) && slot.tensor.isParallelWriteable();
}

bool Storages::is_home(ValueId v) const {
  const auto& storages = slots_[v].storages;
  return std::any_of(storages.begin(), storages.end(), [&](StorageId s) { return storages_[s].writable && !storages_[s].temporary; });
}

bool Storages::is_alone(ValueId v) const {
  const auto& storages = slots_[v].storages;
  return std::all_of(storages.begin(), storages.end(), [&](StorageId s) { return storages_[s].values.size() == 1; });
}

bool Storages::is_of_this_function(const Slot& slot) const {
  return std::all_of(slot.storages.begin(), slot.storages.end(), [&](StorageId s) { return storages_[s].function == cursor_.function(); });
}

void Storages::assign_all(std::span<const Tensor> dst, std::span<const Tensor> src) {
  std::vector<Tensor> from(src.begin(), src.end());
  for (std::size_t i = 0; i < dst.size(); ++i) {
    if (from[i] == dst[i] || dst[i].numElements() == 0) continue;
    for (std::size_t j = i + 1; j < dst.size(); ++j) {
      if (from[j] == dst[j] || !from[j].intersectsWith(dst[i])) continue;
      const Tensor kept = places_.top().clone(from[j], "kept");
      cursor_.program().add(Copy(from[j], kept));
      from[j] = kept;
    }
    cursor_.program().add(Copy(from[i], dst[i]));
  }
}

// What a run of the function overwrites: its own variables and those of the functions that it calls.
bool Storages::is_overwritten(const Frame& frame, ValueId v) const {
  for (StorageId s : slots_[v].storages) {
    if (frame.calls.contains(storages_[s].function)) return true;
  }
  return false;
}

void Storages::bring_out(const Frame& frame) {
  std::vector<ValueId> moving;
  for (StorageId s : frame.storages) {
    for (ValueId v : storages_[s].values) {
      if (function_of_[v] != cursor_.function() || analysis_.uses(v) == 0 || !is_overwritten(frame, v)) continue;
      if (can_move(v) && std::find(moving.begin(), moving.end(), v) == moving.end()) moving.push_back(v);
    }
  }
  for (ValueId v : moving) move_away(v);
}

void Storages::tell_copy(ValueId v, const Slot& slot, std::span<const ValueId> readers) {
  std::string why = is_of_this_function(slot) ? "it may not be written there" : "it lies in another function's memory";
  std::vector<std::string> names;
  for (ValueId w : readers) names.push_back(fmt::format("'{}'", module_.name_of(w)));
  if (!names.empty()) why = fmt::format("{} {} still read", fmt::join(names, ", "), names.size() == 1 ? "is" : "are");
  decisions_.note(fmt::format("'{}' is copied first: {}", module_.name_of(v), why));
}

}  // namespace pando::lower
