// One row says how an operator of ONNX is written in ops of the model level. A file of ops/<group>/ holds one row and is named after it:
//
//     extern const Operator onnx_elu;
//     constexpr Operator onnx_elu = {
//         .signature = "Elu(X; alpha: float) -> Y",
//         .rule = composed<"elu">,
//     };
//
// The signature is the table of checks: who reads a node compares its operands, attributes and results with it before the rule runs. It
// holds all versions of the operator from opset 7 on: what became an operand is an attribute, too. The build makes a manifest of the files.
#pragma once

#include "base/source_location.h"
#include "ir/construction/composition.h"
#include "ir/module.h"
#include "onnx/model.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pando::onnx {

using ir::Attributes;
using ir::DType;
using ir::HostTensor;
using ir::Ints;
using ir::Shape;
using ir::ValueId;
using ir::Values;

class Importer;
struct Scope;

// A node in the making: its operands, and ops for its results.
class Context : public ir::Writer {
 public:
  Context(Importer& importer, Scope& scope, ir::Module& module, ir::GraphId graph, const Node& node, const std::string& source,
          std::int64_t opset)
      : node(node), opset(opset), importer_(importer), scope_(scope), module_(module), graph_(graph), source_(source) {}

  const Node& node;
  // The version of the node's domain.
  std::int64_t opset;
  // By operand: what it holds where that is known; the value, where it is there already.
  std::vector<std::optional<HostTensor>> known;
  Values values;
  // Of a weight: what it begins with.
  std::vector<const HostTensor*> initial;
  // Inputs of the model that an operand follows from, and those that the node's results follow from.
  std::vector<std::shared_ptr<const std::set<std::string>>> inputs;
  std::shared_ptr<const std::set<std::string>> from;
  // Makes the value of an operand that is known only.
  std::function<ValueId(std::size_t)> make;
  Values results;
  // By result: what is known when the model is read.
  std::map<std::size_t, HostTensor> known_results;

  std::size_t operands() const { return values.size(); }
  bool has(std::size_t i) const { return i < values.size() && (values[i].valid() || known[i] || initial[i] != nullptr); }
  bool has(const std::string& attribute) const { return node.has(attribute); }
  ValueId operand(std::size_t i);
  // Of an operand, whether or not its value is there.
  Shape shape_of(std::size_t i) const;
  DType dtype_of(std::size_t i) const;
  std::size_t rank_of(std::size_t i) const { return shape_of(i).size(); }
  // Whether its contents are known, be it as what a weight begins with.
  bool has_data(std::size_t i) const { return has(i) && (known[i] || initial[i] != nullptr); }
  // What an operand holds that must be known: it names the operand and says how to give it.
  const HostTensor& data(std::size_t i) const;
  Ints integers(std::size_t i) const;
  double number(std::size_t i) const;
  // One integer; rejects more.
  std::int64_t integer(std::size_t i) const;

  // --- attributes
  std::int64_t integer(const std::string& name, std::int64_t otherwise) const { return node.integer(name, otherwise); }
  double real(const std::string& name, double otherwise) const { return node.real(name, otherwise); }
  std::string text(const std::string& name, const std::string& otherwise) const { return node.text(name, otherwise); }
  // 0 or 1; rejects others.
  bool flag(const std::string& name, bool otherwise) const;
  // An integer of a range; rejects others.
  std::int64_t ranged(const std::string& name, std::int64_t otherwise, std::int64_t low, std::int64_t high) const;
  // One of some words.
  std::string word(const std::string& name, const std::string& otherwise, std::initializer_list<std::string_view> words) const;
  // A list of `size` numbers, each of at least `least`; nothing if it is not given.
  std::optional<Ints> list(const std::string& name, std::size_t size, std::int64_t least) const;
  // The attribute, or (as later opsets say it) operand i; nothing if neither is given.
  std::optional<Ints> either(const std::string& attribute, std::size_t i) const;
  // The same as axes of `rank` dimensions: from 0, each once.
  std::optional<Ints> axes(const std::string& attribute, std::size_t i, std::size_t rank) const;
  // An axis of `rank` dimensions, from 0. `ends`: the axis behind the last one is one, too.
  std::int64_t axis(std::int64_t otherwise, std::size_t rank, bool ends = false) const {
    return axis_in(integer("axis", otherwise), rank, ends);
  }
  std::int64_t axis_in(std::int64_t axis, std::size_t rank, bool ends = false) const;
  DType dtype_attribute(const std::string& name, DType otherwise) const;

