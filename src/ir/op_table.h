// The table of ops, sorted by name: one row for each file of ops/.
#pragma once

#include "ir/op_row.h"
#include "ir/types/ids.h"

#include <optional>
#include <span>
#include <string_view>

namespace pando::ir {

std::span<const OpRow* const> op_table();
const OpRow& row_of(OpKind kind);
std::optional<OpKind> find_op(std::string_view name);
// Rejects (popart) an unknown name.
OpKind op_kind(std::string_view name);

}  // namespace pando::ir
