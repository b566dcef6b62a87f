// popc, the codelet compiler.
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>

#include "base/files/output_file.h"
#include "base/files/write_all.h"
#include "base/version.h"
#include "codelet/popc/popc_version.h"
#include "codelet/store/code_lines.h"
#include "codelet/store/gp_file.h"
#include "popc/assembler/assemble.h"
#include "popc/assembler/inline/foreign_assembly.h"
#include "popc/assembler/inline/translate_inline.h"
#include "popc/assembly/assembled.h"
#include "popc/backend.h"
#include "popc/counting/count_module.h"
#include "popc/libraries.h"
#include "popc/options.h"
#include "popc/passes/checked.h"
#include "popc/passes/jumps.h"
#include "popc/passes/measure.h"
#include "popc/passes/needs.h"
#include "popc/passes/prints.h"
#include "popc/passes/relax_alignment.h"
#include "popc/passes/strided_entries.h"
#include "popc/passes/symbols.h"
#include "popc/passes/tile_globals.h"
#include "popc/paths.h"
#include "popc/processors.h"
#include "popc/program.h"
#include "popc/vertices/inline_python.h"
#include "popc/vertices/source_of.h"

namespace pando::popc {

namespace {

std::string bitcode_of(const llvm::Module& module) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  llvm::WriteBitcodeToFile(module, stream);
  return out;
}

void write_file(const std::string& name, const std::string& content) {
  if (name == "-") {
    if (!write_all(STDOUT_FILENO, content))
      throw std::runtime_error(std::string("cannot write to standard output: ") + std::strerror(errno));
    return;
  }
  if (const std::string why = write_output_file(name, content); !why.empty())
    throw std::runtime_error("cannot write '" + name + "': " + why);
}

std::vector<std::string> entries_of(const std::vector<Codelet>& codelets) {
  std::vector<std::string> out;
  for (const Codelet& c : codelets)
    out.insert(out.end(), {c.entry, c.entry + kStridedSuffix, c.entry + kCountedSuffix, c.entry + kDefinedSuffix});
  return out;
}

std::string ir_text(const llvm::Module& module) {
  std::string out;
  llvm::raw_string_ostream stream(out);
  module.print(stream, nullptr);
  return out;
}

// Without `..` and symbolic links: where these meet, a path that is shortened as text, as build systems do, names another file or none.
std::string real_path(const std::string& path) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  return error ? path : real.string();
}

// For make and ninja: what the output depends on.
void write_depfile(const Options& options, const std::vector<Dependency>& dependencies) {
  if (options.depfile.empty()) return;
  std::string text = options.output + ":";
  for (const Dependency& d : dependencies) text += " \\\n  " + real_path(d.path);
  write_file(options.depfile, text + "\n");
}

void optimise_for(llvm::Module& module, const Processor& processor, const Options& options, const std::vector<Codelet>& codelets) {
  compile_for(module, processor);
  if (options.checked) {
    keep_accesses_apart();
    announce_vertices(module, codelets);
  }
  optimise(module, options.level, options.short_loops, options.checked);
  drop_strided_entries(module, codelets);
  if (!options.checked) return;
  check_accesses(module);
  if (options.level != '0') tidy(module, options.level);
  if (llvm::verifyModule(module, &llvm::errs())) throw std::runtime_error("internal error: malformed IR");
}

bool has_lines(const Options& options) {
  return std::any_of(options.clang_flags.begin(), options.clang_flags.end(), [](const std::string& f) { return f.starts_with("-g"); });
}

// What a later link with checks has to be told: those give a module lines that nobody asked for.
std::string link_flags(const Options& options, const llvm::Module& module) {
  const bool lines = has_lines(options) || (!options.checked && module.getNamedMetadata("llvm.dbg.cu") != nullptr);
  return std::string("-O") + options.level + (options.checked ? " --checked" : "") + (lines ? " -g" : "");
}

std::vector<GpObject> make_objects(std::unique_ptr<llvm::Module> module, std::vector<CodeFor> made, const Options& options,
                                   const std::vector<Codelet>& codelets, const std::vector<CalledLibrary>& called,
                                   const std::vector<CalledLibrary>& of_sysroot, const llvm::Module* counting) {
  std::vector<std::string> linked;
  for (const CalledLibrary& library : of_sysroot) linked.push_back(library.path);
  if (linked.empty()) linked = system_libraries();
  for (const CalledLibrary& library : called) linked.push_back(library.path);
  std::vector<GpObject> out;
  for (CodeFor& code : made) {
    const std::unique_ptr<llvm::Module> own = &code == &made.back() ? std::move(module) : llvm::CloneModule(*module);
    optimise_for(*own, code.processor, options, codelets);
    std::vector<std::string> objects = {emit(*own, options.level, false)};
    if (counting) {
      const std::unique_ptr<llvm::Module> beside = llvm::CloneModule(*counting);
      compile_for(*beside, code.processor);
      if (options.checked) check_accesses(*beside);
      objects.push_back(emit(*beside, options.level, false));
    }
    code.object.code = link_shared(objects, linked);
    out.push_back(std::move(code.object));
  }
  return out;
}

