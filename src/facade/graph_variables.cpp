// Graph: variables, constants, clones, tile mappings.
#include "poplar/Graph.hpp"

#include "base/process/stop.h"
#include "base/sizes.h"
#include "facade/engine/graph_facts.h"
#include "facade/state/state.h"
#include "graph/convert.h"
#include "pando/mapping.hpp"
#include "poplar/MetadataCreation.hpp"
#include "poplar/TypeConversion.hpp"

namespace poplar {

using pando::ErrorKind;
using pando::fail;
using pando::TileId;
using pando::VariableId;
using pando::facade::Access;
using pando::graph::Region;
using pando::graph::Run;
using pando::graph::View;

namespace {

pando::graph::Shape to_shape(ArrayRef<std::size_t> shape) { return shape.cloneAsVector(); }

// Elements in order, in equal parts, over all tiles; a tile's part is a whole number of 8-byte words where that is possible.
void map_linearly(Graph& graph, const Tensor& t) {
  const std::size_t n = t.numElements();
  const std::size_t tiles = graph.getTarget().getNumTiles();
  const std::size_t grain = std::max<std::size_t>(1, 8 / pando::size_of(Access::view(t).type()));
  const std::size_t grains = (n + grain - 1) / grain;
  Graph::TileToTensorMapping mapping(tiles);
  for (std::size_t i = 0; i < tiles; ++i) {
    const std::size_t begin = std::min(n, grains * i / tiles * grain), end = std::min(n, grains * (i + 1) / tiles * grain);
    if (begin < end) mapping[i].emplace_back(begin, end);
  }
  graph.setTileMapping(t, mapping);
}

View new_variable(Graph& graph, const Type& type, ArrayRef<std::size_t> shape, const DebugContext& debugContext) {
  pando::graph::Graph& g = Access::shared(graph).graph;
  const pando::VariableId id =
      g.add_variable(Access::element_type(type), to_shape(shape), debugContext.getPathName(), Access::replication(graph));
  pando::facade::keep_site(Access::shared(graph), Access::shared(graph).variable_sites, id.value, debugContext);
  return g.view(id);
}

void check_metadata(const Graph& graph, const Type& type, const Tensor& metadata) {
  Access::view(graph, metadata, "the metadata");
  if (type != QUARTER) fail(ErrorKind::type_error, "metadata-type", "only tensors of type quarter have metadata, not {}", type.toString());
  if (metadata.elementType() != QUARTER_METADATA || metadata.numElements() != 1)
    fail(ErrorKind::type_error, "metadata-type", "metadata is one element of quarter metadata, not {}", metadata.getDebugStr());
}

std::shared_ptr<const core::TensorState> metadata_state(const Tensor& metadata) {
  return std::make_shared<const core::TensorState>(Access::state(metadata, "the metadata"));
}

// A tensor of this type over `view`: quarters of which nobody said what they mean have a metadata variable of their own.
Tensor with_metadata(Graph& graph, const Type& type, View view, const DebugContext& debugContext) {
  if (type != QUARTER) return Access::tensor(graph, std::move(view));
  const Tensor metadata = graph.addVariable(QUARTER_METADATA, {}, {debugContext, "metadata"});
  graph.setTileMapping(metadata, 0);
  return Access::tensor({std::move(view), Access::state(graph).shared, metadata_state(metadata)});
}

// Quarters are rounded to what their metadata can hold; values of other types have to fit.
std::string host_values(const Type& from, const void* values, std::size_t n, const Type& to, const QuarterMetadata& metadata,
                        const char* what) {
  const auto quarter = [](const Type& t) { return t == QUARTER || t == QUARTER_METADATA; };
  const std::size_t bytes = n * pando::size_of(Access::element_type(from));
  if (!quarter(from) && !quarter(to))
    return pando::graph::convert_elements({static_cast<const char*>(values), bytes}, Access::element_type(from), Access::element_type(to),
                                          what, pando::graph::Negative::bits);
  std::string out(n * pando::size_of(Access::element_type(to)), '\0');
  pando_detail::convertElements(from, values, to, out.data(), n, metadata);
  return out;
}

// Values of type `from` as the bytes of `elements` elements of type `to`.
std::string converted(const Type& from, const void* values, std::size_t n, const Type& to, std::size_t elements, bool fill,
                      const QuarterMetadata& metadata, const char* what) {
  if (!fill && n != elements) fail(ErrorKind::tensor_creation_error, "value-count", "{}: {} values for {} elements", what, n, elements);
  const std::size_t size = pando::size_of(Access::element_type(to));
  if (elements == 0) return {};
  if (!values) fail(ErrorKind::tensor_creation_error, "null-values", "{}: the values are a null pointer", what);
  pando::check_host_memory(pando::saturating_mul(elements, size), ErrorKind::tensor_creation_error, what);
  std::string bytes = host_values(from, values, fill ? 1 : n, to, metadata, what);
  if (!fill) return bytes;
  bytes.resize(elements * size);
  for (std::size_t done = 1; done < elements;) {  // doubles what is filled
    const std::size_t more = std::min(done, elements - done);
    bytes.replace(done * size, more * size, bytes, 0, more * size);
    done += more;
  }
  return bytes;
}

// None for a tensor that only a program sets.
std::optional<QuarterMetadata> constant_metadata(const Tensor& metadata) {
  unsigned char binary = 0;
  if (!metadata.getConstantValue(&binary)) return std::nullopt;
  return QuarterMetadata(binary);
}

// The type of a number of the host, known by its traits. Only the conversion of the values depends on it: bool and unsigned char
// have the same traits and convert alike.
const Type& host_type(const TypeTraits& traits) {
  if (traits.isFloat && traits.size == sizeof(float)) return FLOAT;
  if (traits.isFloat && traits.size == sizeof(double)) return DOUBLE;
  if (traits.isIntegral) {
    switch (traits.size) {
      case 1: return traits.isSigned ? SIGNED_CHAR : UNSIGNED_CHAR;
      case 2: return traits.isSigned ? SHORT : UNSIGNED_SHORT;
      case 4: return traits.isSigned ? INT : UNSIGNED_INT;
      case 8: return traits.isSigned ? LONGLONG : UNSIGNED_LONGLONG;
      default: break;
    }
  }
  fail(ErrorKind::type_error, "host-type",
       "addConstant: a number of the host is expected, found traits of {} bytes, integral: {}, floating: {}", traits.size,
       traits.isIntegral, traits.isFloat);
}

// A view of `fresh`, a new variable that holds the sorted element set of `like` in order, with like's shape, order and aliases.
View rebuilt(const View& like, const std::vector<Region>& set, const View& fresh) {
  std::vector<std::uint64_t> starts;
  std::uint64_t next = 0;
  for (const Region& r : set) {
    starts.push_back(next);
    next += r.elements.size();
  }
  // Where an element of the old variables is in the new one.
  const auto position = [&](VariableId v, std::uint64_t element) {
    const auto it = std::upper_bound(set.begin(), set.end(), element, [&](std::uint64_t e, const Region& r) {
      return v < r.variable || (v == r.variable && e < r.elements.begin);
    });
    const auto i = static_cast<std::size_t>(it - set.begin()) - 1;
    return std::pair(starts[i] + (element - set[i].elements.begin), set[i].elements.end);
  };
  std::vector<View> parts;
  const auto piece = [&](VariableId v, std::uint64_t offset, std::int64_t stride, std::uint64_t count) {
    const std::uint64_t first = position(v, stride < 0 ? offset - static_cast<std::uint64_t>(-stride) * (count - 1) : offset).first;
    if (stride == 0) return parts.push_back(fresh.slice(first, first + 1, 0).broadcast(static_cast<unsigned>(count), 0));
    const auto step = static_cast<std::uint64_t>(std::abs(stride));
    View part = fresh.slice(first, first + step * (count - 1) + 1, 0);
    if (step > 1) part = part.sub_sample(static_cast<unsigned>(step), 0);
    parts.push_back(stride < 0 ? part.reverse(0) : part);
  };
  like.for_each_run([&](const Run& r) {
    // A run may cross from one region of the set to another; then its pieces are not evenly spaced in the new variable.
    std::uint64_t done = 0;
    while (done < r.count) {
      const std::uint64_t offset = r.offset + static_cast<std::uint64_t>(r.stride * static_cast<std::int64_t>(done));
      std::uint64_t n = r.count - done;
      if (r.stride > 0) {
        const std::uint64_t end = position(r.variable, offset).second;
        n = std::min(n, (end - offset - 1) / static_cast<std::uint64_t>(r.stride) + 1);
      } else if (r.stride < 0) {
        n = 1;
        const std::uint64_t base = position(r.variable, offset).first;
        const auto step = static_cast<std::uint64_t>(-r.stride);
        while (done + n < r.count && position(r.variable, offset - step * n).first == base - step * n) ++n;
      }
      piece(r.variable, offset, r.stride, n);
      done += n;
    }
  });
  return View::concat(parts, 0).reshape(like.shape());
}

}  // namespace

std::size_t Graph::elements(ArrayRef<std::size_t> shape) { return pando::checked_elements({shape.data(), shape.size()}, "addConstant"); }

Tensor Graph::addVariable(const Type& type, ArrayRef<std::size_t> shape, const DebugContext& debugContext) {
  pando::check_stop();
  return with_metadata(*this, type, new_variable(*this, type, shape, debugContext), debugContext);
}

Tensor Graph::addVariable(const Type& type, ArrayRef<std::size_t> shape, VariableMappingMethod mappingMethod,
                          const DebugContext& debugContext) {
  Tensor t = addVariable(type, shape, debugContext);
  if (mappingMethod == VariableMappingMethod::LINEAR) map_linearly(*this, t);
  return t;
}

Tensor Graph::addVariable(const Type& type, const Tensor& metadata, ArrayRef<std::size_t> shape, const DebugContext& debugContext) {
  return addVariable(type, metadata, shape, VariableMappingMethod::NONE, debugContext);
}

Tensor Graph::addVariable(const Type& type, const Tensor& metadata, ArrayRef<std::size_t> shape, VariableMappingMethod mappingMethod,
                          const DebugContext& debugContext) {
  if (!metadata.valid()) return addVariable(type, shape, mappingMethod, debugContext);
  check_metadata(*this, type, metadata);
  View view = new_variable(*this, type, shape, debugContext);
  const Tensor t = Access::tensor({std::move(view), Access::state(*this).shared, metadata_state(metadata)});
  if (mappingMethod == VariableMappingMethod::LINEAR) map_linearly(*this, t);
  return t;
}

Tensor Graph::makeConstant(const Type& type, const Tensor* metadata, ArrayRef<std::size_t> shape, const Type& from, const void* values,
                           std::size_t n, bool fill, const DebugContext& debugContext) {
  if (metadata && !metadata->valid()) metadata = nullptr;
  if (metadata) check_metadata(*this, type, *metadata);
  if (!metadata && type == QUARTER) {
    const Tensor usual = createConstantMetadataTensor(*this, QuarterMetadata().getFormat(), QuarterMetadata().getScale(), debugContext);
    return makeConstant(type, &usual, shape, from, values, n, fill, debugContext);
  }
  const std::optional<QuarterMetadata> known = metadata ? constant_metadata(*metadata) : QuarterMetadata();
  std::string bytes = converted(from, values, n, type, elements(shape), fill, known.value_or(QuarterMetadata()), "addConstant");
  // Zero has the same bits in each format and scale.
  if (!known && bytes.find_first_not_of('\0') != std::string::npos)
    fail(ErrorKind::tensor_creation_error, "metadata-constant",
         "the metadata of a constant with other values than zero must be constant: {}", metadata->getDebugStr());
  pando::graph::Graph& g = Access::shared(*this).graph;
  const pando::VariableId id =
      g.add_constant(Access::element_type(type), to_shape(shape), std::move(bytes), debugContext.getPathName(), Access::replication(*this));
  pando::facade::keep_site(Access::shared(*this), Access::shared(*this).variable_sites, id.value, debugContext);
  View v = g.view(id);
  return Access::tensor({std::move(v), Access::state(*this).shared, metadata ? metadata_state(*metadata) : nullptr});
}

Tensor Graph::addConstant(const Type& type, ArrayRef<std::size_t> shape, const void* values, const TypeTraits& traits, bool fill,
                          const DebugContext& debugContext) {
  return makeConstant(type, nullptr, shape, host_type(traits), values, fill ? 1 : elements(shape), fill, debugContext);
}

Tensor Graph::addConstantHalf(const Type& type, ArrayRef<std::size_t> shape, std::uint16_t value, const DebugContext& debugContext) {
  if (type != HALF) fail(ErrorKind::type_error, "constant-half", "addConstantHalf makes halfs, not {}", type.toString());
  return makeConstant(HALF, nullptr, shape, HALF, &value, 1, true, debugContext);
}
Tensor Graph::addConstantHalf(const Type& type, ArrayRef<std::size_t> shape, ArrayRef<std::uint16_t> values,
                              const DebugContext& debugContext) {
  if (type != HALF) fail(ErrorKind::type_error, "constant-half", "addConstantHalf makes halfs, not {}", type.toString());
  return makeConstant(HALF, nullptr, shape, HALF, values.data(), values.size(), false, debugContext);
}

Tensor Graph::addReplicationIndexConstant(const DebugContext& debugContext) {
  pando::graph::Graph& g = Access::shared(*this).graph;
  return Access::tensor(*this, g.view(g.add_replica_index(debugContext.getPathName(), Access::replication(*this))));
}

void Graph::setTensorValue(const Tensor& t, const Type& type, const void* values, std::size_t n, bool fill) {
  const View& v = Access::view(*this, t, "the tensor of setInitialValue");
  Access::shared(*this).graph.set_initial_value(
      v, converted(type, values, n, t.elementType(), v.num_elements(), fill, QuarterMetadata(), "setInitialValue"));
}

void Graph::setInitialValueHalf(const Tensor& t, ArrayRef<std::uint16_t> values) {
  setTensorValue(t, HALF, values.data(), values.size(), false);
}

namespace {

// A new variable, mapped as `v` is, which has no element twice, and a view of it whose elements lie in the order in which those of `v` lie;
// invalid if `v` is no grid over one variable.
View same_layout(const View& v, const Type& type, Graph& graph, const std::string& name) {
  pando::graph::Graph& g = Access::shared(graph).graph;
  View open = v.unfolded();
  std::vector<unsigned> reversed, permutation;
  if (!open.variable_order(reversed, permutation)) return {};
  pando::graph::Shape ordered;
  std::vector<unsigned> back(permutation.size());
  for (unsigned i = 0; i < permutation.size(); ++i) {
    ordered.push_back(open.dim(permutation[i]));
    back[permutation[i]] = i;
  }
  const View whole = g.view(g.add_variable(Access::element_type(type), ordered, name, Access::replication(graph)));
  View copy = whole.dim_shuffle(back);
  for (const unsigned d : reversed) {
    copy = copy.reverse(d);
    open = open.reverse(d);
  }
  // In the order of memory a tile's elements are few intervals: mostly a variable's own.
  g.set_tile_mapping(whole, g.tile_mapping(open.dim_shuffle(permutation), nullptr));
  return copy.reshape(v.shape());
}

}  // namespace

namespace {

// A view of a new variable of this type, laid out and mapped as `t`.
View cloned(Graph& graph, const Type& type, const Tensor& t, const DebugContext& debugContext, TensorCloneMethod method) {
  const View& v = Access::view(graph, t, "the tensor to clone");
  pando::graph::Graph& g = Access::shared(graph).graph;
  const bool anew = method == TensorCloneMethod::CREATE_NEW_ORDER || v.num_elements() == 0 || v.is_contiguous();
  const bool aliased = !anew && v.contains_aliases();
  const std::string name = debugContext.getPathName().empty() ? t.getVarStr() : debugContext.getPathName();
  View copy;
  if (anew || (aliased && method == TensorCloneMethod::PRESERVE_ORDER_UNLESS_ALIASES)) {
    copy = g.view(g.add_variable(Access::element_type(type), v.shape(), name, Access::replication(graph)));
  } else {
    if (!aliased) copy = same_layout(v, type, graph, name);
    if (copy.valid()) return copy;
    const std::vector<Region> set = v.element_set();
    std::size_t n = 0;
    for (const Region& r : set) n += r.elements.size();
    copy = rebuilt(v, set, g.view(g.add_variable(Access::element_type(type), {n}, name, Access::replication(graph))));
  }
  g.set_tile_mapping(copy, g.tile_mapping(v, nullptr));
  return copy;
}

}  // namespace

Tensor Graph::clone(const Type& type, const Tensor& t, const DebugContext& debugContext, TensorCloneMethod method) {
  View copy = cloned(*this, type, t, debugContext, method);
  if (type != QUARTER || !t.hasMetadata()) return with_metadata(*this, type, std::move(copy), debugContext);
  return Access::tensor({std::move(copy), Access::state(*this).shared, Access::state(t).metadata});
}

Tensor Graph::clone(const Tensor& t, const DebugContext& debugContext, TensorCloneMethod method) {
  return clone(t.elementType(), t, debugContext, method);
}

Tensor Graph::clone(const Type& type, const Tensor& metadata, const Tensor& t, const DebugContext& debugContext, TensorCloneMethod method) {
  if (!metadata.valid()) return clone(type, t, debugContext, method);
  check_metadata(*this, type, metadata);
  return Access::tensor({cloned(*this, type, t, debugContext, method), Access::state(*this).shared, metadata_state(metadata)});
}

Tensor Graph::clone(const Tensor& metadata, const Tensor& t, const DebugContext& debugContext, TensorCloneMethod method) {
  return clone(t.elementType(), metadata, t, debugContext, method);
}

Tensor Graph::cloneN(const Tensor& t, std::size_t n, const DebugContext& debugContext, TensorCloneMethod method,
                     TensorCloneDuplicationMethod duplicationMethod) {
  return cloneN(t.elementType(), t, n, debugContext, method, duplicationMethod);
}

Tensor Graph::cloneN(const Type& type, const Tensor& t, std::size_t n, const DebugContext& debugContext, TensorCloneMethod method,
                     TensorCloneDuplicationMethod duplicationMethod) {
  if (n == 0) fail(ErrorKind::tensor_creation_error, "clone-count", "cloneN: the number of clones must be positive");
  pando::checked_product(std::max<std::size_t>(Access::view(*this, t, "the tensor of cloneN").num_elements(), 1 << 20), n,
                         pando::kMostElements, ErrorKind::tensor_creation_error, "elements of cloneN");
  if (duplicationMethod == TensorCloneDuplicationMethod::DUPLICATE_BY_OUTER_DIMENSION) {
    std::vector<Tensor> copies;
    for (std::size_t i = 0; i < n; ++i) copies.push_back(clone(type, t, debugContext, method).expand({0}));
    return concat(copies, 0);
  }
  // One variable in which the n copies of each region lie next to each other.
  Tensor all = addVariable(type, {t.numElements() * n}, debugContext);
  std::vector<Tensor> parts;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end, int tile) {
    const Tensor block = all.slice(begin * n, end * n);
    if (tile >= 0) setTileMapping(block, static_cast<unsigned>(tile));
    parts.push_back(block.reshape({n, end - begin}));
    begin = end;
  };
  bool complete = false;
  std::vector<std::pair<Interval, int>> regions;
  const TileToTensorMapping mapping = getTileMapping(t, &complete);
  for (std::size_t tile = 0; tile < mapping.size(); ++tile)
    for (const Interval& i : mapping[tile]) regions.emplace_back(i, static_cast<int>(tile));
  std::sort(regions.begin(), regions.end());
  for (const auto& [interval, tile] : regions) {
    if (begin < interval.begin()) add(interval.begin(), -1);
    add(interval.end(), tile);
  }
  if (begin < t.numElements()) add(t.numElements(), -1);
  std::vector<std::size_t> shape = t.shape();
  shape.insert(shape.begin(), n);
  return (parts.empty() ? all : concat(parts, 1)).reshape(shape);
}

