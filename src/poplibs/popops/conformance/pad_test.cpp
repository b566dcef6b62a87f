// Padding: every kind against the definition by index, over shapes, amounts (also negative) and mappings.
#include "oplib.h"

#include <popops/Pad.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using popops::padding::MappingMethod;
using program::Sequence;
using Amounts = std::vector<std::ptrdiff_t>;

enum class Kind { constant, edge, reflect };

struct Case {
  std::vector<std::size_t> shape;
  Amounts lower, upper;
};
const std::vector<Case> kCases = {{{}, {}, {}},
                                  {{5}, {2}, {3}},
                                  {{5}, {-2}, {3}},
                                  {{4, 6}, {1, 0}, {2, 4}},
                                  {{4, 6}, {-1, 3}, {-1, -2}},
                                  {{3, 4, 5}, {2, 1, 0}, {0, 2, 4}},
                                  {{2, 1, 3, 2}, {1, 0, 2, 1}, {1, 0, -1, 0}},
                                  {{9, 3}, {0, 0}, {0, 0}}};

std::vector<std::size_t> shape_of(const Case& c) {
  std::vector<std::size_t> out;
  for (std::size_t d = 0; d < c.shape.size(); ++d)
    out.push_back(static_cast<std::size_t>(static_cast<std::ptrdiff_t>(c.shape[d]) + c.lower[d] + c.upper[d]));
  return out;
}

// Element by element: the index in each dimension of what is left of x, or that there is none.
std::vector<double> expected(const Case& c, const Values& x, Kind kind, double value) {
  const std::vector<std::size_t> shape = shape_of(c);
  std::size_t n = 1;
  for (const std::size_t d : shape) n *= d;
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t rest = i, at = 0, stride = 1;
    bool outside = false;
    for (std::size_t d = shape.size(); d-- > 0;) {
      const auto size = static_cast<std::ptrdiff_t>(c.shape[d]);
      const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, -c.lower[d]), last = size - 1 - std::max<std::ptrdiff_t>(0, -c.upper[d]);
      std::ptrdiff_t index = static_cast<std::ptrdiff_t>(rest % shape[d]) - c.lower[d];
      rest /= shape[d];
      if (index < first || index > last) {
        outside = true;
        if (kind == Kind::edge) index = index < first ? first : last;
        if (kind == Kind::reflect) index = index < first ? 2 * first - index : 2 * last - index;
      }
      at += static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, std::min(index, size - 1))) * stride;
      stride *= c.shape[d];
    }
    out.push_back(outside && kind == Kind::constant ? value : x[at]);
  }
  return out;
}

TEST(Pad, Constants) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF, INT, UNSIGNED_CHAR})
        for (const Case& c : kCases) {
          const Operand x = operand("x", type, c.shape, integers(0, 99, 3), mapping),
                        value = operand("value", type, {1}, integers(7, 7, 1));
          const auto out = run(machine, {x, value}, [&](Graph& graph, std::vector<Tensor>& in, Sequence&) {
            return std::vector<Tensor>{popops::pad(graph, in[0], c.lower, c.upper),
                                       popops::pad(graph, in[0], c.lower, c.upper, 2.0f, MappingMethod::EDGE),
                                       popops::pad(graph, in[0], c.lower, c.upper, 3), popops::pad(graph, in[0], c.lower, c.upper, in[1])};
          });
          const double values[] = {0, 2, 3, 7};
          for (std::size_t i = 0; i < 4; ++i) {
            EXPECT_EQ(out[i].shape, shape_of(c));
            expect_close(out[i], expected(c, x, Kind::constant, values[i]), Tolerance{}, name_of(machine) + ' ' + name_of(mapping));
          }
        }
}

TEST(Pad, OfTheTensor) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Case& c : kCases) {
        bool reflects = true;
        for (std::size_t d = 0; d < c.shape.size(); ++d)
          reflects = reflects && std::max(c.lower[d], c.upper[d]) < static_cast<std::ptrdiff_t>(c.shape[d]) +
                                                                        std::min<std::ptrdiff_t>(0, c.lower[d]) +
                                                                        std::min<std::ptrdiff_t>(0, c.upper[d]);
        const Operand x = operand("x", HALF, c.shape, uniform(-3, 3, 3), mapping);
        const auto out = run(machine, {x}, [&](Graph&, std::vector<Tensor>& in, Sequence&) {
          std::vector<Tensor> results = {popops::pad(in[0], c.lower, c.upper, popops::padding::Type::EDGE)};
          if (reflects) results.push_back(popops::pad(in[0], c.lower, c.upper, popops::padding::Type::REFLECT));
          return results;
        });
        expect_close(out[0], expected(c, x, Kind::edge, 0), Tolerance{}, "edge");
        if (reflects) expect_close(out[1], expected(c, x, Kind::reflect, 0), Tolerance{}, "reflect");
      }
}

