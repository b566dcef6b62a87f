#include "popc/assembler/assemble.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "popc/assembler/assembler.h"
#include "popc/assembler/instructions/rows.h"
#include "popc/assembler/translate/entries.h"
#include "popc/assembler/translate/function.h"
#include "popc/vertices/definition.h"

namespace pando::popc {

namespace {

constexpr const char* kNote = "pando.assembly";
constexpr std::string_view kPrefix = "__runCodelet_";

std::string text_of(const llvm::MDNode& node, unsigned i) { return llvm::cast<llvm::MDString>(node.getOperand(i))->getString().str(); }

template <class Visit>
void for_each_file(const llvm::Module& module, Visit visit) {
  const llvm::NamedMDNode* notes = module.getNamedMetadata(kNote);
  if (!notes) return;
  for (const llvm::MDNode* n : notes->operands()) visit(*n);
}

// Where the vertices' labels are.
std::map<std::string, SourcePlace> labels_of(const std::vector<AssemblyUnit>& units) {
  std::map<std::string, SourcePlace> out;
  for (const AssemblyUnit& unit : units)
    for (const auto& [name, symbol] : unit.symbols)
      if (symbol.place.line > 0 && name.starts_with(kPrefix)) out.emplace(name, symbol.place);
  return out;
}

void drop_notes(llvm::Module& module) {
  if (llvm::NamedMDNode* notes = module.getNamedMetadata(kNote)) notes->eraseFromParent();
}

std::vector<AssemblyUnit> units_of(const llvm::Module& module) {
  std::vector<AssemblyUnit> out;
  for_each_file(module, [&](const llvm::MDNode& n) {
    Assembler assembler(text_of(n, 0));
    assembler.add(text_of(n, 1), {text_of(n, 0), 1});
    out.push_back(assembler.finish());
    if (!assembler.errors().empty()) throw std::runtime_error(fmt::format("{}", fmt::join(assembler.errors(), "\n")));
  });
  return out;
}

}  // namespace

std::string assembly_name(std::string_view vertex) {
  std::string out(kPrefix);
  for (const char c : vertex) {
    if (c == '<')
      out += "___";
    else if (c == ',' || c == ' ' || c == ':')
      out += '_';
    else if (c != '>')
      out += c;
  }
  return out;
}

std::string instructions_text() {
  std::string out;
  for (const InstructionRow& r : instruction_rows()) {
    const std::string pipe = r.pipe == IssuePipe::main ? "main" : r.pipe == IssuePipe::aux ? "aux" : "main or aux";
    out += fmt::format("{}\t{}\t{}\t{}\t{}\n", r.name, r.forms, pipe, r.slots, r.meaning);
  }
  return out;
}

std::vector<std::string> add_assembly(llvm::Module& module, const std::string& text, const std::string& file) {
  Assembler assembler(file);
  assembler.add(text, {file, 1});
  const AssemblyUnit unit = assembler.finish();
  if (!assembler.errors().empty()) return assembler.errors();
  llvm::LLVMContext& c = module.getContext();
  std::vector<llvm::Metadata*> operands = {llvm::MDString::get(c, file), llvm::MDString::get(c, text)};
  for (const auto& [name, symbol] : unit.symbols)
    if (symbol.is_global) operands.push_back(llvm::MDString::get(c, name));
  module.getOrInsertNamedMetadata(kNote)->addOperand(llvm::MDNode::get(c, operands));
  return {};
}

std::vector<std::string> assembled_symbols(const llvm::Module& module) {
  std::set<std::string> out;
  for_each_file(module, [&](const llvm::MDNode& n) {
    for (unsigned i = 2; i < n.getNumOperands(); ++i) out.insert(text_of(n, i));
  });
  return {out.begin(), out.end()};
}

BoundAssembly bind_assembly(llvm::Module& module, std::vector<Codelet>& codelets, const std::string& general) {
  BoundAssembly out;
  const bool any = std::any_of(codelets.begin(), codelets.end(), [&](const Codelet& c) { return !module.getFunction(c.entry); });
  if (!any) return drop_notes(module), out;
  std::vector<AssemblyUnit> units = units_of(module);
  const std::map<std::string, SourcePlace> labels = labels_of(units);
  const LinkedAssembly code(std::move(units));
  AssemblyFunctions functions(module, code, general);
  std::set<std::string> undefined;
  for (Codelet& c : codelets) {
    if (module.getFunction(c.entry)) continue;
    const std::string symbol = assembly_name(c.name);
    const std::uint32_t* address = code.find(symbol);
    if (!address) {
      undefined.insert(symbol);
      add_missing_entry(module, c);
      continue;
    }
    llvm::Function& run = functions.of(*address, symbol, c.kind == VertexKind::supervisor);
    add_assembly_entries(run, c);
    if (const auto label = labels.find(symbol); label != labels.end())
      keep_definition(module, c.entry, label->second.file, label->second.line);
    c.counting = CountedBy::run;
    c.in_assembly = c.addresses_tile = true;
    c.code_bytes = functions.code_bytes(*address);
    c.code_declared = true;
  }
  undefined.insert(functions.undefined().begin(), functions.undefined().end());
  out.undefined.assign(undefined.begin(), undefined.end());
  drop_notes(module);
  return out;
}

}  // namespace pando::popc
