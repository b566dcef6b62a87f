#include "split/place.h"

#include "project/testing/testing.h"

#include "ir/checks/verify.h"
#include "ir/semantics/interpreter.h"
#include "ir/text/print.h"

namespace pando::project::testing {
namespace {

using namespace pando::split;
using ::testing::HasSubstr;

std::string without_devices(std::string text) {
  for (const std::string d : {", 0]", ", 1]"}) {
    for (std::size_t at = text.find("float32" + d); at != std::string::npos; at = text.find("float32" + d, at)) text.erase(at + 7, 3);
  }
  return text;
}

TEST(Place, VariablesSayWhereOpsRun) {
  ir::Module m = note();
  std::vector<std::int32_t> devices = complete_devices(m);
  insert_sends(m, devices);
  EXPECT_EQ(ir::to_string(ir::verify(m)), "");
  const std::string text = ir::print_graph(m, m.main_graph());
  EXPECT_THAT(text,
              HasSubstr("    b.1: Tensor[(3, 3), float32, 1] = send(b, device=1)\n    c: Tensor[(3, 3), float32, 1] = call(WC, b.1) @C\n"));
  EXPECT_THAT(text, HasSubstr("    l: Tensor[(3, 3), float32, 1] = host_load(stream=@stream1)\n"));
  EXPECT_THAT(text, HasSubstr("    d.0: Tensor[(3, 3), float32, 0] = send(d, device=0)\n"));
  EXPECT_THAT(text, HasSubstr("    WA1: Tensor[(3, 3), float32, 0] = call(f, WA) @wup\n"));
}

TEST(Place, NothingSaidIsDeviceZero) {
  ir::Module m = ir::parse(without_devices(read_golden("note")));
  std::vector<std::int32_t> devices = complete_devices(m);
  insert_sends(m, devices);
  EXPECT_EQ(ir::print_graph(m, m.main_graph()).find("send("), std::string::npos);
  for (ir::OpId o : m.graph(m.main_graph()).ops) EXPECT_EQ(devices[o.index()], 0);
}

// Of ops' results alone. A variable and what makes its new contents go with them.
TEST(Place, ResultsSayWhereTheirVariablesAre) {
  std::string text = without_devices(read_golden("note"));
  text.replace(text.find("    c: Tensor[(3, 3), float32]"), 30, "    c: Tensor[(3, 3), float32, 2]");
  text.replace(text.find("    a: Tensor[(3, 3), float32]"), 30, "    a: Tensor[(3, 3), float32, 0]");
  ir::Module m = ir::parse(text);
  std::vector<std::int32_t> devices = complete_devices(m);
  insert_sends(m, devices);
  const std::string placed = ir::print(m);
  EXPECT_THAT(placed, HasSubstr("variable \"WC\" input 2: Tensor[(3, 3), float32, 2]"));
  EXPECT_THAT(placed, HasSubstr("WC1: Tensor[(3, 3), float32, 2] = call(d, WC) @wup"));
  EXPECT_THAT(placed, HasSubstr("e: Tensor[(3, 3), float32, 0] = call(WB, d.0, b) @E"));
  EXPECT_EQ(ir::to_string(ir::verify(m)), "");
}

TEST(Place, AValueIsSentOnceAndConstantsAreNot) {
  ir::Module m = ir::parse(R"(module
variable "w" input 0: Tensor[(2), float32, 0] = float32(2)[1.0, 2.0]
variable "v" input 1: Tensor[(2), float32, 3] = float32(2)[1.0, 2.0]

graph main(w: Tensor[(2), float32, 0], v: Tensor[(2), float32, 3]):
    k: float32 = constant(data=float32()[2.0])
    a: Tensor[(2), float32] = mul(w, k)
    b: Tensor[(2), float32] = mul(v, a)
    c: Tensor[(2), float32, 3] = mul(a, k)
    return
)");
  std::vector<std::int32_t> devices = complete_devices(m);
  insert_sends(m, devices);
  EXPECT_EQ(ir::print_graph(m, m.main_graph()), R"(graph main(w: Tensor[(2), float32, 0], v: Tensor[(2), float32, 3]):
    k: float32[0] = constant(data=float32()[2.0])
    k.3: float32[3] = constant(data=float32()[2.0])
    a: Tensor[(2), float32, 0] = mul(w, k)
    a.3: Tensor[(2), float32, 3] = send(a, device=3)
    b: Tensor[(2), float32, 3] = mul(v, a.3)
    c: Tensor[(2), float32, 3] = mul(a.3, k.3)
    return
)");
}

// Each device computes what it gets of a collective.
TEST(Place, OpsOnSeveralDevicesAreTakenApart) {
  ir::Module m = ir::parse(R"(module
stream 0 "x" to device: Tensor[(2), float32]
variable "v" input 0: Tensor[(2), float32, 0] = float32(2)[1.0, 2.0]
variable "w" input 1: Tensor[(2), float32, 1] = float32(2)[3.0, 4.0]

graph main(v: Tensor[(2), float32, 0], w: Tensor[(2), float32, 1]):
    x: Tensor[(2), float32] = host_load(stream=@stream0)
    g: Tensor[(2), float32, 0] = mul(v, x)
    h: Tensor[(2), float32, 1] = mul(w, x)
    (p: Tensor[(2), float32, 0], q: Tensor[(2), float32, 1]) = all_reduce(g, h, op="add")
    v1: Tensor[(2), float32] = sub(v, p)
    w1: Tensor[(2), float32] = sub(w, q)
    return
    final v = v1
    final w = w1
)");
  for (const std::string policy : {"strict", "delay", "flush 2"}) {
    const Projected p = projected(m, policy);
    EXPECT_EQ(to_string(verify(p.program)), "");
    EXPECT_EQ(differs_in_terms(p.program, p.loop, p.lags, {4, 0}), std::nullopt);
  }
  const HostInputs inputs{{"x", ir::HostTensor::of_floats(ir::DType::float32, {2, 2}, std::vector<double>{1, 2, 3, 4})}};
  const RunResult r = run(projected(m, "strict").program, inputs, {2, 0});
  // By hand: v = 1, w = 3, x = 1: sum 4; v = -3, w = -1, x = 3: sum -12.
  EXPECT_EQ(r.states.at("v").number(0), 9);
  EXPECT_EQ(r.states.at("w").number(0), 11);
}

// The user's order of an op on several devices is one on each of them.
TEST(Place, OrderOfOpsThatAreTakenApart) {
  const auto loop = [](const std::string& behind) {
    return make_loop(ir::parse(R"(module
variable "v" input 0: Tensor[(2), float32, 0] = float32(2)[1.0, 2.0]
variable "w" input 1: Tensor[(2), float32, 1] = float32(2)[3.0, 4.0]

graph main(v: Tensor[(2), float32, 0], w: Tensor[(2), float32, 1]):
    [1] g: Tensor[(2), float32, 0] = exp(v)
    [2] (p: Tensor[(2), float32, 0], q: Tensor[(2), float32, 1]) = all_reduce(v, w, op="add") after [1]
    [3] (r: Tensor[(2), float32, 0], s: Tensor[(2), float32, 1]) = all_reduce(p, q, op="mul") after [2]
    h: Tensor[(2), float32, 1] = exp(w) after [)" +
                               behind + R"(]
    v1: Tensor[(2), float32, 0] = sub(g, r)
    w1: Tensor[(2), float32, 1] = sub(h, s)
    return
    final v = v1
    final w = w1
)"),
                     Policy());
  };
  const LoopProgram l = loop("3");
  std::map<std::int32_t, int> edges;
  for (const auto& [first, then] : l.after) {
    EXPECT_EQ(l.device(first), l.device(then));
    ++edges[l.device(then)];
  }
  EXPECT_EQ(edges, (std::map<std::int32_t, int>{{0, 2}, {1, 2}}));
  // Behind an op of the other device: a message for it.
  EXPECT_EQ(loop("1").module->op_count(), l.module->op_count() + 1);
}

// Each device's part of a projected loop, as text.
std::string text_of(const std::string& ops, const std::string& policy) {
  const ir::Module m = ir::parse(R"(module
stream 0 "x" to device: Tensor[(8), float32]
stream 1 "r" to host: Tensor[(8), float32]
variable "w" input 0: Tensor[(8), float32, 1] = float32(8)[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]

graph main(w: Tensor[(8), float32, 1]):
    x: Tensor[(8), float32, 0] = host_load(stream=@stream0)
)" + ops + "    return\n    final w = w1\n");
  std::string text;
  for (const std::int64_t capacity : {0, 1}) {
    ProjectOptions options;
    options.capacity = capacity;
    const Projected p = projected(m, policy, options);
    EXPECT_EQ(to_string(verify(p.program)), "") << policy;
    EXPECT_EQ(differs_in_terms(p.program, p.loop, p.lags, {4, 0}), std::nullopt) << policy;
    text = print(p.program, {.whole = false});
  }
  return text;
}

// An order between devices that no data bring is a message: one element of what comes first.
TEST(Order, BetweenDevicesIsAMessage) {
  const std::string ops = R"(    [1] y: Tensor[(8), float32, 0] = exp(x)
    w1: Tensor[(8), float32, 1] = mul(w, w) after [1]
    host_store(y, stream=@stream1)
)";
  for (const char* policy : {"strict", "delay", "stash"}) {
    const std::string text = text_of(ops, policy);
    EXPECT_THAT(text, HasSubstr("stream y.done01: 0 -> 1, Tensor[(1), float32], 4 bytes")) << policy;
    EXPECT_LT(text.find("slice(y"), text.find("send(y.done")) << text;
    // In the same trip behind the message, or a trip later.
    const std::size_t receives = text.find("receive(y.done01)"), computes = text.find("mul(w, w)");
    EXPECT_NE(receives, std::string::npos) << text;
    const bool later = text.find("if t >= 1:\n            w = mul(w, w)") != std::string::npos;
    EXPECT_TRUE(policy == std::string("strict") ? receives < computes : later) << text;
  }
  // What data bring needs none, nor what is sent anyway.
  EXPECT_THAT(text_of(R"(    [1] y: Tensor[(8), float32, 0] = exp(x)
    w1: Tensor[(8), float32, 1] = mul(w, y) after [1]
    host_store(y, stream=@stream1)
)",
                      "strict"),
              ::testing::Not(HasSubstr("done")));
  EXPECT_THAT(text_of(R"(    [1] y: Tensor[(8), float32, 0] = exp(x)
    [2] z: Tensor[(8), float32, 1] = exp(w) after [1]
    w1: Tensor[(8), float32, 1] = mul(z, y)
    host_store(y, stream=@stream1)
)",
                      "strict"),
              ::testing::Not(HasSubstr("done")));
  // A store has no result: what it stored is looked at behind it. A window's update needs no message.
  const std::string behind_store = R"(    [1] y: Tensor[(8), float32, 0] = exp(x)
    [2] host_store(y, stream=@stream1)
    z: Tensor[(8), float32, 1] = mul(w, w) after [2]
    u: Tensor[(8), float32, 1] = send(y, device=1)
    w1: Tensor[(8), float32, 1] = add(z, u)
)";
  const std::string text = text_of(behind_store, "delay");
  EXPECT_LT(text.find("send(y, y)"), text.find("slice(y")) << text;
  EXPECT_THAT(text_of(ops, "flush 2"), ::testing::Not(HasSubstr("done")));
}

