#include "popc/counting/selector.h"

#include "popc/counting/patterns.h"

namespace pando::popc {

using namespace llvm;

namespace {

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

}  // namespace

// In pieces as wide as the alignment allows; a store of less than a word reads the word first.
void Selector::select_access(Instruction& i) {
  if (i.isAtomic() || i.isVolatile()) return reject("it has a volatile or atomic access");
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
Values Selector::read_address(const Instruction& i) {
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

void Selector::hold_stepping(const Stepping& stepping) {
  hold({nullptr, stepping.base}, {Pipe::main, 1, stepping.index == 0, false});
  if (stepping.index > 0) hold({nullptr, stepping.index}, {Pipe::main, 1, true, false});
}

void Selector::order_memory(const Instruction& i, Values& after) {
  const MemoryLocation here = MemoryLocation::get(&i);
  const auto wait = [&](const auto& accesses) {
    for (const auto& [other, makers] : accesses)
      if (!aliases_.isNoAlias(MemoryLocation::get(other), here)) after.append(makers.begin(), makers.end());
  };
  wait(last_store_);
  if (isa<StoreInst>(i)) wait(loads_);
}

// A load or store adds one register and a constant itself; elements of two, four or eight bytes shift the index.
void Selector::select_address(GetElementPtrInst& address) {
  unsigned variable = 0;
  Pattern pattern;
  MapVector<Value*, APInt> scaled;
  APInt constant(layout_.getIndexTypeSizeInBits(address.getType()), 0);
  if (!address.collectOffset(layout_, constant.getBitWidth(), scaled, constant)) return reject("it computes an address of unknown size");
  for (const auto& [index, scale] : scaled) {
    ++variable;
    if (!scale.isOne()) pattern.push_back(scale.isPowerOf2() ? "shl" : "mul");
  }
  const bool folds = is_address_only(address);
  for (unsigned i = folds ? 1 : 0; i < variable; ++i) pattern.push_back("add");
  if (!folds && variable == 0 && !constant.isZero()) pattern.push_back("add");
  emit_pattern(pattern, address);
}

}  // namespace pando::popc
