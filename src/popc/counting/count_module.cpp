#include "popc/counting/count_module.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include <map>
#include <stdexcept>

#include "codelet/store/gp_file.h"
#include "machine/machine.h"
#include "popc/assembler/translate/function.h"
#include "popc/backend.h"
#include "popc/counting/block_counts.h"
#include "popc/counting/instrument.h"
#include "popc/counting/line_table.h"
#include "popc/counting/memory_blocks.h"
#include "popc/counting/patterns.h"
#include "popc/passes/checked.h"
#include "popc/passes/strided_entries.h"

namespace pando::popc {

namespace {

using namespace llvm;

// compute() of a codelet: what its entry calls.
struct Compute {
  Function* function = nullptr;
  std::uint64_t offset = 0;
  bool returns_bool = false;
};

Compute compute_of(Module& module, const Codelet& codelet) {
  Function* entry = module.getFunction(codelet.entry);
  if (!entry) return {};
  for (Instruction& i : instructions(*entry)) {
    auto* call = dyn_cast<CallInst>(&i);
    Function* f = call && !isa<IntrinsicInst>(call) ? call->getCalledFunction() : nullptr;
    if (!f || f->isDeclaration() || f->arg_empty()) continue;
    APInt offset(64, 0);
    call->getArgOperand(0)->stripAndAccumulateConstantOffsets(module.getDataLayout(), offset, true);
    return {f, offset.getZExtValue(), f->getReturnType()->isIntegerTy(1)};
  }
  return {};
}

// Builtins stay whole until their instructions are selected: what optimises their callers takes them for such.
void keep_builtins(Module& module) {
  for (Function& f : module) {
    const std::string name = builtin_name(f);
    if (name.empty()) continue;
    const StringRef n = name;
    const bool reads_state = n.starts_with("get") || n.starts_with("urand") || n.ends_with("grand");
    if (!f.isDeclaration()) f.removeFnAttr(Attribute::AlwaysInline), f.addFnAttr(Attribute::NoInline);
    f.setMemoryEffects(n == "get_worker_id" ? MemoryEffects::readOnly()
                       : reads_state        ? MemoryEffects::inaccessibleMemOnly()
                                            : MemoryEffects::none());
    f.setDoesNotThrow();
    f.setWillReturn();
  }
}

void release_builtins(Module& module) {
  for (Function& f : module)
    if (!builtin_name(f).empty()) f.removeFnAttr(Attribute::NoInline);
}

// What the program's object has: variables that code changes are in the tiles by now, all others are constants or the loader's.
void share_globals(Module& module) {
  if (GlobalVariable* constructors = module.getGlobalVariable("llvm.global_ctors")) constructors->eraseFromParent();
  for (GlobalVariable& g : module.globals()) {
    if (g.isDeclaration() || g.isConstant() || g.hasLocalLinkage()) continue;
    g.setInitializer(nullptr);
    g.setLinkage(GlobalValue::ExternalLinkage);
  }
  for (GlobalObject& g : module.global_objects()) {
    g.setComdat(nullptr);
    if (!g.isDeclaration()) g.setLinkage(GlobalValue::InternalLinkage);
  }
}

// Where an edge lies, and how long it is, does not change while compute() runs: stores to elements, which could be anywhere as far as C++
// knows, do not make code read it again. A tile's compiler knows by the types.
void mark_invariant_edges(Module& module) {
  MDNode* const nothing = MDNode::get(module.getContext(), {});
  SmallVector<LoadInst*, 32> sizes;
  for (Function& f : module) {
    const StringRef name = f.getName();
    if (!name.starts_with("_ZN6poplar") && !name.starts_with("_ZNK6poplar")) continue;
    const bool is_view = name.contains("VectorView") || name.contains("ScalarEdges");
    for (Instruction& i : instructions(f)) {
      auto* load = dyn_cast<LoadInst>(&i);
      if (!load || !(load->getType()->isPointerTy() || (is_view && load->getType()->isIntegerTy(64)))) continue;
      const auto* self = dyn_cast<LoadInst>(getUnderlyingObject(load->getPointerOperand()));  // of the variable that holds `this`
      if (!self || !isa<AllocaInst>(self->getPointerOperand())) continue;
      load->setMetadata(LLVMContext::MD_invariant_load, nothing);
      if (load->getType()->isIntegerTy()) sizes.push_back(load);
    }
  }
  // A size has 32 bits on a tile, as what loops count with: no loop wraps around before it gets there.
  for (LoadInst* size : sizes) {
    IRBuilder<> b(size->getNextNode());
    auto* narrow = cast<Instruction>(b.CreateTrunc(size, b.getInt32Ty()));
    Value* wide = b.CreateZExt(narrow, size->getType());
    size->replaceUsesWithIf(wide, [&](const Use& use) { return use.getUser() != narrow; });
  }
}

void prepare(Module& module, const Options& options) {
  remove_strided_entries(module);
  mark_invariant_edges(module);
  share_globals(module);
  for (Function& f : module) {
    f.addFnAttr("no-builtins");  // a loop stays a loop: no memset, no memcpy
    if (options.level != '0' || !f.hasFnAttribute(Attribute::OptimizeNone)) continue;
    f.removeFnAttr(Attribute::OptimizeNone);
    f.removeFnAttr(Attribute::NoInline);
  }
  keep_builtins(module);
  if (Function* slots = module.getFunction(kInlineSlots)) slots->deleteBody();  // it has effects that the optimiser does not see yet
  for (Function& f : module)
    if (f.getName().starts_with(kAssemblyPrefix) && !f.isDeclaration())
      f.removeFnAttr(Attribute::AlwaysInline), f.addFnAttr(Attribute::NoInline);
}

// A function and all that it calls, but builtins.
SetVector<Function*> reached_from(Function& f) {
  SetVector<Function*> reached;
  reached.insert(&f);
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (Instruction& instruction : instructions(*reached[i])) {
      const auto* call = dyn_cast<CallBase>(&instruction);
      Function* callee = call ? call->getCalledFunction() : nullptr;
      if (callee && !callee->isDeclaration() && builtin_name(*callee).empty() && !callee->getName().starts_with(kAssemblyPrefix))
        reached.insert(callee);
    }
  return reached;
}

void expand_all_memory_blocks(Module& module) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  FunctionPassManager tidy;
  tidy.addPass(InstCombinePass());
  tidy.addPass(SimplifyCFGPass());
  for (Function& f : module)
    if (expand_memory_blocks(f)) tidy.run(f, functions);
}

// The functions that are selected, each once.
class Selection {
 public:
  explicit Selection(unsigned most_repeats) : most_repeats_(most_repeats) {
    PassBuilder builder;
    builder.registerModuleAnalyses(modules_);
    builder.registerCGSCCAnalyses(components_);
    builder.registerFunctionAnalyses(functions_);
    builder.registerLoopAnalyses(loops_);
    builder.crossRegisterProxies(loops_, functions_, components_, modules_);
  }

