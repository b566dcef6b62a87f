#include <popsparse/codelets.hpp>
#include <popsparse/experimental/BlockSparseMatMul.hpp>
#include <poputil/OptionParsing.hpp>
#include <poputil/TileMapping.hpp>
#include <poputil/VertexTemplates.hpp>

#include <popops/Cast.hpp>

#include "poplibs/popsparse/known/product.h"
#include "poplibs/popsparse/masked/mask.h"
#include "poplibs/poputil/reject.h"

namespace popsparse::experimental {

using namespace poplar;
using namespace poplar::program;
using poputil::reject;
using poputil::templateVertex;

class BSMatMulImpl {
 public:
  Mask mask;  // of the sparse side, or of the result
  bool sparse_result = false, transposed = false;
  SubBlockMask elements = SubBlockMask::None;
  std::array<std::size_t, 3> dim{}, block{};
  Type in, out;
  Options options;

  std::size_t groups() const { return mask.groups; }
  // The sparse side of all groups along a diagonal.
  Known known() const {
    Known k{{mask.shape.rows * groups(), mask.shape.columns * groups(), mask.shape.block}, mask.places};
    for (Place& p : k.places) p.column += p.row / mask.shape.block_rows() * mask.shape.block_columns();
    return k;
  }
};

namespace {

constexpr auto kParams = "popsparse::experimental::BSMatMulParams";

std::unique_ptr<BSMatMulImpl> params_of(const std::array<int, 3>& dim, const std::array<int, 3>& block, const Type& in, const Type& out,
                                        const Type& partials, unsigned groups) {
  auto impl = std::make_unique<BSMatMulImpl>();
  for (std::size_t i = 0; i < 3; ++i) {
    if (dim[i] <= 0 || block[i] <= 0 || dim[i] % block[i] != 0)
      reject("popsparse-blocks", "{}: a dimension of {} in blocks of {}; blocks divide it, and both are positive", kParams, dim[i],
             block[i]);
    impl->dim[i] = static_cast<std::size_t>(dim[i]), impl->block[i] = static_cast<std::size_t>(block[i]);
  }
  for (const Type& t : {in, out, partials})
    if (t != FLOAT && t != HALF) reject("popsparse-type", "{}: elements of type {}; expected float or half", kParams, t.toString());
  if (groups == 0) reject("popsparse-groups", "{}: 0 groups; expected at least 1", kParams);
  impl->in = in, impl->out = out;
  impl->options.partials = partials;
  return impl;
}

void check_options(const OptionFlags& flags) {
  unsigned passes = 1;
  double ratio = 0;
  std::string method;
  const poplibs::OptionSpec spec{{"numberOfPass", poplibs::OptionHandler::createWithInteger(passes)},
                                 {"memoryCycleRatio", poplibs::OptionHandler::createWithDouble(ratio, 0, true)},
                                 {"partitionMethod", poplibs::OptionHandler::createWithString(method)}};
  spec.parse(flags);
}

void expect(const char* what, const Tensor& t, const Type& type, std::size_t rows, std::size_t columns) {
  if (t.shape() != std::vector<std::size_t>{rows, columns} || t.elementType() != type)
    reject("popsparse-operand", "popsparse::experimental::bsMatMul: {} is {{{}}} of type {}; expected {{{}, {}}} and {}", what,
           fmt::join(t.shape(), ", "), t.elementType().toString(), rows, columns, type.toString());
}

// {groups * a, b} as {groups * b, a}, each group transposed.
Tensor groups_transposed(const Tensor& t, std::size_t groups) {
  const std::size_t a = t.dim(0) / groups, b = t.dim(1);
  return t.reshape({groups, a, b}).dimShuffle({0, 2, 1}).reshape({groups * b, a});
}

// `columns` columns at a time, each {rows, columns} together; spread over the tiles.
Tensor create_in_strips(Graph& graph, const Type& type, std::size_t rows, std::size_t width, std::size_t columns,
                        const DebugContext& name) {
  const Tensor t = graph.addVariable(type, {width / columns, rows, columns}, name);
  poputil::mapTensorLinearly(graph, t, static_cast<unsigned>(columns), static_cast<unsigned>(columns));
  return t.dimShuffle({1, 0, 2}).reshape({rows, width});
}

Tensor dense_times_sparse(Graph& graph, const BSMatMulImpl& p, Sequence& prog, const Tensor& lhs, const Tensor& rhs,
                          const DebugContext& name) {
  expect("the left side", lhs, p.in, p.groups() * p.dim[0], p.dim[1]);
  expect("the right side", rhs, p.in, p.mask.places.size(), p.mask.area());
  // (lhs * S)^T = S^T * lhs^T.
  const Tensor result =
      multiply(graph, p.known(), rhs.flatten(), groups_transposed(lhs, p.groups()), !p.transposed, p.options, p.out, prog, name);
  return groups_transposed(result, p.groups());
}

Tensor dense_times_dense(Graph& graph, const BSMatMulImpl& p, Sequence& prog, const Tensor& lhs, const Tensor& rhs,
                         const DebugContext& name) {
  expect("the left side", lhs, p.in, p.groups() * p.dim[0], p.dim[1]);
  expect("the right side", rhs, p.in, p.groups() * p.dim[1], p.dim[2]);
  const Type partials = p.in == FLOAT ? FLOAT : p.options.partials;
  const std::size_t n = p.mask.places.size(), tiles = graph.getTarget().getNumTiles();
  const Tensor out = graph.addVariable(partials, {n, p.mask.area()}, {name, "blocks"});
  const ComputeSet cs = graph.addComputeSet({name, "multiply"});
  for (std::size_t i = 0; i < n; ++i) {
    const Place place = p.mask.places[i];
    const std::size_t group = place.row / p.mask.shape.block_rows();
    const Tensor a = lhs.slice(place.row * p.block[0], (place.row + 1) * p.block[0]);
    const Tensor b =
        rhs.slice(group * p.dim[1], (group + 1) * p.dim[1]).slice(place.column * p.block[2], (place.column + 1) * p.block[2], 1);
    std::vector<unsigned> first, end;
    for (std::size_t r = 0; r < p.block[0]; ++r) {
      const Interval columns = counting(p.mask, place, r, p.elements);
      first.push_back(static_cast<unsigned>(columns.begin())), end.push_back(static_cast<unsigned>(columns.end()));
    }
    const VertexRef v = graph.addVertex(cs, templateVertex("popsparse::BlockProduct", p.in, partials),
                                        {{"a", a.flatten()}, {"b", b.flatten()}, {"out", out[i]}});
    graph.setInitialValue(v["inner"], static_cast<unsigned>(p.dim[1]));
    graph.setInitialValue(v["columns"], static_cast<unsigned>(p.block[2]));
    graph.setInitialValue(v["first_column"], first);
    graph.setInitialValue(v["end_column"], end);
    const auto tile = static_cast<unsigned>(i * tiles / n);
    graph.setTileMapping(v, tile);
    graph.setTileMapping(out[i], tile);
  }
  prog.add(Execute(cs, name));
  return partials == p.out ? out : popops::cast(graph, out, p.out, prog, {name, "cast"});
}

}  // namespace

BSMatMulParams::BSMatMulParams(const std::array<int, 3>& dim, const std::array<int, 3>& block, const std::vector<unsigned char>& sparsity,
                               bool transposed, Type in, Type out, Type partials, unsigned groups)
    : impl(params_of(dim, block, in, out, partials, groups)) {
  impl->transposed = transposed;
  const std::size_t rows = transposed ? 2 : 1, columns = transposed ? 1 : 2;
  impl->mask = mask_of(kParams, {impl->dim[rows], impl->dim[columns], {impl->block[rows], impl->block[columns]}}, groups, sparsity);
}
BSMatMulParams::BSMatMulParams(const std::array<int, 3>& dim, const std::array<int, 3>& block, const std::vector<unsigned char>& sparsity,
                               Type in, Type out, Type partials, SubBlockMask elements, unsigned groups)
    : impl(params_of(dim, block, in, out, partials, groups)) {
  impl->sparse_result = true;
  impl->elements = elements;
  impl->mask = mask_of(kParams, {impl->dim[0], impl->dim[2], {impl->block[0], impl->block[2]}}, groups, sparsity);
}
BSMatMulParams::BSMatMulParams(BSMatMulParams&&) = default;
BSMatMulParams::~BSMatMulParams() = default;

Tensor createBSMatMulInputLHS(Graph& graph, const BSMatMulParams& params, const DebugContext& context, const OptionFlags& options) {
  check_options(options);
  const BSMatMulImpl& p = *params.impl;
  if (p.sparse_result) {
    const Tensor t = graph.addVariable(p.in, {p.groups() * p.dim[0], p.dim[1]}, {context, "lhs"});
    poputil::mapTensorLinearly(graph, t, static_cast<unsigned>(p.dim[1]), static_cast<unsigned>(p.dim[1]));
    return t;
  }
  return groups_transposed(create_known_dense(graph, p.in, p.known(), p.dim[0], !p.transposed, p.options, {context, "lhs"}), p.groups());
}

Tensor createBSMatMulInputRHS(Graph& graph, const BSMatMulParams& params, const DebugContext& context, const OptionFlags& options) {
  check_options(options);
  const BSMatMulImpl& p = *params.impl;
  if (p.sparse_result) return create_in_strips(graph, p.in, p.groups() * p.dim[1], p.dim[2], p.block[2], {context, "rhs"});
  return create_values(graph, p.in, p.known(), p.dim[0], !p.transposed, p.options, {context, "rhs"})
      .reshape({p.mask.places.size(), p.mask.area()});
}

Tensor bsMatMul(Graph& graph, const BSMatMulParams& params, Sequence& prog, const Tensor& lhs, const Tensor& rhs,
                const OptionFlags& options, const DebugContext& context) {
  check_options(options);
  addCodelets(graph);  // programs add those of poplin, which the original multiplies with
  const BSMatMulImpl& p = *params.impl;
  return p.sparse_result ? dense_times_dense(graph, p, prog, lhs, rhs, context) : dense_times_sparse(graph, p, prog, lhs, rhs, context);
}

}  // namespace popsparse::experimental
