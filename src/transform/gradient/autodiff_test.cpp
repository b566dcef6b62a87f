#include "transform/gradient/autodiff.h"
#include "ir/checks/verify.h"
#include "ir/error.h"
#include "ir/op_table.h"
#include "ir/text/print.h"
#include "transform/gradient/numeric_gradient.h"
#include "transform/testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace pando::transform::testing {

using namespace ir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

void expect_right(Builder& b, const GradientInfo& info) {
  EXPECT_EQ(to_string(verify(b.module())), "");
  EXPECT_EQ(wrong_gradients(b.module(), info, inputs_for(b.module(), info.forward)), "") << print(b.module());
}

// y = x w + x
GraphId linear(Builder& b, const std::string& name = "linear") {
  Made g(b, name);
  const TensorId x = g.in("x"), w = g.in("w");
  g.out(g.op("add", {g.op("matmul", {x, w}), x}));
  return g.graph;
}

}  // namespace

TEST(autodiff, names_and_default_connections) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w"), y = g.op("matmul", {x, w});
  g.out(y);
  const GradientInfo info = autodiff(b, g.graph);
  const Module& m = b.module();
  EXPECT_EQ(m.graph(info.gradient).name, "f_bwd");
  ASSERT_GE(info.inputs.size(), 1u);
  EXPECT_EQ(info.inputs[0], (Connection{value(b, y), ConnectionKind::fwd_grad}));
  EXPECT_EQ(m.name_of(m.graph(info.gradient).inputs[0]), "Gradient___matmul_out");
  ASSERT_EQ(info.outputs.size(), 2u);
  EXPECT_EQ(info.outputs[0], (Connection{value(b, x), ConnectionKind::fwd_grad}));
  EXPECT_EQ(m.name_of(m.graph(info.gradient).outputs[0]), "Gradient___x");
  EXPECT_EQ(m.name_of(m.graph(info.gradient).outputs[1]), "Gradient___w");
  EXPECT_EQ(m.graph(g.graph).outputs.size(), 1u);
  EXPECT_EQ(m.graph(autodiff(b, g.graph).gradient).name, "f_bwd_1");
  expect_right(b, info);
}

// Both operands have the gradient of their sum: each gets a tensor of its own, with its name.
TEST(autodiff, gradients_that_are_equal_are_tensors_of_their_own) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w");
  g.out(g.op("tanh", {g.op("add", {x, w})}));
  const GradientInfo info = autodiff(b, g.graph);
  const Module& m = b.module();
  const std::vector<ValueId>& outputs = m.graph(info.gradient).outputs;
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_NE(outputs[0], outputs[1]);
  EXPECT_EQ(m.name_of(outputs[0]), "Gradient___x");
  EXPECT_EQ(m.name_of(outputs[1]), "Gradient___w");
  expect_right(b, info);
}

TEST(autodiff, the_text_of_a_gradient_graph) {
  Builder b;
  const Type scalar = tensor_type(DType::float64, {}, kMatrix.place);
  Made g(b, "f");
  const TensorId x = g.in("x", scalar), w = g.in("w", scalar);
  g.out(g.op("add", {g.op("tanh", {g.op("mul", {x, w})}), x}));
  Made caller(b, "caller");
  caller.out(caller.op("call", {caller.in("a", scalar), caller.in("c", scalar)}, {}, {g.graph}));
  const GradientInfo info = autodiff(b, g.graph);
  EXPECT_EQ(print_graph(b.module(), g.graph) + print_graph(b.module(), caller.graph) + print_graph(b.module(), info.gradient),
            R"(graph f(x: float64[0], w: float64[0]):
    mul_out: float64[0] = mul(x, w)
    tanh_out: float64[0] = tanh(mul_out)
    add_out: float64[0] = add(tanh_out, x)
    return add_out, tanh_out
graph caller(a: float64[0], c: float64[0]):
    (call_out: float64[0], call_out__t0: float64[0]) = call(a, c) @f
    return call_out
graph f_bwd(Gradient___add_out: float64[0], tanh_out: float64[0], w: float64[0], x: float64[0]):
    note "Gradient graph of f"
    Gradient___mul_out: float64[0] = tanh_grad(tanh_out, Gradient___add_out)
    mul_out: float64[0] = mul(Gradient___mul_out, w)
    Gradient___w: float64[0] = mul(Gradient___mul_out, x)
    Gradient___x: float64[0] = add_n(Gradient___add_out, mul_out)
    return Gradient___x, Gradient___w
)");
}

