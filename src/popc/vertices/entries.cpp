#include "popc/vertices/entries.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

namespace pando::popc {

namespace {

using namespace llvm;

constexpr unsigned kWorkers = 6;

Function* declare(Function& compute, const std::string& name) {
  Module& module = *compute.getParent();
  LLVMContext& c = module.getContext();
  Type* i64 = Type::getInt64Ty(c);
  auto* type = FunctionType::get(Type::getInt1Ty(c), {PointerType::getUnqual(c), i64, i64, PointerType::getUnqual(c)}, false);
  auto* entry = Function::Create(type, GlobalValue::WeakODRLinkage, name, module);
  entry->setComdat(module.getOrInsertComdat(name));
  entry->addRetAttr(Attribute::ZExt);
  // The same target as compute, or it could not be inlined.
  for (const char* attribute : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width", "frame-pointer"})
    if (compute.hasFnAttribute(attribute)) entry->addFnAttr(compute.getFnAttribute(attribute));
  entry->setUWTableKind(UWTableKind::Async);
  // Vertex state and tensors never overlap: without this, every store to a tensor would make the optimiser load the fields'
  // pointers and sizes again, and no loop would be vectorised.
  entry->addParamAttr(0, Attribute::NoAlias);
  compute.addParamAttr(0, Attribute::NoAlias);
  return entry;
}

// What __builtin_ipu_get_worker_id() reads, where the source uses it.
void set_worker(IRBuilder<>& b, Module& module, Value* worker) {
  GlobalVariable* number = module.getGlobalVariable("pando_worker");
  if (number && !number->isDeclaration()) b.CreateStore(worker ? worker : b.getInt32(0), number);
}

Value* call_compute(IRBuilder<>& b, Function& compute, Value* self, Value* worker, bool returns_bool) {
  SmallVector<Value*, 2> arguments = {self};
  set_worker(b, *compute.getParent(), worker);
  if (worker) arguments.push_back(b.CreateZExtOrTrunc(worker, compute.getFunctionType()->getParamType(1)));
  CallInst* call = b.CreateCall(&compute, arguments);
  call->setCallingConv(compute.getCallingConv());
  if (!compute.hasFnAttribute(Attribute::NoInline) && !compute.hasFnAttribute(Attribute::OptimizeNone))
    call->addFnAttr(Attribute::AlwaysInline);
  if (!returns_bool) return b.getTrue();
  return call;
}

}  // namespace

void add_entry(Function& compute, const std::string& name, VertexKind kind, bool returns_bool, std::uint64_t offset) {
  Function* entry = declare(compute, name);
  // Inlined into a function without a source, its code would have no lines.
  if (compute.getSubprogram()) {
    compute.removeFnAttr(Attribute::AlwaysInline);
    compute.addFnAttr(Attribute::NoInline);
  }
  LLVMContext& c = entry->getContext();
  auto* start = BasicBlock::Create(c, "start", entry);
  auto* loop = BasicBlock::Create(c, "vertex", entry);
  auto* next = BasicBlock::Create(c, "next", entry);
  auto* end = BasicBlock::Create(c, "end", entry);
  Argument *first = entry->getArg(0), *stride = entry->getArg(1), *count = entry->getArg(2);

  IRBuilder<> b(start);
  b.CreateCondBr(b.CreateICmpEQ(count, b.getInt64(0)), end, loop);

  b.SetInsertPoint(loop);
  PHINode* index = b.CreatePHI(b.getInt64Ty(), 2);
  PHINode* ok = b.CreatePHI(b.getInt1Ty(), 2);
  // Who handles a fault in compute() reads which vertex it was.
  b.CreateStore(index, entry->getArg(3), true);
  Value* vertex = b.CreateGEP(b.getInt8Ty(), first, b.CreateMul(index, stride));
  Value* self = offset == 0 ? vertex : b.CreateConstGEP1_64(b.getInt8Ty(), vertex, offset);
  Value* result = nullptr;
  if (kind == VertexKind::multi) {
    auto* worker_loop = BasicBlock::Create(c, "worker", entry, next);
    b.CreateBr(worker_loop);
    b.SetInsertPoint(worker_loop);
    PHINode* worker = b.CreatePHI(b.getInt32Ty(), 2);
    PHINode* all = b.CreatePHI(b.getInt1Ty(), 2);
    result = b.CreateAnd(all, call_compute(b, compute, self, worker, returns_bool));
    Value* following = b.CreateAdd(worker, b.getInt32(1));
    b.CreateCondBr(b.CreateICmpEQ(following, b.getInt32(kWorkers)), next, worker_loop);
    worker->addIncoming(b.getInt32(0), loop);
    worker->addIncoming(following, worker_loop);
    all->addIncoming(ok, loop);
    all->addIncoming(result, worker_loop);
  } else {
    result = b.CreateAnd(ok, call_compute(b, compute, self, nullptr, returns_bool));
    b.CreateBr(next);
  }

  b.SetInsertPoint(next);
  Value* following = b.CreateAdd(index, b.getInt64(1));
  b.CreateCondBr(b.CreateICmpEQ(following, count), end, loop);
  index->addIncoming(b.getInt64(0), start);
  index->addIncoming(following, next);
  ok->addIncoming(b.getTrue(), start);
  ok->addIncoming(result, next);

  b.SetInsertPoint(end);
  PHINode* all_ok = b.CreatePHI(b.getInt1Ty(), 2);
  all_ok->addIncoming(b.getTrue(), start);
  all_ok->addIncoming(result, next);
  b.CreateRet(all_ok);
}

}  // namespace pando::popc
