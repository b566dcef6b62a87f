#include "popc/assembler/text/operands.h"

#include <fmt/format.h>

#include <cctype>
#include <string_view>

#include "popc/assembler/text/statements.h"

namespace pando::popc {

namespace {

struct Named {
  std::string_view name;
  Bank bank;
  unsigned first, count;
};
constexpr Named kNamed[] = {{"mzero", Bank::main, 15, 1},
                            {"azero", Bank::aux, 15, 1},
                            {"azeros", Bank::aux, 14, 2},
                            {"mworker_base", Bank::main, 12, 1},
                            {"mvertex_base", Bank::main, 13, 1},
                            {"bp", Bank::main, 8, 1},
                            {"fp", Bank::main, 9, 1},
                            {"lr", Bank::main, 10, 1},
                            {"sp", Bank::main, 11, 1}};

struct Control {
  std::string_view name;
  unsigned number;
};
constexpr unsigned kUpper = 128;
constexpr Control kControls[] = {{"PC", 0},
                                 {"WSR", 1},
                                 {"VERTEX_BASE", 2},
                                 {"WORKER_BASE", 3},
                                 {"REPEAT_COUNT", 4},
                                 {"REPEAT_FIRST", 5},
                                 {"REPEAT_END", 6},
                                 {"COUNT_L", 96},
                                 {"COUNT_U", 97},
                                 {"SCOUNT_L", 96},
                                 {"SCOUNT_U", 97},
                                 {"DBG_DATA", 112},
                                 {"DBG_BRK_ID", 113},
                                 {"FP_STS", kUpper + 0},
                                 {"FP_CLR", kUpper + 1},
                                 {"FP_CTL", kUpper + 2},
                                 {"PRNG_0_0", kUpper + 3},
                                 {"PRNG_0_1", kUpper + 4},
                                 {"PRNG_1_0", kUpper + 5},
                                 {"PRNG_1_1", kUpper + 6},
                                 {"PRNG_SEED", kUpper + 7},
                                 {"TAS", kUpper + 8},
                                 {"FP_NFMT", kUpper + 9},
                                 {"FP_SCL", kUpper + 10},
                                 {"TILE_ID", 3},
                                 {"FP_ICTL", 32},
                                 {"FP_INFMT", 49},
                                 {"FP_ISCL", 51},
                                 {"CCCSLOAD", 80},
                                 {"CTXT_STS", 114}};

bool is_register(std::string_view text) {
  for (const Named& n : kNamed)
    if (text == n.name) return true;
  if (text.size() < 2 || (text[0] != 'm' && text[0] != 'a')) return false;
  const std::size_t begin = text.starts_with("aq") ? 2 : 1;
  return begin < text.size() && text.find_first_not_of("0123456789:", begin) == std::string_view::npos;
}

AssemblyOperand numbered(std::string_view text) {
  AssemblyOperand out;
  out.bank = text[0] == 'm' ? Bank::main : Bank::aux;
  const bool is_quad = text.starts_with("aq");
  const std::string digits(text.substr(is_quad ? 2 : 1));
  const std::size_t colon = digits.find(':');
  out.first = static_cast<unsigned>(std::stoul(digits.substr(0, colon)));
  unsigned last = out.first;
  if (is_quad)
    out.first *= 4, last = out.first + 3;
  else if (colon != std::string::npos)
    last = static_cast<unsigned>(std::stoul(digits.substr(colon + 1)));
  out.count = last - out.first + 1;
  const bool is_known = last < 16 && last >= out.first;
  if (!is_known) throw AssemblyError(fmt::format("there is no register '${}'", text));
  if ((out.count != 1 && out.count != 2 && out.count != 4) || out.first % out.count != 0)
    throw AssemblyError(fmt::format("'${}': a group is of 2 or 4 registers and begins at a multiple of that", text));
  return out;
}

}  // namespace

AssemblyOperand read_operand(const std::string& written) {
  std::string text = trimmed(written);
  AssemblyOperand out;
  if (text.starts_with('$')) std::erase(text, ' ');  // $a0: 1, $m0 +=
  if (!text.starts_with('$')) return out.kind = AssemblyOperand::Kind::expression, out.expression = text, out;
  std::string suffix;
  for (const char* known : {"+=", "++", ">>", "@", ":BL", ":BU", ":B"})
    if (text.ends_with(known)) {
      suffix = known;
      text = trimmed(text.substr(0, text.size() - suffix.size()));
      break;
    }
  const std::string name = text.substr(1);
  if (!is_register(name)) return out.kind = AssemblyOperand::Kind::expression, out.expression = trimmed(written), out;
  bool named = false;
  for (const Named& n : kNamed)
    if (name == n.name) out.bank = n.bank, out.first = n.first, out.count = n.count, named = true;
  if (!named) out = numbered(name);
  out.suffix = suffix;
  return out;
}

std::optional<unsigned> control_register(const std::string& name) {
  if (name.starts_with('$'))
    for (const Control& c : kControls)
      if (name.substr(1) == c.name) return c.number;
  return std::nullopt;
}

std::string register_name(Bank bank, unsigned first, unsigned count) {
  const char letter = bank == Bank::main ? 'm' : 'a';
  return count == 1 ? fmt::format("${}{}", letter, first) : fmt::format("${}{}:{}", letter, first, first + count - 1);
}

}  // namespace pando::popc
