#include "popc/backend.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/files/temporary.h"
#include "popc/passes/short_loops.h"
#include "popc/passes/strided_entries.h"
#include "popc/paths.h"

namespace pando::popc {

namespace {

using namespace llvm;

bool is_x86(const Module& module) { return Triple(module.getTargetTriple()).isX86(); }

// For functions that name none.
const char* least_processor(const Module& module) { return is_x86(module) ? "x86-64" : "generic"; }

// Of all that LLVM knows of this architecture, one with everything that codelets' builtins name. Of 64-bit Arm, one with vectors of a known
// size.
const char* counted_processor(const Module& module) { return is_x86(module) ? "sapphirerapids" : "apple-m2"; }

std::unique_ptr<TargetMachine> target_machine(const Module& module, char level) {
  static const bool ready = [] {
    InitializeAllTargetInfos();
    InitializeAllTargets();
    InitializeAllTargetMCs();
    InitializeAllAsmPrinters();
    InitializeAllAsmParsers();
    return true;
  }();
  static_cast<void>(ready);
  std::string error;
  const Target* target = TargetRegistry::lookupTarget(module.getTargetTriple(), error);
  if (!target) throw std::runtime_error(error);
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  options.EmitStackSizeSection = true;
  const auto effort = level == '0' ? CodeGenOptLevel::None : level == '3' ? CodeGenOptLevel::Aggressive : CodeGenOptLevel::Default;
  return std::unique_ptr<TargetMachine>(
      target->createTargetMachine(module.getTargetTriple(), least_processor(module), "", options, Reloc::PIC_, std::nullopt, effort));
}

// LLVM inlines more where calls are hot, as those in a vertex's loops are within the loop of its entry. Where entries call vertices, it
// does not see that loop: as much.
constexpr int kInlinedInLoops = 525;

OptimizationLevel pipeline_level(char level) {
  switch (level) {
    case '0': return OptimizationLevel::O0;
    case '1': return OptimizationLevel::O1;
    case '2': return OptimizationLevel::O2;
    case 's': return OptimizationLevel::Os;
    case 'z': return OptimizationLevel::Oz;
    default: return OptimizationLevel::O3;
  }
}

template <class Make>  // make(builder): the passes
void run_passes(Module& module, char level, const PipelineTuningOptions& tuning, Make make) {
  const auto machine = target_machine(module, level);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(machine.get(), tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  make(builder).run(module, modules);
}

void run_pipeline(Module& module, char level, const PipelineTuningOptions& tuning, bool short_loops) {
  run_passes(module, level, tuning, [&](PassBuilder& builder) {
    if (short_loops)
      builder.registerVectorizerStartEPCallback([](FunctionPassManager& passes, OptimizationLevel) {
        passes.addPass(LoopSimplifyPass());
        passes.addPass(LCSSAPass());
        passes.addPass(ShortLoops());
      });
    const OptimizationLevel chosen = pipeline_level(level);
    return level == '0' ? builder.buildO0DefaultPipeline(chosen) : builder.buildPerModuleDefaultPipeline(chosen);
  });
}

// A file that is gone when the scope ends.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    name = temporary_file();
    std::ofstream(name, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::remove(name.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  std::string read() const {
    std::ostringstream text;
    text << std::ifstream(name, std::ios::binary).rdbuf();
    return text.str();
  }

  std::string name;
};

}  // namespace

void optimise(Module& module, char level, bool short_loops, bool called) {
  PipelineTuningOptions tuning;
  if (called && level == '3') tuning.InlinerThreshold = kInlinedInLoops;
  tuning.LoopVectorization = tuning.SLPVectorization = level == '2' || level == '3';
  tuning.LoopInterleaving = tuning.LoopUnrolling = level != '0';
  run_pipeline(module, level, tuning, tuning.LoopVectorization && short_loops);
}

void tidy(Module& module, char level) {
  run_passes(module, level, {}, [](PassBuilder&) {
    FunctionPassManager of_function;
    of_function.addPass(EarlyCSEPass());
    of_function.addPass(InstCombinePass());
    of_function.addPass(EarlyCSEPass());
    ModulePassManager passes;
    passes.addPass(createModuleToFunctionPassAdaptor(std::move(of_function)));
    return passes;
  });
}

std::unique_ptr<Module> optimised_for_counting(const Module& module) {
  std::unique_ptr<Module> out = CloneModule(module);
  remove_strided_entries(*out);
  for (Function& f : *out) {
    if (f.getName().starts_with("asm:")) f.deleteBody();  // the size of assembly is known
    f.removeFnAttr("target-features");
    f.removeFnAttr("tune-cpu");
    f.addFnAttr("target-cpu", counted_processor(module));
    if (!f.hasFnAttribute(Attribute::OptimizeNone)) f.addFnAttr(Attribute::OptimizeForSize);
  }
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = tuning.LoopUnrolling = false;
  run_pipeline(*out, 's', tuning, false);
  return out;
}

void optimise_for_tiles(Module& module) {
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = tuning.LoopInterleaving = tuning.LoopUnrolling = false;
  run_pipeline(module, '2', tuning, false);
}

std::string emit(Module& module, char level, bool assembly) {
  const auto machine = target_machine(module, level);
  SmallVector<char, 0> bytes;
  raw_svector_ostream out(bytes);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, assembly ? CodeGenFileType::AssemblyFile : CodeGenFileType::ObjectFile))
    throw std::runtime_error("the target cannot write this kind of file");
  passes.run(module);
  return std::string(bytes.begin(), bytes.end());
}

std::string link_shared(const std::vector<std::string>& objects, const std::vector<std::string>& libraries) {
  const TemporaryFile output(""), messages("");
  std::vector<std::unique_ptr<TemporaryFile>> inputs;
  for (const std::string& object : objects) inputs.push_back(std::make_unique<TemporaryFile>(object));
  std::vector<std::string> arguments = {linker_path(), "-shared",     "-Bsymbolic", "--hash-style=gnu", "--eh-frame-hdr", "--as-needed",
                                        "-z",          "noexecstack", "-o",         output.name};
  for (const auto& input : inputs) arguments.push_back(input->name);
  arguments.insert(arguments.end(), libraries.begin(), libraries.end());
  const SmallVector<StringRef, 16> views(arguments.begin(), arguments.end());
  const std::optional<StringRef> redirects[] = {std::nullopt, StringRef(messages.name), StringRef(messages.name)};
  std::string error;
  const int status = sys::ExecuteAndWait(linker_path(), views, std::nullopt, redirects, 0, 0, &error);
  if (status != 0) throw std::runtime_error(linker_path() + ": " + error + messages.read());
  return output.read();
}

}  // namespace pando::popc
