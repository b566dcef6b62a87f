// What is computed together, and where: seen in the steps that run and in the text of the graph level; results against the interpreter.
#include "session/session.h"

#include "ir/op_table.h"
#include "ir/semantics/interpreter.h"
#include "ir/semantics/samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>

namespace pando::session {
namespace {

using namespace ir;

const Type kSquare = tensor_type(DType::float32, {3, 3});

HostTensor counting(Shape shape, double first = 1) {
  HostTensor t(DType::float32, shape);
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, first + static_cast<double>(i % 11));
  return t;
}

// A module with variables, whose ops run in their order.
struct Program {
  Builder b;
  std::vector<StateId> states;

  Program() : b(1) { b.push_sequence(SequenceMode::ordered); }
  GraphId main() { return b.module().main_graph(); }
  TensorId variable(HostTensor data) {
    State s;
    s.type = b.module().type(tensor_type(data.dtype(), data.shape()));
    return b.add_variable(s, std::move(data), "v");
  }
  TensorId op(GraphId g, std::string_view name, std::vector<TensorId> operands, Attributes a = {}, std::vector<GraphId> graphs = {}) {
    return b.op(g, name, operands, a, graphs, false)[0];
  }
  TensorId constant(HostTensor data) { return b.add_constant(main(), std::move(data), "c"); }
  TensorId turned(GraphId g, TensorId t) { return op(g, "transpose", {t}, {{"permutation", Ints{1, 0}}}); }
  // Runs on the CPU device; variables must become what the interpreter makes of them. Returns the steps.
  std::vector<std::string> steps() {
    b.finish();
    Interpreter reference(b.module());
    reference.run(Context::weights_from_host);
    Options options;
    options.device = "cpu";
    options.settings.set("check_ambiguity", false);
    Session session(b, options);
    session.attach();
    session.weights_from_host();
    std::vector<std::string> names;
    session.on_step([&](const StepDone& step) { names.emplace_back(step.name); });
    session.run({}, {});
    reference.run();
    reference.run(Context::weights_to_host);
    for (std::size_t s = 0; s < b.module().state_count(); ++s) {
      const StateId id(static_cast<StateId::rep>(s));
      EXPECT_EQ(session.data(id), reference.state(id, 0)) << "variable " << s;
    }
    return names;
  }
};

std::size_t copies(const std::vector<std::string>& steps) {
  return static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [](const std::string& s) { return s.ends_with("copy"); }));
}

enum class Case { alone, also_read, is_operand };

// A loop's body calls a graph, whose product and sum become the contents of variables.
std::vector<std::string> steps_of_kept_results(Case c) {
  Program p;
  const GraphId f = p.b.create_graph("f"), body = p.b.create_graph("body");
  const TensorId x = p.b.add_input(f, kSquare, "x"), y = p.b.add_input(f, kSquare, "y");
  p.b.add_output(f, p.op(f, "matmul", {p.turned(f, x), y}));
  p.b.add_output(f, p.op(f, "add", {x, y}));
  std::vector<TensorId> in;
  for (const char* name : {"a", "b", "product", "sum"}) in.push_back(p.b.add_input(body, kSquare, name, true));
  const TensorId first = c == Case::is_operand ? in[2] : in[0];
  const TensorId before = c == Case::also_read ? p.op(body, "identity", {in[2]}) : in[0];
  const std::vector<TensorId> results = p.b.op(body, "call", std::vector{first, in[1]}, {}, std::vector{f}, false);
  if (c == Case::also_read) p.b.op(body, "copy_var_update_", std::vector{in[1], p.op(body, "negate", {before})}, {}, {}, false);
  p.b.op(body, "copy_var_update_", std::vector{in[2], results[0]}, {}, {}, false);
  p.b.op(body, "copy_var_update_", std::vector{in[3], results[1]}, {}, {}, false);
  std::vector<TensorId> variables;
  for (int i = 0; i < 4; ++i) variables.push_back(p.variable(counting({3, 3}, i)));
  p.b.op(p.main(), "repeat", variables, {{"count", std::int64_t{1}}}, std::vector{body}, false);
  return p.steps();
}

