#include "popc/program.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "codelet/store/gp_file.h"
#include "popc/frontend.h"
#include "popc/paths.h"

namespace pando::popc {

namespace {

Unit load_unit(const std::string& input, llvm::LLVMContext& context) {
  const std::string bytes = read_file(input);
  GpFile gp = read_gp(bytes, input);
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(gp.bitcode, input), context);
  if (!module) throw std::runtime_error("'" + input + "': " + llvm::toString(module.takeError()));
  Unit unit;
  unit.module = std::move(*module);
  unit.codelets = std::move(gp.description.codelets);
  unit.libraries = std::move(gp.description.libraries);
  unit.target = std::move(gp.description.target);
  unit.dependencies = {{std::filesystem::absolute(input).string(), content_hash(bytes)}};
  return unit;
}

// What popc writes, whatever its name: build systems like .o.
bool is_unit(const std::string& input) { return std::filesystem::path(input).extension() == ".gp" || is_gp_file(input); }

void reject_host_object(const std::string& input) {
  char begin[4] = {};
  std::ifstream(input, std::ios::binary).read(begin, sizeof begin);
  if (std::string_view(begin, sizeof begin) ==
      "\x7f"
      "ELF")
    throw std::runtime_error("'" + input +
                             "' is an object file of a host; popc links what it wrote itself (popc -c), and shared libraries with -l");
}

std::optional<Unit> read_unit(const Options& options, const std::string& input, llvm::LLVMContext& context) {
  const std::string extension = std::filesystem::path(input).extension().string();
  if (is_unit(input)) return load_unit(input, context);
  if (input != "-" && !std::ifstream(input)) throw std::runtime_error("cannot read '" + input + "'");
  if (std::filesystem::is_regular_file(input)) reject_host_object(input);
  return extension == ".S" ? compile_assembly(options, input, context) : compile_source(options, input, context);
}

bool same_state(const Codelet& a, const Codelet& b) {
  if (a.host_size != b.host_size || a.kind != b.kind || a.fields.size() != b.fields.size()) return false;
  for (std::size_t i = 0; i < a.fields.size(); ++i)
    if (a.fields[i].name != b.fields[i].name || a.fields[i].host_offset != b.fields[i].host_offset) return false;
  return true;
}

// A unit for another target than the program's, of nothing but vertices that the program has: a host takes one variant of a vertex.
bool is_other_variant(const Program& program, const Unit& unit, const std::string& target) {
  return unit.target != target && !unit.codelets.empty() && std::all_of(unit.codelets.begin(), unit.codelets.end(), [&](const Codelet& c) {
           return std::any_of(program.codelets.begin(), program.codelets.end(), [&](const Codelet& k) { return k.name == c.name; });
         });
}

// Partial objects for hosts come first, so that theirs are the variants that are taken.
std::vector<std::string> hosts_first(std::vector<std::string> inputs) {
  std::stable_partition(inputs.begin(), inputs.end(), [](const std::string& input) {
    return !is_unit(input) || read_gp(read_file(input), input).description.target == "cpu";
  });
  return inputs;
}

void add_codelets(Program& program, std::vector<Codelet>& codelets, const std::string& input) {
  for (Codelet& c : codelets) {
    const auto known = std::find_if(program.codelets.begin(), program.codelets.end(), [&](const Codelet& k) { return k.name == c.name; });
    if (known == program.codelets.end())
      program.codelets.push_back(std::move(c));
    else if (!same_state(*known, c))
      throw std::runtime_error("vertex '" + c.name + "' in '" + input + "' differs from the vertex of that name in another input");
  }
}

void add_dependencies(Program& program, std::vector<Dependency>& more) {
  for (Dependency& d : more) {
    const auto same = [&](const Dependency& known) { return known.path == d.path; };
    if (std::none_of(program.dependencies.begin(), program.dependencies.end(), same)) program.dependencies.push_back(std::move(d));
  }
}

bool lacks_python(const llvm::Module& module) {
  return std::any_of(module.begin(), module.end(), [](const llvm::Function& f) {
    return f.isDeclaration() && !f.use_empty() && (f.getName().starts_with("IPUpy_") || f.getName().starts_with("pyexec_event_repl_"));
  });
}

// The module behind libIPUpy.hpp, if it is installed and no input yet. Without it the symbols stay undefined.
void add_python_module(std::vector<std::string>& inputs) {
  const std::filesystem::path module = std::filesystem::path(library_directory()) / "libIPUpy.gp";
  const auto is_module = [&](const std::string& input) { return std::filesystem::path(input).filename() == module.filename(); };
  if (std::filesystem::exists(module) && std::none_of(inputs.begin(), inputs.end(), is_module)) inputs.push_back(module.string());
}

// Collects the linker's messages, which LLVM reports to the context.
struct LinkMessages : llvm::DiagnosticHandler {
  explicit LinkMessages(std::string& text) : text_(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream stream(text_);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }
  std::string& text_;
};

void link(llvm::Module& program, std::unique_ptr<llvm::Module> more, const std::string& input, llvm::LLVMContext& context) {
  std::string messages;
  context.setDiagnosticHandler(std::make_unique<LinkMessages>(messages));
  if (llvm::Linker::linkModules(program, std::move(more))) throw std::runtime_error("linking '" + input + "': " + messages);
  context.setDiagnosticHandler(std::make_unique<llvm::DiagnosticHandler>());
}

}  // namespace

std::optional<Program> build_program(const Options& options, llvm::LLVMContext& context) {
  Program program;
  bool failed = false;
  std::vector<std::string> inputs = hosts_first(options.inputs);
  std::string target;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string input = inputs[i];
    const bool is_last = i + 1 == inputs.size();
    std::optional<Unit> unit = read_unit(options, input, context);
    failed = failed || !unit;
    if (failed) continue;
    if (target.empty()) target = unit->target;
    add_dependencies(program, unit->dependencies);
    if (is_other_variant(program, *unit, target)) continue;
    add_codelets(program, unit->codelets, input);
    program.libraries.insert(program.libraries.end(), unit->libraries.begin(), unit->libraries.end());
    if (program.module)
      link(*program.module, std::move(unit->module), input, context);
    else
      program.module = std::move(unit->module);
    if (is_last && !options.bitcode_only && lacks_python(*program.module)) add_python_module(inputs);
  }
  if (failed) return std::nullopt;
  return program;
}

}  // namespace pando::popc
