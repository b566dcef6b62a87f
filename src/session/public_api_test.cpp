// pando/model.hpp. An installed program is examples/regression.
#include <pando/model.hpp>

#include <gtest/gtest.h>

namespace pando::model {
namespace {

// out = call(g, x) with g(x) = x * exp(x), and the gradient of it at x.
struct Program {
  Builder b;
  Stream in = b.stream_to_device("in", {"float32", {3}}), value = b.stream_to_host("value", {"float32", {3}}), slope = b.stream_to_host("slope", {"float32", {3}});

  Program() {
    const Graph main = b.main(), g = b.create_graph("g");
    const Tensor t = b.input(g, {"float32", {3}}, "t");
    b.output(g, b.op(g, "mul", {t, b.op(g, "exp", {t})[0]})[0]);
    const Gradient gradient = b.autodiff(g);
    const Tensor x = b.op(main, "host_load", {}, {{"stream", in}})[0];
    const std::vector<Tensor> results = b.op(main, "call", {x}, {}, {g});
    std::vector<Tensor> operands;
    for (const Gradient::Connection& c : gradient.takes) {
      const bool given = c.kind == Gradient::Kind::gradient_of_output;
      operands.push_back(given ? b.constant(main, Data::of<float>({3}, {1, 1, 1})) : c.kind == Gradient::Kind::input ? x : results[c.index]);
    }
    EXPECT_EQ(gradient.gives.size(), 1u);
    b.op(main, "host_store", {results[0]}, {{"stream", value}});
    b.op(main, "host_store", {b.op(main, "call", operands, {}, {gradient.graph})[0]}, {{"stream", slope}});
  }
};

TEST(PublicApi, a_graph_and_its_gradient_run) {
  Program p;
  const auto check = [&](Session session) {
    const auto out = session.run({{p.in, Data::of<float>({3}, {0, 1, -1})}});
    const std::vector<float> value = out.at(p.value).values<float>(), slope = out.at(p.slope).values<float>();
    const float e = 2.7182818f;
    for (const auto& [found, expected] : {std::pair{value[0], 0.0f}, {value[1], e}, {value[2], -1 / e}, {slope[0], 1.0f}, {slope[1], 2 * e}, {slope[2], 0.0f}}) {
      EXPECT_NEAR(found, expected, 1e-5f);
    }
  };
  check(Session(p.b, {.device = "cpu"}));
  check(Session(p.b.module(), {.tiles_per_ipu = 4}));
}

TEST(PublicApi, text_rules_and_transforms) {
  Program p;
  Module m = p.b.module();
  EXPECT_TRUE(m.verify().empty());
  EXPECT_EQ(Module::parse(m.text()).text(), m.text());
  EXPECT_EQ(Module(m).expand().prune().complete_places().decompose_sums().order_for_memory().verify().size(), 0u);
  EXPECT_FALSE(m.code_liveness().empty());
  const Module wrong = Module::parse("module\ngraph main():\n    a: Tensor[(2), float32] = init(dtype=float32, init_type=\"zero\", shape=[3])\n    return\n");
  ASSERT_EQ(wrong.verify().size(), 1u);
  EXPECT_EQ(wrong.verify()[0].rule, "types-follow");
}

TEST(PublicApi, variables_and_refusals) {
  Builder b;
  const Tensor v = b.variable(Data::of<std::int32_t>({2}, {3, 4}), "v");
  b.op(b.main(), "add", {v, b.constant(b.main(), Data::of<std::int32_t>({2}, {10, 20}))}, {}, {}, true);
  EXPECT_EQ(b.type_of(v).element, "int32");
  const auto id_of = [](auto f) -> std::string {
    try {
      f();
    } catch (const ModelError& e) {
      return e.id();
    }
    return "";
  };
  EXPECT_EQ(id_of([&] { b.op(b.main(), "fly", {v}); }), "unknown-op");
  EXPECT_EQ(id_of([&] { b.constant(b.main(), {{"float31", {}}, {}}); }), "element-type");
  EXPECT_EQ(id_of([&] { b.constant(b.main(), {{"float32", {2}}, {}}); }), "data-size");
  Session s(b, {.device = "cpu"});
  s.run();
  EXPECT_EQ(s.variable("v").values<std::int32_t>(), (std::vector<std::int32_t>{13, 24}));
  s.set_variable("v", Data::of<std::int32_t>({2}, {0, 0}));
  s.run();
  EXPECT_EQ(s.variable("v").values<std::int32_t>(), (std::vector<std::int32_t>{10, 20}));
  EXPECT_THROW(s.variable("v").values<float>(), std::invalid_argument);
  EXPECT_EQ(id_of([&] { s.variable("w"); }), "unknown-variable");
}

}  // namespace
}  // namespace pando::model