int compile(const Options& options) {
  llvm::LLVMContext context;
  std::optional<Program> program = build_program(options, context);
  if (!program) return 1;
  llvm::Module& module = *program->module;

  GpFile gp;
  GpDescription& d = gp.description;
  d.defined = defined_symbols(module);
  const std::vector<std::string> assembled = assembled_symbols(module);
  d.defined.insert(d.defined.end(), assembled.begin(), assembled.end());
  std::sort(d.defined.begin(), d.defined.end());
  gp.bitcode = bitcode_of(module);
  d.build = popc_build();
  d.flags = link_flags(options, module);
  d.target = target_of(options);
  write_depfile(options, program->dependencies);
  if (options.bitcode_only) {
    d.libraries = program->libraries;
    for (const std::string& name : options.libraries) d.libraries.push_back(library_file(name));
    d.codelets = std::move(program->codelets);
    d.dependencies = std::move(program->dependencies);
    return write_file(options.output, write_gp(gp)), 0;
  }
  const std::vector<CalledLibrary> called = find_libraries(options, program->libraries), of_sysroot = libraries_of_sysroot(options);

  hide_internals(module, entries_of(program->codelets));
  add_loader_symbols(module);
  define_bounds_handlers(module);
  reject_assembled(module, program->codelets, options.inputs);
  translate_inline_assembly(module, program->codelets, general_processor(options));
  for (const std::string& function : replace_foreign_assembly(module))
    std::fprintf(stderr, "popc: warning: '%s' has assembly of an IPU: it will stop a program that gets there\n", function.c_str());
  const BoundAssembly bound = bind_assembly(module, program->codelets, general_processor(options));
  redirect_jumps(module, program->codelets);
  read_needs(module, program->codelets);
  d.undefined = undefined_symbols(module, called, of_sysroot);
  d.undefined.insert(d.undefined.end(), bound.undefined.begin(), bound.undefined.end());
  std::sort(d.undefined.begin(), d.undefined.end());
  relax_alignment(module);
  const TileGlobals globals = move_globals_to_tiles(module);
  mark_tile_users(module, program->codelets);
  redirect_prints(module);
  if (!options.strided || options.level == '0') remove_strided_entries(module);
  if (llvm::verifyModule(module, &llvm::errs())) throw std::runtime_error("internal error: malformed IR");
  std::vector<CodeFor> made = code_to_make(options, module);
  const bool prints_ir = options.action == Action::print_ir;
  if (prints_ir || options.action == Action::print_assembly) {
    optimise_for(module, made.back().processor, options, program->codelets);
    return write_file(options.output, prints_ir ? ir_text(module) : emit(module, options.level, true)), 0;
  }
  const bool prints_count = options.action == Action::print_count;
  // What a tile would have: checks cost neither cycles nor memory of the machine.
  const std::unique_ptr<llvm::Module> unchecked = options.checked ? without_checks(module, has_lines(options)) : nullptr;
  const llvm::Module& on_tile = unchecked ? *unchecked : module;
  Counting counting;
  if (prints_count || (options.counts && d.undefined.empty())) counting = count_codelets(on_tile, program->codelets, options, prints_count);
  if (prints_count) return std::fputs(counting.text.c_str(), stdout), 0;
  const std::unique_ptr<llvm::Module> counted = optimised_for_counting(on_tile);
  CodeSizes(*counted, program->codelets).measure(emit(*counted, 's', false), program->codelets);
  // A module that lacks symbols is never loaded: it is linked with others first, from the bitcode.
  if (d.undefined.empty())
    d.objects =
        make_objects(std::move(program->module), std::move(made), options, program->codelets, called, of_sysroot, counting.code.get());
  for (const CalledLibrary& library : called) d.libraries.push_back(library.file);
  d.codelets = std::move(program->codelets);
  d.globals_size = globals.size;
  d.globals_align = globals.align;
  d.dependencies = std::move(program->dependencies);
  write_file(options.output, write_gp(gp));
  return 0;
}

int describe_files(const Options& options) {
  for (const std::string& name : options.inputs) std::cout << describe(read_gp(read_file(name), name).description);
  return 0;
}

int find_source(const Options& options) {
  for (const std::string& name : options.inputs) {
    const GpFile gp = read_gp(read_file(name), name);
    const GpObject* const best = best_object(gp.description);  // an address is of the code that was loaded
    std::cout << source_of(best ? best->code : "", options.address) << '\n';
  }
  return 0;
}

int expand_files(const Options& options) {
  for (const std::string& name : options.inputs) std::cout << expand_inline_python(read_file(name), name);
  return 0;
}

int run(const Options& options) {
  const bool asks_about_popc = options.action == Action::list_targets || options.action == Action::list_instructions ||
                               options.action == Action::help || options.action == Action::version;
  if (options.inputs.empty() && !asks_about_popc) throw std::runtime_error("no input files");
  switch (options.action) {
    case Action::list_targets: std::puts(known_targets("\n").c_str()); return 0;
    case Action::list_instructions: std::fputs(instructions_text().c_str(), stdout); return 0;
    case Action::help: std::fputs(help_text().c_str(), stdout); return 0;
    case Action::version:
      std::printf("POPLAR version %s (Pando %s)\nclang version %d.%d.%d\n", popc_version().c_str(), std::string(version()).c_str(),
                  __clang_major__, __clang_minor__, __clang_patchlevel__);
      return 0;
    case Action::expand_python: return expand_files(options);
    case Action::source_of: return find_source(options);
    case Action::describe: return describe_files(options);
    default: return compile(options);
  }
}

}  // namespace

}  // namespace pando::popc

int main(int argc, char** argv) {
  try {
    return pando::popc::run(pando::popc::parse_options({argv + 1, argv + argc}));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "popc: error: %s\n", e.what());
    return 1;
  }
}
