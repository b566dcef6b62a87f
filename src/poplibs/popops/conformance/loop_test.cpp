// Loops whose variable is a tensor, and tensors for transfers with the host.
#include "oplib.h"

#include <poplar/Engine.hpp>
#include <popops/HostSliceTensor.hpp>
#include <popops/Loop.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/codelets.hpp>
#include <poputil/Loop.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Copy;
using program::Sequence;

TEST(Loop, CountedLoop) {
  struct Row {
    std::size_t begin, end, step;
  };
  for (const Machine machine : kMachines)
    for (const Row& row : std::vector<Row>{{0, 5, 1}, {3, 3, 1}, {3, 4, 1}, {2, 11, 3}, {2, 12, 3}, {0, 1, 100}}) {
      std::size_t sum = 0, rounds = 0, last = 0;
      for (std::size_t i = row.begin; i < row.end; i += row.step) sum += i, ++rounds, last = i;
      const auto out =
          run(machine, {operand("x", UNSIGNED_INT, {6}, integers(0, 0, 1))}, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            const Tensor one = graph.addConstant(UNSIGNED_INT, {1}, 1);
            graph.setTileMapping(one, 0);
            for (std::size_t at = 0; at < 6; at += 3) {
              const auto make_body = [&](const Tensor& i) {
                Sequence body;
                popops::scaledAddTo(graph, in[0].slice(at, at + 1), i, 1.0f, body);
                popops::scaledAddTo(graph, in[0].slice(at + 1, at + 2), one, 1.0f, body);
                body.add(Copy(i, in[0].slice(at + 2, at + 3)));
                return body;
              };
              if (at == 0)
                prog.add(popops::countedLoop(graph, row.begin, row.end, row.step, make_body));
              else if (row.begin < row.end)
                prog.add(poputil::countedLoop(graph, row.begin, row.end, row.step, "older", make_body));
            }
            return in;
          });
      const std::vector<double> three = {static_cast<double>(sum), static_cast<double>(rounds), static_cast<double>(last)};
      EXPECT_EQ(std::vector<double>(out[0].values.begin(), out[0].values.begin() + 3), three);
      EXPECT_EQ(std::vector<double>(out[0].values.begin() + 3, out[0].values.end()), three);
    }
}

TEST(Loop, CountedLoopTwiceAndNested) {
  RunOptions options;
  options.repetitions = 2;
  const auto out = run(
      Machine::ipu1, {operand("x", UNSIGNED_INT, {1}, integers(0, 0, 1))},
      [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
        prog.add(popops::countedLoop(graph, 4, [&](const Tensor& i) {
          return popops::countedLoop(graph, 3, [&](const Tensor& j) {
            Sequence body;
            popops::scaledAddTo(graph, in[0], i, 10.0f, body);
            popops::scaledAddTo(graph, in[0], j, 1.0f, body);
            return body;
          });
        }));
        return in;
      },
      options);
  EXPECT_EQ(out[0][0], 2 * (10 * 3 * (0 + 1 + 2 + 3) + 4 * (0 + 1 + 2)));
}

TEST(Loop, CountedForLoop) {
  struct Row {
    Type type;
    int begin;
    double limit;
    int step;
  };
  for (const Machine machine : kMachines)
    for (const Row& row : std::vector<Row>{{INT, 0, 5, 1},
                                           {INT, 5, 5, 1},
                                           {INT, 6, 5, 1},
                                           {INT, -3, 8, 2},
                                           {INT, 4, -4, -1},
                                           {INT, 4, -5, -3},
                                           {INT, -7, -5, -1},
                                           {UNSIGNED_INT, 0, 4, 1},
                                           {UNSIGNED_INT, 9, 2, -2},
                                           {UNSIGNED_INT, 3, 3, 5}}) {
      double sum = 0, rounds = 0, count = row.begin;
      for (; row.step > 0 ? count < row.limit : count > row.limit; count += row.step) sum += count, ++rounds;
      const std::vector<Operand> operands = {operand("x", row.type, {2}, integers(0, 0, 1)),
                                             operand("limit", row.type, {}, [&](std::size_t) { return row.limit; }),
                                             operand("count", row.type, {1}, integers(77, 77, 1), Mapping::one)};
      const auto out = run(machine, operands, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
        const Tensor one = graph.addConstant(row.type, {1}, 1);
        graph.setTileMapping(one, 0);
        Sequence body, other;
        popops::scaledAddTo(graph, in[0].slice(0, 1), in[2], 1.0f, body);
        popops::scaledAddTo(graph, in[0].slice(1, 2), one, 1.0f, other);
        prog.add(popops::countedForLoop(graph, in[2], row.begin, in[1], row.step, body));
        prog.add(popops::countedForLoop(graph, row.begin, in[1], row.step, other));
        return std::vector<Tensor>{in[0], in[2]};
      });
      EXPECT_EQ(out[0].values, (std::vector<double>{sum, rounds})) << name_of(machine) << row.type << row.begin << row.limit << row.step;
      EXPECT_EQ(out[1][0], count);
    }
}

