#include "popc/counting/selection.h"

#include <fmt/format.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <map>

#include "machine/worker/registers.h"
#include "popc/counting/integers.h"
#include "popc/counting/patterns.h"

namespace pando::popc {

namespace {

using namespace llvm;
namespace match = llvm::PatternMatch;

using Values = SmallVector<std::uint32_t, 4>;  // instructions that make a value

const Value* accessed(const Instruction& i) {
  if (const auto* load = dyn_cast<LoadInst>(&i)) return load->getPointerOperand();
  if (const auto* store = dyn_cast<StoreInst>(&i)) return store->getPointerOperand();
  return nullptr;
}

bool is_address_only(const Instruction& i) {
  return all_of(i.users(), [&](const User* u) { return accessed(*cast<Instruction>(u)) == &i; });
}

// Pointers and sizes hold 8 bytes here, a word on a tile.
std::uint64_t tile_bytes(const Type& type, const DataLayout& layout) {
  if (type.isPointerTy() || type.isIntegerTy(64)) return 4;
  return layout.getTypeStoreSize(const_cast<Type*>(&type)).getFixedValue();
}

class Selector {
 public:
  Selector(Function& function, LoopShapes& shapes, LoopInfo& loops, AAResults& aliases)
      : function_(function), shapes_(shapes), loops_(loops), aliases_(aliases), layout_(function.getParent()->getDataLayout()) {}

  SelectedFunction run() {
    find_frame();
    place_constants();
    place_phis();
    for (Loop* loop : loops_.getLoopsInPreorder())
      if (BasicBlock* before = loop->getLoopPreheader())
        for (const char* name : shapes_.of(*loop).before) extras_[before].push_back({name, "of the loop"});
    for (BasicBlock& b : function_) {
      select_block(b);
      if (!out_.refusal.empty()) break;
    }
    return std::move(out_);
  }

 private:
  struct Extra {
    const char* name;
    std::string text;
  };

  void find_frame() {
    for (const Instruction& i : instructions(function_)) {
      if (isa<AllocaInst>(i)) has_frame_ = true;
      if (isa<UIToFPInst, SIToFPInst>(i) && !comes_from_memory(i)) has_frame_ = true;
      if (calls_function(i)) has_frame_ = calls_ = true;
    }
  }
  static const Function* calls_function(const Instruction& i) {
    const auto* call = dyn_cast<CallInst>(&i);
    const Function* f = call ? call->getCalledFunction() : nullptr;
    if (f && f->getName().starts_with(kAssemblyPrefix)) return nullptr;
    return f && !f->isDeclaration() && builtin_name(*f).empty() ? f : nullptr;
  }
  // Loaded for nothing else: then into a register of floats.
  static bool comes_from_memory(const Instruction& i) { return isa<LoadInst>(i.getOperand(0)) && i.getOperand(0)->hasOneUse(); }

  // In front of the outermost loop around it.
  BasicBlock* place_of(BasicBlock* b) const {
    BasicBlock* place = b;
    for (Loop* loop = loops_.getLoopFor(b); loop; loop = loop->getParentLoop())
      if (BasicBlock* before = loop->getLoopPreheader()) place = before;
    return place;
  }

  static unsigned constant_instructions(const Constant& c) {
    if (const Constant* splat = c.getType()->isVectorTy() ? c.getSplatValue() : nullptr) return constant_instructions(*splat);
    if (const auto* f = dyn_cast<ConstantFP>(&c)) {
      if (f->isZero() && !f->isNegative()) return 0;
      const std::uint64_t bits = f->getValueAPF().bitcastToAPInt().getZExtValue();
      return (bits & 0xfffff) && (bits >> 20) ? 2 : 1;  // `or` of the upper 12 bits, `setzi` of the lower 20
    }
    if (const auto* v = dyn_cast<ConstantDataVector>(&c))
      return c.isNullValue() ? 0 : (v->getNumElements() * v->getElementByteSize() + 3) / 4;
    return 0;
  }

