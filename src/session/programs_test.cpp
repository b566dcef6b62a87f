// Whole programs on machines, against the interpreter: what is written in place, loops, branches, replicas, remote rows, devices.
#include "session/program_testing.h"

#include "pando/model_error.hpp"

#include <gtest/gtest.h>
#include <poplar/exceptions.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <limits>

namespace pando::session {
namespace {

using namespace testing;

TEST(Programs, what_is_read_later_is_kept_from_an_update_in_place) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({2, 3}));
    const TensorId turned = p.op(g, "transpose", {v}, {{"permutation", Ints{1, 0}}});
    const TensorId row = p.op(g, "slice", {v}, {{"start", Ints{0}}, {"stop", Ints{1}}, {"step", Ints{1}}, {"axis", Ints{0}}});
    p.op(g, "add", {v, p.constant(g, counting({2, 3}, 10))}, {}, {}, true);
    p.op(g, "add", {v, v}, {}, {}, true);
    p.store(turned);
    p.store(row);
    p.store(v);
  });
}

TEST(Programs, logarithms_of_powers_of_two_are_whole) {
  on_machines([](Program& p) {
    for (const DType t : {DType::float32, DType::float16}) {
      const std::int64_t most = t == DType::float16 ? 15 : 40;
      HostTensor powers(t, {2 * most + 1});
      for (std::int64_t i = -most; i <= most; ++i)
        powers.set(i + most, std::ldexp(1.0, t == DType::float16 ? static_cast<int>(i / 2) : static_cast<int>(i)));
      const TensorId log = p.op(p.main(), "log2", {p.variable(powers)});
      p.store(log);
      p.store(p.op(p.main(), "floor", {p.op(p.main(), "log2", {p.variable(powers)})}));
      p.store(p.op(p.main(), "ceil", {p.op(p.main(), "log2", {p.variable(powers)})}));
    }
  });
}

TEST(Programs, the_slope_of_gelu_ends_at_infinity) {
  on_machines([](Program& p) {
    const double infinity = std::numeric_limits<double>::infinity(), nothing = std::numeric_limits<double>::quiet_NaN();
    const TensorId x = p.variable(HostTensor::of_floats(DType::float32, {4}, std::array<double, 4>{-infinity, infinity, -1000, 1000}));
    const TensorId no_number = p.variable(HostTensor::of_floats(DType::float32, {1}, std::array<double, 1>{nothing}));
    for (const char* op : {"gelu_grad", "geluerf_grad"}) {
      p.store(p.op(p.main(), "abs", {p.op(p.main(), op, {x, p.variable(counting({4}))})}));
      p.store(p.op(p.main(), "isnan", {p.op(p.main(), op, {no_number, p.variable(counting({1}))})}));
    }
  });
}

TEST(Programs, what_has_steps_reads_halfs_as_they_would_be_stored) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    // Less than half a step above -1; the last one overflows when it is squared.
    const TensorId x = p.variable(HostTensor::of_floats(DType::float16, {4}, std::array<double, 4>{-9, -10, 3, 300}));
    const auto almost = [&] { return p.op(g, "expm1", {x}); };
    for (const char* op : {"ceil", "floor", "sign"}) p.store(p.op(g, op, {almost()}));
    p.store(p.op(g, "cast", {almost()}, {{"data_type", DType::int32}}));
    p.store(p.op(g, "equal", {almost(), p.constant(g, HostTensor::filled(DType::float16, {4}, -1))}));
    p.store(p.op(g, "isinf", {p.op(g, "mul", {x, x})}));
    p.store(p.op(g, "increment_mod", {almost()}, {{"increment", 1.0}, {"modulus", 3.0}}));
  });
}

TEST(Programs, a_running_sum_begins_with_its_operand_and_leaves_it_alone) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({2, 4}, -3.5)), twice = p.op(g, "concat", {v, v}, {{"axis", std::int64_t{0}}});
    const TensorId made = p.op(g, "negate", {v}), sum = p.op(g, "cumsum", {made}, {{"dim", std::int64_t{0}}});
    p.store(p.op(g, "negate", {sum}));
    p.store(p.op(g, "abs", {p.op(g, "cumsum", {twice}, {{"dim", std::int64_t{0}}})}));
    p.store(made);
    p.store(v);
  });
}

// In parts of a row, in whole rows, in rows that lie apart: sums of whole numbers are the same bits.
// Pieces so many and short that they are copied together; not where the result is its operands.
TEST(Programs, many_short_pieces_side_by_side) {
  for (const bool in_place : {false, true}) {
    on_machines([&](Program& p) {
      const GraphId g = p.main();
      const TensorId x = p.variable(counting({40'000, 1})), y = p.variable(counting({40'000, 2}, -5));
      const TensorId both = p.op(g, "concat", {x, y}, {{"axis", std::int64_t{1}}}, {}, in_place);
      p.op(g, "add", {x, x}, {}, {}, true);
      p.store(both);
      p.store(p.op(g, "negate", {both}));
    });
  }
}

