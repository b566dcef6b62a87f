#include "popc/counting/patterns.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include <map>

#include "codelet/store/gp_file.h"
#include "machine/worker/instructions.h"
#include "popc/counting/integers.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

unsigned lanes_of(const Type& type) {
  const auto* vector = dyn_cast<FixedVectorType>(&type);
  return vector ? vector->getNumElements() : 1;
}

Pattern times(unsigned n, const Pattern& one) {
  Pattern out;
  for (unsigned i = 0; i < n; ++i) out.insert(out.end(), one.begin(), one.end());
  return out;
}

// One instruction for each register, or pair of registers, of the type.
struct FloatRow {
  unsigned opcode;
  const char *f32, *f32v2, *f16v2, *f16v4;
};
constexpr FloatRow kFloatRows[] = {
    {Instruction::FAdd, "f32add", "f32v2add", "f16v2add", "f16v4add"}, {Instruction::FSub, "f32sub", "f32v2sub", "f16v2sub", "f16v4sub"},
    {Instruction::FMul, "f32mul", "f32v2mul", "f16v2mul", "f16v4mul"}, {Instruction::FNeg, "f32sub", "f32v2sub", "f16v2sub", "f16v4sub"},
    {Instruction::FCmp, "f32cmp", "f32v2cmp", "f16v2cmp", "f16v4cmp"},
};
constexpr FloatRow kMaximum = {0, "f32max", "f32v2max", "f16v2max", "f16v4max"};
constexpr FloatRow kMinimum = {0, "f32min", "f32v2min", "f16v2min", "f16v4min"};
constexpr FloatRow kAbsolute = {0, "f32absadd", "f32v2absadd", "f16v2absadd", "f16v4absadd"};

// Widest first: <5 x float> is two pairs and one.
std::optional<Pattern> by_width(const FloatRow& row, const Type& type, std::string& why) {
  const unsigned n = lanes_of(type);
  Pattern out;
  if (type.getScalarType()->isFloatTy()) {
    out = times(n / 2, {row.f32v2});
    if (n % 2) out.push_back(row.f32);
    return out;
  }
  if (type.getScalarType()->isHalfTy()) {
    out = times(n / 4, {row.f16v4});
    if (n % 4) out.insert(out.end(), (n % 4 + 1) / 2, row.f16v2);
    return out;
  }
  why = "it computes with double";
  return std::nullopt;
}

// Functions of one number: a row each. Halfs: two lanes at once where there is such an instruction, else through float.
struct FunctionRow {
  const char* name;
  const char *f32, *f16v2;
};
constexpr FunctionRow kFunctions[] = {
    {"exp", "f32exp", "f16v2exp"},    {"exp2", "f32exp2", "f16v2exp2"}, {"log", "f32ln", "f16v2ln"},
    {"log2", "f32log2", "f16v2log2"}, {"tanh", "f32tanh", "f16v2tanh"}, {"sqrt", "f32sqrt", nullptr},
};

std::optional<Pattern> function_of(StringRef name, const Type& type) {
  for (const FunctionRow& row : kFunctions) {
    if (name != row.name) continue;
    const unsigned n = lanes_of(type);
    if (type.getScalarType()->isFloatTy()) return times(n, {row.f32});
    if (!type.getScalarType()->isHalfTy()) return std::nullopt;
    if (row.f16v2) return times((n + 1) / 2, {row.f16v2});
    return times(n, {"f16tof32", row.f32, "f32tof16"});
  }
  return std::nullopt;
}

std::optional<Pattern> integer_pattern(const Instruction& i, std::string& why) {
  if (is_word(i)) return Pattern();
  const std::optional<Pattern> one = integer_operation(i, why);
  if (!one) return std::nullopt;
  return times(lanes_of(*i.getType()), *one);
}

