// Transposes and regroupings: the same elements, in the layout that is asked for.
#include "oplib.h"

#include <popops/Rearrange.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using namespace popops::rearrange;
using poputil::GroupingInfo;
using program::Copy;
using program::Execute;
using program::Sequence;

const std::vector<Type> kTypes = {FLOAT, HALF, UNSIGNED_CHAR, BOOL, LONGLONG};

std::vector<double> transposed(const Values& x) {
  const std::size_t rows = x.shape[x.shape.size() - 2], columns = x.shape.back();
  std::vector<double> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t matrix = i / (rows * columns), r = i / columns % rows, c = i % columns;
    out[matrix * rows * columns + c * rows + r] = x[i];
  }
  return out;
}

TEST(Rearrange, PartialTranspose) {
  const std::vector<std::vector<std::size_t>> shapes = {{1, 1},  {8, 8},    {16, 24},    {17, 31},      {7, 3},
                                                        {1, 40}, {40, 1},   {5, 8, 16},  {2, 3, 9, 10}, {60, 4, 4},
                                                        {0, 3},  {3, 0, 2}, {300, 2, 5}, {100, 130}};
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : kTypes) {
        std::vector<Operand> operands;
        for (const auto& shape : shapes) operands.push_back(operand("x", type, shape, integers(0, 200, 3), mapping));
        const auto out = run(machine, operands, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
          const ComputeSet cs = graph.addComputeSet("transpose");
          std::vector<Tensor> results;
          for (const Tensor& t : in) results.push_back(partialTranspose(graph, t, cs));
          for (const Tensor& t : results) EXPECT_TRUE(machine != Machine::cpu || t.isContiguous());
          prog.add(Execute(cs));
          return results;
        });
        for (std::size_t i = 0; i < out.size(); ++i) {
          std::vector<std::size_t> shape = shapes[i];
          std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
          EXPECT_EQ(out[i].shape, shape);
          expect_close(out[i], transposed(operands[i]), Tolerance{},
                       name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString() + ' ' + std::to_string(i));
        }
      }
}

TEST(Rearrange, TransposeVertices) {
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", HALF, {10, 12, 8}, uniform(-3, 3, 3));
    const auto out = run(machine, {x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
      const unsigned tiles = graph.getTarget().getNumTiles();
      const Tensor result = graph.addVariable(HALF, {10, 8, 12}, VariableMappingMethod::LINEAR);
      Graph::TileToTensorMapping mapping(tiles);
      mapping[0].emplace_back(0, 3);
      mapping[0].emplace_back(7, 10);
      mapping[tiles - 1].emplace_back(3, 7);
      const ComputeSet cs = graph.addComputeSet("transpose");
      addTransposeVertices(graph, cs, HALF, 12, 8, mapping,
                           [&](std::size_t i) { return std::pair<const Tensor, const Tensor>(in[0][i].flatten(), result[i].flatten()); });
      prog.add(Execute(cs));
      return std::vector<Tensor>{result};
    });
    expect_close(out[0], transposed(x), Tolerance{}, name_of(machine));
  }
}

TEST(Rearrange, FastTransposes) {
  const Target target = device_of(Machine::ipu1).getTarget();
  EXPECT_TRUE(canUseFastTranspose(target, HALF, 4, 8, 1));
  EXPECT_TRUE(canUseFastTranspose(target, FLOAT, 2, 6, 1));
  EXPECT_FALSE(canUseFastTranspose(target, HALF, 4, 6, 1));
  EXPECT_FALSE(canUseFastTranspose(target, FLOAT, 3, 6, 1));
  EXPECT_FALSE(canUseFastTranspose(target, LONGLONG, 8, 8, 1));
  EXPECT_EQ(getMinimumRegroupGrainSize(HALF), 4u);
  EXPECT_EQ(getMinimumRegroupGrainSize(FLOAT), 2u);
}

