#include "simulate/costs/cost_model_planned.h"

#include <gtest/gtest.h>

#include "ir/op_row.h"
#include "ir/text/parse.h"
#include "planning/product.h"
#include "simulate/ipu_cluster.h"

namespace pando::simulate {
namespace {

constexpr const char* kProgram = R"(module
graph main(x: Tensor[(4, 64, 256), float16, 0], w: Tensor[(256, 512), float16, 0]):
    y: Tensor[(4, 64, 512), float16, 0] = matmul(x, w)
    r: Tensor[(4, 64, 512), float16, 0] = relu(y)
    i: Tensor[(4, 16, 28, 28), float32, 0] = init(dtype=float32, init_type="zero", shape=[4, 16, 28, 28])
    k: Tensor[(32, 16, 3, 3), float32, 0] = init(dtype=float32, init_type="zero", shape=[32, 16, 3, 3])
    c: Tensor[(4, 32, 26, 26), float32, 0] = conv(i, k)
    return r, c
)";

double seconds(const ir::Module& m, const CostModel& costs, std::string_view op) {
  double sum = 0;
  for (const ir::OpId o : m.graph(m.main_graph()).ops) sum += m.row(o).name == op ? costs.seconds(m, o) : 0;
  return sum;
}

TEST(PlannedCosts, AreThoseOfThePlans) {
  const ir::Module m = ir::parse(kProgram);
  const Machine machine = *ipu_named("ipu2:64");
  const ClusterCostModel otherwise(cluster_of_ipus(machine));
  const PlannedCostModel costs(otherwise, machine);
  planning::Product p;
  p.m = 4 * 64, p.k = 256, p.n = 512;
  p.input = p.output = ElementType::half;
  EXPECT_EQ(seconds(m, costs, "matmul"), planning::plan_product(p, machine).cost() / machine.clock_hz);
  EXPECT_EQ(seconds(m, costs, "relu"), seconds(m, otherwise, "relu"));
  // The multiplications alone, and not ten times as much.
  const double ideal = 2.0 * 4 * 32 * 26 * 26 * 16 * 9 / machine.peak_flops_f32();
  EXPECT_GT(seconds(m, costs, "conv"), ideal);
  EXPECT_LT(seconds(m, costs, "conv"), 10 * ideal);
}

TEST(PlannedCosts, OfAnotherMachineAreOthers) {
  const ir::Module m = ir::parse(kProgram);
  const Machine machine = *ipu_named("ipu2:64");
  const ClusterCostModel otherwise(cluster_of_ipus(machine));
  Machine slow = machine;
  slow.exchange_bytes_per_cycle = 1;
  for (const char* op : {"matmul", "conv"})
    EXPECT_GT(seconds(m, PlannedCostModel(otherwise, slow), op), seconds(m, PlannedCostModel(otherwise, machine), op)) << op;
}

TEST(PlannedCosts, NamesOfIpus) {
  EXPECT_EQ(ipu_named("ipu2:64")->tiles(), 64u);
  EXPECT_EQ(ipu_named("bow")->tiles(), 1472u);
  EXPECT_EQ(ipu_cluster_named("ipu2:64"), cluster_of_ipus(*find_machine("ipu2"), 64));
  for (const char* none : {"cpu", "ipu2:0", "ipu2:9999", "ipu2:x", "selene"}) EXPECT_FALSE(ipu_named(none)) << none;
}

}  // namespace
}  // namespace pando::simulate
