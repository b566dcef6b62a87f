#include "session/session.h"

#include "ir/semantics/interpreter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poplar/exceptions.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace pando::session {
namespace {

using namespace ir;

HostTensor numbers(Shape shape, double first, double step = 1) {
  HostTensor t(DType::float32, shape);
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, first + step * static_cast<double>(i));
  return t;
}

std::vector<Options> machines() {
  Options cpu;
  cpu.device = "cpu";
  Options tiles;
  tiles.tiles_per_ipu = 4;
  return {cpu, tiles};
}

TensorId variable(Builder& b, HostTensor data, std::string_view name) {
  State s;
  s.type = b.module().type(tensor_type(data.dtype(), data.shape()));
  return b.add_variable(s, std::move(data), name);
}

// y = call(x @ w + bias) in a graph of its own; the graph is called twice.
TEST(Session, a_called_graph_of_a_product_and_a_sum_equals_the_interpreter) {
  for (const Options& options : machines()) {
    Builder b;
    Module& m = b.module();
    const GraphId main = m.main_graph();
    b.push_sequence(SequenceMode::ordered);
    const HostStreamId in = m.add_stream({"in", HostStream::Direction::host_to_device, DType::float32, {2, 3}});
    const HostStreamId out = m.add_stream({"out", HostStream::Direction::device_to_host, DType::float32, {2, 3}});
    const TensorId w = variable(b, numbers({3, 3}, -1, 0.25), "w");
    const GraphId layer = b.create_graph("layer");
    const TensorId x = b.add_input(layer, tensor_type(DType::float32, {2, 3}), "x");
    const TensorId v = b.add_input(layer, tensor_type(DType::float32, {3, 3}), "w");
    const TensorId product = b.op(layer, "matmul", std::vector{x, v})[0];
    b.add_output(layer, b.op(layer, "add", std::vector{product, x})[0]);
    const TensorId loaded = b.op(main, "host_load", {}, {{"stream", in}})[0];
    const TensorId once = b.op(main, "call", std::vector{loaded, w}, {}, std::vector{layer})[0];
    const TensorId twice = b.op(main, "call", std::vector{once, w}, {}, std::vector{layer})[0];
    b.op(main, "add", std::vector{w, w}, {}, {}, true);
    b.op(main, "host_store", std::vector{b.op(main, "add", std::vector{twice, once})[0]}, {{"stream", out}});
    b.pop_sequence();
    b.finish();

    Interpreter reference(m);
    const HostTensor data = numbers({1, 1, 2, 3}, 1);
    reference.set_input(in, data);
    reference.run();
    reference.run();

    Session session(b, options);
    session.attach();
    session.weights_from_host();
    HostTensor result(DType::float32, {2, 3});
    for (int run = 0; run < 2; ++run) {
      session.run(std::vector<InputData>{{in, data.data(), 1}}, std::vector<OutputData>{{out, result.writable(), 1}});
    }
    const HostTensor expected = reference.output(out, 1);
    for (std::int64_t i = 0; i < 6; ++i) EXPECT_FLOAT_EQ(result.number(i), expected.number(i)) << options.device << " " << i;
    const HostTensor now = session.data(b.tensor(w).state);
    for (std::int64_t i = 0; i < 9; ++i) EXPECT_EQ(now.number(i), reference.state(b.tensor(w).state, 0).number(i));
  }
}

