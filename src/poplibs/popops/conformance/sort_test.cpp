// sort, sortKeyValue and topK, against the standard library.
#include "oplib.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <popops/Sort.hpp>
#include <popops/TopK.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using popops::SortOrder;
using popops::TopKParams;
using program::Sequence;
using Dims = std::vector<std::size_t>;

// A NaN is greater than every number.
bool less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

// Calls f(indices of a line along `dim`) for each line.
void for_lines(const Dims& shape, std::size_t dim, const std::function<void(const std::vector<std::size_t>&)>& f) {
  std::size_t inner = 1, outer = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) (d < dim ? outer : inner) *= d == dim ? 1 : shape[d];
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i) {
      std::vector<std::size_t> line;
      for (std::size_t k = 0; k < shape[dim]; ++k) line.push_back((o * shape[dim] + k) * inner + i);
      f(line);
    }
}

struct Case {
  Dims shape;
  unsigned dim;
};
const std::vector<Case> kCases = {{{1}, 0},      {{2}, 0},       {{7}, 0},      {{300}, 0},  {{5, 6}, 0}, {{5, 6}, 1}, {{3, 4, 5}, 1},
                                  {{2, 900}, 1}, {{1500, 3}, 0}, {{40, 33}, 1}, {{5000}, 0}, {{0}, 0},    {{3, 0}, 1}, {{0, 3}, 1}};
const std::vector<Type> kKeys = {FLOAT, HALF, INT, UNSIGNED_INT, SHORT, UNSIGNED_SHORT};

std::function<double(std::size_t)> keys_of(const Type& type) {
  const std::int64_t low = type == UNSIGNED_INT || type == UNSIGNED_SHORT ? 0 : -500;
  const auto numbers = integers(low, 500, 3);
  if (!is_floating(type)) return numbers;
  return [numbers](std::size_t i) {
    return i % 97 == 11 ? std::nan("") : i % 89 == 5 ? -INFINITY : i % 83 == 7 ? INFINITY : numbers(i) / 4;
  };
}

TEST(Sort, KeysAndValues) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : kKeys) {
        if (mapping != Mapping::linear && type != FLOAT) continue;
        for (const Case& c : kCases) {
          const Operand k = operand("k", type, c.shape, keys_of(type), mapping);
          const Type value_type = type == INT ? UNSIGNED_CHAR : type == HALF ? HALF : UNSIGNED_INT;
          const Operand v = operand("v", value_type, c.shape, integers(0, 100, 9), mapping);
          const auto out = run(machine, {k, v}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
            std::vector<Tensor> results = {popops::sort(g, in[0], c.dim, prog), popops::sortKeyValue(g, in[0], in[1], c.dim, prog)};
            const Tensor keys = g.clone(in[0]);
            prog.add(program::Copy(in[0], keys));
            popops::sortInPlace(g, keys, c.dim, prog);
            popops::sortKeyValueInPlace(g, in[0], in[1], c.dim, prog);
            results.insert(results.end(), {keys, in[0], in[1]});
            return results;
          });
          std::vector<double> keys(k.size()), values(k.size());
          for_lines(c.shape, c.dim, [&](const std::vector<std::size_t>& line) {
            std::vector<std::size_t> order = line;
            std::sort(order.begin(), order.end(),
                      [&](std::size_t a, std::size_t b) { return less(k[a], k[b]) || (!less(k[b], k[a]) && v[a] < v[b]); });
            for (std::size_t i = 0; i < line.size(); ++i) keys[line[i]] = k[order[i]], values[line[i]] = v[order[i]];
          });
          const std::string what =
              name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString() + ' ' + std::to_string(&c - &kCases[0]);
          ASSERT_EQ(out[0].shape, c.shape);
          for (const std::size_t i : {0, 2, 3}) expect_close(out[i], keys, Tolerance{}, what + " keys " + std::to_string(i));
          for (const std::size_t i : {1, 4}) expect_close(out[i], values, Tolerance{}, what + " values " + std::to_string(i));
        }
      }
}

TEST(Sort, LongOnManyTiles) {
  for (const Machine machine : {Machine::cpu, Machine::full})
    for (const std::size_t n : {std::size_t{70001}, std::size_t{1} << 17}) {
      const Operand k = operand("k", FLOAT, {n}, uniform(-1, 1, n));
      const auto out = run(machine, {k}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        return std::vector<Tensor>{popops::sort(g, in[0], 0, prog)};
      });
      std::vector<double> expected = k.values;
      std::sort(expected.begin(), expected.end());
      expect_close(out[0], expected, Tolerance{}, name_of(machine));
    }
}

