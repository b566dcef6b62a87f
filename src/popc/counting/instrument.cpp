#include "popc/counting/instrument.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <map>
#include <vector>

#include "codelet/store/code_lines.h"
#include "popc/assembler/translate/function.h"
#include "popc/counting/patterns.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr const char* kSlots = "pando_slots";
constexpr const char* kBlocks = "pando_blocks";
constexpr unsigned kWorkers = 6;
constexpr unsigned kMostInlined = 20'000;  // instructions of ENTRY.count before it is optimised

GlobalVariable& counter_of(Module& module) {
  if (GlobalVariable* known = module.getGlobalVariable(kSlots, true)) return *known;
  auto* type = Type::getInt64Ty(module.getContext());
  return *new GlobalVariable(module, type, false, GlobalValue::InternalLinkage, ConstantInt::get(type, 0), kSlots, nullptr,
                             GlobalValue::GeneralDynamicTLSModel);
}

Value* counter_address(IRBuilder<>& b) { return b.CreateThreadLocalAddress(&counter_of(*b.GetInsertBlock()->getModule())); }
Value* read_counter(IRBuilder<>& b) { return b.CreateLoad(b.getInt64Ty(), counter_address(b)); }
void write_counter(IRBuilder<>& b, Value* value) { b.CreateStore(value, counter_address(b)); }

void add_to(IRBuilder<>& b, AllocaInst* local, Value* slots) {
  b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), local), slots), local);
}

void flush(IRBuilder<>& b, AllocaInst* local) {
  write_counter(b, b.CreateAdd(read_counter(b), b.CreateLoad(b.getInt64Ty(), local)));
  b.CreateStore(b.getInt64(0), local);
}

Value* block_counter(IRBuilder<>& b, GlobalVariable* variable, unsigned number) {
  return b.CreateConstInBoundsGEP2_64(variable->getValueType(), b.CreateThreadLocalAddress(variable), 0, number);
}

bool is_counted_call(const Instruction& i) {
  const auto* call = dyn_cast<CallBase>(&i);
  const Function* f = call ? call->getCalledFunction() : nullptr;
  return f && !f->isDeclaration() && builtin_name(*f).empty();
}

bool is_counter(const Value* pointer) {
  const Value* object = getUnderlyingObject(pointer);
  if (const auto* address = dyn_cast<IntrinsicInst>(object)) object = address->getArgOperand(0);
  const auto* global = dyn_cast<GlobalVariable>(object);
  return global && (global->getName() == kSlots || global->getName() == kBlocks);
}

Function* declare(Function& compute, const std::string& name, Type* result, ArrayRef<Type*> parameters) {
  Module& module = *compute.getParent();
  Function* f = Function::Create(FunctionType::get(result, parameters, false), GlobalValue::ExternalLinkage, name, module);
  for (const char* attribute : {"pando-general", "target-cpu", "target-features", "tune-cpu"})
    if (compute.hasFnAttribute(attribute)) f->addFnAttr(compute.getFnAttribute(attribute));
  f->setUWTableKind(UWTableKind::Async);
  f->addParamAttr(0, Attribute::NoAlias);
  return f;
}

