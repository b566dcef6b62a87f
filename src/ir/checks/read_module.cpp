#include "ir/checks/read_module.h"

#include "ir/checks/verify.h"
#include "ir/checks/verify_distribution.h"
#include "ir/reject_at.h"
#include "ir/text/parse.h"

#include <algorithm>

namespace pando::ir {

namespace {

// So many broken rules are said; the others are counted.
constexpr std::size_t kShown = 10;

SourceLocation location_of(const Violation& v, const TextPlaces& places, std::string_view text, const std::string& file) {
  std::size_t at = std::string_view::npos;
  if (v.op.valid() && v.op.index() < places.ops.size())
    at = places.ops[v.op.index()];
  else if (v.graph.valid() && v.graph.index() < places.graphs.size())
    at = places.graphs[v.graph.index()];
  else if (v.state.valid() && v.state.index() < places.states.size())
    at = places.states[v.state.index()];
  SourceLocation location = at == std::string_view::npos ? SourceLocation{file} : location_in(text, at, file);
  location.part = v.where;
  return location;
}

[[noreturn]] void reject_violations(const std::vector<Violation>& found, const TextPlaces& places, std::string_view text,
                                    const std::string& file) {
  std::string others;
  for (std::size_t i = 1; i < std::min(found.size(), kShown); ++i)
    others += fmt::format("\n{}: {} ({})", text_of(location_of(found[i], places, text, file)), found[i].message, found[i].rule);
  if (found.size() > kShown) others += fmt::format("\nand {} more", found.size() - kShown);
  reject_at(ErrorClass::popart, found[0].rule, location_of(found[0], places, text, file), "{}{}", found[0].message, others);
}

}  // namespace

Module read_module(std::string_view text, const std::string& file, ModuleRules rules) {
  TextPlaces places;
  Module module = parse(text, file, &places);
  std::vector<Violation> found = verify(module);
  if (found.empty() && rules == ModuleRules::of_devices) found = verify_distribution(module);
  if (!found.empty()) reject_violations(found, places, text, file);
  return module;
}

}  // namespace pando::ir