  const SelectedFunction& of(Function& f) {
    const auto [at, added] = selected_.try_emplace(&f);
    if (!added) return at->second;
    order_.push_back(&f);
    LoopSimplifyPass().run(f, functions_);
    functions_.invalidate(f, PreservedAnalyses::none());
    auto& loops = functions_.getResult<LoopAnalysis>(f);
    LoopShapes shapes(f, loops, functions_.getResult<ScalarEvolutionAnalysis>(f), most_repeats_);
    selected_[&f] = select(f, shapes, loops, functions_.getResult<AAManager>(f));
    return selected_[&f];
  }

  // The first reason why one of them cannot be counted.
  std::string select_all(const SetVector<Function*>& reached) {
    for (Function* f : reached)
      if (const std::string& why = of(*f).rejection; !why.empty()) return why;
    return "";
  }

  const SelectedFunction& known(const Function& f) const { return selected_.at(const_cast<Function*>(&f)); }

  void instrument_all() {
    for (Function* f : order_)
      if (selected_[f].rejection.empty()) instrument(*f, selected_[f]);
  }

  std::string text() const {
    std::string out;
    for (Function* f : order_) out += print(selected_.at(f), demangle(f->getName().str()));
    return out;
  }

 private:
  const unsigned most_repeats_;
  LoopAnalysisManager loops_;
  FunctionAnalysisManager functions_;
  CGSCCAnalysisManager components_;
  ModuleAnalysisManager modules_;
  std::map<Function*, SelectedFunction> selected_;  // looked up, never iterated
  std::vector<Function*> order_;
};

bool has_fast_math(Function& f) {
  return any_of(instructions(f), [](const Instruction& i) {
    return isa<FPMathOperator>(i) && (i.hasAllowReassoc() || i.hasAllowContract() || i.hasAllowReciprocal() || i.hasApproxFunc());
  });
}

bool has_inline_assembly(Function& f) {
  return any_of(instructions(f), [](const Instruction& i) {
    const auto* call = dyn_cast<CallBase>(&i);
    return call && call->getCalledFunction() && call->getCalledFunction()->getName().starts_with(kAssemblyPrefix);
  });
}

bool reads_cycles_anywhere(Function& f) {
  return any_of(instructions(f), [](const Instruction& i) {
    const auto* call = dyn_cast<CallBase>(&i);
    return call && reads_cycles(*call);
  });
}

void remove(Module& module, const std::string& name) {
  if (Function* f = module.getFunction(name)) f->eraseFromParent();
}

constexpr unsigned kMostBlocks = 1000;  // of a codelet, for its cycles by line

// Cycles by line of codelets that were compiled with lines: copies of their functions count blocks, too.
class Lines {
 public:
  explicit Lines(const Module& module) : table_(module) {}