std::optional<Pattern> cast_pattern(const CastInst& cast, std::string& why) {
  const Type &from = *cast.getSrcTy(), &to = *cast.getDestTy();
  const unsigned n = lanes_of(to);
  // What inline assembly returns of a pair of registers: clang hands it over as a double.
  if (cast.getOpcode() == Instruction::BitCast && is_aux(from) && is_aux(to)) return Pattern();
  if (from.getScalarType()->isDoubleTy() || to.getScalarType()->isDoubleTy()) {
    why = "it computes with double";
    return std::nullopt;
  }
  const bool to_half = to.getScalarType()->isHalfTy(), from_half = from.getScalarType()->isHalfTy();
  switch (cast.getOpcode()) {
    // A number goes from the main to the auxiliary registers through memory.
    case Instruction::UIToFP:
    case Instruction::SIToFP: {
      Pattern out = {"st32", "ld32", cast.getOpcode() == Instruction::UIToFP ? "f32fromui32" : "f32fromi32"};
      if (to_half) out.push_back("f32tof16");
      return times(n, out);
    }
    case Instruction::FPToUI:
      return times(n, from_half ? Pattern{"f16tof32", "f32int", "f32toui32", "atom"} : Pattern{"f32int", "f32toui32", "atom"});
    case Instruction::FPToSI:
      return times(n, from_half ? Pattern{"f16tof32", "f32int", "f32toi32", "atom"} : Pattern{"f32int", "f32toi32", "atom"});
    case Instruction::FPExt: return n == 1 ? Pattern{"f16tof32"} : times((n + 1) / 2, {"f16v2tof32"});
    case Instruction::FPTrunc: return n == 1 ? Pattern{"f32tof16"} : times((n + 1) / 2, {"f32v2tof16"});
    case Instruction::BitCast:
      if (is_aux(from) == is_aux(to)) return Pattern();
      return is_aux(to) ? Pattern{"st32", "ld32"} : Pattern{"atom"};
    // Addresses and sizes have 32 bits on a tile: what widens or narrows them here does nothing there.
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc: {
      const unsigned narrow = std::min(from.getScalarSizeInBits(), to.getScalarSizeInBits());
      if (narrow >= 32 || narrow == 1 || cast.getOpcode() == Instruction::Trunc || isa<LoadInst>(cast.getOperand(0))) return Pattern();
      return cast.getOpcode() == Instruction::ZExt ? times(n, {"and"}) : times(n, {"shl", "shrs"});
    }
    default: return Pattern();
  }
}

// The type that a builtin's name has in front: f32v2 of f32v2mul.
bool has_type_in_front(StringRef name) { return name.starts_with("f32") || name.starts_with("f16"); }

std::string with_type(StringRef name, const Type& type) {
  const unsigned n = lanes_of(type);
  const std::string front = type.getScalarType()->isFloatTy() ? "f32" : type.getScalarType()->isHalfTy() ? "f16" : "";
  if (front.empty()) return name.str();
  return front + (n > 1 ? "v" + std::to_string(n) : front == "f16" ? "v2" : "") + name.str();
}

// Names of kinds that issue alike have one row.
std::string row_name(std::string name, bool is_aux_value) {
  if (const std::size_t at = name.find("cmp"); at != std::string::npos && has_type_in_front(name)) return name.substr(0, at + 3);
  for (const char* bits : {"and", "andc", "or", "not", "roll", "sort"})
    if (is_aux_value && StringRef(name).drop_while([](char c) { return c == '_'; }).starts_with(bits)) return std::string("a.") + bits;
  return name;
}

const char* known(const std::string& name) {
  const WorkerInstruction* row = find_worker_instruction(name);
  return row ? row->name.data() : nullptr;  // of a literal: it ends with a zero
}

std::optional<Pattern> builtin_pattern(StringRef name, const CallBase& call, std::string& why) {
  if (name == "get_scount_l" || name == "get_scount_u" || name == "get_worker_id" || name == "get_tile_id") return Pattern{"get"};
  if (name == "urand_f32" || name == "urand_f16") return Pattern{"urand32", "f32add"};
  const Type& type = call.arg_empty() ? *call.getType() : *call.getArgOperand(0)->getType();
  const std::string typed = has_type_in_front(name) ? name.str() : with_type(name, type);
  for (const std::string& candidate : {row_name(typed, is_aux(type)), row_name(name.str(), is_aux(type)), name.str()})
    if (const char* row = known(candidate)) return Pattern{row};
  for (const char* function : {"exp", "exp2", "log", "ln", "log2", "tanh", "sqrt"})
    if (StringRef(typed).ends_with(function)) return function_of(StringRef(function) == "ln" ? "log" : function, type);
  why = "it calls __builtin_ipu_" + name.str() + ", whose slots are not known";
  return std::nullopt;
}