TEST(autodiff, sums_what_several_consumers_give) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x");
  TensorId y = g.op("matmul", {x, x});
  for (int i = 0; i < 3; ++i) y = g.op("add", {y, x});
  g.out(y);
  const GradientInfo info = autodiff(b, g.graph);
  expect_right(b, info);
  const Module& m = b.module();
  const OpId sum = m.value(m.graph(info.gradient).outputs[0]).producer;
  EXPECT_EQ(m.row(sum).name, "add_n");
  EXPECT_EQ(m.operands(sum).size(), 5u);
  EXPECT_EQ(m.name_of(m.result(sum)), "Gradient___x");
}

TEST(autodiff, inner_values_become_outputs_and_calls_grow) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w"), h = g.op("matmul", {x, w});
  g.out(g.op("matmul", {h, w}));
  Made caller(b, "caller");
  const TensorId a = caller.in("a"), c = caller.in("c");
  caller.out(caller.op("call", {a, c}, {}, {g.graph}));
  const OpId call = b.last_op();
  const GradientInfo info = autodiff(b, g.graph);
  const Module& m = b.module();
  EXPECT_EQ(m.graph(g.graph).outputs.size(), 2u);
  EXPECT_EQ(m.graph(g.graph).outputs[1], value(b, h));
  EXPECT_EQ(m.results(call).size(), 2u);
  expect_right(b, info);
  expect_right(b, autodiff(b, caller.graph));
}

TEST(autodiff, provided_and_required_subsets) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w"), h = g.op("matmul", {x, w}), y = g.op("matmul", {h, h}), z = g.op("add", {h, w});
  g.out(y);
  g.out(z);
  AutodiffOptions o;
  o.provided = {value(b, z)};
  o.required = {value(b, w), value(b, h)};
  const GradientInfo info = autodiff(b, g.graph, o);
  const Module& m = b.module();
  EXPECT_THAT(info.outputs,
              ElementsAre(Connection{value(b, w), ConnectionKind::fwd_grad}, Connection{value(b, h), ConnectionKind::fwd_grad}));
  EXPECT_EQ(std::count_if(info.inputs.begin(), info.inputs.end(), [](const Connection& c) { return c.kind == ConnectionKind::fwd_grad; }),
            1);
  EXPECT_EQ(m.name_of(m.graph(info.gradient).outputs[0]), "Gradient___w");
  o.required = {value(b, w), value(b, x)};
  expect_right(b, autodiff(b, g.graph, o));
}

TEST(autodiff, constants_are_copied) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x");
  const TensorId c = b.add_constant(g.graph, sample_data({DType::float64, {3, 3}, -1, 1, {}}, DType::float64, 5), "c");
  g.out(g.op("matmul", {x, c}));
  const GradientInfo info = autodiff(b, g.graph);
  EXPECT_EQ(info.inputs.size(), 1u);
  EXPECT_EQ(b.module().graph(g.graph).outputs.size(), 1u);
  expect_right(b, info);
}

