#include "popc/frontend.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/GlobalDecl.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Basic/TargetInfo.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Frontend/PreprocessorOutputOptions.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Sema/SemaConsumer.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codelet/store/gp_file.h"
#include "popc/assembler/assemble.h"
#include "popc/assembler/inline/foreign_assembly.h"
#include "popc/assembly/assembled.h"
#include "popc/assembly/clobbers.h"
#include "popc/counting/source_text.h"
#include "popc/given_names.h"
#include "popc/paths.h"
#include "popc/processors.h"
#include "popc/promotions.h"
#include "popc/vertices/definition.h"
#include "popc/vertices/entries.h"
#include "popc/vertices/inline_python.h"
#include "popc/vertices/reflect.h"

namespace pando::popc {

namespace {

using namespace clang;

struct Compute {
  std::string symbol;
  Codelet codelet;
  bool returns_bool;
  std::uint64_t offset;
  bool is_external;
  std::string file;  // where its class is defined
  unsigned line;
};

// As the compiler was given it, or as a prefix map changes it.
std::string file_of(const PresumedLoc& place, const LangOptions& options) {
  llvm::SmallString<128> path(place.isValid() ? place.getFilename() : "");
  options.remapPathPrefix(path);
  return path.str().str();
}

// Reflects when the whole file is parsed, and asks the code generator for the compute methods, which nothing else calls.
class ReflectingConsumer : public SemaConsumer {
 public:
  ReflectingConsumer(CodeGenerator& generator, std::vector<Compute>& computes) : generator_(generator), computes_(computes) {}

  void InitializeSema(Sema& sema) override {
    sema_ = &sema;
    find_given_names(sema);
  }
  void ForgetSema() override { sema_ = nullptr; }

  void HandleTranslationUnit(ASTContext& context) override {
    if (context.getDiagnostics().hasErrorOccurred() || !context.getLangOpts().CPlusPlus) return;
    std::vector<Reflected> reflected = reflect_codelets(*sema_);
    sema_->PerformPendingInstantiations();
    if (context.getDiagnostics().hasErrorOccurred()) return;
    for (Reflected& v : reflected) {
      std::string symbol;
      if (!v.is_external) {
        const GlobalDecl method(v.compute);
        generator_.GetAddrOfGlobal(method, false);
        symbol = generator_.GetMangledName(method).str();
      }
      const PresumedLoc place = context.getSourceManager().getPresumedLoc(v.defined);
      computes_.push_back({std::move(symbol), std::move(v.codelet), v.returns_bool, v.compute_offset, v.is_external,
                           file_of(place, context.getLangOpts()), place.isValid() ? place.getLine() : 0});
    }
  }

 private:
  CodeGenerator& generator_;
  std::vector<Compute>& computes_;
  Sema* sema_ = nullptr;
};

// Reports inline assembly that cannot be assembled, in code that vertices reach. Comes after the code generator.
class AssemblyConsumer : public ASTConsumer {
 public:
  AssemblyConsumer(CodeGenerator& generator, const std::vector<Compute>& computes) : generator_(generator), computes_(computes) {}

  void HandleTranslationUnit(ASTContext& context) override {
    DiagnosticsEngine& diagnostics = context.getDiagnostics();
    const llvm::Module* module = generator_.GetModule();
    if (diagnostics.hasErrorOccurred() || !module) return;
    std::vector<const llvm::Function*> roots;
    for (const Compute& c : computes_)
      if (const llvm::Function* f = c.is_external ? nullptr : module->getFunction(c.symbol)) roots.push_back(f);
    const unsigned id = diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "inline assembly of an IPU: '%0': %1");
    for (const ForeignStatement& s : foreign_assembly(roots))
      diagnostics.Report(SourceLocation::getFromRawEncoding(s.location), id) << s.text << s.why;
  }

 private:
  CodeGenerator& generator_;
  const std::vector<Compute>& computes_;
};

constexpr const char* kGiveHostsCpp = "assembly of an IPU, which a host cannot run; give hosts C++ instead (#ifndef __IPU__)";

// Prints what clang says. Where that is of a register that hosts do not have, adds why.
class Printer : public TextDiagnosticPrinter {
 public:
  Printer(llvm::raw_ostream& out, DiagnosticOptions* options) : TextDiagnosticPrinter(out, options), out_(out) {}

