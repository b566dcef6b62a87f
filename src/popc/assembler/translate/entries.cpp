#include "popc/assembler/translate/entries.h"

#include <llvm/IR/IRBuilder.h>

#include "popc/assembler/translate/state_layout.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr unsigned kWorkers = 6;

Function* declare(Function& run, const std::string& name, ArrayRef<Type*> parameters) {
  Module& module = *run.getParent();
  Function* f = Function::Create(FunctionType::get(Type::getInt1Ty(module.getContext()), parameters, false), GlobalValue::ExternalLinkage,
                                 name, module);
  f->addRetAttr(Attribute::ZExt);
  f->addParamAttr(0, Attribute::NoAlias);
  f->setUWTableKind(UWTableKind::Async);
  if (run.hasFnAttribute("pando-general")) f->addFnAttr(run.getFnAttribute("pando-general"));
  return f;
}

struct Called {
  Value *result, *slots;
};

// A vertex runs: its state goes to the window, its workers run one after the other, its numbers come back.
Called call_vertex(IRBuilder<>& b, Function& run, const Codelet& codelet, Value* vertex, AllocaInst* slots) {
  Module& module = *run.getParent();
  Value* fields = &state_fields(module, codelet);
  Value* count = b.getInt32(static_cast<unsigned>(codelet.fields.size()));
  Type* pointer = b.getPtrTy();
  Value* shared = b.CreateCall(FunctionType::get(pointer, {pointer, pointer, b.getInt32Ty()}, false),
                               runtime_entry(b, RuntimeEntry::begin_worker), {vertex, fields, count});
  Called out{b.getTrue(), b.getInt64(0)};
  const bool is_multi = codelet.kind == VertexKind::multi;
  for (unsigned worker = 0; worker < (is_multi ? kWorkers : 1); ++worker) {
    Value* result = b.CreateCall(&run, {shared, b.getInt32(kWindowAddress), b.getInt32(worker), slots});
    Value* own = b.CreateLoad(b.getInt64Ty(), slots);
    out.result = b.CreateAnd(out.result, result);
    out.slots = b.CreateSelect(b.CreateICmpUGT(own, out.slots), own, out.slots);
  }
  if (is_multi) out.slots = b.CreateMul(out.slots, b.getInt64(kWorkers));
  b.CreateCall(FunctionType::get(b.getVoidTy(), {pointer, pointer, b.getInt32Ty()}, false), runtime_entry(b, RuntimeEntry::end_worker),
               {vertex, fields, count});
  return out;
}

void add_entry(Function& run, const Codelet& codelet, bool counts) {
  LLVMContext& c = run.getContext();
  Type *address = PointerType::getUnqual(c), *number = Type::getInt64Ty(c);
  SmallVector<Type*, 5> parameters = {address, number, number, address};
  if (counts) parameters.push_back(address);
  Function* entry = declare(run, codelet.entry + (counts ? kCountedSuffix : ""), parameters);
  auto *start = BasicBlock::Create(c, "start", entry), *loop = BasicBlock::Create(c, "vertex", entry),
       *end = BasicBlock::Create(c, "end", entry);
  IRBuilder<> b(start);
  AllocaInst* slots = b.CreateAlloca(number);
  b.CreateCondBr(b.CreateICmpEQ(entry->getArg(2), b.getInt64(0)), end, loop);
  b.SetInsertPoint(loop);
  PHINode *index = b.CreatePHI(number, 2), *ok = b.CreatePHI(b.getInt1Ty(), 2);
  b.CreateStore(index, entry->getArg(3), true);
  Value* vertex = b.CreateGEP(b.getInt8Ty(), entry->getArg(0), b.CreateMul(index, entry->getArg(1)));
  const Called called = call_vertex(b, run, codelet, vertex, slots);
  if (counts) b.CreateStore(called.slots, b.CreateGEP(number, entry->getArg(4), index));
  Value *both = b.CreateAnd(ok, called.result), *next = b.CreateAdd(index, b.getInt64(1));
  index->addIncoming(b.getInt64(0), start);
  index->addIncoming(next, loop);
  ok->addIncoming(b.getTrue(), start);
  ok->addIncoming(both, loop);
  b.CreateCondBr(b.CreateICmpEQ(next, entry->getArg(2)), end, loop);
  b.SetInsertPoint(end);
  PHINode* all = b.CreatePHI(b.getInt1Ty(), 2);
  all->addIncoming(b.getTrue(), start);
  all->addIncoming(both, loop);
  b.CreateRet(all);
}

}  // namespace

GlobalVariable& state_fields(Module& module, const Codelet& codelet) {
  const std::string name = "asm:state:" + codelet.name;
  if (GlobalVariable* known = module.getGlobalVariable(name, true)) return *known;
  const std::vector<StateField> fields = state_layout(codelet);
  const StringRef bytes(reinterpret_cast<const char*>(fields.data()), fields.size() * sizeof(StateField));
  Constant* data = ConstantDataArray::getString(module.getContext(), bytes, false);
  auto* out = new GlobalVariable(module, data->getType(), true, GlobalValue::InternalLinkage, data, name);
  out->setAlignment(Align(8));
  return *out;
}

void add_missing_entry(Module& module, const Codelet& codelet) {
  LLVMContext& c = module.getContext();
  Type *address = PointerType::getUnqual(c), *number = Type::getInt64Ty(c);
  auto* entry = Function::Create(FunctionType::get(Type::getInt1Ty(c), {address, number, number, address}, false),
                                 GlobalValue::ExternalLinkage, codelet.entry, module);
  IRBuilder<>(BasicBlock::Create(c, "start", entry)).CreateRet(ConstantInt::getTrue(c));
}

void add_assembly_entries(Function& run, const Codelet& codelet) {
  add_entry(run, codelet, false);
  add_entry(run, codelet, true);
}

}  // namespace pando::popc
