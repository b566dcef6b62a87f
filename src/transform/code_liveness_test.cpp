#include "transform/code_liveness.h"
#include "transform/testing.h"

#include <gtest/gtest.h>

namespace pando::transform::testing {

using namespace ir;

namespace {

struct Program {
  Builder b;
  Made main{b, b.module().main_graph()};
  TensorId x = b.add_constant(main.graph, HostTensor(DType::float64, {3, 3}), "x");

  // A graph that computes a little.
  GraphId graph(const std::string& name) {
    Made g(b, name);
    const TensorId t = g.in("t");
    g.out(g.op("add", {t, t}));
    return g.graph;
  }
  void load(Made& g, GraphId loaded) { g.ops("remote_code_load", {}, {{"destination", std::string("executable")}}, {loaded}); }
  void load(GraphId loaded) { load(main, loaded); }
  void call(GraphId g) { main.ops("call", std::vector<TensorId>(b.module().graph(g).inputs.size(), x), {}, {g}); }
  // A graph that only loads others.
  GraphId loader(const std::string& name, std::vector<GraphId> loaded) {
    Made g(b, name);
    for (GraphId l : loaded) load(g, l);
    return g.graph;
  }
  std::string report() { return to_string(b.module(), code_liveness(b.module())); }
};

}  // namespace

TEST(code_liveness, one_load_and_three_calls) {
  Program p;
  const GraphId g = p.graph("g");
  p.load(g);
  for (int i = 0; i < 3; ++i) p.call(g);
  EXPECT_EQ(p.report(),
            "   0 start\n"
            "   1 load g\n"
            "   2 call g\n"
            "   3 call g\n"
            "   4 call g\n"
            "g: dead before 1, live 1 to 4, dead after 4\n");
}

TEST(code_liveness, a_load_before_each_call) {
  Program p;
  const GraphId g = p.graph("g");
  for (int i = 0; i < 3; ++i) {
    p.load(g);
    p.call(g);
  }
  EXPECT_EQ(p.report(),
            "   0 start\n"
            "   1 load g\n"
            "   2 call g\n"
            "   3 load g\n"
            "   4 call g\n"
            "   5 load g\n"
            "   6 call g\n"
            "g: dead before 1, live 1 to 2, live 3 to 4, live 5 to 6, dead after 6\n");
}

TEST(code_liveness, a_called_graph_loads_another) {
  Program p;
  const GraphId g1 = p.graph("g1"), g2 = p.loader("g2", {g1});
  p.load(g1);
  p.call(g2);
  p.call(g1);
  EXPECT_EQ(p.report(),
            "   0 start\n"
            "   1 load g1\n"
            "   2 call g2\n"
            "   3   load g1\n"
            "   4 end call g2\n"
            "   5 call g1\n"
            "g1: dead before 3, live 3 to 5, dead after 5\n"
            "g2: live always, never loaded\n");
}

TEST(code_liveness, loaders_that_are_loaded) {
  Program p;
  const GraphId g1 = p.graph("g1"), g2 = p.loader("g2", {g1}), g3 = p.loader("g3", {g1}), g4 = p.loader("g4", {g2});
  p.load(g3);
  p.call(g3);
  p.load(g4);
  p.call(g4);
  EXPECT_EQ(p.report(),
            "   0 start\n"
            "   1 load g3\n"
            "   2 call g3\n"
            "   3   load g1\n"
            "   4 end call g3\n"
            "   5 load g4\n"
            "   6 call g4\n"
            "   7   load g2\n"
            "   8 end call g4\n"
            "g1: dead\n"
            "g2: dead\n"
            "g3: dead before 1, live 1 to 4, dead after 4\n"
            "g4: dead before 5, live 5 to 8, dead after 8\n");
}

TEST(code_liveness, a_load_in_every_branch_or_in_one) {
  for (bool both : {true, false}) {
    Program p;
    const GraphId g = p.graph("g"), loads = p.loader("loads", {g}),
                  other = p.loader("other", both ? std::vector{g} : std::vector<GraphId>{});
    const TensorId c = p.b.add_constant(p.main.graph, HostTensor(DType::boolean, {}), "c");
    p.load(g);
    p.main.ops("conditional", {c}, {{"then_inputs", std::int64_t{0}}}, {loads, other});
    p.call(g);
    const std::string report = p.report();
    // With a load in both, the first load is of no use; otherwise the code must be there already when the branch is reached.
    EXPECT_NE(report.find(both ? "g: dead before 3, live 3 to 3, live 5 to 7, dead after 7\n"
                               : "g: dead before 1, live 1 to 2, live 3 to 6, dead after 6\n"),
              std::string::npos)
        << report;
  }
}

TEST(code_liveness, what_a_loop_calls_first_and_loads_last_is_needed_around_its_end) {
  Program p;
  const GraphId g = p.graph("g");
  Made body(p.b, "body");
  const TensorId t = body.in("t");
  const TensorId r = body.op("call", {t}, {}, {g});
  p.load(body, g);
  body.out(r);
  for (std::int64_t count : {1, 2}) {
    Program& q = p;
    q.main.ops("repeat", {q.x}, {{"count", count}}, {body.graph});
  }
  EXPECT_EQ(p.report(),
            "   0 start\n"
            "   1 repeat body\n"
            "   2   call g\n"
            "   3   load g\n"
            "   4 end repeat body\n"
            "   5 repeat body\n"
            "   6   call g\n"
            "   7   load g\n"
            "   8 end repeat body\n"
            "g: live 0 to 2, live 3 to 6, live 7 to 8, dead after 8\n"
            "body: live always, never loaded\n");
}

}  // namespace pando::transform::testing
