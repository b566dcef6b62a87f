// Spatial softmax against a plain reference in double.
#include <popnn/SpatialSoftMax.hpp>
#include <poputil/exceptions.hpp>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;
using Tensors = std::vector<Tensor>;
using Shape = std::vector<std::size_t>;

double coordinate(std::size_t i, std::size_t n) { return n == 1 ? 0 : 2.0 * static_cast<double>(i) / static_cast<double>(n - 1) - 1; }

TEST(SpatialSoftMax, Expectations) {
  for (const Type& type : {FLOAT, HALF})
    for (const Machine machine : kMachines)
      for (const bool disabled : {false, true})
        for (const Shape& shape : {Shape{3, 4, 5}, Shape{1, 1, 6}, Shape{5, 3, 1}}) {
          const Operand x = operand("x", type, shape, uniform(0, 2, 1));
          const auto out = run(machine, {x}, [&](Graph& g, Tensors& in, Sequence& prog) {
            const auto both = popnn::spatialSoftMax2D(g, prog, in[0], 0.5f, disabled);
            return Tensors{both.first, both.second};
          });
          const std::size_t h = shape[1], w = shape[2];
          std::vector<double> expected;
          for (std::size_t f = 0; f < shape[0]; ++f) {
            double sum = 0, row = 0, column = 0;
            for (std::size_t i = 0; i < h * w; ++i) {
              const double v = x[f * h * w + i], weight = disabled ? v : std::exp(v / 0.5);
              sum += weight;
              row += weight * coordinate(i / w, h);
              column += weight * coordinate(i % w, w);
            }
            expected.push_back(disabled ? row : row / sum);
            expected.push_back(disabled ? column : column / sum);
          }
          EXPECT_EQ(out[0].shape, (Shape{shape[0], 2}));
          expect_close(out[0], expected, type == FLOAT ? Tolerance{1e-5, 1e-5} : Tolerance{5e-3, 5e-3}, name_of(machine));
          expect_close(out[1], {0.5});
        }
}

TEST(SpatialSoftMax, Errors) {
  run(Machine::ipu1, {operand("x", FLOAT, {3, 4, 5}, uniform(0, 2, 1)), operand("i", INT, {3, 4, 5}, integers(0, 2, 1))},
      [](Graph& g, Tensors& in, Sequence& p) {
        EXPECT_THROW(popnn::spatialSoftMax2D(g, p, in[0][0], 1), poputil::poplibs_error);
        EXPECT_THROW(popnn::spatialSoftMax2D(g, p, in[1], 1), poputil::poplibs_error);
        EXPECT_THROW(popnn::spatialSoftMax2D(g, p, in[0], 0), poputil::poplibs_error);
        return Tensors{};
      });
}

}  // namespace
}  // namespace oplib
