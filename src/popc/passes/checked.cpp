#include "popc/passes/checked.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Operator.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <string>
#include <utility>

#include "codelet/store/gp_file.h"
#include "popc/passes/checked_loops.h"
#include "popc/passes/checked_ranges.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr const char* kBoundsHandlers[] = {"__ubsan_handle_out_of_bounds", "__ubsan_handle_out_of_bounds_abort"};

unsigned form_of(const Field& f) {
  if (f.has_rows()) return kRows;
  return f.shape == FieldShape::scalar ? kElement : kVector;
}

// A PandoCheckedVertex: the fields with an address.
Constant* description_of(Module& module, const Codelet& codelet) {
  LLVMContext& c = module.getContext();
  Type *address = PointerType::getUnqual(c), *number = Type::getInt32Ty(c);
  auto* field_type = StructType::get(c, {address, number, number, number});
  std::vector<Constant*> fields;
  const auto constant = [&](Type* type, Constant* value, const Twine& name) {
    auto* g = new GlobalVariable(module, type, true, GlobalValue::PrivateLinkage, value, name);
    return g;
  };
  for (const Field& f : codelet.fields) {
    if (!f.is_edge() && f.shape == FieldShape::scalar) continue;
    Constant* text = ConstantDataArray::getString(c, f.name);
    const auto value = [&](std::uint64_t n) { return ConstantInt::get(number, n); };
    fields.push_back(ConstantStruct::get(
        field_type, {constant(text->getType(), text, "checked.name"), value(f.host_offset), value(form_of(f)), value(size_of(f.type))}));
  }
  auto* list_type = ArrayType::get(field_type, fields.size());
  Constant* list = constant(list_type, ConstantArray::get(list_type, fields), "checked.fields");
  Constant* whole = ConstantStruct::getAnon({list, ConstantInt::get(Type::getInt64Ty(c), fields.size())});
  return constant(whole->getType(), whole, "checked.vertex");
}

// See kFieldsAttribute. `shift`: where the parameter points to in the vertex.
std::string fields_text(const Codelet& codelet, std::int64_t shift) {
  std::string text;
  for (const Field& f : codelet.fields)
    if (f.is_edge() || f.shape != FieldShape::scalar)
      text += std::to_string(static_cast<std::int64_t>(f.host_offset) - shift) + " " + std::to_string(form_of(f)) + " " +
              std::to_string(size_of(f.type)) + ";";
  return text;
}

void tell_fields(Function& compute, const std::string& text) {
  Argument* vertex = compute.getArg(0);
  const Attribute old = compute.getAttributes().getParamAttr(0, kFieldsAttribute);
  const bool agrees = !old.isValid() || old.getValueAsString() == text;
  compute.removeParamAttr(0, kFieldsAttribute);
  vertex->addAttr(Attribute::get(compute.getContext(), kFieldsAttribute, agrees ? text : ""));
}

void announce(Function& entry, const Codelet& codelet, Constant* description) {
  std::vector<CallBase*> calls;
  for (Instruction& i : instructions(entry)) {
    auto* call = dyn_cast<CallBase>(&i);
    if (call && !isa<IntrinsicInst>(call) && call->arg_size() > 0 && call->getArgOperand(0)->getType()->isPointerTy())
      calls.push_back(call);
  }
  for (CallBase* call : calls) {
    IRBuilder<> b(call);
    // The argument is the vertex's descriptor, or a base class in it.
    APInt shift(64, 0);
    Value* vertex = call->getArgOperand(0)->stripAndAccumulateConstantOffsets(entry.getParent()->getDataLayout(), shift, true);
    auto* type = FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false);
    CallInst* told = b.CreateCall(type, runtime_entry(b, RuntimeEntry::checked_vertex), {description, vertex});
    // The optimiser may believe that nobody else knows the vertex: who is told reads it alone.
    told->setMemoryEffects(MemoryEffects::inaccessibleOrArgMemOnly());
    told->addParamAttr(1, Attribute::NoCapture);
    told->addParamAttr(1, Attribute::ReadOnly);
    told->addParamAttr(1, Attribute::get(entry.getContext(), kFieldsAttribute, fields_text(codelet, 0)));
    told->setDoesNotThrow();
    if (Function* compute = call->getCalledFunction()) tell_fields(*compute, fields_text(codelet, shift.getSExtValue()));
    return;
  }
}