  // Of a codelet that is counted, before its functions are instrumented. Inline assembly counts itself: it has no blocks here.
  void add(const Codelet& codelet, const SetVector<Function*>& reached, const Selection& selection) {
    if (!reached.front()->getSubprogram() || any_of(reached, [](Function* f) { return has_inline_assembly(*f); })) return;
    SelectedFunctions functions;
    for (Function* f : reached) functions.emplace_back(f, &selection.known(*f));
    CodeLines lines = table_.of(functions, kStubSlots);
    if (lines.blocks.size() > kMostBlocks) return;
    Known& known = known_[codelet.entry];
    known.lines = std::move(lines);
    for (Function* f : reached) {
      known.functions.push_back(f);
      blocks_.copy(*f, selection.known(*f));
    }
  }
  void instrument_all(Module& module) { blocks_.instrument_all(module); }

  void add_entries(const Codelet& codelet, std::uint64_t offset, bool returns_bool, bool needs_place) {
    const auto at = known_.find(codelet.entry);
    if (at == known_.end()) return;
    const CountedBlocks blocks = blocks_.blocks_of(at->second.functions);
    Function& compute = *blocks_.copy_of(*at->second.functions.front());
    compute.removeFnAttr(Attribute::NoInline);
    add_counted_entry(compute, codelet, offset, returns_bool, &blocks);
    if (!needs_place) add_count_entry(compute, codelet, offset, &blocks);
  }

  // Behind the choice of the codelet's own entries: the one beside it stays, with the table.
  void choose(Module& module, const Codelet& codelet) const {
    const auto at = known_.find(codelet.entry);
    if (at == known_.end()) return;
    const std::string count = codelet.entry + kCountBlocksSuffix, counted = codelet.entry + kCountedBlocksSuffix;
    const bool is_run = codelet.counting == CountedBy::run;
    Function* const f = module.getFunction(is_run ? counted : count);
    const Reads reads = f && !is_run ? reads_of(*f, codelet) : Reads{};
    const bool keeps = f && codelet.counting != CountedBy::nothing && reads.whole && !reads.written_edges &&
                       !(reads.edges && codelet.counting == CountedBy::sizes);
    if (!keeps || is_run) remove(module, count);
    if (!keeps || !is_run) remove(module, counted);
    if (keeps) add_table(module, codelet, at->second.lines);
  }

 private:
  struct Known {
    CodeLines lines;
    std::vector<const Function*> functions;
  };

  static void add_table(Module& module, const Codelet& codelet, const CodeLines& lines) {
    LLVMContext& c = module.getContext();
    const std::string bytes = bytes_of(lines);
    Constant* const table =
        ConstantStruct::getAnon({ConstantInt::get(Type::getInt64Ty(c), bytes.size()), ConstantDataArray::getString(c, bytes, false)}, true);
    new GlobalVariable(module, table->getType(), true, GlobalValue::ExternalLinkage, table, codelet.entry + kLinesSuffix);
  }

