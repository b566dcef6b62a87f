// The gradient of a repeat: a loop that runs the body again and keeps what its gradient needs, and a loop that walks back.
//
//     states(c.., stack.., k; w..):               step(dc.., dw.., k; stack.., w..):
//         stack' = dynamic_update(stack, k, c)        c = dynamic_slice(stack, last - k)
//         c' = body(c, w)                             dc', d = body_bwd(dc, c, w)
//         k' = k + 1                                  dw' = dw + d;  k' = k + 1
#include "transform/gradient/gradient_graph.h"

#include "base/check.h"
#include "ir/error.h"
#include "ir/semantics/infer.h"

#include <algorithm>

namespace pando::transform {

using namespace ir;

namespace {

// Writes one graph whose inputs are not values of another.
class Body {
 public:
  Body(GradientGraph& g, const std::string& name, const Place& place) : g_(g), m_(g.module()), place_(place) {
    graph_ = g.builder().create_graph(unique_graph_name(m_, name));
  }
  GraphId graph() const { return graph_; }
  ValueId input(const Type& type, const std::string& name) {
    const ValueId v = m_.add_input(graph_, type, name);
    g_.builder().tensor_for(v);
    return v;
  }
  std::vector<ValueId> ops(std::string_view op, const std::vector<ValueId>& operands, const Attributes& attributes = {},
                           std::vector<GraphId> graphs = {}) {
    const auto results = m_.results(infer_and_add(m_, graph_, op, operands, attributes, graphs, false, place_));
    return {results.begin(), results.end()};
  }
  ValueId op(std::string_view name, const std::vector<ValueId>& operands, const Attributes& attributes = {}) {
    return ops(name, operands, attributes)[0];
  }
  void output(ValueId v) { g_.builder().add_output(graph_, g_.builder().tensor_for(v)); }
  ValueId counter_constant(std::int64_t value) {
    const std::int64_t values[] = {value};
    return op("constant", {}, {{"data", m_.add_blob(HostTensor::of_ints(DType::uint32, {1}, values))}});
  }
  ValueId zeros(const Type& type) {
    Attributes a{{"shape", Ints(type.shape)}, {"dtype", type.dtype}, {"init_type", std::string("zero")}};
    if (!type.meta_shape.empty()) a.set("meta_shape", Ints(type.meta_shape));
    return op("init", {}, a);
  }

 private:
  GradientGraph& g_;
  Module& m_;
  Place place_;
  GraphId graph_;
};

Type row_of_stack(const Type& t) {
  Type row = t;
  row.shape.insert(row.shape.begin(), 1);
  return row;
}

const Attributes kRow{{"axes", Ints{0}}, {"sizes", Ints{1}}, {"no_overlap", true}};

class RepeatGradient {
 public:
  RepeatGradient(GradientGraph& g, OpId op) : g_(g), m_(g.module()), body_(m_.graphs(op)[0]), op_(op) {
    operands_.assign(m_.operands(op).begin(), m_.operands(op).end());
    results_.assign(m_.results(op).begin(), m_.results(op).end());
    inputs_ = m_.graph(body_).inputs;
    outputs_ = m_.graph(body_).outputs;
    count_ = m_.attributes(op).integer("count");
    place_ = m_.type_of(results_[0]).place;
    counter_type_ = tensor_type(DType::uint32, {1}, place_);
  }

  void run() {
    if (count_ == 0) return pass_on();
    choose();
    info_ = g_.all().of_carried(body_, provided_, required_);
    if (!info_) return;
    sort_inputs();
    make_stacks();
    walk_back();
  }

 private:
  std::size_t carried() const { return outputs_.size(); }
  bool differentiable(ValueId v) const { return m_.type_of(v).is_tensor() && is_differentiable(m_.type_of(v).dtype); }

  // No iteration: results are the first operands.
  void pass_on() {
    for (std::size_t i = 0; i < carried(); ++i) {
      if (g_.has_gradient(results_[i]) && g_.wants(operands_[i])) g_.give(operands_[i], g_.gradient(results_[i]));
    }
  }

  // Gradients flow through every carried value of a type that has some; of the others, where they are wanted.
  void choose() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (!differentiable(inputs_[i])) continue;
      if (i < carried()) {
        flowing_.push_back(i);
        if (!position_in(provided_, outputs_[i])) provided_.push_back(outputs_[i]);
        required_.push_back(inputs_[i]);
      } else if (g_.wants(operands_[i])) {
        required_.push_back(inputs_[i]);
      }
    }
  }

