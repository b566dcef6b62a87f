#include "lower/row.h"

#include <algorithm>

namespace pando::lower {

#define X(op) extern const Row lower_##op;
#include "lower_manifest.inc"
#undef X

const Row* find_row(std::string_view name) {
  static const std::vector<const Row*> rows = [] {
    std::vector<const Row*> all = {
#define X(op) &lower_##op,
#include "lower_manifest.inc"
#undef X
    };
    std::sort(all.begin(), all.end(), [](const Row* a, const Row* b) { return a->name < b->name; });
    return all;
  }();
  const auto it = std::lower_bound(rows.begin(), rows.end(), name, [](const Row* row, std::string_view n) { return row->name < n; });
  return it == rows.end() || (*it)->name != name ? nullptr : *it;
}

}  // namespace pando::lower