  void HandleDiagnostic(DiagnosticsEngine::Level level, const Diagnostic& diagnostic) override {
    TextDiagnosticPrinter::HandleDiagnostic(level, diagnostic);
    if (diagnostic.getID() != diag::err_asm_unknown_register_name) return;
    const PresumedLoc place = diagnostic.getSourceManager().getPresumedLoc(diagnostic.getLocation());
    if (place.isValid()) out_ << place.getFilename() << ":" << place.getLine() << ":" << place.getColumn() << ": note: ";
    out_ << kGiveHostsCpp << "\n";
  }

 private:
  llvm::raw_ostream& out_;
};

class GenerateAction : public ASTFrontendAction {
 public:
  explicit GenerateAction(llvm::LLVMContext& context) : context_(context) {}

  std::vector<Compute> computes;
  CodeGenerator* generator = nullptr;  // owned by the compiler instance's consumer
  std::unique_ptr<llvm::Module> module;

 protected:
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance& ci, llvm::StringRef file) override {
    accept_clobbers_of_workers(ci.getPreprocessor());
    generator = CreateLLVMCodeGen(ci.getDiagnostics(), file, &ci.getVirtualFileSystem(), ci.getHeaderSearchOpts(), ci.getPreprocessorOpts(),
                                  ci.getCodeGenOpts(), context_);
    std::vector<std::unique_ptr<ASTConsumer>> consumers;
    consumers.push_back(std::make_unique<ReflectingConsumer>(*generator, computes));
    consumers.emplace_back(generator);
    consumers.push_back(std::make_unique<AssemblyConsumer>(*generator, computes));
    return std::make_unique<MultiplexConsumer>(std::move(consumers));
  }

  void EndSourceFileAction() override {
    if (!getCompilerInstance().getDiagnostics().hasErrorOccurred()) module.reset(generator->ReleaseModule());
  }

 private:
  llvm::LLVMContext& context_;
};

// The identifiers of a file as an IPU's assembler sees them.
class CollectNamesAction : public PreprocessorFrontendAction {
 public:
  std::vector<std::string> names;

 protected:
  void ExecuteAction() override {
    Preprocessor& preprocessor = getCompilerInstance().getPreprocessor();
    preprocessor.EnterMainSourceFile();
    Token token;
    for (preprocessor.Lex(token); token.isNot(tok::eof); preprocessor.Lex(token))
      if (const IdentifierInfo* name = token.getIdentifierInfo()) names.push_back(name->getName().str());
  }
};

std::string language_of(const Options& options, const std::string& input) {
  const std::string extension = std::filesystem::path(input).extension().string();
  if (extension == ".S") return "assembler-with-cpp";
  return options.is_c || extension == ".c" ? "c" : "c++";
}

std::vector<std::string> clang_arguments(const Options& options, const std::string& input) {
  const std::string include = include_directory();
  std::vector<std::string> a = {"clang",
                                "-resource-dir",
                                PANDO_CLANG_RESOURCE_DIR,
                                "-c",
                                "-fno-strict-aliasing",
                                "-ffp-contract=off",
                                "-fno-strict-return",
                                "-fno-math-errno",
                                "-fno-semantic-interposition",
                                "-fPIC",
                                "-fexceptions",
                                "-fasynchronous-unwind-tables",
                                "-Wno-unknown-attributes",
                                "-Wno-ignored-attributes",
                                "-Wno-invalid-feature-combination",
                                "-D__POPC__=1",
                                std::string("-D") + kGivesWayMacro + "=1",
                                std::string("-O") + options.level};
  if (!options.triple.empty()) a.insert(a.end(), {"--target=" + options.triple, "--sysroot=" + options.sysroot});
  if (!options.own_march && options.triple.empty()) a.push_back("-march=" + front_end_processor(options));
  if (options.checked) a.insert(a.end(), {"-gline-tables-only", "-fsanitize=array-bounds", "-fno-sanitize-recover=array-bounds"});
  if (options.ipu_version > 0) a.insert(a.end(), {"-D__IPU__=1", "-D__IPU_ARCH_VERSION__=" + std::to_string(options.ipu_version)});
  const std::string language = language_of(options, input);
  if (language == "c++") a.insert(a.end(), {"-std=gnu++17", "-include", include + "/pando/before_codelets.h"});
  a.insert(a.end(), options.clang_flags.begin(), options.clang_flags.end());
  if (input != "-") a.push_back("-I" + std::filesystem::absolute(input).parent_path().string());
  a.insert(a.end(), {"-isystem", include, "-isystem", include + "/poplar"});
  a.insert(a.end(), {"-x", language, input});
  return a;
}

