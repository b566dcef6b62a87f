// Reductions against plain loops in double: every operation, type, mapping and machine; shapes and axes.
#include <gtest/gtest.h>

#include <limits>

#include <poplar/TypeTraits.hpp>
#include <popops/Reduce.hpp>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using popops::Operation;

double identity(Operation op) {
  switch (op) {
    case Operation::MUL:
    case Operation::LOGICAL_AND: return 1;
    case Operation::MIN: return std::numeric_limits<double>::infinity();
    case Operation::MAX:
    case Operation::LOG_ADD: return -std::numeric_limits<double>::infinity();
    default: return 0;
  }
}

double combine(Operation op, double a, double b) {
  switch (op) {
    case Operation::ADD: return a + b;
    case Operation::SQUARE_ADD: return a + b * b;
    case Operation::MUL: return a * b;
    case Operation::MIN: return std::min(a, b);
    case Operation::MAX: return std::max(a, b);
    case Operation::LOGICAL_AND: return a != 0 && b != 0;
    case Operation::LOGICAL_OR: return a != 0 || b != 0;
    default:
      return a == -std::numeric_limits<double>::infinity()   ? b
             : b == -std::numeric_limits<double>::infinity() ? a
                                                             : std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
  }
}

// The reduction by the definition, element by element.
std::vector<double> reference(const Values& x, const std::vector<std::size_t>& dims, Operation op) {
  std::vector<bool> reduced(x.shape.size(), false);
  for (const std::size_t d : dims) reduced[d] = true;
  std::size_t outputs = 1;
  for (std::size_t d = 0; d < x.shape.size(); ++d)
    if (!reduced[d]) outputs *= x.shape[d];
  std::vector<double> out(outputs, identity(op));
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t rest = i, index = 0, scale = 1;
    for (std::size_t d = x.shape.size(); d-- > 0;) {
      const std::size_t at = rest % x.shape[d];
      rest /= x.shape[d];
      if (reduced[d]) continue;
      index += at * scale;
      scale *= x.shape[d];
    }
    out[index] = combine(op, out[index], x[i]);
  }
  return out;
}

std::vector<double> rounded_all(const Type& type, std::vector<double> values) {
  for (double& v : values) v = rounded(type, v);
  return values;
}

Operand input_for(Operation op, const Type& type, const std::vector<std::size_t>& shape, Mapping mapping) {
  if (type == BOOL)
    return operand("x", type, shape, [op](std::size_t i) { return op == Operation::LOGICAL_AND ? i % 7 != 3 : i % 7 == 3; }, mapping);
  if (!is_floating(type)) return operand("x", type, shape, op == Operation::MUL ? integers(1, 2, 3) : integers(0, 9, 3), mapping);
  return operand("x", type, shape, op == Operation::MUL ? uniform(0.9, 1.1, 3) : uniform(-2, 3, 3), mapping);
}

// The result's rounding, and that of sums that nearly cancel.
Tolerance tolerance_for(const Type& out, const Values& x, std::size_t outputs) {
  Tolerance t = tolerance_of(out);
  if (is_floating(out))
    t.absolute += t.relative * 2 * std::sqrt(static_cast<double>(x.size()) / static_cast<double>(std::max<std::size_t>(1, outputs)));
  return t;
}

void expect_reduction(Machine machine, const Operand& x, const std::vector<std::size_t>& dims, Operation op, const Type& out_type) {
  const auto out = run(machine, {x}, [&](Graph& g, std::vector<Tensor>& in, program::Sequence& prog) {
    return std::vector<Tensor>{popops::reduce(g, in[0], out_type, dims, op, prog)};
  });
  std::vector<std::size_t> shape;
  for (std::size_t d = 0; d < x.shape.size(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) shape.push_back(x.shape[d]);
  std::ostringstream what;
  what << op << ' ' << x.type << " to " << out_type << ' ' << ::testing::PrintToString(x.shape) << " over "
       << ::testing::PrintToString(dims) << ' ' << name_of(machine) << ' ' << name_of(x.mapping);
  EXPECT_EQ(out[0].shape, shape) << what.str();
  EXPECT_EQ(out[0].type, out_type) << what.str();
  expect_close(out[0], rounded_all(out_type, reference(x, dims, op)), tolerance_for(out_type, x, out[0].size()), what.str());
}

struct Case {
  std::vector<std::size_t> shape;
  std::vector<std::vector<std::size_t>> dims;
};

const std::vector<Case> kCases = {
    {{}, {{}}},
    {{1}, {{}, {0}}},
    {{7}, {{}, {0}}},
    {{1000}, {{0}}},
    {{1, 9, 1}, {{0}, {1}, {2}, {0, 1, 2}}},
    {{33, 5}, {{0}, {1}, {0, 1}, {}}},
    {{5, 33}, {{0}, {1}, {1, 0}}},
    {{3, 700}, {{0}, {1}}},
    {{700, 3}, {{0}, {1}}},
    {{13, 3, 17}, {{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}}},
    {{4, 3, 5, 6}, {{0, 2}, {1, 3}, {0, 3}, {0, 2, 3}, {3, 1, 0}}},
    {{2, 3, 2, 3, 2, 3}, {{0, 2, 4}, {1, 3, 5}, {1, 3}}},
};

TEST(Reduce, EveryShapeAxisMappingAndMachine) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Case& c : kCases)
        for (const auto& dims : c.dims)
          expect_reduction(machine, input_for(Operation::ADD, FLOAT, c.shape, mapping), dims, Operation::ADD, FLOAT);
}

TEST(Reduce, EveryOperationAndType) {
  const std::vector<std::pair<Type, Type>> reals = {{FLOAT, FLOAT}, {FLOAT, HALF}, {HALF, FLOAT}, {HALF, HALF}};
  const std::vector<std::pair<Type, Type>> integers = {
      {INT, INT}, {UNSIGNED_INT, UNSIGNED_INT}, {LONGLONG, LONGLONG}, {UNSIGNED_LONGLONG, UNSIGNED_LONGLONG}};
  for (const Machine machine : {Machine::cpu, Machine::ipu1})
    for (const Mapping mapping : {Mapping::linear, Mapping::scattered})
      for (const Operation op : {Operation::ADD, Operation::SQUARE_ADD, Operation::MUL, Operation::MIN, Operation::MAX,
                                 Operation::LOGICAL_AND, Operation::LOGICAL_OR, Operation::LOG_ADD}) {
        std::vector<std::pair<Type, Type>> types;
        if (op == Operation::LOGICAL_AND || op == Operation::LOGICAL_OR)
          types = {{BOOL, BOOL}};
        else
          types = reals;
        if (op != Operation::LOG_ADD && types[0].first != BOOL) types.insert(types.end(), integers.begin(), integers.end());
        for (const auto& [in, out] : types)
          for (const std::vector<std::size_t>& dims : {std::vector<std::size_t>{0}, {1}, {0, 2}})
            expect_reduction(machine, input_for(op, in, {11, 6, 10}, mapping), dims, op, out);
      }
}

}  // namespace
}  // namespace oplib