TEST(Sort, MinusZeroIsLess) {
  const Operand k = operand("k", FLOAT, {4}, [](std::size_t i) { return i % 2 == 0 ? 0.0 : -0.0; });
  const auto out = run(Machine::ipu1, {k}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
    return std::vector<Tensor>{popops::sort(g, in[0], 0, prog)};
  });
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(std::signbit(out[0][i]), i < 2);
}

TEST(TopK, KeysValuesAndPositions) {
  struct Shape {
    Dims shape;
    unsigned k;
  };
  const std::vector<Shape> shapes = {{{1}, 1},    {{9}, 4},         {{9}, 9}, {{6, 50}, 3}, {{2, 3, 40}, 40},
                                     {{3000}, 5}, {{2, 5000}, 900}, {{7}, 0}, {{0, 5}, 2},  {{100, 8}, 2}};
  for (const Machine machine : kMachines)
    for (const Type& type : kKeys)
      for (const Shape& c : shapes)
        for (const bool largest : {true, false})
          for (const SortOrder order : {SortOrder::NONE, SortOrder::ASCENDING, SortOrder::DESCENDING}) {
            if (type != FLOAT && order != SortOrder::NONE) continue;
            const Operand k = operand("k", type, c.shape, keys_of(type), order == SortOrder::NONE ? Mapping::linear : Mapping::scattered);
            const Operand v = operand("v", UNSIGNED_SHORT, c.shape, integers(0, 60000, 9));
            const auto out = run(machine, {k, v}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
              const TopKParams params(c.k, largest, order), stable(c.k, largest, order, true);
              const auto permutation = popops::topKWithPermutation(g, prog, in[0], params);
              const auto values = popops::topKKeyValue(g, prog, in[0], in[1], params),
                         stable_values = popops::topKKeyValue(g, prog, in[0], in[1], stable);
              return std::vector<Tensor>{popops::topK(g, prog, in[0], params),
                                         permutation.first,
                                         permutation.second,
                                         values.first,
                                         values.second,
                                         stable_values.first,
                                         stable_values.second};
            });
            Dims shape = c.shape;
            const std::size_t n = shape.back(), rows = n == 0 ? 0 : k.size() / n;
            shape.back() = c.k;
            std::vector<double> keys, positions, values, stable_values;
            for (std::size_t r = 0; r < rows; ++r) {
              const auto better = [&](std::size_t a, std::size_t b) {
                return largest ? less(k[r * n + b], k[r * n + a]) : less(k[r * n + a], k[r * n + b]);
              };
              std::vector<std::size_t> by_place(n), by_value(n);
              std::iota(by_place.begin(), by_place.end(), 0);
              by_value = by_place;
              std::sort(by_place.begin(), by_place.end(),
                        [&](std::size_t a, std::size_t b) { return better(a, b) || (!better(b, a) && a < b); });
              std::sort(by_value.begin(), by_value.end(),
                        [&](std::size_t a, std::size_t b) { return better(a, b) || (!better(b, a) && v[r * n + a] < v[r * n + b]); });
              const bool reverse = order != SortOrder::NONE && largest == (order == SortOrder::ASCENDING);
              for (std::size_t i = 0; i < c.k; ++i) {
                const std::size_t at = reverse ? c.k - 1 - i : i;
                keys.push_back(k[r * n + by_place[at]]);
                positions.push_back(static_cast<double>(by_place[at]));
                stable_values.push_back(v[r * n + by_place[at]]);
                values.push_back(v[r * n + by_value[at]]);
              }
            }
            const std::string what =
                name_of(machine) + ' ' + type.toString() + ' ' + std::to_string(&c - &shapes[0]) + (largest ? " largest" : " smallest");
            for (const Values& o : out) ASSERT_EQ(o.shape, shape) << what;
            for (const std::size_t i : {0, 1, 3, 5}) expect_close(out[i], keys, Tolerance{}, what + " keys " + std::to_string(i));
            expect_close(out[2], positions, what);
            expect_close(out[4], values, what);
            expect_close(out[6], stable_values, what);
          }
}

