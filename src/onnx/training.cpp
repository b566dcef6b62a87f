#include "onnx/training.h"

#include "ir/checks/verify.h"
#include "ir/op_row.h"
#include "ir/reject_at.h"
#include "ir/semantics/infer.h"
#include "onnx/importer.h"
#include "transform/gradient/autodiff.h"

#include <algorithm>
#include <initializer_list>

namespace pando::onnx {

using ir::ErrorClass;

namespace {

constexpr const char* kTarget = "target";
constexpr const char* kLoss = "loss";

Node node(std::string op, std::vector<std::string> inputs, std::string output) {
  Node n;
  n.name = n.op = std::move(op);
  n.inputs = std::move(inputs);
  n.outputs = {std::move(output)};
  return n;
}

class Step {
 public:
  Step(Model model, ImportOptions options, const Training& training)
      : model_(std::move(model)), options_(std::move(options)), training_(training) {}

  ir::Module run() {
    add_loss();
    options_.streams = true;
    Importer importer(model_, options_);
    builder_.module() = importer.run();
    reject_graphs();
    loss_ = importer.result(loss_name_);
    const ir::Type type = module().type_of(loss_);
    if (ir::elements_of(type.shape) != 1 || !ir::is_floating(type.dtype))
      reject("it is {}{}; a loss is one floating number", ir::name_of(type.dtype), ir::to_string(type.shape));
    find_weights();
    const std::vector<ValueId> gradients = differentiate();
    update(gradients);
    module().graph(main()).outputs.clear();
    ir::check(module());
    return std::move(module());
  }

 private:
  ir::Module& module() { return builder_.module(); }
  ir::GraphId main() { return module().main_graph(); }

  template <class... Args>
  [[noreturn]] void reject(fmt::format_string<Args...> format, Args&&... args) const {
    ir::reject_at(ErrorClass::value, "onnx-loss", {model_.source, 0, 0, fmt::format("loss '{}'", training_.of)}, "{}",
                  fmt::format(format, std::forward<Args>(args)...));
  }

  // Nodes of the standard domain, behind the model's.
  void add_loss() {
    const auto& outputs = model_.graph.outputs;
    if (std::none_of(outputs.begin(), outputs.end(), [&](const ValueInfo& v) { return v.name == training_.of; })) {
      std::string names;
      for (const ValueInfo& v : outputs) names += (names.empty() ? "'" : ", '") + v.name + "'";
      reject("the model has no such output; it has {}", names);
    }
    loss_name_ = training_.of;
    if (training_.loss == Training::Loss::output) return;
    for (const char* name : {kTarget, kLoss}) {
      const auto has = [&](const std::vector<ValueInfo>& list) {
        return std::any_of(list.begin(), list.end(), [&](const ValueInfo& v) { return v.name == name; });
      };
      if (has(model_.graph.inputs) || has(outputs)) reject("the model has a '{}' of its own, where the loss would have one", name);
    }
    ValueInfo target;
    target.name = kTarget;
    target.has_type = true;
    target.shape = target_shape();
    const bool classes = training_.loss == Training::Loss::cross_entropy;
    target.dtype = classes ? DType::int32 : DType::float32;
    model_.graph.inputs.push_back(target);
    auto& nodes = model_.graph.nodes;
    if (classes) {
      nodes.push_back(node("SoftmaxCrossEntropyLoss", {training_.of, kTarget}, kLoss));
      model_.opsets[""] = std::max<std::int64_t>(model_.opsets[""], 12);
    } else {
      nodes.push_back(node("Sub", {training_.of, kTarget}, "loss.difference"));
      nodes.push_back(node("Mul", {"loss.difference", "loss.difference"}, "loss.square"));
      Node mean = node("ReduceMean", {"loss.square"}, kLoss);
      Attribute no;
      no.type = AttributeType::integer;
      mean.attributes["keepdims"] = no;
      nodes.push_back(std::move(mean));
    }
    ValueInfo loss;
    loss.name = loss_name_ = kLoss;
    model_.graph.outputs.push_back(loss);
  }

