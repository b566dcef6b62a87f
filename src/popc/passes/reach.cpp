#include "popc/passes/reach.h"

#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>

namespace pando::popc {

namespace {

using namespace llvm;

class Walk {
 public:
  // Without `through_calls`, other functions are found but their bodies are not looked at.
  Walk(const GlobalValue& root, bool through_calls) {
    add(root);
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (i == 0 || through_calls || !isa<Function>(found_[i])) expand(*found_[i]);
  }
  std::vector<const GlobalValue*> take() { return std::move(found_); }

 private:
  void add(const GlobalValue& g) {
    if (seen_.insert(&g).second) found_.push_back(&g);
  }

  void expand(const GlobalValue& g) {
    if (const auto* f = dyn_cast<Function>(&g)) {
      for (const Instruction& i : instructions(*f))
        for (const Use& u : i.operands())
          if (const auto* c = dyn_cast<Constant>(&u)) constant(*c);
    } else if (const auto* v = dyn_cast<GlobalVariable>(&g)) {
      if (v->hasInitializer()) constant(*v->getInitializer());
    } else if (const auto* a = dyn_cast<GlobalAlias>(&g)) {
      constant(*a->getAliasee());
    }
  }

  void constant(const Constant& c) {
    if (const auto* g = dyn_cast<GlobalValue>(&c)) return add(*g);
    if (isa<ConstantData>(c) || !constants_.insert(&c).second) return;
    for (const Use& u : c.operands())
      if (const auto* inner = dyn_cast<Constant>(&u)) constant(*inner);
  }

  std::vector<const GlobalValue*> found_;
  DenseSet<const GlobalValue*> seen_;
  DenseSet<const Constant*> constants_;
};

}  // namespace

std::vector<const GlobalValue*> reachable(const GlobalValue& root) { return Walk(root, true).take(); }

std::vector<const GlobalValue*> referenced(const Function& function) { return Walk(function, false).take(); }

bool mentions(const Constant& constant, const DenseSet<const GlobalValue*>& globals) {
  if (const auto* g = dyn_cast<GlobalValue>(&constant)) return globals.contains(g);
  if (isa<ConstantData>(constant)) return false;
  for (const Use& u : constant.operands())
    if (const auto* inner = dyn_cast<Constant>(&u))
      if (mentions(*inner, globals)) return true;
  return false;
}

}  // namespace pando::popc
