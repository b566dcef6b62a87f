#include "popc/assembler/inline/foreign_assembly.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>

#include <optional>
#include <regex>

#include "popc/assembler/inline/translate_inline.h"
#include "popc/passes/reach.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

enum class Source { stack_register, count_low, count_high };

struct Statement {
  unsigned operand;
  Source source;
};

// `$$` is how IR writes the `$` that begins a register's name.
bool is_for_ipus(const std::string& text) {
  static const std::regex registers(R"(\$\$(m(1[0-5]|[0-9]|zero|worker_base|vertex_base)|a([0-9]|1[0-5]|zeros?))\b)");
  // Mnemonics that hosts do not have, at the beginning of a statement.
  static const std::regex mnemonics(
      R"((^|[\n;{])\s*(u?get|u?put|setzi|rpt|f16v[248]\w*|f32(v2)?[a-z]\w*|ld(8|s8|16|s16|32|64|128|2x64|st)\w*|st(32|64|m32)\w*|)"
      R"(sort(4x|8)\w*|shuf8\w*|roll(8|16|32)\w*|urand\w*|tapack|exitn?z|brnz|brnzdec)\s)");
  return std::regex_search(text, registers) || std::regex_search(text, mnemonics);
}

std::optional<Statement> parse_statement(const std::string& line) {
  static const std::regex stack(R"(mov\s+\$([0-9]+)\s*,\s*\$\$m11)");
  static const std::regex count(R"(get\s+\$([0-9]+)\s*,\s*(0x60|0x61|\$\$COUNT_L|\$\$COUNT_U))");
  std::smatch found;
  const auto operand = [&] { return static_cast<unsigned>(std::stoul(found[1].str())); };
  if (std::regex_match(line, found, stack)) return Statement{operand(), Source::stack_register};
  if (!std::regex_match(line, found, count)) return std::nullopt;
  const std::string counter = found[2].str();
  return Statement{operand(), counter.back() == '0' || counter.back() == 'L' ? Source::count_low : Source::count_high};
}

// Nothing if a statement is none of those that are understood.
std::optional<std::vector<Statement>> parse(const std::string& text) {
  static const std::regex comment(R"(#.*|//.*)");
  std::vector<Statement> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n;", begin), text.size());
    std::string line = std::regex_replace(text.substr(begin, end - begin), comment, "");
    begin = end + 1;
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
    const auto statement = parse_statement(line);
    if (!statement) return std::nullopt;
    out.push_back(*statement);
  }
  return out;
}

Value* value_of(IRBuilder<>& b, Source source, Type* type) {
  if (source == Source::stack_register) {
    CallInst* frame = b.CreateIntrinsic(Intrinsic::frameaddress, {b.getPtrTy()}, {b.getInt32(0)});
    return type->isPointerTy() ? static_cast<Value*>(frame) : b.CreatePtrToInt(frame, type);
  }
  Value* count = b.CreateCall(FunctionType::get(b.getInt64Ty(), false), runtime_entry(b, RuntimeEntry::cycle_count));
  if (source == Source::count_high) count = b.CreateLShr(count, 32);
  count = b.CreateZExt(b.CreateTrunc(count, b.getInt32Ty()), b.getInt64Ty());
  return type->isPointerTy() ? b.CreateIntToPtr(count, type) : b.CreateZExtOrTrunc(count, type);
}

// What the assembly returns, with the statements' operands filled in; null if an operand is not one of its outputs.
Value* replacement(CallInst& call, const std::vector<Statement>& statements) {
  auto* record = dyn_cast<StructType>(call.getType());
  const unsigned outputs = record ? record->getNumElements() : call.getType()->isVoidTy() ? 0 : 1;
  IRBuilder<> b(&call);
  Value* result = call.getType()->isVoidTy() ? nullptr : PoisonValue::get(call.getType());
  for (const Statement& s : statements) {
    if (s.operand >= outputs) return nullptr;
    Type* type = record ? record->getElementType(s.operand) : call.getType();
    if (!type->isPointerTy() && !type->isIntegerTy()) return nullptr;
    Value* value = value_of(b, s.source, type);
    result = record ? b.CreateInsertValue(result, value, {s.operand}) : value;
  }
  return result;
}

void trap_instead(CallInst& call, const std::string& function) {
  IRBuilder<> b(&call);
  Value* message = b.CreateGlobalString("assembly of an IPU in '" + function + "', which runs on a host");
  b.CreateCall(FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false), runtime_entry(b, RuntimeEntry::trap), {message});
  if (!call.getType()->isVoidTy()) call.replaceAllUsesWith(PoisonValue::get(call.getType()));
  call.eraseFromParent();
}

}  // namespace

bool is_workers_assembly(const CallInst& call) {
  const auto* assembly = dyn_cast<InlineAsm>(call.getCalledOperand());
  if (!assembly) return false;
  const std::string text(assembly->getAsmString());
  return is_for_ipus(text) && !parse(text);
}

std::vector<ForeignStatement> foreign_assembly(const std::vector<const Function*>& roots) {
  SetVector<const Function*> functions;
  for (const Function* root : roots)
    for (const GlobalValue* g : reachable(*root))
      if (const auto* f = dyn_cast<Function>(g)) functions.insert(f);
  std::vector<ForeignStatement> out;
  Assembler before("");
  for (const Function* f : functions)
    for (const Instruction& i : instructions(*f)) {
      const auto* call = dyn_cast<CallInst>(&i);
      const auto* assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!assembly) continue;
      const std::string text(assembly->getAsmString());
      if (!is_for_ipus(text) || parse(text)) continue;
      const std::string why = why_no_worker_runs(*call, *assembly, before);
      if (why.empty()) continue;
      const std::size_t first = text.find_first_not_of(" \t\r\n{"), end = text.find_first_of("\n;", first);
      unsigned location = 0;
      if (const MDNode* at = call->getMetadata("srcloc"))
        location = static_cast<unsigned>(mdconst::extract<ConstantInt>(at->getOperand(0))->getZExtValue());
      out.push_back({text.substr(first, end - first), why, location});
    }
  return out;
}

std::vector<std::string> replace_foreign_assembly(Module& module) {
  std::vector<std::string> trapping;
  for (Function& f : module)
    for (Instruction& i : make_early_inc_range(instructions(f))) {
      auto* call = dyn_cast<CallInst>(&i);
      const auto* assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
      if (!assembly) continue;
      const std::string text(assembly->getAsmString());
      if (!is_for_ipus(text)) continue;
      const auto statements = parse(text);
      if (Value* value = statements ? replacement(*call, *statements) : nullptr) {
        call->replaceAllUsesWith(value);
        call->eraseFromParent();
        continue;
      }
      trapping.push_back(demangle(f.getName()));
      trap_instead(*call, trapping.back());
    }
  return trapping;
}

}  // namespace pando::popc
