#include "popc/assembler/translate/function.h"

#include <fmt/format.h>

#include "codelet/runtime/worker_memory.h"
#include "popc/assembler/instructions/rows.h"
#include "popc/assembler/meaning/meaning.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr std::uint32_t kReturnAddress = 0xfffffff0;  // of who called a supervisor's function
constexpr unsigned kMostRepeats = 0xffff, kSupervised = 6;

class Translator {
 public:
  Translator(Function& function, AssemblyFunctions& functions, bool is_supervisor, const InlineRegisters* in_line)
      : function_(function),
        functions_(functions),
        code_(functions.code()),
        is_supervisor_(is_supervisor),
        inline_(in_line),
        b_(function.getContext()),
        meaning_(b_, registers_) {}

  std::uint32_t run(std::uint32_t entry) {
    make_registers();
    b_.CreateBr(block_at(entry));
    do {
      while (!pending_.empty()) {
        const std::uint32_t address = *pending_.begin();
        pending_.erase(pending_.begin());
        translate(address);
      }
    } while (finds_targets());
    for (const Indirect& i : indirect_) finish(i);
    for (const Start& s : starts_) finish(s);
    seed();
    return bytes_;
  }

 private:
  struct Indirect {
    BasicBlock* block;
    Value* target;
    const AssemblyInstruction* instruction;
  };

  struct Started {
    Value *entry = nullptr, *state = nullptr;
    unsigned stride = 0;  // words from a worker's state to the next one's
  };
  struct Start {
    BasicBlock* block;
    Started what;
    BasicBlock* next;
    const AssemblyInstruction* instruction;
  };

  AllocaInst* variable(Type* type, Value* first = nullptr) {
    AllocaInst* out = b_.CreateAlloca(type);
    b_.CreateStore(first ? first : Constant::getNullValue(type), out);
    return out;
  }

