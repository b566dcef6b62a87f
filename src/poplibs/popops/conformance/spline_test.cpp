// B-spline bases, checked through what a B-spline is, and weighting.
#include "oplib.h"

#include <popops/SplineBasis.hpp>
#include <popops/SplineWeighting.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;

// The uniform B-spline of a degree with knots 0, 1, ..., degree + 1, by the recursion of Cox and de Boor.
double cardinal(unsigned degree, double x) {
  if (degree == 0) return x >= 0 && x < 1 ? 1 : 0;
  return (x * cardinal(degree - 1, x) + (degree + 1 - x) * cardinal(degree - 1, x - 1)) / degree;
}

std::size_t power(std::size_t base, std::size_t n) { return n == 0 ? 1 : base * power(base, n - 1); }

TEST(Spline, Basis) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF})
        for (const unsigned degree : {1u, 2u, 3u})
          for (const std::size_t dimensions : {1u, 2u, 3u}) {
            const std::size_t edges = 13, points = power(degree + 1, dimensions);
            const Operand pseudo = operand("pseudo", type, {edges, dimensions}, uniform(0, 0.99, 5), mapping),
                          sizes = operand("sizes", INT, {dimensions}, integers(4, 6, 2)),
                          open = operand("open", UNSIGNED_CHAR, {dimensions}, integers(0, 1, 3)),
                          basis = operand("basis", type, {edges, points}, integers(0, 0, 1), mapping),
                          index = operand("index", degree == 2 ? UNSIGNED_INT : INT, {edges, points}, integers(0, 0, 1), mapping);
            const auto out = run(machine, {pseudo, sizes, open, basis, index}, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
              popops::splineBasis(graph, in[0], in[1], in[2], in[3], in[4], degree, prog);
              return std::vector<Tensor>{in[3], in[4]};
            });
            std::vector<double> values, numbers;
            for (std::size_t e = 0; e < edges; ++e) {
              double sum = 0;
              for (std::size_t s = 0; s < points; ++s) {
                double value = 1, number = 0;
                for (std::size_t d = 0; d < dimensions; ++d) {
                  const std::size_t k = s / power(degree + 1, d) % (degree + 1);
                  const double v = pseudo[e * dimensions + d] * (sizes[d] - (open[d] != 0 ? degree : 0)), fraction = v - std::floor(v);
                  value *= cardinal(degree, fraction + static_cast<double>(degree - k));
                  double stride = 1;
                  for (std::size_t before = 0; before < d; ++before) stride *= sizes[before];
                  number += std::fmod(std::floor(v) + static_cast<double>(k), sizes[d]) * stride;
                }
                values.push_back(value);
                numbers.push_back(number);
                sum += out[0][e * points + s];
              }
              EXPECT_NEAR(sum, 1, type == HALF ? 0.02 : 1e-5);
            }
            const std::string what = name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString() + ' ' + std::to_string(degree);
            expect_close(out[0], values, type == HALF ? Tolerance{3e-3, 3e-3} : Tolerance{1e-5, 2e-6}, what);
            expect_close(out[1], numbers, Tolerance{}, what);
          }
}

TEST(Spline, Weighting) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF})
        for (const auto& [edges, outputs] : std::vector<std::pair<std::size_t, std::size_t>>{{11, 7}, {2, 150}, {0, 4}, {1, 1}}) {
          const std::size_t inputs = 5, kernels = 9, points = 4;
          const Operand x = operand("x", type, {edges, inputs}, uniform(-1, 1, 1), mapping),
                        w = operand("w", type, {kernels, inputs, outputs}, uniform(-1, 1, 2), mapping),
                        b = operand("b", type, {edges, points}, uniform(0, 1, 3), mapping),
                        index = operand("index", edges % 2 ? INT : UNSIGNED_INT, {edges, points}, integers(0, 8, 4), mapping);
          const auto out = run(machine, {x, w, b, index}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            return std::vector<Tensor>{popops::splineWeighting(graph, in[0], in[1], in[2], in[3], prog)};
          });
          std::vector<double> expected;
          for (std::size_t e = 0; e < edges; ++e)
            for (std::size_t o = 0; o < outputs; ++o) {
              double sum = 0;
              for (std::size_t s = 0; s < points; ++s)
                for (std::size_t i = 0; i < inputs; ++i)
                  sum += b[e * points + s] * x[e * inputs + i] *
                         w[(static_cast<std::size_t>(index[e * points + s]) * inputs + i) * outputs + o];
              expected.push_back(sum);
            }
          EXPECT_EQ(out[0].shape, (std::vector<std::size_t>{edges, outputs}));
          expect_close(out[0], expected, type == HALF ? Tolerance{2e-3, 2e-3} : Tolerance{1e-5, 2e-6},
                       name_of(machine) + ' ' + name_of(mapping));
        }
}

