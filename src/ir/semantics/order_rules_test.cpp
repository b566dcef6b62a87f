#include "ir/semantics/order_rules.h"

#include "ir/construction/builder.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pando::ir {
namespace {

class Rules : public testing::Test {
 protected:
  TensorId variable(const char* name) {
    State state;
    state.type = builder.module().type(tensor_type(DType::float32, {4, 4}));
    return builder.add_variable(state, HostTensor(DType::float32, {4, 4}), name);
  }
  // The op that made it is `last` afterwards.
  TensorId op(std::string_view name, std::vector<TensorId> operands, Attributes a = {}, std::vector<GraphId> graphs = {},
              bool in_place = false) {
    const auto results = builder.op(in, name, operands, a, graphs, in_place);
    last = builder.last_op();
    return results.empty() ? TensorId() : results[0];
  }
  OpId print(TensorId t) {
    op("print_tensor", {t}, {{"title", std::string()}});
    return last;
  }
  OpId call(TensorId t, GraphId g) {
    op("call", {t}, {}, {g});
    return last;
  }
  GraphId graph(const char* name, bool prints) {
    const GraphId g = builder.create_graph(name);
    const TensorId t = builder.add_input(g, tensor_type(DType::float32, {4, 4}), "t");
    in = g;
    builder.add_output(g, prints ? op("print_tensor", {t}, {{"title", std::string()}}) : op("exp", {t}));
    in = builder.module().main_graph();
    return g;
  }
  // Whether a rule says so directly.
  bool is_before(OpId first, OpId then) {
    const Module& m = builder.module();
    const auto& ops = m.graph(m.main_graph()).ops;
    const auto at = [&](OpId o) { return static_cast<std::size_t>(std::find(ops.begin(), ops.end(), o) - ops.begin()); };
    const Precedence p = OrderRules(m).of(m.main_graph());
    const auto& next = p.next[at(first)];
    return std::find(next.begin(), next.end(), at(then)) != next.end();
  }

  Builder builder;
  GraphId in = builder.module().main_graph();
  TensorId x = variable("x"), y = variable("y");
  OpId last;
};

TEST_F(Rules, data_and_the_users_order) {
  const TensorId a = op("exp", {x});
  const OpId first = last;
  op("sin", {a});
  const OpId reader = last;
  op("cos", {x});
  EXPECT_TRUE(is_before(first, reader));
  EXPECT_FALSE(is_before(first, last));
  builder.push_sequence(SequenceMode::ordered);
  op("exp", {y});
  const OpId one = last;
  op("sin", {y});
  builder.pop_sequence();
  EXPECT_TRUE(is_before(one, last));
}

TEST_F(Rules, what_the_outside_sees_is_one_chain_through_graphs) {
  const GraphId printing = graph("printing", true), silent = graph("silent", false);
  const OpId first = print(x), quiet = call(x, silent), second = call(y, printing), third = print(y);
  EXPECT_TRUE(is_before(first, second));
  EXPECT_TRUE(is_before(second, third));
  EXPECT_FALSE(is_before(first, quiet));
  EXPECT_FALSE(is_before(quiet, second));
}

TEST_F(Rules, code_loads_keep_their_place_among_calls) {
  const GraphId f = graph("f", false), g = graph("g", false);
  const OpId before = call(x, g);
  EXPECT_FALSE(is_before(before, call(y, f)));
  builder.op(in, "remote_code_load", {}, {{"destination", std::string("executable")}}, std::array{f});
  const OpId load = builder.last_op(), after = call(y, g);
  EXPECT_TRUE(is_before(load, after));
  EXPECT_TRUE(is_before(before, load) || is_before(before, last));
}

TEST_F(Rules, readers_of_any_view_and_updates_keep_their_order) {
  const TensorId a = op("exp", {x}), view = op("reshape", {a}, {{"shape", Ints{16}}}, {}, true);
  op("sin", {view});
  const OpId reader = last;
  op("add", {a, y}, {}, {}, true);
  const OpId update = last;
  op("cos", {y});
  const OpId other = last;
  op("add", {a, y}, {}, {}, true);
  EXPECT_TRUE(is_before(reader, update));
  EXPECT_TRUE(is_before(update, last));
  EXPECT_FALSE(is_before(reader, last)) << "the first update is between";
  EXPECT_FALSE(is_before(other, last));
}

TEST_F(Rules, a_modified_view_modifies_its_base) {
  const TensorId a = op("exp", {x}),
                 view = op("slice", {a}, {{"start", Ints{0}}, {"stop", Ints{1}}, {"step", Ints{1}}, {"axis", Ints{0}}}, {}, true);
  op("sin", {a});
  const OpId reader = last;
  op("exp", {view}, {}, {}, true);
  EXPECT_TRUE(is_before(reader, last));
}

TEST_F(Rules, readers_of_a_call_and_the_next_call_of_the_graph) {
  const GraphId f = graph("f", false), once = graph("once", false);
  const TensorId a = op("call", {x}, {}, {f});
  const OpId first = last;
  op("sin", {a});
  const OpId reader = last;
  const OpId single = call(x, once), second = call(y, f);
  EXPECT_TRUE(is_before(reader, second));
  EXPECT_TRUE(is_before(first, second));
  EXPECT_FALSE(is_before(reader, single)) << "one op carries it: its results are its own";
}

}  // namespace
}  // namespace pando::ir