Tensor Graph::getVariable(VariableRef v) const {
  const pando::graph::Graph& g = Access::shared(*this).graph;
  Access::check_owner(*this, v.graph(), "the variable");
  if (v.id() >= g.variables().size())
    fail(ErrorKind::index_error, "variable-range", "there is no variable {}; the graph has {}", v.id(), g.variables().size());
  return Access::tensor(*this, g.view(VariableId(v.id())));
}

bool Graph::isConstant(VariableRef v) const {
  getVariable(v);
  return Access::shared(*this).graph.variables()[VariableId(v.id())].constant;
}

void Graph::setTileMapping(const Tensor& t, unsigned tileNum) {
  const View& v = Access::view(*this, t, "the tensor of setTileMapping");
  const bool known = tileNum < Access::state(*this).target.getNumTiles();
  Access::shared(*this).graph.set_tile_mapping(v,
                                               Access::physical_tile(*this, tileNum, known ? "" : "setTileMapping of " + t.getDebugStr()));
}

void Graph::setTileMapping(const Tensor& t, const TileToTensorMapping& mapping) {
  const View& v = Access::view(*this, t, "the tensor of setTileMapping");
  std::vector<pando::graph::MappedInterval> physical;
  for (std::size_t tile = 0; tile < mapping.size(); ++tile) {
    if (mapping[tile].empty()) continue;
    const bool known = tile < Access::state(*this).target.getNumTiles();
    const pando::TileId p = Access::physical_tile(*this, static_cast<unsigned>(tile), known ? "" : "setTileMapping of " + t.getDebugStr());
    for (const Interval& i : mapping[tile]) physical.push_back({{i.begin(), i.end()}, p});
  }
  Access::shared(*this).graph.set_tile_mapping(v, physical);
}