  void place_constants() {
    MapVector<std::pair<BasicBlock*, Constant*>, const char*> placed;
    for (Instruction& i : instructions(function_)) {
      if (isa<PHINode>(i) || i.isDebugOrPseudoInst()) continue;
      for (Value* operand : i.operands()) {
        auto* c = dyn_cast<Constant>(operand);
        if (!c) continue;
        const bool is_number = c->getType()->isFPOrFPVectorTy();
        const auto* integer = dyn_cast<ConstantInt>(c);
        const bool stays = !integer || is_word(i) || isa<GetElementPtrInst, SwitchInst>(i) || (isa<CallBase>(i)) ||
                           (!isa<StoreInst>(i) && (integer->getValue().isSignedIntN(16) || integer->getValue().isIntN(16))) ||
                           integer->isZero();
        if (is_number && constant_instructions(*c) > 0) placed[{place_of(i.getParent()), c}] = "a.or";
        if (!is_number && !stays && !i.isIntDivRem() && !shapes_.is_replaced(i) && !shapes_.is_closing_test(i))
          placed[{place_of(i.getParent()), c}] = "setzi";
      }
    }
    for (const auto& [at, name] : placed) {
      const auto* integer = dyn_cast<ConstantInt>(at.second);
      for (unsigned n = integer ? integer_constant_instructions(integer->getValue()) : constant_instructions(*at.second); n > 0; --n)
        extras_[at.first].push_back(
            {integer && n == 1 && integer_constant_instructions(integer->getValue()) > 1 ? "or" : name, "a constant"});
    }
  }

  // What a loop or a join begins with, where that is a constant.
  void place_phis() {
    for (BasicBlock& b : function_)
      for (PHINode& phi : b.phis()) {
        if (shapes_.is_replaced(phi) || phi.use_empty()) continue;
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
          if (isa<ConstantInt, ConstantFP, ConstantAggregateZero, ConstantDataVector>(phi.getIncomingValue(i)))
            extras_[phi.getIncomingBlock(i)].push_back({is_aux(*phi.getType()) ? "a.mov" : "mov", "where a value begins"});
      }
  }

  Segment& segment() { return out_.blocks.back().segments.back(); }

  void begin_segment(Instruction* at) {
    if (!out_.blocks.back().segments.empty()) issue_slots(segment(), *out_.blocks.back().block);
    out_.blocks.back().segments.push_back({at, {}, {}});
    made_.clear();
    last_store_.clear();
    loads_.clear();
    behind_.clear();
    held_.clear();
    numbers_.clear();
    reads_held_.clear();
  }

  // A value of outside the block, by what it is or by the number of its register.
  using Key = std::pair<const void*, unsigned>;
  void hold(Key key, const HeldValue& value) {
    const auto [at, added] = numbers_.try_emplace(key, static_cast<std::uint32_t>(held_.size()));
    if (added) held_.push_back(value);
    reads_held_.push_back(at->second);
  }

  static unsigned words_of(const Type& type, const DataLayout& layout) {
    if (type.isPointerTy() || type.isIntegerTy() || !type.isSized()) return 1;
    return std::max<unsigned>(1, static_cast<unsigned>((layout.getTypeStoreSize(const_cast<Type*>(&type)).getFixedValue() + 3) / 4));
  }

  // What an operand that the block does not make holds.
  void hold_operand(const Value& v, const Instruction& user) {
    const bool is_number = is_aux(*v.getType());
    const HeldValue value{is_number ? Pipe::aux : Pipe::main, words_of(*v.getType(), layout_), false, false};
    if (const auto* c = dyn_cast<Constant>(&v)) {
      if (!is_number || constant_instructions(*c) == 0) return;
      const bool is_splat = c->getType()->isVectorTy();
      hold({c, 0}, {Pipe::aux, is_splat ? value.words : 1, false, constant_instructions(*c) == 1 && !is_splat});
      return;
    }
    const auto* maker = dyn_cast<Instruction>(&v);
    if (!maker && !isa<Argument>(v)) return;
    if (maker && (shapes_.is_replaced(*maker) || shapes_.is_closing_test(*maker))) return;
    if (maker && maker->getParent() == user.getParent() && !isa<PHINode>(maker)) {
      for (const Value* operand : maker->operands())  // it takes no instruction: what it is made of is held
        if (!made_.contains(operand)) hold_operand(*operand, *maker);
      return;
    }
    const bool changes = maker && isa<PHINode>(maker) && maker->getParent() == user.getParent();
    hold({&v, 0}, {value.file, value.words, changes, false});
  }