// --- accesses

struct CheckedAccess {
  Instruction* instruction;
  Value* address;
  Value* bytes;   // i64
  Value* active;  // i1: whether there is an access at all; null: always
  bool writes;
};

class Checker {
 public:
  explicit Checker(Function& function) : function_(function), layout_(function.getParent()->getDataLayout()), ranges_(function) {}

  void run() {
    const CheckedAccesses inside = check_loops_before(function_, ranges_);
    std::vector<Instruction*> all;
    for (Instruction& i : instructions(function_))
      if (!inside.contains(&i)) all.push_back(&i);
    for (Instruction* i : all) look(*i);
    for (const CheckedAccess& a : accesses_) check(a);
  }

 private:
  Value* size_of_type(IRBuilder<>& b, Type* type) { return b.getInt64(layout_.getTypeStoreSize(type).getFixedValue()); }
  void add(Instruction& i, Value* address, Value* bytes, bool writes, Value* active = nullptr) {
    if (ranges_.is_checked(address)) accesses_.push_back({&i, address, bytes, active, writes});
  }

  void look(Instruction& i) {
    IRBuilder<> b(&i);
    if (auto* load = dyn_cast<LoadInst>(&i)) {
      if (!load->hasMetadata(LLVMContext::MD_invariant_load)) add(i, load->getPointerOperand(), size_of_type(b, load->getType()), false);
    } else if (auto* store = dyn_cast<StoreInst>(&i)) {
      if (!store->isVolatile() || !is_number_of_vertex(*store))
        add(i, store->getPointerOperand(), size_of_type(b, store->getValueOperand()->getType()), true);
    } else if (auto* rmw = dyn_cast<AtomicRMWInst>(&i)) {
      add(i, rmw->getPointerOperand(), size_of_type(b, rmw->getType()), true);
    } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&i)) {
      add(i, exchange->getPointerOperand(), size_of_type(b, exchange->getNewValOperand()->getType()), true);
    } else if (auto* copy = dyn_cast<MemIntrinsic>(&i)) {
      if (const auto* n = dyn_cast<ConstantInt>(copy->getLength()); n && n->isZero()) return;
      Value* bytes = b.CreateZExtOrTrunc(copy->getLength(), b.getInt64Ty());
      Value* active = isa<ConstantInt>(bytes) ? nullptr : b.CreateICmpNE(bytes, b.getInt64(0));
      add(i, copy->getRawDest(), bytes, true, active);
      if (auto* transfer = dyn_cast<MemTransferInst>(&i)) add(i, transfer->getRawSource(), bytes, false, active);
    } else if (auto* intrinsic = dyn_cast<IntrinsicInst>(&i)) {
      masked(*intrinsic);
    }
  }
  // Entries say which vertex comes next through their last argument.
  bool is_number_of_vertex(const StoreInst& store) const {
    const auto* argument = dyn_cast<Argument>(store.getPointerOperand());
    return argument && argument->getArgNo() + 1 == function_.arg_size();
  }

  void masked(IntrinsicInst& i) {
    switch (i.getIntrinsicID()) {
      case Intrinsic::masked_load: return lanes(i, i.getArgOperand(0), i.getArgOperand(2), i.getType(), false);
      case Intrinsic::masked_store: return lanes(i, i.getArgOperand(1), i.getArgOperand(3), i.getArgOperand(0)->getType(), true);
      case Intrinsic::masked_gather: return scattered(i, i.getArgOperand(0), i.getArgOperand(2), i.getType(), false);
      case Intrinsic::masked_scatter: return scattered(i, i.getArgOperand(1), i.getArgOperand(3), i.getArgOperand(0)->getType(), true);
      default: return;
    }
  }
  // From the first lane that is on to the last one.
  void lanes(IntrinsicInst& i, Value* address, Value* mask, Type* type, bool writes) {
    const auto* vector = dyn_cast<FixedVectorType>(type);
    if (!vector || vector->getNumElements() > 64 || !ranges_.is_checked(address)) return;
    IRBuilder<> b(&i);
    Value* bits = b.CreateZExt(b.CreateBitCast(mask, b.getIntNTy(vector->getNumElements())), b.getInt64Ty());
    Value* some = b.CreateICmpNE(bits, b.getInt64(0));
    Value* first = b.CreateBinaryIntrinsic(Intrinsic::cttz, bits, b.getFalse());
    Value* last = b.CreateSub(b.getInt64(64), b.CreateBinaryIntrinsic(Intrinsic::ctlz, bits, b.getFalse()));
    Value* unit = size_of_type(b, vector->getElementType());
    Value* begin = b.CreateGEP(b.getInt8Ty(), address, b.CreateMul(first, unit));
    add(i, begin, b.CreateMul(b.CreateSub(last, first), unit), writes, some);
  }
  void scattered(IntrinsicInst& i, Value* addresses, Value* mask, Type* type, bool writes) {
    const auto* vector = dyn_cast<FixedVectorType>(type);
    auto* from = dyn_cast<GetElementPtrInst>(addresses);
    if (!vector || !from || from->getPointerOperand()->getType()->isVectorTy()) return;
    IRBuilder<> b(&i);
    for (unsigned n = 0; n < vector->getNumElements(); ++n) {
      // The lane's address, as one that was made from the same pointer.
      Value* lane = b.CreateExtractElement(b.CreatePtrToInt(addresses, FixedVectorType::get(b.getInt64Ty(), vector->getNumElements())), n);
      Value* base = from->getPointerOperand();
      Value* address = b.CreateGEP(b.getInt8Ty(), base, b.CreateSub(lane, b.CreatePtrToInt(base, b.getInt64Ty())));
      add(i, address, size_of_type(b, vector->getElementType()), writes, b.CreateExtractElement(mask, n));
    }
  }

  void check(const CheckedAccess& a) {
    const Range range = ranges_.of(a.address);
    if (!range.begin) return;
    IRBuilder<> b(a.instruction);
    // What lies before the range is far behind it as an unsigned number. The first comparison is the same for many accesses.
    Value* before = b.CreateSub(b.CreatePtrToInt(a.address, b.getInt64Ty()), range.begin);
    Value* all = b.CreateSub(range.end, range.begin);
    Value* outside = b.CreateOr(b.CreateICmpULT(all, a.bytes), b.CreateICmpUGT(before, b.CreateSub(all, a.bytes)));
    if (a.active) outside = b.CreateAnd(outside, a.active);
    Instruction* then = SplitBlockAndInsertIfThen(outside, a.instruction->getIterator(), true,
                                                  MDBuilder(function_.getContext()).createUnlikelyBranchWeights());
    IRBuilder<> cold(then);
    cold.SetCurrentDebugLocation(a.instruction->getDebugLoc());
    auto* type = FunctionType::get(cold.getVoidTy(),
                                   {cold.getPtrTy(), cold.getPtrTy(), cold.getInt64Ty(), cold.getInt32Ty(), cold.getPtrTy()}, false);
    CallInst* call = cold.CreateCall(type, runtime_entry(cold, RuntimeEntry::checked_access),
                                     {range.base, a.address, a.bytes, cold.getInt32(a.writes), place_of(cold, *a.instruction)});
    call->setDoesNotReturn();
  }

  // "FILE:LINE" of the source, or null.
  Constant* place_of(IRBuilder<>& b, const Instruction& i) {
    const DebugLoc& at = i.getDebugLoc();
    if (!at || at.getLine() == 0) return ConstantPointerNull::get(b.getPtrTy());
    std::string file = at->getFilename().str();
    if (!file.empty() && file[0] != '/' && !at->getDirectory().empty()) file = at->getDirectory().str() + "/" + file;
    return b.CreateGlobalString(file + ":" + std::to_string(at.getLine()), "checked.place");
  }

  Function& function_;
  const DataLayout& layout_;
  Ranges ranges_;
  std::vector<CheckedAccess> accesses_;
};

