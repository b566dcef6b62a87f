// Panel by panel: the columns of a panel are reflected on one tile, and their reflections, as 1 - V T V^T, are applied to the columns
// behind it and to Q by products.
#include <poplin/MatMul.hpp>
#include <poplin/TriangularSolve.hpp>
#include <poplin/experimental/QRFactorization.hpp>
#include <popops/ElementWise.hpp>
#include <popops/Zero.hpp>
#include <poputil/OptionParsing.hpp>
#include <poputil/TileMapping.hpp>

#include <algorithm>

#include "poplibs/poputil/reject.h"

namespace poplin::experimental {

using namespace poplar;
using program::Sequence;

namespace {

std::size_t columns_at_a_time(const OptionFlags& options) {
  unsigned columns = 32;
  const poplibs::OptionSpec spec{{"rowsPerIteration", poplibs::OptionHandler::createWithInteger(columns)}};
  spec.parse(options);
  if (columns == 0) poputil::reject_option("rows-per-iteration", "rowsPerIteration is 0, expected at least 1");
  return columns;
}

void check(const Type& type, std::size_t m, std::size_t n, const char* where) {
  if (type != FLOAT && type != HALF)
    poputil::reject("solve-type", "{}: matrices of type {}, expected float or half", where, type.toString());
  if (n == 0 || m < n)
    poputil::reject("qr-shape", "{}: A is {} x {}; expected as many rows as columns at least, and one column", where, m, n);
}

struct Reflections {
  Tensor vectors;   // V, {rows, columns}: below ones zeros above the diagonal
  Tensor triangle;  // T, {columns, columns}
};

class Factorization {
 public:
  Factorization(Graph& graph, const Tensor& a, const Tensor& q, Sequence& prog, const DebugContext& debug)
      : graph_(graph), a_(a), q_(q), prog_(prog), debug_(debug) {}

  void run(std::size_t columns) {
    const std::size_t m = a_.dim(0), n = a_.dim(1), memory = graph_.getTarget().getBytesPerTile() / 4;
    for (std::size_t begin = 0; begin < n;) {
      const std::size_t fitting = std::max<std::size_t>(1, memory / ((m - begin) * graph_.getTarget().getTypeSize(a_.elementType())));
      const Interval rows(begin, m), panel(begin, std::min({n, begin + columns, begin + fitting})), behind(panel.end(), n);
      const Reflections r = reflect(part(rows, panel), static_cast<unsigned>(begin % graph_.getTarget().getNumTiles()));
      const Tensor vt = r.vectors.transpose();
      if (behind.size() > 0) subtract(part(rows, behind), r.vectors, product(r.triangle.transpose(), product(vt, part(rows, behind))));
      const Tensor q = q_.slice(rows, 1);
      subtract(q, product(product(q, r.vectors), r.triangle), vt);
      begin = panel.end();
    }
  }

 private:
  Tensor part(Interval rows, Interval columns) const { return a_.slice(rows, 0).slice(columns, 1); }
  Tensor product(const Tensor& x, const Tensor& y) { return matMul(graph_, x, y, prog_, a_.elementType(), {debug_, "product"}); }
  void subtract(const Tensor& from, const Tensor& x, const Tensor& y) { matMulAcc(graph_, from, -1.0f, x, y, prog_, {debug_, "update"}); }

