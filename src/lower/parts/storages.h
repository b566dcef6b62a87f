// Who lies where, who still reads it, and what has to move before storage is overwritten.
#pragma once

#include "lower/analysis.h"
#include "lower/decisions.h"
#include "lower/row.h"
#include "lower/target/cursor.h"
#include "lower/target/places.h"
#include "lower/tile_loads.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pando::lower {

class Storages {
 public:
  // `loads`: of programs with functions, on more than one tile.
  Storages(const ir::Module& module, Places& places, Analysis& analysis, Cursor& cursor, Decisions& decisions,
           std::optional<TileLoads>& loads);
  // Defines a constant that an op reads for the first time.
  void make_constants_by(std::function<void(ir::ValueId)> make) { make_constant_ = std::move(make); }

  // The value in the main graph's current context.
  ir::ValueId resolved(ir::ValueId v) const;
  // Computes constants on demand.
  const Slot& slot(ir::ValueId v);
  bool has_slot(ir::ValueId v) const { return v.index() < slots_.size() && slots_[v].tensor.valid(); }
  // That of a value that has one, as it stands: no version of another context.
  const Slot& own_slot(ir::ValueId v) const { return slots_[v]; }
  void define(ir::ValueId v, Slot slot);
  Slot fresh_slot(poplar::Tensor t);
  Slot read_only_slot(poplar::Tensor t);
  // Of a variable, or a function's input.
  Slot home_slot(poplar::Tensor t);
  // What a value lies in belongs to the whole program, not to the function or loop that came first.
  void share(ir::ValueId v);

  // Counts the reads of an op's operands down, and guards them against being overwritten while the op runs.
  void begin_op(ir::OpId op);
  // Guards one more.
  void guard(ir::ValueId v) { guarded_.push_back(v); }
  void end_op() { guarded_.clear(); }
  // For what is lowered within an op: guards nothing until it gets back what this returns.
  std::vector<ir::ValueId> set_guarded(std::vector<ir::ValueId> values) { return std::exchange(guarded_, std::move(values)); }
  // How often a value is still to be read.
  std::uint32_t reads(ir::ValueId v) const { return analysis_.uses(v); }
  void hold(ir::ValueId v) { ++analysis_.uses(v); }
  void release(ir::ValueId v) { --analysis_.uses(v); }

  // Storage that may be written, with the value's contents (or without).
  Slot writable(ir::ValueId v, bool keep_contents);
  // Whether an operand's storage may be reused for a result of its type: nobody reads it any more.
  bool is_dead_temporary(ir::ValueId v);
  // Whether nobody reads the contents, not even a part of them, but the op that replaces them.
  bool may_be_overwritten_early(ir::ValueId home) const;
  // Whether it is a variable's, or a function's input's.
  bool is_home(ir::ValueId v) const;
  // Whether nothing but the value lies where it does.
  bool is_alone(ir::ValueId v) const;
  bool is_of_this_function(const Slot& slot) const;
  const std::vector<ir::ValueId>& values_in(StorageId s) const { return storages_[s].values; }
  // dst[i] = src[i] for all i at once. Skips what is there already.
  void assign_all(std::span<const poplar::Tensor> dst, std::span<const poplar::Tensor> src);
  // Brings values that are still read out of what a run of the function overwrites.
  void bring_out(const Frame& frame);

 private:
  struct Storage {
    bool writable = true;
    bool temporary = false;
    std::uint32_t function = 0, scope = 0;
    std::vector<ir::ValueId> values;
  };
  StorageId add_storage(bool writable, bool temporary);
  // Values that lie in the slot's storage and are still read; `self` is not counted as an operand of the current op.
  std::vector<ir::ValueId> readers_of(const Slot& slot, ir::ValueId self) const;
  bool can_move(ir::ValueId v) const;
  void move_away(ir::ValueId v);
  bool is_overwritten(const Frame& frame, ir::ValueId v) const;
  poplar::Tensor place_like(ir::ValueId v, const poplar::Tensor& t, const std::string& name);
  void tell_copy(ir::ValueId v, const Slot& slot, std::span<const ir::ValueId> readers);

  const ir::Module& module_;
  Places& places_;
  Analysis& analysis_;
  Cursor& cursor_;
  Decisions& decisions_;
  std::optional<TileLoads>& loads_;
  std::function<void(ir::ValueId)> make_constant_;
  DenseMap<ir::ValueId, Slot> slots_;
  // The straight-line piece of program, and the function, that a value's slot belongs to.
  DenseMap<ir::ValueId, std::uint32_t> scope_of_, function_of_;
  std::vector<Storage> storages_;
  std::vector<ir::ValueId> guarded_;
};

}  // namespace pando::lower