Graph::TileToTensorMapping Graph::getTileMapping(const Tensor& t, bool* isComplete) const {
  bool complete = false;
  const std::vector<pando::graph::MappedInterval> physical =
      Access::shared(*this).graph.tile_mapping(Access::view(*this, t, "the tensor of getTileMapping"), &complete);
  const std::size_t tiles = Access::state(*this).target.getNumTiles();
  const auto& seen = Access::state(*this).tiles;  // of a virtual graph: the tile of the machine that each of its tiles is
  TileToTensorMapping mapping(seen.empty() ? tiles : Access::shared(*this).graph.machine().tiles());
  for (const auto& [elements, tile] : physical) mapping[tile.index()].emplace_back(elements.begin, elements.end);
  if (!seen.empty()) {
    TileToTensorMapping of_machine(tiles);
    of_machine.swap(mapping);
    for (std::size_t i = 0; i < tiles; ++i) mapping[i] = of_machine[seen[i]];
  }
  // An element on a tile that this (virtual) graph does not see is not mapped for it.
  if (isComplete) {
    std::size_t elements = 0;
    for (const auto& list : mapping)
      for (const Interval& i : list) elements += i.size();
    *isComplete = complete && elements == t.numElements();
  }
  return mapping;
}

Graph::TileToTensorMapping Graph::getTileMapping(const Tensor& t, bool requireComplete) const {
  bool complete = false;
  TileToTensorMapping mapping = getTileMapping(t, &complete);
  if (requireComplete && !complete)
    fail(ErrorKind::invalid_tile_mapping, "unmapped-elements", "some elements are not mapped to a tile: {}", t.getDebugStr());
  return mapping;
}