TEST(Fusion, a_calls_results_are_computed_where_they_are_kept) {
  EXPECT_EQ(copies(steps_of_kept_results(Case::alone)), 0u);
  // Of the product, whose place is still read.
  EXPECT_EQ(copies(steps_of_kept_results(Case::also_read)), 1u);
  EXPECT_EQ(copies(steps_of_kept_results(Case::is_operand)), 1u);
}

// Numbers of many digits, so that each rounding shows.
HostTensor uneven(Shape shape, double first) {
  HostTensor t(DType::float32, shape);
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, std::sin(first + 0.37 * static_cast<double>(i)));
  return t;
}

struct Ran {
  std::vector<HostTensor> outputs;
  std::vector<std::string> steps;
};

using Build = std::function<std::vector<TensorId>(Program&, GraphId)>;

// What the builder gives is stored, by a run on the CPU device or on so many tiles.
Ran run(const Build& build, bool fuse, bool epilogues, unsigned threads = 2, std::int64_t tiles = 0) {
  Program p;
  std::vector<HostStreamId> streams;
  for (const TensorId t : build(p, p.main())) {
    const Type type = p.b.type_of(t);
    streams.push_back(p.b.module().add_stream({"out", HostStream::Direction::device_to_host, type.dtype, type.shape}));
    p.b.op(p.main(), "host_store", std::vector{t}, {{"stream", streams.back()}}, {}, false);
  }
  p.b.finish();
  Options options;
  options.device = tiles > 0 ? "ipu_model" : "cpu";
  options.tiles_per_ipu = tiles;
  options.settings.set("check_ambiguity", false);
  options.settings.set("fuse", fuse);
  options.settings.set("epilogues", epilogues);
  options.engine = {{"pando.threads", std::to_string(threads)}};
  Session session(p.b, options);
  session.attach();
  session.weights_from_host();
  Ran ran;
  session.on_step([&](const StepDone& step) { ran.steps.emplace_back(step.name); });
  std::vector<OutputData> outputs;
  for (const HostStreamId s : streams) ran.outputs.emplace_back(p.b.module().stream(s).dtype, p.b.module().stream(s).shape);
  for (std::size_t i = 0; i < streams.size(); ++i) outputs.push_back({streams[i], ran.outputs[i].writable(), 1});
  session.run({}, outputs);
  return ran;
}

// Steps, but for those on tiles that prepare another one of the same name.
std::size_t names_of(const std::vector<std::string>& steps) { return std::set(steps.begin(), steps.end()).size(); }

constexpr std::int64_t kTiles = 24;

// The same bits with epilogues, without them, and without any fusion, on one thread and on three; `saved`: steps that epilogues do away
// with.
void expect_folded_on(std::int64_t tiles, const Build& build, std::size_t saved) {
  const Ran folded = run(build, true, true, 2, tiles), apart = run(build, true, false, 2, tiles), plain = run(build, false, true, 2, tiles),
            alone = run(build, true, true, 1, tiles), three = run(build, true, true, 3, tiles);
  const std::string where = tiles > 0 ? ", on tiles" : ", on the CPU device";
  for (std::size_t i = 0; i < folded.outputs.size(); ++i) {
    EXPECT_EQ(folded.outputs[i], apart.outputs[i]) << "output " << i << where;
    EXPECT_EQ(folded.outputs[i], plain.outputs[i]) << "output " << i << ", without fusion" << where;
    EXPECT_EQ(folded.outputs[i], alone.outputs[i]) << "output " << i << ", one thread" << where;
    EXPECT_EQ(folded.outputs[i], three.outputs[i]) << "output " << i << ", three threads" << where;
  }
  EXPECT_EQ(names_of(folded.steps) + saved, names_of(apart.steps))
      << testing::PrintToString(folded.steps) << " and " << testing::PrintToString(apart.steps) << where;
}

void expect_folded(const Build& build, std::size_t saved_on_cpu, std::size_t saved_on_tiles) {
  expect_folded_on(0, build, saved_on_cpu);
  expect_folded_on(kTiles, build, saved_on_tiles);
}