  // --- writing
  using Writer::integers;
  using Writer::op;
  const ir::Type& type_of(ValueId v) const override { return module_.type_of(v); }
  Values ops(std::string_view name, std::span<const ValueId> operands, const Attributes& attributes = {}) override;
  ValueId constant(HostTensor data) override;
  ValueId composition(std::string_view name, std::initializer_list<ValueId> operands, const Attributes& attributes = {}) {
    return ir::compose(*this, name, operands, attributes);
  }
  // Rejects shapes of too many elements, by name.
  void check_shape(const Shape& shape) const;

  void give(ValueId v) { results.push_back(v); }
  void give_known(std::size_t result, HostTensor data) { known_results.insert_or_assign(result, std::move(data)); }
  bool wants(std::size_t result) const { return result < node.outputs.size() && !node.outputs[result].empty(); }
  void reject_results_from(std::size_t first, std::string_view why) const;

  // --- graphs of nodes (see import.cpp)
  Importer& importer() { return importer_; }
  Scope& scope() { return scope_; }
  ir::Module& module() { return module_; }
  ir::GraphId graph() const { return graph_; }

  // Names the file and the node.
  [[noreturn]] void reject(const std::string& message) const;

 private:
  std::string operand_text(std::size_t i) const;

  Importer& importer_;
  Scope& scope_;
  ir::Module& module_;
  ir::GraphId graph_;
  const std::string& source_;
};

// The node in an error: its op and its name, or what it makes where it has none.
SourceLocation location_of(const std::string& source, const Node& node);

using Rule = void (*)(Context&);

struct Operator {
  // "Conv(X, W, B?; auto_pad: text, group: int) -> Y". A domain stands before the name ("com.microsoft.FusedMatMul"). "?": may be absent;
  // "...": any number, one at least; "!" behind an attribute: it has to be there. Kinds: int, float, text, ints, floats, texts, tensor,
  // graph, sparse.
  std::string_view signature;
  Rule rule = nullptr;
  // What of the operator is rejected, for the docs.
  std::string_view limits = {};
  // Whether the same operands give the same results always, so that what is known is computed when a model is read.
  bool folds = true;
};

struct Signature {
  struct Parameter {
    std::string name;
    bool optional = false, variadic = false;
  };
  struct AttributeParameter {
    std::string name;
    AttributeType type = AttributeType::undefined;
    bool required = false;
  };
  std::string name, domain;
  std::vector<Parameter> operands, results;
  std::vector<AttributeParameter> attributes;
};

Signature parse_signature(std::string_view text);

struct KnownOperator {
  const Operator* row;
  Signature signature;
};
// Sorted by domain and name.
std::span<const KnownOperator> operator_table();
// Null: not known.
const KnownOperator* find_operator(std::string_view domain, std::string_view name);

// Rejects (value): operands, attributes and results of a node that the signature does not have.
void check_node(const Node& node, const Signature& signature, const std::string& source);

// --- rules of many rows

template <std::size_t N>
struct FixedText {
  char text[N] = {};
  consteval FixedText(const char (&t)[N]) { std::copy_n(t, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// The row of that name, on all operands.
template <FixedText name>
void row(Context& c) {
  Values all;
  for (std::size_t i = 0; i < c.operands(); ++i) all.push_back(c.operand(i));
  c.give(c.ops(name.view(), all)[0]);
}

// The composition of that name, on all operands, with the node's attributes as they are called there.
Attributes same_attributes(const Context& c);
template <FixedText name>
void composed(Context& c) {
  Values all;
  for (std::size_t i = 0; i < c.operands(); ++i) all.push_back(c.has(i) ? c.operand(i) : ValueId());
  c.results = ir::compose(c, name.view(), all, same_attributes(c));
}

// Any number of operands, two by two.
template <FixedText name>
void folded(Context& c) {
  ValueId v = c.operand(0);
  for (std::size_t i = 1; i < c.operands(); ++i) v = c.op(name.view(), {v, c.operand(i)});
  c.give(v);
}

}  // namespace pando::onnx
