#include "popc/passes/tile_globals.h"

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <stdexcept>

#include "codelet/store/gp_file.h"
#include "popc/passes/global_constructors.h"
#include "popc/passes/reach.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

// Variables of the C++ library's headers: _ZSt..., _ZNSt..., function statics and guards of its functions.
bool is_library_variable(StringRef name) {
  for (const char* prefix : {"_ZGV", "_ZZ"}) name.consume_front(prefix);
  if (!name.consume_front("_Z")) name.consume_front("Z");
  name.consume_front("Z");
  if (name.consume_front("N")) name.consume_front("K");
  return name.starts_with("St") || name.starts_with("Ss") || name.starts_with("9__gnu_cxx") || name.starts_with("10__cxxabiv1");
}

bool is_candidate(const GlobalVariable& g) {
  return !g.isDeclaration() && !g.hasAvailableExternallyLinkage() && !g.hasAppendingLinkage() && !g.getName().starts_with("llvm.") &&
         g.getName() != kRuntimeSymbol && g.getName() != kModuleSlotSymbol && g.getName() != "__dso_handle" &&
         g.getSection() != "llvm.metadata" && !is_library_variable(g.getName());
}

class Mover {
 public:
  explicit Mover(Module& module) : module_(module), layout_(module.getDataLayout()), context_(module.getContext()) {}

  TileGlobals run() {
    choose();
    if (moved_.empty()) return {};
    place();
    drop_destructors(module_, set_);
    std::vector<Function*> constructors = take_constructors(module_, set_);
    removeFromUsedLists(module_, [&](Constant* c) { return set_.contains(dyn_cast<GlobalValue>(c->stripPointerCasts())); });
    Function* initialise = write_initialise(constructors);
    rewrite_uses(*initialise);
    for (GlobalVariable* g : moved_) g->eraseFromParent();
    return result_;
  }

 private:
  void choose() {
    for (GlobalVariable& g : module_.globals()) {
      if (!is_candidate(g)) continue;
      if (g.isThreadLocal() && !g.isConstant())
        throw std::runtime_error("thread_local variable '" + g.getName().str() + "': a tile has no threads; use a plain static");
      if (!g.isConstant()) choose(g);
    }
    // Constants that hold addresses of moved variables differ per tile as well.
    for (bool changed = true; changed;) {
      changed = false;
      for (GlobalVariable& g : module_.globals()) {
        if (!is_candidate(g) || set_.contains(&g) || !mentions(*g.getInitializer(), set_)) continue;
        choose(g);
        changed = true;
      }
    }
  }

  void choose(GlobalVariable& g) {
    moved_.push_back(&g);
    set_.insert(&g);
  }

  // Variables with initial bytes first, then those that start as zero.
  void place() {
    const auto starts_zero = [](const GlobalVariable* g) { return g->getInitializer()->isNullValue(); };
    std::stable_partition(moved_.begin(), moved_.end(), [&](const GlobalVariable* g) { return !starts_zero(g); });
    Align block(16);
    for (GlobalVariable* g : moved_) {
      const Align align = layout_.getPreferredAlign(g);
      block = std::max(block, align);
      result_.size = alignTo(result_.size, align);
      offset_[g] = result_.size;
      result_.size += layout_.getTypeAllocSize(g->getValueType());
      if (!starts_zero(g)) image_size_ = result_.size;
    }
    result_.size = alignTo(result_.size, block);
    result_.align = static_cast<std::uint32_t>(block.value());
  }

  struct Relocation {
    std::uint64_t offset;
    Constant* value;
  };

