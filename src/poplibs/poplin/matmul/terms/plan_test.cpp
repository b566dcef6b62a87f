#include "poplibs/poplin/matmul/terms/plan.h"

#include <gmock/gmock.h>

#include <sstream>

#include <poplar/IPUModel.hpp>
#include <poplar/Target.hpp>
#include <poputil/exceptions.hpp>

namespace poplin::internal::matmul {
namespace {

using poplar::Target;

Problem problem(std::size_t m, std::size_t k, std::size_t n) {
  Problem p;
  p.m = m, p.k = k, p.n = n;
  p.input = p.output = poplar::HALF;
  return p;
}

TEST(Plan, Prints) {
  const Target target = Target::createIPUTarget(1, 4, "ipu2");
  const Problem p = problem(16, 16, 16);
  std::ostringstream text;
  print(text, p, make_plan(p, target), target);
  EXPECT_THAT(text.str(), testing::MatchesRegex(
                              "matrix product: 1 x \\(16 x 16\\) \\* \\(16 x 16\\), half -> half, partial sums float\n"
                              "  grid: groups 1, m [0-9]+, n [0-9]+, k [0-9]+: [0-9]+ of 4 tiles, groups outermost\n"
                              "  block: groups 1, m [0-9]+, n [0-9]+, k [0-9]+ in steps of [0-9]+\n"
                              "  memory: [0-9]+ bytes a tile\n"
                              "  estimate: exchange [0-9]+, multiply [0-9]+, reduce [0-9]+, in all [0-9]+ cycles; [0-9]+ candidates\n"));
}

// What a target says reaches the planner.
TEST(Plan, IsOfTheTargetsMachine) {
  poplar::IPUModel model("ipu2");
  model.numIPUs = 2;
  model.tilesPerIPU = 64;
  model.exchangeBytesPerCycle = 16;
  model.fp16InFp32OutConvUnitsPerTile = 32;
  model.memoryBytesPerTile = 100000;
  const Target target = model.createDevice().getTarget();
  const pando::Machine m = plan::machine_of(target);
  EXPECT_EQ(m.tiles(), 128u);
  EXPECT_EQ(m.exchange_bytes_per_cycle, 16u);
  EXPECT_EQ(m.bytes_per_tile(), 100000u);
  EXPECT_EQ(pando::amp_unit(m, plan::ElementType::half, plan::ElementType::float_).out, 32u);
  EXPECT_EQ(pando::amp_unit(m, plan::ElementType::half, plan::ElementType::half).in, target.getWeightsPerConvUnit(poplar::HALF));
  EXPECT_EQ(m.link_bytes_per_second, pando::find_machine("ipu2")->link_bytes_per_second);
  const Problem p = problem(384, 1000, 768);
  EXPECT_NE(make_plan(p, target).cost(), make_plan(p, Target::createIPUTarget(2, 64, "ipu2")).cost());
}

TEST(Plan, NeedsTiles) {
  const Target none = Target::createIPUTarget(1, 4, "ipu2").createVirtualTarget(1, 0);
  EXPECT_THAT([&] { make_plan(problem(16, 16, 16), none); },
              testing::ThrowsMessage<poputil::poplibs_error>(testing::HasSubstr("without tiles")));
}

}  // namespace
}  // namespace poplin::internal::matmul