void define(Module& module, const char* name) {
  Function* f = module.getFunction(name);
  if (!f || !f->isDeclaration()) return;
  for (User* user : f->users()) {
    auto* call = dyn_cast<CallBase>(user);
    auto* data = call ? dyn_cast<GlobalVariable>(call->getArgOperand(0)->stripPointerCasts()) : nullptr;
    if (data) data->setConstant(true);
  }
  f->setLinkage(GlobalValue::InternalLinkage);
  f->removeFnAttr(Attribute::NoUnwind);
  f->setUWTableKind(UWTableKind::Async);
  IRBuilder<> b(BasicBlock::Create(module.getContext(), "", f));
  auto* type = FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getInt64Ty()}, false);
  b.CreateCall(type, runtime_entry(b, RuntimeEntry::checked_index), {f->getArg(0), f->getArg(1)});
  b.CreateUnreachable();
}

}  // namespace

void define_bounds_handlers(Module& module) {
  for (const char* name : kBoundsHandlers) define(module, name);
}

std::unique_ptr<Module> without_checks(const Module& module, bool keeps_lines) {
  std::unique_ptr<Module> out = CloneModule(module);
  for (const char* name : kBoundsHandlers) {
    Function* handler = out->getFunction(name);
    if (!handler) continue;
    for (User* user : handler->users()) {
      auto* call = dyn_cast<CallBase>(user);
      if (!call) continue;
      BasicBlock* const found = call->getParent();
      for (BasicBlock* before : predecessors(found))
        if (auto* branch = dyn_cast<BranchInst>(before->getTerminator()); branch && branch->isConditional())
          branch->setCondition(ConstantInt::getBool(out->getContext(), branch->getSuccessor(1) == found));
    }
  }
  if (keeps_lines) return out;
  // What has lines is not inlined into its entry (vertices/entries.cpp).
  for (Function& entry : *out) {
    if (!entry.getName().starts_with(kEntryPrefix)) continue;
    for (Instruction& i : instructions(entry)) {
      auto* call = dyn_cast<CallBase>(&i);
      Function* compute = call ? call->getCalledFunction() : nullptr;
      if (!compute || !compute->getSubprogram() || compute->hasFnAttribute(Attribute::OptimizeNone)) continue;
      compute->removeFnAttr(Attribute::NoInline);
      compute->addFnAttr(Attribute::AlwaysInline);
    }
  }
  StripDebugInfo(*out);
  return out;
}

