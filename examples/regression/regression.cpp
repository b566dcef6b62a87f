// Fits a line to points, with the model level's C++ API: a graph, its gradient, a step of descent in place, runs.
#include <pando/model.hpp>

#include <cstdio>

namespace model = pando::model;

namespace {

constexpr std::int64_t kPoints = 32, kRuns = 400;

// Half the mean squared error of x w + b.
model::Graph error_of_line(model::Builder& b) {
  const model::Graph f = b.create_graph("error");
  const model::Type points{"float32", {kPoints}}, scalar{"float32", {}};
  const auto op = [&](const char* name, const std::vector<model::Tensor>& operands, const model::Attributes& a = {}) {
    return b.op(f, name, operands, a)[0];
  };
  const model::Tensor w = b.input(f, scalar, "w"), bias = b.input(f, scalar, "b"), x = b.input(f, points, "x"), y = b.input(f, points, "y");
  const model::Tensor difference = op("sub", {op("add", {op("mul", {x, w}), bias}), y});
  const model::Tensor half = b.constant(f, model::Data::of<float>({}, {0.5f}));
  b.output(f, op("mul",
                 {op("mean", {op("mul", {difference, difference})}, {{"axis", std::vector<std::int64_t>{0}}, {"keepdims", false}}), half}));
  return f;
}

}  // namespace

int main() {
  model::Builder b;
  const model::Graph main = b.main(), f = error_of_line(b);
  const model::Gradient gradient = b.autodiff(f);
  b.begin_sequence();
  const model::Type points{"float32", {kPoints}};
  const model::Stream xs = b.stream_to_device("x", points), ys = b.stream_to_device("y", points),
                      errors = b.stream_to_host("error", {"float32", {}});
  const model::Tensor w = b.variable(model::Data::of<float>({}, {0}), "w"), bias = b.variable(model::Data::of<float>({}, {0}), "b");
  const model::Tensor x = b.op(main, "host_load", {}, {{"stream", xs}})[0], y = b.op(main, "host_load", {}, {{"stream", ys}})[0];
  const std::vector<model::Tensor> given = {w, bias, x, y};
  const std::vector<model::Tensor> results = b.op(main, "call", given, {}, {f});
  std::vector<model::Tensor> operands;
  for (const auto& c : gradient.takes) {
    using Kind = model::Gradient::Kind;
    operands.push_back(c.kind == Kind::input    ? given[c.index]
                       : c.kind == Kind::output ? results[c.index]
                                                : b.constant(main, model::Data::of<float>({}, {1})));
  }
  const std::vector<model::Tensor> gradients = b.op(main, "call", operands, {}, {gradient.graph});
  for (const std::size_t i : {0u, 1u}) b.op(main, "scaled_add", {given[i], gradients[i]}, {{"a", 1.0}, {"b", -0.1}}, {}, true);
  b.op(main, "host_store", {results[0]}, {{"stream", errors}});
  b.end_sequence();

  std::vector<float> positions, values;
  for (int i = 0; i < kPoints; ++i) {
    positions.push_back(static_cast<float>(i) / kPoints * 4 - 2);
    values.push_back(3 * positions.back() - 1);
  }
  model::Session session(b, {.device = "cpu"});
  float error = 0;
  for (int run = 0; run < kRuns; ++run) {
    error = session.run({{xs, model::Data::of<float>({kPoints}, positions)}, {ys, model::Data::of<float>({kPoints}, values)}})
                .at(errors)
                .values<float>()[0];
    if (run == 0) std::printf("error at first: %.3f\n", error);
  }
  std::printf("error at last: %.3f\n", error);
  std::printf("y = %.2f x + %.2f\n", session.variable("w").values<float>()[0], session.variable("b").values<float>()[0]);

  // The text of a module parses back; what does not fit is found.
  const model::Module module = b.module();
  std::printf("the text is stable: %s\n", model::Module::parse(module.text()).text() == module.text() ? "yes" : "no");
  try {
    b.op(main, "matmul", {x, w});
  } catch (const pando::ModelError& e) { std::printf("rejected: %s\n", e.id().c_str()); }
}