TEST(autodiff, rejections) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), unused = g.in("unused"), n = g.in("n", tensor_type(DType::int32, {3}));
  g.out(g.op("matmul", {x, x}));
  Made other(b, "other");
  const TensorId foreign = other.in("foreign");
  const auto with = [&](std::vector<TensorId> required) {
    AutodiffOptions o;
    o.required.emplace();
    for (TensorId t : required) o.required->push_back(value(b, t));
    return message_of([&] { autodiff(b, g.graph, o); });
  };
  EXPECT_THAT(with({}), HasSubstr("no gradient is required"));
  EXPECT_THAT(with({foreign}), HasSubstr("'foreign' is a tensor of graph 'other', not of 'f'"));
  EXPECT_THAT(with({x, unused}), HasSubstr("'unused': no differentiable path leads from it to a provided gradient: no op takes it"));
  EXPECT_THAT(with({n}), HasSubstr("'n': its element type is int32"));
  EXPECT_THAT(message_of([&] { autodiff(b, g.graph); }), HasSubstr("'unused'"));
  EXPECT_EQ(with({x}), "no error");
  AutodiffOptions o;
  o.required = {value(b, x)};
  o.provided = {value(b, foreign)};
  EXPECT_THAT(message_of([&] { autodiff(b, g.graph, o); }), HasSubstr("grads_provided"));
  o.provided.emplace();
  EXPECT_THAT(message_of([&] { autodiff(b, g.graph, o); }), HasSubstr("no gradient is provided"));
  Made empty(b, "empty");
  empty.out(b.add_constant(empty.graph, HostTensor(DType::float32, {}), "c"));
  EXPECT_THAT(message_of([&] { autodiff(b, empty.graph); }), HasSubstr("no gradient is required"));
}

// The op that ends the path is named with its graph and the user's line, wherever it stands on the way.
TEST(autodiff, the_op_that_ends_a_path_is_named) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w"), k = g.in("k"), side = g.in("side"), c = g.in("c");
  const auto at_line = [&](std::uint32_t line) { b.module().set_current_location(b.module().location({"model.py", "build", line})); };
  at_line(7);
  const TensorId stopped = g.op("detach", {g.op("tanh", {x})});
  at_line(9);
  g.op("exp", {g.op("tanh", {side})});
  // A branch that passes nothing on, though calls can.
  Made inner(b, "inner");
  at_line(3);
  inner.out(inner.op("detach", {inner.in("t")}));
  at_line(12);
  const TensorId called = g.op("call", {c}, {}, {inner.graph});
  // A cast to integers ends it too, in its row's gradient.
  at_line(15);
  const TensorId whole = g.op("cast", {g.op("cast", {k}, {{"data_type", DType::int32}})}, {{"data_type", DType::float64}});
  at_line(20);
  g.out(g.op("add", {g.op("add", {g.op("add", {stopped, w}), called}), whole}));
  const auto why = [&](TensorId t) {
    AutodiffOptions o;
    o.required = {value(b, w), value(b, t)};
    return message_of([&] { autodiff(b, g.graph, o); });
  };
  const std::string path = "no differentiable path leads from it to a provided gradient: ";
  EXPECT_THAT(why(x), HasSubstr("'x': " + path + "it ends at detach 'detach_out' of graph 'f', at model.py:7, which passes none on"));
  EXPECT_THAT(why(side), HasSubstr("'side': " + path +
                                   "no provided gradient is of what is computed from it; the last such op is exp "
                                   "'exp_out' of graph 'f', at model.py:9"));
  EXPECT_THAT(why(c), HasSubstr("'c': " + path + "it ends at call 'call_out' of graph 'f', at model.py:12, which passes none on"));
  EXPECT_THAT(why(k), HasSubstr("'k': " + path + "it ends at cast 'cast_out"));
  EXPECT_THAT(why(k), HasSubstr("of graph 'f', at model.py:15, which passes none on"));
  // Alone, where nothing flows at all.
  AutodiffOptions o;
  o.required = {value(b, x)};
  EXPECT_THAT(message_of([&] { autodiff(b, g.graph, o); }), HasSubstr("it ends at detach 'detach_out' of graph 'f', at model.py:7"));
}

TEST(autodiff, rejects_modifying_ops_and_takes_views) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w");
  g.op("add", {x, w}, {}, {}, true);
  g.out(g.op("matmul", {x, w}));
  EXPECT_THAT(message_of([&] { autodiff(b, g.graph); }), HasSubstr("The graph f contains a modifying op"));

  Made by_ref(b, "by_ref");
  const TensorId r = by_ref.in("r", kMatrix, true);
  by_ref.op("add", {r, r}, {}, {}, true);
  Made caller(b, "caller");
  const TensorId a = caller.in("a");
  caller.ops("call", {a}, {}, {by_ref.graph});
  caller.out(caller.op("matmul", {a, a}));
  EXPECT_THAT(message_of([&] { autodiff(b, caller.graph); }), HasSubstr("contains a modifying op, call"));
}

