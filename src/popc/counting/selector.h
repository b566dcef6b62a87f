// Selects the instructions of one function (popc/counting/selection.h). Its parts are files: constants, values that are held in registers,
// fields that are loaded again, loads and stores, control.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/IR/Instructions.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "machine/worker/registers.h"
#include "popc/counting/loop_shapes.h"
#include "popc/counting/patterns.h"
#include "popc/counting/selection.h"

namespace pando::popc {

using Values = llvm::SmallVector<std::uint32_t, 4>;  // instructions that make a value

class Selector {
 public:
  Selector(llvm::Function& function, LoopShapes& shapes, llvm::LoopInfo& loops, llvm::AAResults& aliases)
      : function_(function), shapes_(shapes), loops_(loops), aliases_(aliases), layout_(function.getParent()->getDataLayout()) {}

  SelectedFunction run();

 private:
  // An instruction at the end of a block.
  struct Extra {
    const char* name;
    std::string text;
  };
  // A value of outside the block, by what it is or by the number of its register.
  using Key = std::pair<const void*, unsigned>;

  // selector.cpp
  void find_frame();
  static const llvm::Function* calls_function(const llvm::Instruction& i);
  // Loaded for nothing else: then into a register of floats.
  static bool comes_from_memory(const llvm::Instruction& i) {
    return llvm::isa<llvm::LoadInst>(i.getOperand(0)) && i.getOperand(0)->hasOneUse();
  }
  Segment& segment() { return out_.blocks.back().segments.back(); }
  void begin_segment(llvm::Instruction* at);
  std::uint32_t emit(const char* name, const Values& after, const llvm::Instruction* of, std::string text = "");
  Values makers_of(const llvm::Instruction& i);
  void emit_pattern(const Pattern& pattern, llvm::Instruction& i);
  void select_block(llvm::BasicBlock& b);
  void select(llvm::Instruction& i);
  void select_call(llvm::CallBase& call);
  void reject(const std::string& why) { out_.rejection = why; }

  // select_constants.cpp
  llvm::BasicBlock* place_of(llvm::BasicBlock* b) const;
  static unsigned constant_instructions(const llvm::Constant& c);
  void place_constants();
  void place_phis();

  // select_held.cpp
  void hold(Key key, const HeldValue& value);
  static unsigned words_of(const llvm::Type& type, const llvm::DataLayout& layout);
  void hold_operand(const llvm::Value& v, const llvm::Instruction& user);
  void set_result(const llvm::Instruction& i, Issue& issue);
  void issue_slots(Segment& s, const llvm::BasicBlock& b);

  // select_fields.cpp
  static bool takes_a_scalar(const llvm::Instruction& user, const llvm::Value& operand);
  static bool may_change(const llvm::StoreInst& store, const llvm::LoadInst& field);
  Values stores_that_change(const llvm::LoadInst& field) const;
  void forget_fields(const llvm::StoreInst& store);
  const llvm::LoadInst* field_behind(const llvm::Value* v) const;
  bool is_loaded_again(const llvm::Value* v, const llvm::BasicBlock* user);

  // select_accesses.cpp
  void select_access(llvm::Instruction& i);
  Values read_address(const llvm::Instruction& i);
  void hold_stepping(const Stepping& stepping);
  void order_memory(const llvm::Instruction& i, Values& after);
  void select_address(llvm::GetElementPtrInst& address);

  // select_control.cpp
  static bool is_part_of_branch(const llvm::ICmpInst& compare);
  static bool needs_flag(const llvm::Instruction& compare);
  bool is_update(const llvm::Instruction& i) const;
  void select_terminator(llvm::Instruction& i);
  void select_branch(llvm::BranchInst& branch);
  void select_return(llvm::ReturnInst& i);

  llvm::Function& function_;
  LoopShapes& shapes_;
  llvm::LoopInfo& loops_;
  llvm::AAResults& aliases_;
  const llvm::DataLayout& layout_;
  SelectedFunction out_;
  bool has_frame_ = false, calls_ = false;
  llvm::MapVector<llvm::BasicBlock*, std::vector<Extra>> extras_;
  // Of the segment.
  llvm::DenseMap<const llvm::Value*, Values> made_;
  std::vector<std::pair<const llvm::Instruction*, Values>> last_store_, loads_;
  std::map<unsigned, std::uint32_t> behind_;  // by base: the address that lower accesses count from
  std::vector<HeldValue> held_;
  std::map<Key, std::uint32_t> numbers_;   // of held_; looked up, never iterated
  std::vector<std::uint32_t> reads_held_;  // by the next instruction
};

}  // namespace pando::popc
