// Roots, exponentials and their kin: of the host's library, in float, halves rounded once.
#include <llvm/IR/Intrinsics.h>

#include "popc/assembler/instructions/families.h"

namespace pando::popc {

namespace {

using namespace llvm;

using Unary = std::function<Value*(IRBuilder<>&, Value*)>;

Value* one(Value* like) { return ConstantFP::get(like->getType(), 1); }

Value* call_library(IRBuilder<>& b, const char* name, Value* x) {
  Module* module = b.GetInsertBlock()->getModule();
  FunctionCallee f = module->getOrInsertFunction(name, b.getFloatTy(), b.getFloatTy());
  if (auto* function = dyn_cast<Function>(f.getCallee())) function->setDoesNotAccessMemory(), function->setDoesNotThrow();
  return b.CreateCall(f, {x});
}

Value* logistic(IRBuilder<>& b, Value* x) { return b.CreateFDiv(one(x), b.CreateFAdd(one(x), call_library(b, "expf", b.CreateFNeg(x)))); }

}  // namespace

std::vector<InstructionRow> instructions_functions() {
  std::vector<InstructionRow> rows;
  const auto add = [&](const std::string& name, const char* meaning, const Unary& of, bool has_halves) {
    rows.push_back({"f32" + name, IssuePipe::aux, "=a,a", meaning, [of](Meaning& m) { m.set(0, of(m.b, m.f32(1))); }});
    if (!has_halves) return;
    rows.push_back({"f16v2" + name, IssuePipe::aux, "=a,a", meaning, [of](Meaning& m) {
                      Value* x = m.widened(m.lanes(1, m.b.getHalfTy()));
                      m.set(0, m.narrowed(m.vector_of({of(m.b, m.lane(x, 0)), of(m.b, m.lane(x, 1))})));
                    }});
  };
  add("exp", "e to the power", [](auto& b, Value* x) { return call_library(b, "expf", x); }, true);
  add("exp2", "2 to the power", [](auto& b, Value* x) { return call_library(b, "exp2f", x); }, true);
  add("ln", "natural logarithm", [](auto& b, Value* x) { return call_library(b, "logf", x); }, true);
  add("log2", "logarithm to base 2", [](auto& b, Value* x) { return call_library(b, "log2f", x); }, true);
  add("tanh", "hyperbolic tangent", [](auto& b, Value* x) { return call_library(b, "tanhf", x); }, true);
  add("sigm", "1 / (1 + e to the power of -x)", logistic, true);
  add("sqrt", "square root", [](auto& b, Value* x) { return b.CreateUnaryIntrinsic(Intrinsic::sqrt, x); }, false);
  add("oox", "1 / x", [](auto& b, Value* x) { return b.CreateFDiv(one(x), x); }, false);
  add("oorx", "1 / square root", [](auto& b, Value* x) { return b.CreateFDiv(one(x), b.CreateUnaryIntrinsic(Intrinsic::sqrt, x)); }, false);
  return rows;
}

}  // namespace pando::popc
