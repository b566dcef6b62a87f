#include "popc/passes/strided_entries.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <string_view>

#include "popc/vertices/entries.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr unsigned kMostInstructions = 600;  // of the entry: where a vertex does more, reading where its edges lie is nothing beside it

bool is_only_read(const Argument& vertices) {
  SmallVector<const Value*, 16> left{&vertices};
  SmallPtrSet<const Value*, 16> seen{&vertices};
  while (!left.empty())
    for (const User* user : left.pop_back_val()->users()) {
      if (isa<LoadInst, ICmpInst>(user)) continue;
      if (!isa<GetElementPtrInst, PHINode, SelectInst, FreezeInst>(user)) return false;
      if (seen.insert(user).second) left.push_back(user);
    }
  return true;
}

bool is_in_registers(Function& f) {
  return none_of(instructions(f), [](const Instruction& i) { return isa<AllocaInst>(i); });
}

// Numbers that depend on how code was optimised: two entries would not have the same bits.
bool is_exact(Function& f) {
  return none_of(instructions(f), [](const Instruction& i) {
    return isa<FPMathOperator>(i) && (i.hasAllowReassoc() || i.hasAllowContract() || i.hasApproxFunc() || i.hasAllowReciprocal());
  });
}

// With the function that it calls for a vertex, where that is still there.
void erase(Function& strided) {
  const StringRef entry = strided.getName().drop_back(std::string_view(kStridedSuffix).size());
  Function* vertex = strided.getParent()->getFunction((entry + kVertexSuffix).str());
  strided.eraseFromParent();
  if (vertex && vertex->use_empty()) vertex->eraseFromParent();
}

bool calls_vertex(Function& strided, const std::string& entry) {
  return any_of(instructions(strided), [&](const Instruction& i) {
    const auto* call = dyn_cast<CallInst>(&i);
    const Function* callee = call ? call->getCalledFunction() : nullptr;
    return callee && callee->getName().starts_with(entry + kVertexSuffix);  // linked modules number those of one name
  });
}

}  // namespace

void remove_strided_entries(Module& module) {
  SmallVector<Function*, 16> all;
  for (Function& f : module)
    if (f.getName().ends_with(kStridedSuffix)) all.push_back(&f);
  for (Function* f : all) erase(*f);
}

void drop_strided_entries(Module& module, const std::vector<Codelet>& codelets) {
  for (const Codelet& c : codelets) {
    const Function* list = module.getFunction(c.entry);
    Function* strided = module.getFunction(c.entry + kStridedSuffix);
    if (!strided) continue;
    const bool gains = !c.uses_tile && strided->getInstructionCount() <= kMostInstructions && is_in_registers(*strided);
    const bool is_right = list && !calls_vertex(*strided, c.entry) && is_exact(*strided) && is_only_read(*list->getArg(0));
    if (!gains || !is_right) erase(*strided);
  }
}

}  // namespace pando::popc