// Each call's result is copied away before the next one: more elements than one tile holds, of one that lies on one.
TEST(Programs, one_number_spread_by_calls_of_a_function) {
  on_machines([](Program& p) {
    const GraphId f = p.b.create_graph("spread");
    p.b.add_output(f, p.op(f, "expand", {p.b.add_input(f, tensor_type(DType::float32, {}), "x", false)}, {{"shape", Ints{200'000}}}));
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({}, 3)), to = p.variable(HostTensor(DType::float32, {200'000}));
    for (int i = 0; i < 3; ++i) p.op(g, "copy_var_update_", {to, p.op(g, "call", {v}, {}, {f})});
    p.store(to);
  });
}

TEST(Programs, running_sums_of_any_shape) {
  on_machines([](Program& p) {
    const auto store = [&p](const Shape& shape, std::int64_t dim) {
      p.store(p.op(p.main(), "cumsum", {p.variable(counting(shape, -3))}, {{"dim", dim}}));
    };
    store({300}, 0);
    store({2, 130}, 1);
    store({40, 3, 20}, 0);
    store({40, 3, 20}, 1);
    store({5, 0}, 0);
  });
}

TEST(Programs, what_an_op_writes_into_it_may_read_as_another_operand) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const auto scattered = [&](TensorId t, TensorId values) {
      return p.op(g, "scatter",
                  {t, p.constant(g, HostTensor::of_ints(DType::int32, {2, 3}, std::array<std::int64_t, 6>{1, 0, 1, 0, 1, 0})), values},
                  {{"axis", std::int64_t{0}}});
    };
    const TensorId v = p.variable(counting({2, 3})), made = p.op(g, "negate", {v});
    p.store(scattered(made, made));
    const TensorId more = p.op(g, "add", {v, v}), seen = p.op(g, "identity", {more});
    p.store(scattered(more, seen));
    // Numbers that are rows, too.
    const TensorId rows = p.variable(HostTensor::of_ints(DType::int32, {3}, std::array<std::int64_t, 3>{2, 0, 1}));
    const TensorId twice = p.op(g, "abs", {rows}),
                   first = p.op(g, "slice", {twice}, {{"start", Ints{0}}, {"stop", Ints{1}}, {"step", Ints{1}}, {"axis", Ints{0}}});
    p.store(p.op(g, "dynamic_update", {twice, first, p.constant(g, HostTensor::of_ints(DType::int32, {1}, std::array<std::int64_t, 1>{7}))},
                 {{"axes", Ints{0}}, {"sizes", Ints{1}}}));
    const TensorId both = p.op(g, "abs", {rows});
    p.store(p.op(g, "scatter", {both, both, both}, {{"axis", std::int64_t{0}}}));
  });
}

// What two runs leave in the variables.
std::vector<HostTensor> states_after(const std::function<void(Program&)>& build, const std::string& device, bool fuse) {
  Program p;
  build(p);
  Options options;
  options.device = device;
  options.tiles_per_ipu = device == "cpu" ? 0 : 4;
  options.settings.set("fuse", fuse);
  Session session(p.b, options);
  session.attach();
  session.weights_from_host();
  for (int run = 0; run < 2; ++run) session.run({}, {});
  std::vector<HostTensor> states;
  for (std::size_t s = 0; s < p.b.module().state_count(); ++s) states.push_back(session.data(StateId(static_cast<StateId::rep>(s))));
  return states;
}

TEST(Programs, element_wise_ops_that_follow_each_other_give_the_same_in_one_pass) {
  // Adam: three tensors change, and the step itself is read by nobody.
  const auto adam = [](Program& p) {
    const GraphId g = p.main();
    const TensorId w = p.variable(counting({5, 7})), m = p.variable(counting({5, 7}, 3)), v = p.variable(counting({5, 7}, 40)),
                   t = p.variable(counting({}, 0));
    const TensorId x = p.variable(counting({5, 7}, -9));
    const TensorId gradient = p.op(g, "mul", {x, x});
    p.op(g, "accumulate_moving_average_", {m, gradient}, {{"f", 0.9}});
    p.op(g, "accumulate_moving_average_square_", {v, gradient}, {{"f", 0.999}});
    const TensorId step =
        p.op(g, "adam_updater", {m, v, t}, {{"present", Strings{"time_step"}}, {"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-8}});
    p.op(g, "scaled_add", {w, step}, {{"b", -0.5}}, {}, true);
  };
  for (const std::string device : {"cpu", "ipu_model"})
    EXPECT_EQ(states_after(adam, device, true), states_after(adam, device, false)) << device;
}

TEST(Programs, one_pass_reads_old_values_of_what_it_overwrites) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId a = p.variable(counting({6})), b = p.variable(counting({6}, 20));
    const TensorId sum = p.op(g, "add", {a, b});
    p.op(g, "add", {a, b}, {}, {}, true);
    const TensorId both = p.op(g, "sub", {sum, a});
    p.op(g, "add", {b, both}, {}, {}, true);
    p.op(g, "add", {a, sum}, {}, {}, true);
    p.op(g, "add", {a, a}, {}, {}, true);
    for (const TensorId each : {sum, a, both, b}) p.store(each);
  });
}

TEST(Programs, heads_are_multiplied_where_they_lie_among_others) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const auto heads = [&](double first, Ints order) {
      const TensorId t = p.variable(counting({6, 8}, first));
      return p.op(g, "transpose", {p.op(g, "reshape", {t}, {{"shape", Ints{2, 3, 2, 4}}})}, {{"permutation", std::move(order)}});
    };
    const TensorId q = heads(-20, {0, 2, 1, 3}), k = heads(-10, {0, 2, 3, 1}), v = heads(5, {0, 2, 1, 3});
    const TensorId scores = p.op(g, "matmul", {q, k});
    p.store(scores);
    p.store(p.op(g, "matmul", {scores, v}));
    p.store(p.op(g, "matmul", {p.op(g, "transpose", {scores}, {{"permutation", Ints{0, 1, 3, 2}}}), v}));
  });
}

TEST(Programs, a_half_is_rounded_before_the_next_op_reads_it) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId a = p.variable(counting({8}, 2000, DType::float16)), b = p.variable(counting({8}, 1, DType::float16));
    const TensorId sum = p.op(g, "add", {a, b});
    const TensorId back = p.op(g, "sub", {sum, a});
    p.store(sum);
    p.store(back);
  });
}

