// One row says all that is true of an op. A file of ops/<group>/ holds one row; whoever needs to know something of an op asks its row,
// never its name.
//
//     extern const OpRow op_softplus;
//     constexpr OpRow op_softplus = checked({
//         .name = "softplus",
//         .doc = "log(1 + e^x), element by element.",
//         .signature = "softplus(t: Tensor) -> Tensor",
//         .operands = {{"t", any_floating}},
//         .infer = same_as_first,
//         .reference = map_unary([](double x) { return std::log1p(std::exp(x)); }),
//         .gradient = [](Gradient& g) { g.give(0, g.op("mul", {g.grad(0), g.op("sigmoid", {g.operand(0)})})); },
//         .elementwise = true,
//         .samples = elementwise_samples,
//     });
//
// The file's name is the row's: ops/elementwise/softplus.cpp holds op_softplus. The build makes a manifest of the folder's files; a row
// without a name, rule, meaning or samples does not compile.
#pragma once

#include "ir/host_tensor.h"
#include "ir/module.h"
#include "ir/types/attributes.h"
#include "ir/types/type.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pando::ir {

class Inference;
class Evaluation;
class GroupEvaluation;
class Gradient;
class Expansion;
struct Cost;
struct Sample;

// What element types an operand may have. A set of DTypes.
using DTypeSet = std::uint32_t;
constexpr DTypeSet set_of(DType t) { return DTypeSet{1} << static_cast<unsigned>(t); }
constexpr DTypeSet set_where(bool (*accepts)(DType)) {
  DTypeSet s = 0;
  for (std::size_t i = 0; i < kDTypes; ++i) s |= accepts(static_cast<DType>(i)) ? DTypeSet{1} << i : 0;
  return s;
}
inline constexpr DTypeSet any_type = (DTypeSet{1} << kDTypes) - 1;
inline constexpr DTypeSet any_floating = set_of(DType::float16) | set_of(DType::float32) | set_of(DType::float64);
inline constexpr DTypeSet any_float8 = set_of(DType::float8_143) | set_of(DType::float8_152);
inline constexpr DTypeSet any_integer = set_where(is_integer);
inline constexpr DTypeSet any_numeric = any_floating | any_integer;
inline constexpr DTypeSet only_bool = set_of(DType::boolean);

struct OperandRule {
  std::string_view name;
  DTypeSet types = any_type;
  // Takes all remaining operands (the last one only).
  bool variadic = false;
  // May be absent (trailing operands only).
  bool optional = false;
};

enum class AttributeKind : std::uint8_t { flag, integer, number, text, ints, numbers, texts, dtype, blob, stream, buffer };

struct AttributeRule {
  std::string_view name;
  AttributeKind kind = AttributeKind::integer;
  bool required = true;
};

enum class Effects : std::uint8_t {
  none = 0,
  stream = 1,  // reads or writes the next slice of the host stream in attribute "stream"
  remote = 2,  // reads or writes a row of the buffer in attribute "buffer"
  print = 4,
  code = 8,      // loads code of a graph
  replicas = 16  // meets the other replicas of its group
};
constexpr Effects operator|(Effects a, Effects b) {
  return static_cast<Effects>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr bool has(Effects set, Effects e) { return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(e)) != 0; }

// What autodiff does at an op that a gradient reaches.
enum class Differentiable : std::uint8_t {
  by_gradient,  // the row's gradient
  zero,         // differentiable, the gradient is zero
  no,           // the path ends without a word; only a required gradient that is then missing is an error
  refused,      // an error
  blocks,       // detach: the path ends on purpose
};

// A result that is a new version of an operand.
struct Modification {
  std::int8_t operand = -1;
  std::int8_t result = -1;
};

// The same, where an op's attributes and graphs say it.
struct NewVersion {
  std::size_t operand = 0;
  std::size_t result = 0;
  friend bool operator==(const NewVersion&, const NewVersion&) = default;
};