// Calls compute() of the vertex for each of its workers (or once), and returns the slots of the slowest, in the unit of estimates: slots of
// the worker; of a multi-vertex cycles of the tile. `blocks`: and adds how often they run to the numbers at `out`.
struct Called {
  Value* result;
  Value* slots;
};
Called call_workers(IRBuilder<>& b, Function& compute, const Codelet& codelet, Value* self, bool returns_bool, const CountedBlocks* blocks,
                    Value* out_blocks) {
  Called out{b.getTrue(), b.getInt64(0)};
  const bool is_multi = codelet.kind == VertexKind::multi;
  std::vector<Value*> slowest;  // how often its blocks ran
  for (unsigned worker = 0; worker < (is_multi ? kWorkers : 1); ++worker) {
    write_counter(b, b.getInt64(kStubSlots));
    if (blocks)
      for (const unsigned n : blocks->numbers) b.CreateStore(b.getInt64(0), block_counter(b, blocks->variable, n));
    SmallVector<Value*, 2> arguments = {self};
    if (compute.arg_size() > 1) arguments.push_back(ConstantInt::get(compute.getArg(1)->getType(), worker));
    CallInst* call = b.CreateCall(&compute, arguments);
    call->setCallingConv(compute.getCallingConv());
    if (returns_bool) out.result = b.CreateAnd(out.result, call);
    Value* const slots = read_counter(b);
    Value* const is_slower = worker == 0 ? b.getTrue() : b.CreateICmpUGT(slots, out.slots);
    if (blocks)
      for (std::size_t i = 0; i < blocks->numbers.size(); ++i) {
        Value* const runs = b.CreateLoad(b.getInt64Ty(), block_counter(b, blocks->variable, blocks->numbers[i]));
        if (worker == 0)
          slowest.push_back(runs);
        else
          slowest[i] = b.CreateSelect(is_slower, runs, slowest[i]);
      }
    out.slots = worker == 0 ? slots : b.CreateSelect(is_slower, slots, out.slots);
  }
  if (blocks) slowest.insert(slowest.begin(), b.getInt64(1));
  const unsigned times = is_multi ? kWorkers : 1;
  for (std::size_t i = 0; i < slowest.size(); ++i) {
    Value* const at = b.CreateConstGEP1_64(b.getInt64Ty(), out_blocks, i);
    b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), at), b.CreateMul(slowest[i], b.getInt64(times))), at);
  }
  if (is_multi) out.slots = b.CreateMul(out.slots, b.getInt64(kWorkers));
  return out;
}

bool inline_calls(Function& f) {
  for (bool changes = true; changes;) {
    changes = false;
    for (Instruction& i : instructions(f)) {
      if (!is_counted_call(i)) continue;
      InlineFunctionInfo info;
      if (f.getInstructionCount() > kMostInlined || !InlineFunction(cast<CallBase>(i), info).isSuccess()) return false;
      changes = true;
      break;
    }
  }
  return true;
}

void drop_stores(Function& f) {
  SmallVector<Instruction*, 32> dropped;
  for (Instruction& i : instructions(f)) {
    const Value* written = nullptr;
    if (const auto* store = dyn_cast<StoreInst>(&i)) written = store->getPointerOperand();
    if (const auto* block = dyn_cast<MemIntrinsic>(&i)) written = block->getRawDest();
    if (written && !isa<AllocaInst>(getUnderlyingObject(written)) && !is_counter(written)) dropped.push_back(&i);
  }
  for (Instruction* i : dropped) i->eraseFromParent();
}

// What an instruction writes of memory; null: nothing, or not through one pointer.
const Value* written_by(const Instruction& i) {
  if (const auto* store = dyn_cast<StoreInst>(&i)) return store->isVolatile() ? nullptr : store->getPointerOperand();
  if (const auto* block = dyn_cast<MemIntrinsic>(&i)) return block->isVolatile() ? nullptr : block->getRawDest();
  return nullptr;
}

// A variable of the function whose address goes nowhere: it is loaded, stored to and indexed, and that is all.
bool stays_here(const AllocaInst& variable) {
  SmallVector<const Value*, 16> addresses = {&variable};
  while (!addresses.empty()) {
    const Value* address = addresses.pop_back_val();
    for (const User* user : address->users()) {
      if (isa<GetElementPtrInst>(user)) {
        addresses.push_back(user);
        continue;
      }
      const auto* i = cast<Instruction>(user);
      const auto* store = dyn_cast<StoreInst>(i);
      if (!(isa<LoadInst>(i) || (store && store->getValueOperand() != address) || isa<MemIntrinsic>(i) || i->isLifetimeStartOrEnd()))
        return false;
    }
  }
  return true;
}

