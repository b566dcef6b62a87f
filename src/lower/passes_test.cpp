// Which element-wise ops become one pass, and where a pass ends: seen in the text of what lowering decides.
#include "ir/text/parse.h"
#include "lower/lower.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <poplar/Graph.hpp>
#include <poplar/IPUModel.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace pando::lower {
namespace {

struct Op {
  std::string name, what, type = {};  // the type where it is another one than the variables'
};
const std::string kFloats = "Tensor[(8), float32, 0]", kInts = "Tensor[(8), int32, 0]", kHalfs = "Tensor[(8), float16, 0]";

// The ops of each pass of a program over variables; all of `stored` go to the host, behind the ops.
std::vector<std::string> passes(const std::string& type, const std::vector<std::string>& variables, const std::vector<Op>& ops,
                                const std::vector<std::string>& stored) {
  const auto type_of = [&](const std::string& name) {
    for (const Op& op : ops)
      if (op.name == name && !op.type.empty()) return op.type;
    return type;
  };
  std::string head = "module\n", states, body;
  std::vector<std::string> inputs;
  for (const std::string& v : variables) {
    states += fmt::format("variable \"{}\" input {}: {}\n", v, inputs.size(), type);
    inputs.push_back(v + ": " + type);
  }
  for (const Op& op : ops) body += fmt::format("    {}: {} = {}\n", op.name, type_of(op.name), op.what);
  for (std::size_t s = 0; s < stored.size(); ++s) {
    std::string stream = type_of(stored[s]);
    stream.replace(stream.rfind(", 0]"), 4, "]");
    head += fmt::format("stream {} \"out{}\" to host: {}\n", s, s, stream);
    body += fmt::format("    host_store({}, stream=@stream{})\n", stored[s], s);
  }
  const std::string text = fmt::format("{}{}\ngraph main({}):\n{}    return\n", head, states, fmt::join(inputs, ", "), body);

  poplar::IPUModel model("ipu2");
  model.tilesPerIPU = 4;
  poplar::Graph graph(model.createDevice().getTarget());
  std::string decisions;
  Options options;
  options.decisions = &decisions;
  lower(ir::parse(text, "passes"), graph, options);

  std::vector<std::string> found;
  std::istringstream lines(decisions);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("; reads ") == std::string::npos) continue;
    std::string names = line.substr(2, line.find(':') - 2);
    const std::string begin = "one pass of ";
    found.push_back(names.starts_with(begin) ? names.substr(begin.size()) : names);
  }
  return found;
}

using Passes = std::vector<std::string>;

// Sums of so many variables, each op reading the one before.
Passes sum_of(std::size_t n) {
  std::vector<std::string> variables{"v0"};
  std::vector<Op> ops;
  for (std::size_t i = 1; i < n; ++i) {
    variables.push_back(fmt::format("v{}", i));
    ops.push_back({fmt::format("s{}", i), fmt::format("add({}, v{})", i == 1 ? "v0" : fmt::format("s{}", i - 1), i)});
  }
  return passes(kInts, variables, ops, {ops.back().name});
}

TEST(Passes, an_expression_has_up_to_eight_tensors) {
  EXPECT_EQ(sum_of(8), (Passes{"add, add, add, add, add, add, add"}));
  EXPECT_EQ(sum_of(9), (Passes{"add, add, add, add, add, add, add", "add"}));
}

TEST(Passes, what_is_read_twice_or_by_nobody_is_no_part_of_an_expression) {
  EXPECT_EQ(passes(kInts, {"a", "b"}, {{"s", "add(a, b)"}, {"t", "mul(s, s)"}}, {"t"}), (Passes{"add", "mul"}));
  EXPECT_EQ(passes(kInts, {"a", "b"}, {{"s", "add(a, b)"}, {"t", "negate(s)"}}, {"t", "s"}), (Passes{"add", "negate"}));
  EXPECT_EQ(passes(kInts, {"a", "b"}, {{"s", "add(a, b)"}, {"t", "negate(s)"}}, {"t"}), (Passes{"add, negate"}));
  EXPECT_EQ(passes(kInts, {"a", "b"}, {{"s", "add(a, b)"}, {"t", "negate(b)"}}, {"t"}), (Passes{"negate"}));
}

