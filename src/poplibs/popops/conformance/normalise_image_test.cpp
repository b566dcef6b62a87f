// Images of three channels to normalised ones of four.
#include "oplib.h"

#include <popops/NormaliseImage.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Copy;
using program::Sequence;

TEST(NormaliseImage, TypesShapesMappings) {
  struct Row {
    Type in, out;
  };
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Row& row : std::vector<Row>{{UNSIGNED_CHAR, HALF}, {UNSIGNED_CHAR, FLOAT}, {HALF, HALF}, {FLOAT, FLOAT}})
        for (const auto& shape : std::vector<std::vector<std::size_t>>{{3}, {2, 5, 7, 3}, {0, 3}, {50, 3}}) {
          const Operand x = operand("x", row.in, shape, integers(0, 255, 3), mapping),
                        offsets = operand("offsets", row.out, {3}, uniform(0.25, 0.5, 1)),
                        scales = operand("scales", row.out, {3}, uniform(1, 2, 2));
          const double scale = 1.0f / 256;
          const auto out = run(machine, {x, offsets, scales}, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            const Tensor image = popops::createNormaliseImageInput(graph, row.in, in[0].shape());
            if (image.numElements() != 0) prog.add(Copy(in[0], image));
            return std::vector<Tensor>{popops::normaliseImage(graph, prog, in[0], static_cast<float>(scale), in[1], in[2]),
                                       popops::normaliseImage(graph, prog, image, static_cast<float>(scale), in[1], in[2])};
          });
          std::vector<double> expected;
          for (std::size_t i = 0; i < x.size(); ++i) {
            expected.push_back((x[i] * scale - offsets[i % 3]) * scales[i % 3]);
            if (i % 3 == 2) expected.push_back(0);
          }
          for (const Values& v : out) {
            EXPECT_EQ(v.shape.back(), 4u);
            expect_close(v, expected, Tolerance{tolerance_of(row.out).relative, tolerance_of(row.out).relative},
                         name_of(machine) + ' ' + name_of(mapping));
          }
        }
}

TEST(NormaliseImage, UsesTheTiles) {
  for (const Mapping mapping : {Mapping::linear, Mapping::one})
    EXPECT_GE(share_of_tiles_used(Machine::full,
                                  {operand("x", UNSIGNED_CHAR, {224, 224, 3}, integers(0, 9, 1), mapping),
                                   operand("o", HALF, {3}, integers(0, 1, 1)), operand("s", HALF, {3}, integers(0, 1, 1))},
                                  [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                    return std::vector<Tensor>{popops::normaliseImage(graph, prog, in[0], 1, in[1], in[2])};
                                  }),
              0.9);
}

TEST(NormaliseImage, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const auto linear = [&](const Type& type, const std::vector<std::size_t>& shape) {
    return graph.addVariable(type, shape, VariableMappingMethod::LINEAR);
  };
  const Tensor image = linear(HALF, {5, 3}), three = linear(HALF, {3}), wide = linear(FLOAT, {3});
  EXPECT_THROW(popops::createNormaliseImageInput(graph, HALF, {5, 4}), poputil::poplibs_error);
  EXPECT_THROW(popops::createNormaliseImageInput(graph, INT, {5, 3}), poputil::poplibs_error);
  EXPECT_THROW(popops::normaliseImage(graph, prog, linear(HALF, {3, 5}), 1, three, three), poputil::poplibs_error);
  EXPECT_THROW(popops::normaliseImage(graph, prog, image, 1, three, wide), poputil::poplibs_error);
  EXPECT_THROW(popops::normaliseImage(graph, prog, image, 1, wide, wide), poputil::poplibs_error);
  EXPECT_THROW(popops::normaliseImage(graph, prog, image, 1, image, three), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
