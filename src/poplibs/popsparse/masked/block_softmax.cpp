#include <popsparse/codelets.hpp>
#include <popsparse/experimental/BlockSparse.hpp>
#include <poputil/VertexTemplates.hpp>

#include "poplibs/popsparse/masked/mask.h"
#include "poplibs/poputil/reject.h"

namespace popsparse::experimental {
namespace {

using namespace poplar;
using namespace poplar::program;
using poputil::reject;
using poputil::templateVertex;

// dim[0] has the rows of all groups.
Mask checked(const char* function, const Tensor& t, const std::array<int, 2>& dim, const std::array<int, 2>& block,
             const std::vector<unsigned char>& sparsity, unsigned groups) {
  if (dim[0] <= 0 || dim[1] <= 0 || block[0] <= 0 || block[1] <= 0 || groups == 0 || static_cast<unsigned>(dim[0]) % groups != 0)
    reject("popsparse-blocks", "{}: a matrix of {} x {} in blocks of {} x {} and {} groups; all are positive, and groups divide the rows",
           function, dim[0], dim[1], block[0], block[1], groups);
  const Shape shape{static_cast<std::size_t>(dim[0]) / groups,
                    static_cast<std::size_t>(dim[1]),
                    {{static_cast<std::size_t>(block[0]), static_cast<std::size_t>(block[1])}}};
  Mask mask = mask_of(function, shape, groups, sparsity);
  if (t.shape() != std::vector<std::size_t>{mask.places.size(), mask.area()} || (t.elementType() != FLOAT && t.elementType() != HALF))
    reject("popsparse-operand", "{}: the sparse tensor is {{{}}} of type {}; expected {{{}, {}}} and float or half", function,
           fmt::join(t.shape(), ", "), t.elementType().toString(), mask.places.size(), mask.area());
  return mask;
}

// visit(begin, end, tile): blocks of one row of blocks.
template <class Visit>
void for_each_row(const Graph& graph, const Mask& mask, Visit visit) {
  const std::size_t tiles = graph.getTarget().getNumTiles(), rows = mask.groups * mask.shape.block_rows();
  for (std::size_t begin = 0, end = 0; begin < mask.places.size(); begin = end) {
    while (end < mask.places.size() && mask.places[end].row == mask.places[begin].row) ++end;
    visit(begin, end, static_cast<unsigned>(mask.places[begin].row * tiles / rows));
  }
}

void softmax(Graph& graph, const Tensor& in, const Tensor& out, const Mask& mask, SubBlockMask kind, Sequence& prog,
             const DebugContext& name) {
  addCodelets(graph);  // programs add those of popops, which the original is made of
  const ComputeSet cs = graph.addComputeSet({name, "softmax"});
  for_each_row(graph, mask, [&](std::size_t begin, std::size_t end, unsigned tile) {
    std::vector<unsigned> firsts, ends;
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t r = 0; r < mask.shape.block[0]; ++r) {
        const Interval columns = counting(mask, mask.places[i], r, kind);
        firsts.push_back(static_cast<unsigned>(columns.begin())), ends.push_back(static_cast<unsigned>(columns.end()));
      }
    const VertexRef v = graph.addVertex(cs, templateVertex("popsparse::BlockSoftmax", in.elementType()),
                                        {{"in", in.slice(begin, end).flatten()}, {"out", out.slice(begin, end).flatten()}});
    graph.setInitialValue(v["first"], firsts);
    graph.setInitialValue(v["end"], ends);
    graph.setInitialValue(v["rows"], static_cast<unsigned>(mask.shape.block[0]));
    graph.setInitialValue(v["columns"], static_cast<unsigned>(mask.shape.block[1]));
    graph.setTileMapping(v, tile);
  });
  prog.add(Execute(cs, name));
}

Tensor on_rows(Graph& graph, const Tensor& like, const Mask& mask, const DebugContext& name) {
  const Tensor out = graph.addVariable(like.elementType(), like.shape(), name);
  for_each_row(graph, mask, [&](std::size_t begin, std::size_t end, unsigned tile) { graph.setTileMapping(out.slice(begin, end), tile); });
  return out;
}

}  // namespace

Tensor bsSoftmax(Graph& graph, Tensor in, const std::array<int, 2>& dim, const std::array<int, 2>& block,
                 const std::vector<unsigned char>& sparsity, SubBlockMask kind, unsigned groups, Sequence& prog,
                 const DebugContext& context) {
  const Mask mask = checked("popsparse::experimental::bsSoftmax", in, dim, block, sparsity, groups);
  const Tensor out = on_rows(graph, in, mask, {context, "softmax"});
  softmax(graph, in, out, mask, kind, prog, context);
  return out;
}

void bsSoftmaxInPlace(Graph& graph, Tensor t, const std::array<int, 2>& dim, const std::array<int, 2>& block,
                      const std::vector<unsigned char>& sparsity, SubBlockMask kind, unsigned groups, Sequence& prog,
                      const DebugContext& context) {
  const Mask mask = checked("popsparse::experimental::bsSoftmaxInPlace", t, dim, block, sparsity, groups);
  const Tensor out = on_rows(graph, t, mask, {context, "softmax"});
  softmax(graph, t, out, mask, kind, prog, context);
  prog.add(Copy(out, t, false, {context, "inPlace"}));
}

Tensor bsSoftmaxGrad(Graph& graph, Tensor y, Tensor dy, const std::array<int, 2>& dim, const std::array<int, 2>& block,
                     const std::vector<unsigned char>& sparsity, Sequence& prog, const DebugContext& context) {
  constexpr auto kName = "popsparse::experimental::bsSoftmaxGrad";
  const Mask mask = checked(kName, y, dim, block, sparsity, 1);
  checked(kName, dy, dim, block, sparsity, 1);
  if (dy.elementType() != y.elementType())
    reject("popsparse-operand", "{}: the gradient has type {}; expected {}, that of the result", kName, dy.elementType().toString(),
           y.elementType().toString());
  const Tensor dx = on_rows(graph, y, mask, {context, "gradient"});
  addCodelets(graph);
  const ComputeSet cs = graph.addComputeSet({context, "gradient"});
  for_each_row(graph, mask, [&](std::size_t begin, std::size_t end, unsigned tile) {
    const VertexRef v = graph.addVertex(
        cs, templateVertex("popsparse::BlockSoftmaxGradient", y.elementType()),
        {{"y", y.slice(begin, end).flatten()}, {"dy", dy.slice(begin, end).flatten()}, {"dx", dx.slice(begin, end).flatten()}});
    graph.setInitialValue(v["rows"], static_cast<unsigned>(mask.shape.block[0]));
    graph.setInitialValue(v["columns"], static_cast<unsigned>(mask.shape.block[1]));
    graph.setTileMapping(v, tile);
  });
  prog.add(Execute(cs, context));
  return dx;
}

}  // namespace popsparse::experimental
