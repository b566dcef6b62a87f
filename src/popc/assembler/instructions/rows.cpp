#include "popc/assembler/instructions/rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/similar_names.h"
#include "machine/worker/instructions.h"

// CMake writes one X(<stem>) per file of families/: a file without its function does not link.
#define X(stem) std::vector<InstructionRow> instructions_##stem();
namespace pando::popc {
#include "instruction_manifest.inc"
}
#undef X

namespace pando::popc {

namespace {

std::vector<InstructionRow> make_rows() {
  std::vector<InstructionRow> rows;
  const auto add = [&](std::vector<InstructionRow> family) {
    for (InstructionRow& r : family) rows.push_back(std::move(r));
  };
#define X(stem) add(instructions_##stem());
#include "instruction_manifest.inc"
#undef X
  for (InstructionRow& r : rows)
    if (const WorkerInstruction* known = find_worker_instruction(r.name)) r.slots = known->slots;
  std::sort(rows.begin(), rows.end(), [](const InstructionRow& a, const InstructionRow& b) { return a.name < b.name; });
  return rows;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    if (end > begin) out.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

bool fits(std::string_view what, const AssemblyOperand& operand) {
  if (what.starts_with('=') || what.starts_with('+')) what.remove_prefix(1);
  const bool wants_register = what[0] == 'm' || what[0] == 'a';
  if (!wants_register) return operand.kind == AssemblyOperand::Kind::expression;
  if (operand.kind != AssemblyOperand::Kind::registers) return false;
  std::size_t count = 0;
  while (count < what.size() && what[count] == what[0]) ++count;
  return operand.bank == (what[0] == 'm' ? Bank::main : Bank::aux) && operand.count == count && operand.suffix == what.substr(count);
}

}  // namespace

std::span<const InstructionRow> instruction_rows() {
  static const std::vector<InstructionRow> rows = make_rows();
  return rows;
}

const InstructionRow* find_instruction(std::string_view name) {
  const auto rows = instruction_rows();
  const auto at = std::lower_bound(rows.begin(), rows.end(), name, [](const InstructionRow& r, std::string_view n) { return r.name < n; });
  return at != rows.end() && at->name == name ? &*at : nullptr;
}

std::vector<std::string> similar_instructions(std::string_view name) {
  std::vector<std::string> names;
  for (const InstructionRow& r : instruction_rows()) names.push_back(r.name);
  return similar_names(name, names);
}

std::vector<std::string> form_operands(std::string_view form) { return split(form, ','); }

std::string fitting_form(const InstructionRow& row, const std::vector<AssemblyOperand>& operands) {
  for (const std::string& form : split(row.forms, '|')) {
    const std::vector<std::string> wanted = form == "-" ? std::vector<std::string>{} : form_operands(form);
    if (wanted.size() != operands.size()) continue;
    bool all = true;
    for (std::size_t i = 0; i < wanted.size(); ++i) all = all && fits(wanted[i], operands[i]);
    if (all) return form;
  }
  return "";
}

std::string why_unfit(std::string_view what, std::int64_t number) {
  const auto outside = [&](std::int64_t least, std::int64_t most) {
    return number < least || number > most ? fmt::format("{} is not within {} to {}", number, least, most) : std::string();
  };
  if (what == "zu") {
    const auto bits = static_cast<std::uint64_t>(number);
    const bool ok =
        (number >= 0 && number < 4096) || ((bits & 0xfffff) == 0 && number >= -(std::int64_t{1} << 31) && number <= 0xffffffffLL);
    return ok ? "" : fmt::format("{:#x} is neither of 12 bits nor has 20 zeros at its end", number);
  }
  if (what == "csr") return outside(0, 255);
  if (what == "c32") return outside(-(std::int64_t{1} << 31), 0xffffffffLL);
  if (what == "L" || what.size() < 2 || (what[0] != 'z' && what[0] != 's' && what[0] != 'i')) return "";
  const std::int64_t size = std::int64_t{1} << std::stoi(std::string(what.substr(1)));
  return outside(what[0] == 'z' ? 0 : -size / 2, what[0] == 's' ? size / 2 - 1 : size - 1);
}

Bank pipe_of(const AssemblyInstruction& i) {
  if (i.row->pipe != IssuePipe::of_destination) return i.row->pipe == IssuePipe::main ? Bank::main : Bank::aux;
  // A main register that takes an aux register's bits goes through the main pipe.
  return i.operands.empty() ? Bank::main : i.operands[0].bank;
}

}  // namespace pando::popc