  // Makes R of a panel in its place.
  Reflections reflect(const Tensor& panel, unsigned tile) {
    const std::size_t rows = panel.dim(0), columns = panel.dim(1);
    const Type type = panel.elementType();
    const Tensor here = graph_.addVariable(type, panel.shape(), {debug_, "panel"}),
                 tau = graph_.addVariable(type, {columns}, {debug_, "tau"});
    for (const Tensor& t : {here, tau}) graph_.setTileMapping(t, tile);
    const ComputeSet cs = graph_.addComputeSet({debug_, "panel"});
    const VertexRef v = graph_.addVertex(cs, "poplin::FactorPanel<" + type.toString() + ">", {{"panel", here.flatten()}, {"tau", tau}});
    graph_.setInitialValue(v["columns"], static_cast<unsigned>(columns));
    graph_.setTileMapping(v, tile);
    prog_.add(program::Copy(panel, here, false, {debug_, "panel"}));
    prog_.add(program::Execute(cs, {debug_, "panel"}));
    const Tensor top = here.slice(0, columns), below = here.slice(columns, rows);
    const Tensor vectors = concat(triangularMask(graph_, top, true, true, prog_, {debug_, "vectors"}), below, 0);
    prog_.add(
        program::Copy(triangularMask(graph_, top, false, false, prog_, {debug_, "r"}), panel.slice(0, columns), false, {debug_, "r"}));
    if (rows > columns) popops::zero(graph_, panel.slice(columns, rows), prog_, {debug_, "below"});
    return {vectors, triangle_of(vectors, tau)};
  }

  // The inverse of T is an upper triangle: V^T V above the diagonal, 1 / tau on it. T = (1 + diag(tau) U)^-1 diag(tau), U that strict part:
  // a reflection that is none, with a tau of 0, needs no division.
  Tensor triangle_of(const Tensor& vectors, const Tensor& tau) {
    const Tensor scaled = popops::mul(graph_, product(vectors.transpose(), vectors), tau.expand({1}), prog_, {debug_, "scaled"});
    const std::size_t n = tau.numElements();
    const Tensor diagonal = graph_.addVariable(tau.elementType(), {n, n}, {debug_, "diagonal"});
    poputil::mapTensorLinearly(graph_, diagonal);
    popops::zero(graph_, diagonal, prog_, {debug_, "diagonal"});
    prog_.add(program::Copy(tau, diagonal.flatten().subSample(static_cast<unsigned>(n + 1), 0), false, {debug_, "diagonal"}));
    return triangularSolve(graph_, scaled, diagonal, true, false, true, prog_, {debug_, "triangle"});
  }

  Graph& graph_;
  const Tensor &a_, &q_;
  Sequence& prog_;
  const DebugContext& debug_;
};

}  // namespace

std::array<Tensor, 2> createQRFactorizationMatrices(Graph& graph, const Type& type, const std::size_t m, const std::size_t n,
                                                    const DebugContext& debugContext) {
  check(type, m, n, "poplin::experimental::createQRFactorizationMatrices");
  const std::array<Tensor, 2> both = {graph.addVariable(type, {m, n}, {debugContext, "A"}),
                                      graph.addVariable(type, {m, m}, {debugContext, "Q"})};
  for (const Tensor& t : both) poputil::mapTensorLinearly(graph, t);
  return both;
}

void QRFactorization(Graph& graph, Tensor& A, Tensor& Q, Sequence& prog, const DebugContext& debugContext, const OptionFlags& options) {
  const char* where = "poplin::experimental::QRFactorization";
  const auto expect_matrix = [&](const Tensor& t, const char* name) {
    if (!t.valid() || t.rank() != 2) poputil::reject("qr-shape", "{}: {} is no matrix", where, name);
    if (!t.isParallelWriteable()) poputil::reject("not-writeable", "{}: {} has constants or elements more than once", where, name);
  };
  expect_matrix(A, "A");
  expect_matrix(Q, "Q");
  check(A.elementType(), A.dim(0), A.dim(1), where);
  if (Q.elementType() != A.elementType() || Q.dim(0) != A.dim(0) || Q.dim(1) != A.dim(0))
    poputil::reject("qr-shape", "{}: A is {} {}, Q {} {}; expected Q of the same type, {{{}, {}}}", where, A.elementType().toString(),
                    A.shapeToString(), Q.elementType().toString(), Q.shapeToString(), A.dim(0), A.dim(0));
  if (!concat(A.flatten(), Q.flatten()).isParallelWriteable()) poputil::reject("not-writeable", "{}: A and Q share elements", where);
  Factorization(graph, A, Q, prog, {debugContext, "qr"}).run(columns_at_a_time(options));
}

}  // namespace poplin::experimental
