// Values that lie at another place than an op or a graph that reads them wants: a copy comes there.
#include "session/program_testing.h"

#include <gtest/gtest.h>

namespace pando::session {
namespace {

using namespace testing;

TensorId moved_in(Program& p, GraphId g, TensorId t, std::int64_t to) {
  return p.op(g, "ipu_copy", {t}, {{"source", 1 - to}, {"destination", to}});
}
TensorId moved(Program& p, TensorId t, std::int64_t to) { return moved_in(p, p.main(), t, to); }

// On the first IPU: x += y; returns x * y. Its inputs have no place of their own.
GraphId on_first_ipu(Program& p, bool by_ref) {
  const GraphId f = p.b.create_graph("f");
  const Type t = tensor_type(DType::float32, {2, 3});
  const TensorId x = p.b.add_input(f, t, "x", by_ref), y = p.b.add_input(f, t, "y");
  p.b.set_device(0);
  p.op(f, "add", {x, y}, {}, {}, true);
  p.b.add_output(f, p.op(f, "mul", {x, y}));
  return f;
}

TEST(Places, a_called_graph_gets_its_operands_where_it_reads_them) {
  for (const int calls : {1, 2}) {
    for (const bool by_ref : {false, true}) {
      on_machines([&](Program& p) {
        const GraphId g = p.main(), f = on_first_ipu(p, by_ref);
        const TensorId v = p.variable(counting({2, 3})), w = p.variable(counting({2, 3}, 5));
        const TensorId there = moved(p, v, 1);
        for (int i = 0; i < calls; ++i) {
          p.store(p.op(g, "call", {there, w}, {}, {f}));
          // What the graph has made of it is read on the second IPU.
          p.b.set_device(1);
          p.store(p.op(g, "mul", {there, there}));
          p.b.set_device(0);
        }
      });
    }
  }
}

TEST(Places, so_do_loops_and_branches) {
  for (const std::int64_t count : {0, 1, 3}) {
    for (const bool by_ref : {false, true}) {
      on_machines([&](Program& p) {
        const GraphId g = p.main(), f = on_first_ipu(p, by_ref);
        const TensorId v = p.variable(counting({2, 3})), w = p.variable(counting({2, 3}, 5));
        const TensorId x = moved(p, v, 1), y = moved(p, w, 1);
        p.store(p.op(g, "repeat", {x, y}, {{"count", count}}, {f}));
        p.store(moved(p, x, 0));
        const TensorId predicate = p.constant(g, HostTensor::filled(DType::boolean, {}, static_cast<double>(count > 0)));
        const GraphId plain = on_first_ipu(p, false), other = on_first_ipu(p, false);
        p.store(p.op(g, "conditional", {predicate, x, y, y, x}, {{"then_inputs", std::int64_t{2}}}, {plain, other}));
      });
    }
  }
}

// The variable has the place of its first reader.
TEST(Places, an_op_reads_what_has_got_another_place) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({3, 3})), there = moved(p, v, 1);
    p.b.set_device(1);
    const TensorId most = p.op(g, "maximum", {v, there});
    p.store(p.op(g, "relu_grad", {most, there}));
    p.store(p.op(g, "matmul", {v, there}));
    const TensorId turned = p.op(g, "transpose", {v}, {{"permutation", Ints{1, 0}}});
    p.store(p.op(g, "matmul", {turned, there}));
    p.store(p.op(g, "add", {p.op(g, "negate", {v}), p.op(g, "identity", {v})}));
    p.b.set_device(0);
    p.op(g, "add", {v, v}, {}, {}, true);
  });
}

// On the second IPU, where the op is whose result it is, though what it is a new version of lies on the first: the input's first reader is
// there.
GraphId mean_on_second_ipu(Program& p, bool by_ref) {
  const GraphId f = p.b.create_graph("f");
  const TensorId x = p.b.add_input(f, tensor_type(DType::float32, {4}), "x", by_ref);
  p.b.set_device(0);
  const TensorId square = p.op(f, "square", {x});
  p.b.set_device(1);
  p.b.add_output(f, p.op(f, "accumulate_mean_", {x, moved_in(p, f, square, 1)}, {{"step", 1.0}}));
  p.b.set_device(0);
  return f;
}