  std::uint32_t emit(const char* name, const Values& after, const Instruction* of, std::string text = "") {
    const WorkerInstruction* row = find_worker_instruction(name);
    if (!row) throw std::runtime_error(std::string("internal error: no instruction '") + name + "'");
    Issue issue{row, {after.begin(), after.end()}, false, 0, std::move(text)};
    if (segment().begin && !segment().issues.empty()) issue.after.push_back(0);  // the read of the counter is first
    std::sort(issue.after.begin(), issue.after.end());
    issue.after.erase(std::unique(issue.after.begin(), issue.after.end()), issue.after.end());
    for (const std::uint32_t needed : issue.after) segment().issues[needed].late = false;
    if (of && of->getDebugLoc()) issue.line = of->getDebugLoc().getLine();
    issue.reads = issue.after;
    issue.file = row->pipe;
    issue.words = row->ends_bundles || StringRef(name).starts_with("st") ? 0 : 1;
    issue.held = std::move(reads_held_);
    reads_held_.clear();
    segment().issues.push_back(std::move(issue));
    return static_cast<std::uint32_t>(segment().issues.size() - 1);
  }

  Values makers_of(const Instruction& i) {
    Values out;
    for (const Value* operand : i.operands()) {
      if (!made_.contains(operand) && is_loaded_again(operand, i.getParent())) {
        std::vector<std::uint32_t> waiting = std::move(reads_held_);
        reads_held_.clear();
        hold({function_.getArg(0), 0}, {});
        made_[operand] = {emit("ld32", stores_that_change(*field_behind(operand)), &i, "a field, again")};
        segment().issues.back().file = is_aux(*operand->getType()) ? Pipe::aux : Pipe::main;
        if (isa<ShuffleVectorInst>(operand) && !takes_a_scalar(i, *operand))
          made_[operand] = {emit("a.mov", made_[operand], &i, "into both lanes")};
        reads_held_ = std::move(waiting);
      }
      if (const auto at = made_.find(operand); at != made_.end())
        out.append(at->second.begin(), at->second.end());
      else
        hold_operand(*operand, i);
    }
    return out;
  }

  // Additions, products and comparisons of vectors take one number for all lanes as one of the operands, subtractions as the first.
  static bool takes_a_scalar(const Instruction& user, const Value& operand) {
    const unsigned opcode = user.getOpcode();
    if (opcode == Instruction::FSub) return user.getOperand(0) == &operand && user.getOperand(1) != &operand;
    const bool has_form = opcode == Instruction::FAdd || opcode == Instruction::FMul || opcode == Instruction::FCmp;
    return has_form && user.getOperand(0) != user.getOperand(1);
  }

  static bool may_change(const StoreInst& store, const LoadInst& field) {
    const Type* type = store.getValueOperand()->getType();
    return (type->isVectorTy() || type == field.getType()) && !isa<AllocaInst>(getUnderlyingObject(store.getPointerOperand()));
  }
  Values stores_that_change(const LoadInst& field) const {
    Values out;
    for (const auto& [store, makers] : last_store_)
      if (may_change(*cast<StoreInst>(store), field)) out.append(makers.begin(), makers.end());
    return out;
  }
  // Behind such a store, its fields are loaded once more.
  void forget_fields(const StoreInst& store) {
    SmallVector<const Value*, 4> forgotten;
    for (const auto& [value, makers] : made_) {
      const auto* maker = dyn_cast<Instruction>(value);
      if (!maker || maker->getParent() == store.getParent()) continue;
      if (const LoadInst* field = field_behind(value); field && may_change(store, *field)) forgotten.push_back(value);
    }
    for (const Value* value : forgotten) made_.erase(value);
  }

  // A field of the vertex, or what broadcasts one.
  const LoadInst* field_behind(const Value* v) const {
    if (const auto* shuffle = dyn_cast<ShuffleVectorInst>(v); shuffle && shuffle->isZeroEltSplat()) v = shuffle->getOperand(0);
    if (const auto* insert = dyn_cast<InsertElementInst>(v); insert && isa<UndefValue>(insert->getOperand(0))) v = insert->getOperand(1);
    const auto* load = dyn_cast<LoadInst>(v);
    const bool is_number = load && (load->getType()->isFloatingPointTy() || load->getType()->isIntegerTy(32));
    if (!is_number || load->hasMetadata(LLVMContext::MD_invariant_load) || function_.arg_empty()) return nullptr;
    return getUnderlyingObject(load->getPointerOperand()) == function_.getArg(0) ? load : nullptr;
  }

