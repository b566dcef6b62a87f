// One element of each row: selected, or updated. Rows on one tile and over several; labels that are masked or no column.
#include "oplib.h"

#include <limits>

#include <popops/EncodingConstants.hpp>
#include <popops/SelectScalarFromRows.hpp>
#include <popops/UpdateScalarInRows.hpp>
#include <poputil/exceptions.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;

const double kNaN = std::numeric_limits<double>::quiet_NaN();

// Columns; row 1 of the matrix is masked, row 3 has a label that is no column, from four rows on.
Operand labels_of(std::size_t rows, std::size_t columns, const Type& type) {
  const auto column = integers(0, static_cast<std::int64_t>(columns) - 1, 3);
  Operand labels = operand("labels", UNSIGNED_INT, {rows}, [&](std::size_t i) {
    return i == 1 ? static_cast<double>(MASKED_LABEL_CODE) : i == 3 ? static_cast<double>(columns) : column(i);
  });
  if (type == INT) {
    labels.type = INT;
    for (double& v : labels.values)
      if (v == MASKED_LABEL_CODE) v = -1;
  }
  return labels;
}

TEST(ScalarsInRows, SelectAndUpdate) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF})
        for (const auto& [rows, columns] :
             std::vector<std::pair<std::size_t, std::size_t>>{{1, 1}, {0, 5}, {7, 10}, {40, 3}, {5, 700}, {2, 1}}) {
          const Operand x = operand("x", type, {rows, columns}, uniform(-3, 3, 2), mapping),
                        labels = labels_of(rows, columns, rows % 2 ? INT : UNSIGNED_INT);
          RunOptions options;
          options.in_place = true;
          const auto out = run(
              machine, {x, labels},
              [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                const Tensor selected = popops::selectScalarFromRows(graph, in[0], in[1], prog);
                popops::updateScalarInRows(graph, in[0], in[1], prog);
                return std::vector<Tensor>{selected};
              },
              options);
          std::vector<double> selected, updated = x.values;
          for (std::size_t r = 0; r < rows; ++r) {
            const double label = labels[r];
            const bool masked = r == 1, is_column = !masked && label < static_cast<double>(columns);
            selected.push_back(masked ? 0 : is_column ? x[r * columns + static_cast<std::size_t>(label)] : kNaN);
            for (std::size_t c = 0; c < columns && !masked; ++c)
              if (!is_column)
                updated[r * columns + c] = kNaN;
              else if (static_cast<double>(c) == label)
                updated[r * columns + c] = rounded(type, updated[r * columns + c] - 1);
          }
          const std::string what = name_of(machine) + ' ' + name_of(mapping) + ' ' + type.toString() + ' ' + std::to_string(rows) + ' ' +
                                   std::to_string(columns);
          EXPECT_EQ(out[0].shape, (std::vector<std::size_t>{rows}));
          expect_close(out[0], selected, Tolerance{}, "select " + what);
          expect_close(out[1], updated, "update " + what);
        }
}

TEST(ScalarsInRows, UsesTheTiles) {
  for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{{1000, 100}, {10, 10000}}) {
    const std::vector<Operand> operands = {operand("x", HALF, {rows, columns}, integers(0, 1, 1)),
                                           operand("l", INT, {rows}, integers(0, 9, 1))};
    EXPECT_GE(share_of_tiles_used(Machine::full, operands,
                                  [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                    return std::vector<Tensor>{popops::selectScalarFromRows(graph, in[0], in[1], prog)};
                                  }),
              0.9);
    EXPECT_GE(share_of_tiles_used(Machine::full, operands,
                                  [](Graph& graph, std::vector<Tensor>& in, Sequence& prog) {
                                    popops::updateScalarInRows(graph, in[0], in[1], prog);
                                    return in;
                                  }),
              0.9);
  }
}

TEST(ScalarsInRows, Errors) {
  Graph graph(device_of(Machine::ipu1));
  Sequence prog;
  const auto linear = [&](const Type& type, const std::vector<std::size_t>& shape) {
    return graph.addVariable(type, shape, VariableMappingMethod::LINEAR);
  };
  const Tensor labels = linear(INT, {3});
  for (const auto& [params, indices] : std::vector<std::pair<Tensor, Tensor>>{{linear(INT, {3, 4}), labels},
                                                                              {linear(FLOAT, {3}), labels},
                                                                              {linear(FLOAT, {4, 3}), labels},
                                                                              {linear(FLOAT, {3, 0}), labels},
                                                                              {linear(FLOAT, {3, 4}), linear(FLOAT, {3})},
                                                                              {linear(FLOAT, {3, 4}), linear(INT, {3, 1})}}) {
    EXPECT_THROW(popops::selectScalarFromRows(graph, params, indices, prog), poputil::poplibs_error);
    EXPECT_THROW(popops::updateScalarInRows(graph, params, indices, prog), poputil::poplibs_error);
  }
  EXPECT_THROW(popops::updateScalarInRows(graph, linear(FLOAT, {1, 4}).broadcast(3, 0), labels, prog), poputil::poplibs_error);
}

}  // namespace
}  // namespace oplib
