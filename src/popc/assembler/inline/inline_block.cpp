#include "popc/assembler/inline/inline_block.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include <array>
#include <cctype>
#include <regex>

#include "popc/assembler/text/operands.h"

namespace pando::popc {

namespace {

using namespace llvm;

// Which registers a text names.
struct Named {
  std::array<bool, 16> main{}, aux{};
};

Named named_in(const std::string& text) {
  static const std::regex registers(R"(\$(m|a)(\d+)(?::(\d+))?)");
  Named out;
  for (std::sregex_iterator i(text.begin(), text.end(), registers), end; i != end; ++i) {
    const unsigned first = static_cast<unsigned>(std::stoul((*i)[2].str()));
    const unsigned last = (*i)[3].matched ? static_cast<unsigned>(std::stoul((*i)[3].str())) : first;
    for (unsigned r = first; r <= last && r < 16; ++r) ((*i)[1].str() == "m" ? out.main : out.aux)[r] = true;
  }
  static const std::pair<const char*, unsigned> kNames[] = {{"$bp", 8}, {"$fp", 9}, {"$lr", 10}, {"$sp", 11}};
  for (const auto& [name, number] : kNames)
    if (text.find(name) != std::string::npos) out.main[number] = true;
  return out;
}

void choose_registers(InlineOperand& o, const std::string& what) {
  Type* type = o.type;
  const auto* vector = dyn_cast<FixedVectorType>(type);
  const Type* scalar = type->getScalarType();
  const unsigned bits = type->isPointerTy() ? 32 : static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
  if (scalar->isPointerTy() || (scalar->isIntegerTy() && !vector)) {
    o.bank = Bank::main;
    o.count = 1;
  } else if (scalar->isIntegerTy() && scalar->getIntegerBitWidth() == 32 && vector->getNumElements() == 2) {
    o.bank = Bank::main;
    o.count = 2;
  } else if ((scalar->isFloatTy() || scalar->isHalfTy() || scalar->isIntegerTy()) && bits <= 128) {
    o.bank = Bank::aux;
    o.count = bits <= 32 ? 1 : bits <= 64 ? 2 : 4;
  } else {
    throw AssemblyError(fmt::format("operand '{}' of inline assembly has a type that no register of a worker holds", what));
  }
}

// Registers that nothing names: the highest first, where compilers' own conventions use them least.
void allocate(InlineOperand& o, Named& taken) {
  auto& used = o.bank == Bank::main ? taken.main : taken.aux;
  const unsigned most = o.bank == Bank::main ? 12 : 8;
  for (unsigned first = most - o.count + 1; first-- > 0;) {
    if (first % o.count != 0) continue;
    bool is_free = true;
    for (unsigned k = 0; k < o.count; ++k) is_free = is_free && !used[first + k];
    if (!is_free) continue;
    for (unsigned k = 0; k < o.count; ++k) used[first + k] = true;
    o.first = first;
    return;
  }
  throw AssemblyError("inline assembly has more operands than a worker has registers");
}

std::string register_text(const InlineOperand& o) {
  return o.is_immediate ? std::to_string(o.number) : register_name(o.bank, o.first, o.count);
}

// `$0` and `${0:m}` are operands, `$$` a dollar; `$(`, `$|`, `$)` are braces and bars, `${:uid}` a number of the statement.
std::string expanded(const std::string& text, const std::function<std::string(std::size_t)>& operand, unsigned number) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    if (next == '$')
      out += '$';
    else if (next == '(')
      out += '{';
    else if (next == ')')
      out += '}';
    else if (next == '|')
      out += '|';
    else if (next == '{') {
      const std::size_t end = text.find('}', i);
      const std::string inside = text.substr(i + 1, end - i - 1);
      out += inside == ":uid" ? std::to_string(number) : operand(std::stoul(inside));
      i = end;
    } else {
      std::size_t end = i;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
      out += operand(std::stoul(text.substr(i, end - i)));
      i = end - 1;
    }
  }
  return out;
}

}  // namespace

InlineBlock read_inline(const CallBase& call, const InlineAsm& assembly) {
  InlineBlock out;
  const auto* record = dyn_cast<StructType>(call.getType());
  unsigned outputs = 0;
  int argument = 0;
  for (const InlineAsm::ConstraintInfo& c : assembly.ParseConstraints()) {
    if (c.Type == InlineAsm::isClobber) continue;
    InlineOperand o;
    if (c.Type == InlineAsm::isOutput && !c.isIndirect) {
      o.is_output = true;
      o.type = record ? record->getElementType(outputs) : call.getType();
      ++outputs;
    } else {
      o.argument = argument++;
      const Value* value = call.getArgOperand(static_cast<unsigned>(o.argument));
      o.type = value->getType();
      if (c.isIndirect) throw AssemblyError("an operand of inline assembly in memory ('m'): only registers are known");
      const std::string code = c.Codes.empty() ? "" : c.Codes[0];
      if (!code.empty() && std::isdigit(static_cast<unsigned char>(code[0]))) o.tied = std::stoi(code);
      if (code == "i" || code == "n") {
        const auto* number = dyn_cast<ConstantInt>(value);
        if (!number) throw AssemblyError("an immediate operand of inline assembly is not a constant number");
        o.is_immediate = true;
        o.number = number->getSExtValue();
      }
    }
    if (!o.is_immediate) choose_registers(o, fmt::format("%{}", out.operands.size()));
    out.operands.push_back(o);
  }
  static unsigned statements = 0;
  const unsigned number = statements++;
  const std::string raw(assembly.getAsmString());
  Named taken = named_in(expanded(raw, [](std::size_t) { return std::string(); }, number));
  for (unsigned r = 0; r < 4; ++r)
    if (taken.main[r]) out.free_reads.push_back(r);
  for (InlineOperand& o : out.operands)
    if (!o.is_immediate && o.tied < 0) allocate(o, taken);
  for (InlineOperand& o : out.operands)
    if (o.tied >= 0)
      o.first = out.operands[static_cast<std::size_t>(o.tied)].first, o.count = out.operands[static_cast<std::size_t>(o.tied)].count;
  out.text = expanded(
      raw,
      [&](std::size_t i) {
        if (i >= out.operands.size()) throw AssemblyError(fmt::format("inline assembly names operand {}, which it lacks", i));
        return register_text(out.operands[i]);
      },
      number);
  out.names_vertex_state = out.text.find("$mvertex_base") != std::string::npos || out.text.find("$m13") != std::string::npos;
  return out;
}

}  // namespace pando::popc
