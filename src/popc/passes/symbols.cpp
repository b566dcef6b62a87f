#include "popc/passes/symbols.h"

#include <dlfcn.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/Internalize.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <set>

#include "codelet/store/gp_file.h"

namespace pando::popc {

namespace {

using namespace llvm;

bool is_strong_definition(const GlobalValue& g) {
  return !g.isDeclaration() && g.hasExternalLinkage() && !g.hasAppendingLinkage() && !g.getName().starts_with(kEntryPrefix);
}

std::string library_of(const void* symbol) {
  Dl_info info;
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

bool in_system_libraries(const std::string& name) {
  static const std::vector<void*> handles = [] {
    std::vector<void*> out;
    for (const std::string& library : system_libraries())
      if (void* handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD)) out.push_back(handle);
    return out;
  }();
  return std::any_of(handles.begin(), handles.end(), [&](void* h) { return dlsym(h, name.c_str()) != nullptr; });
}

void define(Module& module, const char* name, Type* type) {
  module.getOrInsertGlobal(name, type);
  GlobalVariable* g = module.getGlobalVariable(name);
  g->setInitializer(Constant::getNullValue(type));
  g->setLinkage(GlobalValue::ExternalLinkage);
  g->setVisibility(GlobalValue::DefaultVisibility);
  g->setConstant(false);
  g->setDSOLocal(true);
}

}  // namespace

std::vector<std::string> system_libraries() {
  // One symbol of each library tells its path. GCC's support library comes with the C++ library.
  const void* symbols[] = {reinterpret_cast<const void*>(&std::terminate),
                           reinterpret_cast<const void*>(static_cast<double (*)(double, double)>(&::fmod)),
                           reinterpret_cast<const void*>(&std::puts), dlsym(RTLD_DEFAULT, "_Unwind_Resume")};
  std::vector<std::string> out;
  for (const void* symbol : symbols) {
    const std::string path = symbol ? library_of(symbol) : "";
    if (path.find(".so") != std::string::npos && std::find(out.begin(), out.end(), path) == out.end()) out.push_back(path);
  }
  return out;
}

std::vector<std::string> defined_symbols(const Module& module) {
  std::set<std::string> names;
  for (const GlobalValue& g : module.global_values())
    if (is_strong_definition(g)) names.insert(g.getName().str());
  return {names.begin(), names.end()};
}

std::vector<std::string> undefined_symbols(const Module& module, const std::vector<CalledLibrary>& called,
                                           const std::vector<CalledLibrary>& of_sysroot) {
  std::set<std::string> names;
  const auto look = [&](const GlobalValue& g) {
    if (!g.isDeclaration() || g.use_empty() || g.getName().starts_with("llvm.") || g.hasExternalWeakLinkage()) return;
    const std::string name = g.getName().str();
    if (std::any_of(called.begin(), called.end(), [&](const CalledLibrary& l) { return l.symbols.count(name) > 0; })) return;
    const auto has = [&](const CalledLibrary& l) { return l.symbols.count(name) > 0; };
    if (of_sysroot.empty() ? !in_system_libraries(name) : std::none_of(of_sysroot.begin(), of_sysroot.end(), has)) names.insert(name);
  };
  for (const Function& f : module) look(f);
  for (const GlobalVariable& v : module.globals()) look(v);
  return {names.begin(), names.end()};
}

void add_loader_symbols(Module& module) {
  define(module, kRuntimeSymbol, PointerType::getUnqual(module.getContext()));
  define(module, kModuleSlotSymbol, Type::getInt32Ty(module.getContext()));
  if (GlobalVariable* handle = module.getGlobalVariable("__dso_handle")) {
    handle->setInitializer(Constant::getNullValue(handle->getValueType()));
    handle->setLinkage(GlobalValue::InternalLinkage);
    handle->setVisibility(GlobalValue::DefaultVisibility);
  }
}

// The table's address and its entries never change while code runs.
Value* runtime_entry(IRBuilder<>& b, RuntimeEntry entry) {
  Module& module = *b.GetInsertBlock()->getModule();
  const auto invariant = [&](Value* from) {
    LoadInst* load = b.CreateLoad(b.getPtrTy(), from);
    load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(module.getContext(), {}));
    return load;
  };
  Value* table =
      invariant(module.getOrInsertGlobal(kRuntimeSymbol, b.getPtrTy()));  // defined elsewhere, where the module has counters alone
  return invariant(b.CreateConstGEP1_64(b.getPtrTy(), table, static_cast<unsigned>(entry)));
}

void hide_internals(Module& module, const std::vector<std::string>& kept) {
  std::set<std::string> names(kept.begin(), kept.end());
  names.insert({kRuntimeSymbol, kModuleSlotSymbol, kInitialiseGlobalsSymbol});
  for (const std::string& name : kept)
    if (Function* f = module.getFunction(name)) {
      f->setLinkage(GlobalValue::ExternalLinkage);
      f->setComdat(nullptr);
    }
  removeFromUsedLists(module, [](Constant*) { return true; });
  internalizeModule(module, [&](const GlobalValue& g) { return names.count(g.getName().str()) > 0; });
  for (GlobalObject& g : module.global_objects())
    if (!g.isDeclaration()) g.setComdat(nullptr);
  ModuleAnalysisManager manager;
  PassBuilder().registerModuleAnalyses(manager);
  GlobalDCEPass().run(module, manager);
}

}  // namespace pando::popc