TEST(Programs, an_alias_writes_into_its_base) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({3, 2}));
    const Attributes middle{{"start", Ints{1}}, {"stop", Ints{2}}, {"step", Ints{1}}, {"axis", Ints{0}}};
    const TensorId before = p.op(g, "mul", {v, v});
    const TensorId alias = p.op(g, "slice", {v}, middle, {}, true);
    p.op(g, "add", {alias, p.constant(g, counting({1, 2}, 100))}, {}, {}, true);
    p.store(v);
    p.store(before);
    p.store(alias);
  });
}

TEST(Programs, two_variables_change_places) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId a = p.variable(counting({4})), b = p.variable(counting({4}, 50));
    const TensorId old = p.op(g, "identity", {a});
    p.op(g, "copy_var_update_", {a, b});
    p.op(g, "copy_var_update_", {b, old});
    p.store(a);
    p.store(b);
  });
}

// A called graph's products that become a variable's contents are computed there, unless the old contents are still read.
TEST(Programs, products_are_computed_where_they_will_be_kept) {
  for (const int variant : {0, 1, 2, 3}) {
    on_machines([&](Program& p) {
      const GraphId g = p.main(), f = p.b.create_graph("f");
      const TensorId x = p.b.add_input(f, tensor_type(DType::float32, {3, 3}), "x"),
                     y = p.b.add_input(f, tensor_type(DType::float32, {3, 3}), "y");
      const TensorId product = p.op(f, "matmul", {p.op(f, "transpose", {x}, {{"permutation", Ints{1, 0}}}), y});
      p.b.add_output(f, product);
      p.b.add_output(f, variant == 2 ? product : p.op(f, "matmul", {product, y}));
      const TensorId a = p.variable(counting({3, 3})), b = p.variable(counting({3, 3}, -4)), sum = p.variable(counting({3, 3}, 7));
      const TensorId other = p.variable(counting({3, 3}, 9));
      const TensorId row =
          variant == 1 ? p.op(g, "slice", {sum}, {{"start", Ints{0}}, {"stop", Ints{1}}, {"step", Ints{1}}, {"axis", Ints{0}}}) : sum;
      const std::vector<TensorId> results = p.b.op(g, "call", std::vector{variant == 3 ? sum : a, b}, {}, std::vector{f}, false);
      if (variant == 1) p.store(p.op(g, "add", {row, row}));  // after the call
      p.op(g, "copy_var_update_", {sum, results[0]});
      p.op(g, "copy_var_update_", {other, results[1]});
      p.store(sum);
      p.store(other);
      p.store(a);
    });
  }
}

