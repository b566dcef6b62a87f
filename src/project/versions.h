// Which version of a state each op reads, and how many copies of a value must be kept, once the lags are known.
//
// With lags r and the order of a trip: the use of a value in sample i runs in trip i + r(use). It must come behind the definition's trip
// i + r(definition), and before the trip in which sample i + copies is defined. For a state, the update of sample i makes version i + 1.
#pragma once

#include "project/lags.h"
#include "project/loop.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pando::project {

class Versions {
 public:
  // Rejects (value) versions that the policy does not allow.
  Versions(const LoopProgram& loop, const Lags& lags);

  // Whether a value is a version of a state.
  bool is_state(ir::ValueId v) const { return state(v) >= 0; }
  // Of a state that is updated once in a window, within the loop.
  bool is_windowed(ir::ValueId v) const;
  bool is_update(ir::OpId o) const { return update_[o.index()]; }
  // How much older the version is that an op reads: see Slot::delay. Of operand i, or of an operand that is a version of a state.
  std::int32_t delay(ir::OpId o, std::uint32_t i) const;
  std::int32_t delay(ir::OpId o, ir::ValueId v) const;
  std::int64_t copies_of_state(std::size_t state) const { return state_copies_[state]; }
  std::int64_t copies_of_value(ir::ValueId v) const { return value_copies_[v.index()]; }

 private:
  struct Read {
    ir::OpId op;
    std::uint32_t operand;
    bool new_version;
  };
  std::int32_t& delay_at(const Read& r) { return delays_[loop_.module->op(r.op).operand_begin + r.operand]; }
  std::int32_t state(ir::ValueId v) const {
    return loop_.state_of[v.index()] >= 0 ? loop_.state_of[v.index()] : loop_.new_version_of[v.index()];
  }
  std::int32_t newest(ir::OpId use, ir::OpId update) const;
  void delays_of(std::size_t state, std::span<const Read> reads);
  void windows_of(std::size_t state, std::span<const Read> reads);
  void copies_of_values();

  const LoopProgram& loop_;
  const Lags& lags_;
  // By op: its place in a trip; whether a window's update makes it.
  std::vector<std::int32_t> place_;
  std::vector<bool> update_;
  std::vector<std::int64_t> state_copies_, value_copies_;
  // By operand (Op::operand_begin + i).
  std::vector<std::int32_t> delays_;
};

}  // namespace pando::project