// A hundred layers with weights of their own. On the tiles of the function's operand they would take 1,600 KiB of two tiles that have 624
// each.
TEST(Session, weights_of_many_calls_of_one_graph_lie_where_room_is) {
  constexpr int kLayers = 100;
  constexpr std::int64_t kWidth = 64;
  Builder b;
  Module& m = b.module();
  b.push_sequence(SequenceMode::ordered);
  const HostStreamId out = m.add_stream({"out", HostStream::Direction::device_to_host, DType::float32, {32, kWidth}});
  const GraphId layer = b.create_graph("layer");
  const TensorId x = b.add_input(layer, tensor_type(DType::float32, {32, kWidth}), "x");
  const TensorId v = b.add_input(layer, tensor_type(DType::float32, {kWidth, kWidth}), "w");
  const TensorId u = b.add_input(layer, tensor_type(DType::float32, {kWidth, kWidth}), "u");
  const TensorId product = b.op(layer, "matmul", std::vector{b.op(layer, "matmul", std::vector{x, v})[0], u})[0];
  b.add_output(layer, b.op(layer, "add", std::vector{product, x})[0]);
  TensorId value = variable(b, numbers({32, kWidth}, -1, 1.0 / 1024), "x");
  std::vector<TensorId> weights;
  for (int i = 0; i < kLayers; ++i) {
    for (int k = 0; k < 2; ++k)
      weights.push_back(variable(b, numbers({kWidth, kWidth}, -0.001 * (i % 7), 1e-6), "w" + std::to_string(i) + "_" + std::to_string(k)));
    value = b.op(m.main_graph(), "call", std::vector{value, weights[weights.size() - 2], weights.back()}, {}, std::vector{layer})[0];
    b.op(m.main_graph(), "add", std::vector{weights.back(), weights[weights.size() - 2]}, {}, {}, true);
  }
  b.op(m.main_graph(), "host_store", std::vector{value}, {{"stream", out}});
  b.pop_sequence();
  b.finish();
  Interpreter reference(m);
  reference.run();

  Options tiles;
  tiles.tiles_per_ipu = 8;
  Session session(b, tiles);
  session.attach();
  session.weights_from_host();
  HostTensor result(DType::float32, {32, kWidth});
  session.run({}, std::vector<OutputData>{{out, result.writable(), 1}});
  const HostTensor expected = reference.output(out, 1);
  for (std::int64_t i = 0; i < result.elements(); ++i)
    EXPECT_NEAR(result.number(i), expected.number(i), 1e-4 * std::max(1.0, std::abs(expected.number(i)))) << i;
  for (const TensorId w : {weights[1], weights.back()}) {
    const HostTensor now = session.data(b.tensor(w).state);
    for (std::int64_t i = 0; i < now.elements(); ++i) ASSERT_FLOAT_EQ(now.number(i), reference.state(b.tensor(w).state, 0).number(i));
  }
}

// One graph leaves what another one reads, and both read the same weights, one of them transposed; both are called twice, in turns.
TEST(Session, functions_that_pass_on_and_share_operands_equal_the_interpreter) {
  for (const Options& options : machines()) {
    Builder b;
    Module& m = b.module();
    const GraphId main = m.main_graph();
    b.push_sequence(SequenceMode::ordered);
    const HostStreamId out = m.add_stream({"out", HostStream::Direction::device_to_host, DType::float32, {6, 4}});
    const Type rows = tensor_type(DType::float32, {6, 4}), square = tensor_type(DType::float32, {4, 4});
    const GraphId forward = b.create_graph("forward"), backward = b.create_graph("backward");
    {
      const TensorId x = b.add_input(forward, rows, "x"), w = b.add_input(forward, square, "w");
      const TensorId y = b.op(forward, "matmul", std::vector{x, w})[0];
      b.add_output(forward, b.op(forward, "add", std::vector{y, x})[0]);
      b.add_output(forward, b.op(forward, "transpose", std::vector{y}, {{"permutation", Ints{1, 0}}})[0]);
    }
    {
      const TensorId w = b.add_input(backward, square, "w"), kept = b.add_input(backward, tensor_type(DType::float32, {4, 6}), "kept");
      const TensorId d = b.add_input(backward, rows, "d");
      const TensorId turned = b.op(backward, "transpose", std::vector{w}, {{"permutation", Ints{1, 0}}})[0];
      const TensorId back = b.op(backward, "matmul", std::vector{d, turned})[0];
      b.add_output(backward, b.op(backward, "add",
                                  std::vector{back, b.op(backward, "transpose", std::vector{kept}, {{"permutation", Ints{1, 0}}})[0]})[0]);
    }
    const TensorId d = variable(b, numbers({6, 4}, 2, -0.125), "d"), x = variable(b, numbers({6, 4}, 0, 0.0625), "x");
    const std::vector<TensorId> w = {variable(b, numbers({4, 4}, -1, 0.125), "w0"), variable(b, numbers({4, 4}, 1, -0.0625), "w1")};
    const auto first = b.op(main, "call", std::vector{x, w[0]}, {}, std::vector{forward}),
               second = b.op(main, "call", std::vector{first[0], w[1]}, {}, std::vector{forward});
    const TensorId d1 = b.op(main, "call", std::vector{w[1], second[1], d}, {}, std::vector{backward})[0];
    const TensorId d0 = b.op(main, "call", std::vector{w[0], first[1], d1}, {}, std::vector{backward})[0];
    b.op(main, "host_store", std::vector{b.op(main, "add", std::vector{d0, second[0]})[0]}, {{"stream", out}});
    b.pop_sequence();
    b.finish();
    Interpreter reference(m);
    reference.run();

    Session session(b, options);
    session.attach();
    session.weights_from_host();
    HostTensor result(DType::float32, {6, 4});
    session.run({}, std::vector<OutputData>{{out, result.writable(), 1}});
    const HostTensor expected = reference.output(out, 1);
    for (std::int64_t i = 0; i < result.elements(); ++i)
      EXPECT_FLOAT_EQ(result.number(i), expected.number(i)) << options.device << " " << i;
  }
}