void Graph::reorderToSimplify(Tensor* t, ArrayRef<Tensor*> ts, bool) const {
  if (!t || std::find(ts.begin(), ts.end(), nullptr) != ts.end())
    fail(ErrorKind::poplar_error, "null-tensor", "reorderToSimplify: a pointer to a tensor is null");
  View view = Access::view(*this, *t, "the tensor of reorderToSimplify");
  std::vector<View> others;
  others.reserve(ts.size());
  std::vector<View*> pointers;
  for (const Tensor* o : ts) {
    others.push_back(Access::view(*this, *o, "a tensor of reorderToSimplify"));
    if (others.back().num_elements() != view.num_elements())
      fail(ErrorKind::tensor_creation_error, "reorder-size", "reorderToSimplify: {} has not as many elements as {}", o->getDebugStr(),
           t->getDebugStr());
  }
  for (View& v : others) pointers.push_back(&v);
  Access::shared(*this).graph.reorder_to_simplify(&view, pointers);
  *t = Access::tensor(Access::state(*t), std::move(view));
  for (std::size_t i = 0; i < ts.size(); ++i) *ts[i] = Access::tensor(Access::state(*ts[i]), std::move(others[i]));
}

std::vector<std::vector<Interval>> Graph::getSortedContiguousRegions(const Tensor& t, ArrayRef<Interval> regions,
                                                                     bool removeAliasedIntervals, std::vector<std::size_t>* aliases) const {
  const View& v = Access::view(*this, t, "the tensor of getSortedContiguousRegions");
  std::vector<pando::Interval> intervals;
  intervals.reserve(regions.size());
  for (const Interval& i : regions) {
    if (i.begin() > i.end() || i.end() > v.num_elements())
      fail(ErrorKind::index_error, "region-range", "getSortedContiguousRegions: the interval [{}, {}) of a tensor of {} elements",
           i.begin(), i.end(), v.num_elements());
    intervals.push_back({i.begin(), i.end()});
  }
  std::vector<std::vector<Interval>> result;
  for (const auto& list : Access::shared(*this).graph.sorted_contiguous_regions(v, intervals, removeAliasedIntervals, aliases)) {
    result.emplace_back();
    result.back().reserve(list.size());
    for (const pando::Interval& i : list) result.back().emplace_back(i.begin, i.end);
  }
  return result;
}