  // The shape of the output, as a first import finds it; without the classes for labels.
  std::vector<Dimension> target_shape() const {
    Importer importer(model_, options_);
    const ir::Module m = importer.run();
    ir::Shape shape = m.type_of(importer.result(training_.of)).shape;
    if (training_.loss == Training::Loss::cross_entropy) {
      if (shape.size() < 2) reject("scores of shape {}; a batch and classes are expected", ir::to_string(shape));
      shape.erase(shape.begin() + 1);
    }
    std::vector<Dimension> dimensions;
    for (const std::int64_t d : shape) dimensions.push_back({d, ""});
    return dimensions;
  }

  void reject_graphs() {
    if (module().graph_count() > 1)
      ir::reject_at(ErrorClass::not_implemented, "onnx-training", {model_.source},
                    "the model has graphs of its own ('{}'), as If and loops have that are not written out: it cannot be trained",
                    module().graph(ir::GraphId(1)).name);
  }

  // Means and variances that BatchNormalization has found earlier.
  std::set<std::string> statistics() const {
    std::set<std::string> all;
    for (const Node& n : model_.graph.nodes) {
      for (std::size_t i = 3; n.op == "BatchNormalization" && i < std::min<std::size_t>(5, n.inputs.size()); ++i) all.insert(n.inputs[i]);
    }
    return all;
  }

  // Inputs of the main graph that the loss follows from.
  std::set<std::uint32_t> reached() {
    std::set<std::uint32_t> inputs;
    std::vector<ValueId> todo{loss_};
    std::vector<bool> seen(module().value_count());
    while (!todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      if (seen[v.index()]) continue;
      seen[v.index()] = true;
      const ir::Value& value = module().value(v);
      if (!value.producer.valid()) {
        inputs.insert(value.index);
        continue;
      }
      for (const ValueId operand : module().operands(value.producer)) todo.push_back(operand);
    }
    return inputs;
  }

  void find_weights() {
    const std::set<std::uint32_t> inputs = reached();
    const std::set<std::string> fixed = statistics();
    std::set<std::string> unknown = training_.frozen;
    for (std::size_t s = 0; s < module().state_count(); ++s) {
      const ir::State& state = module().state(ir::StateId(static_cast<ir::StateId::rep>(s)));
      unknown.erase(state.name);
      if (training_.frozen.contains(state.name) || fixed.contains(state.name) || !inputs.contains(*state.input)) continue;
      weights_.push_back(module().graph(main()).inputs[*state.input]);
      names_.push_back(state.name);
    }
    if (!unknown.empty())
      ir::reject_at(ErrorClass::value, "onnx-training", {model_.source}, "'{}' is to stay as it is, and is not a weight of the model",
                    *unknown.begin());
    if (weights_.empty()) reject("it follows from no weight that could be trained");
  }

  std::vector<ValueId> differentiate() {
    transform::AutodiffOptions options;
    options.provided = std::vector{loss_};
    options.required = weights_;
    builder_.add_output(main(), builder_.tensor_for(loss_));
    const transform::GradientInfo info = transform::autodiff(builder_, main(), options);
    const ir::Type type = module().type_of(loss_);
    std::vector<ValueId> operands;
    for (const transform::Connection& c : info.inputs) {
      const bool is_gradient = c.kind == transform::ConnectionKind::fwd_grad;
      operands.push_back(is_gradient ? constant(HostTensor::filled(type.dtype, type.shape, 1)) : c.value);
    }
    const ir::OpId call = ir::infer_and_add(module(), main(), "call", operands, {}, {{info.gradient}});
    return {module().results(call).begin(), module().results(call).end()};
  }

  // --- the update

  ValueId op(std::string_view name, std::initializer_list<ValueId> operands) {
    return module().result(ir::infer_and_add(module(), main(), name, {operands.begin(), operands.size()}));
  }
  ValueId constant(HostTensor data) {
    const ir::BlobId blob = module().add_blob(std::move(data));
    return module().result(ir::infer_and_add(module(), main(), "constant", {}, {{"data", blob}}));
  }
  ValueId number(DType dtype, double value) { return constant(HostTensor::filled(dtype, {}, value)); }