TEST(autodiff, a_rejected_op_is_named) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x", tensor_type(DType::float16, {3, 3})), scale = g.in("scale", tensor_type(DType::int32, {}));
  const TensorId q = g.op("pow2scale_cast_to_fp8", {x, scale}, {{"data_type", DType::float8_143}});
  g.out(g.op("matmul_pow2scaled", {q, q, scale}));
  AutodiffOptions o;
  o.required = {value(b, x)};
  EXPECT_THAT(message_of([&] { autodiff(b, g.graph, o); }), HasSubstr("matmul_pow2scaled"));
}

TEST(autodiff, a_graph_called_often_is_differentiated_once) {
  Builder b;
  const GraphId layer = linear(b, "layer");
  Made g(b, "f");
  TensorId x = g.in("x");
  for (int i = 0; i < 5; ++i) x = g.op("call", {x, g.in("w")}, {}, {layer});
  g.out(x);
  const std::size_t before = b.module().graph_count();
  const std::vector<GradientInfo> all = autodiff_all(b, g.graph);
  EXPECT_EQ(b.module().graph_count(), before + 2);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].forward, layer);
  expect_right(b, all[0]);
}

TEST(autodiff, called_graphs_may_be_given) {
  Builder b;
  const GraphId layer = linear(b, "layer");
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w");
  g.out(g.op("call", {g.op("call", {x, w}, {}, {layer}), w}, {}, {layer}));
  AutodiffOptions o;
  o.called[layer] = autodiff(b, layer);
  const std::size_t before = b.module().graph_count();
  const std::vector<GradientInfo> all = autodiff_all(b, g.graph, o);
  EXPECT_EQ(b.module().graph_count(), before + 1);
  EXPECT_EQ(all.size(), 1u);
  expect_right(b, all[0]);
  o.unsafe = {layer};
  expect_right(b, autodiff(b, g.graph, o));
  const GradientInfo given = o.called[layer];
  o.called.clear();
  EXPECT_THAT(message_of([&] { autodiff(b, g.graph, o); }), HasSubstr("has been marked as unsafe to autodiff"));
  o.called[layer] = given;
  o.called[layer].forward = g.graph;
  EXPECT_THROW(autodiff(b, g.graph, o), ModelError);
}

TEST(autodiff, one_value_as_two_outputs_and_one_operand_twice) {
  Builder b;
  Made inner(b, "inner");
  const TensorId x = inner.in("x"), y = inner.in("y"), p = inner.op("matmul", {x, y});
  inner.out(p);
  inner.out(p);
  inner.out(x);
  Made g(b, "f");
  const TensorId a = g.in("a");
  const std::vector<TensorId> r = g.ops("call", {a, a}, {}, {inner.graph});
  g.out(g.op("add", {g.op("matmul", {r[0], r[1]}), r[2]}));
  expect_right(b, autodiff(b, g.graph));
}

TEST(autodiff, recomputes_all_but_what_is_saved) {
  Builder b;
  const GraphId layer = linear(b, "layer");
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w");
  TensorId y = x, middle;
  for (int i = 0; i < 6; ++i) {
    y = g.op("tanh", {g.op("call", {y, w}, {}, {layer})});
    if (i == 2) middle = y;
  }
  g.out(y);
  AutodiffOptions o;
  o.recompute = true;
  const GradientInfo info = autodiff(b, g.graph, o);
  EXPECT_EQ(info.inputs.size(), 3u);
  EXPECT_EQ(b.module().graph(g.graph).outputs.size(), 1u);
  expect_right(b, info);
  o.saved = {value(b, middle)};
  const GradientInfo saved = autodiff(b, g.graph, o);
  EXPECT_EQ(saved.inputs.size(), 4u);
  EXPECT_EQ(b.module().graph(g.graph).outputs.size(), 2u);
  EXPECT_LT(b.module().graph(saved.gradient).inputs.size(), autodiff(b, g.graph).inputs.size());
  expect_right(b, saved);
}

