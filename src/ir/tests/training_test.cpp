#include "ir/checks/verify.h"
#include "ir/semantics/infer.h"
#include "ir/semantics/interpreter.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pando::ir {
namespace {

std::vector<double> numbers(const HostTensor& t) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < t.elements(); ++i) all.push_back(t.number(i));
  return all;
}

// One step of a linear layer, written with the ops that stand for a whole step's parts.
constexpr const char* kStep = R"(module
variable "w" input 0: Tensor[(2, 1), float32] = float32(2, 1)[1.0, 2.0]
variable "x" input 1: Tensor[(2, 2), float32] = float32(2, 2)[1.0, 2.0, 3.0, 4.0]
variable "z" input 2: Tensor[(2, 1), float32]
variable "n" input 3: int32 = int32()[2]

graph main(w: Tensor[(2, 1), float32], x: Tensor[(2, 2), float32], z: Tensor[(2, 1), float32], n: int32):
    y: Tensor[(2, 1), float32] = matmul(x, w)
    l: Tensor[(2, 1), float32] = squared_loss(y, z, n)
    dl: Tensor[(2, 1), float32] = squared_loss_grad(y, z, n)
    (dx: Tensor[(2, 2), float32], dw: Tensor[(2, 1), float32]) = matmul_grad(x, w, dl)
    w1: Tensor[(2, 1), float32] = sgd(w, dw, lr=0.5)
    return l, dx, dw
    final w = w1
)";

TEST(Training, AStepOfALinearLayer) {
  const Module m = parse(kStep);
  EXPECT_EQ(print(m), kStep);
  EXPECT_EQ(to_string(verify(m)), "");
  Interpreter i(m);
  // A variable without data begins with zeros.
  EXPECT_EQ(numbers(i.state(StateId(2), 0)), (std::vector<double>{0, 0}));
  i.run();
  // y = 5, 11; dl = 5, 11; dw = 5 + 33, 10 + 44.
  EXPECT_EQ(numbers(i.state(StateId(0), 0)), (std::vector<double>{1 - 19, 2 - 27}));
  const Graph& main = m.graph(m.main_graph());
  std::vector<HostValue> inputs;
  for (std::size_t s = 0; s < 4; ++s) inputs.push_back({Interpreter(m).state(StateId(static_cast<std::uint32_t>(s)), 0), {}});
  const auto out = i.run_graph(m.main_graph(), inputs);
  ASSERT_EQ(out.size(), main.outputs.size() + main.inputs.size());
  EXPECT_EQ(numbers(out[0].tensor), (std::vector<double>{12.5, 60.5}));
  EXPECT_EQ(numbers(out[1].tensor), (std::vector<double>{5, 10, 11, 22}));
}

TEST(Training, ANameStaysWhereItIsWhileOthersAreAdded) {
  Module m;
  const GraphId g = m.add_graph("main");
  const ValueId x = m.add_input(g, tensor_type(DType::float32, {2}), "x");
  const std::string& name = m.name_of(x);
  for (int i = 0; i < 1000; ++i) m.name(fmt::format("n{}", i));
  EXPECT_EQ(&name, &m.name_of(x));
}

TEST(Training, NamesThatRepeatAreNumberedInTheText) {
  Module m;
  const GraphId g = m.add_graph("main");
  const GraphId f = m.add_graph("f");
  (void)g;
  const ValueId x = m.add_input(f, tensor_type(DType::float32, {2}), "x");
  const NameId name = m.name("y");
  const TypeId type = m.type(m.type_of(x));
  ValueId v = x;
  for (int i = 0; i < 3; ++i) {
    const OpId o =
        m.append_op(f, m.op(infer_and_add(m, f, "relu", {{v}}, {}, {}, false, {}, "y__t0")).kind, {{v}}, m.intern({}), {{type}}, name);
    v = m.result(o);
  }
  m.add_output(f, v);
  EXPECT_EQ(to_string(verify(m)), "");
  const std::string text = print(m);
  const Module again = parse(text);
  EXPECT_EQ(print(again), text);
  EXPECT_EQ(to_string(verify(again)), "");
}

}  // namespace
}  // namespace pando::ir
