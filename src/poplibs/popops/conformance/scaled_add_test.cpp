// A = scaleA * A + scaleB * B: every form, with numbers and with tensors as scales, over types, mappings and machines.
#include "oplib.h"

#include <popops/ScaledAdd.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using popops::ScaledAddSpecialisation;
using program::Sequence;

struct Types {
  Type a, b;
};
const std::vector<Types> kTypes = {{FLOAT, FLOAT}, {HALF, HALF}, {FLOAT, HALF}, {HALF, FLOAT}, {INT, INT}, {UNSIGNED_INT, UNSIGNED_INT},
                                   {FLOAT, INT},   {INT, FLOAT}, {HALF, SHORT}};
const std::vector<std::vector<std::size_t>> kShapes = {{}, {1}, {0}, {17}, {12, 31}, {2, 3, 5, 7}};

Operand make(const Type& type, const std::vector<std::size_t>& shape, unsigned seed, Mapping mapping) {
  const auto value = type == FLOAT || type == HALF ? uniform(-3, 3, seed)
                     : type == UNSIGNED_INT        ? integers(20, 60, seed)
                                                   : integers(-20, 20, seed);
  return operand("x", type, shape, value, mapping);
}

// a * scale_a + b * scale_b in A's type; B is converted to it first if it is of another kind.
std::vector<double> expected(const Types& types, const Values& a, const Values& b, double scale_a, double scale_b) {
  const bool mixed = is_floating(types.a) != is_floating(types.b);
  return map2(a, b,
              [&](double x, double y) { return rounded(types.a, scale_a * x + scale_b * (mixed && types.a == INT ? std::trunc(y) : y)); });
}

TEST(ScaledAdd, NumbersAsScales) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Types& types : kTypes)
        for (const auto& shape : kShapes) {
          const double sa = is_floating(types.a) ? 0.75 : 3, sb = is_floating(types.a) ? -1.5 : 2;
          const Operand b = make(types.b, shape, 9, mapping == Mapping::scattered ? Mapping::linear : mapping);
          std::vector<Operand> operands(5, make(types.a, shape, 5, mapping));
          operands.push_back(b);
          const auto out = run(machine, operands, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            const float fa = static_cast<float>(sa), fb = static_cast<float>(sb);
            popops::scaledAddTo(graph, in[0], in[5], fb, prog);
            popops::scaledSubtractFrom(graph, in[1], in[5], fb, prog);
            popops::scaledAddTo(graph, in[2], fa, in[5], fb, prog);
            popops::scaledSubtractFrom(graph, in[3], fa, in[5], fb, prog, {}, {{"optimizeForSpeed", "true"}});
            popops::scaledAddTo(graph, in[4], fa, in[5], fb, prog, ScaledAddSpecialisation::X_MINUS_AX_PLUS_BY, {},
                                {{"scaleFloatToHalfTolerance", "0.001"}});
            return std::vector<Tensor>(in.begin(), in.begin() + 5);
          });
          const std::string what = name_of(machine) + ' ' + name_of(mapping) + ' ' + types.a.toString() + ' ' + types.b.toString();
          const Operand& a = operands[0];
          const double a_scales[] = {1, 1, sa, sa, 1 - sa}, b_scales[] = {sb, -sb, sb, -sb, sb};
          for (std::size_t i = 0; i < 5; ++i)
            expect_close(out[i], expected(types, a, b, a_scales[i], b_scales[i]), what + " form " + std::to_string(i));
        }
}

