// popops::map and the functions made of it: broadcasting, in-place forms, fused expressions, on all machines and mappings.
#include "oplib.h"

#include <popops/ElementWise.hpp>

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;

TEST(ElementWiseMap, FunctionsBroadcastFuseAndWriteInPlace) {
  for (const Machine machine : kMachines)
    for (const Mapping mapping : kMappings)
      for (const Type& type : {FLOAT, HALF}) {
        const Operand x = operand("x", type, {13, 7}, uniform(-2, 2, 1), mapping), y = operand("y", type, {13, 7}, uniform(-2, 2, 2));
        const Operand row = operand("row", type, {7}, uniform(-2, 2, 3), mapping), column = operand("column", type, {13, 1}, uniform(-2, 2, 4));
        RunOptions options;
        options.in_place = true;
        const auto out = run(machine, {x, y, row, column}, [](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          using namespace popops::expr;
          const Tensor exponential = popops::exp(g, in[0], prog), sum = popops::add(g, in[0], in[1], prog);
          const Tensor rows = popops::add(g, in[0], in[2], prog), columns = popops::mul(g, in[0], in[3], prog);
          const Tensor fused = popops::map(g, Tanh(_1 * 0.5f + _2) - _3, {in[0], in[1], in[2]}, prog);
          popops::mulInPlace(g, in[0], in[1], prog);
          return std::vector<Tensor>{exponential, sum, rows, columns, fused};
        }, options);
        const std::string what = name_of(machine) + ' ' + name_of(mapping);
        expect_close(out[0], map1(x, [](double v) { return std::exp(v); }), what);
        expect_close(out[1], map2(x, y, [](double a, double b) { return a + b; }), what);
        std::vector<double> rows, columns, fused;
        for (std::size_t i = 0; i < x.size(); ++i) {
          rows.push_back(x[i] + row[i % 7]);
          columns.push_back(x[i] * column[i / 7]);
          fused.push_back(std::tanh(x[i] * 0.5 + y[i]) - row[i % 7]);
        }
        expect_close(out[2], rows, what);
        expect_close(out[3], columns, what);
        expect_close(out[4], fused, {is_floating(type) && type == HALF ? 2e-3 : 2e-6, 5e-7}, what);
        expect_close(out[5], map2(x, y, [](double a, double b) { return a * b; }), what);
      }
}

}  // namespace
}  // namespace oplib