TEST(Places, a_new_version_lies_where_its_type_says) {
  for (const bool by_ref : {false, true}) {
    on_machines([&](Program& p) {
      const GraphId g = p.main(), f = mean_on_second_ipu(p, by_ref);
      p.b.set_device(1);
      const TensorId c = p.constant(g, counting({4}));
      const TensorId once = p.op(g, "repeat", {c}, {{"count", std::int64_t{1}}}, {f});
      p.store(p.op(g, "relu", {p.op(g, "call", {once}, {}, {f})}));
    });
  }
}

// The first IPU reads the variable first; each of these writes to it on the second, and reads the new version there.
TEST(Places, so_do_those_of_every_op_that_updates) {
  using Update = std::function<TensorId(Program&, TensorId t, TensorId x)>;
  const auto plain = [](std::string_view op, const Attributes& a) -> Update {
    return [=](Program& p, TensorId t, TensorId x) { return p.op(p.main(), op, {t, x}, a); };
  };
  const auto numbers = [](Program& p, Shape shape) { return p.constant(p.main(), counting(std::move(shape), 0, DType::int32)); };
  const Update updates[] = {
      plain("accumulate_", {}),
      plain("copy_var_update_", {}),
      [](Program& p, TensorId t, TensorId x) { return p.op(p.main(), "add", {t, x}, {}, {}, true); },
      [&](Program& p, TensorId t, TensorId x) {
        return p.op(p.main(), "sparse_accumulate_", {t, x, numbers(p, {3})}, {{"axis", std::int64_t{0}}});
      },
      [&](Program& p, TensorId t, TensorId x) {
        return p.op(p.main(), "dynamic_update", {t, p.constant(p.main(), HostTensor::filled(DType::uint32, {1}, 0)), x},
                    {{"axes", Ints{0}}, {"sizes", Ints{3}}}, {}, true);
      },
      [](Program& p, TensorId t, TensorId) { return p.op(p.main(), "accumulator_zero_", {t}); },
  };
  for (const Update& update : updates) {
    on_machines([&](Program& p) {
      const GraphId g = p.main();
      const TensorId v = p.variable(counting({3, 2}));
      const TensorId x = moved(p, p.op(g, "square", {v}), 1);
      p.b.set_device(1);
      p.store(p.op(g, "matmul", {p.op(g, "transpose", {update(p, v, x)}, {{"permutation", Ints{1, 0}}}), x}));
      p.b.set_device(0);
    });
  }
}

// An input that a graph hands back has the place of the operand, though the graph has read it elsewhere.
TEST(Places, results_of_graphs_lie_where_their_types_say) {
  for (const int calls : {1, 2}) {
    for (const bool gives_input : {false, true}) {
      on_machines([&](Program& p) {
        const GraphId g = p.main();
        const TensorId there = moved(p, p.variable(counting({2, 3})), 1);
        const auto graph = [&] {
          const GraphId f = p.b.create_graph("f");
          const TensorId x = p.b.add_input(f, tensor_type(DType::float32, {2, 3}), "x");
          if (gives_input) p.b.set_device(0);
          const TensorId y = p.op(f, "square", {x});
          p.b.set_device(std::nullopt);
          p.b.add_output(f, gives_input ? x : y);
          if (gives_input) p.b.add_output(f, y);
          return f;
        };
        const GraphId f = graph();
        const TensorId predicate = p.constant(g, HostTensor::filled(DType::boolean, {}, 1));
        for (int i = 0; i < calls; ++i) {
          const TensorId called = p.op(g, "call", {there}, {}, {f});
          const TensorId chosen = p.op(g, "conditional", {predicate, there, there}, {{"then_inputs", std::int64_t{1}}}, {graph(), graph()});
          p.store(p.op(g, "matmul", {p.op(g, "transpose", {called}, {{"permutation", Ints{1, 0}}}), chosen}));
        }
      });
    }
  }
}

TEST(Places, sums_over_devices_are_taken_at_their_results_place) {
  on_machines([](Program& p) {
    const GraphId g = p.main();
    const TensorId v = p.variable(counting({2, 3})), there = moved(p, v, 1);
    const TensorId here = p.constant(g, counting({2, 3}, 7));
    p.b.set_device(1);
    for (const char* op : {"all_reduce", "all_reduce_identical_grad_inputs"}) {
      const std::vector<TensorId> sums = p.b.op(g, op, std::vector{here, there, there}, {{"op", std::string("add")}}, {}, false);
      p.store(p.op(g, "sub", {sums[1], there}));
    }
  });
}

}  // namespace
}  // namespace pando::session
