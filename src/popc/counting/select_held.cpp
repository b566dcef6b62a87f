#include "popc/counting/selector.h"

#include <llvm/IR/Constants.h>

#include <algorithm>

#include "machine/worker/registers.h"
#include "popc/counting/patterns.h"

namespace pando::popc {

using namespace llvm;

void Selector::hold(Key key, const HeldValue& value) {
  const auto [at, added] = numbers_.try_emplace(key, static_cast<std::uint32_t>(held_.size()));
  if (added) held_.push_back(value);
  reads_held_.push_back(at->second);
}

unsigned Selector::words_of(const Type& type, const DataLayout& layout) {
  if (type.isPointerTy() || type.isIntegerTy() || !type.isSized()) return 1;
  return std::max<unsigned>(1, static_cast<unsigned>((layout.getTypeStoreSize(const_cast<Type*>(&type)).getFixedValue() + 3) / 4));
}

// What an operand that the block does not make holds.
void Selector::hold_operand(const Value& v, const Instruction& user) {
  const bool is_number = is_aux(*v.getType());
  const HeldValue value{is_number ? Pipe::aux : Pipe::main, words_of(*v.getType(), layout_), false, false};
  if (const auto* c = dyn_cast<Constant>(&v)) {
    if (!is_number || constant_instructions(*c) == 0) return;
    const bool is_splat = c->getType()->isVectorTy();
    hold({c, 0}, {Pipe::aux, is_splat ? value.words : 1, false, constant_instructions(*c) == 1 && !is_splat});
    return;
  }
  const auto* maker = dyn_cast<Instruction>(&v);
  if (!maker && !isa<Argument>(v)) return;
  if (maker && (shapes_.is_replaced(*maker) || shapes_.is_closing_test(*maker))) return;
  if (maker && maker->getParent() == user.getParent() && !isa<PHINode>(maker)) {
    for (const Value* operand : maker->operands())  // it takes no instruction: what it is made of is held
      if (!made_.contains(operand)) hold_operand(*operand, *maker);
    return;
  }
  const bool changes = maker && isa<PHINode>(maker) && maker->getParent() == user.getParent();
  hold({&v, 0}, {value.file, value.words, changes, false});
}

void Selector::set_result(const Instruction& i, Issue& issue) {
  const Loop* loop = loops_.getLoopFor(i.getParent());
  issue.file = is_aux(*i.getType()) ? Pipe::aux : Pipe::main;
  issue.words = words_of(*i.getType(), layout_);
  for (const User* u : i.users()) {
    const auto& user = *cast<Instruction>(u);
    const bool is_next = isa<PHINode>(user) && loop && user.getParent() == loop->getHeader();
    if (is_next && user.getParent() == i.getParent()) issue.words = 0;  // it takes the register of the round before
    if (is_next || user.getParent() != i.getParent()) issue.lives_on = true;
  }
}

// Registers are short where a loop runs: what finds none there is loaded again.
void Selector::issue_slots(Segment& s, const BasicBlock& b) {
  const Loop* loop = loops_.getLoopFor(&b);
  if (!loop || !loop->isInnermost()) {
    s.bundles = schedule(s.issues);
    return;
  }
  unsigned changing = 0;
  for (const HeldValue& v : held_)
    if (v.changes && v.file == Pipe::aux) changing += v.words;
  s.bundles = schedule(s.issues, registers_of(Pipe::aux) - std::min(changing, registers_of(Pipe::aux) / 2));
  fit_registers(s.issues, s.bundles, held_);
}

}  // namespace pando::popc