TEST(Loop, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const auto body = [](const Tensor&) { return Sequence(); };
  const auto variable = [&](const Type& type, const std::vector<std::size_t>& shape) {
    return graph.addVariable(type, shape, VariableMappingMethod::LINEAR);
  };
  EXPECT_THROW(popops::countedLoop(graph, 0, 5, 0, body), poputil::poplibs_error);
  EXPECT_THROW(popops::countedLoop(graph, 6, 5, 1, body), poputil::poplibs_error);
  EXPECT_THROW(poputil::countedLoop(graph, 5, 5, 1, "loop", body), poputil::poplibs_error);
  EXPECT_THROW(poputil::countedLoop(graph, 0, "loop", body), poputil::poplibs_error);
  EXPECT_THROW(poputil::countedLoop(graph, 0, 5, 0, "loop", body), poputil::poplibs_error);
  EXPECT_THROW(popops::countedLoop(graph, 0, 1ULL << 33, 1ULL << 20, body), poputil::poplibs_error);
  EXPECT_THROW(popops::countedForLoop(graph, 0, variable(INT, {}), 0, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::countedForLoop(graph, 0, variable(FLOAT, {}), 1, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::countedForLoop(graph, variable(INT, {}), 0, variable(UNSIGNED_INT, {}), 1, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::addForLoopCounterVertex(graph, variable(INT, {2}), variable(INT, {}), 1, 0, prog, {}), poputil::poplibs_error);
}

TEST(HostSliceTensor, IsSpreadAndTransfers) {
  for (const Machine machine : {Machine::ipu1, Machine::ipu2}) {
    const Device device = device_of(machine);
    Graph graph(device.getTarget());
    popops::addCodelets(graph);
    const unsigned tiles = graph.getTarget().getNumTiles();
    const auto in = popops::createHostSliceableTensor(graph, FLOAT, {3, 500}, true),
               out = popops::createHostSliceableTensor(graph, FLOAT, {3, 500}, false, 2);
    EXPECT_EQ(in.tensor.shape(), (std::vector<std::size_t>{3, 500}));
    EXPECT_EQ(in.indices.shape(), (std::vector<std::size_t>{3}));
    EXPECT_EQ(in.indices.elementType(), UNSIGNED_INT);
    std::size_t most = 0;
    for (const auto& regions : graph.getTileMapping(in.tensor)) {
      std::size_t n = 0;
      for (const Interval& i : regions) n += i.size();
      most = std::max(most, n);
    }
    EXPECT_LE(most, 1500 / tiles + 16);
    RemoteBuffer buffer = graph.addRemoteBuffer("buffer", FLOAT, 500, 8);
    graph.setInitialValue(in.indices, std::vector<unsigned>{1, 7, 2});
    graph.setInitialValue(out.indices, std::vector<unsigned>{0, 3, 4});
    Sequence prog;
    prog.add(Copy(buffer, in.tensor, in.indices));
    prog.add(Copy(in.tensor, out.tensor));
    prog.add(Copy(out.tensor, buffer, out.indices));
    Engine engine(graph, prog);
    engine.load(device);
    std::vector<float> row(500);
    for (unsigned r = 0; r < 8; ++r) {
      for (std::size_t i = 0; i < 500; ++i) row[i] = static_cast<float>(1000 * r + i);
      engine.copyToRemoteBuffer(row.data(), "buffer", r);
    }
    engine.run();
    const unsigned from[] = {1, 7, 2}, to[] = {0, 3, 4};
    for (unsigned k = 0; k < 3; ++k) {
      engine.copyFromRemoteBuffer("buffer", row.data(), to[k]);
      for (std::size_t i = 0; i < 500; ++i) ASSERT_EQ(row[i], 1000 * from[k] + i);
    }
  }
}

TEST(HostSliceTensor, TransferableTensors) {
  Graph graph(device_of(Machine::ipu1));
  const auto first_tile = [&](const Tensor& t) {
    const auto mapping = graph.getTileMapping(t.flatten().slice(0, 1));
    for (std::size_t tile = 0; tile < mapping.size(); ++tile)
      if (!mapping[tile].empty()) return tile;
    return mapping.size();
  };
  EXPECT_EQ(first_tile(popops::createHostTransferableTensor(graph, HALF, {3, 5, 7}, true)), 0u);
  EXPECT_EQ(first_tile(popops::createHostTransferableTensor(graph, HALF, {3, 5, 7}, true, 5)), 5u);
  EXPECT_EQ(first_tile(popops::createHostTransferableTensor(graph, HALF, {3, 5, 7}, false)), 15u);
  EXPECT_EQ(first_tile(popops::createHostTransferableTensor(graph, HALF, {3, 5, 7}, false, 3)), 12u);
  EXPECT_EQ(popops::createHostTransferableTensor(graph, HALF, {}, true).rank(), 0u);
  EXPECT_THROW(popops::createHostSliceableTensor(graph, HALF, {5}, true), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