  LineTable table_;
  BlockCounts blocks_;
  std::map<std::string, Known> known_;  // by entry; looked up, never iterated
};

// Which of its two entries a codelet keeps.
void choose(Module& module, Codelet& codelet, bool needs_place, bool is_exact) {
  const std::string count = codelet.entry + kCountSuffix, counted = codelet.entry + kCountedSuffix;
  Function* f = module.getFunction(count);
  const Reads reads = f ? reads_of(*f, codelet) : Reads{false, false, false};
  if (!needs_place && reads.whole && !reads.written_edges) {
    codelet.counting = reads.edges ? CountedBy::inputs : CountedBy::sizes;
    return remove(module, counted);
  }
  remove(module, count);
  if (is_exact) {
    codelet.counting = CountedBy::run;
    return;
  }
  remove(module, counted);
  codelet.uncounted = "its control depends on what it writes, and -ffast-math lets results depend on how code is optimised";
}

}  // namespace

Counting count_codelets(const Module& program, std::vector<Codelet>& codelets, const Options& options, bool prints) {
  Counting out;
  std::unique_ptr<Module> code = CloneModule(program);
  std::map<std::string, Compute> computes;
  for (const Codelet& c : codelets)
    if (!c.in_assembly) computes[c.entry] = compute_of(*code, c);
  prepare(*code, options);
  for (auto& [entry, compute] : computes) {
    if (!compute.function) continue;
    compute.function->setLinkage(GlobalValue::ExternalLinkage);
    compute.function->removeFnAttr(Attribute::AlwaysInline);
    compute.function->addFnAttr(Attribute::NoInline);
  }
  for (const Codelet& c : codelets) {
    remove(*code, c.entry);
    remove(*code, c.entry + kCountedSuffix);  // of assembly, which counts itself
  }
  remove(*code, kInitialiseGlobalsSymbol);
  optimise_for_tiles(*code);

  expand_all_memory_blocks(*code);

  Selection selection(find_machine("ipu2")->rpt_count_max);
  Lines lines(*code);
  std::map<std::string, bool> needs_place, is_exact;
  for (Codelet& c : codelets) {
    if (c.in_assembly) continue;
    Function* compute = computes[c.entry].function;
    if (c.kind == VertexKind::supervisor)
      c.uncounted = "it is a supervisor vertex";
    else if (!compute)
      c.uncounted = "it uses setjmp";
    if (!c.uncounted.empty()) continue;
    const SetVector<Function*> reached = reached_from(*compute);
    c.uncounted = selection.select_all(reached);
    needs_place[c.entry] = any_of(reached, [](Function* f) { return reads_cycles_anywhere(*f); });
    const bool reads_cycles = needs_place[c.entry];
    needs_place[c.entry] = reads_cycles || any_of(reached, [](Function* f) { return has_inline_assembly(*f); });
    is_exact[c.entry] = none_of(reached, [](Function* f) { return has_fast_math(*f); });
    c.reads_cycles = c.uncounted.empty() && reads_cycles;
    if (c.uncounted.empty() && !prints) lines.add(c, reached, selection);
  }
  if (prints) return out.text = selection.text(), std::move(out);
  selection.instrument_all();
  lines.instrument_all(*code);
  count_inline_assembly(*code);
  bool any = false;
  for (Codelet& c : codelets) {
    if (c.in_assembly || !c.uncounted.empty()) continue;
    const Compute& compute = computes[c.entry];
    add_counted_entry(*compute.function, c, compute.offset, compute.returns_bool);
    if (!needs_place[c.entry]) add_count_entry(*compute.function, c, compute.offset);
    lines.add_entries(c, compute.offset, compute.returns_bool, needs_place[c.entry]);
    any = true;
  }
  if (!any) return out;
  for (auto& [entry, compute] : computes)
    if (compute.function) compute.function->setLinkage(GlobalValue::InternalLinkage), compute.function->removeFnAttr(Attribute::NoInline);
  release_builtins(*code);
  if (options.checked) announce_vertices(*code, codelets, kCountedSuffix);
  if (verifyModule(*code, &errs())) throw std::runtime_error("internal error: malformed IR of counted code");
  optimise(*code, options.level == '0' ? '2' : options.level, false);
  any = false;
  for (Codelet& c : codelets) {
    if (c.in_assembly || !c.uncounted.empty()) continue;
    choose(*code, c, needs_place[c.entry], is_exact[c.entry]);
    lines.choose(*code, c);
    any = any || c.counting != CountedBy::nothing;
  }
  ModuleAnalysisManager analyses;
  PassBuilder().registerModuleAnalyses(analyses);
  GlobalDCEPass().run(*code, analyses);
  if (any) out.code = std::move(code);
  return out;
}

}  // namespace pando::popc
