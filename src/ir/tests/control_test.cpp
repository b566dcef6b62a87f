// call, repeat, conditional, streams, remote rows and prints: whole programs through the builder and the interpreter.
#include "ir/tests/op_testing.h"

namespace pando::ir {
namespace {

using namespace op_testing;
using ::testing::ElementsAre;

class Control : public ::testing::Test {
 protected:
  explicit Control(std::int64_t replicas = 1) : b(replicas), main(b.module().main_graph()) {}

  TensorId variable(double value, const char* name = "x") {
    State s;
    s.type = b.module().type(tensor_type(DType::float32, {}));
    return b.add_variable(s, floats({}, {value}), name);
  }
  TensorId constant(GraphId g, double value) { return b.add_constant(g, floats({}, {value}), "c"); }
  TensorId input(GraphId g, bool by_ref = false, const char* name = "a") {
    return b.add_input(g, tensor_type(DType::float32, {}), name, by_ref);
  }
  TensorId op(GraphId g, const char* name, std::vector<TensorId> operands, const Attributes& a = {}, bool in_place = false) {
    return b.op(g, name, operands, a, {}, in_place)[0];
  }
  std::vector<TensorId> carry(const char* name, std::vector<TensorId> operands, const Attributes& a, std::vector<GraphId> graphs) {
    return b.op(main, name, operands, a, graphs);
  }
  HostStreamId store(GraphId g, TensorId t) {
    const HostStreamId s = b.module().add_stream({"out", HostStream::Direction::device_to_host, b.type_of(t).dtype, b.type_of(t).shape});
    b.op(g, "host_store", std::vector{t}, {{"stream", s}});
    return s;
  }
  double state(TensorId t, std::int64_t replica = 0) { return interpreter->state(b.tensor(t).state, replica).number(0); }
  void run() {
    b.finish();
    if (!interpreter) interpreter.emplace(b.module());
    interpreter->run();
  }

