// linspace, meshgrid2d, and the products of a fully connected layer.
#include "oplib.h"

#include <poplin/FullyConnected.hpp>
#include <poplin/MeshGrid.hpp>
#include <poputil/exceptions.hpp>

namespace {

using namespace oplib;
using namespace poplar;
using program::Sequence;

const Operand kNothing = operand("nothing", FLOAT, {1}, [](std::size_t) { return 0.0; });

TEST(MeshGrid, LinspaceHoldsBothEnds) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF})
      for (const std::size_t count : {0u, 1u, 2u, 5u, 1000u}) {
        const auto out = run(machine, {kNothing}, [&](Graph& g, std::vector<Tensor>& in, Sequence&) {
          return std::vector<Tensor>{poplin::linspace(g, type, -1, 3, count), in[0]};
        });
        std::vector<double> expected;
        for (std::size_t i = 0; i < count; ++i)
          expected.push_back(count == 1 ? -1 : -1 + 4.0 * static_cast<double>(i) / static_cast<double>(count - 1));
        expect_close(out[0], expected, Tolerance{type == HALF ? 1e-3 : 1e-6, 1e-3}, name_of(machine));
      }
}

TEST(MeshGrid, GivesTheCoordinatesOfAGrid) {
  const Operand x = operand("x", FLOAT, {5}, uniform(-1, 1, 1)), y = operand("y", FLOAT, {3}, uniform(-1, 1, 2));
  for (const Machine machine : kMachines) {
    const auto out = run(machine, {x, y}, [](Graph& g, std::vector<Tensor>& in, Sequence&) { return poplin::meshgrid2d(g, in[0], in[1]); });
    ASSERT_EQ(out.size(), 2u);
    for (const Values& v : out) EXPECT_EQ(v.shape, (std::vector<std::size_t>{3, 5}));
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(out[0][j * 5 + i], x[i]);
        EXPECT_EQ(out[1][j * 5 + i], y[j]);
      }
  }
}

TEST(MeshGrid, SaysWhatIsWrong) {
  Graph g(device_of(Machine::cpu).getTarget());
  EXPECT_THROW(poplin::linspace(g, INT, 0, 1, 2), poputil::poplibs_error);
  const Tensor line = g.addVariable(FLOAT, {3}, "line"), square = g.addVariable(FLOAT, {3, 3}, "square");
  EXPECT_THROW(poplin::meshgrid2d(g, line, square), poputil::poplibs_error);
  EXPECT_THROW(poplin::meshgrid2d(g, square, line), poputil::poplibs_error);
}

TEST(FullyConnected, NamesTheProductsOfALayer) {
  const poplin::fc::FullyConnectedParams layer{2, 8, 16, 4};
  const auto inference = poplin::fc::getMatMulPrePlanParameters(layer, {{"partialsType", "half"}}, HALF, true);
  ASSERT_EQ(inference.size(), 1u);
  EXPECT_EQ(inference[0].first.aShape, (std::vector<std::size_t>{2, 8, 16}));
  EXPECT_EQ(inference[0].first.bShape, (std::vector<std::size_t>{2, 16, 4}));
  EXPECT_EQ(inference[0].second, (OptionFlags{{"partialsType", "half"}, {"fullyConnectedPass", "INFERENCE_FWD"}}));
  const auto training = poplin::fc::getMatMulPrePlanParameters(layer, {}, FLOAT, false);
  ASSERT_EQ(training.size(), 3u);
  EXPECT_EQ(training[1].first.bShape, (std::vector<std::size_t>{2, 4, 16}));
  EXPECT_EQ(training[2].first.aShape, (std::vector<std::size_t>{2, 16, 8}));
  const Target target = device_of(Machine::ipu1).getTarget();
  poplin::matmul::PlanningCache cache;
  std::set<poplin::MatMulPlanParams> products;
  for (const auto& [params, options] : training) products.emplace(&target, params, &options);
  EXPECT_NO_THROW(poplin::preplanMatMuls(products, cache));
}

}  // namespace
