// What the order of ops does to memory: updates that stand at the end of a training step come as soon as their gradients are there.
#include "session/session.h"

#include "ir/semantics/interpreter.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <sstream>

namespace pando::session {
namespace {

using namespace ir;

constexpr std::int64_t kWidth = 128, kBatch = 16, kLayers = 6;

// A deep network whose layers are one called graph, and so are their gradients; all weights are updated at the end. Nothing is in sequence.
struct Program {
  Builder b;
  std::vector<TensorId> weights;
  HostStreamId out;

  TensorId op(GraphId g, std::string_view name, std::vector<TensorId> operands, Attributes a = {}, bool in_place = false) {
    return b.op(g, name, operands, a, {}, in_place)[0];
  }
  TensorId turned(GraphId g, TensorId t) { return op(g, "transpose", {t}, {{"permutation", Ints{1, 0}}}); }

  GraphId layer() {
    const GraphId g = b.create_graph("layer");
    const TensorId x = b.add_input(g, tensor_type(DType::float32, {kBatch, kWidth}), "x"),
                   w = b.add_input(g, tensor_type(DType::float32, {kWidth, kWidth}), "w");
    b.add_output(g, op(g, "tanh", {op(g, "matmul", {x, w})}));
    return g;
  }
  GraphId gradient() {
    const GraphId g = b.create_graph("gradient");
    const Type rows = tensor_type(DType::float32, {kBatch, kWidth});
    const TensorId dy = b.add_input(g, rows, "dy"), x = b.add_input(g, rows, "x"),
                   w = b.add_input(g, tensor_type(DType::float32, {kWidth, kWidth}), "w");
    const TensorId y = b.add_input(g, rows, "y"), one = b.add_constant(g, HostTensor::filled(DType::float32, {}, 1), "one");
    const TensorId dz = op(g, "mul", {dy, op(g, "sub", {one, op(g, "mul", {y, y})})});
    b.add_output(g, op(g, "matmul", {dz, turned(g, w)}));
    b.add_output(g, op(g, "matmul", {turned(g, x), dz}));
    return g;
  }
  TensorId variable(Shape shape, double scale) {
    HostTensor data(DType::float32, shape);
    for (std::int64_t i = 0; i < data.elements(); ++i) data.set(i, scale * static_cast<double>(i * 37 % 101 - 50));
    State s;
    s.type = b.module().type(tensor_type(DType::float32, shape));
    return b.add_variable(s, std::move(data), "v");
  }

  Program() {
    Module& m = b.module();
    const GraphId main = m.main_graph(), forward = layer(), backward = gradient();
    std::vector<TensorId> ys{variable({kBatch, kWidth}, 0.01)};
    for (std::int64_t i = 0; i < kLayers; ++i) {
      weights.push_back(variable({kWidth, kWidth}, 0.002));
      ys.push_back(b.op(main, "call", std::array{ys.back(), weights.back()}, {}, std::array{forward})[0]);
    }
    std::vector<TensorId> gradients;
    TensorId dy = ys.back();
    for (std::int64_t i = kLayers; i-- > 0;) {
      const auto at = static_cast<std::size_t>(i);
      const auto both = b.op(main, "call", std::array{dy, ys[at], weights[at], ys[at + 1]}, {}, std::array{backward});
      dy = both[0];
      gradients.insert(gradients.begin(), both[1]);
    }
    out = m.add_stream({"out", HostStream::Direction::device_to_host, DType::float32, {kBatch, kWidth}});
    for (std::size_t i = 0; i < weights.size(); ++i) op(main, "add", {weights[i], gradients[i]}, {}, true);
    b.op(main, "host_store", std::array{dy}, {{"stream", out}});
    b.finish();
  }
};

// "Without gaps", in KiB on all tiles.
double memory_of(const std::string& report) {
  const std::string mark = "Without gaps:";
  const std::size_t at = report.find(mark);
  if (at == std::string::npos) return 0;
  std::istringstream line(report.substr(at + mark.size()));
  double size = 0;
  std::string unit;
  line >> size >> unit;
  return unit == "MiB" ? 1024 * size : unit == "KiB" ? size : 0;
}

struct Outcome {
  double memory = 0;
  std::vector<HostTensor> weights;
  // Of the main graph, by row and name.
  std::vector<std::string> ops;
};

Outcome outcome(const std::string& device, bool schedule) {
  Program p;
  Options options;
  options.device = device;
  options.tiles_per_ipu = device == "cpu" ? 0 : 4;
  options.settings.set("schedule", schedule);
  Session session(p.b, options);
  session.attach();
  session.weights_from_host();
  HostTensor found(DType::float32, {1, 1, kBatch, kWidth});
  const OutputData to{p.out, found.writable(), 1};
  for (int run = 0; run < 2; ++run) session.run({}, {&to, 1});
  Outcome o{memory_of(session.profile_summary()), {}, {}};
  const Module& m = session.lowered();
  for (OpId op : m.graph(m.main_graph()).ops) o.ops.push_back(std::string(m.row(op).name) + " " + m.name_of(op));
  for (std::uint32_t i = 1; i <= kLayers; ++i) o.weights.push_back(session.data(StateId(i)));
  return o;
}

TEST(Schedule, a_deep_network_keeps_one_gradient_instead_of_all) {
  Program p;
  Interpreter reference(p.b.module());
  for (int run = 0; run < 2; ++run) reference.run();
  constexpr double kGradient = kWidth * kWidth * 4 / 1024.0;
  for (const char* device : {"cpu", "ipu_model"}) {
    const Outcome listed = outcome(device, false), scheduled = outcome(device, true);
    // Five of six gradients need no memory of their own.
    EXPECT_LT(scheduled.memory, listed.memory - 4 * kGradient) << device;
    EXPECT_NE(scheduled.ops, listed.ops);
    EXPECT_EQ(outcome(device, true).ops, scheduled.ops) << "not the same order each time";
    for (std::uint32_t i = 0; i < kLayers; ++i) {
      const HostTensor expected = reference.state(StateId(i + 1), 0);
      for (std::int64_t e = 0; e < expected.elements(); ++e) {
        ASSERT_NEAR(scheduled.weights[i].number(e), expected.number(e), 1e-4 * (1 + std::abs(expected.number(e))))
            << device << ", weight " << i << ", element " << e;
      }
    }
  }
}

}  // namespace
}  // namespace pando::session
