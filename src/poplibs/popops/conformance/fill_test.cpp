// zero and fill: every type, tensors over many tiles, views, aliases; by program and by compute set.
#include "oplib.h"

#include <popops/Fill.hpp>
#include <popops/Zero.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Execute;
using program::Sequence;

const std::vector<Type> kTypes = {FLOAT,       HALF,          INT,   UNSIGNED_INT,   BOOL,     CHAR,
                                  SIGNED_CHAR, UNSIGNED_CHAR, SHORT, UNSIGNED_SHORT, LONGLONG, UNSIGNED_LONGLONG};
const std::vector<std::vector<std::size_t>> kShapes = {{}, {1}, {0}, {7}, {5, 13}, {3, 0, 2}, {2, 3, 4, 5}, {1000}};

std::string text_of(Machine machine, Mapping mapping, const Type& type) {
  return name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString();
}

TEST(Fill, EveryTypeShapeMapping) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : kTypes) {
        std::vector<Operand> operands;
        for (const auto& shape : kShapes) operands.push_back(operand("x", type, shape, integers(1, 1, 3), mapping));
        const auto filled = run(machine, operands, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
          for (std::size_t i = 0; i < in.size(); ++i)
            if (i % 2 == 0)
              popops::fill(graph, in[i], prog, 101.0f);
            else
              popops::zero(graph, in[i], prog);
          return in;
        });
        for (std::size_t i = 0; i < filled.size(); ++i)
          expect_close(filled[i], std::vector<double>(operands[i].size(), i % 2 == 0 ? rounded(type, 101) : 0), Tolerance{},
                       text_of(machine, mapping, type));
      }
}

// Only the part that is asked for, through views that are contiguous nowhere.
TEST(Fill, PartsOfAVariable) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings) {
      const Operand x = operand("x", HALF, {30, 20}, uniform(-1, 1, 2), mapping);
      RunOptions options;
      options.in_place = true;
      const auto out = run(
          machine, {x},
          [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            popops::fill(graph, in[0].slice(3, 17, 1).transpose().subSample(2, 0), prog, -2);
            return std::vector<Tensor>{};
          },
          options);
      std::vector<double> expected = x.values;
      for (std::size_t r = 0; r < 30; ++r)
        for (std::size_t c = 3; c < 17; c += 2) expected[r * 20 + c] = -2;
      expect_close(out[0], expected, Tolerance{}, text_of(machine, mapping, HALF));
    }
}

TEST(Fill, ElementsThatOccurTwice) {
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", INT, {6, 7}, integers(0, 9, 2));
    const auto out = run(machine, {x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
      popops::fill(graph, concat(in[0], in[0].broadcast(2, 1), 1).slice(2, 5), prog, 77u);
      return in;
    });
    std::vector<double> expected = x.values;
    for (std::size_t i = 14; i < 35; ++i) expected[i] = 77;
    expect_close(out[0], expected, Tolerance{}, name_of(machine));
  }
}

TEST(Fill, ByComputeSet) {
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", FLOAT, {100}, uniform(1, 2, 2));
    const auto out = run(machine, {x, x, x, x, x, x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
      const ComputeSet cs = graph.addComputeSet("cs");
      const unsigned last = graph.getTarget().getNumTiles() - 1;
      popops::fill(graph, in[0], {Interval(3, 10), Interval(20, 21)}, last, cs, 5);
      popops::fill(graph, in[1], last, cs, 1.5);
      popops::fill(graph, in[2], graph.getTileMapping(in[2]), cs, 2.5f);
      popops::zero(graph, in[3], {Interval(3, 10), Interval(20, 21)}, last, cs);
      popops::zero(graph, in[4], last, cs);
      popops::zero(graph, in[5], graph.getTileMapping(in[5]), cs);
      prog.add(Execute(cs));
      return in;
    });
    std::vector<double> five = x.values, none = x.values;
    for (std::size_t i = 3; i < 10; ++i) five[i] = 5, none[i] = 0;
    five[20] = 5, none[20] = 0;
    const std::vector<std::vector<double>> expected = {five, std::vector<double>(100, 1.5), std::vector<double>(100, 2.5),
                                                       none, std::vector<double>(100, 0),   std::vector<double>(100, 0)};
    for (std::size_t i = 0; i < expected.size(); ++i)
      expect_close(out[i], expected[i], Tolerance{}, name_of(machine) + ' ' + std::to_string(i));
  }
}

// Values of every host type; half rounds to the nearest.
TEST(Fill, Values) {
  const auto filled = [](const Type& type, auto value) {
    return run(Machine::ipu1, {operand("x", type, {3}, integers(0, 1, 3))}, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
      popops::fill(graph, in[0], prog, value);
      return in;
    })[0][2];
  };
  EXPECT_EQ(filled(HALF, 2049.0), 2048);
  EXPECT_EQ(filled(HALF, 1e6f), INFINITY);
  EXPECT_EQ(filled(HALF, 6e-8), 0x1p-24);
  EXPECT_EQ(filled(FLOAT, true), 1);
  EXPECT_EQ(filled(INT, -3L), -3);
  EXPECT_EQ(filled(UNSIGNED_INT, 0xffffffffu), 4294967295.0);
  EXPECT_EQ(filled(UNSIGNED_LONGLONG, 1ULL << 63), 0x1p63);
  EXPECT_EQ(filled(LONGLONG, -(1LL << 50)), -0x1p50);
  EXPECT_EQ(filled(BOOL, 17), 1);
  EXPECT_EQ(filled(BOOL, static_cast<unsigned short>(0)), 0);
  EXPECT_EQ(filled(CHAR, static_cast<char>(-5)), -5);
  EXPECT_EQ(filled(SHORT, static_cast<short>(-300)), -300);
  EXPECT_EQ(filled(UNSIGNED_CHAR, static_cast<signed char>(-1)), 255);
}

TEST(Fill, UsesTheTiles) {
  for (const Type& type : {FLOAT, HALF, BOOL, LONGLONG})
    EXPECT_GE(share_of_tiles_used(Machine::full, {operand("x", type, {100000}, integers(0, 1, 1))},
                                  [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                    popops::zero(graph, in[0], prog);
                                    return in;
                                  }),
              0.9)
        << type;
}

TEST(Fill, ConstantsAreNotWritten) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const Tensor one = graph.addConstant(FLOAT, {2}, 1.0f);
  graph.setTileMapping(one, 0);
  EXPECT_THROW(popops::fill(graph, one, prog, 2.0f), poputil::poplibs_error);
  EXPECT_THROW(popops::zero(graph, one, prog), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