TEST(autodiff, conditionals) {
  Builder b;
  Made then(b, "then");
  {
    const TensorId x = then.in("x"), w = then.in("w");
    then.out(then.op("matmul", {then.op("matmul", {x, w}), x}));
  }
  Made otherwise(b, "else");
  {
    const TensorId x = otherwise.in("x"), v = otherwise.in("v");
    otherwise.out(otherwise.op("add", {x, v}));
  }
  for (double condition : {1.0, 0.0}) {
    Made g(b, condition == 1 ? "taken" : "not_taken");
    const TensorId x = g.in("x"), w = g.in("w"), v = g.in("v");
    const TensorId c = b.add_constant(g.graph, HostTensor::filled(DType::boolean, {}, condition), "c");
    g.out(g.op("conditional", {c, x, w, x, v}, {{"then_inputs", std::int64_t{2}}}, {then.graph, otherwise.graph}));
    const GradientInfo info = autodiff(b, g.graph);
    expect_right(b, info);
    // Branches are computed again: no output is added.
    EXPECT_EQ(b.module().graph(then.graph).outputs.size(), 1u);
    // The gradient of the gradient.
    expect_right(b, autodiff(b, info.gradient));
  }
}

TEST(autodiff, repeats) {
  Builder b;
  Made body(b, "body");
  {
    const TensorId x = body.in("x"), n = body.in("n", tensor_type(DType::int32, {})), w = body.in("w");
    body.out(body.op("tanh", {body.op("add", {body.op("matmul", {x, w}), x})}));
    body.out(body.op("add", {n, b.add_constant(body.graph, HostTensor::filled(DType::int32, {}, 1), "one")}));
  }
  for (std::int64_t count : {0, 1, 3}) {
    Made g(b, fmt::format("repeated_{}", count));
    const TensorId x = g.in("x"), n = g.in("n", tensor_type(DType::int32, {})), w = g.in("w");
    const std::vector<TensorId> r = g.ops("repeat", {x, n, w}, {{"count", count}}, {body.graph});
    g.out(g.op("matmul", {r[0], x}));
    AutodiffOptions o;
    o.required = {value(b, x), value(b, w)};
    if (count == 0) o.required->pop_back();
    expect_right(b, autodiff(b, g.graph, o));
  }
}

TEST(autodiff, nested_repeats_twice_differentiated) {
  Builder b;
  Made inner(b, "inner");
  {
    const TensorId x = inner.in("x"), w = inner.in("w");
    inner.out(inner.op("tanh", {inner.op("matmul", {x, w})}));
  }
  Made outer(b, "outer");
  {
    const TensorId x = outer.in("x"), w = outer.in("w");
    const TensorId y = outer.op("repeat", {x, w}, {{"count", std::int64_t{2}}}, {inner.graph});
    outer.out(outer.op("add", {y, x}));
  }
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w");
  g.out(g.op("repeat", {x, w}, {{"count", std::int64_t{2}}}, {outer.graph}));
  const GradientInfo info = autodiff(b, g.graph);
  expect_right(b, info);
  expect_right(b, autodiff(b, info.gradient));
}

TEST(autodiff, a_repeat_that_reads_a_stream_is_rejected_where_it_would_read_twice) {
  Builder b;
  const HostStreamId stream = b.module().add_stream({"s", HostStream::Direction::host_to_device, DType::float64, {3, 3}});
  Made body(b, "body");
  const TensorId x = body.in("x");
  body.out(body.op("matmul", {x, body.op("host_load", {}, {{"stream", stream}})}));
  Made g(b, "f");
  g.out(g.op("repeat", {g.in("x")}, {{"count", std::int64_t{2}}}, {body.graph}));
  EXPECT_THAT(message_of([&] { autodiff(b, g.graph); }), HasSubstr("effects outside"));
}

