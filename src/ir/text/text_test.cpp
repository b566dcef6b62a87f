#include "ir/checks/read_module.h"
#include "ir/checks/verify.h"
#include "ir/construction/builder.h"
#include "ir/error.h"
#include "ir/op_table.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pando::ir {
namespace {

constexpr const char* kText = R"(module replicas 2
stream 0 "x \"quoted\"" to device: Tensor[(2, 2), float32]
buffer 0 number 1: Tensor[(4), float16] x 8
variable "w" input 0 groups [0, 1] all_replicas: Tensor[(2), float32, 0] = float32(2, 2)[1.0, -0.5, inf, 1e-30]
variable "r" row 3 of @buffer0: Tensor[(4), float16] = float16(4)[0.0, 1.0, 2.0, 65504.0]

graph main(w: Tensor[(2), float32, 0]):
    c: Tensor[(2), float32] = constant(data=float32(2)[1.0, 2.0])
    [1] y: Tensor[(2), float32, 0] = add(w, c)
    w__t0: Tensor[(2), float32, 0] = add_(w, y) after [1]
    y__t0: Tensor[(2), float32, 0] = slice_(w__t0, axis=[0], start=[1], step=[-1], stop=[-9])
    "odd name": Tensor[(1), float32, 0] = slice(y__t0, axis=[0], start=[0], step=[1], stop=[1]) implicit
    return y, "odd name"
    final w = w__t0

graph f(a: Tensor[(3), int32, d0] by_ref, b: uint64):
    note "a note"
    return a
)";

TEST(Text, PrintsWhatItParses) {
  // slice with a count of one element and -9: see slice.cpp.
  const Module m = parse(kText);
  EXPECT_EQ(print(m), kText);
}

TEST(Text, ParsesWhatTheBuilderMakes) {
  Builder b;
  const GraphId main = b.module().main_graph();
  State s;
  s.type = b.module().type(tensor_type(DType::float32, {2, 3}));
  const TensorId w = b.add_variable(s, HostTensor::filled(DType::float32, {2, 3}, 2), "w");
  const TensorId view =
      b.op(main, "slice", std::array{w}, {{"start", Ints{0}}, {"stop", Ints{1}}, {"step", Ints{1}}, {"axis", Ints{0}}}, {}, true)[0];
  const TensorId one = b.add_constant(main, HostTensor::filled(DType::float32, {}, 1), "one");
  EXPECT_EQ(b.op(main, "add", std::array{view, one}, {}, {}, true).size(), 1u);
  EXPECT_EQ(b.op(main, "add", std::array{w, w}).size(), 1u);
  b.finish();
  const std::string text = print(b.module());
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Text, ReportsWhereParsingFails) {
  const auto message = [](std::string_view text) {
    try {
      parse(text, "f.txt");
    } catch (const ModelError& e) { return std::string(e.what()); }
    return std::string("no error");
  };
  using testing::HasSubstr;
  EXPECT_THAT(message(""), HasSubstr("f.txt:1:1: expected 'module', found the end [word-expected]"));
  EXPECT_THAT(message("module\ngraph main():\n    x: float32 = nonsense()\n    return\n"),
              HasSubstr("f.txt:3:18: there is no op named 'nonsense' [unknown-op]"));
  EXPECT_THAT(message("module\ngraph main():\n    return x\n"), HasSubstr("'x' is not defined before its use [undefined]"));
  EXPECT_THAT(message("module\ngraph main(x: float33):\n    return x\n"), HasSubstr("'float33' is not an element type"));
  EXPECT_THAT(message("module\ngraph main():\n    x: Tensor[(2), float32] = constant(data=float32(2)[1.0])\n    return x\n"),
              HasSubstr("1 numbers for 2 elements"));
  EXPECT_THAT(message("module\ngraph main():\n    x: float32 = constant(data=float32(99999999)[1.0])\n    return x\n"),
              HasSubstr("fewer numbers than elements"));
  EXPECT_THAT(message("module\ngraph main(x: float32):\n    a: float32 = add(x, x) after [1]\n    return a\n"),
              HasSubstr("no earlier op has this number"));
  EXPECT_THAT(message("module\ngraph main(x: float32, x: float32):\n    return x\n"), HasSubstr("'x' is defined twice"));
  EXPECT_THAT(message("module\nstream 0 \"s"), HasSubstr("closing quote"));
  // What the module rejects, not the text's form.
  EXPECT_THAT(message("module\ngraph main(x: Tensor[(3, -3), float32]):\n    return x\n"),
              HasSubstr("f.txt:2:39: a shape has the dimension -3: (3, -3) [negative-dimension]"));
  try {
    parse("module\ngraph", "f.txt");
    FAIL() << "nothing was thrown";
  } catch (const ModelError& e) {
    EXPECT_EQ(e.location(), "f.txt:2:6");
    EXPECT_EQ(e.id(), "graph-place");
  }
}

