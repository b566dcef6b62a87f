#include "popc/vertices/entries.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstddef>

namespace pando::popc {

namespace {

using namespace llvm;

constexpr unsigned kWorkers = 6;

Function* declare(Function& compute, const std::string& name, ArrayRef<Type*> parameters) {
  Module& module = *compute.getParent();
  auto* type = FunctionType::get(Type::getInt1Ty(module.getContext()), parameters, false);
  auto* entry = Function::Create(type, GlobalValue::WeakODRLinkage, name, module);
  entry->setComdat(module.getOrInsertComdat(name));
  entry->addRetAttr(Attribute::ZExt);
  // The same target as compute, or it could not be inlined.
  for (const char* attribute : {"pando-general", "target-cpu", "target-features", "tune-cpu", "min-legal-vector-width", "frame-pointer"})
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

bool is_edge(const Field& f) { return f.is_edge(); }

}  // namespace

void add_entry(Function& compute, const std::string& name, VertexKind kind, bool returns_bool, std::uint64_t offset) {
  Type *address = PointerType::getUnqual(compute.getContext()), *number = Type::getInt64Ty(compute.getContext());
  Function* entry = declare(compute, name, {address, number, number, address});
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

namespace {

// What a loop's value is at first, from `before` it, and afterwards, from its `end`.
void set_values(PHINode* value, Value* first, BasicBlock* before, Value* next, BasicBlock* end) {
  value->addIncoming(first, before);
  value->addIncoming(next, end);
}

// bool name(const char* first, edges' addresses ...): compute() of a vertex with its edges there, which is otherwise like the first. Its
// fields are a copy that the optimiser keeps in registers, and its edges do not overlap.
Function* add_vertex_function(Function& compute, const Codelet& codelet, bool returns_bool, std::uint64_t offset) {
  LLVMContext& c = compute.getContext();
  Type* address = PointerType::getUnqual(c);
  SmallVector<Type*, 4> parameters(1 + static_cast<std::size_t>(count_if(codelet.fields, is_edge)), address);
  Function* function = declare(compute, codelet.entry + kVertexSuffix, parameters);
  function->setLinkage(GlobalValue::InternalLinkage);
  function->setComdat(nullptr);
  // Inlined into its only caller, but not before its own copy is in registers: only then are its operands seen to be its parameters.
  for (Argument& a : function->args()) function->addParamAttr(a.getArgNo(), Attribute::NoAlias);
  IRBuilder<> b(BasicBlock::Create(c, "start", function));
  AllocaInst* vertex = b.CreateAlloca(ArrayType::get(b.getInt8Ty(), std::max(codelet.host_size, 1u)));
  vertex->setAlignment(Align(std::max(codelet.host_align, 8u)));
  b.CreateMemCpy(vertex, vertex->getAlign(), function->getArg(0), Align(8), codelet.host_size);
  unsigned edge = 0;
  for (const Field& f : codelet.fields)
    if (is_edge(f)) b.CreateAlignedStore(function->getArg(++edge), b.CreateConstGEP1_64(b.getInt8Ty(), vertex, f.host_offset), Align(8));
  Value* self = offset == 0 ? vertex : b.CreateConstGEP1_64(b.getInt8Ty(), vertex, offset);
  b.CreateRet(call_compute(b, compute, self, nullptr, returns_bool));
  return function;
}

}  // namespace

void add_strided_entry(Function& compute, const Codelet& codelet, bool returns_bool, std::uint64_t offset) {
  if (codelet.kind == VertexKind::multi || compute.getSubprogram()) return;
  if (any_of(codelet.fields, [](const Field& f) { return f.is_edge() && f.has_rows(); })) return;
  Function* run_vertex = add_vertex_function(compute, codelet, returns_bool, offset);
  LLVMContext& c = compute.getContext();
  Type *address = PointerType::getUnqual(c), *number = Type::getInt64Ty(c);
  Function* entry = declare(compute, codelet.entry + kStridedSuffix, {address, address, number, number, address});
  Argument *first = entry->getArg(0), *strides = entry->getArg(1), *inner = entry->getArg(2), *outer = entry->getArg(3);
  auto* start = BasicBlock::Create(c, "start", entry);
  auto* row = BasicBlock::Create(c, "row", entry);
  auto* loop = BasicBlock::Create(c, "vertex", entry);
  auto* next_row = BasicBlock::Create(c, "next_row", entry);
  auto* end = BasicBlock::Create(c, "end", entry);

  struct Edge {
    Value *begin, *inner, *outer;
    PHINode *row = nullptr, *vertex = nullptr;
  };
  IRBuilder<> b(start);
  SmallVector<Edge, 4> edges;
  for (const Field& f : codelet.fields) {
    if (!is_edge(f)) continue;
    const std::uint64_t at = edges.size() * sizeof(EdgeStride);
    const auto load = [&](Type* type, Value* from, std::uint64_t bytes) {
      return b.CreateAlignedLoad(type, b.CreateConstGEP1_64(b.getInt8Ty(), from, bytes), Align(8));
    };
    edges.push_back({load(address, first, f.host_offset), load(number, strides, at + offsetof(EdgeStride, inner)),
                     load(number, strides, at + offsetof(EdgeStride, outer))});
  }
  b.CreateBr(row);

  b.SetInsertPoint(row);
  PHINode *row_number = b.CreatePHI(number, 2), *row_begin = b.CreatePHI(number, 2), *row_ok = b.CreatePHI(b.getInt1Ty(), 2);
  for (Edge& e : edges) e.row = b.CreatePHI(address, 2);
  b.CreateBr(loop);

  b.SetInsertPoint(loop);
  PHINode *index = b.CreatePHI(number, 2), *ok = b.CreatePHI(b.getInt1Ty(), 2);
  SmallVector<Value*, 4> arguments{first};
  for (Edge& e : edges) arguments.push_back(e.vertex = b.CreatePHI(address, 2));
  b.CreateStore(b.CreateAdd(row_begin, index), entry->getArg(4), true);
  Value* result = b.CreateAnd(ok, b.CreateCall(run_vertex, arguments));
  Value* following = b.CreateAdd(index, b.getInt64(1));
  const auto in_row = [&](PHINode* value, Value* first, Value* next) { set_values(value, first, row, next, loop); };
  in_row(index, b.getInt64(0), following);
  in_row(ok, row_ok, result);
  for (const Edge& e : edges) in_row(e.vertex, e.row, b.CreateGEP(b.getInt8Ty(), e.vertex, e.inner));
  b.CreateCondBr(b.CreateICmpEQ(following, inner), next_row, loop);

  b.SetInsertPoint(next_row);
  Value* following_row = b.CreateAdd(row_number, b.getInt64(1));
  const auto of_rows = [&](PHINode* value, Value* first, Value* next) { set_values(value, first, start, next, next_row); };
  of_rows(row_number, b.getInt64(0), following_row);
  of_rows(row_begin, b.getInt64(0), b.CreateAdd(row_begin, inner));
  of_rows(row_ok, b.getTrue(), result);
  for (const Edge& e : edges) of_rows(e.row, e.begin, b.CreateGEP(b.getInt8Ty(), e.row, e.outer));
  b.CreateCondBr(b.CreateICmpEQ(following_row, outer), end, row);

  b.SetInsertPoint(end);
  b.CreateRet(result);
}

}  // namespace pando::popc
