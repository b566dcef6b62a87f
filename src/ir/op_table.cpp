#include "ir/op_table.h"

#include "ir/error.h"

#include <algorithm>
#include <vector>

namespace pando::ir {

#define X(op) extern const OpRow op_##op;
#include "op_manifest.inc"
#undef X

namespace {

const std::vector<const OpRow*>& table() {
  static const std::vector<const OpRow*> rows = [] {
    std::vector<const OpRow*> all = {
#define X(op) &op_##op,
#include "op_manifest.inc"
#undef X
    };
    std::sort(all.begin(), all.end(), [](const OpRow* a, const OpRow* b) { return a->name < b->name; });
    return all;
  }();
  return rows;
}

}  // namespace

std::span<const OpRow* const> op_table() { return table(); }

const OpRow& row_of(OpKind kind) { return *table()[kind.index()]; }

std::optional<OpKind> find_op(std::string_view name) {
  const auto& rows = table();
  auto it = std::lower_bound(rows.begin(), rows.end(), name, [](const OpRow* row, std::string_view n) { return row->name < n; });
  if (it == rows.end() || (*it)->name != name) return std::nullopt;
  return OpKind(static_cast<OpKind::rep>(it - rows.begin()));
}

OpKind op_kind(std::string_view name) {
  const auto kind = find_op(name);
  if (!kind) reject(ErrorClass::popart, "unknown-op", "there is no op named '{}'", name);
  return *kind;
}

}  // namespace pando::ir