// f(x by reference, y): x += y; returns x * y. Called twice: a function.
GraphId accumulating(Program& p, bool by_ref) {
  const GraphId f = p.b.create_graph("f");
  const TensorId x = p.b.add_input(f, tensor_type(DType::float32, {3}), "x", by_ref),
                 y = p.b.add_input(f, tensor_type(DType::float32, {3}), "y");
  p.op(f, "add", {x, y}, {}, {}, true);
  p.b.add_output(f, p.op(f, "mul", {x, y}));
  return f;
}

TEST(Programs, calls_hand_back_what_goes_by_reference) {
  for (const bool by_ref : {true, false}) {
    on_machines([&](Program& p) {
      const GraphId g = p.main(), f = accumulating(p, by_ref);
      const TensorId v = p.variable(counting({3})), w = p.variable(counting({3}, 5));
      const TensorId first = p.op(g, "call", {v, w}, {}, {f});
      const TensorId second = p.op(g, "call", {w, first}, {}, {f});
      const TensorId third = p.op(g, "call", {v, v}, {}, {f});
      for (TensorId t : {first, second, third, v, w}) p.store(t);
    });
  }
}

TEST(Programs, loops_carry_and_keep) {
  for (const std::int64_t count : {0, 1, 4}) {
    for (const bool shared : {true, false}) {
      on_machines([&](Program& p) {
        const GraphId g = p.main();
        // (a, b, by reference r, fixed c) -> (b, a + c), and r += a
        const GraphId body = p.b.create_graph("body");
        const Type t = tensor_type(DType::float32, {2});
        const TensorId a = p.b.add_input(body, t, "a"), b = p.b.add_input(body, t, "b"), r = p.b.add_input(body, t, "r", true),
                       c = p.b.add_input(body, t, "c");
        p.op(body, "add", {r, a}, {}, {}, true);
        const TensorId sum = p.op(body, "add", {a, c});
        p.op(body, "add", {c, c}, {}, {}, true);
        p.b.add_output(body, b);
        p.b.add_output(body, p.op(body, "add", {sum, c}));
        const TensorId v = p.variable(counting({2})), w = p.variable(counting({2}, 7)), x = p.variable(counting({2}, 20));
        const auto out = p.b.op(g, "repeat", std::vector{v, w, x, v}, {{"count", count}}, std::vector{body});
        for (std::size_t i = 0; i < 2; ++i) p.store(out[i]);
        p.store(x);
        p.store(v);
        if (shared) p.store(p.b.op(g, "call", std::vector{out[1], v, x, w}, {}, std::vector{body})[1]);
      });
    }
  }
}

// What a function has left is what each iteration of a loop over that function begins with again.
TEST(Programs, a_loop_reads_what_its_function_left_before) {
  on_machines([](Program& p) {
    const GraphId g = p.main(), body = p.b.create_graph("body");
    const Type t = tensor_type(DType::float32, {3});
    p.b.add_input(body, t, "x");
    const TensorId y = p.b.add_input(body, t, "y");
    p.op(body, "add", {y, y}, {}, {}, true);
    p.b.add_output(body, y);
    const TensorId made = p.op(g, "call", {p.variable(counting({3})), p.variable(counting({3}, 5))}, {}, {body});
    p.store(p.op(g, "repeat", {made, made}, {{"count", std::int64_t{3}}}, {body}));
  });
}

TEST(Programs, what_a_loop_carries_changes_places) {
  for (const std::int64_t count : {0, 1, 3}) {
    on_machines([&](Program& p) {
      const GraphId g = p.main(), body = p.b.create_graph("body");
      const Type four = tensor_type(DType::float32, {4});
      const TensorId x = p.b.add_input(body, four, "x"), y = p.b.add_input(body, four, "y");
      p.b.add_output(body, y);
      p.b.add_output(body, x);
      const TensorId a = p.variable(counting({4})), b = p.variable(counting({4}, 50));
      for (TensorId t : p.b.op(g, "repeat", std::vector{a, b}, {{"count", count}}, std::vector{body})) p.store(t);
      p.store(a);
    });
  }
}

// What is carried to an input is not what the input itself has become; without an iteration that is what it was.
TEST(Programs, a_loop_hands_back_what_it_carries_to) {
  for (const std::int64_t count : {0, 1, 2}) {
    on_machines([&](Program& p) {
      const GraphId g = p.main(), body = p.b.create_graph("body");
      const TensorId x = p.b.add_input(body, tensor_type(DType::float32, {3}), "x", true),
                     y = p.b.add_input(body, tensor_type(DType::float32, {3}), "y");
      p.op(body, "add", {x, y}, {}, {}, true);
      p.b.add_output(body, p.op(body, "mul", {x, y}));
      const TensorId a = p.variable(counting({3})), b = p.variable(counting({3}, 2));
      for (TensorId t : p.b.op(g, "repeat", std::vector{a, b}, {{"count", count}}, std::vector{body})) p.store(t);
      p.store(a);
    });
  }
}