  void make_registers() {
    b_.SetInsertPoint(BasicBlock::Create(function_.getContext(), "start", &function_));
    Argument* shared = function_.getArg(0);
    for (unsigned i = 0; i < 14; ++i) registers_.main[i] = variable(b_.getInt32Ty());
    for (unsigned i = 0; i < 8; ++i) registers_.aux[i] = variable(b_.getInt32Ty());
    const auto shared_word = [&](unsigned offset) { return b_.CreateConstGEP1_64(b_.getInt8Ty(), shared, offset); };
    for (unsigned i = 0; i < kAccumulators; ++i)
      registers_.accumulators[i] = inline_ ? shared_word(kAccumulatorsOffset + 4 * i) : variable(b_.getFloatTy());
    for (unsigned i = 0; i < 16; ++i)
      registers_.control[128 + i] = inline_ ? shared_word(kControlOffset + 4 * i) : variable(b_.getInt32Ty());
    registers_.slots = variable(b_.getInt64Ty());
    registers_.shared = shared;
    registers_.worker = inline_ ? static_cast<Value*>(b_.getInt32(0)) : function_.getArg(2);
    registers_.image = functions_.image();
    if (inline_) read_words();
    b_.CreateStore(inline_ ? static_cast<Value*>(b_.getInt32(inline_->state)) : function_.getArg(1),
                   registers_.main[is_supervisor_ ? 0 : 13]);
    b_.CreateStore(b_.getInt32(kWorkerBase), registers_.main[is_supervisor_ ? 11 : 12]);
    if (is_supervisor_) b_.CreateStore(b_.getInt32(kReturnAddress), registers_.main[10]);
    const auto invariant = [&](Type* type, unsigned offset) {
      LoadInst* load = b_.CreateLoad(type, b_.CreateConstGEP1_64(b_.getInt8Ty(), shared, offset));
      load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(b_.getContext(), {}));
      return load;
    };
    registers_.tile = invariant(b_.getPtrTy(), 0);
    Value* bytes = invariant(b_.getInt64Ty(), 8);
    // Addresses have 32 bits; the tile of a CPU has more memory.
    constexpr std::uint64_t kMost = (std::uint64_t{1} << 32) - kTileAddress;
    Value* reached = b_.CreateSelect(b_.CreateICmpULT(bytes, b_.getInt64(kMost)), bytes, b_.getInt64(kMost - 16));
    Value* last = b_.CreateSelect(b_.CreateICmpULT(reached, b_.getInt64(16)), b_.getInt64(0), b_.CreateSub(reached, b_.getInt64(16)));
    registers_.last = b_.CreateTrunc(last, b_.getInt32Ty());
    registers_.random = b_.CreateAlloca(ArrayType::get(b_.getInt64Ty(), 2));
    b_.CreateStore(b_.CreateAdd(b_.CreateZExt(registers_.worker, b_.getInt64Ty()), b_.getInt64(1)),
                   b_.CreateConstGEP1_64(b_.getInt64Ty(), registers_.random, 1));
    seed_ = b_.CreateStore(b_.getInt64(0x9e3779b97f4a7c15), registers_.random);
  }

  Value* word(unsigned k) { return b_.CreateConstGEP1_64(b_.getInt32Ty(), function_.getArg(1), k); }
  Value* register_of(const InlineRegisters::Word& w) { return w.bank == Bank::main ? registers_.main[w.index] : registers_.aux[w.index]; }

  void read_words() {
    for (unsigned k = 0; k < inline_->words.size(); ++k)
      if (inline_->words[k].is_read) b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), word(k)), register_of(inline_->words[k]));
  }

  void leave_inline() {
    for (unsigned k = 0; k < inline_->words.size(); ++k)
      if (inline_->words[k].is_written) b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), register_of(inline_->words[k])), word(k));
    Function* slots = function_.getParent()->getFunction(kInlineSlots);
    b_.CreateCall(slots, {b_.CreateLoad(b_.getInt64Ty(), registers_.slots)});
    b_.CreateRetVoid();
  }

  // Each vertex that asks for random bits begins with others.
  void seed() {
    if (!registers_.uses_random) return;
    b_.SetInsertPoint(seed_->getNextNode());
    Value* count = b_.CreateCall(FunctionType::get(b_.getInt64Ty(), false), runtime_entry(b_, RuntimeEntry::cycle_count));
    b_.CreateStore(b_.CreateMul(b_.CreateAdd(count, b_.getInt64(1)), b_.getInt64(0x9e3779b97f4a7c15)), registers_.random);
  }

  BasicBlock* block_at(std::uint32_t address) {
    BasicBlock*& block = blocks_[address];
    if (!block) {
      block = BasicBlock::Create(function_.getContext(), "", &function_);
      pending_.insert(address);
    }
    return block;
  }

  void stop(const std::string& why) {
    b_.CreateCall(FunctionType::get(b_.getVoidTy(), {b_.getPtrTy()}, false), runtime_entry(b_, RuntimeEntry::trap),
                  {b_.CreateGlobalString(why)});
    b_.CreateUnreachable();
  }

  void add_slots(unsigned slots) {
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), registers_.slots), b_.getInt64(slots)), registers_.slots);
  }

  void translate(std::uint32_t address) {
    b_.SetInsertPoint(blocks_[address]);
    if (inline_ && address == inline_->end) return leave_inline();
    const CodeItem* item = code_.at(address);
    if (!item)
      return stop(
          fmt::format("assembly in '{}': control goes to address {:#x}, where no instruction is", function_.getName().str(), address));
    bytes_ += item->bytes();
    unsigned slots = 1;
    for (const AssemblyInstruction& i : item->instructions) slots = std::max(slots, i.row->slots);
    add_slots(slots);
    const AssemblyInstruction* control = nullptr;
    Value *condition = nullptr, *count = nullptr, *target = nullptr;
    for (const AssemblyInstruction& i : item->instructions) {
      if (const std::string* symbol = code_.undefined_in(i)) functions_.note_undefined(*symbol);
      meaning_.begin(i);
      i.row->emit(meaning_);
      note_target(i);
      if (i.row->flow == Flow::next || i.row->flow == Flow::supervisor) continue;
      control = &i;
      if (i.row->flow == Flow::start_workers)
        start_ = {meaning_.word(0), b_.CreateAdd(meaning_.word(1), b_.getInt32(0)), static_cast<unsigned>(i.operands[2].value.number)};
      condition = meaning_.condition;
      if (i.row->flow == Flow::repeat) count = b_.CreateAnd(meaning_.word(0), kMostRepeats);
      if (i.row->flow == Flow::indirect) target = meaning_.word(0);
      if (i.row->flow == Flow::call) meaning_.set(0, b_.getInt32(address + item->bytes()));
    }
    meaning_.commit();
    end_item(address, *item, control, condition, count, target);
  }

  // A label whose address a register gets may be where an indirect jump goes.
  void note_target(const AssemblyInstruction& i) {
    for (const AssemblyOperand& o : i.operands)
      if (i.row->flow == Flow::next && o.kind == AssemblyOperand::Kind::expression && !o.value.is_number())
        if (const auto address = static_cast<std::uint32_t>(o.value.number); code_.is_code(address)) targets_.insert(address);
  }

  void end_item(std::uint32_t address, const CodeItem& item, const AssemblyInstruction* control, Value* condition, Value* count,
                Value* target) {
    const std::uint32_t next = address + item.bytes();
    if (const auto latch = latches_.find(address); latch != latches_.end()) {
      b_.CreateBr(latch->second);
      return;
    }
    if (!control) return void(b_.CreateBr(block_at(next)));
    const auto label = [&] { return block_at(static_cast<std::uint32_t>(control->operands.back().value.number)); };
    switch (control->row->flow) {
      case Flow::jump: b_.CreateBr(label()); break;
      case Flow::branch: b_.CreateCondBr(condition, label(), block_at(next)); break;
      case Flow::call:
        targets_.insert(next);
        b_.CreateBr(label());
        break;
      case Flow::indirect: indirect_.push_back({b_.GetInsertBlock(), target, control}); break;
      case Flow::exit:
        if (inline_)
          stop(prefix(control->place) + "'" + control->text + "' in inline assembly: it would end the vertex");
        else
          leave(condition);
        break;
      case Flow::repeat: repeat(next, *control, count); break;
      case Flow::start_workers: starts_.push_back({b_.GetInsertBlock(), start_, block_at(next), control}); break;
      default: stop(prefix(control->place) + "'" + control->text + "' in code of a worker"); break;
    }
  }

  void leave(Value* result) {
    b_.CreateStore(b_.CreateLoad(b_.getInt64Ty(), registers_.slots), function_.getArg(3));
    b_.CreateRet(result);
  }

  // The bundles behind an rpt are a loop: the last one's way leads to a latch.
  void repeat(std::uint32_t first, const AssemblyInstruction& rpt, Value* count) {
    std::uint32_t end = first, last = first;
    for (std::int64_t k = 0; k <= rpt.operands[1].value.number; ++k) {
      const CodeItem* item = code_.at(end);
      if (!item) return stop(prefix(rpt.place) + "'" + rpt.text + "': its body goes beyond the end of the code");
      last = end;
      end += item->bytes();
    }
    BasicBlock* start = b_.GetInsertBlock();
    IRBuilder<> at_start(&*function_.getEntryBlock().getFirstInsertionPt());
    AllocaInst* left = at_start.CreateAlloca(b_.getInt32Ty());
    auto* latch = BasicBlock::Create(function_.getContext(), "", &function_);
    b_.SetInsertPoint(start);
    b_.CreateStore(count, left);
    b_.CreateCondBr(b_.CreateICmpEQ(count, b_.getInt32(0)), block_at(end), block_at(first));
    b_.SetInsertPoint(latch);
    Value* rest = b_.CreateSub(b_.CreateLoad(b_.getInt32Ty(), left), b_.getInt32(1));
    b_.CreateStore(rest, left);
    b_.CreateCondBr(b_.CreateICmpEQ(rest, b_.getInt32(0)), block_at(end), block_at(first));
    latches_[last] = latch;
  }

  // Code that only indirect jumps reach.
  bool finds_targets() {
    if (indirect_.empty()) return false;
    for (const std::uint32_t address : code_.tables())
      if (code_.is_code(address)) targets_.insert(address);
    for (const std::uint32_t address : targets_) block_at(address);
    return !pending_.empty();
  }

  void finish(const Indirect& i) {
    b_.SetInsertPoint(i.block);
    auto* nowhere = BasicBlock::Create(function_.getContext(), "", &function_);
    SwitchInst* ways = b_.CreateSwitch(i.target, nowhere);
    for (const std::uint32_t address : targets_) ways->addCase(b_.getInt32(address), blocks_.at(address));
    if (is_supervisor_) {
      auto* back = BasicBlock::Create(function_.getContext(), "", &function_);
      ways->addCase(b_.getInt32(kReturnAddress), back);
      b_.SetInsertPoint(back);
      leave(b_.getTrue());
    }
    b_.SetInsertPoint(nowhere);
    stop(prefix(i.instruction->place) + "'" + i.instruction->text + "': the register does not hold the address of a label or of a return");
  }

  // Workers run one after the other; the slowest counts, in cycles of the tile.
  void finish(const Start& s) {
    b_.SetInsertPoint(s.block);
    auto* nowhere = BasicBlock::Create(function_.getContext(), "", &function_);
    SwitchInst* ways = b_.CreateSwitch(s.what.entry, nowhere);
    for (const std::uint32_t address : targets_) {
      auto* way = BasicBlock::Create(function_.getContext(), "", &function_);
      ways->addCase(b_.getInt32(address), way);
      Function& run = functions_.of(address, fmt::format("{:#x}", address), false);
      IRBuilder<> start(&*function_.getEntryBlock().getFirstInsertionPt());
      AllocaInst* slots = start.CreateAlloca(b_.getInt64Ty());
      b_.SetInsertPoint(way);
      Value* most = b_.getInt64(0);
      for (unsigned worker = 0; worker < kSupervised; ++worker) {
        b_.CreateCall(&run,
                      {registers_.shared, b_.CreateAdd(s.what.state, b_.getInt32(4 * worker * s.what.stride)), b_.getInt32(worker), slots});
        Value* own = b_.CreateLoad(b_.getInt64Ty(), slots);
        most = b_.CreateSelect(b_.CreateICmpUGT(own, most), own, most);
      }
      Value* cycles = b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), registers_.slots), b_.CreateMul(most, b_.getInt64(kSupervised)));
      b_.CreateStore(cycles, registers_.slots);
      b_.CreateBr(s.next);
    }
    b_.SetInsertPoint(nowhere);
    stop(prefix(s.instruction->place) + "'" + s.instruction->text + "': the register does not hold the address of a label");
  }

  Function& function_;
  AssemblyFunctions& functions_;
  const LinkedAssembly& code_;
  const bool is_supervisor_;
  const InlineRegisters* const inline_;  // null: a vertex
  IRBuilder<> b_;
  WorkerRegisters registers_;
  Meaning meaning_;
  std::map<std::uint32_t, BasicBlock*> blocks_, latches_;
  std::set<std::uint32_t> pending_, targets_;
  std::vector<Indirect> indirect_;
  std::vector<Start> starts_;
  Started start_;
  StoreInst* seed_ = nullptr;
  std::uint32_t bytes_ = 0;
};

}  // namespace