TEST(ScaledAdd, TensorsAsScales) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Types& types : kTypes)
        for (const Type& scale_type : {FLOAT, HALF, INT}) {
          const bool whole = !is_floating(types.a) || scale_type == INT;
          const double sa = whole ? 3 : 0.75, sb = whole ? 2 : -1.5;
          if (types.a == UNSIGNED_INT && scale_type != INT) continue;
          const Type other_type = is_floating(scale_type) ? FLOAT : scale_type;  // scales of two types
          std::vector<Operand> operands(5, make(types.a, {11, 17}, 5, mapping));
          operands.push_back(make(types.b, {11, 17}, 9, Mapping::linear));
          operands.push_back(operand("scale_a", scale_type, {}, [&](std::size_t) { return sa; }));
          operands.push_back(operand("scale_b", other_type, {1, 1}, [&](std::size_t) { return sb; }));
          const auto out = run(machine, operands, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            popops::scaledAddTo(graph, in[0], in[5], in[7], prog);
            popops::scaledSubtractFrom(graph, in[1], in[5], in[7], prog);
            popops::scaledAddTo(graph, in[2], in[6], in[5], in[7], prog);
            popops::scaledSubtractFrom(graph, in[3], in[6], in[5], in[7], prog);
            popops::scaledAddTo(graph, in[4], in[6], in[5], in[7], prog, ScaledAddSpecialisation::X_MINUS_AX_PLUS_BY);
            return std::vector<Tensor>(in.begin(), in.begin() + 5);
          });
          const std::string what =
              name_of(machine) + ' ' + name_of(mapping) + ' ' + types.a.toString() + ' ' + types.b.toString() + ' ' + scale_type.toString();
          const double a_scales[] = {1, 1, sa, sa, 1 - sa}, b_scales[] = {sb, -sb, sb, -sb, sb};
          for (std::size_t i = 0; i < 5; ++i)
            expect_close(out[i], expected(types, operands[0], operands[5], a_scales[i], b_scales[i]), what + " form " + std::to_string(i));
        }
}

TEST(ScaledAdd, OperandsThatOverlap) {
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", FLOAT, {20, 20}, uniform(-3, 3, 1));
    const auto out = run(machine, {x, x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
      popops::scaledAddTo(graph, in[0], in[0], 0.5f, prog);
      popops::scaledAddTo(graph, in[1].slice(0, 19), in[1].slice(1, 20), 2.0f, prog);
      return in;
    });
    expect_close(out[0], map1(x, [](double v) { return 1.5 * v; }), name_of(machine));
    std::vector<double> shifted = x.values;
    for (std::size_t i = 0; i < 380; ++i) shifted[i] += 2 * x[i + 20];
    expect_close(out[1], shifted, name_of(machine));
  }
}

TEST(ScaledAdd, BroadcastAndViews) {
  for (const Machine machine : kMachines) {
    const Operand a = operand("a", HALF, {20, 30}, uniform(-3, 3, 1)), b = operand("b", HALF, {30}, uniform(-3, 3, 2));
    const auto out = run(machine, {a, b}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
      popops::scaledAddTo(graph, in[0].slice(2, 9).transpose(), in[1].expand({1}).broadcast(7, 1), 2.0f, prog);
      return std::vector<Tensor>{in[0]};
    });
    std::vector<double> e = a.values;
    for (std::size_t r = 2; r < 9; ++r)
      for (std::size_t c = 0; c < 30; ++c) e[r * 30 + c] += 2 * b[c];
    expect_close(out[0], e, name_of(machine));
  }
}

TEST(ScaledAdd, UsesTheTiles) {
  for (const Types& types : kTypes)
    EXPECT_GE(share_of_tiles_used(Machine::full,
                                  {operand("a", types.a, {100000}, integers(0, 9, 1)), operand("b", types.b, {100000}, integers(0, 9, 1))},
                                  [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                    popops::scaledAddTo(graph, in[0], in[1], 2.0f, prog);
                                    return in;
                                  }),
              0.9);
}

TEST(ScaledAdd, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const auto linear = [&](const Type& type, const std::vector<std::size_t>& shape) {
    return graph.addVariable(type, shape, VariableMappingMethod::LINEAR);
  };
  const Tensor a = linear(FLOAT, {3, 4}), b = linear(FLOAT, {4, 3}), two = linear(FLOAT, {2}), flags = linear(BOOL, {3, 4});
  const Tensor constant = graph.addConstant(FLOAT, {3, 4}, 1.0f);
  graph.setTileMapping(constant, 0);
  EXPECT_THROW(popops::scaledAddTo(graph, a, b, 1.0f, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::scaledAddTo(graph, a, a, two, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::scaledAddTo(graph, a, two, a, two[0], prog), poputil::poplibs_error);
  EXPECT_THROW(popops::scaledAddTo(graph, flags, flags, 1.0f, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::scaledSubtractFrom(graph, constant, a, 1.0f, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::scaledSubtractFrom(graph, two.slice(0, 1).broadcast(3, 0), linear(FLOAT, {3}), 1.0f, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::scaledAddTo(graph, a, a, 1.0f, prog, {}, {{"optimiseForSpeed", "true"}}), invalid_option);
  EXPECT_THROW(popops::scaledAddTo(graph, a, a, two[0], prog, {}, {{"optimizeForSpeed", "yes"}}), invalid_option);
}

}  // namespace
}  // namespace oplib