  // As far as C++ knows, a store of an element could change a field of its type: a tile's compiler loads the field again in each round of a
  // loop that stores such elements. A store of a vector could change any.
  bool is_loaded_again(const Value* v, const BasicBlock* user) {
    const Loop* loop = loops_.getLoopFor(user);
    const LoadInst* field = loop ? field_behind(v) : nullptr;
    if (!field || loop->contains(field)) return false;
    return any_of(loop->blocks(), [&](const BasicBlock* b) {
      return any_of(*b, [&](const Instruction& i) {
        const auto* store = dyn_cast<StoreInst>(&i);
        return store && may_change(*store, *field);
      });
    });
  }

  void emit_pattern(const Pattern& pattern, Instruction& i) {
    Values after = makers_of(i);
    for (const char* name : pattern) after = {emit(name, after, &i)};
    if (!pattern.empty()) set_result(i, segment().issues.back());
    made_[&i] = std::move(after);
  }

  void set_result(const Instruction& i, Issue& issue) {
    const Loop* loop = loops_.getLoopFor(i.getParent());
    issue.file = is_aux(*i.getType()) ? Pipe::aux : Pipe::main;
    issue.words = words_of(*i.getType(), layout_);
    for (const User* u : i.users()) {
      const auto& user = *cast<Instruction>(u);
      const bool is_next = isa<PHINode>(user) && loop && user.getParent() == loop->getHeader();
      if (is_next && user.getParent() == i.getParent()) issue.words = 0;  // it takes the register of the round before
      if (is_next || user.getParent() != i.getParent()) issue.lives_on = true;
    }
  }

  // Registers are short where a loop runs: what finds none there is loaded again.
  void issue_slots(Segment& s, const BasicBlock& b) {
    const Loop* loop = loops_.getLoopFor(&b);
    if (!loop || !loop->isInnermost()) {
      s.bundles = schedule(s.issues);
      return;
    }
    unsigned changing = 0;
    for (const HeldValue& v : held_)
      if (v.changes && v.file == Pipe::aux) changing += v.words;
    s.bundles = schedule(s.issues, registers_of(Pipe::aux) - std::min(changing, registers_of(Pipe::aux) / 2));
    fit_registers(s.issues, s.bundles, held_);
  }

  void select_block(BasicBlock& b) {
    out_.blocks.push_back({&b, {}, false});
    begin_segment(nullptr);
    if (&b == &function_.getEntryBlock() && has_frame_) {
      for (const char* name : {"add", "sub", "cmpult"}) emit(name, {}, nullptr, "room on the stack");
      if (calls_) emit("st32", {}, nullptr, "where to return");
      emit("brz", {}, nullptr, "is there room?");
      begin_segment(nullptr);
    }
    for (Instruction& i : b) {
      if (i.isTerminator()) {
        select_terminator(i);
        continue;
      }
      select(i);
      if (!out_.refusal.empty()) {
        if (i.getDebugLoc()) out_.refusal += fmt::format(" (line {})", i.getDebugLoc().getLine());
        return;
      }
    }
    issue_slots(segment(), b);
  }

  void select(Instruction& i) {
    if (isa<PHINode, AllocaInst>(i) || i.isDebugOrPseudoInst() || shapes_.is_replaced(i) || shapes_.is_closing_test(i)) return;
    if (isa<LoadInst, StoreInst>(i)) return select_access(i);
    if (auto* address = dyn_cast<GetElementPtrInst>(&i)) return select_address(*address);
    if (auto* call = dyn_cast<CallBase>(&i)) return select_call(*call);
    if (auto* compare = dyn_cast<ICmpInst>(&i); compare && is_part_of_branch(*compare)) return;
    if (i.isAtomic() || i.isVolatile()) return refuse("it has an atomic operation");
    std::string why;
    std::optional<Pattern> pattern = pattern_of(i, why);
    if (!pattern) return refuse(why);
    if (isa<UIToFPInst, SIToFPInst>(i) && comes_from_memory(i)) pattern->erase(pattern->begin(), pattern->begin() + 2);
    if (isa<FCmpInst>(i) && needs_flag(i)) pattern->push_back("atom");
    emit_pattern(*pattern, i);
    if (pattern->empty()) return;
    if (is_update(i)) segment().issues.back().late = true;
  }