Function& AssemblyFunctions::of(std::uint32_t address, const std::string& name, bool is_supervisor) {
  Function*& known = functions_[address];
  if (known) return *known;
  LLVMContext& c = module_.getContext();
  Type *pointer = PointerType::getUnqual(c), *number = Type::getInt32Ty(c);
  known = Function::Create(FunctionType::get(Type::getInt1Ty(c), {pointer, number, number, pointer}, false), GlobalValue::InternalLinkage,
                           "asm:" + name, module_);
  known->addRetAttr(Attribute::ZExt);
  known->addParamAttr(0, Attribute::NoAlias);
  known->addParamAttr(3, Attribute::NoAlias);
  known->setUWTableKind(UWTableKind::Async);
  if (!general_.empty()) known->addFnAttr("pando-general", general_);
  bytes_[address] = Translator(*known, *this, is_supervisor, nullptr).run(address);
  return *known;
}

Function& AssemblyFunctions::of_inline(std::uint32_t address, const std::string& name, const InlineRegisters& registers) {
  LLVMContext& c = module_.getContext();
  Type *pointer = PointerType::getUnqual(c), *nothing = Type::getVoidTy(c);
  if (!module_.getFunction(kInlineSlots)) {
    auto* slots =
        Function::Create(FunctionType::get(nothing, {Type::getInt64Ty(c)}, false), GlobalValue::InternalLinkage, kInlineSlots, module_);
    IRBuilder<>(BasicBlock::Create(c, "", slots)).CreateRetVoid();
    if (!general_.empty()) slots->addFnAttr("pando-general", general_);
  }
  auto* f = Function::Create(FunctionType::get(nothing, {pointer, pointer}, false), GlobalValue::InternalLinkage, name, module_);
  f->setUWTableKind(UWTableKind::Async);
  if (!general_.empty()) f->addFnAttr("pando-general", general_);
  Translator(*f, *this, false, &registers).run(address);
  return *f;
}

GlobalVariable* AssemblyFunctions::image() {
  if (!code_.has_data()) return nullptr;
  if (image_) return image_;
  Constant* bytes = ConstantDataArray::getString(module_.getContext(), code_.image(), false);
  image_ = new GlobalVariable(module_, bytes->getType(), true, GlobalValue::InternalLinkage, bytes, "asm:image");
  image_->setAlignment(Align(16));
  return image_;
}

}  // namespace pando::popc
