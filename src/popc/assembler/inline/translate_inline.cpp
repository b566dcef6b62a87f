#include "popc/assembler/inline/translate_inline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <map>

#include "codelet/runtime/worker_memory.h"
#include "popc/assembler/inline/foreign_assembly.h"
#include "popc/assembler/inline/inline_block.h"
#include "popc/assembler/translate/entries.h"
#include "popc/assembler/translate/function.h"
#include "popc/passes/reach.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

// The vertex whose compute() a function is.
struct Owner {
  const Codelet* codelet = nullptr;
  std::int64_t offset = 0;  // of `this` in the vertex
};

std::map<const Function*, Owner> owners(const Module& module, const std::vector<Codelet>& codelets) {
  std::map<const Function*, Owner> out;
  for (const Codelet& c : codelets) {
    const Function* entry = module.getFunction(c.entry);
    if (!entry) continue;
    for (const Instruction& i : instructions(*entry)) {
      const auto* call = dyn_cast<CallInst>(&i);
      const Function* f = call && !isa<IntrinsicInst>(call) ? call->getCalledFunction() : nullptr;
      if (!f || f->arg_empty()) continue;
      APInt offset(64, 0);
      call->getArgOperand(0)->stripAndAccumulateConstantOffsets(module.getDataLayout(), offset, true);
      out[f] = {&c, offset.getSExtValue()};
    }
  }
  return out;
}

struct Assembled {
  InlineBlock block;
  AssemblyUnit unit;
  std::uint32_t bytes = 0;
};

Assembled assembled(const CallBase& call, const InlineAsm& assembly, const std::string& where, Assembler& before) {
  Assembled out;
  out.block = read_inline(call, assembly);
  Assembler assembler(where);
  assembler.inherit(before);
  assembler.add(out.block.text, {where, 1});
  out.bytes = assembler.end();
  before = assembler;
  out.unit = assembler.finish();
  const std::vector<std::string> errors = assembler.errors();
  if (!errors.empty()) throw AssemblyError(fmt::format("{}", fmt::join(errors, "\n")));
  return out;
}

// A function that does what a statement does: of its operands, and of the arguments of the function that it stands in.
class StatementFunction {
 public:
  StatementFunction(CallInst& call, const Assembled& code, Function& run, const InlineRegisters& registers, Owner owner)
      : call_(call), code_(code), run_(run), registers_(registers), owner_(owner), b_(call.getContext()) {}

  void put_in_place() {
    SmallVector<Value*, 8> arguments(call_.args());
    for (Argument& a : call_.getFunction()->args()) arguments.push_back(&a);
    SmallVector<Type*, 8> types;
    for (const Value* v : arguments) types.push_back(v->getType());
    Function& in = *call_.getFunction();
    function_ =
        Function::Create(FunctionType::get(call_.getType(), types, false), GlobalValue::InternalLinkage, "asm:statement", *in.getParent());
    function_->setUWTableKind(UWTableKind::Async);
    for (const char* attribute : {"pando-general", "target-cpu", "target-features", "tune-cpu"})
      if (in.hasFnAttribute(attribute)) function_->addFnAttr(in.getFnAttribute(attribute));
    write_body();
    IRBuilder<> at(&call_);
    CallInst* call = at.CreateCall(function_, arguments);
    if (!call_.getType()->isVoidTy()) call_.replaceAllUsesWith(call);
    call_.eraseFromParent();
  }

