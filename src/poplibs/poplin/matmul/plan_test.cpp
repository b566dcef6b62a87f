#include "poplibs/poplin/matmul/plan.h"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include <poplar/Target.hpp>

namespace poplin::internal::matmul {
namespace {

using poplar::Target;

Problem problem(std::size_t groups, std::size_t m, std::size_t k, std::size_t n, const poplar::Type& type = poplar::FLOAT) {
  Problem p;
  p.groups = groups, p.m = m, p.k = k, p.n = n;
  p.input = p.output = type;
  return p;
}

const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {problem(1, 1, 1, 1),           problem(1, 12, 10, 14),
                                           problem(1, 1, 40, 30),         problem(3, 5, 20, 7),
                                           problem(1, 33, 17, 9, poplar::HALF), problem(6, 2, 3, 4),
                                           problem(1, 40, 2, 40, poplar::HALF), problem(1, 2, 64, 2)};
  return all;
}

std::size_t parts(std::size_t size, std::size_t block) { return (size + block - 1) / block; }

// The dumb way: every block whose grid fits the tiles.
Plan best_of_all(const Problem& p, const Target& target) {
  const plan::CostModel model(target, p.options.objective);
  Plan best;
  bool first = true;
  for (std::size_t g = 1; g <= p.groups; ++g)
    for (std::size_t m = 1; m <= p.m; ++m)
      for (std::size_t n = 1; n <= p.n; ++n)
        for (std::size_t k = 1; k <= p.k; ++k) {
          if (parts(p.groups, g) * parts(p.m, m) * parts(p.n, n) * parts(p.k, k) > target.getNumTiles()) continue;
          const Plan plan = evaluate(p, target, model, {g, m, n, k});
          const bool better = plan.fits != best.fits ? plan.fits : plan.fits ? plan.cost() < best.cost() : plan.memory < best.memory;
          if (first || better) best = plan;
          first = false;
        }
  return best;
}

TEST(Plan, IsAsGoodAsTheBestOfAll) {
  for (const Target& target : {Target::createIPUTarget(1, 8, "ipu2"), Target::createIPUTarget(2, 6, "ipu2")})
    for (Problem p : problems())
      for (const auto objective : {plan::Objective::cycles, plan::Objective::host_time}) {
        p.options.objective = objective;
        const Plan chosen = make_plan(p, target), best = best_of_all(p, target);
        EXPECT_TRUE(chosen.fits);
        EXPECT_LE(chosen.cost(), best.cost() * 1.05) << p.groups << 'x' << p.m << 'x' << p.k << 'x' << p.n << " on " << target.getNumTiles()
                                                     << (objective == plan::Objective::cycles ? " cycles" : " host time");
      }
}

TEST(Plan, FitsTheMemoryAskedForInSerialSteps) {
  const Target target = Target::createIPUTarget(1, 4, "ipu2");
  Problem p = problem(1, 400, 4000, 400);
  p.options.memory_proportion = 0.9;
  const Plan wide = make_plan(p, target);
  p.options.memory_proportion = 0.3;
  const Plan narrow = make_plan(p, target);
  for (const Plan& plan : {wide, narrow}) EXPECT_TRUE(plan.fits);
  EXPECT_LT(narrow.k_step, narrow.block.k);
  EXPECT_LE(narrow.memory, 0.3 * target.getBytesPerTile());
  EXPECT_LE(wide.cost(), narrow.cost());
  p.options.memory_proportion = 0;
  EXPECT_FALSE(make_plan(p, target).fits);
}

TEST(Plan, SearchIsBounded) {
  const Target target = Target::createIPUTarget(4, "ipu2");
  for (const auto objective : {plan::Objective::cycles, plan::Objective::host_time}) {
    Problem p = problem(96, 4093, 4093, 4093);
    p.options.objective = objective;
    EXPECT_LE(make_plan(p, target).nodes, 1 + (objective == plan::Objective::cycles ? 2u * 12 * 48 * 48 : 12u * 48 * 48 * 48));
  }
}

TEST(Plan, EveryBlockHasATileOfItsOwn) {
  const Target target = Target::createIPUTarget(2, 50, "ipu2");
  for (const Problem& p : problems()) {
    const Plan plan = make_plan(p, target);
    const Grid grid = grid_of(p, plan);
    for (const Outer outer : {Outer::groups, Outer::m, Outer::n, Outer::k}) {
      std::set<unsigned> tiles;
      for (std::size_t g = 0; g < grid.groups; ++g)
        for (std::size_t m = 0; m < grid.m; ++m)
          for (std::size_t n = 0; n < grid.n; ++n)
            for (std::size_t k = 0; k < grid.k; ++k) tiles.insert(tile_of(grid, outer, target.getNumTiles(), g, m, n, k));
      EXPECT_EQ(tiles.size(), grid.count());
      EXPECT_LT(*tiles.rbegin(), target.getNumTiles());
    }
  }
}

TEST(Plan, OfALargeProductKeepsTheUnitsBusy) {
  const Target target = Target::createIPUTarget(1, "ipu2");
  for (const poplar::Type& type : {poplar::FLOAT, poplar::HALF}) {
    const Problem p = problem(1, 2048, 2048, 2048, type);
    const Plan plan = make_plan(p, target);
    const double peak = static_cast<double>(target.getVectorWidth(type) * target.getNumConvUnits(type, poplar::FLOAT)) * target.getNumTiles();
    const double ideal = 2048.0 * 2048 * 2048 / peak;
    EXPECT_LE(plan.multiply, 1.35 * ideal);
    EXPECT_LE(plan.cost(), 2.5 * ideal);
    EXPECT_GE(grid_of(p, plan).count(), target.getNumTiles() * 9 / 10);
  }
}

TEST(Plan, OfManyElementsUsesTheMachine) {
  const Target target = Target::createIPUTarget(1, "ipu2");
  for (const poplar::Type& type : {poplar::FLOAT, poplar::HALF})
    for (const Problem& p : {problem(1, 1, 512, 1024, type), problem(1, 1, 1024, 512, type), problem(1, 512, 1024, 1, type), problem(1, 8, 320, 320, type),
                             problem(1, 320, 320, 320, type), problem(1, 1, 320, 320, type), problem(1, 16, 784, 128, type), problem(16, 64, 100, 64, type)})
      EXPECT_GE(grid_of(p, make_plan(p, target)).count(), target.getNumTiles() * 9 / 10) << p.groups << 'x' << p.m << 'x' << p.k << 'x' << p.n << ' ' << type;
}

TEST(Plan, Prints) {
  const Target target = Target::createIPUTarget(1, 4, "ipu2");
  const Problem p = problem(1, 16, 16, 16);
  std::ostringstream text;
  print(text, p, make_plan(p, target), target);
  EXPECT_THAT(text.str(), testing::MatchesRegex("matrix product: 1 x \\(16 x 16\\) \\* \\(16 x 16\\), float -> float, partial sums float\n"
                                                "  grid: groups 1, m [0-9]+, n [0-9]+, k [0-9]+: [0-9]+ of 4 tiles, groups outermost\n"
                                                "  block: groups 1, m [0-9]+, n [0-9]+, k [0-9]+ in steps of [0-9]+\n"
                                                "  memory: [0-9]+ bytes a tile\n"
                                                "  estimate: exchange [0-9]+, multiply [0-9]+, reduce [0-9]+, in all [0-9]+ cycles; [0-9]+ candidates\n"));
}

}  // namespace
}  // namespace poplin::internal::matmul