TEST(Rearrange, RegroupTensor) {
  struct Row {
    GroupingInfo from, to;
  };
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : kTypes)
        for (const Row& row : std::vector<Row>{
                 {{2, 8}, {0, 4}}, {{2, 24}, {1, 3}}, {{2, 4}, {1, 12}}, {{1, 4}, {0, 16}}, {{2, 8}, {2, 12}}, {{2, 1}, {0, 1}}}) {
          const Operand x = operand("x", type, {16, 12, 24}, integers(0, 100, 4), mapping);
          const auto out = run(machine, {x}, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            const ComputeSet cs = graph.addComputeSet("cs"), other_cs = graph.addComputeSet("other");
            const Tensor one = regroupTensor(graph, in[0], prog, cs, row.from, row.to);
            std::vector<Copy> copies;
            const Tensor two = regroupTensor(graph, in[0], copies, other_cs, row.from, row.to);
            prog.add(Execute(cs));
            for (const Copy& copy : copies) prog.add(copy);
            prog.add(Execute(other_cs));
            // What was asked for: groups of that dimension are contiguous.
            const auto groupings = poputil::detectDimGroupings(graph, one);
            if (row.to.second > 1) {
              EXPECT_FALSE(groupings.empty());
              EXPECT_EQ(groupings[0].first, row.to.first);
              EXPECT_EQ(groupings[0].second % row.to.second, 0u);
            }
            return std::vector<Tensor>{one, two};
          });
          for (const Values& v : out) {
            EXPECT_EQ(v.shape, x.shape);
            expect_close(v, x.values, Tolerance{}, name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString());
          }
        }
}

TEST(Rearrange, IfBeneficial) {
  for (const Machine machine : kMachines)
    for (const Type& type : {HALF, FLOAT}) {
      const Operand x = operand("x", type, {32, 48}, uniform(-3, 3, 4)), y = operand("y", type, {48, 32}, uniform(-3, 3, 4));
      const auto out = run(machine, {x, y}, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
        const Tensor ref = in[1].transpose();  // contiguous in dimension 0
        const auto innermost = [&](const Tensor& t) { return poputil::detectDimGroupings(graph, t).at(0).first; };
        const Tensor a = regroupIfBeneficial(graph, in[0], ref, prog);
        EXPECT_EQ(innermost(a), 0u);
        EXPECT_EQ(regroupIfBeneficial(graph, in[0], in[0], prog), in[0]);
        const Tensor b = regroupIfBeneficial(graph, ref, 16, prog);
        EXPECT_EQ(innermost(b), 1u);
        EXPECT_EQ(regroupIfBeneficial(graph, in[0], 16, prog), in[0]);
        EXPECT_EQ(regroupIfBeneficial(graph, in[0].slice(0, 3), ref.slice(0, 3), prog), in[0].slice(0, 3));  // groups of 3 are too small
        const Tensor c = regroupIfPossible(graph, in[0], prog, {0, 8});
        EXPECT_EQ(innermost(c), 0u);
        EXPECT_EQ(regroupIfPossible(graph, in[0], prog, {0, 5}), in[0]);
        EXPECT_EQ(regroupIfPossible(graph, in[0], prog, {1, 8}), in[0]);
        std::vector<Copy> copies;
        const ComputeSet cs = graph.addComputeSet("cs");
        const Tensor d = regroupIfBeneficial(graph, in[0], ref, copies, cs);
        EXPECT_EQ(copies.size(), 1u);
        for (const Copy& copy : copies) prog.add(copy);
        prog.add(Execute(cs));
        return std::vector<Tensor>{a, c, d, b.transpose()};
      });
      for (std::size_t i = 0; i < 3; ++i) expect_close(out[i], x.values, Tolerance{}, std::to_string(i));
      expect_close(out[3], y.values, Tolerance{}, "by size");
    }
}