 private:
  void write_body() {
    b_.SetInsertPoint(BasicBlock::Create(function_->getContext(), "", function_));
    AllocaInst* words = b_.CreateAlloca(ArrayType::get(b_.getInt32Ty(), std::max<std::size_t>(registers_.words.size(), 1)));
    words->setAlignment(Align(16));
    Value *fields = ConstantPointerNull::get(b_.getPtrTy()), *vertex = fields, *count = b_.getInt32(0);
    if (owner_.codelet) {
      vertex = b_.CreateConstGEP1_64(b_.getInt8Ty(), function_->getArg(static_cast<unsigned>(call_.arg_size())),
                                     static_cast<std::uint64_t>(-owner_.offset));
      fields = &state_fields(*function_->getParent(), *owner_.codelet);
      count = b_.getInt32(static_cast<unsigned>(owner_.codelet->fields.size()));
    }
    Type* pointer = b_.getPtrTy();
    Value* shared = b_.CreateCall(FunctionType::get(pointer, {pointer, pointer, b_.getInt32Ty()}, false),
                                  runtime_entry(b_, RuntimeEntry::begin_worker), {vertex, fields, count});
    std::size_t at = 0;
    for (const InlineOperand& o : code_.block.operands) {
      if (o.is_immediate || o.tied >= 0) continue;
      if (Value* input = input_of(o)) store_words(words, at, o, input);
      at += o.count;
    }
    for (; at < registers_.words.size(); ++at) b_.CreateStore(argument(registers_.words[at].index), word(words, at));
    b_.CreateCall(&run_, {shared, words});
    if (owner_.codelet)
      b_.CreateCall(FunctionType::get(b_.getVoidTy(), {pointer, pointer, b_.getInt32Ty()}, false),
                    runtime_entry(b_, RuntimeEntry::end_worker), {vertex, fields, count});
    if (call_.getType()->isVoidTy())
      b_.CreateRetVoid();
    else
      b_.CreateRet(outputs(words));
  }

  Value* word(Value* words, std::size_t at) { return b_.CreateConstGEP1_64(b_.getInt32Ty(), words, at); }

  // The value that an operand's registers have at first.
  Value* input_of(const InlineOperand& o) const {
    if (o.argument >= 0) return function_->getArg(static_cast<unsigned>(o.argument));
    const auto own = static_cast<int>(&o - code_.block.operands.data());
    for (const InlineOperand& other : code_.block.operands)
      if (other.tied == own) return function_->getArg(static_cast<unsigned>(other.argument));
    return nullptr;
  }

  Value* tile_address(Value* host) {
    return b_.CreateCall(FunctionType::get(b_.getInt32Ty(), {b_.getPtrTy()}, false), runtime_entry(b_, RuntimeEntry::tile_address), {host});
  }

  void store_words(Value* words, std::size_t at, const InlineOperand& o, Value* value) {
    if (value->getType()->isPointerTy()) return void(b_.CreateStore(tile_address(value), word(words, at)));
    const unsigned bits = static_cast<unsigned>(value->getType()->getPrimitiveSizeInBits().getFixedValue());
    value = b_.CreateZExtOrTrunc(b_.CreateBitCast(value, b_.getIntNTy(bits)), b_.getIntNTy(32 * o.count));
    b_.CreateStore(value, word(words, at));
  }

  Value* argument(unsigned index) {
    if (index == 0 && owner_.codelet) return b_.getInt32(kWindowAddress);
    unsigned integers = 0;
    for (Argument& a : drop_begin(function_->args(), call_.arg_size())) {
      if (!a.getType()->isPointerTy() && !a.getType()->isIntegerTy()) continue;
      if (integers++ != index) continue;
      return a.getType()->isPointerTy() ? tile_address(&a) : b_.CreateZExtOrTrunc(&a, b_.getInt32Ty());
    }
    return b_.getInt32(0);
  }

  Value* output(Value* words, std::size_t at, const InlineOperand& o) {
    if (o.type->isPointerTy())
      return b_.CreateCall(FunctionType::get(b_.getPtrTy(), {b_.getInt32Ty()}, false), runtime_entry(b_, RuntimeEntry::host_address),
                           {b_.CreateLoad(b_.getInt32Ty(), word(words, at))});
    const unsigned bits = static_cast<unsigned>(o.type->getPrimitiveSizeInBits().getFixedValue());
    Value* raw = b_.CreateAlignedLoad(b_.getIntNTy(32 * o.count), word(words, at), Align(4));
    return b_.CreateBitCast(b_.CreateZExtOrTrunc(raw, b_.getIntNTy(bits)), o.type);
  }