  // The constant with addresses of moved variables replaced by null; those are noted as relocations.
  Constant* without_addresses(Constant& c, std::uint64_t offset, std::vector<Relocation>& relocations) {
    if (!mentions(c, set_)) return &c;
    auto* aggregate = dyn_cast<ConstantAggregate>(&c);
    if (!aggregate) {
      relocations.push_back({offset, &c});
      return Constant::getNullValue(c.getType());
    }
    std::vector<Constant*> parts;
    for (unsigned i = 0; i < aggregate->getNumOperands(); ++i)
      parts.push_back(without_addresses(*aggregate->getOperand(i), offset + offset_of_element(*aggregate->getType(), i), relocations));
    if (auto* type = dyn_cast<StructType>(c.getType())) return ConstantStruct::get(type, parts);
    if (auto* type = dyn_cast<ArrayType>(c.getType())) return ConstantArray::get(type, parts);
    return ConstantVector::get(parts);
  }

  std::uint64_t offset_of_element(Type& type, unsigned i) {
    if (auto* s = dyn_cast<StructType>(&type)) return layout_.getStructLayout(s)->getElementOffset(i);
    if (auto* a = dyn_cast<ArrayType>(&type)) return i * layout_.getTypeAllocSize(a->getElementType());
    return i * layout_.getTypeAllocSize(cast<VectorType>(type).getElementType());
  }

  // One constant with the initial bytes of [0, image_size_), without addresses.
  GlobalVariable* image(std::vector<Relocation>& relocations) {
    std::vector<Constant*> parts;
    std::uint64_t end = 0;
    for (GlobalVariable* g : moved_) {
      if (offset_[g] >= image_size_) break;
      if (offset_[g] > end) parts.push_back(Constant::getNullValue(ArrayType::get(Type::getInt8Ty(context_), offset_[g] - end)));
      parts.push_back(without_addresses(*g->getInitializer(), offset_[g], relocations));
      end = offset_[g] + layout_.getTypeAllocSize(g->getValueType());
    }
    Constant* bytes = ConstantStruct::getAnon(context_, parts, true);
    return new GlobalVariable(module_, bytes->getType(), true, GlobalValue::PrivateLinkage, bytes, "pando_globals_image");
  }

  Function* write_initialise(const std::vector<Function*>& constructors) {
    auto* type = FunctionType::get(Type::getVoidTy(context_), {PointerType::getUnqual(context_)}, false);
    auto* f = Function::Create(type, GlobalValue::ExternalLinkage, kInitialiseGlobalsSymbol, module_);
    f->setUWTableKind(UWTableKind::Async);
    IRBuilder<> b(BasicBlock::Create(context_, "", f));
    Value* globals = f->getArg(0);
    std::vector<Relocation> relocations;
    if (image_size_ > 0) b.CreateMemCpy(globals, Align(1), image(relocations), Align(1), image_size_);
    if (result_.size > image_size_) write_zeros(b, b.CreateConstGEP1_64(b.getInt8Ty(), globals, image_size_), result_.size - image_size_);
    for (const Relocation& r : relocations) b.CreateAlignedStore(r.value, b.CreateConstGEP1_64(b.getInt8Ty(), globals, r.offset), Align(1));
    for (Function* c : constructors) b.CreateCall(c);
    b.CreateRetVoid();
    return f;
  }

