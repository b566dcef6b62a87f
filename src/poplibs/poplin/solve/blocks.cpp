#include "poplibs/poplin/solve/blocks.h"

#include <algorithm>

#include "poplibs/poputil/reject.h"
#include "poplibs/work.h"

#include <poputil/OptionParsing.hpp>

namespace poplin::solve {

using namespace poplar;
using program::Sequence;

Options parse_options(const OptionFlags& flags) {
  Options o;
  int block = static_cast<int>(o.block);
  for (const auto& [name, value] : flags) {
    if (name == "blockSize") {
      const poplibs::OptionSpec spec{{"blockSize", poplibs::OptionHandler::createWithInteger(block)}};
      spec.parse(name, value);
    } else {
      o.products.set(name, value);
    }
  }
  if (block <= 0) poputil::reject_option("block-size", "blockSize is {}, expected at least 1", block);
  matmulValidateOptions(o.products);
  o.block = static_cast<std::size_t>(block);
  return o;
}

void expect_square(const Type& type, const std::vector<std::size_t>& shape, const std::string& function) {
  if (type != FLOAT && type != HALF)
    poputil::reject("solve-type", "{}: matrices of type {}, expected float or half", function, type.toString());
  if (shape.size() < 2 || shape[shape.size() - 1] != shape[shape.size() - 2]) {
    std::string text;
    for (const std::size_t d : shape) text += (text.empty() ? "" : ",") + std::to_string(d);
    poputil::reject("not-square", "{}: A has shape {{{}}}, expected square matrices", function, text);
  }
}

std::size_t groups_of(const std::vector<std::size_t>& shape) {
  std::size_t n = 1;
  for (std::size_t d = 0; d + 2 < shape.size(); ++d) n *= shape[d];
  return n;
}

Tensor grouped(const Tensor& t) { return t.reshape({groups_of(t.shape()), t.dim(t.rank() - 2), t.dim(t.rank() - 1)}); }

Tensor box(const Tensor& t, Interval rows, Interval columns) { return t.slice(rows, 1).slice(columns, 2); }

Tensor solve_rows(Graph& graph, const Tensor& triangle, const Tensor& rows, bool unit_diagonal, Sequence& prog, const DebugContext& debug) {
  const Target& target = graph.getTarget();
  const std::size_t groups = rows.dim(0), n = rows.dim(1), size = rows.dim(2), tiles = target.getNumTiles();
  const Tensor x = graph.addVariable(rows.elementType(), rows.shape(), {debug, "solution"});
  const ComputeSet cs = graph.addComputeSet({debug, "solveRows"});
  // Each tile has rows of one group: all have its triangle copied to them.
  const std::size_t parts = std::clamp<std::size_t>(tiles / std::max<std::size_t>(1, groups), 1, std::max<std::size_t>(1, n));
  const std::size_t workers = pando::poplibs::vertices_per_tile(target);
  for (std::size_t g = 0; g < groups; ++g)
    for (std::size_t p = 0; p < parts; ++p) {
      const Interval here(n * p / parts, n * (p + 1) / parts);
      const unsigned tile = static_cast<unsigned>((g * parts + p) % tiles);
      graph.setTileMapping(x[g].slice(here), tile);
      const std::size_t vertices = std::min(workers, here.size());
      for (std::size_t w = 0; w < vertices; ++w) {
        const Interval own(here.begin() + here.size() * w / vertices, here.begin() + here.size() * (w + 1) / vertices);
        const VertexRef v = graph.addVertex(cs, "poplin::SolveRows<" + x.elementType().toString() + ">",
                                            {{"triangle", triangle[g].flatten()}, {"rows", x[g].slice(own).flatten()}});
        graph.setInitialValue(v["size"], static_cast<unsigned>(size));
        graph.setInitialValue(v["unitDiagonal"], unit_diagonal);
        graph.setTileMapping(v, tile);
      }
    }
  prog.add(program::Copy(rows, x, false, {debug, "solution"}));
  prog.add(program::Execute(cs, {debug, "solveRows"}));
  return x;
}

}  // namespace poplin::solve
