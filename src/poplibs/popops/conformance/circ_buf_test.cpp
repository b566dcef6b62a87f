// A circular buffer beside a list on the host.
#include "oplib.h"

#include <popops/CircBuf.hpp>
#include <popops/ScaledAdd.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;

TEST(CircBuf, PreviousTensors) {
  for (const Machine machine : kMachines)
    for (const Type& type : {FLOAT, HALF, INT})
      for (const unsigned size : {1u, 2u, 5u})
        for (const auto& shape : std::vector<std::vector<std::size_t>>{{}, {7}, {3, 40}}) {
          const Operand x = operand("x", type, shape, integers(0, 30, 3)), step = operand("step", type, shape, integers(1, 9, 4));
          constexpr unsigned kRounds = 7;
          RunOptions options;
          options.repetitions = kRounds;
          const auto out = run(
              machine, {x, step},
              [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                popops::CircBuf buffer(graph, type, size, in[0].shape());
                EXPECT_EQ(buffer.size(), size);
                EXPECT_EQ(buffer.getIndex().shape(), std::vector<std::size_t>{1});
                popops::scaledAddTo(graph, in[0], in[1], 1.0f, prog);
                buffer.add(in[0], prog);
                std::vector<Tensor> results;
                for (unsigned i = 0; i < size; ++i) results.push_back(buffer.prev(i, prog));
                results.push_back(buffer.getIndex());
                return results;
              },
              options);
          for (unsigned i = 0; i < size; ++i) {
            EXPECT_EQ(out[i].shape, shape);
            expect_close(out[i], map2(x, step, [&](double v, double s) { return v + s * (kRounds - i); }), Tolerance{},
                         name_of(machine) + ' ' + std::to_string(size) + ' ' + std::to_string(i));
          }
          EXPECT_EQ(out[size][0], kRounds % size);
        }
}

TEST(CircBuf, NothingMoves) {
  Graph graph(device_of(Machine::ipu1));
  popops::CircBuf buffer(graph, FLOAT, 4, {100, 10});
  std::size_t n = 0, tiles = 0;
  for (const auto& regions : buffer.getTileMapping()) {
    tiles += !regions.empty();
    for (const Interval& i : regions) n += i.size();
  }
  EXPECT_EQ(n, 1000u);
  EXPECT_EQ(tiles, 16u);
}

TEST(CircBuf, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  EXPECT_THROW(popops::CircBuf(graph, FLOAT, 0, {3}), poputil::poplibs_error);
  popops::CircBuf buffer(graph, FLOAT, 2, {3});
  EXPECT_THROW(buffer.prev(2, prog), poputil::poplibs_error);
  EXPECT_THROW(buffer.add(graph.addVariable(FLOAT, {4}, VariableMappingMethod::LINEAR), prog), poputil::poplibs_error);
  EXPECT_THROW(buffer.add(graph.addVariable(HALF, {3}, VariableMappingMethod::LINEAR), prog), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