  // What the body's gradient takes of each iteration, and what is the same for all.
  void sort_inputs() {
    for (const Connection& c : info_->inputs) {
      if (c.kind == ConnectionKind::fwd_grad) continue;
      const auto i = position_in(inputs_, c.value);
      if (i && *i >= carried()) {
        invariant_.push_back(*i);
      } else {
        PANDO_CHECK(i || position_in(outputs_, c.value));
        stacked_.push_back(c.value);
      }
    }
  }

  void make_stacks() {
    if (stacked_.empty()) return;
    if (has_outside_effects(m_, body_)) {
      throw_model_error(
          ErrorClass::popart, "cannot-recompute",
          fmt::format("repeat of graph '{}' must run again for its gradient, but the graph reads or writes streams or remote buffers",
                      m_.graph(body_).name),
          m_.location_text(op_));
    }
    std::vector<ValueId> operands, stacks;
    for (std::size_t i = 0; i < carried(); ++i) operands.push_back(g_.forward_value(operands_[i]));
    for (ValueId v : stacked_) operands.push_back(g_.zeros(stack_type(v)));
    operands.push_back(counter());
    for (std::size_t i = carried(); i < inputs_.size(); ++i) operands.push_back(g_.forward_value(operands_[i]));
    const GraphId graph[] = {states_graph()};
    const std::vector<ValueId> results = g_.emit("repeat", operands, {{"count", count_}}, graph);
    stacks_.assign(results.begin() + static_cast<std::ptrdiff_t>(carried()), results.end() - 1);
  }

  GraphId states_graph() {
    Body b(g_, m_.graph(body_).name + "_states", place_);
    std::vector<ValueId> values, stacks;
    for (std::size_t i = 0; i < carried(); ++i) values.push_back(b.input(typed(inputs_[i]), m_.name_of(inputs_[i])));
    for (ValueId v : stacked_) stacks.push_back(b.input(stack_type(v), m_.name_of(v) + "_stack"));
    const ValueId k = b.input(counter_type_, "iteration");
    for (std::size_t i = carried(); i < inputs_.size(); ++i) values.push_back(b.input(typed(inputs_[i]), m_.name_of(inputs_[i])));
    const std::vector<ValueId> next = b.ops("call", values, {}, {body_});
    for (ValueId v : next) b.output(v);
    for (std::size_t s = 0; s < stacked_.size(); ++s) {
      const auto i = position_in(inputs_, stacked_[s]);
      const ValueId v = i ? values[*i] : next[*position_in(outputs_, stacked_[s])];
      const ValueId row = b.op("reshape", {v}, {{"shape", Ints(row_of_stack(m_.type_of(v)).shape)}});
      b.output(b.op("dynamic_update", {stacks[s], k, row}, kRow));
    }
    b.output(b.op("add", {k, b.counter_constant(1)}));
    return b.graph();
  }

  void walk_back() {
    for (std::size_t o = 0; o < info_->outputs.size(); ++o) {
      const auto i = position_in(inputs_, info_->outputs[o].value);
      if (i && *i >= carried() && g_.wants(operands_[*i])) summed_.push_back({*i, o});
    }
    std::vector<ValueId> operands;
    for (std::size_t i : flowing_) operands.push_back(g_.gradient(results_[i]));
    for (const auto& [i, o] : summed_) operands.push_back(g_.zeros(m_.type_of(inputs_[i])));
    operands.push_back(counter());
    operands.insert(operands.end(), stacks_.begin(), stacks_.end());
    for (std::size_t i : invariant_) operands.push_back(g_.forward_value(operands_[i]));
    const GraphId graph[] = {step_graph()};
    const std::vector<ValueId> results = g_.emit("repeat", operands, {{"count", count_}}, graph);
    for (std::size_t f = 0; f < flowing_.size(); ++f) {
      if (g_.wants(operands_[flowing_[f]])) g_.give(operands_[flowing_[f]], results[f]);
    }
    for (std::size_t s = 0; s < summed_.size(); ++s) g_.give(operands_[summed_[s].first], results[flowing_.size() + s]);
  }

