// One-hot encodings and counting up.
#include "oplib.h"

#include <popops/Encoding.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;

TEST(Iota, CountsUp) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {INT, UNSIGNED_INT, FLOAT, HALF})
        for (const std::size_t n : {0u, 1u, 7u, 1000u}) {
          const Operand x = operand("x", type, {n}, integers(0, 9, 1), mapping);
          const auto out = run(machine, {x, x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            popops::iota(graph, in[0], 5u, prog);
            popops::iota(graph, in[1].reverse(0), in[1].elementType() == UNSIGNED_INT ? 3 : -3, prog);
            return std::vector<Tensor>{in[0], in[1].reverse(0)};
          });
          for (std::size_t i = 0; i < n; ++i) {
            EXPECT_EQ(out[0][i], 5.0 + static_cast<double>(i));
            EXPECT_EQ(out[1][i], (type == UNSIGNED_INT ? 3.0 : -3.0) + static_cast<double>(i));
          }
        }
}

TEST(Iota, Ends) {
  const auto first_two = [](const Type& type, auto start) {
    return run(Machine::ipu1, {operand("x", type, {2}, integers(0, 9, 1))},
               [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                 popops::iota(graph, in[0], start, prog);
                 return in;
               })[0]
        .values;
  };
  EXPECT_EQ(first_two(UNSIGNED_INT, 0xffffffffu), (std::vector<double>{4294967295.0, 0}));
  EXPECT_EQ(first_two(INT, 0x7fffffff), (std::vector<double>{2147483647, -2147483648.0}));
  EXPECT_EQ(first_two(FLOAT, 0xfffffffeu), (std::vector<double>{4294967296.0, 4294967296.0}));
  EXPECT_EQ(first_two(HALF, 2049u), (std::vector<double>{2048, 2050}));
}

TEST(Iota, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  EXPECT_THROW(popops::iota(graph, graph.addVariable(INT, {2, 2}, VariableMappingMethod::LINEAR), 0, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::iota(graph, graph.addVariable(BOOL, {2}, VariableMappingMethod::LINEAR), 0, prog), poputil::poplibs_error);
  EXPECT_THROW(popops::iota(graph, graph.addVariable(INT, {1}, VariableMappingMethod::LINEAR).broadcast(3, 0), 0, prog),
               poputil::poplibs_error);
}

std::vector<double> one_hot(const Values& indices, std::size_t classes, double on, double off) {
  std::vector<double> out(indices.size() * classes, off);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const double at = std::trunc(indices[i]);
    if (at >= 0 && at < static_cast<double>(classes)) out[i * classes + static_cast<std::size_t>(at)] = on;
  }
  return out;
}

TEST(OneHot, TypesShapesMappings) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& index_type : {UNSIGNED_INT, INT, FLOAT, HALF, UNSIGNED_SHORT})
        for (const Type& type : {FLOAT, HALF, INT, UNSIGNED_INT, BOOL, UNSIGNED_CHAR, SHORT, LONGLONG}) {
          // Pairs: indices and what they become.
          const std::vector<std::vector<std::size_t>> shapes = {{9}, {9, 13}, {2, 3}, {2, 3, 50}, {0}, {0, 4}, {3}, {3, 0}, {}, {5}};
          const std::vector<std::pair<std::size_t, std::size_t>> pairs = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}};
          std::vector<Operand> operands;
          for (const auto& [from, to] : pairs) {
            operands.push_back(operand("indices", index_type, shapes[from], integers(0, 14, 3), mapping));
            operands.push_back(operand("encoded", type, shapes[to], integers(0, 1, 3), mapping));
          }
          const bool with_values = type != BOOL && index_type == INT;
          operands.push_back(operand("on", type, {1}, [](std::size_t) { return 7; }));
          operands.push_back(operand("off", type, {}, [](std::size_t) { return 3; }));
          const auto out = run(machine, operands, [&](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
            std::vector<Tensor> results;
            for (const auto& p : pairs) {
              if (with_values)
                popops::encodeOneHot(graph, in[p.first], in[p.second], prog, in[10], in[11]);
              else
                popops::encodeOneHot(graph, in[p.first], in[p.second], prog);
              results.push_back(in[p.second]);
            }
            return results;
          });
          for (std::size_t i = 0; i < pairs.size(); ++i) {
            const auto& shape = shapes[pairs[i].second];
            expect_close(out[i], one_hot(operands[pairs[i].first], shape.back(), with_values ? 7 : 1, with_values ? 3 : 0), Tolerance{},
                         name_of(machine) + ' ' + name_of(mapping) + ' ' + index_type.toString() + ' ' + type.toString());
          }
        }
}

TEST(OneHot, MaskedRowsAreOff) {
  const Operand labels =
      operand("labels", UNSIGNED_INT, {4}, [](std::size_t i) { return i == 2 ? MASKED_LABEL_CODE : static_cast<double>(i); });
  const Operand x = operand("x", FLOAT, {4, 3}, uniform(0, 1, 1));
  const auto out = run(Machine::ipu1, {labels, x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
    popops::encodeOneHot(graph, in[0], in[1], prog);
    return std::vector<Tensor>{in[1]};
  });
  EXPECT_EQ(out[0].values, (std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(OneHot, RowsWiderThanATile) {
  const Operand labels = operand("labels", INT, {3}, [](std::size_t i) { return i == 0 ? 0 : i == 1 ? 40000 : 99999; });
  const Operand x = operand("x", HALF, {3, 100000}, uniform(0, 1, 1));
  const auto out = run(Machine::ipu1, {labels, x}, [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
    popops::encodeOneHot(graph, in[0], in[1], prog);
    return std::vector<Tensor>{in[1]};
  });
  expect_close(out[0], one_hot(labels, 100000, 1, 0), Tolerance{});
}

TEST(OneHot, UsesTheTiles) {
  EXPECT_GE(share_of_tiles_used(Machine::full,
                                {operand("l", INT, {1000}, integers(0, 99, 1)), operand("x", HALF, {1000, 100}, integers(0, 1, 1))},
                                [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                  popops::encodeOneHot(graph, in[0], in[1], prog);
                                  return in;
                                }),
            0.9);
  EXPECT_GE(share_of_tiles_used(Machine::full, {operand("x", INT, {100000}, integers(0, 1, 1))},
                                [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                  popops::iota(graph, in[0], 0, prog);
                                  return in;
                                }),
            0.9);
}

TEST(OneHot, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const auto linear = [&](const Type& type, const std::vector<std::size_t>& shape) {
    return graph.addVariable(type, shape, VariableMappingMethod::LINEAR);
  };
  const Tensor labels = linear(INT, {4}), x = linear(FLOAT, {4, 3}), one = linear(FLOAT, {}), other = linear(HALF, {});
  EXPECT_THROW(popops::encodeOneHot(graph, labels, linear(FLOAT, {3, 4}), prog), poputil::poplibs_error);
  EXPECT_THROW(popops::encodeOneHot(graph, labels, linear(FLOAT, {4}), prog), poputil::poplibs_error);
  EXPECT_THROW(popops::encodeOneHot(graph, labels, linear(FLOAT, {}), prog), poputil::poplibs_error);
  EXPECT_THROW(popops::encodeOneHot(graph, labels, linear(FLOAT, {4, 1}).broadcast(3, 1), prog), poputil::poplibs_error);
  EXPECT_THROW(popops::encodeOneHot(graph, labels, x, prog, one, other), poputil::poplibs_error);
  EXPECT_THROW(popops::encodeOneHot(graph, labels, x, prog, x, one), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