// Variables that are only read to be written again, as the tables of a histogram are, decide nothing: what is left of a count does not read
// what they are made of. Whatever a branch, a counter or another memory needs is needed; a variable's stores are if one of its loads is.
void drop_unread_variables(Function& f) {
  SmallPtrSet<const AllocaInst*, 16> variables;
  for (const Instruction& i : instructions(f))
    if (const auto* variable = dyn_cast<AllocaInst>(&i); variable && stays_here(*variable)) variables.insert(variable);
  const auto variable_at = [&](const Value* pointer) -> const AllocaInst* {
    const auto* variable = pointer ? dyn_cast<AllocaInst>(getUnderlyingObject(pointer, 0)) : nullptr;
    return variable && variables.contains(variable) ? variable : nullptr;
  };
  std::map<const AllocaInst*, std::vector<Instruction*>> writers;  // looked up, never iterated
  SmallPtrSet<const Instruction*, 32> needed;
  SmallVector<const Instruction*, 64> todo;
  const auto need = [&](const Value* v) {
    if (const auto* i = dyn_cast_or_null<Instruction>(v); i && needed.insert(i).second) todo.push_back(i);
  };
  std::vector<Instruction*> writes;
  for (Instruction& i : instructions(f)) {
    if (const AllocaInst* variable = variable_at(written_by(i)))
      writers[variable].push_back(&i), writes.push_back(&i);
    else if (i.isTerminator() || (i.mayHaveSideEffects() && !i.isLifetimeStartOrEnd()))
      need(&i);
  }
  const auto need_all_of = [&](const Value* pointer) {
    if (const AllocaInst* variable = variable_at(pointer))
      for (const Instruction* writer : writers[variable]) need(writer);
  };
  while (!todo.empty()) {
    const Instruction* i = todo.pop_back_val();
    for (const Value* operand : i->operands()) need(operand);
    if (const auto* load = dyn_cast<LoadInst>(i)) need_all_of(load->getPointerOperand());
    if (const auto* transfer = dyn_cast<MemTransferInst>(i)) need_all_of(transfer->getRawSource());
  }
  for (Instruction* i : writes)
    if (!needed.contains(i)) i->eraseFromParent();
}

// Where the run would end, the count does: it does not say so a second time, before the vertex.
void return_instead_of_ending(Function& f) {
  SmallVector<CallBase*, 4> calls;
  for (Instruction& i : instructions(f))
    if (auto* call = dyn_cast<CallBase>(&i); call && ends_run(*call)) calls.push_back(call);
  for (CallBase* call : calls) {
    if (isa<InvokeInst>(call)) continue;
    BasicBlock* const block = call->getParent();
    SmallVector<BasicBlock*, 4> next(successors(block));
    for (BasicBlock* after : next) after->removePredecessor(block);
    while (&block->back() != call) {
      block->back().replaceAllUsesWith(PoisonValue::get(block->back().getType()));
      block->back().eraseFromParent();
    }
    call->replaceAllUsesWith(PoisonValue::get(call->getType()));
    call->eraseFromParent();
    IRBuilder<> b(block);
    if (f.getReturnType()->isVoidTy())
      b.CreateRetVoid();
    else
      b.CreateRet(Constant::getNullValue(f.getReturnType()));
  }
}

// A worker's number is known where it is called.
void replace_worker(Function& f, Value* worker) {
  SmallVector<CallBase*, 4> calls;
  for (Instruction& i : instructions(f))
    if (auto* call = dyn_cast<CallBase>(&i);
        call && call->getCalledFunction() && builtin_name(*call->getCalledFunction()) == "get_worker_id")
      calls.push_back(call);
  for (CallBase* call : calls) {
    IRBuilder<> b(call);
    call->replaceAllUsesWith(worker ? b.CreateZExtOrTrunc(worker, call->getType()) : Constant::getNullValue(call->getType()));
    call->eraseFromParent();
  }
}

// A function that adds to a counter writes memory, whatever was found out about it before: none of its calls is the same as another, or for
// nothing.
void let_write(Function& f) {
  f.setMemoryEffects(MemoryEffects::unknown());
  f.removeFnAttr(Attribute::Speculatable);
  for (User* user : f.users())
    if (auto* call = dyn_cast<CallBase>(user); call && call->getCalledOperand() == &f) call->removeFnAttr(Attribute::Memory);
}

}  // namespace

GlobalVariable& add_block_counters(Module& module, unsigned count) {
  auto* type = ArrayType::get(Type::getInt64Ty(module.getContext()), count);
  return *new GlobalVariable(module, type, false, GlobalValue::InternalLinkage, ConstantAggregateZero::get(type), kBlocks, nullptr,
                             GlobalValue::GeneralDynamicTLSModel);
}