// Rows, columns, depth: of one part, of several, with rows and columns left over, of few rows.
using Size = std::array<std::int64_t, 3>;
const std::vector<Size> kSizes = {{5, 7, 3}, {150, 200, 70}, {131, 67, 300}, {1, 640, 50}, {300, 520, 1100}};
const std::vector<Size> kSizesOnTiles = {{5, 7, 3}, {150, 200, 60}, {131, 67, 100}, {1, 640, 50}, {90, 130, 170}};

// One step less at all sizes.
void expect_folded_at_all_sizes(const std::function<Build(std::int64_t m, std::int64_t n, std::int64_t k)>& build) {
  for (const auto& [m, n, k] : kSizes) expect_folded_on(0, build(m, n, k), 1);
  for (const auto& [m, n, k] : kSizesOnTiles) expect_folded_on(kTiles, build(m, n, k), 1);
}

TEST(Fusion, products_with_bias_and_activation_are_one_step) {
  for (const char* activation : {"relu", "gelu", "tanh"}) {
    expect_folded_at_all_sizes([&](std::int64_t m, std::int64_t n, std::int64_t k) -> Build {
      return [=](Program& p, GraphId g) {
        const TensorId x = p.variable(uneven({m, k}, 1)), w = p.variable(uneven({k, n}, 2)), b = p.variable(uneven({n}, 3));
        return std::vector{p.op(g, activation, {p.op(g, "add", {p.op(g, "matmul", {x, w}), b})})};
      };
    });
  }
}

// It would need a copy of what the product reads.
TEST(Fusion, an_update_in_place_comes_before_no_product) {
  const Build build = [](Program& p, GraphId g) {
    const TensorId x = p.variable(uneven({6, 8}, 1)), w = p.variable(uneven({8, 4}, 2)), b = p.variable(uneven({4}, 3));
    const TensorId product = p.op(g, "matmul", {x, w});
    const Attributes first{{"start", Ints{0}}, {"stop", Ints{1}}, {"step", Ints{1}}, {"axis", Ints{0}}};
    p.b.op(g, "slice_assign", std::vector{w, p.constant(uneven({1, 4}, 4))}, first, {}, true);
    return std::vector{p.op(g, "relu", {p.op(g, "add", {product, b})}), w};
  };
  expect_folded(build, 0, 0);
  for (const std::int64_t tiles : {std::int64_t{0}, kTiles}) {
    for (const std::string& step : run(build, true, true, 2, tiles).steps)
      EXPECT_FALSE(step.ends_with("/kept") || step.ends_with("/copy")) << step;
  }
}

TEST(Fusion, what_is_kept_on_the_way_is_a_second_result) {
  expect_folded_at_all_sizes([](std::int64_t m, std::int64_t n, std::int64_t k) -> Build {
    return [=](Program& p, GraphId g) {
      const TensorId x = p.variable(uneven({m, k}, 1)), w = p.variable(uneven({k, n}, 2)), b = p.variable(uneven({n}, 3));
      const TensorId sum = p.op(g, "add", {p.op(g, "matmul", {x, w}), b});
      return std::vector{p.op(g, "gelu", {sum}), sum};
    };
  });
}

// What goes back through an activation is multiplied by its slope where it is computed, also far from zero.
TEST(Fusion, a_gradient_through_an_activation_is_one_step) {
  for (const char* gradient : {"gelu_grad", "relu_grad", "tanh_grad", "sigmoid_grad"}) {
    expect_folded_at_all_sizes([&](std::int64_t m, std::int64_t n, std::int64_t k) -> Build {
      return [=](Program& p, GraphId g) {
        const TensorId dy = p.variable(uneven({m, k}, 1)), w = p.variable(uneven({n, k}, 2));
        HostTensor kept = uneven({m, n}, 3);
        for (std::int64_t i = 0; i < kept.elements(); i += 7) kept.set(i, kept.number(i) * 40);
        return std::vector{p.op(g, gradient, {p.variable(std::move(kept)), p.op(g, "matmul", {dy, p.turned(g, w)})})};
      };
    });
  }
}