std::string rejection(const std::string& ops, const std::string& variables = "", const std::string& inputs = "",
                      const std::string& updated_inputs = "") {
  try {
    make_loop(ir::parse("module\nstream 0 \"x\" to device: float32\nstream 1 \"r\" to host: float32\n" + variables + "\ngraph main(" +
                        inputs + "):\n    x: float32 = host_load(stream=@stream0)\n" + ops + "    return\n" + updated_inputs),
              Policy());
  } catch (const ModelError& e) { return e.id(); }
  return "none";
}

TEST(Place, WhatNoLoopProgramIs) {
  const std::string w = "variable \"w\" input 0: float32[0] = float32()[1.0]\n", in = "w: float32[0]", final = "    final w = y\n";
  EXPECT_EQ(rejection("    y: float32[1] = exp(x)\n"), "none");
  EXPECT_EQ(rejection("    y: float32[1] = mul(w, x)\n", w, in, final), "state-on-two-devices");
  EXPECT_EQ(rejection("    z: float32[1] = mul(w, x)\n    y: float32[0] = send(z, device=0)\n", w, in, final), "none");
  EXPECT_EQ(rejection("    y: float32[0] = mul(w, x)\n", "variable \"w\" input 0: float32[0]\n", in, final), "variable-without-data");
  EXPECT_EQ(rejection("    y: float32[d0] = exp(x)\n"), "device-variable");
  EXPECT_EQ(rejection("    t: Tuple[float32[1], float32[2]] = broadcast_across(x, devices=[1, 2])\n"), "tuple-in-loop");
  EXPECT_EQ(rejection("    print_tensor(x, title=\"x\")\n"), "effect-in-loop");
  EXPECT_EQ(rejection("    [1] y: float32[0] = exp(x)\n    z: float32[1] = exp(x) after [1]\n"), "none");
  EXPECT_EQ(rejection("    c: float32[0] = constant(value=float32()[1.0])\n    [1] host_store(c, stream=@stream1)\n    z: float32[1] = "
                      "exp(x) after [1]\n"),
            "order-across-devices");
  EXPECT_EQ(rejection("    y: float32[0] = exp(x) during accumulate_outer\n"), "program-in-loop");
}

}  // namespace
}  // namespace pando::project::testing