void instrument(Function& function, const SelectedFunction& selected, const BlockCounters* blocks) {
  let_write(function);
  IRBuilder<> b(&*function.getEntryBlock().getFirstInsertionPt());
  const auto zeroed = [&] {
    AllocaInst* const variable = b.CreateAlloca(b.getInt64Ty());
    b.CreateStore(b.getInt64(0), variable);
    return variable;
  };
  std::vector<AllocaInst*> runs;  // of the segments that have slots
  for (unsigned i = 0; blocks && i < blocks->count; ++i) runs.push_back(zeroed());
  AllocaInst* const local = zeroed();
  std::size_t at = 0;
  const auto count = [&](unsigned slots) {
    if (slots == 0) return;
    add_to(b, local, b.getInt64(slots));
    if (blocks) add_to(b, runs[at++], b.getInt64(1));
  };
  for (const SelectedBlock& block : selected.blocks) {
    for (const Segment& s : block.segments) {
      const unsigned slots = slots_of(s.bundles);
      if (!s.begin) {
        b.SetInsertPoint(block.block,
                         block.block == local->getParent() ? std::next(local->getIterator(), 2) : block.block->getFirstInsertionPt());
        count(slots);
        continue;
      }
      b.SetInsertPoint(s.begin);
      Value* cycles = b.CreateMul(b.CreateAdd(read_counter(b), b.CreateLoad(b.getInt64Ty(), local)), b.getInt64(kWorkers));
      if (builtin_name(*cast<CallBase>(s.begin)->getCalledFunction()) == "get_scount_u") cycles = b.CreateLShr(cycles, 32);
      s.begin->replaceAllUsesWith(b.CreateZExtOrTrunc(cycles, s.begin->getType()));
      count(slots);
    }
  }
  SmallVector<Instruction*, 8> ends;
  for (Instruction& i : instructions(function))
    if (isa<ReturnInst>(i) || is_counted_call(i)) ends.push_back(&i);
  for (Instruction* i : ends) {
    b.SetInsertPoint(i);
    flush(b, local);
    for (unsigned n = 0; isa<ReturnInst>(i) && n < runs.size(); ++n) {
      Value* const counter = block_counter(b, blocks->variable, blocks->first + n);
      b.CreateStore(b.CreateAdd(b.CreateLoad(b.getInt64Ty(), counter), b.CreateLoad(b.getInt64Ty(), runs[n])), counter);
    }
  }
  for (const SelectedBlock& block : selected.blocks)
    for (const Segment& s : block.segments)
      if (s.begin) s.begin->eraseFromParent();
}

void count_inline_assembly(Module& module) {
  Function* add = module.getFunction(kInlineSlots);
  if (!add) return;
  add->setLinkage(GlobalValue::InternalLinkage);
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "", add));
  write_counter(b, b.CreateAdd(read_counter(b), add->getArg(0)));
  b.CreateRetVoid();
}

Function* add_counted_entry(Function& compute, const Codelet& codelet, std::uint64_t offset, bool returns_bool,
                            const CountedBlocks* blocks) {
  LLVMContext& c = compute.getContext();
  Type *address = PointerType::getUnqual(c), *number = Type::getInt64Ty(c);
  SmallVector<Type*, 6> parameters = {address, number, number, address, address};
  if (blocks) parameters.push_back(address);
  Function* entry = declare(compute, codelet.entry + (blocks ? kCountedBlocksSuffix : kCountedSuffix), Type::getInt1Ty(c), parameters);
  entry->addRetAttr(Attribute::ZExt);
  auto *start = BasicBlock::Create(c, "start", entry), *loop = BasicBlock::Create(c, "vertex", entry),
       *end = BasicBlock::Create(c, "end", entry);
  IRBuilder<> b(start);
  b.CreateCondBr(b.CreateICmpEQ(entry->getArg(2), b.getInt64(0)), end, loop);
  b.SetInsertPoint(loop);
  PHINode *index = b.CreatePHI(number, 2), *ok = b.CreatePHI(b.getInt1Ty(), 2);
  b.CreateStore(index, entry->getArg(3), true);
  Value* vertex = b.CreateGEP(b.getInt8Ty(), entry->getArg(0), b.CreateMul(index, entry->getArg(1)));
  const Called called = call_workers(b, compute, codelet, b.CreateConstGEP1_64(b.getInt8Ty(), vertex, offset), returns_bool, blocks,
                                     blocks ? entry->getArg(5) : nullptr);
  b.CreateStore(called.slots, b.CreateGEP(number, entry->getArg(4), index));
  Value* both = b.CreateAnd(ok, called.result);
  Value* next = b.CreateAdd(index, b.getInt64(1));
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
  return entry;
}

