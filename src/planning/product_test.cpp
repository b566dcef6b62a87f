#include "planning/product.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

namespace pando::planning {
namespace {

// `ipus` of ipu2, with so many tiles.
Machine machine_of(unsigned ipus, unsigned tiles_per_ipu = 1472) {
  Machine m = *find_machine("ipu2");
  m.ipus = ipus;
  m.tiles_per_ipu = tiles_per_ipu;
  return m;
}

Product product(std::size_t groups, std::size_t m, std::size_t k, std::size_t n, ElementType type = ElementType::float_) {
  Product p;
  p.groups = groups, p.m = m, p.k = k, p.n = n;
  p.input = p.output = type;
  return p;
}

const std::vector<Product>& products() {
  static const std::vector<Product> all = {product(1, 1, 1, 1),
                                           product(1, 12, 10, 14),
                                           product(1, 1, 40, 30),
                                           product(3, 5, 20, 7),
                                           product(1, 33, 17, 9, ElementType::half),
                                           product(6, 2, 3, 4),
                                           product(1, 40, 2, 40, ElementType::half),
                                           product(1, 2, 64, 2)};
  return all;
}

std::size_t parts(std::size_t size, std::size_t block) { return (size + block - 1) / block; }

// The dumb way: every block whose grid fits the tiles.
ProductPlan best_of_all(const Product& p, const Machine& machine) {
  const CostModel model(machine, {}, p.objective);
  ProductPlan best;
  bool first = true;
  for (std::size_t g = 1; g <= p.groups; ++g)
    for (std::size_t m = 1; m <= p.m; ++m)
      for (std::size_t n = 1; n <= p.n; ++n)
        for (std::size_t k = 1; k <= p.k; ++k) {
          if (parts(p.groups, g) * parts(p.m, m) * parts(p.n, n) * parts(p.k, k) > machine.tiles()) continue;
          const ProductPlan plan = evaluate(p, model, {g, m, n, k});
          const bool better = plan.fits != best.fits ? plan.fits : plan.fits ? plan.cost() < best.cost() : plan.memory < best.memory;
          if (first || better) best = plan;
          first = false;
        }
  return best;
}

TEST(ProductPlan, IsAsGoodAsTheBestOfAll) {
  for (const Machine& machine : {machine_of(1, 8), machine_of(2, 6)})
    for (Product p : products())
      for (const auto objective : {Objective::cycles, Objective::host_time}) {
        p.objective = objective;
        const ProductPlan chosen = plan_product(p, machine), best = best_of_all(p, machine);
        EXPECT_TRUE(chosen.fits);
        EXPECT_LE(chosen.cost(), best.cost() * 1.05) << p.groups << 'x' << p.m << 'x' << p.k << 'x' << p.n << " on " << machine.tiles()
                                                     << (objective == Objective::cycles ? " cycles" : " host time");
      }
}

TEST(ProductPlan, FitsTheMemoryAskedForInSerialSteps) {
  const Machine machine = machine_of(1, 4);
  Product p = product(1, 400, 4000, 400);
  p.memory_proportion = 0.9;
  const ProductPlan wide = plan_product(p, machine);
  p.memory_proportion = 0.3;
  const ProductPlan narrow = plan_product(p, machine);
  for (const ProductPlan& plan : {wide, narrow}) EXPECT_TRUE(plan.fits);
  EXPECT_LT(narrow.k_step, narrow.block.k);
  EXPECT_LE(narrow.memory, 0.3 * bytes_per_tile(machine));
  EXPECT_LE(wide.cost(), narrow.cost());
  p.memory_proportion = 0;
  EXPECT_FALSE(plan_product(p, machine).fits);
}

TEST(ProductPlan, SearchIsBounded) {
  const Machine machine = machine_of(4);
  for (const auto objective : {Objective::cycles, Objective::host_time}) {
    Product p = product(96, 4093, 4093, 4093);
    p.objective = objective;
    EXPECT_LE(plan_product(p, machine).nodes, 1 + (objective == Objective::cycles ? 2u * 12 * 48 * 48 : 12u * 48 * 48 * 48));
  }
}

TEST(ProductPlan, EveryBlockHasATileOfItsOwn) {
  const Machine machine = machine_of(2, 50);
  for (const Product& p : products()) {
    const ProductPlan plan = plan_product(p, machine);
    const ProductGrid grid = grid_of(p, plan);
    for (const Outer outer : {Outer::groups, Outer::m, Outer::n, Outer::k}) {
      std::set<unsigned> tiles;
      for (std::size_t g = 0; g < grid.groups; ++g)
        for (std::size_t m = 0; m < grid.m; ++m)
          for (std::size_t n = 0; n < grid.n; ++n)
            for (std::size_t k = 0; k < grid.k; ++k) tiles.insert(tile_of(grid, outer, machine.tiles(), g, m, n, k));
      EXPECT_EQ(tiles.size(), grid.count());
      EXPECT_LT(*tiles.rbegin(), machine.tiles());
    }
  }
}

TEST(ProductPlan, OfALargeProductKeepsTheUnitsBusy) {
  const Machine machine = machine_of(1);
  for (const ElementType type : {ElementType::float_, ElementType::half}) {
    const Product p = product(1, 2048, 2048, 2048, type);
    const ProductPlan plan = plan_product(p, machine);
    const double peak =
        static_cast<double>(vector_width(machine, type) * amp_unit(machine, type, ElementType::float_).out) * machine.tiles();
    const double ideal = 2048.0 * 2048 * 2048 / peak;
    EXPECT_LE(plan.multiply, 1.35 * ideal);
    EXPECT_LE(plan.cost(), 2.5 * ideal);
    EXPECT_GE(grid_of(p, plan).count(), machine.tiles() * 9 / 10);
  }
}

TEST(ProductPlan, OfManyElementsUsesTheMachine) {
  const Machine machine = machine_of(1);
  for (const ElementType type : {ElementType::float_, ElementType::half})
    for (const Product& p :
         {product(1, 1, 512, 1024, type), product(1, 1, 1024, 512, type), product(1, 512, 1024, 1, type), product(1, 8, 320, 320, type),
          product(1, 320, 320, 320, type), product(1, 1, 320, 320, type), product(1, 16, 784, 128, type), product(16, 64, 100, 64, type)})
      EXPECT_GE(grid_of(p, plan_product(p, machine)).count(), machine.tiles() * 9 / 10)
          << p.groups << 'x' << p.m << 'x' << p.k << 'x' << p.n << ' ' << name_of(type);
}

// Plans are data of other texts: a change of any of these numbers changes programs.
TEST(ProductPlan, AsText) {
  Product p = product(1, 1024, 4096, 100, ElementType::half);
  p.output = ElementType::float_;
  const Machine machine = machine_of(1);
  EXPECT_EQ(to_string(p, plan_product(p, machine), machine),
            "matrix product: 1 x (1024 x 4096) * (4096 x 100), half -> float, partial sums float\n"
            "  grid: groups 1, m 32, n 1, k 45: 1440 of 1472 tiles, groups outermost\n"
            "  block: groups 1, m 32, n 100, k 92 in steps of 92\n"
            "  memory: 37088 bytes a tile\n"
            "  estimate: exchange 4646, multiply 10686, reduce 5215, in all 20547 cycles; 1472 candidates\n");
}

// Every number of a machine that the cost model reads changes a plan.
TEST(ProductPlan, OfAnotherMachineIsAnother) {
  const auto changed = [](const char* what, unsigned ipus, auto change) {
    const Machine machine = machine_of(ipus, 64);
    Machine other = machine;
    change(other);
    unsigned differ = 0;
    for (const std::size_t m : {16, 100, 384})
      for (const std::size_t n : {16, 100, 768})
        for (const std::size_t k : {64, 1000, 4096}) {
          Product p = product(1, m, k, n, ElementType::half);
          p.output = ElementType::float_;
          const ProductGrid a = grid_of(p, plan_product(p, machine)), b = grid_of(p, plan_product(p, other));
          differ += a.m != b.m || a.n != b.n || a.k != b.k;
        }
    EXPECT_GT(differ, 0u) << what;
  };
  changed("exchange", 1, [](Machine& m) { m.exchange_bytes_per_cycle = 64; });
  changed("sync", 1, [](Machine& m) { m.sync_cycles_internal = 5000; });
  changed("launch", 1, [](Machine& m) { m.launch_cycles = 50000; });
  changed("units", 1, [](Machine& m) { m.f16_in_f32_out_conv_units = 64; });
  changed("pipeline", 1, [](Machine& m) { m.conv_unit_pipeline_depth = 16; });
  changed("loads of rows", 1, [](Machine& m) { m.conv_unit_input_load_elems_f16 = 1; });
  changed("loads of weights", 1, [](Machine& m) { m.conv_unit_coeff_load_bytes_per_cycle = 1; });
  changed("vectors", 1, [](Machine& m) { m.float_vector_width = 16; });
  changed("links", 4, [](Machine& m) { m.link_bytes_per_second *= 100; });
  changed("tiles", 1, [](Machine& m) { m.tiles_per_ipu = 32; });
}

TEST(ProductPlan, ForAnotherHostIsAnother) {
  const Machine machine = machine_of(1, 64);
  Product p = product(1, 384, 1000, 768);
  p.objective = Objective::host_time;
  Host slow, large;
  slow.flops = 0.1;
  large.vertices = 60;
  const ProductPlan plan = plan_product(p, machine);
  EXPECT_GT(plan_product(p, machine, slow).cost(), plan.cost());
  EXPECT_GT(grid_of(p, plan_product(p, machine, large)).count(), grid_of(p, plan).count());
}

}  // namespace
}  // namespace pando::planning
