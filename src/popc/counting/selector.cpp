#include "popc/counting/selector.h"

#include <fmt/format.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <stdexcept>

#include "popc/counting/patterns.h"

namespace pando::popc {

using namespace llvm;

SelectedFunction Selector::run() {
  find_frame();
  place_constants();
  place_phis();
  for (Loop* loop : loops_.getLoopsInPreorder())
    if (BasicBlock* before = loop->getLoopPreheader())
      for (const char* name : shapes_.of(*loop).before) extras_[before].push_back({name, "of the loop"});
  for (BasicBlock& b : function_) {
    select_block(b);
    if (!out_.rejection.empty()) break;
  }
  return std::move(out_);
}

void Selector::find_frame() {
  for (const Instruction& i : instructions(function_)) {
    if (isa<AllocaInst>(i)) has_frame_ = true;
    if (isa<UIToFPInst, SIToFPInst>(i) && !comes_from_memory(i)) has_frame_ = true;
    if (calls_function(i)) has_frame_ = calls_ = true;
  }
}

const Function* Selector::calls_function(const Instruction& i) {
  const auto* call = dyn_cast<CallInst>(&i);
  const Function* f = call ? call->getCalledFunction() : nullptr;
  if (f && f->getName().starts_with(kAssemblyPrefix)) return nullptr;
  return f && !f->isDeclaration() && builtin_name(*f).empty() ? f : nullptr;
}

void Selector::begin_segment(Instruction* at) {
  if (!out_.blocks.back().segments.empty()) issue_slots(segment(), *out_.blocks.back().block);
  out_.blocks.back().segments.push_back({at, {}, {}, {}});
  made_.clear();
  last_store_.clear();
  loads_.clear();
  behind_.clear();
  held_.clear();
  numbers_.clear();
  reads_held_.clear();
}

std::uint32_t Selector::emit(const char* name, const Values& after, const Instruction* of, std::string text) {
  const WorkerInstruction* row = find_worker_instruction(name);
  if (!row) throw std::runtime_error(std::string("internal error: no instruction '") + name + "'");
  Issue issue{row, {after.begin(), after.end()}, false, 0, std::move(text)};
  if (segment().begin && !segment().issues.empty()) issue.after.push_back(0);  // the read of the counter is first
  std::sort(issue.after.begin(), issue.after.end());
  issue.after.erase(std::unique(issue.after.begin(), issue.after.end()), issue.after.end());
  for (const std::uint32_t needed : issue.after) segment().issues[needed].late = false;
  if (of && of->getDebugLoc()) issue.line = of->getDebugLoc().getLine();
  issue.reads = issue.after;
  issue.file = row->pipe;
  issue.words = row->ends_bundles || StringRef(name).starts_with("st") ? 0 : 1;
  issue.held = std::move(reads_held_);
  reads_held_.clear();
  segment().issues.push_back(std::move(issue));
  segment().places.push_back(of ? of->getDebugLoc().get() : nullptr);
  return static_cast<std::uint32_t>(segment().issues.size() - 1);
}

Values Selector::makers_of(const Instruction& i) {
  Values out;
  for (const Value* operand : i.operands()) {
    if (!made_.contains(operand) && is_loaded_again(operand, i.getParent())) {
      std::vector<std::uint32_t> waiting = std::move(reads_held_);
      reads_held_.clear();
      hold({function_.getArg(0), 0}, {});
      made_[operand] = {emit("ld32", stores_that_change(*field_behind(operand)), &i, "a field, again")};
      segment().issues.back().file = is_aux(*operand->getType()) ? Pipe::aux : Pipe::main;
      if (isa<ShuffleVectorInst>(operand) && !takes_a_scalar(i, *operand))
        made_[operand] = {emit("a.mov", made_[operand], &i, "into both lanes")};
      reads_held_ = std::move(waiting);
    }
    if (const auto at = made_.find(operand); at != made_.end())
      out.append(at->second.begin(), at->second.end());
    else
      hold_operand(*operand, i);
  }
  return out;
}

void Selector::emit_pattern(const Pattern& pattern, Instruction& i) {
  Values after = makers_of(i);
  for (const char* name : pattern) after = {emit(name, after, &i)};
  if (!pattern.empty()) set_result(i, segment().issues.back());
  made_[&i] = std::move(after);
}

void Selector::select_block(BasicBlock& b) {
  out_.blocks.push_back({&b, {}, false});
  begin_segment(nullptr);
  if (&b == &function_.getEntryBlock() && has_frame_) {
    for (const char* name : {"add", "sub", "cmpult"}) emit(name, {}, nullptr, "room on the stack");
    if (calls_) emit("st32", {}, nullptr, "where to return");
    emit("brz", {}, nullptr, "is there room?");
    begin_segment(nullptr);
  }
  for (Instruction& i : b) {
    if (i.isTerminator()) {
      select_terminator(i);
      continue;
    }
    select(i);
    if (!out_.rejection.empty()) {
      if (i.getDebugLoc()) out_.rejection += fmt::format(" (line {})", i.getDebugLoc().getLine());
      return;
    }
  }
  issue_slots(segment(), b);
}

void Selector::select(Instruction& i) {
  if (isa<PHINode, AllocaInst>(i) || i.isDebugOrPseudoInst() || shapes_.is_replaced(i) || shapes_.is_closing_test(i)) return;
  if (isa<LoadInst, StoreInst>(i)) return select_access(i);
  if (auto* address = dyn_cast<GetElementPtrInst>(&i)) return select_address(*address);
  if (auto* call = dyn_cast<CallBase>(&i)) return select_call(*call);
  if (auto* compare = dyn_cast<ICmpInst>(&i); compare && is_part_of_branch(*compare)) return;
  if (i.isAtomic() || i.isVolatile()) return reject("it has an atomic operation");
  std::string why;
  std::optional<Pattern> pattern = pattern_of(i, why);
  if (!pattern) return reject(why);
  if (isa<UIToFPInst, SIToFPInst>(i) && comes_from_memory(i)) pattern->erase(pattern->begin(), pattern->begin() + 2);
  if (isa<FCmpInst>(i) && needs_flag(i)) pattern->push_back("atom");
  emit_pattern(*pattern, i);
  if (pattern->empty()) return;
  if (is_update(i)) segment().issues.back().late = true;
}

void Selector::select_call(CallBase& call) {
  if (reads_cycles(call)) {
    begin_segment(&call);
    emit("get", {}, &call);
    return;
  }
  // Of inline assembly, which counts its own instructions.
  if (call.getCalledFunction() && call.getCalledFunction()->getName().starts_with(kAssemblyPrefix)) return;
  if (const Function* f = calls_function(call)) {
    emit("call", makers_of(call), &call, f->getName().str());
    begin_segment(nullptr);
    return;
  }
  std::string why;
  const std::optional<Pattern> pattern = pattern_of_call(call, why);
  if (!pattern) return reject(why);
  emit_pattern(*pattern, call);
}

}  // namespace pando::popc