TEST(Programs, what_lies_together_is_overwritten_once) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({4})), square = p.variable(counting({3, 3}));
    // One memory, read by two ops of one pass for the last time, under two names.
    const TensorId t = p.op(g, "cumsum", {v}, {{"dim", std::int64_t{0}}}), same = p.op(g, "detach", {t});
    const TensorId sum = p.op(g, "add", {t, same}), product = p.op(g, "mul", {t, same});
    p.store(sum);
    p.store(product);
    // Read turned while it is overwritten.
    p.op(g, "add", {square, p.op(g, "transpose", {square}, {{"permutation", Ints{1, 0}}})}, {}, {}, true);
    p.store(square);
  });
}

TEST(Programs, branches_leave_the_other_ones_operands_alone) {
  for (const bool condition : {true, false}) {
    on_machines([&](Program& p) {
      const GraphId g = p.main();
      const Type t = tensor_type(DType::float32, {3});
      const GraphId twice = p.b.create_graph("twice"), negated = p.b.create_graph("negated");
      const TensorId x = p.b.add_input(twice, t, "x");
      p.op(twice, "add", {x, x}, {}, {}, true);
      p.b.add_output(twice, x);
      p.b.add_output(twice, p.op(twice, "mul", {x, x}));
      const TensorId y = p.b.add_input(negated, t, "y");
      p.b.add_output(negated, p.op(negated, "negate", {y}));
      p.b.add_output(negated, y);
      const TensorId v = p.variable(counting({3})), c = p.variable(HostTensor::filled(DType::boolean, {}, condition));
      const TensorId fresh = p.op(g, "add", {v, v});
      const auto out =
          p.b.op(g, "conditional", std::vector{c, fresh, fresh}, {{"then_inputs", std::int64_t{1}}}, std::vector{twice, negated});
      p.store(out[0]);
      p.store(out[1]);
      p.store(v);
    });
  }
}

TEST(Programs, replicas_meet_in_groups) {
  for (const auto& [stride, size] : {std::pair<std::int64_t, std::int64_t>{1, 4}, {1, 2}, {2, 2}, {1, 1}, {4, 1}}) {
    on_machines(
        [&, stride = stride, size = size](Program& p) {
          const GraphId g = p.main();
          const TensorId v = p.variable(counting({4, 2, 3}), ReplicaGrouping(4, 1, 1), Retrieval::all_replicas);
          const Attributes group{{"stride", stride}, {"group_size", size}};
          const auto with = [&](std::initializer_list<std::pair<std::string, AttributeValue>> more) {
            Attributes a = group;
            for (const auto& [name, value] : more) a.set(name, value);
            return a;
          };
          for (const char* op : {"add", "mean", "max"}) p.store(p.op(g, "replicated_all_reduce", {v}, with({{"op", std::string(op)}})));
          p.store(p.op(g, "replicated_all_gather", {v}, with({{"output_shape", std::string("new_axis")}})));
          p.store(p.op(g, "replicated_all_gather", {v}, with({{"output_shape", std::string("concat")}, {"axis", std::int64_t{1}}})));
          p.store(p.op(g, "replicated_reduce_scatter", {v}, with({{"op", std::string("add")}})));
          const TensorId shard = p.op(g, "replica_sharded_slice", {v}, group);
          p.store(shard);
          p.store(p.op(g, "replicated_all_gather", {shard}, with({{"output_shape", std::string("meta_shape")}})));
          const TensorId before = p.op(g, "replicated_all_gather", {v}, with({{"output_shape", std::string("new_axis")}}));
          p.op(g, "replicated_all_reduce", {v}, with({{"op", std::string("add")}}), {}, true);
          p.op(g, "add", {v, v}, {}, {}, true);
          p.store(v);
          p.store(before);  // also of a group of one what was there before the updates
        },
        4);
  }
}