  Builder b;
  GraphId main;
  std::optional<Interpreter> interpreter;
};

TEST_F(Control, ACallIsByValueUnlessItIsSaidToModify) {
  const GraphId g = b.create_graph("increment");
  const TensorId a = input(g);
  op(g, "add", {a, constant(g, 1)}, {}, true);
  const TensorId x = variable(1);
  carry("call", {x}, {}, {g});
  run();
  EXPECT_EQ(state(x), 1);
  carry("call", {x}, {}, {g});
  b.set_modified(b.last_op(), 0);
  b.finish();
  Interpreter again(b.module());
  again.run();
  EXPECT_EQ(again.state(b.tensor(x).state, 0).number(0), 2);
}

TEST_F(Control, ACallByReferenceModifies) {
  const GraphId g = b.create_graph("g");
  const TensorId p = input(g), q = input(g, true);
  op(g, "add", {p, constant(g, 10)}, {}, true);
  op(g, "add", {q, p}, {}, true);
  b.add_output(g, q);
  const TensorId x = variable(1), y = variable(2, "y");
  const TensorId out = carry("call", {x, y}, {}, {g})[0];
  // A result is a tensor of its own.
  op(main, "add", {out, constant(main, 100)}, {}, true);
  const HostStreamId s = store(main, out);
  run();
  EXPECT_EQ(state(x), 1);
  EXPECT_EQ(state(y), 13);
  EXPECT_EQ(interpreter->output(s, 1).number(0), 113);
}

TEST_F(Control, ACallChecksItsGraphsInputs) {
  const GraphId g = b.create_graph("g");
  input(g);
  const TensorId x = variable(1);
  EXPECT_EQ(rejection([&] { carry("call", {x, x}, {}, {g}); }), "graph-inputs");
  const TensorId wide = b.add_constant(main, counted({2}), "wide");
  EXPECT_EQ(rejection([&] { carry("call", {wide}, {}, {g}); }), "graph-input-type");
  EXPECT_EQ(rejection([&] { carry("call", {x}, {{"modified", Ints{1}}}, {g}); }), "modified-range");
  EXPECT_EQ(rejection([&] { carry("call", {x}, {}, {}); }), "graph-count");
}

TEST_F(Control, RepeatCarriesOutputs) {
  const GraphId g = b.create_graph("g");
  const TensorId a = input(g), k = input(g);
  b.add_output(g, op(g, "add", {a, k}));
  const TensorId x = variable(1), y = variable(3, "y");
  const HostStreamId four = store(main, carry("repeat", {x, y}, {{"count", std::int64_t{4}}}, {g})[0]);
  const HostStreamId none = store(main, carry("repeat", {x, y}, {{"count", std::int64_t{0}}}, {g})[0]);
  run();
  EXPECT_EQ(interpreter->output(four, 1).number(0), 13);
  EXPECT_EQ(interpreter->output(none, 1).number(0), 1);
  EXPECT_EQ(state(y), 3);
}

// An invariant input that the body modifies begins every iteration anew, unless it goes by reference.
TEST_F(Control, RepeatKeepsWhatGoesByReference) {
  for (const bool by_ref : {false, true}) {
    const GraphId g = b.create_graph(by_ref ? "r" : "v");
    const TensorId a = input(g), k = input(g, by_ref);
    op(g, "add", {k, constant(g, 1)}, {}, true);
    b.add_output(g, op(g, "add", {a, k}));
    const TensorId x = variable(0, "x"), y = variable(0, "y");
    const HostStreamId s = store(main, carry("repeat", {x, y}, {{"count", std::int64_t{3}}}, {g})[0]);
    b.finish();
    Interpreter i(b.module());
    i.run();
    EXPECT_EQ(i.output(s, 1).number(0), by_ref ? 6 : 3);
    EXPECT_EQ(i.state(b.tensor(y).state, 0).number(0), by_ref ? 3 : 0);
  }
}

// The input of the last iteration's body goes back, not the output that is carried to it.
TEST_F(Control, ACarriedInputByReferenceHandsBackTheInput) {
  const GraphId g = b.create_graph("g");
  const TensorId a = input(g, true);
  op(g, "add", {a, constant(g, 1)}, {}, true);
  b.add_output(g, op(g, "add", {a, constant(g, 10)}));
  const TensorId x = variable(0);
  const HostStreamId s = store(main, carry("repeat", {x}, {{"count", std::int64_t{2}}}, {g})[0]);
  run();
  EXPECT_EQ(interpreter->output(s, 1).number(0), 22);
  EXPECT_EQ(state(x), 12);
}

TEST_F(Control, RepeatRejectsWhatCannotBeCarried) {
  const GraphId g = b.create_graph("g");
  const TensorId a = input(g);
  b.add_output(g, a);
  const TensorId x = variable(1);
  EXPECT_EQ(rejection([&] { carry("repeat", {x}, {{"count", std::int64_t{-1}}}, {g}); }), "repeat-count");
  b.add_output(g, a);
  EXPECT_EQ(rejection([&] { carry("repeat", {x}, {{"count", std::int64_t{1}}}, {g}); }), "repeat-outputs");
  const GraphId h = b.create_graph("h");
  input(h);
  b.add_output(h, b.add_constant(h, counted({2}), "wide"));
  EXPECT_EQ(rejection([&] { carry("repeat", {x}, {{"count", std::int64_t{1}}}, {h}); }), "repeat-carried-type");
}

TEST_F(Control, ConditionalRunsOneBranchWithItsEffects) {
  const HostStreamId out = b.module().add_stream({"out", HostStream::Direction::device_to_host, DType::float32, {}});
  std::vector<GraphId> branches;
  for (const double by : {1, 100}) {
    const GraphId g = b.create_graph("branch");
    const TensorId sum = op(g, "add", {input(g), constant(g, by)});
    b.op(g, "host_store", std::vector{sum}, {{"stream", out}});
    b.add_output(g, sum);
    branches.push_back(g);
  }
  const TensorId x = variable(5), y = variable(6, "y");
  for (const bool taken : {true, false}) {
    const TensorId cond = b.add_constant(main, ints({}, {taken}, DType::boolean), "cond");
    carry("conditional", {cond, x, y}, {{"then_inputs", std::int64_t{1}}}, branches);
  }
  run();
  expect_numbers(interpreter->output(out, 2), {6, 106});
}

TEST_F(Control, ConditionalRejectsBranchesThatDiffer) {
  const GraphId g = b.create_graph("g"), h = b.create_graph("h");
  b.add_output(g, input(g));
  const TensorId x = variable(1), cond = b.add_constant(main, ints({}, {1}, DType::boolean), "cond");
  EXPECT_EQ(rejection([&] { carry("conditional", {cond, x}, {{"then_inputs", std::int64_t{1}}}, {g, h}); }), "branch-outputs");
  b.add_output(h, b.add_constant(h, counted({2}), "wide"));
  EXPECT_EQ(rejection([&] { carry("conditional", {cond, x}, {{"then_inputs", std::int64_t{1}}}, {g, h}); }), "branch-output-type");
  EXPECT_EQ(rejection([&] { carry("conditional", {cond, x}, {{"then_inputs", std::int64_t{2}}}, {g, h}); }), "then-inputs");
  const TensorId two = b.add_constant(main, ints({2}, {1, 1}, DType::boolean), "two");
  EXPECT_EQ(rejection([&] { carry("conditional", {two, x}, {{"then_inputs", std::int64_t{1}}}, {g, h}); }), "condition-shape");
}

// Both makers are named, with their graphs and the user's lines; so is the line that asks for the conditional.
TEST_F(Control, TypesThatDifferNameTheOpsThatMakeThem) {
  const auto at_line = [&](std::uint32_t line) { b.module().set_current_location(b.module().location({"model.py", "build", line})); };
  const GraphId g = b.create_graph("g"), h = b.create_graph("h");
  const TensorId in_g = input(g);
  at_line(4);
  b.add_output(g, op(g, "tanh", {in_g}));
  const TensorId wide = b.add_constant(h, counted({2}), "wide");
  at_line(8);
  b.add_output(h, op(h, "exp", {wide}));
  const TensorId x = variable(1), cond = b.add_constant(main, ints({}, {1}, DType::boolean), "cond");
  at_line(11);
  const auto message = [&](const char* name, std::vector<TensorId> operands, Attributes a, std::vector<GraphId> graphs) {
    try {
      carry(name, operands, a, graphs);
    } catch (const ModelError& e) { return std::string(e.what()); }
    return std::string("no error");
  };
  const std::string text = message("conditional", {cond, x}, {{"then_inputs", std::int64_t{1}}}, {g, h});
  EXPECT_THAT(text, testing::StartsWith("conditional("));
  EXPECT_THAT(text, testing::HasSubstr("made by tanh 'tanh_out' of graph 'g', at model.py:4 and "));
  EXPECT_THAT(text, testing::HasSubstr("made by exp 'exp_out' of graph 'h', at model.py:8"));
  EXPECT_THAT(text, testing::EndsWith("\n  at model.py:11 [branch-output-type]"));

  const GraphId body = b.create_graph("body");
  const TensorId carried = input(body);
  at_line(21);
  b.add_output(body, op(body, "concat", {op(body, "reshape", {carried}, {{"shape", Ints{1}}}), b.add_constant(body, counted({1}), "one")},
                        {{"axis", std::int64_t{0}}}));
  const std::string again = message("repeat", {x}, {{"count", std::int64_t{2}}}, {body});
  EXPECT_THAT(again, testing::HasSubstr("made by concat 'concat_out' of graph 'body', at model.py:21 and "));
  EXPECT_THAT(again, testing::HasSubstr("input 0 of graph 'body'"));
  EXPECT_THAT(again, testing::EndsWith("[repeat-carried-type]"));
}

class OnTwoReplicas : public Control {
 protected:
  OnTwoReplicas() : Control(2) {}

