// Tensors that differ in dimensions of size 1 alone: outputs of reductions, operands of what works in place; and operations on graphs that
// nobody gave codelets.
#include <gtest/gtest.h>

#include <poplar/Engine.hpp>
#include <poplar/IPUModel.hpp>
#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using popops::Operation;
using program::Sequence;

TEST(SingletonDims, ReduceWithOutput) {
  const Operand x = operand("x", FLOAT, {4, 6}, integers(-9, 9, 1));
  std::vector<double> sums(4, 1);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i / 6] += x[i];
  for (const Machine machine : kMachines)
    for (const std::vector<std::size_t>& shape : {std::vector<std::size_t>{4}, {4, 1}, {1, 4, 1}}) {
      const Operand y = operand("y", FLOAT, shape, [](std::size_t) { return 1; });
      const auto out = run(machine, {x, y}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        popops::reduceWithOutput(g, in[0], in[1], {1}, {Operation::ADD, true}, prog, {}, {{"accumType.inVertex", "float"}});
        return std::vector<Tensor>{in[1]};
      });
      expect_close(out[0], sums);
    }
  const Operand one = operand("one", FLOAT, {1}, [](std::size_t) { return 0; });
  const auto all = run(Machine::ipu1, {x, one}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    popops::reduceWithOutput(g, in[0], in[1], {0, 1}, Operation::ADD, prog);
    std::vector<Tensor> outs = {in[1].reshape({1, 1})};
    popops::reduceMany(g, {{in[0], {0, 1}, {Operation::ADD, true}, "again"}}, outs, prog);
    EXPECT_EQ(outs[0].shape(), (std::vector<std::size_t>{1, 1}));
    return std::vector<Tensor>{in[1]};
  });
  double total = -4;
  for (const double s : sums) total += s;
  expect_close(all[0], {2 * total});
}

TEST(SingletonDims, ReductionsRejectOtherShapesAndTypes) {
  const Operand x = operand("x", FLOAT, {4, 6}, integers(-9, 9, 1)), y = operand("y", FLOAT, {2, 2}, integers(0, 0, 1));
  run(Machine::ipu1, {x, y}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    EXPECT_THROW(popops::reduceWithOutput(g, in[0], in[1], {1}, Operation::ADD, prog), poputil::poplibs_error);
    EXPECT_THROW(popops::reduce(g, in[0], {1}, Operation::ADD, prog, {}, {{"accumType.inVertex", "int"}}), std::exception);
    return std::vector<Tensor>{in[0]};
  });
}

TEST(SingletonDims, InPlace) {
  const std::vector<std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> cases = {
      {{5}, {5, 1}}, {{5, 1}, {5}}, {{5}, {1, 5}}, {{}, {1}}, {{1}, {}}, {{1, 1}, {1}}, {{2, 1, 3}, {2, 3}}};
  for (const Machine machine : kMachines)
    for (const auto& [shape_a, shape_b] : cases) {
      const Operand a = operand("a", FLOAT, shape_a, integers(-9, 9, 1)), b = operand("b", FLOAT, shape_b, integers(-9, 9, 2));
      const auto out = run(machine, {a, b}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        popops::addInPlace(g, in[0], in[1], prog);
        popops::scaledAddTo(g, in[0], in[1], 2.0f, prog);
        popops::mapWithOutput(g, popops::expr::_1 * popops::expr::_2, {in[0], in[1]}, in[0], prog);
        prog.add(popops::cast(g, in[0], in[1], "cast"));
        return std::vector<Tensor>{in[0], in[1]};
      });
      std::vector<double> expected;
      for (std::size_t i = 0; i < a.size(); ++i) expected.push_back((a[i] + 3 * b[i]) * b[i]);
      expect_close(out[0], expected);
      expect_close(out[1], expected);
    }
}

TEST(WithoutCodelets, MapsBringTheirOwn) {
  IPUModel model;
  model.tilesPerIPU = 2;
  const Device device = model.createDevice();
  Graph graph(device);
  const Tensor a = graph.addVariable(FLOAT, {8}, "a");
  graph.setTileMapping(a, 1);
  graph.setInitialValue<float>(a, {1, 2, 3, 4, 5, 6, 7, 8});
  Sequence prog;
  const Tensor b = popops::map(graph, popops::expr::_1 * popops::expr::_1 + popops::expr::Const(1.0f), {a}, prog);
  graph.createHostRead("b", b);
  Engine engine(graph, prog);
  engine.load(device);
  engine.run();
  std::vector<float> values(8);
  engine.readTensor("b", values);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], static_cast<float>((i + 1) * (i + 1) + 1));
}

TEST(WithoutCodelets, OthersSayWhichAreMissing) {
  Graph graph(Target::createIPUTarget(1, 4, "ipu2"));
  const Tensor a = graph.addVariable(FLOAT, {8}, "a");
  graph.setTileMapping(a, 1);
  Sequence prog;
  try {
    popops::reduce(graph, a, {0}, Operation::ADD, prog);
    FAIL() << "nothing was thrown";
  } catch (const poplar::unknown_vertex_type& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr(
                              "among the 0 that were added to the graph: those of popops are missing; call popops::addCodelets(graph)"));
  }
}

}  // namespace
}  // namespace oplib