TEST(Spline, UsesTheTiles) {
  const Operand pseudo = operand("p", HALF, {20000, 2}, uniform(0, 1, 1)), sizes = operand("s", INT, {2}, integers(5, 5, 1)),
                open = operand("o", INT, {2}, integers(1, 1, 1)), basis = operand("b", HALF, {20000, 4}, uniform(0, 1, 1)),
                index = operand("i", INT, {20000, 4}, integers(0, 9, 1));
  EXPECT_GE(share_of_tiles_used(Machine::full, {pseudo, sizes, open, basis, index},
                                [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                  popops::splineBasis(graph, in[0], in[1], in[2], in[3], in[4], 1, prog);
                                  return in;
                                }),
            0.9);
  for (const std::size_t edges : {20000u, 50u})
    EXPECT_GE(share_of_tiles_used(Machine::full,
                                  {operand("x", HALF, {edges, 16}, uniform(0, 1, 1)), operand("w", HALF, {25, 16, 128}, uniform(0, 1, 1)),
                                   operand("b", HALF, {edges, 4}, uniform(0, 1, 1)), operand("i", INT, {edges, 4}, integers(0, 9, 1))},
                                  [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                    return std::vector<Tensor>{popops::splineWeighting(graph, in[0], in[1], in[2], in[3], prog)};
                                  }),
              0.9)
        << edges;
}

TEST(Spline, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const auto linear = [&](const Type& type, const std::vector<std::size_t>& shape) {
    return graph.addVariable(type, shape, VariableMappingMethod::LINEAR);
  };
  const Tensor pseudo = linear(FLOAT, {6, 2}), two = linear(INT, {2}), basis = linear(FLOAT, {6, 4}), index = linear(INT, {6, 4}),
               weight = linear(FLOAT, {9, 2, 3});
  const auto make = [&](const Tensor& p, const Tensor& s, const Tensor& o, const Tensor& b, const Tensor& i, unsigned degree) {
    popops::splineBasis(graph, p, s, o, b, i, degree, prog);
  };
  EXPECT_THROW(make(pseudo, two, two, basis, index, 0), poputil::poplibs_error);
  EXPECT_THROW(make(pseudo, two, two, basis, index, 4), poputil::poplibs_error);
  EXPECT_THROW(make(index, two, two, basis, index, 1), poputil::poplibs_error);
  EXPECT_THROW(make(pseudo.flatten(), two, two, basis, index, 1), poputil::poplibs_error);
  EXPECT_THROW(make(pseudo, linear(INT, {3}), two, basis, index, 1), poputil::poplibs_error);
  EXPECT_THROW(make(pseudo, two, linear(INT, {1}), basis, index, 1), poputil::poplibs_error);
  EXPECT_THROW(make(pseudo, two, two, basis, index, 2), poputil::poplibs_error);
  EXPECT_THROW(make(pseudo, two, two, linear(HALF, {6, 4}), index, 1), poputil::poplibs_error);
  EXPECT_THROW(make(pseudo, two, two, basis, basis, 1), poputil::poplibs_error);
  EXPECT_THROW(make(pseudo, two, two, linear(FLOAT, {1, 4}).broadcast(6, 0), index, 1), poputil::poplibs_error);
  const auto weigh = [&](const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& i) {
    popops::splineWeighting(graph, x, w, b, i, prog);
  };
  EXPECT_THROW(weigh(index, weight, basis, index), poputil::poplibs_error);
  EXPECT_THROW(weigh(pseudo.flatten(), weight, basis, index), poputil::poplibs_error);
  EXPECT_THROW(weigh(pseudo, linear(FLOAT, {9, 3, 3}), basis, index), poputil::poplibs_error);
  EXPECT_THROW(weigh(pseudo, linear(HALF, {9, 2, 3}), basis, index), poputil::poplibs_error);
  EXPECT_THROW(weigh(pseudo, weight, linear(FLOAT, {5, 4}), index), poputil::poplibs_error);
  EXPECT_THROW(weigh(pseudo, weight, basis, linear(INT, {6, 3})), poputil::poplibs_error);
  EXPECT_THROW(weigh(pseudo, weight, basis, basis), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
