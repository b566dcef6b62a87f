#include "transform/devices/unroll_pmap.h"

#include "ir/checks/verify.h"
#include "ir/op_row.h"
#include "ir/semantics/interpreter.h"
#include "ir/text/parse.h"
#include "ir/text/print.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pando::transform {
namespace {

using namespace ir;

// Scatter, a map whose body calls a graph and loops, gather: over n devices.
std::string program(int n) {
  std::string devices, parts, outs;
  for (int i = 1; i <= n; ++i) {
    devices += fmt::format("{}{}", i > 1 ? ", " : "", i);
    parts += fmt::format("{}Tensor[(2, 2), float32, {}]", i > 1 ? ", " : "", i);
  }
  return fmt::format(R"(module
variable "x" input 0: Tensor[({0}, 2), float32, 0]
variable "w" input 1: Tensor[(2, 2), float32, 0]

graph main(x: Tensor[({0}, 2), float32, 0], w: Tensor[(2, 2), float32, 0]):
    xs: Tuple[{1}] = scatter_across(x, devices=[{2}], dim=0)
    ws: Tuple[{1}] = broadcast_across(w, devices=[{2}])
    (ys: Tuple[{1}], zs: Tuple[{1}]) = pmap(xs, ws, device_var=0) @body
    sums: Tuple[{1}] = all_reduce_across(zs, op="add")
    y: Tensor[({0}, 2), float32, 0] = gather_across(ys, device=0, dim=0)
    s: Tensor[({0}, 2), float32, 0] = gather_across(sums, device=0, dim=0)
    return y, s

graph body(xi: Tensor[(2, 2), float32, d0], wi: Tensor[(2, 2), float32, d0]):
    yi: Tensor[(2, 2), float32, d0] = matmul(xi, wi)
    zi: Tensor[(2, 2), float32, d0] = call(yi) @twice
    ri: Tensor[(2, 2), float32, d0] = repeat(zi, count=3) @twice
    return yi, ri

graph twice(a: Tensor[(2, 2), float32, d0]):
    b: Tensor[(2, 2), float32, d0] = add(a, a)
    return b
)",
                     2 * n, parts, devices);
}

TEST(UnrollPmap, AnyNumberOfDevices) {
  for (int n : {1, 2, 3, 5, 16}) {
    SCOPED_TRACE(n);
    std::string text = program(n);
    Module m;
    try {
      m = parse(text);
      check(m);
    } catch (const std::exception& e) { FAIL() << e.what(); }
    const Module u = unroll_pmap(m);
    for (OpId o : u.graph(u.main_graph()).ops) EXPECT_NE(u.row(o).name, "pmap");
    // One copy of the called graph for each device.
    EXPECT_EQ(u.graph_count(), 1u + static_cast<std::size_t>(n));
    EXPECT_EQ(print(parse(print(u))), print(u));
    HostTensor x(DType::float32, {2 * n, 2}), w(DType::float32, {2, 2});
    for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, static_cast<double>(i % 7) - 3);
    for (std::int64_t i = 0; i < 4; ++i) w.set(i, static_cast<double>(i) / 4);
    const auto a = Interpreter(m).run_graph(m.main_graph(), {{x, {}}, {w, {}}}),
               b = Interpreter(u).run_graph(u.main_graph(), {{x, {}}, {w, {}}});
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].tensor, b[i].tensor);
  }
}

}  // namespace
}  // namespace pando::transform
