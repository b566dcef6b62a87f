#include "lower/parts/op_lowering.h"
#include "lower/terms/element_types.h"
#include "lower/terms/moving.h"
#include "lower/shared/reductions.h"

#include <popops/Cast.hpp>
#include <popops/ElementWise.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>

namespace pando::lower {

using poplar::Tensor;

namespace {

// Of a host, whose threads take parts of what lies on its one tile.
constexpr std::size_t kPartsOfHost = 16;
// Elements of a row that are not worth a step of their own.
constexpr std::size_t kShortest = 64;

// Rows [begin, end) of {rows, n}, which lie on one tile: their sums, in place.
void add_vertex(OpLowering& o, poplar::ComputeSet cs, const Tensor& rows, std::size_t begin, std::size_t end, unsigned tile) {
  const poplar::VertexRef v = o.graph().addVertex(cs, "popops::CumulativeSum", {{"values", rows.slice(begin, end).flatten()}});
  o.graph().setInitialValue(v["rows"], static_cast<unsigned>(end - begin));
  o.graph().setTileMapping(v, tile);
}

// The sums of each row of {rows, n}, in a tensor of their own.
Tensor sums_of_rows(OpLowering& o, const Tensor& x) {
  poplar::Graph& graph = o.graph();
  const std::size_t n = x.dim(1);
  const Tensor sums = graph.addVariable(poplar::FLOAT, x.shape(), o.name() + "/sums");
  poputil::mapTensorLinearly(graph, sums, static_cast<unsigned>(n), static_cast<unsigned>(n));
  o.program().add(poplar::program::Copy(x, sums, false, o.name()));
  const poplar::ComputeSet cs = graph.addComputeSet(o.name());
  const auto& target = graph.getTarget();
  const std::size_t parts = target.getNumTiles() == 1 ? kPartsOfHost : target.getNumWorkerContexts();
  const auto mapping = graph.getTileMapping(sums);
  for (unsigned tile = 0; tile < mapping.size(); ++tile)
    for (const poplar::Interval& i : mapping[tile]) {
      const std::size_t part = std::max<std::size_t>((i.size() / n + parts - 1) / parts, 1);
      for (std::size_t row = i.begin() / n; row < i.end() / n; row += part)
        add_vertex(o, cs, sums, row, std::min(row + part, i.end() / n), tile);
    }
  o.program().add(poplar::program::Execute(cs, o.name()));
  return sums;
}

// The same where rows are so few that their parts are shared: the sums of each part, and to them what the parts before add up to.
Tensor sums(OpLowering& o, const Tensor& x) {
  const std::size_t rows = x.dim(0), n = x.dim(1), tiles = o.graph().getTarget().getNumTiles(), wanted = tiles == 1 ? kPartsOfHost : tiles;
  const std::size_t part = std::max(kShortest, (rows * n + wanted - 1) / wanted), parts = (n + part - 1) / part;
  if (parts < 2) return sums_of_rows(o, x);
  Tensor whole = x;
  if (parts * part > n) {
    const Tensor zeros = o.graph().addConstant(poplar::FLOAT, {rows, parts * part - n}, 0.0f, o.name() + "/zeros");
    poputil::mapTensorLinearly(o.graph(), zeros);
    whole = poplar::concat(x, zeros, 1);
  }
  const Tensor all = sums_of_rows(o, whole.reshape({rows * parts, part})).reshape({rows, parts, part});
  const Tensor before = sums(o, all.slice(0, parts - 1, 1).slice(part - 1, part, 2).squeeze({2}));
  popops::addInPlace(o.graph(), all.slice(1, parts, 1), before.expand({2}), o.program(), o.name());
  return all.reshape({rows, parts * part}).slice(0, n, 1);
}

// In doubling steps: each element gets the sum that ends `step` before it.
Tensor doubled(OpLowering& o, const Tensor& x, unsigned dim) {
  const std::size_t n = x.dim(dim);
  Tensor sum = x;
  for (std::size_t step = 1; step < n; step *= 2) {
    const Tensor later = popops::add(o.graph(), sum.slice(step, n, dim), sum.slice(0, n - step, dim), o.program(), o.name());
    sum = poplar::concat(sum.slice(0, step, dim), later, dim);
  }
  return sum;  // the first elements are the operand's own
}

// With the summed dimension last; between tiles, single elements that lie apart are moved at a high price.
Tensor cumulative(OpLowering& o, const Tensor& x, unsigned dim) {
  const std::size_t n = x.dim(dim);
  std::size_t run = 1;
  for (unsigned d = dim + 1; d < x.rank(); ++d) run *= x.dim(d);
  if (run >= kMovedTogether && o.graph().getTarget().getNumTiles() > 1) return doubled(o, x, dim);
  const unsigned last = x.rank() - 1;
  const Tensor turned = x.dimRoll(dim, last);
  return sums(o, turned.reshape({x.numElements() / n, n})).reshape(turned.shape()).dimRoll(last, dim);
}

}  // namespace

extern const Row lower_cumsum;
constexpr Row lower_cumsum = {
    .name = "cumsum",
    .lower =
        [](OpLowering& o) {
          o.need(Library::popops);
          const auto dim = static_cast<unsigned>(o.attributes().integer("dim"));
          const Tensor t = o.operand(0);
          if (t.numElements() == 0) return o.result_view(0, t);
          const Tensor x = t.elementType() == poplar::FLOAT ? t : popops::cast(o.graph(), t, poplar::FLOAT, o.program(), o.name());
          const Tensor all = cumulative(o, x, dim);
          if (t.elementType() == poplar::FLOAT) return o.result_view(0, all);
          o.result(0, as_result(o, all));
        },
};

}  // namespace pando::lower
