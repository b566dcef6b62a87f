// "On 1,472 tiles every operation uses at least 90 % of the tiles from 10^5 elements on": every operation of popops by every type.
//
// Exempt by nature, as no vertex makes them: views (padding::Type pads, canUseFastTranspose ...), copies and constants (pad), variables
// (create...), loops and their one counter. What lies between 10^5 elements and a result of fewer is the work on the 10^5.
#include <popops/AllTrue.hpp>
#include <popops/Cast.hpp>
#include <popops/CircBuf.hpp>
#include <popops/DynamicSlice.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Encoding.hpp>
#include <popops/Fill.hpp>
#include <popops/Gather.hpp>
#include <popops/GatherStatistics.hpp>
#include <popops/NaN.hpp>
#include <popops/NormaliseImage.hpp>
#include <popops/Rearrange.hpp>
#include <popops/Reduce.hpp>
#include <popops/ScaledAdd.hpp>
#include <popops/Scatter.hpp>
#include <popops/SelectScalarFromRows.hpp>
#include <popops/SequenceSlice.hpp>
#include <popops/Sort.hpp>
#include <popops/SplineBasis.hpp>
#include <popops/SplineWeighting.hpp>
#include <popops/TopK.hpp>
#include <popops/UpdateScalarInRows.hpp>
#include <popops/Zero.hpp>

#include "oplib.h"