TEST(Programs, rows_of_remote_buffers_are_loaded_and_stored) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    RemoteBuffer buffer;
    buffer.number = 1;
    buffer.shape = {3};
    buffer.entries = 4;
    const BufferId id = p.b.module().add_buffer(buffer);
    State s;
    s.type = p.b.module().type(tensor_type(DType::float32, {3}));
    s.buffer = id;
    s.row = 2;
    p.b.add_variable(s, counting({3}), "remote");
    const TensorId row = p.constant(g, counting({}, 2, DType::uint32)), other = p.variable(counting({}, 0, DType::int32)),
                   v = p.variable(counting({3}, 9));
    const TensorId loaded = p.op(g, "remote_load", {row}, {{"buffer", id}});
    p.b.op(g, "remote_store", std::vector{other, p.op(g, "add", {loaded, v})}, {{"buffer", id}});
    p.op(g, "remote_load_into", {v, other}, {{"buffer", id}});
    p.b.op(g, "remote_store", std::vector{row, p.op(g, "mul", {v, v})}, {{"buffer", id}});
    p.store(loaded);
    p.store(v);
  });
}

TEST(Programs, devices_copy_to_each_other) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({2, 4}));
    p.b.set_device(0);
    const TensorId here = p.op(g, "add", {v, v});
    const TensorId there = p.op(g, "ipu_copy", {here}, {{"source", std::int64_t{0}}, {"destination", std::int64_t{1}}});
    p.b.set_device(1);
    const TensorId w = p.variable(counting({4, 2}));
    const TensorId product = p.op(g, "matmul", {there, w});
    p.store(p.op(g, "ipu_copy", {product}, {{"source", std::int64_t{1}}, {"destination", std::int64_t{0}}}));
  });
}

// Heads of attention: operands are views of one product, and the gradient of a transposed operand is read transposed only.
TEST(Programs, products_read_what_others_write) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const auto heads = [&](TensorId t) {
      return p.op(g, "transpose", {p.op(g, "reshape", {t}, {{"shape", Ints{2, 40, 3, 20}}})}, {{"permutation", Ints{0, 2, 1, 3}}});
    };
    const auto small = [](Shape shape) {
      HostTensor t(DType::float32, shape);
      for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, static_cast<double>(i * 7 % 5) - 2);
      return t;
    };
    const TensorId x = p.variable(small({80, 60})), w = p.variable(small({60, 60})), bias = p.variable(small({60}));
    const TensorId y = p.op(g, "add", {p.op(g, "matmul", {x, w}), bias});
    const TensorId q = heads(y), k = p.op(g, "transpose", {q}, {{"permutation", Ints{0, 1, 3, 2}}});
    const TensorId scores = p.op(g, "matmul", {q, k});
    p.store(scores);
    const TensorId turned = p.op(g, "transpose", {p.op(g, "matmul", {k, scores})}, {{"permutation", Ints{0, 1, 3, 2}}});
    const TensorId joined =
        p.op(g, "reshape", {p.op(g, "transpose", {turned}, {{"permutation", Ints{0, 2, 1, 3}}})}, {{"shape", Ints{80, 60}}});
    p.store(joined);
    const TensorId back = p.op(g, "transpose", {w}, {{"permutation", Ints{1, 0}}});
    p.store(p.op(g, "matmul", {p.op(g, "transpose", {x}, {{"permutation", Ints{1, 0}}}), p.op(g, "matmul", {y, back})}));
  });
}

TEST(Programs, each_replica_has_its_devices) {
  on_machines(
      [](Program& p) {
        const GraphId g = p.main();
        const TensorId v = p.variable(counting({2, 3}), ReplicaGrouping(2, 1, 1), Retrieval::all_replicas);
        p.b.set_device(0);
        const TensorId sum = p.op(g, "replicated_all_reduce", {p.op(g, "add", {v, v})}, {{"op", std::string("add")}});
        const TensorId there = p.op(g, "ipu_copy", {sum}, {{"source", std::int64_t{0}}, {"destination", std::int64_t{1}}});
        p.b.set_device(1);
        const TensorId both =
            p.op(g, "replicated_all_gather", {p.op(g, "mul", {there, there})}, {{"output_shape", std::string("new_axis")}});
        p.store(both);
      },
      2);
}

TEST(Programs, tensors_without_elements_pass) {
  for (const std::int64_t replicas : {1, 2})
    on_machines(
        [](Program& p) {
          const GraphId g = p.main();
          const TensorId v = p.variable(HostTensor(DType::float32, {0, 3}));
          const TensorId sum = p.op(g, "add", {v, v});
          p.store(sum);
          p.store(p.op(g, "sum", {sum}, {{"axis", Ints{0}}, {"keepdims", false}}));
          p.store(p.op(g, "concat", {sum, p.constant(g, counting({2, 3}))}, {{"axis", std::int64_t{0}}}));
        },
        replicas);
}