// The gradient of the weights stands between the operand's and the activation's; what reads the product must not come before it.
TEST(Fusion, a_product_waits_for_its_activation_behind_others) {
  const auto build = [](bool reads) -> Build {
    return [=](Program& p, GraphId g) {
      const TensorId dy = p.variable(uneven({150, 60}, 1)), w = p.variable(uneven({80, 60}, 2)), x = p.variable(uneven({150, 80}, 3)),
                     kept = p.variable(uneven({150, 80}, 4));
      const TensorId dx = p.op(g, "matmul", {dy, p.turned(g, w)});
      const TensorId dw = p.op(g, "matmul", {p.turned(g, reads ? dx : x), dy});
      return std::vector{p.op(g, "relu_grad", {kept, dx}), dw};
    };
  };
  expect_folded(build(false), 1, 1);
  expect_folded(build(true), 0, 0);
}

TEST(Fusion, the_slope_of_gelu_is_right_everywhere) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> at{-kInfinity, -1e30, -100, -17, -8, -5, -3, -1,  -0.5, -1e-20,   0,
                               1e-20,      0.5,   1,    3,   5,  8,  17, 100, 1e30, kInfinity};
  const auto size = static_cast<std::int64_t>(at.size());
  const Ran ran = run(
      [&](Program& p, GraphId g) {
        const TensorId x = p.variable(HostTensor::of_floats(DType::float32, {size}, at));
        return std::vector{p.op(g, "gelu_grad", {x, p.variable(HostTensor::filled(DType::float32, {size}, 1))})};
      },
      true, true);
  const HostTensor meant = evaluate(row_of(op_kind("gelu_grad")),
                                    {HostTensor::of_floats(DType::float32, {size}, at), HostTensor::filled(DType::float32, {size}, 1)})[0];
  for (std::int64_t i = 0; i < size; ++i) {
    const double x = std::clamp(at[static_cast<std::size_t>(i)], -16.0, 16.0),
                 t = std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x));
    const double expected = 0.5 * (1 + t + x * (1 - t * t) * std::sqrt(2 / std::acos(-1.0)) * (1 + 3 * 0.044715 * x * x));
    // Where the slope nears 1, a float holds little of what is left to it.
    EXPECT_NEAR(meant.number(i), expected, 2e-6) << at[static_cast<std::size_t>(i)];
    EXPECT_NEAR(ran.outputs[0].number(i), expected, 2e-6) << at[static_cast<std::size_t>(i)];
  }
}

TEST(Fusion, a_residual_is_added_to_each_part) {
  expect_folded_at_all_sizes([](std::int64_t m, std::int64_t n, std::int64_t k) -> Build {
    return [=](Program& p, GraphId g) {
      const TensorId x = p.variable(uneven({2, m, k}, 1)), w = p.variable(uneven({k, n}, 2)), b = p.variable(uneven({n}, 3));
      const TensorId residual = p.variable(uneven({2, m, n}, 4));
      return std::vector{p.op(g, "add", {residual, p.op(g, "add", {p.op(g, "matmul", {x, w}), b})})};
    };
  });
}

// Halfs are rounded when the sums are complete, as without epilogues; only tiles fold them.
TEST(Fusion, halfs_are_folded_on_tiles) {
  for (const auto& [m, n, k] : kSizesOnTiles) {
    const Build build = [m = m, n = n, k = k](Program& p, GraphId g) {
      const auto half = [&](Shape shape, double first) {
        return p.op(g, "cast", {p.variable(uneven(shape, first))}, {{"data_type", DType::float16}});
      };
      const TensorId x = half({m, k}, 1), w = half({k, n}, 2), b = half({n}, 3);
      return std::vector{p.op(g, "gelu", {p.op(g, "add", {p.op(g, "matmul", {x, w}), b})})};
    };
    for (const std::int64_t tiles : {std::int64_t{0}, kTiles}) {
      const Ran folded = run(build, true, true, 2, tiles), apart = run(build, true, false, 2, tiles),
                alone = run(build, true, true, 1, tiles);
      EXPECT_EQ(folded.outputs, apart.outputs);
      EXPECT_EQ(folded.outputs, alone.outputs);
      EXPECT_EQ(names_of(folded.steps) + (tiles > 0 ? 1 : 0), names_of(apart.steps)) << testing::PrintToString(folded.steps);
    }
  }
}