  void refuse(const std::string& why) { out_.refusal = why; }

  // A comparison with zero is part of the branch on it.
  static bool is_part_of_branch(const ICmpInst& compare) {
    if (!compare.hasOneUse() || !isa<BranchInst>(compare.user_back()) || compare.user_back()->getParent() != compare.getParent())
      return false;
    if (compare.isEquality()) return match::match(compare.getOperand(1), match::m_Zero());
    return (compare.getPredicate() == CmpInst::ICMP_SLT && match::match(compare.getOperand(1), match::m_Zero())) ||
           (compare.getPredicate() == CmpInst::ICMP_SGT && match::match(compare.getOperand(1), match::m_AllOnes()));
  }

  // All but masks that floating-point values are selected by.
  static bool needs_flag(const Instruction& compare) {
    return any_of(compare.users(), [](const User* u) { return !isa<SelectInst>(u) || !is_aux(*u->getType()); });
  }

  // What the next round of a loop begins with, and nothing else.
  bool is_update(const Instruction& i) const {
    if (is_aux(*i.getType())) return false;
    return all_of(i.users(), [&](const User* u) {
      if (shapes_.is_closing_test(*u)) return true;
      const auto* phi = dyn_cast<PHINode>(u);
      const Loop* loop = phi ? loops_.getLoopFor(phi->getParent()) : nullptr;
      return loop && phi->getParent() == loop->getHeader() && loop->contains(&i);
    });
  }

  // In pieces as wide as the alignment allows; a store of less than a word reads the word first.
  void select_access(Instruction& i) {
    if (i.isAtomic() || i.isVolatile()) return refuse("it has a volatile or atomic access");
    const auto* load = dyn_cast<LoadInst>(&i);
    const Type& type = *(load ? i.getType() : cast<StoreInst>(i).getValueOperand()->getType());
    const std::uint64_t align = load ? load->getAlign().value() : cast<StoreInst>(i).getAlign().value();
    std::uint64_t bytes = tile_bytes(type, layout_);
    const bool aux = is_aux(type);
    Values after = read_address(i);
    Values reads = after;
    order_memory(i, after);
    const std::vector<std::uint32_t> held = std::move(reads_held_);
    Values made;
    while (bytes > 0) {
      std::uint64_t piece = 8;
      while (piece > bytes || (piece > align && align > 0) || (piece == 8 && !aux)) piece /= 2;
      bytes -= piece;
      reads_held_ = held;
      std::uint32_t last = 0;
      if (load) {
        last = emit(piece == 8 ? "ld64" : piece == 4 ? "ld32" : piece == 2 ? (aux ? "ldb16" : "ldz16") : "ldz8", after, &i);
      } else if (piece >= 4) {
        last = emit(piece == 8 ? "st64" : "st32", after, &i);
      } else {
        const Pattern part = piece == 1 ? Pattern{"and", "shl", "ld32", "andc", "or", "st32"}
                             : aux      ? Pattern{"and", "ldb16", "a.sort", "st32"}
                                        : Pattern{"and", "ldz16", "sort4x16lo", "st32"};
        Values chain = after;
        for (const char* name : part) chain = {last = emit(name, chain, &i)};
      }
      made.push_back(last);
      Issue& issue = segment().issues.back();
      issue.reads.assign(reads.begin(), reads.end());
      if (!load) continue;
      set_result(i, issue);
      issue.words = issue.words == 0 ? 0 : std::max<unsigned>(1, static_cast<unsigned>(piece / 4));
    }
    reads_held_.clear();
    if (const auto* store = dyn_cast<StoreInst>(&i)) forget_fields(*store);
    if (load) {
      made_[&i] = made;
      loads_.push_back({&i, made});
    } else {
      last_store_.push_back({&i, made});
    }
  }

