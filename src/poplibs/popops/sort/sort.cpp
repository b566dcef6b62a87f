#include <popops/Sort.hpp>

#include <poputil/exceptions.hpp>

#include "poplibs/popops/slice/table.h"
#include "poplibs/popops/sort/sort_rows.h"
#include "poplibs/poputil/reject.h"

namespace popops {

using namespace poplar;
using program::Copy;
using program::Sequence;

namespace {

void check_dim(const char* function, const Tensor& t, unsigned dim) {
  if (dim >= t.rank())
    poputil::reject("no-such-dimension", "{}",
                    std::string(function) + ": dimension " + std::to_string(dim) + " of a tensor of shape " + t.shapeToString());
}

void check_writeable(const char* function, const Tensor& t) {
  if (!t.isParallelWriteable())
    poputil::reject("operand-not-writable", "{}", std::string(function) + ": the tensor holds constants, or an element twice");
}

// The dimension as rows of a matrix, and back.
struct Matrix {
  Matrix(const Tensor& t, unsigned dim_in)
      : dim(dim_in), last(static_cast<unsigned>(t.rank() - 1)), shape(t.dimRoll(dim_in, last).shape()) {}
  Tensor rows(const Tensor& t) const {
    const Tensor rolled = t.dimRoll(dim, last);
    return rolled.reshape({shape.back() == 0 ? 0 : rolled.numElements() / shape.back(), shape.back()});
  }
  Tensor back(const Tensor& rows) const { return rows.reshape(shape).dimRoll(last, dim); }
  unsigned dim, last;
  std::vector<std::size_t> shape;
};

struct Sorted {
  Tensor keys, values;
};

Sorted sort_all(Graph& graph, const Tensor& k, const Tensor& v, unsigned dim, bool want_keys, Sequence& prog, const DebugContext& debug) {
  if (k.numElements() == 0) return {graph.clone(k, {debug, "keys"}), v.valid() ? graph.clone(v, {debug, "values"}) : v};
  const Matrix matrix(k, dim);
  const Tensor keys = matrix.rows(k);
  const internal::SortLayout layout = internal::sort_layout(graph.getTarget(), keys.dim(0), keys.dim(1), 1);
  const internal::Payload payload = v.valid() ? internal::Payload::value : internal::Payload::none;
  const Tensor values = v.valid() ? internal::as_bits(graph, matrix.rows(v)) : v;
  const Tensor sorted = internal::sort_codes(graph, internal::encode_keys(graph, keys, values, layout, payload, false, false, prog, debug),
                                             layout, prog, debug);
  const Tensor codes = sorted.slice(0, layout.length, 1);
  Sorted out;
  if (want_keys) out.keys = matrix.back(internal::decode_keys(graph, codes, k.elementType(), layout, false, prog, debug));
  if (!v.valid()) return out;
  const Tensor bits = internal::decode_values(graph, codes, values.elementType(), layout, prog, debug);
  out.values = matrix.back(bits.elementType() == v.elementType() ? bits : bits.reinterpret(v.elementType()));
  return out;
}

}  // namespace

Tensor sort(Graph& graph, const Tensor& t, unsigned dim, Sequence& prog, const DebugContext& debugContext) {
  check_dim("sort", t, dim);
  internal::check_keys("sort", t);
  return sort_all(graph, t, {}, dim, true, prog, {debugContext, "sort"}).keys;
}

void sortInPlace(Graph& graph, const Tensor& t, unsigned dim, Sequence& prog, const DebugContext& debugContext) {
  check_dim("sortInPlace", t, dim);
  internal::check_keys("sortInPlace", t);
  check_writeable("sortInPlace", t);
  const DebugContext debug(debugContext, "sortInPlace");
  prog.add(Copy(sort_all(graph, t, {}, dim, true, prog, debug).keys, t, false, {debug}));
}

Tensor sortKeyValue(Graph& graph, const Tensor& k, const Tensor& v, unsigned dim, Sequence& prog, const DebugContext& debugContext) {
  check_dim("sortKeyValue", k, dim);
  internal::check_keys("sortKeyValue", k);
  internal::check_values("sortKeyValue", graph, k, v);
  return sort_all(graph, k, v, dim, false, prog, {debugContext, "sortKeyValue"}).values;
}

void sortKeyValueInPlace(Graph& graph, const Tensor& k, const Tensor& v, unsigned dim, Sequence& prog, const DebugContext& debugContext) {
  check_dim("sortKeyValueInPlace", k, dim);
  internal::check_keys("sortKeyValueInPlace", k);
  internal::check_values("sortKeyValueInPlace", graph, k, v);
  check_writeable("sortKeyValueInPlace", k);
  check_writeable("sortKeyValueInPlace", v);
  const DebugContext debug(debugContext, "sortKeyValueInPlace");
  const Sorted sorted = sort_all(graph, k, v, dim, true, prog, debug);
  prog.add(Copy(sorted.keys, k, false, {debug}));
  prog.add(Copy(sorted.values, v, false, {debug}));
}

}  // namespace popops