namespace oplib {
namespace {

using namespace poplar;
using namespace poplar::program;
using namespace popops::expr;
using popops::Operation;
using Types = std::vector<Type>;

Types joined(Types a, const Types& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
const Types kReal = {FLOAT, HALF}, kWords = {INT, UNSIGNED_INT}, kTruth = {BOOL};
const Types kIntegers = {INT, UNSIGNED_INT, CHAR, SIGNED_CHAR, UNSIGNED_CHAR, SHORT, UNSIGNED_SHORT, LONGLONG, UNSIGNED_LONGLONG};
const Types kNumbers = joined(kReal, kIntegers), kBits = joined(kIntegers, kTruth);

constexpr std::size_t kMany = 100000;

const Types& types_of(UnaryOpType op) {
  switch (op) {
    case UnaryOpType::LOGICAL_NOT: return kTruth;
    case UnaryOpType::BITWISE_NOT: return kBits;
    case UnaryOpType::POPCOUNT:
    case UnaryOpType::COUNT_LEADING_ZEROS: return kIntegers;
    case UnaryOpType::ABSOLUTE:
    case UnaryOpType::NEGATE:
    case UnaryOpType::SIGNUM:
    case UnaryOpType::RELU:
    case UnaryOpType::SQUARE:
    case UnaryOpType::SQRT: return kNumbers;
    default: return kReal;
  }
}
bool is_test(UnaryOpType op) { return op == UnaryOpType::IS_FINITE || op == UnaryOpType::IS_INF || op == UnaryOpType::IS_NAN; }

bool is_relation(BinaryOpType op) {
  return op == BinaryOpType::EQUAL || op == BinaryOpType::NOT_EQUAL || op == BinaryOpType::LESS_THAN ||
         op == BinaryOpType::LESS_THAN_EQUAL || op == BinaryOpType::GREATER_THAN || op == BinaryOpType::GREATER_THAN_EQUAL;
}
const Types& types_of(BinaryOpType op) {
  if (is_relation(op)) return kAllTypes;
  switch (op) {
    case BinaryOpType::LOGICAL_AND:
    case BinaryOpType::LOGICAL_OR: return kTruth;
    case BinaryOpType::BITWISE_AND:
    case BinaryOpType::BITWISE_OR:
    case BinaryOpType::BITWISE_XOR:
    case BinaryOpType::BITWISE_XNOR: return kBits;
    case BinaryOpType::SHIFT_LEFT:
    case BinaryOpType::SHIFT_RIGHT:
    case BinaryOpType::SHIFT_RIGHT_SIGN_EXTEND: return kIntegers;
    case BinaryOpType::ATAN2:
    case BinaryOpType::INV_STD_DEV_TO_VARIANCE:
    case BinaryOpType::VARIANCE_TO_INV_STD_DEV: return kReal;
    default: return kNumbers;
  }
}

// A row of the operation as a function. The forms into an output and, where the result has the operands' type, in place make the same
// vertices: they are looked at for one type.
void add_forms(std::vector<ShareRow>& rows, const std::string& name, const Types& types, bool truth, const Any& e, unsigned operands) {
  const auto operands_of = [operands](Graph& g, const Type& type) {
    std::vector<Tensor> out;
    while (out.size() < operands) out.push_back(linear(g, type, {kMany}));
    return out;
  };
  rows.push_back({name, types, [=](Graph& g, const Type& t, Sequence& p) { popops::map(g, e, operands_of(g, t), p); }});
  const Type& type = types.front();
  EXPECT_GE(share_of_tiles_used(Machine::full, {},
                                [&](Graph& g, std::vector<Tensor>&, Sequence& p) {
                                  popops::mapWithOutput(g, e, operands_of(g, type), linear(g, truth ? BOOL : type, {kMany}), p);
                                  return std::vector<Tensor>{};
                                }),
            0.9)
      << name;
  EXPECT_GE(truth ? 1
                  : share_of_tiles_used(Machine::full, {},
                                        [&](Graph& g, std::vector<Tensor>&, Sequence& p) {
                                          popops::mapInPlace(g, e, operands_of(g, type), p);
                                          return std::vector<Tensor>{};
                                        }),
            0.9)
      << name;
}

TEST(TileShares, ElementWiseFunctions) {
  std::vector<ShareRow> rows;
  for (unsigned i = 0; i <= static_cast<unsigned>(UnaryOpType::TRUNC); ++i) {
    const UnaryOpType op = static_cast<UnaryOpType>(i);
    add_forms(rows, "unary " + std::to_string(i), types_of(op), is_test(op), UnaryOp(op, _1), 1);
  }
  for (unsigned i = 0; i <= static_cast<unsigned>(BinaryOpType::VARIANCE_TO_INV_STD_DEV); ++i) {
    const BinaryOpType op = static_cast<BinaryOpType>(i);
    add_forms(rows, "binary " + std::to_string(i), types_of(op), is_relation(op), BinaryOp(op, _1, _2), 2);
  }
  add_forms(rows, "clamp", kNumbers, false, TernaryOp(TernaryOpType::CLAMP, _1, _2, _3), 3);
  rows.push_back({"select", kAllTypes, [](Graph& g, const Type& t, Sequence& p) {
                    popops::select(g, linear(g, t, {kMany}), linear(g, t, {kMany}), linear(g, BOOL, {kMany}), p);
                  }});
  rows.push_back({"selectInPlace", kAllTypes, [](Graph& g, const Type& t, Sequence& p) {
                    popops::selectInPlace(g, linear(g, t, {kMany}), linear(g, t, {kMany}), linear(g, BOOL, {kMany}), p);
                  }});
  rows.push_back({"map", kNumbers, [](Graph& g, const Type& t, Sequence& p) {
                    popops::map(g, (_1 + _2) * _2, {linear(g, t, {100, 1000}), linear(g, t, {1000})}, p);
                  }});
  expect_shares(rows);
}

TEST(TileShares, Reductions) {
  const Types summed = joined(joined(kReal, kWords), {LONGLONG, UNSIGNED_LONGLONG});
  const std::pair<Operation, Types> operations[] = {
      {Operation::ADD, summed},         {Operation::MUL, summed},        {Operation::MIN, summed},        {Operation::MAX, summed},
      {Operation::LOGICAL_AND, kTruth}, {Operation::LOGICAL_OR, kTruth}, {Operation::SQUARE_ADD, summed}, {Operation::LOG_ADD, kReal}};
  std::vector<ShareRow> rows;
  for (const auto& [op, types] : operations)
    for (const std::vector<std::size_t>& dims : std::vector<std::vector<std::size_t>>{{0}, {1}, {0, 1}})
      rows.push_back(
          {"reduce " + std::to_string(static_cast<int>(op)) + ' ' + std::to_string(dims[0]), types,
           [op = op, dims](Graph& g, const Type& t, Sequence& p) { popops::reduce(g, linear(g, t, {1000, 100}), dims, op, p); }});
  rows.push_back({"reduceMany", summed, [](Graph& g, const Type& t, Sequence& p) {
                    std::vector<Tensor> out;
                    popops::reduceMany(
                        g, {{linear(g, t, {1000, 100}), {0}, Operation::ADD}, {linear(g, t, {1000, 100}), {1}, Operation::MAX}}, out, p);
                  }});
  // Small reductions, each of elements on many tiles; with and without outputs.
  for (const bool given : {false, true})
    rows.push_back(
        {given ? "reduceMany of columns with outputs" : "reduceMany of columns", summed, [given](Graph& g, const Type& t, Sequence& p) {
           constexpr std::size_t kReductions = 2 * 1472, kElements = 38;
           const Tensor in = linear(g, t, {kElements, kReductions}), out = linear(g, t, {kReductions});
           std::vector<popops::SingleReduceOp> reductions;
           std::vector<Tensor> outs;
           for (std::size_t i = 0; i < kReductions; ++i) {
             reductions.push_back({in.slice(i, i + 1, 1), {0}, {Operation::ADD}});
             if (given) outs.push_back(out.slice(i, i + 1));
           }
           popops::reduceMany(g, reductions, outs, p);
         }});
  expect_shares(rows);
}

TEST(TileShares, CastsOfEveryPairOfTypes) {
  std::vector<ShareRow> rows;
  for (const Type& to : kAllTypes) {
    Types others;
    for (const Type& from : kAllTypes)
      if (from != to) others.push_back(from);
    rows.push_back({"cast to " + to.toString(), others, [to](Graph& g, const Type& from, Sequence& p) {
                      if (from == to) throw poputil::poplibs_error("a copy or the tensor itself");
                      popops::cast(g, linear(g, from, {kMany}), to, p);
                    }});
  }
  expect_shares(rows);
}

TEST(TileShares, MovementAndScaling) {
  using Row = ShareRow;
  const auto scaled = [](auto f) {
    return [f](Graph& g, const Type& t, Sequence& p) { f(g, linear(g, t, {kMany}), linear(g, t, {kMany}), linear(g, t, {}), p); };
  };
  const Types added = joined(kReal, kWords);
  const auto mixed = popops::ScaledAddSpecialisation::X_MINUS_AX_PLUS_BY;
  expect_shares({
      Row{"fill", kAllTypes, [](Graph& g, const Type& t, Sequence& p) { popops::fill(g, linear(g, t, {kMany}), p, 1); }},
      Row{"zero", kAllTypes, [](Graph& g, const Type& t, Sequence& p) { popops::zero(g, linear(g, t, {kMany}), p); }},
      Row{"iota", joined(kReal, kWords),
          [](Graph& g, const Type& t, Sequence& p) {
            if (t == INT)
              popops::iota(g, linear(g, t, {kMany}), 0, p);
            else
              popops::iota(g, linear(g, t, {kMany}), 0u, p);
          }},
      Row{"encodeOneHot", kAllTypes,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::encodeOneHot(g, linear(g, UNSIGNED_INT, {1000}), linear(g, t, {1000, 100}), p);
          }},
      Row{"encodeOneHot on, off", kAllTypes,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::encodeOneHot(g, linear(g, INT, {1000}), linear(g, t, {1000, 100}), p, linear(g, t, {}), linear(g, t, {}));
          }},
      Row{"hasNaN", kReal, [](Graph& g, const Type& t, Sequence& p) { popops::hasNaN(g, linear(g, t, {kMany}), p); }},
      Row{"hasNaNOrInf", kReal, [](Graph& g, const Type& t, Sequence& p) { popops::hasNaNOrInf(g, linear(g, t, {kMany}), p); }},
      Row{"allTrue", joined(kTruth, kWords), [](Graph& g, const Type& t, Sequence& p) { popops::allTrue(g, linear(g, t, {kMany}), p); }},
      Row{"scaledAddTo float", added,
          [](Graph& g, const Type& t, Sequence& p) { popops::scaledAddTo(g, linear(g, t, {kMany}), linear(g, t, {kMany}), 2.0f, p); }},
      Row{"scaledAddTo", added,
          scaled([](Graph& g, const Tensor& a, const Tensor& b, const Tensor& s, Sequence& p) { popops::scaledAddTo(g, a, b, s, p); })},
      Row{"scaledSubtractFrom float", added,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::scaledSubtractFrom(g, linear(g, t, {kMany}), linear(g, t, {kMany}), 2.0f, p);
          }},
      Row{"scaledSubtractFrom", added, scaled([](Graph& g, const Tensor& a, const Tensor& b, const Tensor& s, Sequence& p) {
            popops::scaledSubtractFrom(g, a, b, s, p);
          })},
      Row{"aX + bY float", added,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::scaledAddTo(g, linear(g, t, {kMany}), 3.0f, linear(g, t, {kMany}), 2.0f, p);
          }},
      Row{"aX + bY", added,
          scaled([](Graph& g, const Tensor& a, const Tensor& b, const Tensor& s, Sequence& p) { popops::scaledAddTo(g, a, s, b, s, p); })},
      Row{"aX - bY float", added,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::scaledSubtractFrom(g, linear(g, t, {kMany}), 3.0f, linear(g, t, {kMany}), 2.0f, p);
          }},
      Row{"aX - bY", added, scaled([](Graph& g, const Tensor& a, const Tensor& b, const Tensor& s, Sequence& p) {
            popops::scaledSubtractFrom(g, a, s, b, s, p);
          })},
      Row{"X - aX + bY float", added,
          [=](Graph& g, const Type& t, Sequence& p) {
            popops::scaledAddTo(g, linear(g, t, {kMany}), 3.0f, linear(g, t, {kMany}), 2.0f, p, mixed);
          }},
      Row{"X - aX + bY", added, scaled([=](Graph& g, const Tensor& a, const Tensor& b, const Tensor& s, Sequence& p) {
            popops::scaledAddTo(g, a, s, b, s, p, mixed);
          })},
      Row{"partialTranspose", kAllTypes,
          [](Graph& g, const Type& t, Sequence& p) {
            const ComputeSet cs = g.addComputeSet();
            popops::rearrange::partialTranspose(g, linear(g, t, {400, 250}), cs);
            p.add(Execute(cs));
          }},
      Row{"selectScalarFromRows", kReal,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::selectScalarFromRows(g, linear(g, t, {1000, 100}), linear(g, UNSIGNED_INT, {1000}), p);
          }},
      Row{"updateScalarInRows", kReal,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::updateScalarInRows(g, linear(g, t, {1000, 100}), linear(g, UNSIGNED_INT, {1000}), p);
          }},
      Row{"normaliseImage",
          {FLOAT, HALF, UNSIGNED_CHAR},
          [](Graph& g, const Type& t, Sequence& p) {
            const Type real = t == FLOAT ? FLOAT : HALF;
            popops::normaliseImage(g, p, linear(g, t, {200, 200, 3}), 1, linear(g, real, {3}), linear(g, real, {3}));
          }},
      Row{"splineBasis", kReal,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::splineBasis(g, linear(g, t, {25000, 2}), linear(g, INT, {2}), linear(g, INT, {2}), linear(g, t, {25000, 4}),
                                linear(g, INT, {25000, 4}), 1, p);
          }},
      Row{"splineWeighting", kReal,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::splineWeighting(g, linear(g, t, {1000, 16}), linear(g, t, {25, 16, 100}), linear(g, t, {1000, 4}),
                                    linear(g, INT, {1000, 4}), p);
          }},
  });
}

