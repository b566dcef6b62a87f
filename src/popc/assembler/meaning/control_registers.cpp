// Control and status registers, and the generator of random bits that some of them hold.
#include <llvm/IR/Intrinsics.h>

#include "codelet/runtime/worker_memory.h"
#include "popc/assembler/meaning/meaning.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

using namespace llvm;

namespace {

constexpr unsigned kWsr = 1, kVertexBase = 2, kWorkerBase = 3, kTileId = 3, kCountLow = 96, kCountHigh = 97, kFpClear = 129, kSeed = 135;
constexpr unsigned kRandomFirst = 131, kRandomLast = 134, kClearsAccumulators = 8;

}  // namespace

Value* Meaning::control(unsigned number) {
  switch (number) {
    case kWsr: return registers_.worker;
    case kVertexBase: return read(Bank::main, 13);
    case kWorkerBase: static_assert(kWorkerBase == kTileId); return read(Bank::main, 12);
    case kCountLow:
    case kCountHigh: {
      Value* cycles = b.CreateMul(b.CreateLoad(b.getInt64Ty(), registers_.slots), b.getInt64(6));
      return b.CreateTrunc(number == kCountLow ? cycles : b.CreateLShr(cycles, 32), b.getInt32Ty());
    }
    case kFpClear: return b.getInt32(0);
    default: break;
  }
  if (number >= kRandomFirst && number <= kRandomLast)
    return b.CreateLoad(b.getInt32Ty(), b.CreateConstGEP1_64(b.getInt32Ty(), registers_.random, number - kRandomFirst));
  if (number < 128)
    return b.CreateLoad(b.getInt32Ty(), b.CreateConstGEP1_64(b.getInt32Ty(), registers_.shared, kSharedRegistersOffset / 4 + number));
  return b.CreateLoad(b.getInt32Ty(), registers_.control[number]);
}

void Meaning::set_control(unsigned number, Value* word) {
  if (number == kFpClear) {
    // Only whether accumulators are cleared matters: no exception is recorded.
    Value* clears = b.CreateICmpNE(b.CreateAnd(word, b.getInt32(kClearsAccumulators)), b.getInt32(0));
    for (unsigned n = 0; n < kAccumulators; ++n)
      set_accumulator(n, b.CreateSelect(clears, ConstantFP::get(b.getFloatTy(), 0), accumulator(n)));
    return;
  }
  const auto random_word = [&](unsigned i) { return b.CreateConstGEP1_64(b.getInt32Ty(), registers_.random, i); };
  if (number >= kRandomFirst && number <= kRandomLast) return void(b.CreateStore(word, random_word(number - kRandomFirst)));
  if (number == kSeed) {
    Value* inverse = b.CreateNot(word);
    b.CreateStore(word, random_word(0));
    b.CreateStore(inverse, random_word(1));
    b.CreateStore(b.CreateOr(b.CreateShl(word, 13), b.CreateLShr(inverse, 19)), random_word(2));
    b.CreateStore(b.CreateOr(b.CreateShl(inverse, 13), b.CreateLShr(word, 19)), random_word(3));
    return;
  }
  if (number < 128)
    b.CreateStore(word, b.CreateConstGEP1_64(b.getInt32Ty(), registers_.shared, kSharedRegistersOffset / 4 + number));
  else
    b.CreateStore(word, registers_.control[number]);
}

// xoroshiro128aox: two words of 64 bits, exclusive or and shifts. The state begins as the program's counter of calls says.
Value* Meaning::random64() {
  registers_.uses_random = true;
  auto* word = b.getInt64Ty();
  const auto at = [&](unsigned i) { return b.CreateConstGEP1_64(word, registers_.random, i); };
  const auto rotate = [&](Value* v, unsigned n) { return b.CreateIntrinsic(Intrinsic::fshl, {word}, {v, v, b.getInt64(n)}); };
  Value *s0 = b.CreateLoad(word, at(0)), *s1 = b.CreateLoad(word, at(1));
  Value* sum = b.CreateXor(s0, s1);
  Value* both = b.CreateAnd(s0, s1);
  Value* out = b.CreateXor(sum, b.CreateOr(rotate(both, 1), rotate(both, 2)));
  b.CreateStore(b.CreateXor(b.CreateXor(rotate(s0, 55), sum), b.CreateShl(sum, 14)), at(0));
  b.CreateStore(rotate(sum, 36), at(1));
  return out;
}

}  // namespace pando::popc
