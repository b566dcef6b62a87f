// One row says all that is true of an op. A file of ops/<group>/ holds one row; whoever needs to know something of an op asks its row,
// never its name (tests/check_ops.py). docs/howto/add-an-op.md adds one.
//
// The file's name is the row's: ops/elementwise/softplus.cpp holds op_softplus. The build makes a manifest of the folder's files; a row
// without a name, rule, meaning or samples does not compile. Files that define rows include rows/define.h, those that read them this file.
#pragma once

#include "ir/module.h"
#include "ir/op_traits.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace pando::ir {

class Inference;
class Evaluation;
class GroupEvaluation;
class Gradient;
class Expansion;
class MeanExpansion;
class SubscriptsOf;
struct Subscripts;
struct Sample;

struct OpRow {
  std::string_view name;
  // One paragraph for users: meaning, shapes, units, errors.
  std::string_view doc;
  // Python's, from popxl.ops ("softmax(t: Tensor, axis: int) -> Tensor"); empty: no function of that name is made from the row.
  // Names that are operands' become operands, all others attributes.
  std::string_view signature = {};
  // The module of popxl.ops that defines the function, where it is not `name`.
  std::string_view module = {};
  std::array<OperandRule, 10> operands = {};
  std::array<AttributeRule, 14> attributes = {};
  // Result types from operands and attributes; rejects what does not fit.
  void (*infer)(Inference&) = nullptr;
  // The meaning, for one replica. Either this or reference_group.
  void (*reference)(Evaluation&) = nullptr;
  // The meaning for all replicas at once: collectives, and ops that carry graphs, in whose bodies replicas may meet.
  void (*reference_group)(GroupEvaluation&) = nullptr;
  Differentiable differentiable = Differentiable::no;
  void (*gradient)(Gradient&) = nullptr;
  // In terms of other ops. Such a row needs no lowering.
  void (*expand)(Expansion&) = nullptr;
  // Null: what operands and results hold, one operation an element of the results.
  Cost (*cost)(const Inference&) = nullptr;
  // Small cases for conformance, gradient checks, fuzzing. Ops that only make sense in a program (call, host_load) give none and are
  // covered by tests of graphs.
  std::vector<Sample> (*samples)() = nullptr;
  bool in_program_only = false;
  // Element i of the result depends on element i of the (broadcast) operands alone: such ops fuse.
  bool elementwise = false;
  View view = View::none;
  // Of a view: the base with the view's elements replaced. Operands: the base's contents, the view's new contents; attributes: the view's.
  // For views of all operands, operand 0 is the view's new contents, and the results are the operands' new contents.
  void (*put)(Expansion&) = nullptr;
  // Operands may lie on other devices or tiles than results: copies between places, collectives.
  bool moves = false;
  // An underscore form exists (add_): result 0 is the new version of operand 0.
  bool has_in_place = false;
  // Always modifies, whatever the form (accumulate_, adam_updater's time step).
  std::array<Modification, 2> modifies = {};
  // Appends the modifications that depend on attributes or graphs (a call's "modified", a time step that may be absent).
  void (*modifies_more)(const Module&, OpId, std::vector<NewVersion>&) = nullptr;
  Effects effects = Effects::none;
  // Carries graphs: how many (-1: none; call 1, conditional 2).
  std::int8_t graphs = -1;
  // The op's type as PopART's own IR spells it ("Add", "AddLhsInplace"): what programs that look inside search for.
  std::string_view popart_type = {};
  std::string_view popart_in_place_type = {};

  // --- what distribution, simulation and lowering ask

  // Which dimensions of operands and results are the same, are summed, are cut at no price (rows/subscripts.h). Null for element-wise ops
  // with one result, whose rule follows from that, and for ops that run on whole operands in every strategy.
  Subscripts (*subscripts)(const SubscriptsOf&) = nullptr;
  // Why an op without subscripts runs on whole operands: `pando transform` and `pando search` print it.
  std::string_view whole = {};
  // An op that takes a mean over what may be cut, as sums and factors; false: this one takes none.
  bool (*as_sums)(MeanExpansion&) = nullptr;
  Traffic traffic = Traffic::none;
  OpPhase phase = OpPhase::any;
  Control control = Control::none;
  Tuple tuple = Tuple::none;
  Product product = Product::none;
  // Multiplies and adds where the hardware multiplies matrices.
  bool on_matrix_units = false;
  Adds adds = Adds::nothing;
  ViewForm view_form = ViewForm::other;
  Indexed indexed = Indexed::none;
  ReplicaPart replica_part = ReplicaPart::none;
  // Many ops of n results as one: result i comes of operands i, n + i ... alone (sgd).
  bool bundles = false;
  // The result is the data in attribute "data".
  bool constant = false;
  // Result 0 is operand 0 with some elements replaced by other operands' ...
  bool replaces_part = false;
  // ... or with all of operand 1's instead.
  bool overwrites = false;
};

// An op of a module that meets other devices of its replica, or other tiles.
constexpr bool crosses_devices(const OpRow& row) { return row.traffic != Traffic::none && !has(row.effects, Effects::replicas); }

// The next slice of a host stream comes, or goes.
inline bool loads_stream(const Module& m, OpId o) { return has(m.row(o).effects, Effects::stream) && m.op(o).result_count > 0; }
inline bool stores_stream(const Module& m, OpId o) { return has(m.row(o).effects, Effects::stream) && m.op(o).result_count == 0; }
// A product by what may be a weight: its operand 1.
constexpr bool multiplies_by_weight(const OpRow& row) { return row.product == Product::matrices || row.product == Product::windows; }

// Every result of an op that is a new version of an operand: the row's, the in-place form's, what attributes say.
std::vector<NewVersion> new_versions(const Module& module, OpId op);

}  // namespace pando::ir
