#include "popc/counting/integers.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

namespace pando::popc {

namespace {

using namespace llvm;
using Instructions = std::vector<const char*>;

// Slots of a division of integers whose divisor is not a power of two: workers have no division, and no upper half of a product to divide
// by a constant with, so a function of the library does it. Assumed.
constexpr unsigned kSoftwareDivision = 40;
Instructions software_division() { return Instructions(kSoftwareDivision, "nop"); }

// Rounding towards zero: where the dividend is negative, the divisor less one is added before the shift. For two, the sign is that.
Instructions rounded_shift(const APInt& divisor) {
  Instructions out;
  if (divisor.abs() != 2) out.push_back("shrs");
  out.insert(out.end(), {"shr", "add", "shrs"});
  return out;
}

Instructions division(const Instruction& i) {
  const APInt* divisor = nullptr;
  if (!PatternMatch::match(i.getOperand(1), PatternMatch::m_APInt(divisor))) return software_division();
  const unsigned opcode = i.getOpcode();
  if (divisor->isOne()) return {};
  if (opcode == Instruction::UDiv || opcode == Instruction::URem) {
    if (!divisor->isPowerOf2()) return software_division();
    return {opcode == Instruction::UDiv ? "shr" : "and"};
  }
  const bool divides = opcode == Instruction::SDiv;
  if (divisor->isAllOnes()) return divides ? Instructions{"sub"} : Instructions{};
  if (!divisor->abs().isPowerOf2()) return software_division();
  Instructions out = divides && cast<PossiblyExactOperator>(i).isExact() ? Instructions{"shrs"} : rounded_shift(*divisor);
  if (divides && divisor->isNegative()) out.push_back("sub");
  if (!divides) {  // a remainder is the dividend less its rounded multiple: bits are cleared in place of the last shift
    out.back() = "and";
    out.push_back("sub");
  }
  return out;
}

}  // namespace

std::optional<Instructions> integer_operation(const Instruction& i, std::string& why) {
  switch (i.getOpcode()) {
    case Instruction::Add: return Instructions{"add"};
    case Instruction::Sub: return Instructions{"sub"};
    case Instruction::Mul: return Instructions{"mul"};
    case Instruction::And: return Instructions{"and"};
    case Instruction::Or: return Instructions{"or"};
    case Instruction::Xor: return Instructions{"xor"};
    case Instruction::Shl: return Instructions{"shl"};
    case Instruction::LShr: return Instructions{"shr"};
    case Instruction::AShr: return Instructions{"shrs"};
    case Instruction::UDiv:
    case Instruction::SDiv:
    case Instruction::URem:
    case Instruction::SRem: return division(i);
    default: why = std::string("it has the operation '") + i.getOpcodeName() + "'"; return std::nullopt;
  }
}

unsigned integer_constant_instructions(const APInt& value) {
  const APInt word = value.zextOrTrunc(32);
  if (word.isZero()) return 0;
  return word.isIntN(20) || word.countr_zero() >= 20 ? 1 : 2;
}

}  // namespace pando::popc