std::optional<Pattern> intrinsic_pattern(const IntrinsicInst& call, std::string& why) {
  const Type& type = *call.getType();
  const unsigned n = lanes_of(type);
  const auto integer = [&](Pattern one) -> std::optional<Pattern> { return times(n, one); };
  switch (call.getIntrinsicID()) {
    case Intrinsic::exp: return function_of("exp", type);
    case Intrinsic::exp2: return function_of("exp2", type);
    case Intrinsic::log: return function_of("log", type);
    case Intrinsic::log2: return function_of("log2", type);
    case Intrinsic::tanh: return function_of("tanh", type);
    case Intrinsic::sqrt: return function_of("sqrt", type);
    case Intrinsic::fabs: return by_width(kAbsolute, type, why);
    case Intrinsic::maxnum:
    case Intrinsic::maximum: return by_width(kMaximum, type, why);
    case Intrinsic::minnum:
    case Intrinsic::minimum: return by_width(kMinimum, type, why);
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
    case Intrinsic::rint:
    case Intrinsic::roundeven:
    case Intrinsic::nearbyint: return integer({"f32int"});
    case Intrinsic::copysign: return integer({"a.and", "a.andc", "a.or"});
    case Intrinsic::fma:
    case Intrinsic::fmuladd: {
      auto product = by_width(kFloatRows[2], type, why), sum = by_width(kFloatRows[0], type, why);
      if (product && sum) product->insert(product->end(), sum->begin(), sum->end());
      return product;
    }
    case Intrinsic::smax: return integer({"max"});
    case Intrinsic::smin: return integer({"min"});
    case Intrinsic::umax:
    case Intrinsic::umin: return integer({"cmpult", "movnz"});
    case Intrinsic::abs: return integer({"abs"});
    case Intrinsic::ctlz: return integer({"clz"});
    case Intrinsic::cttz: return integer({"sub", "and", "clz", "sub"});  // of the lowest bit alone
    case Intrinsic::ctpop: return integer({"popc"});
    case Intrinsic::bitreverse:
    case Intrinsic::bswap: return integer({"swap16", "shuf8x8lo"});
    case Intrinsic::usub_sat: return integer({"cmpult", "sub", "movnz"});
    case Intrinsic::uadd_sat: return integer({"add", "cmpult", "movnz"});
    case Intrinsic::fshl:
    case Intrinsic::fshr: return integer({"shl", "shr", "or"});
    case Intrinsic::lifetime_start:
    case Intrinsic::lifetime_end:
    case Intrinsic::assume:
    case Intrinsic::experimental_noalias_scope_decl:
    case Intrinsic::dbg_declare:
    case Intrinsic::dbg_value:
    case Intrinsic::dbg_label: return Pattern();
    default: {
      const StringRef name = call.getCalledFunction()->getName().drop_front(StringRef("llvm.").size());
      why = "it calls " + name.substr(0, name.find('.')).str() + ", whose slots are not known";
      return std::nullopt;
    }
  }
}

}  // namespace

bool is_word(const Instruction& i) {
  using namespace PatternMatch;
  return match(&i, m_And(m_Value(), m_SpecificInt(0xffffffff)));
}

bool is_aux(const Type& type) {
  return type.getScalarType()->isFloatingPointTy() || (type.isVectorTy() && type.getPrimitiveSizeInBits() >= 32);
}

std::string builtin_name(const Function& f) {
  constexpr StringRef kPrefix = "__builtin_ipu_";
  const StringRef name = f.getName();
  const std::size_t at = name.find(kPrefix);
  if (at == StringRef::npos) return "";
  const std::string plain = demangle(name.str());
  const std::size_t begin = plain.find(kPrefix.str());
  if (begin == std::string::npos) return "";
  const std::size_t end = plain.find_first_of("(<", begin);
  return plain.substr(begin + kPrefix.size(), end == std::string::npos ? end : end - begin - kPrefix.size());
}

bool reads_cycles(const CallBase& call) {
  const Function* f = call.getCalledFunction();
  return f && StringRef(builtin_name(*f)).starts_with("get_scount");
}

std::optional<unsigned> runtime_entry_of(const CallBase& call) {
  const auto* entry = dyn_cast<LoadInst>(call.getCalledOperand());
  if (!entry) return std::nullopt;
  const DataLayout& layout = call.getModule()->getDataLayout();
  APInt offset(64, 0);
  const Value* table = entry->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
  const auto* loaded = dyn_cast<LoadInst>(table);
  const auto* global = loaded ? dyn_cast<GlobalVariable>(loaded->getPointerOperand()) : nullptr;
  if (!global || global->getName() != kRuntimeSymbol) return std::nullopt;
  return static_cast<unsigned>(offset.getZExtValue() / sizeof(void*));
}