TEST(Passes, what_is_spread_over_a_larger_tensor_is_computed_before) {
  const std::string larger = "Tensor[(3, 8), int32, 0]";
  const std::vector<Op> ops{{"s", "add(a, b)"}, {"m", "expand(a, shape=[3, 8])", larger}, {"t", "mul(m, s)", larger}};
  EXPECT_EQ(passes(kInts, {"a", "b"}, ops, {"t"}), (Passes{"add", "mul"}));
}

// Inside an expression halfs are floats: what cuts off, or compares, has to read what would be stored.
TEST(Passes, halfs_are_rounded_before_what_has_steps) {
  const std::vector<Op> cut{{"s", "add(a, b)"}, {"t", "floor(s)"}};
  EXPECT_EQ(passes(kHalfs, {"a", "b"}, cut, {"t"}), (Passes{"add", "floor"}));
  EXPECT_EQ(passes(kFloats, {"a", "b"}, cut, {"t"}), (Passes{"add, floor"}));
  const std::vector<Op> compared{{"s", "add(a, b)"}, {"t", "greater(s, a)", "Tensor[(8), bool, 0]"}};
  EXPECT_EQ(passes(kHalfs, {"a", "b"}, compared, {"t"}), (Passes{"add", "greater"}));
  EXPECT_EQ(passes(kFloats, {"a", "b"}, compared, {"t"}), (Passes{"add, greater"}));
  EXPECT_EQ(passes(kHalfs, {"a", "b"}, {{"s", "add(a, b)"}, {"t", "exp(s)"}}, {"t"}), (Passes{"add, exp"}));
}

TEST(Passes, of_several_results_there_are_up_to_eight) {
  std::vector<Op> ops;
  std::vector<std::string> names;
  for (const char* f : {"negate", "abs", "exp", "sqrt", "sin", "cos", "tanh", "square", "relu"}) {
    ops.push_back({fmt::format("r_{}", f), fmt::format("{}(a)", f)});
    names.push_back(ops.back().name);
  }
  EXPECT_EQ(passes(kFloats, {"a"}, ops, names), (Passes{"negate, abs, exp, sqrt, sin, cos, tanh, square", "relu"}));
  // Of other types than floats each result has its own pass.
  EXPECT_EQ(passes(kInts, {"a"}, {{"n", "negate(a)"}, {"m", "abs(a)"}}, {"n", "m"}), (Passes{"negate", "abs"}));
}

TEST(Passes, of_several_results_read_up_to_twelve_tensors) {
  std::vector<std::string> variables{"a"}, names;
  std::vector<Op> ops;
  for (int i = 0; i < 6; ++i) {
    for (const char* v : {"x", "y"}) variables.push_back(fmt::format("{}{}", v, i));
    ops.push_back({fmt::format("s{}", i), fmt::format("add(x{}, y{})", i, i)});
    ops.push_back({fmt::format("t{}", i), fmt::format("mul(s{}, a)", i)});
    names.push_back(ops.back().name);
  }
  EXPECT_EQ(passes(kFloats, variables, ops, names), (Passes{"add, mul, add, mul, add, mul, add, mul, add, mul", "add, mul"}));
}

TEST(Passes, results_are_made_of_each_other_up_to_four_deep) {
  const std::vector<Op> ops{{"p", "negate(a)"}, {"q", "abs(p)"}, {"r", "exp(q)"}, {"s", "sqrt(r)"}, {"t", "relu(s)"}};
  EXPECT_EQ(passes(kFloats, {"a"}, ops, {"p", "q", "r", "s", "t"}), (Passes{"negate, abs, exp, sqrt", "relu"}));
}

TEST(Passes, what_shares_no_tensor_of_the_results_shape_is_computed_apart) {
  EXPECT_EQ(passes(kFloats, {"a", "b"}, {{"s", "negate(a)"}, {"t", "negate(b)"}}, {"s", "t"}), (Passes{"negate", "negate"}));
  const std::string number = "Tensor[(), float32, 0]";
  const std::vector<Op> ops{{"n", "sum(c, axis=[0], keepdims=false)", number}, {"s", "mul(a, n)"}, {"t", "mul(b, n)"}};
  EXPECT_EQ(passes(kFloats, {"a", "b", "c"}, ops, {"s", "t"}), (Passes{"mul", "mul"}));
}

}  // namespace
}  // namespace pando::lower
