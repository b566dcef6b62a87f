#include "ir/checks/verify.h"
#include "ir/error.h"
#include "ir/semantics/interpreter.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <gmock/gmock.h>

namespace pando::ir {
namespace {

// The data-parallel program of the DistIR note: scatter, pmap, all-reduce, gather.
constexpr const char* kDataParallel = R"(module
variable "x" input 0: Tensor[(4, 2), float32, 0] = float32(4, 2)[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
variable "w" input 1: Tensor[(2, 2), float32, 0] = float32(2, 2)[1.0, 0.0, 1.0, 1.0]

graph main(x: Tensor[(4, 2), float32, 0], w: Tensor[(2, 2), float32, 0]):
    xs: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = scatter_across(x, devices=[1, 2], dim=0)
    ws: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = broadcast_across(w, devices=[1, 2])
    ys: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = pmap(xs, ws, device_var=0) @body
    sums: Tuple[Tensor[(2, 2), float32, 1], Tensor[(2, 2), float32, 2]] = all_reduce_across(ys, op="add")
    y: Tensor[(4, 2), float32, 0] = gather_across(ys, device=0, dim=0)
    sum: Tensor[(2, 2), float32, 0] = reduce_across(sums, device=0, op="mean")
    wide: Tuple[Tensor[(2, 4), float32, 1], Tensor[(2, 4), float32, 2]] = all_gather_across(ys, dim=1)
    part: Tuple[Tensor[(1, 2), float32, 1], Tensor[(1, 2), float32, 2]] = reduce_scatter_across(ys, dim=0, op="add")
    turned: Tuple[Tensor[(2, 1), float32, 1], Tensor[(2, 1), float32, 2]] = all_to_all_across(part, concat_dim=0, split_dim=1)
    first: Tensor[(2, 4), float32, 1] = get_element(wide, index=0)
    home: Tensor[(2, 4), float32, 0] = send(first, device=0)
    return y, sum, home, turned

graph body(xi: Tensor[(2, 2), float32, d0], wi: Tensor[(2, 2), float32, d0]):
    yi: Tensor[(2, 2), float32, d0] = matmul(xi, wi)
    return yi
)";

std::vector<double> numbers(const HostTensor& t) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < t.elements(); ++i) all.push_back(t.number(i));
  return all;
}

TEST(Distributed, TheDataParallelProgramOfTheNote) {
  const std::string text = kDataParallel;
  const Module m = parse(text);
  EXPECT_EQ(print(m), text);
  EXPECT_EQ(to_string(verify(m)), "");
  Interpreter i(m);
  const auto out = i.run_graph(m.main_graph(), {{m.blob(BlobId(0)), {}}, {m.blob(BlobId(1)), {}}});
  EXPECT_EQ(numbers(out[0].tensor), (std::vector<double>{3, 2, 7, 4, 11, 6, 15, 8}));
  EXPECT_EQ(numbers(out[1].tensor), (std::vector<double>{14, 8, 22, 12}));
  EXPECT_EQ(numbers(out[2].tensor), (std::vector<double>{3, 2, 11, 6, 7, 4, 15, 8}));
  EXPECT_EQ(numbers(out[3].elements[0].tensor), (std::vector<double>{14, 22}));
  EXPECT_EQ(numbers(out[3].elements[1].tensor), (std::vector<double>{8, 12}));
}

TEST(Distributed, WhatDoesNotFitIsRejected) {
  const auto rule = [](std::string op, std::string type) {
    const Module m = parse(
        "module\ngraph main():\n    return\ngraph f(x: Tensor[(3, 2), float32, 0], t: Tuple[Tensor[(2), float32, 1], Tensor[(2), float32, "
        "2]], "
        "u: Tuple[Tensor[(2), float32, 1], Tensor[(3), float32, 2]]):\n    a: " +
        type + " = " + op + "\n    return a\n");
    const auto found = verify(m);
    return found.empty() ? std::string("valid") : found[0].rule;
  };
  const std::string pair = "Tuple[Tensor[(2), float32, 1], Tensor[(2), float32, 2]]";
  EXPECT_EQ(rule("all_reduce_across(t, op=\"add\")", pair), "valid");
  EXPECT_EQ(rule("all_reduce_across(t, op=\"xor\")", pair), "unknown-reduction");
  EXPECT_EQ(rule("all_reduce_across(x, op=\"add\")", pair), "not-a-tuple");
  EXPECT_EQ(rule("all_reduce_across(u, op=\"add\")", pair), "different-shapes");
  EXPECT_EQ(rule("scatter_across(x, devices=[1, 2], dim=0)", pair), "does-not-divide");
  EXPECT_EQ(rule("scatter_across(x, devices=[1, 1, 2], dim=0)", pair), "device-twice");
  EXPECT_EQ(rule("scatter_across(x, devices=[1, 2], dim=2)", pair), "dimension-range");
  EXPECT_EQ(rule("broadcast_across(x, devices=ints[])", pair), "no-devices");
  EXPECT_EQ(rule("broadcast_across(x, devices=[1, 268435457])", pair), "device-number");
  EXPECT_EQ(rule("get_element(t, index=2)", "Tensor[(2), float32, 1]"), "element-range");
  EXPECT_EQ(rule("send(x, device=-1)", "Tensor[(3, 2), float32, 1]"), "device-number");
  EXPECT_EQ(rule("gather_across(u, device=0, dim=0)", "Tensor[(5), float32, 0]"), "valid");
  EXPECT_EQ(rule("gather_across(u, device=0, dim=0)", "Tensor[(4), float32, 0]"), "types-follow");
}

}  // namespace
}  // namespace pando::ir