TEST(Rearrange, UsesTheTiles) {
  for (const auto& shape : std::vector<std::vector<std::size_t>>{{400, 250}, {3000, 8, 8}, {4, 200, 200}, {10, 20000}, {20000, 10}})
    for (const Mapping mapping : {Mapping::linear, Mapping::one})
      EXPECT_GE(share_of_tiles_used(Machine::full, {operand("x", HALF, shape, integers(0, 1, 1), mapping)},
                                    [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                      const ComputeSet cs = graph.addComputeSet("cs");
                                      const Tensor out = partialTranspose(graph, in[0], cs);
                                      prog.add(Execute(cs));
                                      return std::vector<Tensor>{out};
                                    }),
                0.9)
          << shape[0] << ' ' << name_of(mapping);
}

TEST(Rearrange, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const ComputeSet cs = graph.addComputeSet("cs");
  const Tensor t = graph.addVariable(HALF, {8, 12}, VariableMappingMethod::LINEAR),
               one = graph.addVariable(HALF, {8}, VariableMappingMethod::LINEAR);
  EXPECT_THROW(partialTranspose(graph, one, cs), poputil::poplibs_error);
  EXPECT_THROW(regroupTensor(graph, t, prog, cs, GroupingInfo(1, 4), GroupingInfo(2, 4)), poputil::poplibs_error);
  EXPECT_THROW(regroupTensor(graph, t, prog, cs, GroupingInfo(1, 5), GroupingInfo(0, 4)), poputil::poplibs_error);
  EXPECT_THROW(regroupTensor(graph, t, prog, cs, GroupingInfo(1, 4), GroupingInfo(0, 0)), poputil::poplibs_error);
  EXPECT_THROW(regroupIfBeneficial(graph, t, one, prog), poputil::poplibs_error);
  Graph::TileToTensorMapping mapping(1);
  mapping[0].emplace_back(0, 1);
  const auto add = [&](const Tensor& in, const Tensor& out) {
    addTransposeVertices(graph, cs, HALF, 8, 12, mapping, [&](std::size_t) { return std::pair<const Tensor, const Tensor>(in, out); });
  };
  EXPECT_THROW(add(one, t), poputil::poplibs_error);
  EXPECT_THROW(add(t.reinterpret(SHORT), t), poputil::poplibs_error);
  EXPECT_THROW(add(t, one.expand({1}).broadcast(12, 1)), poputil::poplibs_error);
  mapping[0].emplace_back(3, 1);
  EXPECT_THROW(add(t, t), poputil::poplibs_error);
}

// Even where there is nothing to do.
TEST(Rearrange, ThingsOfAnotherGraph) {
  Graph graph(device_of(Machine::ipu1)), other(device_of(Machine::ipu1));
  Sequence prog;
  std::vector<Copy> copies;
  const ComputeSet cs = graph.addComputeSet("cs"), foreign_set = other.addComputeSet("cs");
  const Tensor own = graph.addVariable(HALF, {8, 12}, VariableMappingMethod::LINEAR),
               foreign = other.addVariable(HALF, {8, 12}, VariableMappingMethod::LINEAR);
  using poplar::graph_connection_error;
  EXPECT_THROW(addTransposeVertices(graph, foreign_set, HALF, 8, 12, {}, nullptr), graph_connection_error);
  EXPECT_THROW(addTransposeVertices(graph, foreign_set, HALF, 0, 12, {}, nullptr), graph_connection_error);
  EXPECT_THROW(regroupIfPossible(graph, foreign, prog, GroupingInfo(1, 4)), graph_connection_error);
  EXPECT_THROW(regroupIfBeneficial(graph, foreign, own, prog), graph_connection_error);
  EXPECT_THROW(regroupIfBeneficial(graph, own, foreign, prog), graph_connection_error);
  EXPECT_THROW(regroupIfBeneficial(graph, own, foreign, copies, cs), graph_connection_error);
  EXPECT_THROW(regroupIfBeneficial(graph, own, own, copies, foreign_set), graph_connection_error);
  EXPECT_THROW(regroupIfBeneficial(graph, foreign, std::size_t{0}, prog), graph_connection_error);
}

}  // namespace
}  // namespace oplib