Tensor Graph::findUnbroadcastTensor(const Tensor& t) const {
  return Access::tensor(Access::state(t),
                        Access::shared(*this).graph.find_unbroadcast(Access::view(*this, t, "the tensor of findUnbroadcastTensor")));
}

}  // namespace poplar

namespace pando {

std::vector<TileInterval> tile_intervals(const poplar::Graph& graph, const poplar::Tensor& tensor) {
  const graph::Graph& g = facade::Access::shared(graph).graph;
  const auto& seen = facade::Access::state(graph).tiles;  // of a virtual graph: the tile of the machine that each of its tiles is
  constexpr unsigned kNone = ~0u;
  std::vector<unsigned> tile_of;
  if (!seen.empty()) {
    tile_of.assign(g.machine().tiles(), kNone);
    for (unsigned i = 0; i < seen.size(); ++i) tile_of[seen[i]] = i;
  }
  const std::vector<graph::MappedInterval> physical =
      g.tile_mapping(facade::Access::view(graph, tensor, "the tensor of tile_intervals"), nullptr);
  std::vector<TileInterval> mapping;
  mapping.reserve(physical.size());
  for (const auto& [elements, tile] : physical) {
    const unsigned t = seen.empty() ? tile.value : tile_of[tile.index()];
    if (t != kNone) mapping.push_back({elements.begin, elements.end, t});
  }
  return mapping;
}

void set_tile_intervals(poplar::Graph& graph, const poplar::Tensor& tensor, const std::vector<TileInterval>& mapping) {
  const graph::View& view = facade::Access::view(graph, tensor, "the tensor of set_tile_intervals");
  const unsigned tiles = facade::Access::state(graph).target.getNumTiles();
  std::vector<graph::MappedInterval> physical;
  physical.reserve(mapping.size());
  for (const auto& [begin, end, tile] : mapping) {
    const TileId to = facade::Access::physical_tile(graph, tile, tile < tiles ? "" : "set_tile_intervals of " + tensor.getDebugStr());
    physical.push_back({{begin, end}, to});
  }
  facade::Access::shared(graph).graph.set_tile_mapping(view, physical);
}

}  // namespace pando