  // What an access reads: the value that it stores, and registers of its address.
  Values read_address(const Instruction& i) {
    const Stepping* stepping = shapes_.stepping(i);
    if (!stepping) return makers_of(i);
    Values out;
    if (const auto* store = dyn_cast<StoreInst>(&i)) {
      const Value* value = store->getValueOperand();
      if (const auto at = made_.find(value); at != made_.end())
        out = at->second;
      else
        hold_operand(*value, i);
    }
    if (stepping->is_behind) {
      auto [at, added] = behind_.try_emplace(stepping->base, 0);
      if (added) {
        std::vector<std::uint32_t> waiting = std::move(reads_held_);
        reads_held_.clear();
        hold_stepping(*stepping);
        at->second = emit("add", {}, &i, "a constant in an address is positive");
        reads_held_ = std::move(waiting);
      }
      out.push_back(at->second);
      hold({nullptr, ~0u}, {Pipe::main, 1, false, false});  // the negative constant
      return out;
    }
    hold_stepping(*stepping);
    return out;
  }

  void hold_stepping(const Stepping& stepping) {
    hold({nullptr, stepping.base}, {Pipe::main, 1, stepping.index == 0, false});
    if (stepping.index > 0) hold({nullptr, stepping.index}, {Pipe::main, 1, true, false});
  }

  void order_memory(const Instruction& i, Values& after) {
    const MemoryLocation here = MemoryLocation::get(&i);
    const auto wait = [&](const auto& accesses) {
      for (const auto& [other, makers] : accesses)
        if (!aliases_.isNoAlias(MemoryLocation::get(other), here)) after.append(makers.begin(), makers.end());
    };
    wait(last_store_);
    if (isa<StoreInst>(i)) wait(loads_);
  }

  // A load or store adds one register and a constant itself; elements of two, four or eight bytes shift the index.
  void select_address(GetElementPtrInst& address) {
    unsigned variable = 0;
    Pattern pattern;
    MapVector<Value*, APInt> scaled;
    APInt constant(layout_.getIndexTypeSizeInBits(address.getType()), 0);
    if (!address.collectOffset(layout_, constant.getBitWidth(), scaled, constant)) return refuse("it computes an address of unknown size");
    for (const auto& [index, scale] : scaled) {
      ++variable;
      if (!scale.isOne()) pattern.push_back(scale.isPowerOf2() ? "shl" : "mul");
    }
    const bool folds = is_address_only(address);
    for (unsigned i = folds ? 1 : 0; i < variable; ++i) pattern.push_back("add");
    if (!folds && variable == 0 && !constant.isZero()) pattern.push_back("add");
    emit_pattern(pattern, address);
  }

  void select_call(CallBase& call) {
    if (reads_cycles(call)) {
      begin_segment(&call);
      emit("get", {}, &call);
      return;
    }
    // Of inline assembly, which counts its own instructions.
    if (call.getCalledFunction() && call.getCalledFunction()->getName().starts_with(kAssemblyPrefix)) return;
    if (const Function* f = calls_function(call)) {
      emit("call", makers_of(call), &call, f->getName().str());
      begin_segment(nullptr);
      return;
    }
    std::string why;
    const std::optional<Pattern> pattern = pattern_of_call(call, why);
    if (!pattern) return refuse(why);
    emit_pattern(*pattern, call);
  }

  void select_terminator(Instruction& i) {
    BasicBlock* b = i.getParent();
    for (const Extra& e : extras_[b]) emit(e.name, {}, nullptr, e.text);
    Loop* loop = loops_.getLoopFor(b);
    if (loop && loop->getLoopLatch() == b) {
      const LoopShape& shape = shapes_.of(*loop);
      for (unsigned n = 0; n < shape.updates; ++n) segment().issues[emit("add", {}, nullptr, "the next addresses")].late = true;
      if (shape.closing == Closing::repeats) return static_cast<void>(out_.blocks.back().repeats = true);
      if (shape.closing == Closing::counts) {
        hold({loop, 1}, {Pipe::main, 1, true, false});
        return static_cast<void>(emit("brnzdec", {}, &i));
      }
      if (shape.closing == Closing::counts_down) {
        segment().issues[emit("add", {}, &i, "rounds that are left")].late = true;
        return static_cast<void>(emit("brnz", {}, &i));
      }
    }
    if (auto* branch = dyn_cast<BranchInst>(&i)) return select_branch(*branch);
    if (auto* ret = dyn_cast<ReturnInst>(&i)) return select_return(*ret);
    if (auto* choice = dyn_cast<SwitchInst>(&i)) {
      unsigned depth = 1;
      while ((1u << depth) <= choice->getNumCases()) ++depth;
      for (unsigned n = 0; n < depth; ++n) emit("cmpult", makers_of(i), &i);
      for (unsigned n = 0; n < depth; ++n) emit("brnz", {}, &i);
      return;
    }
    if (!isa<UnreachableInst>(i)) refuse(std::string("it has the operation '") + i.getOpcodeName() + "'");
  }