TEST(Sort, AllTilesWork) {
  for (const Type& type : {FLOAT, HALF, UNSIGNED_INT})
    for (const Dims& shape : {Dims{1, 100000}, Dims{100, 1000}, Dims{1000, 100}, Dims{10000, 10}}) {
      if (type != FLOAT && shape[0] != 1000) continue;
      const Operand k = operand("k", type, shape, integers(0, 9, 1));
      EXPECT_GE(share_of_tiles_used(
                    Machine::full, {k},
                    [](Graph& g, std::vector<Tensor>& in, Sequence& prog) { return std::vector<Tensor>{popops::sort(g, in[0], 1, prog)}; }),
                0.9)
          << type << ' ' << shape[0];
      EXPECT_GE(share_of_tiles_used(Machine::full, {k},
                                    [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
                                      return std::vector<Tensor>{popops::topK(g, prog, in[0], TopKParams(5, true, SortOrder::NONE))};
                                    }),
                0.9)
          << type << ' ' << shape[0];
    }
}

TEST(Sort, Errors) {
  Device device = device_of(Machine::ipu1);
  Graph g(device.getTarget());
  Sequence prog;
  const auto variable = [&](const Type& type, const Dims& shape) { return g.addVariable(type, shape, VariableMappingMethod::LINEAR, "v"); };
  const Tensor t = variable(FLOAT, {4, 5}), scalar = variable(FLOAT, {});
  using poputil::poplibs_error;
  EXPECT_THROW(popops::sort(g, t, 2, prog), poplibs_error);
  EXPECT_THROW(popops::sort(g, variable(BOOL, {4}), 0, prog), poplibs_error);
  EXPECT_THROW(popops::sortKeyValue(g, t, variable(FLOAT, {5, 4}), 0, prog), poplibs_error);
  EXPECT_THROW(popops::sortKeyValue(g, t, variable(LONGLONG, {4, 5}), 0, prog), poplibs_error);
  EXPECT_THROW(popops::sortInPlace(g, t[0].expand({0}).broadcast(2, 0), 0, prog), poplibs_error);
  EXPECT_THROW(popops::sortKeyValueInPlace(g, t, t[0].expand({0}).broadcast(4, 0), 0, prog), poplibs_error);
  EXPECT_THROW(popops::topK(g, prog, t, TopKParams(6, true, SortOrder::NONE)), poplibs_error);
  EXPECT_THROW(popops::topK(g, prog, scalar, TopKParams(1, true, SortOrder::NONE)), poplibs_error);
  EXPECT_THROW(popops::topKKeyValue(g, prog, t, variable(INT, {4}), TopKParams(1, true, SortOrder::NONE)), poplibs_error);
  EXPECT_THROW(popops::topKWithPermutation(g, prog, variable(CHAR, {4}), TopKParams(1, true, SortOrder::NONE)), poplibs_error);
  EXPECT_THROW(popops::createTopKInput(g, FLOAT, {3}, TopKParams(4, true, SortOrder::NONE)), poplibs_error);
}

// Even where there is nothing to sort.
TEST(Sort, TensorsOfAnotherGraph) {
  Device device = device_of(Machine::ipu1);
  Graph g(device.getTarget()), other(device.getTarget());
  Sequence prog;
  for (const Dims& shape : {Dims{4, 5}, Dims{0, 5}, Dims{4, 1}, Dims{4, 0}}) {
    const Tensor own = g.addVariable(FLOAT, shape, VariableMappingMethod::LINEAR),
                 foreign = other.addVariable(FLOAT, shape, VariableMappingMethod::LINEAR);
    const TopKParams none(0, true, SortOrder::NONE);
    using poplar::graph_connection_error;
    EXPECT_THROW(popops::topK(g, prog, foreign, none), graph_connection_error);
    EXPECT_THROW(popops::topKKeyValue(g, prog, foreign, own, none), graph_connection_error);
    EXPECT_THROW(popops::topKKeyValue(g, prog, own, foreign, none), graph_connection_error);
    EXPECT_THROW(popops::topKWithPermutation(g, prog, foreign, none), graph_connection_error);
    EXPECT_THROW(popops::sortKeyValue(g, own, foreign, 1, prog), graph_connection_error);
    EXPECT_THROW(popops::sortKeyValueInPlace(g, foreign, own, 1, prog), graph_connection_error);
  }
}

TEST(TopK, Prints) {
  std::ostringstream text;
  text << TopKParams(3, true, SortOrder::DESCENDING);
  EXPECT_EQ(text.str(), "{k=3, largest=true, sortOrder=DESCENDING, stableSort=false}");
}

}  // namespace
}  // namespace oplib