  Value* outputs(Value* words) {
    const bool is_record = call_.getType()->isStructTy();
    Value* out = PoisonValue::get(call_.getType());
    std::size_t at = 0;
    unsigned index = 0;
    for (const InlineOperand& o : code_.block.operands) {
      if (o.is_immediate || o.tied >= 0) continue;
      if (o.is_output) {
        Value* value = output(words, at, o);
        out = is_record ? b_.CreateInsertValue(out, value, {index}) : value;
        ++index;
      }
      at += o.count;
    }
    return out;
  }

  CallInst& call_;
  const Assembled& code_;
  Function& run_;
  Function* function_ = nullptr;
  const InlineRegisters& registers_;
  Owner owner_;
  IRBuilder<> b_;
};

InlineRegisters registers_of(const InlineBlock& block) {
  InlineRegisters out;
  for (std::size_t i = 0; i < block.operands.size(); ++i) {
    const InlineOperand& o = block.operands[i];
    if (o.is_immediate || o.tied >= 0) continue;
    bool is_read = o.argument >= 0;
    for (const InlineOperand& other : block.operands) is_read = is_read || other.tied == static_cast<int>(i);
    for (unsigned k = 0; k < o.count; ++k) out.words.push_back({o.bank, o.first + k, is_read, o.is_output});
  }
  for (const unsigned r : block.free_reads) out.words.push_back({Bank::main, r, true, false});
  return out;
}

void translate(CallInst& call, const Assembled& code, Owner owner, const std::string& general) {
  const bool needs_state = owner.codelet && (code.block.names_vertex_state || !code.block.free_reads.empty());
  if (!needs_state) owner = {};
  InlineRegisters registers = registers_of(code.block);
  const LinkedAssembly linked({code.unit});
  AssemblyFunctions functions(*call.getModule(), linked, general);
  registers.end = kCodeAddress + code.bytes;
  registers.state = owner.codelet ? kWindowAddress : 0;
  Function& run = functions.of_inline(kCodeAddress, "asm:inline", registers);
  StatementFunction(call, code, run, registers, owner).put_in_place();
}

}  // namespace

std::string why_no_worker_runs(const CallBase& call, const InlineAsm& assembly, Assembler& before) {
  try {
    assembled(call, assembly, "inline assembly", before);
  } catch (const AssemblyError& e) { return e.what(); }
  return "";
}

void translate_inline_assembly(Module& module, std::vector<Codelet>& codelets, const std::string& general) {
  const std::map<const Function*, Owner> owner_of = owners(module, codelets);
  Assembler before("");
  bool any = false;
  for (Function& f : module) {
    SmallVector<CallInst*, 4> calls;
    for (Instruction& i : instructions(f))
      if (auto* call = dyn_cast<CallInst>(&i); call && is_workers_assembly(*call)) calls.push_back(call);
    for (CallInst* call : calls) try {
        const std::string where = fmt::format("inline assembly in '{}'", demangle(f.getName()));
        const Assembled code = assembled(*call, *cast<InlineAsm>(call->getCalledOperand()), where, before);
        const auto owner = owner_of.find(&f);
        translate(*call, code, owner == owner_of.end() ? Owner{} : owner->second, general);
        any = true;
      } catch (const AssemblyError&) {
        // It becomes a trap: replace_foreign_assembly.
      }
  }
  if (!any) return;
  for (Codelet& c : codelets) {
    const Function* entry = module.getFunction(c.entry);
    if (!entry) continue;
    for (const GlobalValue* g : reachable(*entry)) c.addresses_tile = c.addresses_tile || g->getName().starts_with("asm:inline");
  }
}

}  // namespace pando::popc
