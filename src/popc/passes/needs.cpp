#include "popc/passes/needs.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>

#include <cstring>
#include <stdexcept>

#include "popc/passes/reach.h"

namespace pando::popc {

namespace {

using namespace llvm;

constexpr const char* kPrefix = "pando_needs_";

struct Needs {
  ReservedRange reserved;
  DeclaredCode code;
};

// Number `index` of the words in an initialiser, through nested structures; null if it is none.
const Constant* word(const Constant& c, unsigned index) {
  std::vector<const Constant*> words;
  const auto visit = [&](const Constant& part, const auto& self) -> void {
    if (part.getType()->isStructTy())
      for (unsigned i = 0; i < part.getType()->getStructNumElements(); ++i) self(*part.getAggregateElement(i), self);
    else
      words.push_back(&part);
  };
  visit(c, visit);
  return index < words.size() ? words[index] : nullptr;
}

std::uint64_t number(const Constant* c) {
  const auto* value = c ? dyn_cast<ConstantInt>(c) : nullptr;
  if (!value) throw std::runtime_error("not a number");
  return value->getZExtValue();
}

std::string text(const Constant* c) {
  if (c && c->isNullValue()) return "";
  const auto* variable = c ? dyn_cast<GlobalVariable>(c->stripPointerCasts()) : nullptr;
  const auto* bytes = variable && variable->hasInitializer() ? dyn_cast<ConstantDataSequential>(variable->getInitializer()) : nullptr;
  if (!bytes || !bytes->isCString()) throw std::runtime_error("not a string");
  return bytes->getAsCString().str();
}

Needs read(const GlobalVariable& v) try {
  if (!v.isConstant() || !v.hasInitializer()) throw std::runtime_error("no constant");
  const Constant& c = *v.getInitializer();
  Needs n;
  n.reserved = {number(word(c, 0)), number(word(c, 1)), text(word(c, 2))};
  n.code = {v.getName().drop_front(std::strlen(kPrefix)).str(), static_cast<std::uint32_t>(number(word(c, 3)))};
  return n;
} catch (const std::runtime_error& e) {
  throw std::runtime_error("'" + v.getName().str() + "' is not a constant pando::Needs{{begin, bytes}, image, code_bytes}: " + e.what());
}

void add(Codelet& codelet, const Needs& needs) {
  if (needs.reserved.size > 0) codelet.shared_ranges.push_back(needs.reserved);
  if (needs.code.bytes > 0) codelet.shared_code.push_back(needs.code);
}

}  // namespace

void read_needs(const Module& module, std::vector<Codelet>& codelets) {
  for (Codelet& c : codelets)
    for (const GlobalValue* g : reachable(*module.getFunction(c.entry)))
      if (const auto* v = dyn_cast<GlobalVariable>(g); v && v->getName().starts_with(kPrefix)) add(c, read(*v));
}

}  // namespace pando::popc
