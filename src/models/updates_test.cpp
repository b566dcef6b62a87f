// PopXL's updates of weights, distributed: with ZeRO they run on the parts that are stored.
#include "ir/op_row.h"
#include "ir/text/parse.h"
#include "models/testing.h"
#include "transform/distribute/annotate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace pando::models {
namespace {

using namespace transform;
using testing::count;
using testing::difference;

// Two layers, a loss, gradients written out, and for each weight what popxl.addons' Adam does: moving averages, the update, the weight.
Program adam_of_popxl(std::string_view updater) {
  std::string text = R"(module
graph main(x: Tensor[(12, 4), float64], z: Tensor[(12, 4), float64], w: Tensor[(4, 8), float64], v: Tensor[(8, 4), float64], wm: Tensor[(4, 8), float64], ws: Tensor[(4, 8), float64], vm: Tensor[(8, 4), float64], vs: Tensor[(8, 4), float64], wt: float64, vt: float64):
    a: Tensor[(12, 8), float64] = matmul(x, w)
    h: Tensor[(12, 8), float64] = relu(a)
    y: Tensor[(12, 4), float64] = matmul(h, v)
    e: Tensor[(12, 4), float64] = sub(y, z)
    q: Tensor[(12, 4), float64] = mul(e, e)
    l: float64 = sum(q, axis=[0, 1], keepdims=false)
    ht: Tensor[(8, 12), float64] = transpose(h, permutation=[1, 0])
    dv: Tensor[(8, 4), float64] = matmul(ht, e)
    vr: Tensor[(4, 8), float64] = transpose(v, permutation=[1, 0])
    dh: Tensor[(12, 8), float64] = matmul(e, vr)
    da: Tensor[(12, 8), float64] = relu_grad(h, dh)
    xt: Tensor[(4, 12), float64] = transpose(x, permutation=[1, 0])
    dw: Tensor[(4, 8), float64] = matmul(xt, da)
)";
  for (const std::string w : {"w", "v"}) {
    const std::string t = w == "w" ? "Tensor[(4, 8), float64]" : "Tensor[(8, 4), float64]";
    const std::string adam =
        fmt::format("{}({}m1, {}sp, {}, {}t, present=[\"weight\", \"time_step\"], beta1=0.9, {}weight_decay=0.01, epsilon=0.001)", updater,
                    w, w, w, w, updater == "adam_updater" ? "beta2=0.99, " : "");
    text += fmt::format("    {0}m1: {1} = accumulate_moving_average_({0}m, d{0}, f=0.9)\n", w, t);
    text += fmt::format("    {0}s1: {1} = accumulate_moving_average_square_({0}s, d{0}, f=0.99)\n", w, t);
    text += fmt::format("    {0}sp: {1} = abs({0}s1)\n", w, t);  // tests begin with states of any sign
    text += fmt::format("    ({0}u: {1}, {0}t1: float64) = {2}\n", w, t, adam);
    text += fmt::format("    {0}1: {1} = accumulate_({0}, {0}u, f=-0.5)\n", w, t);
  }
  text += "    return l\n";
  for (const char* w : {"w", "v", "wm", "ws", "vm", "vs", "wt", "vt"}) text += fmt::format("    final {0} = {0}1\n", w);
  return annotate(ir::parse(text), {{{"x", 0}, {"z", 0}}, {}, {}, "l"});
}

TEST(Updates, RunOnTheirParts) {
  for (const char* updater : {"adam_updater", "adamax_updater"}) {
    const Program p = adam_of_popxl(updater);
    for (std::int32_t zero : {1, 2, 3}) {
      const Distributed d = parallelise(p, {.data = 2, .zero = zero});
      EXPECT_EQ(to_lines(d.whole), std::vector<std::string>());
      // What an updater takes is a part: nothing is gathered for it.
      for (ir::OpId o : d.module.graph(d.module.main_graph()).ops) {
        if (d.module.row(o).name == updater) EXPECT_EQ(ir::elements_of(d.module.type_of(d.module.operand(o, 0)).shape), 16);
      }
    }
  }
}

TEST(Updates, RandomStrategies) {
  const std::uint64_t seed = 20261126;
  RecordProperty("seed", std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto one_of = [&](std::initializer_list<std::int32_t> list) { return list.begin()[random() % list.size()]; };
  for (int round = 0; round < 24; ++round) {
    const Program p = adam_of_popxl(round % 2 ? "adam_updater" : "adamax_updater");
    Strategy s{.data = one_of({1, 2, 3}), .tensor = one_of({1, 2}), .pipeline = one_of({1, 2})};
    s.microbatches = s.pipeline == 2 ? 2 : one_of({1, 2});
    s.zero = s.data == 2 ? one_of({0, 1, 2, 3}) : 0;
    s.offload_optimizer = random() % 4 == 0;
    EXPECT_EQ(difference(p, s, 1e-10, round, true), "") << "round " << round << ", zero " << s.zero;
  }
}

// What has no rule is said, with the reason.
TEST(Updates, WhatRunsWholeIsSaid) {
  const Program p = annotate(ir::parse(R"(module
graph main(s: Tensor[(2), uint32], x: Tensor[(12, 4), float64], w: Tensor[(4, 4), float64]):
    a: Tensor[(12, 4), float64] = matmul(x, w)
    d: Tensor[(12, 4), float64] = dropout(a, s, p=0.5)
    return d
)"),
                             {{{"x", 0}}, {}, {}, {}});
  EXPECT_EQ(to_lines(parallelise(p, {.data = 2}).whole),
            std::vector<std::string>{
                "1 dropout on whole operands over the data axis: random numbers belong to the elements of the whole tensor"});
  EXPECT_EQ(to_lines(parallelise(p, {.pipeline = 1}).whole), std::vector<std::string>());
}

}  // namespace
}  // namespace pando::models