  GraphId step_graph() {
    Body b(g_, m_.graph(body_).name + "_bwd_step", place_);
    std::vector<ValueId> flowing, sums, stacks, invariant;
    for (std::size_t i : flowing_) flowing.push_back(b.input(typed(inputs_[i]), "Gradient___" + m_.name_of(outputs_[i])));
    for (const auto& [i, o] : summed_) sums.push_back(b.input(typed(inputs_[i]), "Gradient___" + m_.name_of(inputs_[i])));
    const ValueId k = b.input(counter_type_, "iteration");
    for (ValueId v : stacked_) stacks.push_back(b.input(stack_type(v), m_.name_of(v) + "_stack"));
    for (std::size_t i : invariant_) invariant.push_back(b.input(typed(inputs_[i]), m_.name_of(inputs_[i])));
    const ValueId row = stacks.empty() ? ValueId() : b.op("sub", {b.counter_constant(count_ - 1), k});
    std::vector<ValueId> operands;
    std::size_t next_stack = 0, next_invariant = 0;
    for (const Connection& c : info_->inputs) {
      if (c.kind == ConnectionKind::fwd_grad) {
        operands.push_back(incoming(b, c.value, flowing));
      } else if (next_stack < stacked_.size() && stacked_[next_stack] == c.value) {
        const ValueId slice = b.op("dynamic_slice", {stacks[next_stack++], row}, kRow);
        operands.push_back(b.op("reshape", {slice}, {{"shape", Ints(m_.type_of(c.value).shape)}}));
      } else {
        operands.push_back(invariant[next_invariant++]);
      }
    }
    const std::vector<ValueId> gradients = b.ops("call", operands, {}, {info_->gradient});
    for (std::size_t i : flowing_) {
      const auto o = output_for(inputs_[i]);
      b.output(o ? gradients[*o] : b.zeros(m_.type_of(inputs_[i])));
    }
    for (std::size_t s = 0; s < summed_.size(); ++s) b.output(b.op("add", {sums[s], gradients[summed_[s].second]}));
    b.output(b.op("add", {k, b.counter_constant(1)}));
    return b.graph();
  }

  // A body may give one value as several outputs.
  ValueId incoming(Body& b, ValueId output, const std::vector<ValueId>& flowing) {
    std::vector<ValueId> all;
    for (std::size_t f = 0; f < flowing_.size(); ++f) {
      if (outputs_[flowing_[f]] == output) all.push_back(flowing[f]);
    }
    if (all.empty()) {
      reject(ErrorClass::popart, "gradient-of-inner-tensor",
             "the gradient graph of '{}' takes a gradient of '{}', which is not an output of it", m_.graph(body_).name, m_.name_of(output));
    }
    return all.size() == 1 ? all[0] : b.op("add_n", all);
  }

  std::optional<std::size_t> output_for(ValueId input) const {
    for (std::size_t o = 0; o < info_->outputs.size(); ++o) {
      if (info_->outputs[o].value == input) return o;
    }
    return std::nullopt;
  }

  Type typed(ValueId v) const { return m_.type_of(v); }
  Type stack_type(ValueId v) const {
    Type t = m_.type_of(v);
    t.shape.insert(t.shape.begin(), count_);
    return t;
  }
  ValueId counter() {
    const std::int64_t zero[] = {0};
    const ValueId v = g_.emit("constant", {}, {{"data", m_.add_blob(HostTensor::of_ints(DType::uint32, {1}, zero))}})[0];
    return v;
  }

  GradientGraph& g_;
  Module& m_;
  GraphId body_;
  OpId op_;
  std::vector<ValueId> operands_, results_, inputs_, outputs_;
  std::int64_t count_ = 0;
  Place place_;
  Type counter_type_;
  std::vector<ValueId> provided_, required_;
  const GradientInfo* info_ = nullptr;
  // Carried inputs through which gradients flow; others that the body's gradient takes; forward values of each iteration.
  std::vector<std::size_t> flowing_, invariant_;
  std::vector<ValueId> stacked_, stacks_;
  // Inputs that are not carried, with the output of the body's gradient graph.
  std::vector<std::pair<std::size_t, std::size_t>> summed_;
};

}  // namespace

void gradient_of_repeat(GradientGraph& g, OpId op) { RepeatGradient(g, op).run(); }

}  // namespace pando::transform
