#include "popc/assembly/assembled.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string_view>

#include "popc/assembler/assemble.h"
#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr const char* kNote = "pando.assembled";
constexpr std::string_view kPrefix = "__runCodelet_";

std::map<std::string, std::string> files_by_name(const Module& module) {
  std::map<std::string, std::string> out;
  const NamedMDNode* notes = module.getNamedMetadata(kNote);
  if (!notes) return out;
  const auto text = [](const MDNode* n, unsigned i) { return cast<MDString>(n->getOperand(i))->getString().str(); };
  for (const MDNode* n : notes->operands()) out.emplace(text(n, 0), text(n, 1));
  return out;
}

Function* compute_of(const Module& module, const Codelet& codelet) {
  const Function* entry = module.getFunction(codelet.entry);
  if (!entry) return nullptr;
  for (const Instruction& i : instructions(*entry))
    if (const auto* call = dyn_cast<CallInst>(&i); call && !isa<IntrinsicInst>(call)) return call->getCalledFunction();
  return nullptr;
}

// Calls nothing and writes nothing but its own locals.
bool does_nothing(const Function& f) {
  return std::all_of(inst_begin(f), inst_end(f), [](const Instruction& i) {
    if (const auto* store = dyn_cast<StoreInst>(&i)) return isa<AllocaInst>(store->getPointerOperand());
    return !isa<CallBase>(i) || isa<IntrinsicInst>(i);
  });
}

void stop_instead(Function& compute, const std::string& what) {
  IRBuilder<> b(&*compute.getEntryBlock().getFirstInsertionPt());
  b.CreateCall(FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false), runtime_entry(b, RuntimeEntry::trap), {b.CreateGlobalString(what)});
}

}  // namespace

void note_assembled(Module& module, const std::vector<std::string>& names, const std::string& file) {
  LLVMContext& c = module.getContext();
  for (const std::string& name : names)
    if (name.compare(0, kPrefix.size(), kPrefix) == 0)
      module.getOrInsertNamedMetadata(kNote)->addOperand(MDNode::get(c, {MDString::get(c, name), MDString::get(c, file)}));
}

void reject_assembled(Module& module, const std::vector<Codelet>& codelets, const std::vector<std::string>& inputs) {
  const std::map<std::string, std::string> files = files_by_name(module);
  for (const Codelet& c : codelets) {
    const auto noted = files.find(assembly_name(c.name));
    const bool writes = std::any_of(c.fields.begin(), c.fields.end(), [](const Field& f) { return f.is_written(); });
    Function* compute = noted != files.end() && writes ? compute_of(module, c) : nullptr;
    if (!compute || !does_nothing(*compute)) continue;
    const std::string what =
        "vertex '" + c.name + "' is in assembly of an IPU, in '" + noted->second + "', and its compute() in C++ does nothing";
    if (std::find(inputs.begin(), inputs.end(), noted->second) != inputs.end())
      throw std::runtime_error(what + ": give it a body for hosts");
    std::fprintf(stderr, "popc: warning: %s: it will stop the program\n", what.c_str());
    stop_instead(*compute, what);
  }
}

}  // namespace pando::popc
