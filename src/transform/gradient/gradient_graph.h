// One gradient graph in the making. Private to autodiff.
#pragma once

#include "transform/cloner.h"
#include "transform/gradient/autodiff.h"

#include <memory>
#include <unordered_map>
#include <unordered_set>

namespace pando::transform {

// The gradients of one autodiff: of each graph, once for each question.
class Differentiator {
 public:
  Differentiator(ir::Builder& builder, const AutodiffOptions& options) : builder_(builder), options_(options) {}

  // What is required must exist.
  GradientInfo differentiate(ir::GraphId graph, std::span<const ir::ValueId> provided, std::span<const ir::ValueId> required);
  // Of a graph that an op carries: the gradients of `required` that exist; nothing where there are none.
  const GradientInfo* of_carried(ir::GraphId graph, const std::vector<ir::ValueId>& provided, const std::vector<ir::ValueId>& required);
  ir::Builder& builder() { return builder_; }
  // Those of carried graphs, in the order in which they were asked for.
  std::vector<GradientInfo> carried() const;

 private:
  struct Entry {
    ir::GraphId graph;
    std::vector<ir::ValueId> provided, required;
    std::optional<GradientInfo> info;
  };

  ir::Builder& builder_;
  const AutodiffOptions& options_;
  // Entries stay where they are.
  std::vector<std::unique_ptr<Entry>> entries_;
};

class GradientGraph {
 public:
  GradientGraph(Differentiator& all, ir::GraphId forward);

  // Whether some required gradient may come out, or an error tells why not, as far as rows say without being asked.
  bool flows(std::span<const ir::ValueId> provided, std::span<const ir::ValueId> required);
  // The gradient graph; outputs for the required values that have a gradient.
  GradientInfo build(std::span<const ir::ValueId> provided, std::span<const ir::ValueId> required);

  // Everything but inputs and `saved` is computed again.
  void recompute(std::span<const ir::ValueId> saved);

  // --- for the gradients of ops. All values are the forward graph's unless a name says `gradient`.
  ir::Builder& builder() { return all_.builder(); }
  ir::Module& module() { return module_; }
  const ir::Module& module() const { return module_; }
  Differentiator& all() { return all_; }
  // The value in the gradient graph.
  ir::ValueId forward_value(ir::ValueId v) { return forward_values_->value(v); }
  // Whether the gradient of a value leads to a required one.
  bool wants(ir::ValueId v) const;
  bool has_gradient(ir::ValueId v) const;
  // The sum of what came; zeros where nothing came.
  ir::ValueId gradient(ir::ValueId v);
  void give(ir::ValueId v, ir::ValueId gradient);
  void give_zeros(ir::ValueId v);
  // Of the calls of a graph in the forward graph: which inputs any of them wants.
  const std::vector<bool>& wanted_inputs(ir::GraphId called) { return wanted_inputs_[called]; }
  std::vector<ir::ValueId> emit(std::string_view op, std::span<const ir::ValueId> operands, const ir::Attributes& attributes = {},
                                std::span<const ir::GraphId> graphs = {}, std::string_view name = {});
  ir::ValueId zeros(const ir::Type& type);
  ir::ValueId scalar(ir::DType dtype, double value);
  ir::ValueId sum(std::vector<ir::ValueId> gradients, std::string_view name);

 private:
  struct Slot {
    std::vector<ir::ValueId> gradients;
    ir::ValueId sum;
    bool zero = false, wanted = false;
  };

  void mark_wanted(std::span<const ir::ValueId> required);
  void visit(ir::OpId op);
  std::optional<ir::ValueId> leaf(ir::ValueId v);
  ir::ValueId own_gradient(ir::ValueId v);
  ir::ValueId add_input(ir::ValueId v, ConnectionKind kind);

  Differentiator& all_;
  ir::Module& module_;
  GradientInfo info_;
  bool may_grow_ = false, recomputes_ = false;
  // Of the forward graph; where the rest is computed again, what is saved.
  std::unordered_set<ir::ValueId> outputs_, saved_;
  std::vector<ir::ValueId> extra_outputs_;
  std::unordered_map<ir::ValueId, Slot> slots_;
  std::map<ir::GraphId, std::vector<bool>> wanted_inputs_;
  std::map<std::pair<ir::DType, double>, ir::ValueId> scalars_;
  std::optional<Cloner> forward_values_;
  // Values of the gradient graph that are no gradients: they keep their names.
  std::unordered_set<ir::ValueId> taken_in_;
  ir::Place place_;
};

// Whether a gradient passes from the op's results to its operands, or an error tells why not.
bool passes_gradients(const ir::OpRow& row);
// Whether values of this type can have gradients. Sums and views of integers have some, where somebody asks for them.
bool carries_gradients(const ir::Module& module, ir::ValueId v);

// Gradients of ops that carry graphs; none: not such an op.
using GraphOpGradient = void (*)(GradientGraph&, ir::OpId);
GraphOpGradient graph_op_gradient(const ir::OpRow& row);
void gradient_of_call(GradientGraph& g, ir::OpId op);
void gradient_of_conditional(GradientGraph& g, ir::OpId op);
void gradient_of_repeat(GradientGraph& g, ir::OpId op);
// Of any other op: its row's.
void gradient_of_row(GradientGraph& g, ir::OpId op);

// How a carried graph's inputs and outputs are bound at an op: forward values of the carrying graph.
struct Binding {
  ir::GraphId graph;
  std::vector<ir::ValueId> operands, results;
};

// The distinct outputs of the carried graph whose gradients came.
std::vector<ir::ValueId> outputs_with_gradient(GradientGraph& g, const Binding& b);
// What the carried graph's gradient graph takes, as values of the gradient graph in the making.
std::vector<ir::ValueId> connect(GradientGraph& g, const Binding& b, const GradientInfo& info);
// The position of a value among a graph's inputs or outputs.
std::optional<std::size_t> position_in(std::span<const ir::ValueId> list, ir::ValueId v);

}  // namespace pando::transform