TEST(Session, variables_that_no_ipu_holds_are_rejected_before_anything_is_compiled) {
  Builder b;
  State s;
  s.type = b.module().type(tensor_type(DType::float32, {1024, 1024}));
  const TensorId large = b.add_variable(s, HostTensor(DType::float32, {1024, 1024}), "large");
  b.op(b.module().main_graph(), "add", std::array{large, large}, {}, {}, true);
  Options options;
  options.tiles_per_ipu = 4;
  try {
    Session session(b, options);
    FAIL() << "4 MiB on 4 tiles";
  } catch (const poplar::graph_memory_allocation_error& e) { EXPECT_THAT(e.what(), testing::HasSubstr("'large' (1024, 1024) float32")); }
  // The environment's options are JSON, of which the value counts, not that the name is there.
  setenv("POPLAR_ENGINE_OPTIONS", R"({"debug.allowOutOfMemory": "false"})", 1);
  EXPECT_THROW(Session(b, options), poplar::graph_memory_allocation_error);
  options.engine["debug.allowOutOfMemory"] = "true";
  EXPECT_THROW(Session(b, options), poplar::graph_memory_allocation_error);
  options.engine.clear();
  setenv("POPLAR_ENGINE_OPTIONS", R"({"debug.allowOutOfMemory": true})", 1);
  { Session allowed(b, options); }
  unsetenv("POPLAR_ENGINE_OPTIONS");
  options.engine["debug.allowOutOfMemory"] = "true";
  Session session(b, options);
  options.device = "cpu";
  options.tiles_per_ipu = 0;
  Session on_cpu(b, options);
}

// Products in a row, all of which the second half reads again, the last one first: so all lie in memory at once, as activations do.
void add_network(Builder& b, std::int64_t layers) {
  constexpr std::int64_t kWidth = 128;
  const GraphId main = b.module().main_graph();
  const TensorId w = variable(b, HostTensor(DType::float32, {kWidth, kWidth}), "w");
  const HostStreamId out = b.module().add_stream({"out", HostStream::Direction::device_to_host, DType::float32, {kWidth, kWidth}});
  std::vector<TensorId> kept;
  TensorId x = w;
  for (std::int64_t i = 0; i < layers; ++i) kept.push_back(x = b.op(main, "matmul", std::vector{x, w})[0]);
  for (std::size_t i = kept.size(); i-- > 0;) x = b.op(main, "matmul", std::vector{x, kept[i]})[0];
  b.op(main, "host_store", std::vector{x}, {{"stream", out}});
  b.finish();
}

TEST(Session, values_that_no_ipu_holds_at_once_are_rejected_before_anything_is_compiled) {
  Options options;
  options.tiles_per_ipu = 4;
  // 64 KiB each; four tiles have 39 times as much.
  Builder large, fits;
  add_network(large, 40);
  try {
    Session session(large, options);
    FAIL() << "40 times 64 KiB on 4 tiles";
  } catch (const poplar::graph_memory_allocation_error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("IPU 0 holds values of 2.5 MiB at once at matmul '"));
    EXPECT_THAT(e.what(), testing::HasSubstr("variables of 0.1 MiB; its tiles have 2.4 MiB; the largest of 40: '"));
    EXPECT_THAT(e.what(), testing::HasSubstr("(128, 128) float32"));
  }
  options.engine["debug.allowOutOfMemory"] = "true";
  Session report(large, options);
  options.engine.clear();
  add_network(fits, 12);
  Session session(fits, options);
}

}  // namespace
}  // namespace pando::session