// Adam counts its step and corrects for it in one pass over two numbers; halfs are rounded in between.
TEST(Fusion, the_step_and_what_it_corrects_are_one_pass) {
  for (const DType type : {DType::float32, DType::float16}) {
    const Ran ran = run(
        [&](Program& p, GraphId g) {
          const TensorId m = p.variable(uneven({5, 7}, 1)), v = p.variable(HostTensor::filled(DType::float32, {5, 7}, 0.5)),
                         t = p.variable(HostTensor::filled(type, {}, 2));
          const Attributes attributes{{"present", Strings{"time_step"}}, {"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}};
          return std::vector{p.op(g, "adam_updater", {m, v, t}, attributes)};
        },
        true, true);
    const auto steps = std::count_if(ran.steps.begin(), ran.steps.end(), [](const std::string& s) { return s.ends_with("/step"); });
    EXPECT_EQ(steps, type == DType::float32 ? 1 : 2) << testing::PrintToString(ran.steps);
    const double first = std::sin(1) / (1 - std::pow(0.9, 3)), second = 0.5 / (1 - std::pow(0.999, 3));
    EXPECT_NEAR(ran.outputs[0].number(0), first / std::sqrt(second), 1e-4);
  }
}

// Scores of attention: operands are heads among others, and so is the tensor that is added.
TEST(Fusion, groups_are_scaled_where_they_are_computed) {
  expect_folded(
      [](Program& p, GraphId g) {
        const TensorId x = p.variable(uneven({2 * 40, 60}, 1)), w = p.variable(uneven({60, 2 * 60}, 2));
        const auto heads = [&](std::int64_t part) {
          const TensorId half = p.op(g, "slice", {p.op(g, "matmul", {x, w})},
                                     {{"start", Ints{60 * part}}, {"stop", Ints{60 * part + 60}}, {"step", Ints{1}}, {"axis", Ints{1}}});
          return p.op(g, "transpose", {p.op(g, "reshape", {half}, {{"shape", Ints{2, 40, 3, 20}}})}, {{"permutation", Ints{0, 2, 1, 3}}});
        };
        const TensorId q = heads(0), k = p.op(g, "transpose", {heads(1)}, {{"permutation", Ints{0, 1, 3, 2}}});
        const TensorId scale = p.b.add_constant(g, HostTensor::filled(DType::float32, {}, 0.3), "c");
        return std::vector{p.op(g, "mul", {p.op(g, "matmul", {q, k}), scale})};
      },
      1, 1);
}

TEST(Fusion, a_product_that_others_read_or_that_is_spread_otherwise_stays_alone) {
  const auto product = [](Program& p, GraphId g) {
    return p.op(g, "matmul", {p.variable(uneven({150, 30}, 1)), p.variable(uneven({30, 140}, 2))});
  };
  expect_folded(
      [&](Program& p, GraphId g) {
        const TensorId y = product(p, g);
        return std::vector{p.op(g, "relu", {y}), y};
      },
      0, 0);
  expect_folded([&](Program& p, GraphId g) { return std::vector{p.op(g, "add", {product(p, g), p.variable(uneven({150, 1}, 3))})}; }, 0, 0);
  expect_folded([&](Program& p, GraphId g) { return std::vector{p.op(g, "cast", {product(p, g)}, {{"data_type", DType::int32}})}; }, 0, 0);
  // An operand that is no float.
  expect_folded(
      [&](Program& p, GraphId g) {
        const TensorId other = p.variable(uneven({150, 140}, 3)), positive = p.op(g, "greater", {other, p.variable(uneven({140}, 4))});
        const TensorId chosen = p.op(g, "where", {positive, product(p, g), other});
        return std::vector{chosen, p.op(g, "cast", {positive}, {{"data_type", DType::float32}})};
      },
      0, 0);
}

// On the CPU device they are in parts; in one piece on tiles.
TEST(Fusion, sums_of_products_have_an_epilogue) {
  expect_folded(
      [](Program& p, GraphId g) {
        return std::vector{p.op(g, "relu", {p.op(g, "matmul", {p.variable(uneven({4, 8000}, 1)), p.variable(uneven({8000, 32}, 2))})})};
      },
      1, 1);
}

struct Reduced {
  Shape shape;
  Ints axes;
  bool keepdims;
};
const std::vector<Reduced> kReduced = {
    {{60, 40}, {0}, false}, {{60, 40}, {1}, true}, {{5, 90, 14}, {0, 2}, false}, {{5, 90, 14}, {1}, true}, {{700}, {0}, false}};

// A root of the reduction and a weight of its shape; with what is kept on the way.
Build root_of(const std::string& op, const Reduced& r, DType type) {
  return [=](Program& p, GraphId g) {
    const auto tensor = [&](Shape shape, double first) {
      const TensorId t = p.op(g, "abs", {p.variable(uneven(std::move(shape), first))});
      return type == DType::float32 ? t : p.op(g, "cast", {t}, {{"data_type", type}});
    };
    const Attributes axes{{"axis", r.axes}, {"keepdims", r.keepdims}};
    const TensorId x = tensor(r.shape, 1), small = p.b.add_constant(g, HostTensor::filled(type, {}, 0.25), "c");
    const TensorId weight = p.op(g, "add", {p.op(g, "sum", {tensor(r.shape, 2)}, axes), small});
    const TensorId reduced = p.op(g, op, {x}, axes);
    const TensorId sum = p.op(g, "add", {p.op(g, "mul", {reduced, weight}), small});
    const TensorId root = p.op(g, "sqrt", {sum});
    return type == DType::float32 ? std::vector{root, sum} : std::vector{root};
  };
}

TEST(Fusion, reductions_are_one_step_with_what_follows) {
  for (const char* op : {"sum", "mean", "max", "min", "prod", "sumsquare"})
    for (const Reduced& r : kReduced) expect_folded(root_of(op, r, DType::float32), 1, 1);
}

TEST(Fusion, reductions_of_halfs_are_folded_too) {
  for (const char* op : {"sum", "mean", "max"})
    for (const Reduced& r : kReduced)
      for (const std::int64_t tiles : {std::int64_t{0}, kTiles}) {
        const Build build = root_of(op, r, DType::float16);
        const Ran folded = run(build, true, true, 2, tiles), apart = run(build, true, false, 2, tiles),
                  alone = run(build, true, true, 1, tiles), three = run(build, true, true, 3, tiles);
        EXPECT_EQ(folded.outputs, apart.outputs);
        EXPECT_EQ(folded.outputs, alone.outputs);
        EXPECT_EQ(folded.outputs, three.outputs);
        EXPECT_EQ(names_of(folded.steps) + 1, names_of(apart.steps)) << testing::PrintToString(folded.steps);
      }
}

TEST(Fusion, a_number_beside_a_reduction_may_have_dimensions) {
  expect_folded(
      [](Program& p, GraphId g) {
        const TensorId sum = p.op(g, "sum", {p.variable(uneven({300}, 1))}, {{"axis", Ints{0}}, {"keepdims", false}});
        const TensorId scale = p.variable(uneven({1}, 2));
        return std::vector{p.op(g, "scaled_add", {sum, p.variable(uneven({}, 3)), scale}, {{"a", 0.5}, {"scalars", Strings{"b"}}})};
      },
      1, 1);
}

// Roots and logarithms that ops end in, too.
TEST(Fusion, ops_that_end_a_reduction_with_a_function_are_one_step) {
  for (const char* op : {"l2", "logsum", "logsumexp"})
    for (const Reduced& r : kReduced)
      for (const std::int64_t tiles : {std::int64_t{0}, kTiles}) {
        const Build build = [&](Program& p, GraphId g) {
          return std::vector{p.op(g, op, {p.op(g, "abs", {p.variable(uneven(r.shape, 1))})}, {{"axis", r.axes}, {"keepdims", r.keepdims}})};
        };
        const Ran folded = run(build, true, true, 2, tiles), apart = run(build, true, false, 2, tiles);
        EXPECT_EQ(folded.outputs, apart.outputs);
        EXPECT_EQ(names_of(folded.steps) + 1, names_of(apart.steps)) << testing::PrintToString(folded.steps);
      }
}

TEST(Fusion, a_reduction_that_is_spread_or_read_twice_stays_alone) {
  const auto mean = [](Program& p, GraphId g, TensorId x) { return p.op(g, "mean", {x}, {{"axis", Ints{1}}, {"keepdims", true}}); };
  expect_folded(
      [&](Program& p, GraphId g) {
        const TensorId x = p.variable(uneven({30, 40}, 1));
        return std::vector{p.op(g, "sub", {x, mean(p, g, x)})};
      },
      0, 0);
  expect_folded(
      [&](Program& p, GraphId g) {
        const TensorId m = mean(p, g, p.variable(uneven({30, 40}, 1)));
        return std::vector{p.op(g, "abs", {m}), m};
      },
      0, 0);
}

// What is made of the first one becomes a part of what is made of the second.
TEST(Fusion, convolutions_with_bias_residual_and_activation_are_one_step) {
  struct Size {
    std::int64_t in, out, kernel, stride, pad;
  };
  // In rows of few channels, of more than vectors have, and with fewer products than the definition's.
  for (const Size s : {Size{3, 64, 7, 2, 3}, Size{8, 72, 3, 1, 0}, Size{32, 32, 3, 1, 1}}) {
    expect_folded(
        [&](Program& p, GraphId g) {
          const TensorId x = p.variable(uneven({2, s.in, 32, 32}, 1)), w = p.variable(uneven({s.out, s.in, s.kernel, s.kernel}, 2));
          const auto conv = [&] { return p.op(g, "conv", {x, w}, {{"stride", Ints{s.stride, s.stride}}, {"padding", Ints(4, s.pad)}}); };
          const TensorId residual = p.op(g, "relu", {p.op(g, "add", {conv(), p.variable(uneven({s.out, 1, 1}, 3))})});
          const TensorId sum = p.op(g, "add", {residual, p.op(g, "add", {conv(), p.variable(uneven({s.out, 1, 1}, 4))})});
          return std::vector{p.op(g, "relu", {sum})};
        },
        1, 1);
  }
}

// Gradients of queries and keys, whose products write them side by side, one of them turned; two products read the whole.
TEST(Fusion, parts_are_computed_where_they_are_put_together) {
  const Build build = [](Program& p, GraphId g) {
    const TensorId scores = p.variable(uneven({2, 3, 40, 40}, 1)), k = p.variable(uneven({2, 3, 40, 20}, 2)),
                   q = p.variable(uneven({2, 3, 20, 40}, 3));
    const auto rows = [&](TensorId t) {
      return p.op(g, "reshape", {p.op(g, "transpose", {t}, {{"permutation", Ints{0, 2, 1, 3}}})}, {{"shape", Ints{80, 60}}});
    };
    const TensorId dq = p.op(g, "matmul", {scores, k}),
                   dk = p.op(g, "transpose", {p.op(g, "matmul", {q, scores})}, {{"permutation", Ints{0, 1, 3, 2}}});
    const TensorId whole = p.op(g, "concat", {rows(dq), rows(dk)}, {{"axis", std::int64_t{1}}});
    return std::vector{p.op(g, "matmul", {whole, p.variable(uneven({120, 30}, 4))}),
                       p.op(g, "matmul", {p.turned(g, whole), p.variable(uneven({80, 10}, 5))}), whole};
  };
  expect_folded(build, 0, 0);
  const auto concats = [](const std::vector<std::string>& steps) {
    return std::count_if(steps.begin(), steps.end(), [](const std::string& s) { return s.find("concat") != s.npos; });
  };
  EXPECT_EQ(concats(run(build, true, true).steps), 0);
}

}  // namespace
}  // namespace pando::session