TEST(Verify, ReportsEveryViolation) {
  const Module m = parse(R"(module
variable "w" input 0: Tensor[(3), float32] = float32(2)[1.0, 2.0]
graph main(w: Tensor[(2), float32, 0], v: Tensor[(2), float32, 1]):
    a: Tensor[(3), float32, 0] = add(w, w)
    b: Tensor[(2), float32, 0] = add(w, v)
    return a
)");
  const std::string text = to_string(verify(m));
  using testing::HasSubstr;
  EXPECT_THAT(text, HasSubstr("types-follow: a: Tensor[(3), float32, 0] = add(w, w): 'a' is declared Tensor[(3), float32, 0], Tensor[(2), "
                              "float32, 0] follows"));
  EXPECT_THAT(text, HasSubstr("different-devices: b"));
  EXPECT_THAT(text, HasSubstr("state-input: variable w: it is Tensor[(3), float32], the main graph's input Tensor[(2), float32, 0]"));
  EXPECT_THAT(text, HasSubstr("state-data: variable w: data of shape (2)"));
  EXPECT_THAT(text, HasSubstr("state-input: graph main: no variable is input 'v'"));
  EXPECT_THROW(check(m), ModelError);
}

TEST(Verify, SaysAnIdOnce) {
  const Module m = parse(R"(module
graph main(v: Tensor[(2, 3), float32]):
    a: Tensor[(3, 2), float32] = transpose(v)
    return a
)");
  EXPECT_THAT(to_string(verify(m)),
              testing::HasSubstr("attribute-missing: a: Tensor[(3, 2), float32] = transpose(v): transpose(Tensor[(2, 3), float32]): "
                                 "attribute 'permutation' is missing\n"));
}

TEST(Verify, FindsUsesBeforeDefinitionsAndForeignValues) {
  Module m;
  const GraphId main = m.add_graph("main"), other = m.add_graph("other");
  const ValueId x = m.add_input(other, tensor_type(DType::float32, {}), "x");
  const std::array<ValueId, 2> operands{x, x};
  const std::array<TypeId, 1> types{m.value(x).type};
  const OpId bad = m.add_op(main, op_kind("add"), operands, {}, {}, types);
  m.graph(main).after.emplace_back(bad, bad);
  m.graph(other).outputs.push_back(m.result(bad));
  const auto found = verify(m);
  std::vector<std::string> rules;
  for (const Violation& v : found) rules.push_back(v.rule);
  EXPECT_THAT(rules, testing::Contains("operand-defined"));
  EXPECT_THAT(rules, testing::Contains("order-edge"));
  EXPECT_THAT(rules, testing::Contains("output-defined"));
}

// What a tool says of a module that is not valid: each rule with its place in the text.
TEST(ReadModule, NamesLineColumnOpAndRule) {
  const auto rejection = [](const char* text, ModuleRules rules = ModuleRules::of_modules) -> std::string {
    try {
      read_module(text, "m.txt", rules);
    } catch (const ModelError& e) { return e.what(); }
    return "taken";
  };
  EXPECT_EQ(rejection("module\n\ngraph main():\n    call() @main\n    return\n"),
            "m.txt:4:5: call() @main: it carries graph 'main', which leads back to it [graph-cycle]");
  EXPECT_EQ(rejection("module\nvariable \"v\" input 3: float32\ngraph main():\n    return\n"),
            "m.txt:2:10: variable v: input 3 of the main graph, which has 0 [state-input]");
  EXPECT_EQ(rejection("module\nvariable \"v\" input 0: float32\ngraph main(v: float32):\n    a: float32 = relu(v)\n"
                      "    b: Tensor[(2), float32] = relu(v)\n    c: float32 = add(v)\n    return\n"),
            "m.txt:5:5: b: Tensor[(2), float32] = relu(v): 'b' is declared Tensor[(2), float32], float32 follows\n"
            "m.txt:6:5: c: float32 = add(v): add(float32): it takes 2 operands, 1 were given (operand-count) [types-follow]");
  const char* const far = "module\nvariable \"v\" input 0: float32[d1]\ngraph main(v: float32[d1]):\n    return\n";
  EXPECT_EQ(rejection(far), "taken");
  EXPECT_EQ(rejection(far, ModuleRules::of_devices), "m.txt:3:1: graph main: 'v' lies on d1, which no pmap binds here [device-variable]");
}

}  // namespace
}  // namespace pando::ir
