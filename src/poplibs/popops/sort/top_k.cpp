#include <algorithm>

#include <pando/ownership.hpp>
#include <popops/TopK.hpp>
#include <poputil/exceptions.hpp>

#include "poplibs/popops/slice/table.h"
#include "poplibs/popops/sort/sort_rows.h"
#include "poplibs/poputil/reject.h"

namespace popops {

using namespace poplar;
using internal::Payload;
using internal::SortLayout;
using internal::SortUnit;
using program::Execute;
using program::Sequence;

namespace {

constexpr std::size_t kFanIn = 8;  // blocks whose best are compared at a time

// A code for each row that at least k codes of the row are not above, and few more: the k-th least of the least codes of parts of the
// blocks. Nothing, if there are too few blocks for this to be less work than the rest.
std::vector<Tensor> limits(Graph& graph, const Tensor& codes, const SortLayout& l, std::size_t k, Sequence& prog,
                           const DebugContext& debug) {
  if (l.parts < kFanIn || k == 0) return {};
  const std::size_t parts = (2 * k + l.parts - 1) / l.parts;  // of a block, which has at least 4 k codes
  const std::string type = codes.elementType().toString();
  const Tensor least = internal::like_blocks(graph, codes.elementType(), l, parts, {debug, "leastOfParts"});
  const ComputeSet of_parts = graph.addComputeSet({debug, "leastOfParts"}), of_row = graph.addComputeSet({debug, "limit"});
  for (const SortUnit& u : internal::sort_units(graph.getTarget(), l)) {
    const Tensor in = codes[u.row].slice(u.part * l.block, (u.part + 1) * l.block),
                 out = least[u.row].slice(u.part * parts, (u.part + 1) * parts);
    graph.setTileMapping(graph.addVertex(of_parts, "popops::LeastOfParts<" + type + ">", {{"codes", in}, {"out", out}}), u.tile);
  }
  std::vector<Tensor> found;
  for (std::size_t r = 0; r < l.rows; ++r) {
    const Tensor out = graph.addVariable(codes.elementType(), {k}, {debug, "limit"});
    graph.setTileMapping(out, l.tile(r, 0));
    const VertexRef v = graph.addVertex(of_row, "popops::TopK<" + type + ">", {{"codes", least[r]}, {"out", out}});
    graph.setInitialValue(v["length"], static_cast<unsigned>(least.dim(1)));
    graph.setTileMapping(v, l.tile(r, 0));
    found.push_back(out[k - 1]);
  }
  prog.add(Execute(of_parts, {debug}));
  prog.add(Execute(of_row, {debug}));
  return found;
}

// Keeps the k best of each block, of those within the row's limit if there are limits: [rows][parts * block] -> [rows][parts * k].
Tensor best_of_blocks(Graph& graph, const Tensor& codes, const SortLayout& l, std::size_t k, const std::vector<Tensor>& limits,
                      Sequence& prog, const DebugContext& debug) {
  const Tensor out = internal::like_blocks(graph, codes.elementType(), l, k, {debug, "best"});
  const ComputeSet cs = graph.addComputeSet({debug, "best"});
  const std::string type = "<" + codes.elementType().toString() + ">";
  for (const SortUnit& u : internal::sort_units(graph.getTarget(), l)) {
    const VertexRef v = graph.addVertex(cs, (limits.empty() ? "popops::TopK" : "popops::TopKWithin") + type,
                                        {{"codes", codes.slice({u.row, u.part * l.block}, {u.end_row, (u.part + 1) * l.block}).flatten()},
                                         {"out", out.slice({u.row, u.part * k}, {u.end_row, (u.part + 1) * k}).flatten()}});
    if (limits.empty())
      graph.setInitialValue(v["length"], static_cast<unsigned>(l.block));
    else
      graph.connect(v["limit"], limits[u.row]);
    graph.setTileMapping(v, u.tile);
  }
  prog.add(Execute(cs, {debug}));
  return out;
}

// The k best of the k best of `parts` blocks, kFanIn at a time.
Tensor best_of_best(Graph& graph, Tensor codes, SortLayout l, std::size_t k, const std::vector<Tensor>& limits, Sequence& prog,
                    const DebugContext& debug) {
  const std::string type = "<" + codes.elementType().toString() + ">";
  while (l.parts > 1) {
    SortLayout fewer = l;
    fewer.parts = (l.parts + kFanIn - 1) / kFanIn;
    const bool limited = !limits.empty() && fewer.parts > 1;  // the last have all that is within the limit
    const Tensor out = internal::like_blocks(graph, codes.elementType(), fewer, k, {debug, "best"});
    const ComputeSet cs = graph.addComputeSet({debug, "best"});
    for (std::size_t r = 0; r < l.rows; ++r)
      for (std::size_t p = 0; p < fewer.parts; ++p) {
        const Tensor in = codes[r].slice(p * kFanIn * k, std::min(l.parts, (p + 1) * kFanIn) * k);
        const VertexRef v = graph.addVertex(cs, (limited ? "popops::TopKWithin" : "popops::TopK") + type,
                                            {{"codes", in}, {"out", out[r].slice(p * k, (p + 1) * k)}});
        if (limited)
          graph.connect(v["limit"], limits[r]);
        else
          graph.setInitialValue(v["length"], static_cast<unsigned>(in.numElements()));
        graph.setTileMapping(v, fewer.tile(r, p));
      }
    prog.add(Execute(cs, {debug}));
    codes = out;
    l = fewer;
  }
  return codes;
}

// Codes of the best, the best first: [rows][k].
Tensor best_codes(Graph& graph, const Tensor& keys, const Tensor& values, const TopKParams& params, Payload payload, bool in_matrix,
                  Sequence& prog, const DebugContext& debug) {
  const std::size_t rows = keys.dim(0), length = keys.dim(1);
  SortLayout l = internal::sort_layout(graph.getTarget(), rows, length, 4 * params.k);
  // A large k: sorting all is less work than comparing long lists on few tiles.
  const bool all = l.parts == 1 && length > 2048 && internal::sort_layout(graph.getTarget(), rows, length, 1).parts > 1;
  if (all) l = internal::sort_layout(graph.getTarget(), rows, length, 1);
  const Tensor codes = internal::encode_keys(graph, keys, values, l, payload, params.largest, in_matrix, prog, debug);
  if (all) return internal::sort_codes(graph, codes, l, prog, debug).slice(0, params.k, 1);
  const std::vector<Tensor> most = limits(graph, codes, l, params.k, prog, debug);
  return best_of_best(graph, best_of_blocks(graph, codes, l, params.k, most, prog, debug), l, params.k, most, prog, debug);
}

struct Best {
  Tensor keys, values;
};

void check(const char* function, const Graph& graph, const Tensor& t, const TopKParams& params) {
  pando::require_own(graph, t, function);
  if (t.rank() == 0) poputil::reject("scalar-operand", "{}", std::string(function) + ": a scalar has no dimension to search");
  internal::check_keys(function, t);
  if (params.k > t.dim(static_cast<unsigned>(t.rank() - 1)))
    poputil::reject(
        "k-range", "{}",
        std::string(function) + ": k is " + std::to_string(params.k) + ", more than the last dimension of shape " + t.shapeToString());
}

// The order asked for, in the shape of the input with k in the last dimension.
Tensor finish(const Tensor& best, const std::vector<std::size_t>& shape, const TopKParams& params) {
  const bool reverse = params.largest ? params.sortOrder == SortOrder::ASCENDING : params.sortOrder == SortOrder::DESCENDING;
  const Tensor t = best.reshape(shape);
  return reverse ? t.reverse(static_cast<unsigned>(shape.size() - 1)) : t;
}

Best best(Graph& graph, const Tensor& t, const Tensor& v, const TopKParams& params, Payload payload, bool stable, Sequence& prog,
          const DebugContext& debug) {
  std::vector<std::size_t> shape = t.shape();
  const std::size_t length = shape.back();
  shape.back() = params.k;
  const Type value_type = payload == Payload::position ? UNSIGNED_INT : payload == Payload::value ? v.elementType() : t.elementType();
  if (t.numElements() == 0 || params.k == 0)
    return {graph.addVariable(t.elementType(), shape, VariableMappingMethod::LINEAR, {debug, "best"}),
            graph.addVariable(value_type, shape, VariableMappingMethod::LINEAR, {debug, "values"})};
  const std::size_t rows = t.numElements() / length;
  const Tensor values = payload == Payload::value ? internal::as_bits(graph, v.reshape({rows, length})) : Tensor();
  const Payload carried = stable ? Payload::position : payload;
  const Tensor codes = best_codes(graph, t.reshape({rows, length}), values, params, carried, stable, prog, debug);
  // Few results: they are decoded where rows of k would be.
  const SortLayout l = internal::sort_layout(graph.getTarget(), rows, params.k, 64);
  Best out;
  out.keys = finish(internal::decode_keys(graph, codes, t.elementType(), l, params.largest, prog, debug), shape, params);
  if (payload == Payload::none) return out;
  Tensor bits = internal::decode_values(graph, codes, carried == Payload::position ? UNSIGNED_INT : values.elementType(), l, prog, debug);
  if (stable) {
    internal::SliceProblem problem;
    problem.rows = rows * length;
    problem.lookups = rows * params.k;
    problem.type_bytes = graph.getTarget().getTypeSize(values.elementType());
    const Tensor table = values.flatten().expand({1});
    bits = internal::look_up(graph, table, bits.flatten(), prog, internal::grid_for(graph, table, 1, problem), problem, debug);
  }
  out.values = finish(bits.elementType() == value_type ? bits : bits.reinterpret(value_type), shape, params);
  return out;
}

}  // namespace

TopKParams::TopKParams(unsigned k_in, bool largest_in, SortOrder order, bool stable) noexcept
    : k(k_in), largest(largest_in), sortOrder(order), stableSort(stable) {}

std::ostream& operator<<(std::ostream& os, const SortOrder& o) {
  return os << (o == SortOrder::NONE ? "NONE" : o == SortOrder::ASCENDING ? "ASCENDING" : "DESCENDING");
}

std::ostream& operator<<(std::ostream& os, const TopKParams& p) {
  return os << "{k=" << p.k << ", largest=" << (p.largest ? "true" : "false") << ", sortOrder=" << p.sortOrder
            << ", stableSort=" << (p.stableSort ? "true" : "false") << '}';
}

Tensor createTopKInput(Graph& graph, const Type& type, const std::vector<std::size_t>& shape, const TopKParams& params,
                       const DebugContext& debugContext) {
  if (shape.empty() || params.k > shape.back())
    poputil::reject("k-range", "{}",
                    "createTopKInput: k is " + std::to_string(params.k) + ", more than the last dimension, or there is none");
  return graph.addVariable(type, shape, VariableMappingMethod::LINEAR, debugContext);
}

Tensor topK(Graph& graph, Sequence& prog, const Tensor& t, const TopKParams& params, const DebugContext& debugContext) {
  check("topK", graph, t, params);
  return best(graph, t, {}, params, Payload::none, false, prog, {debugContext, "topK"}).keys;
}

std::pair<Tensor, Tensor> topKKeyValue(Graph& graph, Sequence& prog, const Tensor& keys, const Tensor& values, const TopKParams& params,
                                       const DebugContext& debugContext) {
  check("topKKeyValue", graph, keys, params);
  internal::check_values("topKKeyValue", graph, keys, values);
  const Best b = best(graph, keys, values, params, Payload::value, params.stableSort, prog, {debugContext, "topKKeyValue"});
  return {b.keys, b.values};
}

std::pair<Tensor, Tensor> topKWithPermutation(Graph& graph, Sequence& prog, const Tensor& t, const TopKParams& params,
                                              const DebugContext& debugContext) {
  check("topKWithPermutation", graph, t, params);
  const Best b = best(graph, t, {}, params, Payload::position, false, prog, {debugContext, "topKWithPermutation"});
  return {b.keys, b.values};
}

}  // namespace popops
