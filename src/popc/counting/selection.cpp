#include "popc/counting/selection.h"

#include <fmt/format.h>
#include <llvm/IR/CFG.h>

#include <map>

#include "popc/counting/selector.h"

namespace pando::popc {

namespace {

using namespace llvm;

std::string half_of(const Issue& issue) {
  std::string out(issue.what->name);
  if (issue.what->slots > 1) out += fmt::format(" ({} slots)", issue.what->slots);
  if (!issue.text.empty()) out += " ; " + issue.text;
  if (issue.line > 0) out += fmt::format(" ; line {}", issue.line);
  return out;
}

}  // namespace

SelectedFunction select(Function& function, LoopShapes& shapes, LoopInfo& loops, AAResults& aliases) {
  return Selector(function, shapes, loops, aliases).run();
}

std::string print(const SelectedFunction& selected, const std::string& name) {
  std::string out = "function " + name + "\n";
  if (!selected.rejection.empty()) return out + "  not counted: " + selected.rejection + "\n";
  std::map<const BasicBlock*, std::size_t> number;
  for (const SelectedBlock& b : selected.blocks) number.emplace(b.block, number.size());
  for (const SelectedBlock& b : selected.blocks) {
    unsigned slots = 0;
    for (const Segment& s : b.segments) slots += slots_of(s.bundles);
    out += fmt::format("  block {}: {} slots{}", number[b.block], slots, b.repeats ? ", body of a rpt" : "");
    const char* before = " -> ";
    for (const BasicBlock* next : successors(b.block)) out += before + std::to_string(number[next]), before = ", ";
    out += '\n';
    for (const Segment& s : b.segments)
      for (const Bundle& bundle : s.bundles) {
        const std::string main = bundle.main == Bundle::kNone ? "" : half_of(s.issues[bundle.main]);
        const std::string aux = bundle.aux == Bundle::kNone ? "" : half_of(s.issues[bundle.aux]);
        out += main.empty() ? "    " + aux : aux.empty() ? "    " + main : "    " + main + " | " + aux;
        out += '\n';
      }
  }
  return out;
}

}  // namespace pando::popc