// A result that may lie where an operand lies: a view (reshape, slice, transpose), computed without arithmetic.
enum class View : std::uint8_t { none, of_first_operand, of_all_operands };

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
  // Result types from operands and attributes; refuses what does not fit.
  void (*infer)(Inference&) = nullptr;
  // The meaning, for one replica. Either this or reference_group.
  void (*reference)(Evaluation&) = nullptr;
  // The meaning for all replicas at once: collectives, and ops that carry graphs, in whose bodies replicas may meet.
  void (*reference_group)(GroupEvaluation&) = nullptr;
  Differentiable differentiable = Differentiable::no;
  void (*gradient)(Gradient&) = nullptr;
  // In terms of other ops. Such a row needs no lowering.
  void (*expand)(Expansion&) = nullptr;
  // Operations and bytes; null: what operands and results hold, one operation an element of the results.
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
};

// Refuses, at compile time, rows that lack a part.
consteval OpRow checked(OpRow row) {
  if (row.name.empty()) throw "a row needs a name";
  if (row.doc.empty()) throw "a row needs a doc";
  if (row.infer == nullptr) throw "a row needs a type rule";
  if ((row.reference == nullptr) == (row.reference_group == nullptr)) throw "a row needs one meaning";
  if (row.samples == nullptr && !row.in_program_only) throw "a row needs samples";
  if ((row.differentiable == Differentiable::by_gradient) != (row.gradient != nullptr)) throw "a gradient, or a reason for none";
  return row;
}

// --- what a type rule sees --------------------------------------------------------------------------------------------------------------

class Inference {
 public:
  Inference(const Module& module, const OpRow& row, std::span<const TypeId> operands, const Attributes& attributes,
            std::span<const GraphId> graphs, bool in_place)
      : module_(module), row_(row), operands_(operands), attributes_(attributes), graphs_(graphs), in_place_(in_place) {}

  const Module& module() const { return module_; }
  const OpRow& row() const { return row_; }
  bool in_place() const { return in_place_; }
  std::size_t operands() const { return operands_.size(); }
  const Type& operand(std::size_t i) const { return module_.type(operands_[i]); }
  const Shape& shape(std::size_t i) const { return operand(i).shape; }
  DType dtype(std::size_t i) const { return operand(i).dtype; }
  const Attributes& attributes() const { return attributes_; }
  GraphId graph(std::size_t i = 0) const { return graphs_[i]; }
  std::span<const GraphId> graphs() const { return graphs_; }

  // Appends a result. Its place is the operands' unless the rule has set one.
  void result(DType dtype, Shape shape) { results_.push_back(tensor_type(dtype, std::move(shape))); }
  void result(Type type) { results_.push_back(std::move(type)); }
  std::vector<Type>& results() { return results_; }
  const std::vector<Type>& results() const { return results_; }

  // An axis of operand `i`, negative ones counted from the end; refused out of range.
  std::int64_t axis(std::int64_t axis, std::size_t operand = 0) const;
  // The same for a list; refuses duplicates.
  Ints axes(const Ints& axes, std::size_t operand = 0) const;

  // Throws ModelError (popart) that names the op, what was found and the shapes of all operands.
  template <class... Args>
  [[noreturn]] void refuse(std::string_view id, fmt::format_string<Args...> format, Args&&... args) const {
    refuse_text(id, fmt::format(format, std::forward<Args>(args)...));
  }
  [[noreturn]] void refuse_text(std::string_view id, const std::string& message) const;

 private:
  const Module& module_;
  const OpRow& row_;
  std::span<const TypeId> operands_;
  const Attributes& attributes_;
  std::span<const GraphId> graphs_;
  bool in_place_;
  std::vector<Type> results_;
};

// Type rules that many rows share.
void same_as_first(Inference&);        // result 0 has the type of operand 0
void broadcast_same_type(Inference&);  // NumPy broadcasting; all operands of one element type
void broadcast_to_bool(Inference&);    // the same, result bool
Shape broadcast_shape(const Inference&, const Shape& a, const Shape& b);

// --- what a meaning sees ----------------------------------------------------------------------------------------------------------------

// What ops with effects ask of whoever interprets them.
class EvaluationHost {
 public:
  virtual ~EvaluationHost() = default;
  virtual HostTensor load(HostStreamId stream) = 0;
  virtual void store(HostStreamId stream, const HostTensor& data) = 0;
  virtual HostTensor load_row(BufferId buffer, std::int64_t row) = 0;
  virtual void store_row(BufferId buffer, std::int64_t row, const HostTensor& data) = 0;
  virtual void print(const std::string& text) = 0;
  virtual std::int64_t replica() const = 0;
};