TEST(TileShares, SlicesAndOrder) {
  using Row = ShareRow;
  const popops::SlicePlan plan;
  const auto offsets = [](Graph& g, std::size_t n) { return linear(g, UNSIGNED_INT, {n, 1}); };
  const Types added = joined(kReal, kWords), keys = joined(added, {SHORT, UNSIGNED_SHORT});
  const popops::TopKParams top(10, true, popops::SortOrder::ASCENDING);
  expect_shares({
      Row{"dynamicSlice", kAllTypes,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::dynamicSlice(g, linear(g, t, {4, kMany}), linear(g, UNSIGNED_INT, {1}), {0}, {1}, p);
          }},
      Row{"dynamicUpdate", kAllTypes,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::dynamicUpdate(g, linear(g, t, {4, kMany}), linear(g, t, {1, kMany}), linear(g, UNSIGNED_INT, {1}), {0}, {1}, p);
          }},
      Row{"CircBuf::prev", kAllTypes, [](Graph& g, const Type& t, Sequence& p) { popops::CircBuf(g, t, 4, {kMany}).prev(1, p); }},
      Row{"CircBuf::add", kAllTypes,
          [](Graph& g, const Type& t, Sequence& p) { popops::CircBuf(g, t, 4, {kMany}).add(linear(g, t, {kMany}), p); }},
      Row{"multiSlice", kAllTypes,
          [&](Graph& g, const Type& t, Sequence& p) {
            popops::multiSlice(g, linear(g, t, {2000, 64}), offsets(g, 2000), {0}, {1}, p, plan, {});
          }},
      Row{"groupedMultiSlice", kAllTypes,
          [&](Graph& g, const Type& t, Sequence& p) {
            popops::groupedMultiSlice(g, linear(g, t, {2, 1000, 64}), linear(g, UNSIGNED_INT, {2, 1000, 1}), {0}, {1}, p, plan, {});
          }},
      Row{"multiUpdate", kAllTypes,
          [&](Graph& g, const Type& t, Sequence& p) {
            popops::multiUpdate(g, linear(g, t, {2000, 64}), linear(g, t, {2000, 1, 64}), offsets(g, 2000), {0}, {1}, p, plan, {});
          }},
      Row{"multiUpdateAdd", kNumbers,
          [&](Graph& g, const Type& t, Sequence& p) {
            popops::multiUpdateAdd(g, linear(g, t, {2000, 64}), linear(g, t, {2000, 1, 64}), offsets(g, 2000), linear(g, t, {}), {0}, {1},
                                   p, plan, {});
          }},
      Row{"multiUpdateMax", kNumbers,
          [&](Graph& g, const Type& t, Sequence& p) {
            popops::multiUpdateMax(g, linear(g, t, {2000, 64}), linear(g, t, {2000, 1, 64}), offsets(g, 2000), {0}, {1}, p, plan, {});
          }},
      Row{"multiUpdateMin", kNumbers,
          [&](Graph& g, const Type& t, Sequence& p) {
            popops::multiUpdateMin(g, linear(g, t, {2000, 64}), linear(g, t, {2000, 1, 64}), offsets(g, 2000), {0}, {1}, p, plan, {});
          }},
      Row{"multiUpdateMul", kNumbers,
          [&](Graph& g, const Type& t, Sequence& p) {
            popops::multiUpdateMul(g, linear(g, t, {2000, 64}), linear(g, t, {2000, 1, 64}), offsets(g, 2000), {0}, {1}, p, plan, {});
          }},
      Row{"gather", kAllTypes,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::gather(g, linear(g, t, {1000, 10}), linear(g, UNSIGNED_INT, {10000}), 0, p, {});
          }},
      Row{"scatter", kAllTypes,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::scatter(g, linear(g, t, {10000, 10}), linear(g, UNSIGNED_INT, {10000}), linear(g, t, {10000, 10}), 1, {1}, {0}, {0}, p);
          }},
      Row{"histogram", kReal,
          [](Graph& g, const Type& t, Sequence& p) { popops::histogram(g, linear(g, t, {kMany}), linear(g, t, {9}), false, p); }},
      Row{"sequenceSlice", kAllTypes,
          [](Graph& g, const Type& t, Sequence& p) {
            const Tensor one = linear(g, UNSIGNED_INT, {1});
            popops::sequenceSlice(g, linear(g, t, {10000, 10}), linear(g, t, {10000, 10}), one, one, one, true, p);
          }},
      Row{"sort", keys, [](Graph& g, const Type& t, Sequence& p) { popops::sort(g, linear(g, t, {1000, 100}), 1, p); }},
      Row{"sort of one row", keys, [](Graph& g, const Type& t, Sequence& p) { popops::sortInPlace(g, linear(g, t, {kMany}), 0, p); }},
      Row{"sortKeyValue", keys,
          [](Graph& g, const Type& t, Sequence& p) {
            popops::sortKeyValue(g, linear(g, t, {1000, 100}), linear(g, INT, {1000, 100}), 1, p);
          }},
      Row{"topK", keys, [&](Graph& g, const Type& t, Sequence& p) { popops::topK(g, p, linear(g, t, {100, 1000}), top); }},
      Row{"topKKeyValue", keys,
          [&](Graph& g, const Type& t, Sequence& p) {
            popops::topKKeyValue(g, p, linear(g, t, {100, 1000}), linear(g, t, {100, 1000}), top);
          }},
      Row{"topKWithPermutation", keys,
          [&](Graph& g, const Type& t, Sequence& p) { popops::topKWithPermutation(g, p, linear(g, t, {100, 1000}), top); }},
  });
}

}  // namespace
}  // namespace oplib