  // Tile memory is committed when it is first written. So a large array of zeros is written only where it is not zero yet:
  //   for each block of 4096 bytes: if (bcmp(block, zeros, 4096)) memset(block, 0, 4096);
  void write_zeros(IRBuilder<>& b, Value* begin, std::uint64_t size) {
    constexpr std::uint64_t kBlock = 4096;
    const std::uint64_t rest = size % kBlock;
    if (rest > 0) b.CreateMemSet(b.CreateConstGEP1_64(b.getInt8Ty(), begin, size - rest), b.getInt8(0), rest, Align(1));
    if (size == rest) return;
    auto* type = ArrayType::get(b.getInt8Ty(), kBlock);
    auto* zeros = new GlobalVariable(module_, type, true, GlobalValue::PrivateLinkage, Constant::getNullValue(type), "pando_zeros");
    FunctionCallee compare = module_.getOrInsertFunction("bcmp", b.getInt32Ty(), b.getPtrTy(), b.getPtrTy(), b.getInt64Ty());
    Function* f = b.GetInsertBlock()->getParent();
    BasicBlock* before = b.GetInsertBlock();
    auto* check = BasicBlock::Create(context_, "check", f);
    auto* clear = BasicBlock::Create(context_, "clear", f);
    auto* next = BasicBlock::Create(context_, "next", f);
    auto* after = BasicBlock::Create(context_, "after", f);
    b.CreateBr(check);
    b.SetInsertPoint(check);
    PHINode* offset = b.CreatePHI(b.getInt64Ty(), 2);
    Value* block = b.CreateGEP(b.getInt8Ty(), begin, offset);
    Value* different = b.CreateCall(compare, {block, zeros, b.getInt64(kBlock)});
    b.CreateCondBr(b.CreateIsNotNull(different), clear, next);
    b.SetInsertPoint(clear);
    b.CreateMemSet(block, b.getInt8(0), kBlock, Align(1));
    b.CreateBr(next);
    b.SetInsertPoint(next);
    Value* following = b.CreateAdd(offset, b.getInt64(kBlock));
    b.CreateCondBr(b.CreateICmpEQ(following, b.getInt64(size - rest)), after, check);
    offset->addIncoming(b.getInt64(0), before);
    offset->addIncoming(following, next);
    b.SetInsertPoint(after);
  }

  void rewrite_uses(Function& initialise) {
    SmallVector<Constant*> constants;
    for (GlobalVariable* g : moved_) {
      g->setInitializer(nullptr);
      g->setLinkage(GlobalValue::ExternalLinkage);  // what a variable without initialiser must have
      g->setComdat(nullptr);
      constants.push_back(g);
    }
    convertUsersOfConstantsToInstructions(constants);
    llvm::DenseMap<Function*, Instruction*> bases;
    for (GlobalVariable* g : moved_) {
      llvm::DenseMap<Function*, Value*> addresses;
      for (Use& use : llvm::make_early_inc_range(g->uses())) {
        Function* f = cast<Instruction>(use.getUser())->getFunction();
        Value*& address = addresses[f];
        if (!address) address = address_in(*f, offset_[g], f == &initialise, bases);
        use.set(address);
      }
    }
  }

  // base + offset, computed at the function's entry.
  Value* address_in(Function& f, std::uint64_t offset, bool is_initialise, llvm::DenseMap<Function*, Instruction*>& bases) {
    if (is_initialise) {
      IRBuilder<> b(&*f.getEntryBlock().getFirstInsertionPt());
      return b.CreateConstGEP1_64(b.getInt8Ty(), f.getArg(0), offset);
    }
    Instruction*& base = bases[&f];
    if (!base) base = ask_for_base(f);
    IRBuilder<> b(base->getNextNode());
    return b.CreateConstGEP1_64(b.getInt8Ty(), base, offset);
  }

  // The function and the slot never change while code runs, and a kernel stays on its tile: the optimiser may keep one answer
  // for a whole kernel.
  Instruction* ask_for_base(Function& f) {
    IRBuilder<> b(&*f.getEntryBlock().getFirstInsertionPt());
    Value* function = runtime_entry(b, RuntimeEntry::tile_globals);
    LoadInst* slot = b.CreateLoad(b.getInt32Ty(), module_.getGlobalVariable(kModuleSlotSymbol));
    slot->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context_, {}));
    CallInst* base = b.CreateCall(FunctionType::get(b.getPtrTy(), {b.getInt32Ty()}, false), function, {slot});
    base->setDoesNotAccessMemory();
    base->setDoesNotThrow();
    base->addFnAttr(Attribute::WillReturn);
    return base;
  }

  Module& module_;
  const DataLayout& layout_;
  LLVMContext& context_;
  std::vector<GlobalVariable*> moved_;
  DenseSet<const GlobalValue*> set_;
  llvm::DenseMap<const GlobalVariable*, std::uint64_t> offset_;
  std::uint64_t image_size_ = 0;
  TileGlobals result_;
};

}  // namespace

TileGlobals move_globals_to_tiles(Module& module) { return Mover(module).run(); }

}  // namespace pando::popc