class Evaluation {
 public:
  Evaluation(const Module& module, OpId op, std::vector<HostValue> operands, EvaluationHost& host)
      : module_(module), op_(op), operands_(std::move(operands)), host_(host) {}

  const Module& module() const { return module_; }
  OpId op() const { return op_; }
  const Attributes& attributes() const { return module_.attributes(op_); }
  bool in_place() const { return module_.op(op_).in_place; }
  std::size_t operands() const { return operands_.size(); }
  const HostTensor& operand(std::size_t i) const { return operands_[i].tensor; }
  const HostValue& operand_value(std::size_t i) const { return operands_[i]; }
  const Type& result_type(std::size_t i = 0) const { return module_.type_of(module_.result(op_, i)); }
  std::size_t result_count() const { return module_.results(op_).size(); }
  // Zeros of result i's type.
  HostTensor fresh(std::size_t i = 0) const { return HostTensor(result_type(i).dtype, result_type(i).shape); }
  void result(HostTensor t) { results_.push_back({std::move(t), {}}); }
  void result(HostValue v) { results_.push_back(std::move(v)); }
  std::vector<HostValue>& results() { return results_; }
  EvaluationHost& host() { return host_; }

 private:
  const Module& module_;
  OpId op_;
  std::vector<HostValue> operands_, results_;
  EvaluationHost& host_;
};

// Values of several replicas that run side by side; the outer index counts those that take part.
using ReplicaValues = std::vector<std::vector<HostValue>>;

// One op on all replicas that reach it: operand(r, i) of replica number(r). Ops between devices of one replica are ordinary rows.
class GroupEvaluation {
 public:
  // Runs a graph on the replicas at `positions`, side by side. For each: its outputs, then its finals.
  using RunGraph = std::function<ReplicaValues(GraphId graph, ReplicaValues inputs, std::span<const std::size_t> positions)>;

  // `numbers`: which replicas take part. All of the module's, but in a branch that some do not take.
  GroupEvaluation(const Module& module, OpId op, std::vector<std::int64_t> numbers, ReplicaValues operands, RunGraph run_graph)
      : module_(module),
        op_(op),
        numbers_(std::move(numbers)),
        operands_(std::move(operands)),
        results_(operands_.size()),
        run_graph_(std::move(run_graph)) {}
  const Module& module() const { return module_; }
  OpId op() const { return op_; }
  const Attributes& attributes() const { return module_.attributes(op_); }
  std::size_t replicas() const { return operands_.size(); }
  std::int64_t number(std::size_t replica) const { return numbers_[replica]; }
  const HostTensor& operand(std::size_t replica, std::size_t i) const { return operands_[replica][i].tensor; }
  const std::vector<HostValue>& operands(std::size_t replica) const { return operands_[replica]; }
  const Type& result_type(std::size_t i = 0) const { return module_.type_of(module_.result(op_, i)); }
  HostTensor fresh(std::size_t i = 0) const { return HostTensor(result_type(i).dtype, result_type(i).shape); }
  void result(std::size_t replica, HostTensor t) { results_[replica].push_back({std::move(t), {}}); }
  void result(std::size_t replica, HostValue v) { results_[replica].push_back(std::move(v)); }
  ReplicaValues& results() { return results_; }
  // For each group of attributes "stride" and "group_size" (absent: all replicas in one group), the positions of its members, in the
  // order of their numbers. Refuses (popart) a group of which only some are here: they would wait for ever.
  std::vector<std::vector<std::size_t>> groups() const;
  // Which member of its group a replica is.
  std::int64_t member(std::size_t replica) const;
  ReplicaValues run_graph(GraphId graph, ReplicaValues inputs, std::span<const std::size_t> positions) const {
    return run_graph_(graph, std::move(inputs), positions);
  }

 private:
  ReplicaGrouping grouping() const;

  const Module& module_;
  OpId op_;
  std::vector<std::int64_t> numbers_;
  ReplicaValues operands_, results_;
  RunGraph run_graph_;
};

// Every result of an op that is a new version of an operand: the row's, the in-place form's, what attributes say.
std::vector<NewVersion> new_versions(const Module& module, OpId op);