  TensorId variable_of_each(double first, double second, DType t = DType::float32) {
    State s;
    s.type = b.module().type(tensor_type(t, {}));
    s.grouping = ReplicaGrouping(2, 1, 1);
    return b.add_variable(s, floats({2}, {first, second}).converted(t), "x");
  }
  GraphId summing() {
    const GraphId g = b.create_graph("g");
    b.add_output(g, op(g, "replicated_all_reduce", {input(g)}, {{"op", std::string("add")}}));
    return g;
  }
};

TEST_F(OnTwoReplicas, CollectivesMeetInCallsRepeatsAndBranches) {
  const GraphId g = summing();
  const TensorId x = variable_of_each(1, 10), yes = variable_of_each(1, 1, DType::boolean);
  const HostStreamId called = store(main, carry("call", {x}, {}, {g})[0]);
  const HostStreamId repeated = store(main, carry("repeat", {x}, {{"count", std::int64_t{2}}}, {g})[0]);
  const HostStreamId branched = store(main, carry("conditional", {yes, x, x}, {{"then_inputs", std::int64_t{1}}}, {g, g})[0]);
  run();
  expect_numbers(interpreter->output(called, 1), {11, 11});
  expect_numbers(interpreter->output(repeated, 1), {22, 22});
  expect_numbers(interpreter->output(branched, 1), {11, 11});
}

TEST_F(OnTwoReplicas, BranchesMayDifferButNotMeet) {
  const GraphId same = b.create_graph("same");
  b.add_output(same, input(same));
  const GraphId more = b.create_graph("more");
  b.add_output(more, op(more, "add", {input(more), constant(more, 1)}));
  const TensorId x = variable_of_each(1, 10), differ = variable_of_each(1, 0, DType::boolean);
  const HostStreamId s = store(main, carry("conditional", {differ, x, x}, {{"then_inputs", std::int64_t{1}}}, {same, more})[0]);
  run();
  expect_numbers(interpreter->output(s, 1), {1, 11});
  carry("conditional", {differ, x, x}, {{"then_inputs", std::int64_t{1}}}, {summing(), same});
  b.finish();
  EXPECT_EQ(rejection([&] { Interpreter(b.module()).run(); }), "replicas-apart");
}

TEST_F(Control, StreamsAdvance) {
  const HostStreamId in = b.module().add_stream({"in", HostStream::Direction::host_to_device, DType::float32, {}});
  const GraphId g = b.create_graph("g");
  const TensorId a = input(g);
  b.add_output(g, op(g, "add", {a, b.op(g, "host_load", {}, {{"stream", in}})[0]}));
  const HostStreamId s = store(main, carry("repeat", {constant(main, 0)}, {{"count", std::int64_t{3}}}, {g})[0]);
  b.finish();
  Interpreter i(b.module());
  EXPECT_EQ(rejection([&] { i.run(); }), "stream-without-data");
  i.set_input(in, floats({3, 1}, {1, 10, 100}));
  i.run();
  EXPECT_EQ(i.output(s, 1).number(0), 111);
  EXPECT_EQ(rejection([&] { b.op(main, "host_load", {}, {{"stream", s}}); }), "stream-direction");
  EXPECT_EQ(rejection([&] { b.op(main, "host_store", std::vector{constant(main, 0)}, {{"stream", in}}); }), "stream-direction");
  EXPECT_EQ(rejection([&] { b.op(main, "host_store", std::vector{b.add_constant(main, counted({2}), "w")}, {{"stream", s}}); }),
            "stream-type");
}

TEST_F(Control, RemoteRows) {
  const BufferId buffer = b.module().add_buffer({1, DType::float32, {}, 2, {}});
  const TensorId zero = b.add_constant(main, ints({}, {0}), "zero"), one = b.add_constant(main, ints({}, {1}), "one"), x = variable(7);
  b.op(main, "remote_store", std::vector{one, x}, {{"buffer", buffer}});
  b.op(main, "remote_load_into", std::vector{x, zero}, {{"buffer", buffer}});
  const HostStreamId s = store(main, b.op(main, "remote_load", std::vector{one}, {{"buffer", buffer}})[0]);
  run();
  EXPECT_EQ(state(x), 0);
  EXPECT_EQ(interpreter->output(s, 1).number(0), 7);
  EXPECT_EQ(rejection([&] { b.op(main, "remote_store", std::vector{one, one}, {{"buffer", buffer}}); }), "remote-row-type");
  const TensorId many = b.add_constant(main, ints({2}, {0, 1}), "many");
  EXPECT_EQ(rejection([&] { b.op(main, "remote_load", std::vector{many}, {{"buffer", buffer}}); }), "remote-offset");
  b.op(main, "remote_load", std::vector{b.add_constant(main, ints({}, {2}), "two")}, {{"buffer", buffer}});
  EXPECT_EQ(rejection([&] { Interpreter(b.module()).run(); }), "remote-row");
}

TEST_F(Control, Prints) {
  std::string text;
  const TensorId x = b.add_constant(main, floats({2, 2}, {5, 4.5, 4, 3.5}), "x");
  b.op(main, "print_tensor", std::vector{x}, {{"title", std::string("x")}});
  b.op(main, "print_tensor", std::vector{x}, {{"title", std::string("y")}, {"print_self", false}});
  const TensorId flags = b.add_constant(main, ints({3}, {1, 0, 1}, DType::boolean), "flags");
  b.op(main, "print_tensor", std::vector{flags},
       {{"title", std::string("f")}, {"separator", std::string(",")}, {"open_bracket", std::string("|")}});
  interpreter.emplace(b.module());
  interpreter->on_print([&](const std::string& t) { text += t; });
  run();
  EXPECT_EQ(text, "x: [\n [5.0000000 4.5000000]\n [4.0000000 3.5000000]\n]\nf: |1,0,1]\n");
  const auto rejected = [&](const char* name, const AttributeValue& v) {
    return rejection([&] { b.op(main, "print_tensor", std::vector{x}, {{"title", std::string("x")}, {name, v}}); });
  };
  EXPECT_EQ(rejected("separator", std::string(", ")), "print-format");
  EXPECT_EQ(rejected("float_format", std::string("hex")), "print-format");
  EXPECT_EQ(rejected("digits", std::int64_t{-1}), "print-format");
}

TEST_F(Control, PlacesAndCode) {
  const TensorId x = variable(3);
  const TensorId io = op(main, "io_tile_copy", {x}, {{"tile_set", std::string("io")}});
  EXPECT_EQ(b.type_of(io).place.tiles, TileSet::io);
  const TensorId there = op(main, "ipu_copy", {x}, {{"source", std::int64_t{0}}, {"destination", std::int64_t{2}}});
  EXPECT_EQ(b.type_of(there).place.device, Device::numbered(2));
  EXPECT_EQ(rejection([&] { op(main, "ipu_copy", {there}, {{"source", std::int64_t{1}}, {"destination", std::int64_t{0}}}); }),
            "copy-source");
  EXPECT_EQ(rejection([&] { op(main, "ipu_copy", {x}, {{"source", std::int64_t{0}}, {"destination", std::int64_t{-1}}}); }),
            "copy-destination");
  EXPECT_EQ(rejection([&] { op(main, "io_tile_copy", {x}, {{"tile_set", std::string("both")}}); }), "tile-set");
  EXPECT_EQ(rejection([&] { op(main, "add", {op(main, "add", {x, x}), there}); }), "different-devices");
  const GraphId g = b.create_graph("g");
  carry("remote_code_load", {}, {{"destination", std::string("executable")}}, {g});
  EXPECT_EQ(rejection([&] { carry("remote_code_load", {}, {{"destination", std::string("buffer")}}, {g}); }), "code-destination");
  EXPECT_EQ(rejection([&] { b.op(main, "init", {}, {{"shape", Ints{1}}, {"dtype", DType::float32}, {"init_type", std::string("one")}}); }),
            "init-type");
  EXPECT_EQ(
      rejection([&] { b.op(main, "init", {}, {{"shape", Ints{-1}}, {"dtype", DType::float32}, {"init_type", std::string("zero")}}); }),
      "init-shape");
}

// What belongs to another program stays as it is; what it modifies is seen in the next run.
TEST_F(Control, ContextsAreProgramsOfTheirOwn) {
  const TensorId x = variable(1);
  const GraphId g = b.create_graph("g");
  op(g, "add", {input(g, true), constant(g, 10)}, {}, true);
  b.set_context(Context::weights_from_host);
  carry("call", {x}, {}, {g});
  b.set_context(Context::normal);
  op(main, "add", {x, constant(main, 1)}, {}, true);
  b.finish();
  Interpreter i(b.module());
  i.run();
  EXPECT_EQ(i.state(b.tensor(x).state, 0).number(0), 2);
  i.run(Context::weights_from_host);
  EXPECT_EQ(i.state(b.tensor(x).state, 0).number(0), 12);
  b.set_context(Context::accumulate_outer);
  const TensorId made = op(main, "add", {x, constant(main, 1)});
  b.set_context(Context::normal);
  op(main, "add", {x, made}, {}, true);
  op(main, "add", {made, made}, {}, true);
  b.finish();
  // What one program has made is there for the others; before, it is zero.
  Interpreter both(b.module());
  const auto value = [&] { return both.state(b.tensor(x).state, 0).number(0); };
  both.run();
  EXPECT_EQ(value(), 2);
  both.run(Context::accumulate_outer);
  both.run();
  EXPECT_EQ(value(), 6);
  both.run();
  EXPECT_EQ(value(), 13);
}

}  // namespace
}  // namespace pando::ir