  // A variable that begins with zeros.
  ValueId state(const std::string& name, const ir::Type& type) {
    const ValueId v = module().add_input(main(), type, name);
    ir::State s;
    s.name = module().name_of(v);
    s.type = module().type(type);
    s.input = module().value(v).index;
    s.data = module().add_blob(HostTensor::filled(type.dtype, type.shape, 0));
    module().add_state(std::move(s));
    return v;
  }
  void becomes(ValueId input, ValueId to) { module().graph(main()).updated_inputs[module().value(input).index] = to; }

  // What an update takes from the step's number, which counts from 1: rate / (1 - beta1^n), 1 - beta2^n.
  void count_steps() {
    const Optimizer& o = training_.optimizer;
    const ValueId step = state("step", ir::tensor_type(DType::float32, {})), one = number(DType::float32, 1);
    const ValueId next = op("add", {step, one});
    becomes(step, next);
    const auto rest = [&](double beta) { return op("sub", {one, op("pow", {number(DType::float32, beta), next})}); };
    rate_ = op("div", {number(DType::float32, o.learning_rate), rest(o.beta1)});
    bias2_ = rest(o.beta2);
  }

  void update(const std::vector<ValueId>& gradients) {
    if (training_.optimizer.kind != Optimizer::Kind::sgd) count_steps();
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const ir::Type type = module().type_of(weights_[i]);
      if (training_.optimizer.kind == Optimizer::Kind::sgd) {
        sgd(i, type, gradients[i]);
      } else {
        adam(i, type, gradients[i]);
      }
    }
  }

  void sgd(std::size_t i, const ir::Type& type, ValueId gradient) {
    const Optimizer& o = training_.optimizer;
    const auto c = [&](double x) { return number(type.dtype, x); };
    if (o.weight_decay != 0) gradient = op("add", {gradient, op("mul", {weights_[i], c(o.weight_decay)})});
    if (o.momentum != 0) {
      const ValueId m = state(names_[i] + ".momentum", type);
      gradient = op("add", {op("mul", {m, c(o.momentum)}), gradient});
      becomes(m, gradient);
    }
    becomes(weights_[i], op("sub", {weights_[i], op("mul", {gradient, c(o.learning_rate)})}));
  }

  void adam(std::size_t i, const ir::Type& type, ValueId gradient) {
    const Optimizer& o = training_.optimizer;
    const auto c = [&](double x) { return number(type.dtype, x); };
    const auto cast = [&](ValueId v) {
      if (type.dtype == DType::float32) return v;
      return module().result(ir::infer_and_add(module(), main(), "cast", {&v, 1}, {{"dtype", type.dtype}}));
    };
    ValueId weight = weights_[i];
    if (o.weight_decay != 0 && o.kind == Optimizer::Kind::adamw) weight = op("mul", {weight, c(1 - o.learning_rate * o.weight_decay)});
    if (o.weight_decay != 0 && o.kind == Optimizer::Kind::adam) gradient = op("add", {gradient, op("mul", {weight, c(o.weight_decay)})});
    const ValueId m = state(names_[i] + ".m", type), v = state(names_[i] + ".v", type);
    const ValueId m1 = op("add", {op("mul", {m, c(o.beta1)}), op("mul", {gradient, c(1 - o.beta1)})});
    const ValueId v1 = op("add", {op("mul", {v, c(o.beta2)}), op("mul", {op("mul", {gradient, gradient}), c(1 - o.beta2)})});
    becomes(m, m1);
    becomes(v, v1);
    const ValueId size = op("add", {op("sqrt", {op("div", {v1, cast(bias2_)})}), c(o.epsilon)});
    becomes(weights_[i], op("sub", {weight, op("mul", {op("div", {m1, size}), cast(rate_)})}));
  }

  Model model_;
  ImportOptions options_;
  const Training& training_;
  ir::Builder builder_;
  std::string loss_name_;
  ValueId loss_, rate_, bias2_;
  std::vector<ValueId> weights_;
  std::vector<std::string> names_;
};

}  // namespace

ir::Module import_training(Model model, ImportOptions options, const Training& training) {
  return Step(std::move(model), std::move(options), training).run();
}

ir::Module import_training_file(const std::string& path, const ImportOptions& options, const Training& training) {
  return import_training(read_model(path), options, training);
}

}  // namespace pando::onnx