  void select_branch(BranchInst& branch) {
    if (branch.isConditional()) return static_cast<void>(emit("brnz", makers_of(branch), &branch));
    // The block that follows in the text is reached without a branch, and so is the first block of a loop.
    BasicBlock *from = branch.getParent(), *to = branch.getSuccessor(0);
    const Loop* loop = loops_.getLoopFor(to);
    const bool enters = loop && loop->getHeader() == to && !loop->contains(from);
    if (!enters && from->getNextNode() != to && to->hasNPredecessorsOrMore(2)) emit("bri", {}, &branch);
  }

  void select_return(ReturnInst& i) {
    if (const Value* value = i.getReturnValue(); value && isa<Constant>(value)) emit(is_aux(*value->getType()) ? "a.mov" : "setzi", {}, &i);
    if (calls_) emit("ld32", {}, &i, "where to return");
    if (has_frame_) emit("add", {}, &i, "room on the stack");
    emit("br", makers_of(i), &i);
  }

  Function& function_;
  LoopShapes& shapes_;
  LoopInfo& loops_;
  AAResults& aliases_;
  const DataLayout& layout_;
  SelectedFunction out_;
  bool has_frame_ = false, calls_ = false;
  MapVector<BasicBlock*, std::vector<Extra>> extras_;
  // Of the segment.
  llvm::DenseMap<const Value*, Values> made_;
  std::vector<std::pair<const Instruction*, Values>> last_store_, loads_;
  std::map<unsigned, std::uint32_t> behind_;  // by base: the address that lower accesses count from
  std::vector<HeldValue> held_;
  std::map<Key, std::uint32_t> numbers_;   // of held_; looked up, never iterated
  std::vector<std::uint32_t> reads_held_;  // by the next instruction
};

std::string half_of(const Issue& issue) {
  std::string out(issue.what->name);
  if (issue.what->slots > 1) out += fmt::format(" ({} slots)", issue.what->slots);
  if (!issue.text.empty()) out += " ; " + issue.text;
  if (issue.line > 0) out += fmt::format(" ; line {}", issue.line);
  return out;
}

}  // namespace

SelectedFunction select(Function& function, LoopShapes& shapes, LoopInfo& loops, AAResults& aliases) {
  return Selector(function, shapes, loops, aliases).run();
}

std::string print(const SelectedFunction& selected, const std::string& name) {
  std::string out = "function " + name + "\n";
  if (!selected.refusal.empty()) return out + "  not counted: " + selected.refusal + "\n";
  std::map<const BasicBlock*, std::size_t> number;
  for (const SelectedBlock& b : selected.blocks) number.emplace(b.block, number.size());
  for (const SelectedBlock& b : selected.blocks) {
    unsigned slots = 0;
    for (const Segment& s : b.segments) slots += slots_of(s.bundles);
    out += fmt::format("  block {}: {} slots{}", number[b.block], slots, b.repeats ? ", body of a rpt" : "");
    const char* before = " -> ";
    for (const BasicBlock* next : successors(b.block)) out += before + std::to_string(number[next]), before = ", ";
    out += '\n';
    for (const Segment& s : b.segments)
      for (const Bundle& bundle : s.bundles) {
        const std::string main = bundle.main == Bundle::kNone ? "" : half_of(s.issues[bundle.main]);
        const std::string aux = bundle.aux == Bundle::kNone ? "" : half_of(s.issues[bundle.aux]);
        out += main.empty() ? "    " + aux : aux.empty() ? "    " + main : "    " + main + " | " + aux;
        out += '\n';
      }
  }
  return out;
}

}  // namespace pando::popc
