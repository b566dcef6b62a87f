#include "popc/passes/jumps.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include <algorithm>
#include <stdexcept>

#include "popc/passes/reach.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr const char* kSetters[] = {"setjmp", "_setjmp", "__sigsetjmp"};
constexpr const char* kJumpers[] = {"longjmp", "_longjmp", "siglongjmp"};

bool is_jump(const GlobalValue& g) {
  const auto is_g = [&](const char* name) { return g.getName() == name; };
  return g.isDeclaration() &&
         (std::any_of(std::begin(kSetters), std::end(kSetters), is_g) || std::any_of(std::begin(kJumpers), std::end(kJumpers), is_g));
}

void redirect(Module& module, const char* name, RuntimeEntry entry) {
  Function* f = module.getFunction(name);
  if (!f || !f->isDeclaration()) return;
  for (Use& use : make_early_inc_range(f->uses())) {
    auto* call = dyn_cast<CallBase>(use.getUser());
    if (!call || &call->getCalledOperandUse() != &use)
      throw std::runtime_error("the address of '" + std::string(name) + "' is taken: it can only be called");
    IRBuilder<> b(call);
    call->setCalledOperand(runtime_entry(b, entry));
    if (entry == RuntimeEntry::set_jump)
      call->addFnAttr(Attribute::ReturnsTwice);
    else
      call->addFnAttr(Attribute::NoReturn);
  }
  f->eraseFromParent();
}

// The one call of compute() in a codelet's entry.
CallInst* compute_call(Function& entry) {
  for (Instruction& i : instructions(entry))
    if (auto* call = dyn_cast<CallInst>(&i); call && call->getCalledFunction() && !call->getCalledFunction()->isIntrinsic()) return call;
  return nullptr;
}

// int thunk(void** arguments) { return compute(arguments[0], arguments[1]); }
Function* write_thunk(CallInst& call) {
  Function& compute = *call.getCalledFunction();
  LLVMContext& c = compute.getContext();
  auto* type = FunctionType::get(Type::getInt32Ty(c), {PointerType::getUnqual(c)}, false);
  auto* thunk = Function::Create(type, GlobalValue::InternalLinkage, compute.getName() + ".jumping", compute.getParent());
  thunk->setAttributes(
      AttributeList::get(c, AttributeList::FunctionIndex, AttrBuilder(c, call.getFunction()->getAttributes().getFnAttrs())));
  IRBuilder<> b(BasicBlock::Create(c, "", thunk));
  SmallVector<Value*, 2> arguments;
  for (unsigned i = 0; i < call.arg_size(); ++i)
    arguments.push_back(b.CreateLoad(call.getArgOperand(i)->getType(), b.CreateConstGEP1_32(b.getPtrTy(), thunk->getArg(0), i)));
  CallInst* inner = b.CreateCall(&compute, arguments);
  inner->setCallingConv(call.getCallingConv());
  b.CreateRet(inner->getType()->isVoidTy() ? b.getInt32(1) : b.CreateZExt(inner, b.getInt32Ty()));
  return thunk;
}

void run_on_jump_stack(Function& entry) {
  CallInst* call = compute_call(entry);
  if (!call) return;
  Function* thunk = write_thunk(*call);
  IRBuilder<> start(&*entry.getEntryBlock().getFirstInsertionPt());
  Value* arguments = start.CreateAlloca(ArrayType::get(start.getPtrTy(), call->arg_size()));
  IRBuilder<> b(call);
  for (unsigned i = 0; i < call->arg_size(); ++i) b.CreateStore(call->getArgOperand(i), b.CreateConstGEP1_32(b.getPtrTy(), arguments, i));
  auto* type = FunctionType::get(b.getInt32Ty(), {b.getPtrTy(), b.getPtrTy()}, false);
  Value* result = b.CreateCall(type, runtime_entry(b, RuntimeEntry::run_jumping), {thunk, arguments});
  if (!call->getType()->isVoidTy()) call->replaceAllUsesWith(b.CreateICmpNE(result, b.getInt32(0)));
  call->eraseFromParent();
}

}  // namespace

void redirect_jumps(Module& module, const std::vector<Codelet>& codelets) {
  for (const Codelet& c : codelets) {
    Function* entry = module.getFunction(c.entry);
    const auto found = reachable(*entry);
    if (std::any_of(found.begin(), found.end(), [](const GlobalValue* g) { return is_jump(*g); })) run_on_jump_stack(*entry);
  }
  for (const char* name : kSetters) redirect(module, name, RuntimeEntry::set_jump);
  for (const char* name : kJumpers) redirect(module, name, RuntimeEntry::jump);
}

}  // namespace pando::popc