std::optional<Pattern> pattern_of(const Instruction& i, std::string& why) {
  if (const auto* cast = dyn_cast<CastInst>(&i)) return cast_pattern(*cast, why);
  const Type& operand = i.getNumOperands() > 0 ? *i.getOperand(0)->getType() : *i.getType();
  for (const FloatRow& row : kFloatRows)
    if (i.getOpcode() == row.opcode) return by_width(row, operand, why);
  if (i.getOpcode() == Instruction::FDiv || i.getOpcode() == Instruction::FRem) {
    if (i.getOpcode() == Instruction::FRem || operand.getScalarType()->isDoubleTy()) {
      why = i.getOpcode() == Instruction::FRem ? "it calls fmodf, whose slots are not known" : "it computes with double";
      return std::nullopt;
    }
    if (operand.getScalarType()->isFloatTy()) return times(lanes_of(operand), {"f32div"});
    return times(lanes_of(operand), {"f16tof32", "f32div", "f32tof16"});
  }
  if (const auto* compare = dyn_cast<ICmpInst>(&i)) {
    const char* name = compare->isEquality() ? (compare->getPredicate() == CmpInst::ICMP_EQ ? "cmpeq" : "cmpne")
                       : compare->isSigned() ? "cmpslt"
                                             : "cmpult";
    return times(lanes_of(operand), {name});
  }
  if (const auto* select = dyn_cast<SelectInst>(&i)) {
    if (!is_aux(*i.getType())) return times(lanes_of(*i.getType()), {"movnz"});
    const bool one_is_zero = PatternMatch::match(select->getFalseValue(), PatternMatch::m_Zero()) ||
                             PatternMatch::match(select->getTrueValue(), PatternMatch::m_Zero());
    return one_is_zero ? Pattern{"a.and"} : Pattern{"a.and", "a.andc", "a.or"};
  }
  // Lanes of floats are registers. Halves of a register have to be sorted.
  if (isa<ExtractElementInst, InsertElementInst>(i)) {
    const Type& vector = isa<ExtractElementInst>(i) ? operand : *i.getType();
    return vector.getScalarSizeInBits() >= 32 ? Pattern() : Pattern{"a.sort"};
  }
  if (const auto* shuffle = dyn_cast<ShuffleVectorInst>(&i)) {
    if (shuffle->isZeroEltSplat()) return times((lanes_of(*i.getType()) * i.getType()->getScalarSizeInBits() + 63) / 64, {"a.mov"});
    if (shuffle->isIdentity() || shuffle->isIdentityWithExtract() || shuffle->isConcat() || shuffle->isIdentityWithPadding())
      return Pattern();
    return times((lanes_of(*i.getType()) * i.getType()->getScalarSizeInBits() + 63) / 64, {"a.roll"});
  }
  if (isa<FreezeInst, ExtractValueInst, InsertValueInst>(i)) return Pattern();
  return integer_pattern(i, why);
}

bool ends_run(const CallBase& call) { return call.doesNotReturn() || runtime_entry_of(call) == static_cast<unsigned>(RuntimeEntry::trap); }

std::optional<Pattern> pattern_of_call(const CallBase& call, std::string& why) {
  // What does not return ends the run: a failed assert(), abort(), pando::trap().
  if (ends_run(call)) return Pattern{"call"};
  const Function* f = call.getCalledFunction();
  if (!f) {
    const std::optional<unsigned> entry = runtime_entry_of(call);
    if (entry == static_cast<unsigned>(RuntimeEntry::tile_globals)) return Pattern{"setzi"};
    const bool prints = entry >= static_cast<unsigned>(RuntimeEntry::print) && entry <= static_cast<unsigned>(RuntimeEntry::print_char_to);
    why = !entry ? "it calls through a pointer" : prints ? "it prints" : "it calls the tile's runtime (pando/tile.hpp)";
    return std::nullopt;
  }
  if (const auto* intrinsic = dyn_cast<IntrinsicInst>(&call)) return intrinsic_pattern(*intrinsic, why);
  if (const std::string builtin = builtin_name(*f); !builtin.empty()) return builtin_pattern(builtin, call, why);
  const StringRef name = f->getName();
  if (name.ends_with("f") && call.arg_size() == 1)
    if (auto pattern = function_of(name.drop_back(), *call.getType())) return pattern;
  why = "it calls " + demangle(name.str()) + ", whose slots are not known";
  return std::nullopt;
}

}  // namespace pando::popc