TEST(Pad, OneDimension) {
  const Operand x = operand("x", FLOAT, {3, 5}, uniform(-3, 3, 3)), value = operand("value", FLOAT, {}, integers(7, 7, 1));
  const Case c{{3, 5}, {0, 2}, {0, -1}};
  const auto out = run(Machine::ipu1, {x, value}, [&](Graph& graph, std::vector<Tensor>& in, Sequence&) {
    return std::vector<Tensor>{popops::pad(graph, in[0], 2, -1, 1),
                               popops::pad(graph, in[0], 2, -1, 1, 2.0f),
                               popops::pad(graph, in[0], 2, -1, 1, 3),
                               popops::pad(graph, in[0], 2, -1, 1, in[1]),
                               popops::pad(in[0], 2, -1, 1, popops::padding::Type::EDGE),
                               popops::pad(in[0], 2, -1, 1, popops::padding::Type::REFLECT)};
  });
  const double values[] = {0, 2, 3, 7};
  for (std::size_t i = 0; i < 4; ++i) expect_close(out[i], expected(c, x, Kind::constant, values[i]), Tolerance{});
  expect_close(out[4], expected(c, x, Kind::edge, 0), Tolerance{});
  expect_close(out[5], expected(c, x, Kind::reflect, 0), Tolerance{});
}

TEST(Pad, MappingMethods) {
  Graph graph(device_of(Machine::ipu1));
  const Tensor t = graph.addVariable(FLOAT, {4, 6});
  for (unsigned r = 0; r < 4; ++r) graph.setTileMapping(t[r], r + 3);
  const auto tile_of = [&](const Tensor& element) {
    const auto mapping = graph.getTileMapping(element, nullptr);
    for (std::size_t tile = 0; tile < mapping.size(); ++tile)
      if (!mapping[tile].empty()) return static_cast<int>(tile);
    return -1;
  };
  const Tensor none = popops::pad(graph, t, {1, 1}, {0, 0}, 1.0f, MappingMethod::NONE), zero = popops::pad(graph, t, {1, 1}, {0, 0}, 1.0f),
               edge = popops::pad(graph, t, {1, 2}, {2, 0}, 1.0f, MappingMethod::EDGE);
  EXPECT_EQ(tile_of(none[0][3]), -1);
  EXPECT_EQ(tile_of(zero[0][3]), 0);
  EXPECT_EQ(tile_of(zero[3][0]), 0);
  EXPECT_EQ(tile_of(edge[0][4]), 3);
  EXPECT_EQ(tile_of(edge[2][1]), 4);
  EXPECT_EQ(tile_of(edge[6][5]), 6);
}

TEST(Pad, Errors) {
  Graph graph(device_of(Machine::ipu1));
  const Tensor t = graph.addVariable(FLOAT, {4, 6}), two = graph.addVariable(FLOAT, {2}), whole = graph.addVariable(INT, {});
  using popops::padding::Type;
  EXPECT_THROW(popops::pad(graph, t, {1}, {1, 1}), poputil::poplibs_error);
  EXPECT_THROW(popops::pad(graph, t, {1, 1}, {1, 1, 1}), poputil::poplibs_error);
  EXPECT_THROW(popops::pad(graph, t, {-3, 0}, {-2, 0}), poputil::poplibs_error);
  EXPECT_THROW(popops::pad(graph, t, 1, 1, 2), poputil::poplibs_error);
  EXPECT_THROW(popops::pad(graph, t, 1, 1, 0, two), poputil::poplibs_error);
  EXPECT_THROW(popops::pad(graph, t, 1, 1, 0, whole), poputil::poplibs_error);
  EXPECT_THROW(popops::pad(t, 4, 0, 0, Type::REFLECT), poputil::poplibs_error);
  EXPECT_THROW(popops::pad(t.slice(0, 0), 1, 0, 0, Type::EDGE), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