Function* add_count_entry(Function& compute, const Codelet& codelet, std::uint64_t offset, const CountedBlocks* blocks) {
  LLVMContext& c = compute.getContext();
  ValueToValueMapTy map;
  Function* control = CloneFunction(&compute, map);
  control->setLinkage(GlobalValue::InternalLinkage);
  if (!inline_calls(*control)) return control->eraseFromParent(), nullptr;
  return_instead_of_ending(*control);
  drop_stores(*control);
  drop_unread_variables(*control);
  replace_worker(*control, control->arg_size() > 1 ? control->getArg(1) : nullptr);
  control->removeFnAttr(Attribute::NoInline);
  control->addFnAttr(Attribute::AlwaysInline);
  SmallVector<Type*, 2> parameters(blocks ? 2 : 1, PointerType::getUnqual(c));
  Function* entry = declare(compute, codelet.entry + (blocks ? kCountBlocksSuffix : kCountSuffix), Type::getInt64Ty(c), parameters);
  IRBuilder<> b(BasicBlock::Create(c, "start", entry));
  Value* self = b.CreateConstGEP1_64(b.getInt8Ty(), entry->getArg(0), offset);
  b.CreateRet(call_workers(b, *control, codelet, self, false, blocks, blocks ? entry->getArg(1) : nullptr).slots);
  return entry;
}

namespace {

const Field* field_at(const Codelet& codelet, std::uint64_t offset) {
  for (const Field& f : codelet.fields)
    if (offset >= f.host_offset && offset < f.host_offset + f.host_size) return &f;
  return nullptr;
}

// What lies where a pointer points: fields, rows of a vector of vectors, elements of an edge.
enum class Place { fields, rows, elements, constant, unknown };
struct Pointed {
  Place place = Place::unknown;
  const Field* field = nullptr;
};

Pointed pointed(const Value* pointer, const Codelet& codelet, const LoopInfo& loops, unsigned depth) {
  if (depth > 8) return {};
  SmallVector<const Value*, 4> objects;
  getUnderlyingObjects(pointer, objects, const_cast<LoopInfo*>(&loops));
  Pointed out;
  for (const Value* object : objects) {
    Pointed one;
    if (isa<Argument>(object)) {
      one.place = Place::fields;
    } else if (const auto* g = dyn_cast<GlobalVariable>(object)) {
      one.place = g->isConstant() ? Place::constant : Place::unknown;
    } else if (isa<AllocaInst>(object)) {
      one.place = Place::constant;
    } else if (const auto* load = dyn_cast<LoadInst>(object)) {
      const DataLayout& layout = load->getModule()->getDataLayout();
      const Pointed from = pointed(load->getPointerOperand(), codelet, loops, depth + 1);
      if (from.place == Place::fields) {
        APInt offset(64, 0);
        load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
        one.field = field_at(codelet, offset.getZExtValue());
        if (one.field) one.place = one.field->has_rows() ? Place::rows : one.field->is_edge() ? Place::elements : Place::constant;
      } else if (from.place == Place::rows) {
        one = {Place::elements, from.field};
      }
    }
    if (one.place == Place::unknown) return {};
    if (out.place != Place::unknown && (out.place != one.place || out.field != one.field)) return {};
    out = one;
  }
  return out;
}

}  // namespace

Reads reads_of(Function& count, const Codelet& codelet) {
  Reads out;
  const DominatorTree dominators(count);
  const LoopInfo loops(dominators);
  for (const Instruction& i : instructions(count)) {
    if (const auto* call = dyn_cast<CallBase>(&i)) {
      if (!isa<IntrinsicInst>(call) && !call->doesNotAccessMemory()) out.whole = false;
      continue;
    }
    const auto* load = dyn_cast<LoadInst>(&i);
    if (!load || is_counter(load->getPointerOperand())) continue;
    const Pointed from = pointed(load->getPointerOperand(), codelet, loops, 0);
    if (from.place == Place::unknown) out.whole = false;
    if (from.place == Place::elements) (from.field->is_written() ? out.written_edges : out.edges) = true;
  }
  return out;
}

}  // namespace pando::popc
