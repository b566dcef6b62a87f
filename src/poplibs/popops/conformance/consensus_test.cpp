// hasNaN, hasNaNOrInf, allTrue: one odd element anywhere is found.
#include "oplib.h"

#include <limits>

#include <popops/AllTrue.hpp>
#include <popops/NaN.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;

TEST(NaN, OneOddElement) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF})
        for (const double odd : {0.0, nan, -nan, inf, -inf, 65504.0})
          for (const std::size_t at : {0u, 57u, 142u}) {
            const Operand x =
                operand("x", type, {11, 13}, [&](std::size_t i) { return i == at ? odd : 0.25 * static_cast<double>(i); }, mapping);
            const auto out = run(machine, {x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
              return std::vector<Tensor>{popops::hasNaN(graph, in[0], prog), popops::hasNaNOrInf(graph, in[0], prog),
                                         popops::hasNaN(graph, in[0].slice(0, 0), prog)};
            });
            EXPECT_EQ(out[0][0], std::isnan(odd)) << name_of(machine) << ' ' << odd << ' ' << at;
            EXPECT_EQ(out[1][0], !std::isfinite(odd)) << name_of(machine) << ' ' << odd << ' ' << at;
            EXPECT_EQ(out[2][0], 0);
            EXPECT_TRUE(out[0].shape.empty());
          }
}

TEST(AllTrue, OneOddElement) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {BOOL, INT, UNSIGNED_INT})
        for (const std::size_t at : {0u, 57u, 142u, 1000u}) {
          const Operand x = operand("x", type, {11, 13}, [&](std::size_t i) { return i == at ? 0 : type == INT ? -1 : 1; }, mapping);
          const auto out = run(machine, {x, x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            return std::vector<Tensor>{popops::allTrue(graph, in[0], prog), popops::allTrue(graph, in[1].slice(3, 3), prog),
                                       popops::allTrue(graph, in[1][0][0].reshape({}), prog)};
          });
          EXPECT_EQ(out[0][0], at == 1000) << name_of(machine) << ' ' << name_of(mapping) << ' ' << type << at;
          EXPECT_EQ(out[1][0], 1);
          EXPECT_EQ(out[2][0], at != 0);
        }
}

TEST(Consensus, UsesTheTiles) {
  EXPECT_GE(share_of_tiles_used(Machine::full, {operand("x", HALF, {100000}, integers(0, 1, 1))},
                                [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                  popops::hasNaN(graph, in[0], prog);
                                  return in;
                                }),
            0.9);
  EXPECT_GE(share_of_tiles_used(Machine::full, {operand("x", BOOL, {100000}, integers(0, 1, 1))},
                                [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                  popops::allTrue(graph, in[0], prog);
                                  return in;
                                }),
            0.9);
}

TEST(Consensus, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const Tensor whole = graph.addVariable(INT, {3}, VariableMappingMethod::LINEAR),
               real = graph.addVariable(FLOAT, {3}, VariableMappingMethod::LINEAR);
  EXPECT_THROW(popops::hasNaN(graph, whole, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::hasNaNOrInf(graph, whole, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::allTrue(graph, real, prog), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