void keep_accesses_apart() {
  static bool done = false;
  if (std::exchange(done, true)) return;
  auto& options = cl::getRegisteredOptions();
  for (const char* name : {"sink-common-insts", "hoist-common-insts"})
    if (const auto it = options.find(name); it != options.end()) it->second->addOccurrence(1, name, "false");
}

void announce_vertices(Module& module, const std::vector<Codelet>& codelets, const char* suffix) {
  for (const Codelet& c : codelets)
    if (Function* entry = module.getFunction(c.entry + suffix); entry && !entry->isDeclaration())
      announce(*entry, c, description_of(module, c));
}

void check_accesses(Module& module) {
  std::vector<Function*> all;
  for (Function& f : module) {
    const StringRef name = f.getName();
    if (name.starts_with(kEntryPrefix) && name.ends_with(kCountSuffix)) continue;
    if (name.starts_with("asm:")) continue;  // assembly checks each of its accesses against the tile's memory
    if (!f.isDeclaration()) all.push_back(&f);
    f.removeFnAttr(Attribute::NoUnwind);
  }
  for (Function* f : all) {
    for (Instruction& i : instructions(*f))
      if (auto* call = dyn_cast<CallBase>(&i); call && !isa<IntrinsicInst>(call)) call->removeFnAttr(Attribute::NoUnwind);
    Checker(*f).run();
  }
}

}  // namespace pando::popc
