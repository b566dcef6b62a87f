#include "popc/processors.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticIDs.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/TargetInfo.h>
#include <clang/Basic/TargetOptions.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <stdexcept>

#include "codelet/store/cpu_features.h"

namespace pando::popc {

namespace {

constexpr const char* kGeneral = "pando-general";
constexpr const char* kHost = "native";

// As clang completes what -march= says.
Processor completed(const std::string& triple, const std::string& cpu, const std::vector<std::string>& features) {
  llvm::IntrusiveRefCntPtr<clang::DiagnosticsEngine> diagnostics(
      new clang::DiagnosticsEngine(new clang::DiagnosticIDs(), new clang::DiagnosticOptions(), new clang::IgnoringDiagConsumer()));
  auto options = std::make_shared<clang::TargetOptions>();
  options->Triple = triple;
  options->CPU = cpu;
  options->FeaturesAsWritten = features;
  const std::unique_ptr<clang::TargetInfo> target(clang::TargetInfo::CreateTargetInfo(*diagnostics, options));
  if (!target) throw std::runtime_error("clang does not know the processor '" + cpu + "'");
  std::vector<std::string> all = options->Features;
  llvm::sort(all);
  return {cpu, llvm::join(all, ",")};
}

Processor host_processor() {
  std::vector<std::string> features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) features.push_back((feature.second ? "+" : "-") + feature.first().str());
  return completed(llvm::sys::getDefaultTargetTriple(), llvm::sys::getHostCPUName().str(), features);
}

std::size_t rank_of(llvm::StringRef level) {
  const auto levels = processor_levels();
  const auto at = std::find_if(levels.begin(), levels.end(), [&](const ProcessorLevel& l) { return level == llvm::StringRef(l.name); });
  return static_cast<std::size_t>(at - levels.begin());  // of the host's processor: beyond all
}

bool is_general(const llvm::Function& f) { return f.hasFnAttribute(kGeneral); }

void reject_better_code(const llvm::Module& module, const std::string& level) {
  for (const llvm::Function& f : module) {
    const llvm::StringRef seen = f.getFnAttribute(kGeneral).getValueAsString();
    if (!f.isDeclaration() && !seen.empty() && rank_of(seen) > rank_of(level))
      throw std::runtime_error("'" + f.getName().str() + "' was compiled for " + (seen == kHost ? "this processor" : seen.str()) +
                               " and --levels wants code for " + level + ": compile it with -c --levels=" + level);
  }
}

}  // namespace

std::string front_end_processor(const Options& options) { return options.levels.empty() ? kHost : options.levels.front(); }

std::string general_processor(const Options& options) { return options.own_march ? "" : front_end_processor(options); }

void mark_general(llvm::Module& module, const Processor& seen, const std::string& march) {
  for (llvm::Function& f : module) {
    if (f.getFnAttribute("target-cpu").getValueAsString() != seen.cpu) continue;
    if (f.getFnAttribute("target-features").getValueAsString() != seen.features) continue;
    for (const char* attribute : {"target-cpu", "target-features", "tune-cpu"}) f.removeFnAttr(attribute);
    f.addFnAttr(kGeneral, march);
  }
}

std::vector<CodeFor> code_to_make(const Options& options, const llvm::Module& module) {
  const llvm::Triple seen(module.getTargetTriple()), wanted(options.triple.empty() ? llvm::sys::getDefaultTargetTriple() : options.triple);
  if (seen.getArch() != wanted.getArch())
    throw std::runtime_error("the code was compiled for " + seen.getArchName().str() + ", for " + wanted.getArchName().str() +
                             " was expected: --triple says which");
  std::vector<CodeFor> out;
  for (const std::string& name : options.levels) {
    reject_better_code(module, name);
    const ProcessorLevel* const level = processor_level(name);
    out.push_back({{name, level->features, 0, ""}, completed(llvm::sys::getDefaultTargetTriple(), name, {})});
  }
  if (!out.empty()) return out;
  if (!options.triple.empty()) return {{{"", {}, 0, ""}, completed(options.triple, "generic", {})}};
  const bool is_for_host = !options.own_march || std::any_of(module.begin(), module.end(), is_general);
  return {{{"", is_for_host ? host_cpu_features() : std::vector<std::string>(), 0, ""}, host_processor()}};
}

void compile_for(llvm::Module& module, const Processor& processor) {
  for (llvm::Function& f : module) {
    if (!is_general(f)) continue;
    f.removeFnAttr(kGeneral);
    f.addFnAttr("target-cpu", processor.cpu);
    f.addFnAttr("target-features", processor.features);
  }
}

}  // namespace pando::popc