TEST(autodiff, twice) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w");
  g.out(g.op("tanh", {g.op("matmul", {g.op("tanh", {g.op("matmul", {x, w})}), w})}));
  const GradientInfo first = autodiff(b, g.graph);
  expect_right(b, first);
  const GradientInfo second = autodiff(b, first.gradient);
  EXPECT_EQ(b.module().graph(second.gradient).name, "f_bwd_bwd");
  expect_right(b, second);
}

TEST(autodiff, inner_views_taken_in_place) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), y = g.in("y");
  const TensorId both = g.op("concat", {x, y}, {{"axis", std::int64_t{0}}}, {}, true);
  const TensorId part = g.op("slice", {both}, {{"start", Ints{2}}, {"stop", Ints{5}}, {"step", Ints{1}}, {"axis", Ints{0}}}, {}, true);
  g.out(g.op("matmul", {part, g.op("transpose", {x}, {{"permutation", Ints{1, 0}}}, {}, true)}));
  expect_right(b, autodiff(b, g.graph));
}

TEST(autodiff, integers_among_integers) {
  Builder b;
  Made g(b, "f");
  const Type ints = tensor_type(DType::int32, {2});
  const TensorId x = g.in("x", ints), y = g.in("y", ints);
  g.out(g.op("concat", {g.op("add", {x, x}), y}, {{"axis", std::int64_t{0}}}, {}, true));
  const GradientInfo info = autodiff(b, g.graph);
  const std::int64_t given[] = {1, 2, 3, 4}, twice[] = {2, 4}, same[] = {3, 4};
  const std::vector<HostTensor> gradients = run(b.module(), info.gradient, {HostTensor::of_ints(DType::int32, {4}, given)});
  EXPECT_EQ(gradients[0], HostTensor::of_ints(DType::int32, {2}, twice));
  EXPECT_EQ(gradients[1], HostTensor::of_ints(DType::int32, {2}, same));
}

TEST(autodiff, gathering_shards_gives_shards) {
  for (std::int64_t elements : {3, 4}) {
    Builder b(2);
    Made g(b, "f");
    Type shard = tensor_type(DType::float64, {elements});
    shard.meta_shape = {2, 3};
    g.out(g.op("replicated_all_gather", {g.in("x", shard)}, {{"output_shape", std::string("meta_shape")}}));
    if (elements == 4) {
      EXPECT_THAT(message_of([&] { autodiff(b, g.graph); }), HasSubstr("longer than needed"));
      continue;
    }
    const GradientInfo info = autodiff(b, g.graph);
    const Module& m = b.module();
    const ValueId gradient = m.graph(info.gradient).outputs[0];
    EXPECT_EQ(m.row(m.value(gradient).producer).name, "replica_sharded_slice");
    EXPECT_EQ(m.type_of(gradient).meta_shape, (Shape{2, 3}));
  }
}

TEST(autodiff, detach_blocks_and_rounding_gives_zeros) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), y = g.in("y");
  g.out(g.op("matmul", {g.op("detach", {x}), g.op("floor", {y})}));
  AutodiffOptions o;
  o.required = {value(b, y)};
  expect_right(b, autodiff(b, g.graph, o));
  o.required = {value(b, x)};
  EXPECT_THAT(message_of([&] { autodiff(b, g.graph, o); }), HasSubstr("'x'"));
}

TEST(autodiff, a_hundred_thousand_ops_in_well_under_a_second) {
  Builder b;
  Made g(b, "f");
  const TensorId x = g.in("x"), w = g.in("w");
  TensorId y = x;
  for (int i = 0; i < 50000; ++i) y = g.op("tanh", {g.op("mul", {y, w})});
  g.out(y);
  Made caller(b, "caller");
  caller.out(caller.op("call", {caller.in("a"), caller.in("b")}, {}, {g.graph}));
  // Processor time: other programs may run beside the test.
  const std::clock_t start = std::clock();
  const GradientInfo info = autodiff(b, g.graph);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_EQ(info.outputs.size(), 2u);
  // A generous bound, for slow machines; it takes some tenths.
  EXPECT_LT(seconds, 2.0);
  std::printf("autodiff of 10^5 ops: %.0f ms\n", seconds * 1e3);
}

}  // namespace pando::transform::testing
