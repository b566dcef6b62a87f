// Reads the graphs of a model, node by node, into a module.
#pragma once

#include "onnx/import.h"
#include "onnx/operator.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pando::onnx {

// Elements of a value that is computed when a model is read, and of one that is a constant of the program.
inline constexpr std::int64_t kMostFolded = std::int64_t{1} << 16, kMostConstant = std::int64_t{1} << 26;

using Inputs = std::shared_ptr<const std::set<std::string>>;

// What a name stands for: contents, where they are known, and the value, where it has been made.
struct Bound {
  std::optional<HostTensor> known;
  ValueId value;
  // Of a weight: what it begins with. The variable is made when something reads it.
  const HostTensor* initial = nullptr;
  // Inputs of the model that it follows from, where it is not known.
  Inputs inputs;
  bool valid() const { return known || value.valid() || initial != nullptr; }
};

// Names of one graph of the model. A graph in a node sees those of the graphs around it.
struct Scope {
  Scope* parent = nullptr;
  // Where its ops go; a graph in a node may have one of its own.
  ir::GraphId graph;
  const Opsets* opsets = nullptr;
  std::map<std::string, Bound> names;
  // Of a graph of its own: values of the graphs around it that its inputs stand for, behind those that were there at first.
  Values captured;
};

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options);
  ir::Module run();
  // The value of an output of the model, once it has run.
  ValueId result(const std::string& name) const { return results_.at(name); }

  ir::Module& module() { return module_; }
  // The nodes of a graph that a node has: its inputs stand for `inputs`. Its outputs.
  std::vector<Bound> read_graph(Scope& scope, const Graph& graph, const std::vector<Bound>& inputs, const Context& user);
  // The value of what a name stands for, in the graph of a scope.
  ValueId value_of(Scope& scope, const Bound& bound, const std::string& name);
  // Inputs of the model that values follow from which are not known; null: none.
  static Inputs inputs_of(const std::vector<Bound>& values);
  // A graph of the module for a graph of a node, named after that.
  Scope graph_scope(Context& user, std::string_view name);

 private:
  using Counts = std::map<std::string, std::size_t>;
  void reject_unknown() const;
  void count_unknown(const std::vector<Node>& nodes, Counts& unknown, int depth) const;
  const Function* function_of(const Node& node) const;
  void find_weights();
  bool is_weight(const std::string& name, const HostTensor& data) const;
  ValueId variable(const std::string& name, const ir::Type& type, const HostTensor* data);
  Shape input_shape(const ValueInfo& info) const;
  void input(const ValueInfo& info);
  void given_input(const ValueInfo& info, const HostTensor& data);
  void output(const std::string& name, ValueId v);
  ValueId weight(Scope& scope, const Bound& bound, const std::string& name);
  void initializers(Scope& scope, const Graph& graph);

  void bind(Scope& scope, const std::string& name, Bound bound, const SourceLocation& where);
  // Nothing: no such name.
  const Bound* find(const Scope& scope, const std::string& name) const;
  std::optional<Bound> look_up(Scope& scope, const std::string& name);
  Bound use(Scope& scope, const std::string& name, const SourceLocation& user);

  void nodes(Scope& scope, const std::vector<Node>& all);
  void node(Scope& scope, const Node& node);
  void call_function(Scope& scope, const Node& node, const Function& function);
  void bind_results(Scope& scope, const Node& node, const Context& c);
  bool compute(Scope& scope, const Node& node, const KnownOperator& op, const std::vector<Bound>& operands, std::int64_t opset);
  void apply(const KnownOperator& op, Context& c) const;
  std::int64_t opset_of(const Scope& scope, const Node& node) const;

  const Model& model_;
  const ImportOptions& options_;
  ir::Module module_;
  Scope main_;
  std::set<std::string> weights_;
  std::map<std::string, ValueId> results_;
  int depth_ = 0;
};

}  // namespace pando::onnx