std::shared_ptr<CompilerInvocation> invocation_of(const Options& options, const std::string& input,
                                                  llvm::IntrusiveRefCntPtr<DiagnosticsEngine> diagnostics) {
  const std::vector<std::string> arguments = clang_arguments(options, input);
  std::vector<const char*> pointers;
  for (const std::string& a : arguments) pointers.push_back(a.c_str());
  CreateInvocationOptions how;
  how.Diags = diagnostics;
  std::shared_ptr<CompilerInvocation> invocation = createInvocation(pointers, how);
  if (!invocation || diagnostics->hasErrorOccurred()) return nullptr;
  invocation->getLangOpts().setFloat16ExcessPrecision(LangOptions::FPP_None);  // half rounds after each operation
  return invocation;
}

// Sets up clang for the input; false if the flags are wrong.
bool prepare(CompilerInstance& ci, const Options& options, const std::string& input) {
  llvm::IntrusiveRefCntPtr<DiagnosticOptions> diagnostic_options = new DiagnosticOptions();
  const auto invocation = invocation_of(options, input, CompilerInstance::createDiagnostics(diagnostic_options.get()));
  if (!invocation) return false;
  ci.setInvocation(invocation);
  ci.getFrontendOpts().DisableFree = false;
  ci.createDiagnostics(new Printer(llvm::errs(), &ci.getDiagnosticOpts()));
  allow_promotions_of_half(ci);
  return true;
}

// The names in an assembly file that an IPU would see. What its preprocessor complains of is not reported.
std::vector<std::string> names_for_ipus(Options options, const std::string& input) {
  CompilerInstance ci;
  if (options.ipu_version == 0) options.ipu_version = 2;
  if (!prepare(ci, options, input)) return {};
  ci.getDiagnostics().setClient(new IgnoringDiagConsumer);
  CollectNamesAction action;
  ci.ExecuteAction(action);
  return std::move(action.names);
}

std::vector<Dependency> files_read(CompilerInstance& ci) {
  std::vector<Dependency> out;
  const SourceManager& sources = ci.getSourceManager();
  for (unsigned i = 0; i < sources.local_sloc_entry_size(); ++i) {
    const SrcMgr::SLocEntry& entry = sources.getLocalSLocEntry(i);
    if (!entry.isFile()) continue;
    const SrcMgr::ContentCache& content = entry.getFile().getContentCache();
    const auto text = content.getBufferDataIfLoaded();
    if (!content.OrigEntry || !text || content.OrigEntry->getName().starts_with("<")) continue;
    const std::string path = std::filesystem::absolute(content.OrigEntry->getName().str()).string();  // as found: ".." may follow a link
    const auto same = [&](const Dependency& known) { return known.path == path; };
    if (std::none_of(out.begin(), out.end(), same)) out.push_back({path, content_hash({text->data(), text->size()})});
  }
  return out;
}

// The text of a file as it was compiled.
std::optional<std::string> text_of(CompilerInstance& ci, const std::string& path) {
  const SourceManager& sources = ci.getSourceManager();
  for (unsigned i = 0; i < sources.local_sloc_entry_size(); ++i) {
    const SrcMgr::SLocEntry& entry = sources.getLocalSLocEntry(i);
    if (!entry.isFile()) continue;
    const SrcMgr::ContentCache& content = entry.getFile().getContentCache();
    const auto text = content.getBufferDataIfLoaded();
    if (!content.OrigEntry || !text) continue;
    const std::string name = content.OrigEntry->getName().str();
    if (name == path || std::filesystem::absolute(name).lexically_normal() == path) return text->str();
  }
  return std::nullopt;
}

// What clang compiles in the place of a source with inline Python. `hash`: of the source.
struct Expanded {
  std::string text;
  std::uint64_t hash = 0;
};