// --- what a gradient sees ---------------------------------------------------------------------------------------------------------------

// Writes into the gradient graph. Implemented by transform/autodiff.
class Gradient {
 public:
  virtual ~Gradient() = default;
  virtual const Module& module() const = 0;
  // The forward op.
  virtual OpId forward() const = 0;
  virtual const Attributes& attributes() const = 0;
  virtual std::size_t operands() const = 0;
  // Operand and result of the forward op, as values of the gradient graph.
  virtual ValueId operand(std::size_t i) = 0;
  virtual ValueId result(std::size_t i = 0) = 0;
  virtual const Type& operand_type(std::size_t i) const = 0;
  virtual const Type& result_type(std::size_t i = 0) const = 0;
  // Whether a gradient of result i came; the gradient (zeros where none came).
  virtual bool has_grad(std::size_t i) const = 0;
  virtual ValueId grad(std::size_t i = 0) = 0;
  // Whether the gradient of operand i is of use.
  virtual bool wants(std::size_t i) const = 0;
  // The gradient of operand i; it must have the operand's type. At most once for an operand.
  virtual void give(std::size_t i, ValueId gradient) = 0;
  // Appends an op to the gradient graph; its first result.
  virtual ValueId op(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes = {}) = 0;
  virtual std::vector<ValueId> ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes = {},
                                   std::span<const GraphId> graphs = {}) = 0;
  // A constant scalar of an element type.
  virtual ValueId scalar(DType dtype, double value) = 0;
  virtual const Type& type_of(ValueId v) const = 0;
  // Sums a gradient over what broadcasting to `shape` repeated.
  ValueId reduced_to(ValueId gradient, const Shape& shape);
};

// Writes what an op means in terms of other ops.
class Expansion {
 public:
  virtual ~Expansion() = default;
  virtual const Attributes& attributes() const = 0;
  virtual std::size_t operands() const = 0;
  virtual ValueId operand(std::size_t i) const = 0;
  virtual const Type& type_of(ValueId v) const = 0;
  virtual const Type& result_type(std::size_t i = 0) const = 0;
  virtual ValueId op(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes = {}) = 0;
  virtual std::vector<ValueId> ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes = {}) = 0;
  virtual ValueId scalar(DType dtype, double value) = 0;
  virtual void result(ValueId v) = 0;
};

// --- cost and samples -------------------------------------------------------------------------------------------------------------------

struct Cost {
  double operations = 0;  // additions and multiplications of elements
  double bytes_read = 0, bytes_written = 0;
};

// One small case: operand types with a range of values, attributes. Data are made from `seed`.
struct Sample {
  struct Operand {
    DType dtype = DType::float32;
    Shape shape;
    double low = -2, high = 2;
    // Not empty: the values themselves.
    Floats values;
  };
  std::vector<Operand> operands;
  Attributes attributes;
  bool in_place = false;
  // Whether the gradient check may use it (kinks and ties excluded).
  bool smooth = true;
};

std::vector<Sample> unary_samples();           // floats of -2 to 2 in several shapes, half and float
std::vector<Sample> positive_unary_samples();  // 0.1 to 4
std::vector<Sample> binary_samples();          // with broadcasting, floats and int32
std::vector<Sample> reduction_samples();       // attributes axes, keepdims

// --- shared meanings --------------------------------------------------------------------------------------------------------------------

// Element by element in double, rounded to the result's type once. Integers beyond 2^53 go through map_integers.
void map_elements(Evaluation& e, const std::function<double(double)>& f);
// With broadcasting. `f` in double, `g` (where given) for integer operands.
void map_pairs(Evaluation& e, const std::function<double(double, double)>& f,
               const std::function<std::int64_t(std::int64_t, std::int64_t)>& g = {});
// The reference of a row, from a function without captures.
template <class F>
constexpr auto map_unary(F) {
  return +[](Evaluation& e) { map_elements(e, F{}); };
}
template <class F>
constexpr auto map_binary(F) {
  return +[](Evaluation& e) { map_pairs(e, F{}); };
}

// Index of the element of an operand that broadcasts to `out`, for row-major position `i` of `out`.
std::int64_t broadcast_index(const Shape& operand, const Shape& out, std::int64_t i);

}  // namespace pando::ir
