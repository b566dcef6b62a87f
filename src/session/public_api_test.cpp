// pando/model.hpp. An installed program is examples/regression.
#include <pando/model.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace pando::model {
namespace {

// out = call(g, x) with g(x) = x * exp(x), and the gradient of it at x.
struct Program {
  Builder b;
  Stream in = b.stream_to_device("in", {"float32", {3}}), value = b.stream_to_host("value", {"float32", {3}}),
         slope = b.stream_to_host("slope", {"float32", {3}});

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
      operands.push_back(given                             ? b.constant(main, Data::of<float>({3}, {1, 1, 1}))
                         : c.kind == Gradient::Kind::input ? x
                                                           : results[c.index]);
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
    for (const auto& [found, expected] :
         {std::pair{value[0], 0.0f}, {value[1], e}, {value[2], -1 / e}, {slope[0], 1.0f}, {slope[1], 2 * e}, {slope[2], 0.0f}}) {
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
}

// What a text says is verified where it is read.
TEST(PublicApi, texts_that_break_rules_are_rejected) {
  const auto rejection = [](const std::string& body) {
    try {
      Module::parse("module\n\ngraph main():\n" + body + "    return\n");
    } catch (const ModelError& e) { return std::string(e.what()); }
    return std::string("none");
  };
  const auto has = [&](const std::string& body, const char* place, const char* what) {
    const std::string text = rejection(body);
    EXPECT_NE(text.find(place), std::string::npos) << text;
    EXPECT_NE(text.find(what), std::string::npos) << text;
  };
  has("    a: Tensor[(2), float32] = init(dtype=float32, init_type=\"zero\", shape=[3])\n", "text:4:5: ", "[types-follow]");
  has("    call() @main\n", "text:4:5: ", "it carries graph 'main', which leads back to it [graph-cycle]");
  has("    a: Tensor[(2, 3), float32] = init(dtype=float32, init_type=\"zero\", shape=[2, 3])\n    b: Tensor[(2), float32] = sum(a, "
      "axis=[7])\n",
      "text:5:5: ", "axis 7 is out of range for rank 2 [axis-range]");
}

TEST(PublicApi, variables_and_rejections) {
  Builder b;
  const Tensor v = b.variable(Data::of<std::int32_t>({2}, {3, 4}), "v");
  b.op(b.main(), "add", {v, b.constant(b.main(), Data::of<std::int32_t>({2}, {10, 20}))}, {}, {}, true);
  EXPECT_EQ(b.type_of(v).element, "int32");
  const auto id_of = [](auto f) -> std::string {
    try {
      f();
    } catch (const ModelError& e) { return e.id(); }
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

std::string id_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const ModelError& e) { return e.id(); }
  return "";
}

TEST(PublicApi, things_of_another_builder_are_rejected) {
  Builder b, other;
  const Tensor v = b.variable(Data::of<float>({2}, {3, 4}), "v"), foreign = other.variable(Data::of<float>({2}, {3, 4}), "v");
  const Stream out = b.stream_to_host("out", {"float32", {2}}), foreign_out = other.stream_to_host("out", {"float32", {2}});
  EXPECT_EQ(id_of([&] { b.op(b.main(), "add", {v, foreign}); }), "foreign");
  EXPECT_EQ(id_of([&] { b.op(other.main(), "add", {v, v}); }), "foreign");
  EXPECT_EQ(id_of([&] { b.op(b.main(), "host_store", {v}, {{"stream", foreign_out}}); }), "foreign");
  EXPECT_EQ(id_of([&] { b.type_of(foreign); }), "foreign");
  EXPECT_EQ(id_of([&] { b.autodiff(other.create_graph("g")); }), "foreign");
  // Numbers alone, of nobody.
  EXPECT_EQ(id_of([&] { b.name_of({7}); }), "no-such-thing");
  EXPECT_EQ(id_of([&] { b.op({1}, "add", {v, v}); }), "no-such-thing");
  EXPECT_EQ(id_of([&] { b.op(b.main(), "host_store", {v}, {{"stream", Stream{1}}}); }), "no-such-thing");
  EXPECT_EQ(b.name_of({v.number}), "v");
  b.op(b.main(), "host_store", {v}, {{"stream", out}});
  Session s(b, {.device = "cpu"});
  EXPECT_EQ(s.run().at(out).values<float>(), (std::vector<float>{3, 4}));
  EXPECT_EQ(id_of([&] { s.run({{foreign_out, {}}}); }), "foreign");
  EXPECT_EQ(id_of([&] { s.run({{Stream{7}, {}}}); }), "no-such-thing");
}

TEST(PublicApi, wrong_times_and_numbers_are_rejected) {
  Builder b;
  const Graph g = b.create_graph("g"), h = b.create_graph("h");
  const Tensor t = b.input(g, {"float32", {2}}, "t"), u = b.input(h, {"float32", {2}}, "u");
  b.op(g, "call", {t}, {}, {h});
  EXPECT_EQ(id_of([&] { b.op(h, "call", {u}, {}, {g}); }), "graph-cycle");
  EXPECT_EQ(id_of([&] { b.op(h, "call", {u}, {}, {h}); }), "graph-cycle");
  EXPECT_EQ(id_of([&] { b.op(h, "call", {}, {}, {b.main()}); }), "graph-cycle");
  EXPECT_EQ(id_of([&] { b.end_sequence(); }), "no-open-sequence");
  EXPECT_EQ(id_of([&] { b.set_device(-1); }), "device-number");
  EXPECT_EQ(id_of([&] { b.create_graph("g"); }), "graph-name");
  EXPECT_EQ(id_of([&] { b.create_graph(""); }), "graph-name");
  EXPECT_EQ(id_of([&] { b.input(b.main(), {"float32", {2}}, "x"); }), "input-of-main");
  for (std::int64_t n : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) EXPECT_EQ(id_of([&] { Builder many(n); }), "replicas");
  // Sizes that wrap around.
  EXPECT_THROW(b.stream_to_host("s", {"float32", {std::int64_t{1} << 62, 4}}), std::exception);
  EXPECT_THROW(b.variable({{"float32", {-1}}, {}}, "v"), std::exception);
  Builder program;
  const Tensor v = program.variable(Data::of<float>({2}, {3, 4}), "v");
  const Stream in = program.stream_to_device("in", {"float32", {2}});
  program.op(program.main(), "add", {v, program.op(program.main(), "host_load", {}, {{"stream", in}})[0]}, {}, {}, true);
  EXPECT_EQ(id_of([&] { Session s(program, {.device = "cpu", .num_host_transfers = 0}); }), "host-transfers");
  EXPECT_EQ(id_of([&] { Session s(program, {.device = "cpu", .num_host_transfers = std::int64_t{1} << 60}); }), "stream-too-large");
  EXPECT_EQ(id_of([&] { Session s(program, {.tiles_per_ipu = -4}); }), "tiles-per-ipu");
  EXPECT_EQ(id_of([&] { Session s(program, {.tiles_per_ipu = std::int64_t{1} << 40}); }), "tiles-per-ipu");
}

TEST(PublicApi, what_was_moved_from_is_rejected_and_sessions_keep_what_they_need) {
  auto b = std::make_unique<Builder>();
  const Tensor v = b->variable(Data::of<float>({2}, {3, 4}), "v");
  b->op(b->main(), "add", {v, v}, {}, {}, true);
  Session s(*b, {.device = "cpu"});
  Builder taken(std::move(*b));
  EXPECT_EQ(id_of([&] { b->main(); }), "moved-from");
  EXPECT_EQ(id_of([&] { Session another(*b); }), "moved-from");
  b.reset();
  { Builder gone(std::move(taken)); }
  s.run();
  EXPECT_EQ(s.variable("v").values<float>(), (std::vector<float>{6, 8}));
  Session there(std::move(s));
  EXPECT_EQ(id_of([&] { s.run(); }), "moved-from");
  Module m = Module::parse("module\n\ngraph main():\n    return\n");
  Module other(std::move(m));
  EXPECT_EQ(id_of([&] { m.text(); }), "moved-from");
  EXPECT_EQ(id_of([&] { Module copy(m); }), "moved-from");
}

}  // namespace
}  // namespace pando::model
