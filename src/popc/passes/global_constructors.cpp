#include "popc/passes/global_constructors.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>

#include "popc/passes/reach.h"

namespace pando::popc {

namespace {

using namespace llvm;

bool touches(const Function& f, const DenseSet<const GlobalValue*>& moved) {
  for (const GlobalValue* g : reachable(f))
    if (moved.contains(g)) return true;
  return false;
}

// Only calls of functions without arguments or results, then a return: clang's per-file list of initialisers.
bool is_list_of_calls(const Function& f) {
  if (f.size() != 1) return false;
  for (const Instruction& i : f.front()) {
    if (isa<ReturnInst>(i)) continue;
    const auto* call = dyn_cast<CallInst>(&i);
    if (!call || !call->getCalledFunction() || call->arg_size() != 0) return false;
  }
  return true;
}

void keep_calls(Function& f, const DenseSet<const GlobalValue*>& moved, bool touching) {
  for (Instruction& i : llvm::make_early_inc_range(f.front()))
    if (auto* call = dyn_cast<CallInst>(&i))
      if (touches(*call->getCalledFunction(), moved) != touching) call->eraseFromParent();
}

struct Constructor {
  std::uint64_t priority;
  Function* function;
};

}  // namespace

void drop_destructors(Module& module, const DenseSet<const GlobalValue*>& moved) {
  Function* atexit = module.getFunction("__cxa_atexit");
  if (!atexit) return;
  for (User* user : llvm::make_early_inc_range(atexit->users())) {
    auto* call = dyn_cast<CallBase>(user);
    if (!call || call->arg_size() != 3) continue;
    const auto* variable = dyn_cast<GlobalVariable>(call->getArgOperand(1)->stripInBoundsOffsets());
    if (variable && !moved.contains(variable)) continue;
    call->replaceAllUsesWith(Constant::getNullValue(call->getType()));
    if (auto* invoke = dyn_cast<InvokeInst>(call)) {
      BranchInst::Create(invoke->getNormalDest(), invoke->getIterator());
      invoke->getUnwindDest()->removePredecessor(invoke->getParent());
    }
    call->eraseFromParent();
  }
}

std::vector<Function*> take_constructors(Module& module, const DenseSet<const GlobalValue*>& moved) {
  GlobalVariable* list = module.getGlobalVariable("llvm.global_ctors");
  if (!list || !list->hasInitializer() || list->getInitializer()->isNullValue()) return {};
  std::vector<Constructor> taken, kept;
  for (const Use& u : cast<ConstantArray>(list->getInitializer())->operands()) {
    const auto* row = cast<ConstantStruct>(&u);
    Constructor c{cast<ConstantInt>(row->getOperand(0))->getZExtValue(), dyn_cast<Function>(row->getOperand(1))};
    if (!c.function) continue;
    if (!touches(*c.function, moved)) {
      kept.push_back(c);
      continue;
    }
    if (is_list_of_calls(*c.function)) {
      ValueToValueMapTy map;
      Function* rest = CloneFunction(c.function, map);
      keep_calls(*rest, moved, false);
      keep_calls(*c.function, moved, true);
      kept.push_back({c.priority, rest});
    }
    taken.push_back(c);
  }
  list->eraseFromParent();
  for (const Constructor& c : kept) appendToGlobalCtors(module, c.function, static_cast<int>(c.priority));
  std::stable_sort(taken.begin(), taken.end(), [](const Constructor& a, const Constructor& b) { return a.priority < b.priority; });
  std::vector<Function*> functions;
  for (const Constructor& c : taken) functions.push_back(c.function);
  return functions;
}

}  // namespace pando::popc
