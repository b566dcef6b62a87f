// Result types from the op's row. One place, which the builder, the parser, the verifier and transforms share.
#pragma once

#include "ir/module.h"
#include "ir/op_row.h"

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace pando::ir {

// The types of an op's results. Rejects (popart): operands or attributes that the row does not take, what its rule rejects, operands that
// lie on different devices or tile sets (value) where the op moves nothing. Results without a place get the operands', then `otherwise`.
std::vector<Type> infer_types(const Module& module, const OpRow& row, std::span<const TypeId> operands, const Attributes& attributes,
                              std::span<const GraphId> graphs, bool in_place, const Place& otherwise = {});

// Appends an op with inferred types.
OpId infer_and_add(Module& module, GraphId graph, std::string_view op, std::span<const ValueId> operands, const Attributes& attributes = {},
                   std::span<const GraphId> graphs = {}, bool in_place = false, const Place& otherwise = {}, std::string_view name = {});

// Whether an attribute's value is of a kind (an integer will do for a number).
bool has_kind(const AttributeValue& value, AttributeKind kind);

}  // namespace pando::ir