TEST(Programs, io_tiles_are_others_than_those_that_compute) {
  Program p;
  const GraphId g = p.main();
  const TensorId v = p.variable(counting({4, 8}));
  const TensorId sum = p.op(g, "add", {v, v});
  p.b.set_io_tiles(true);
  const TensorId outside = p.op(g, "io_tile_copy", {sum}, {{"tile_set", std::string("io")}});
  p.store(outside);
  Options options;
  options.tiles_per_ipu = 8;
  options.settings.set("num_io_tiles", std::int64_t{4});
  options.settings.set("check_ambiguity", false);
  expect_same(p, options);
  options.settings.set("num_io_tiles", std::int64_t{8});
  EXPECT_THROW(Session(p.b, options), ModelError);
}

// Made when variables come, changed by each run, looked at when variables go.
TEST(Programs, programs_leave_values_for_each_other) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({3, 4})), seen = p.variable(counting({4, 3}, 70));
    p.b.set_context(Context::weights_from_host);
    const TensorId square = p.op(g, "mul", {v, v}), kept = p.op(g, "mul", {v, p.constant(g, counting({3, 4}, 5))});
    p.b.set_context(Context::normal);
    const TensorId turned = p.op(g, "transpose", {kept}, {{"permutation", Ints{1, 0}}});
    p.op(g, "add", {kept, v}, {}, {}, true);
    p.store(p.op(g, "add", {square, kept}));
    p.store(turned);
    p.b.set_context(Context::weights_to_host);
    p.op(g, "copy_var_update_", {seen, turned});
    p.op(g, "add", {v, kept}, {}, {}, true);
  });
}

// What one program modifies through views is for the others what it was before.
TEST(Programs, programs_modify_through_views) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({3, 3})), w = p.variable(counting({2, 3}, 30)), seen = p.variable(counting({3, 3}, 70));
    const Attributes middle{{"start", Ints{1}}, {"stop", Ints{2}}, {"step", Ints{1}}, {"axis", Ints{0}}};
    const TensorId turned = p.op(g, "transpose", {v}, {{"permutation", Ints{1, 0}}}, {}, true);
    const TensorId both = p.op(g, "concat", {w, v}, {{"axis", std::int64_t{0}}}, {}, true);
    p.op(g, "add", {turned, p.constant(g, counting({3, 3}, 5))}, {}, {}, true);
    p.op(g, "add", {p.op(g, "slice", {v}, middle, {}, true), p.constant(g, counting({1, 3}))}, {}, {}, true);
    p.store(both);
    p.b.set_context(Context::weights_from_host);
    const TensorId flat = p.op(g, "reshape", {v}, {{"shape", Ints{9}}}, {}, true);
    p.op(g, "add", {flat, flat}, {}, {}, true);
    p.op(g, "add", {both, p.constant(g, counting({5, 3}))}, {}, {}, true);
    const TensorId kept = p.op(g, "mul", {v, p.constant(g, counting({3, 3}, 2))});
    p.b.set_context(Context::normal);
    const TensorId row = p.op(g, "slice", {kept}, middle, {}, true);
    p.op(g, "add", {row, p.constant(g, counting({1, 3}))}, {}, {}, true);
    p.store(kept);
    p.b.set_context(Context::weights_to_host);
    p.op(g, "copy_var_update_", {seen, kept});
  });
}

TEST(Programs, a_value_that_is_read_before_it_is_made_is_zero) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({5})), early = p.variable(counting({5}));
    const TensorId sum = p.op(g, "add", {v, v});
    p.store(sum);
    p.b.set_context(Context::weights_from_host);
    p.op(g, "copy_var_update_", {early, sum});
  });
}

// The scale comes with the run.
Program scaled_by(std::int64_t log2_scale) {
  Program p;
  const TensorId scale = p.variable(HostTensor::filled(DType::int32, {}, static_cast<double>(log2_scale)));
  const TensorId small = p.op(p.main(), "pow2scale_cast_to_fp8", {p.variable(counting({3})), scale}, {{"data_type", DType::float8_143}});
  p.store(p.op(p.main(), "pow2scale_cast_from_fp8", {small, scale}, {{"data_type", DType::float32}}));
  return p;
}

TEST(Programs, scales_of_float8_are_checked_where_that_is_asked_for) {
  for (const bool checked : {true, false}) {
    for (const std::int64_t log2_scale : {-33, -32, 31, 32}) {
      Program p = scaled_by(log2_scale);
      p.b.finish();
      Options options;
      options.device = "cpu";
      options.settings.set("check_float8_scales", checked);
      Session session(p.b, options);
      session.attach();
      session.weights_from_host();
      float out[3];
      const OutputData to{p.outs[0], out, 1};
      if (checked && (log2_scale < -32 || log2_scale > 31)) {
        EXPECT_THROW(session.run({}, {&to, 1}), poplar::application_runtime_error) << log2_scale;
      } else {
        session.run({}, {&to, 1});
      }
    }
  }
}

