#include "popc/passes/prints.h"

#include <llvm/IR/IRBuilder.h>

#include "popc/passes/symbols.h"

namespace pando::popc {

namespace {

using namespace llvm;

struct PrintRow {
  const char* name;
  RuntimeEntry entry;
};
// Those of the second line are what the C library's headers make of vprintf and putchar, too.
constexpr PrintRow kPrints[] = {
    {"printf", RuntimeEntry::print},       {"fprintf", RuntimeEntry::print_to},      {"puts", RuntimeEntry::print_line},
    {"vprintf", RuntimeEntry::print_all},  {"vfprintf", RuntimeEntry::print_all_to}, {"fputs", RuntimeEntry::print_text_to},
    {"putchar", RuntimeEntry::print_char}, {"putc", RuntimeEntry::print_char_to},    {"fputc", RuntimeEntry::print_char_to}};

}  // namespace

void redirect_prints(Module& module) {
  for (const PrintRow& row : kPrints) {
    Function* f = module.getFunction(row.name);
    if (!f || !f->isDeclaration()) continue;
    for (Use& use : make_early_inc_range(f->uses())) {
      auto* call = dyn_cast<CallBase>(use.getUser());
      if (!call || &call->getCalledOperandUse() != &use) continue;
      IRBuilder<> b(call);
      call->setCalledOperand(runtime_entry(b, row.entry));
    }
  }
}

}  // namespace pando::popc