// Nothing if there is no inline Python in it.
std::optional<Expanded> expand_python(const std::string& input) {
  if (input == "-") return std::nullopt;
  std::ostringstream source;
  source << std::ifstream(input, std::ios::binary).rdbuf();
  const std::string text = source.str();
  if (!has_inline_python(text)) return std::nullopt;
  return Expanded{expand_inline_python(text, input), content_hash(text)};
}

// What clang gives to functions that say nothing of a processor.
Processor seen_by(CompilerInstance& ci) {
  std::vector<std::string> features = ci.getTarget().getTargetOpts().Features;
  llvm::sort(features);
  return {ci.getTarget().getTargetOpts().CPU, llvm::join(features, ",")};
}

void compile_instead(CompilerInstance& ci, const std::string& input, const Expanded& expanded) {
  ci.getPreprocessorOpts().addRemappedFile(input, llvm::MemoryBuffer::getMemBufferCopy(expanded.text, input).release());
}

}  // namespace

std::optional<Unit> compile_source(const Options& options, const std::string& input, llvm::LLVMContext& context) {
  CompilerInstance ci;
  if (!prepare(ci, options, input)) return std::nullopt;
  const std::optional<Expanded> expanded = expand_python(input);
  if (expanded) compile_instead(ci, input, *expanded);
  GenerateAction action(context);
  if (!ci.ExecuteAction(action) || !action.module) return std::nullopt;

  Unit unit;
  unit.module = std::move(action.module);
  if (!options.own_march) mark_general(*unit.module, seen_by(ci), front_end_processor(options));
  unit.dependencies = files_read(ci);
  if (llvm::any_of(options.clang_flags, [](const std::string& f) { return f.starts_with("-g"); }))
    keep_sources(*unit.module, [&](const std::string& path) { return text_of(ci, path); });
  unit.target = target_of(options);
  if (expanded) {
    const std::string path = std::filesystem::absolute(input).string();
    for (Dependency& d : unit.dependencies)
      if (d.path == path) d.hash = expanded->hash;
  }
  for (Compute& c : action.computes) {
    llvm::Function* compute = unit.module->getFunction(c.symbol);
    c.codelet.entry = kEntryPrefix + c.codelet.name;
    if (c.line > 0) keep_definition(*unit.module, c.codelet.entry, c.file, c.line);
    if (c.is_external) {
      unit.codelets.push_back(std::move(c.codelet));
      continue;
    }
    add_entry(*compute, c.codelet.entry, c.codelet.kind, c.returns_bool, c.offset);
    add_strided_entry(*compute, c.codelet, c.returns_bool, c.offset);
    unit.codelets.push_back(std::move(c.codelet));
  }
  return unit;
}

// The text behind the preprocessor, with markers of its lines; nothing if that has complained.
std::optional<std::string> preprocessed(CompilerInstance& ci) {
  class Action : public PreprocessorFrontendAction {
   public:
    std::string text;

   protected:
    void ExecuteAction() override {
      llvm::raw_string_ostream out(text);
      PreprocessorOutputOptions options;
      options.ShowCPP = options.ShowLineMarkers = true;
      DoPrintPreprocessedInput(getCompilerInstance().getPreprocessor(), &out, options);
    }
  };
  Action action;
  if (!ci.ExecuteAction(action)) return std::nullopt;
  return std::move(action.text);
}

std::optional<Unit> compile_assembly(const Options& options, const std::string& input, llvm::LLVMContext& context) {
  CompilerInstance ci;
  if (!prepare(ci, options, input)) return std::nullopt;
  const std::optional<std::string> text = preprocessed(ci);
  if (!text) return std::nullopt;
  Unit unit;
  unit.module = std::make_unique<llvm::Module>(input, context);
  const auto& target = ci.getTarget();
  unit.module->setTargetTriple(target.getTriple().str());
  unit.module->setDataLayout(target.getDataLayoutString());
  unit.dependencies = files_read(ci);
  unit.target = target_of(options);
  const std::vector<std::string> errors = add_assembly(*unit.module, *text, input);
  for (const std::string& e : errors) llvm::errs() << e << "\n";
  if (!errors.empty()) return std::nullopt;
  note_assembled(*unit.module, names_for_ipus(options, input), input);
  return unit;
}

}  // namespace pando::popc