TEST(Programs, extremes_of_what_has_a_nan_are_nan) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    for (DType type : {DType::float32, DType::float16}) {
      HostTensor data = counting({5, 40}, -70, type);
      for (std::int64_t i : {3, 47, 100, 119}) data.set(i, std::nan(""));
      const TensorId v = p.variable(data);
      for (const char* op : {"max", "min"}) {
        for (std::int64_t axis : {0, 1}) {
          // What is NaN, and what the others are.
          const TensorId y = p.op(g, op, {v}, {{"axis", Ints{axis}}, {"keepdims", false}}), bad = p.op(g, "isnan", {y});
          p.store(bad);
          p.store(p.op(g, "where", {bad, p.constant(g, HostTensor(type, {})), y}));
        }
      }
    }
  });
}

TEST(Programs, sums_of_exponentials_are_infinite_where_an_element_is) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const double infinity = std::numeric_limits<double>::infinity();
    HostTensor data = counting({4, 3});
    data.set(1, infinity);
    for (std::int64_t i : {3, 4, 5}) data.set(i, -infinity);
    data.set(6, -infinity);
    data.set(7, infinity);
    data.set(10, std::nan(""));
    data.set(11, infinity);
    const TensorId y = p.op(g, "logsumexp", {p.variable(data)}, {{"axis", Ints{1}}, {"keepdims", false}}), bad = p.op(g, "isnan", {y});
    p.store(bad);
    p.store(p.op(g, "where", {bad, p.constant(g, HostTensor(DType::float32, {})), y}));
  });
}

TEST(Programs, masks_are_those_of_the_interpreter) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({7, 9})), seed = p.variable(counting({2}, 12, DType::uint32));
    const auto seeds = p.b.op(g, "split_random_seed", std::vector{seed}, {{"n", std::int64_t{2}}});
    p.store(p.op(g, "dropout", {v, seeds[0]}, {{"p", 0.5}}));
    p.op(g, "copy_var_update_", {seed, seeds[1]});
  });
}

TEST(Programs, loads_of_code_change_no_value) {
  on_machines([](Program& p) {
    const GraphId g = p.main(), f = accumulating(p, false);
    const TensorId v = p.variable(counting({3}));
    p.b.op(g, "remote_code_load", {}, {{"destination", std::string("executable")}}, std::vector{f});
    p.store(p.op(g, "call", {v, v}, {}, {f}));
  });
}

TEST(Programs, what_cannot_run_is_rejected) {
  const auto id_of = [](const std::function<void(Program&)>& build, const Options& options) -> std::string {
    try {
      Program p;
      build(p);
      Session session(p.b, options);
    } catch (const ModelError& e) { return e.id(); }
    return "";
  };
  Options cpu, unknown;
  cpu.device = "cpu";
  unknown.device = "abacus";
  const auto sum = [](Program& p) { p.store(p.op(p.main(), "add", {p.variable(counting({2})), p.variable(counting({2}))})); };
  EXPECT_EQ(id_of([](Program&) {}, cpu), "empty-program");
  EXPECT_EQ(id_of(sum, unknown), "unknown-device");
  EXPECT_EQ(id_of(sum, cpu), "");
  EXPECT_EQ(id_of([&](Program& p) { p.store(p.op(p.main(), "abs", {p.variable(HostTensor(DType::float64, {2}))})); }, cpu),
            "no-such-type-on-tiles");
  // A variable that no op reads.
  try {
    Program p;
    p.variable(HostTensor(DType::float64, {2}));
    sum(p);
    Session session(p.b, cpu);
    ADD_FAILURE() << "a variable of float64 passes";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.id(), "no-such-type-on-tiles");
    EXPECT_NE(std::string(e.what()).find("variable 'v' (Tensor[(2), float64"), std::string::npos) << e.what();
  }
  Program p;
  sum(p);
  Session session(p.b, cpu);
  const auto run_id = [&](std::vector<OutputData> outputs) -> std::string {
    try {
      session.run({}, outputs);
    } catch (const ModelError& e) { return e.id(); }
    return "";
  };
  float out[2];
  EXPECT_EQ(run_id({{p.outs[0], out, 1}}), "session-not-attached");
  session.attach();
  EXPECT_EQ(run_id({}), "stream-without-data");
  EXPECT_EQ(run_id({{p.outs[0], out, 0}}), "no-slices");
  EXPECT_EQ(run_id({{p.outs[0], out, 1}}), "");
}

}  // namespace
}  // namespace pando::session
