// Graph: compute sets, vertices, fields, cycle estimates.
#include "poplar/Graph.hpp"

#include <cmath>
#include <limits>

#include "base/process/stop.h"
#include "codelet/quarter_field.h"
#include "facade/builtin/builtin_codelets.h"
#include "facade/engine/graph_facts.h"
#include "facade/state/state.h"
#include "graph/convert.h"

namespace poplar {

using pando::Codelet;
using pando::ElementType;
using pando::ErrorKind;
using pando::fail;
using pando::Field;
using pando::VertexId;
using pando::facade::Access;
using pando::graph::View;

namespace {

// `at`, if the field is connected: where, for messages.
pando::graph::FieldRef to_ref(const Graph& graph, const FieldRef& field, const SourceLocation& at = SourceLocation()) {
  const auto& vertices = Access::shared(graph).graph.vertices();
  if (field.graph() != Access::shared(graph).graph.serial()) Access::check_owner(graph, field.graph(), "field '" + field.getName() + "'");
  if (field.getVertexId() >= vertices.size())
    fail(ErrorKind::undefined_vertex_error, "no-such-vertex", "field '{}' of a vertex that does not exist; the graph has {} vertices",
         field.getName(), vertices.size());
  return {VertexId(field.getVertexId()), field.getName(), field.isIndexed() ? std::optional(field.getIndex()) : std::nullopt,
          Access::shared(graph).graph.call_site(at.getFileName(), at.getLineNumber())};
}

VertexId to_id(const Graph& graph, const VertexRef& v, const char* what) {
  Access::check_owner(graph, v.graph(), what);
  if (v.getId() >= Access::shared(graph).graph.vertices().size())
    fail(ErrorKind::undefined_vertex_error, "no-such-vertex", "{}: there is no vertex {}", what, v.getId());
  return VertexId(v.getId());
}

std::string bytes_of(const Type& type, const void* values, std::size_t n) {
  if (!values && n > 0) fail(ErrorKind::graph_connection_error, "null-values", "{} values are a null pointer", n);
  return std::string(static_cast<const char*>(values), n * pando::size_of(Access::element_type(type)));
}

const Codelet& codelet_named(const Graph& graph, StringRef name) {
  const std::string type = name.cloneAsString();
  pando::facade::provide_builtin_codelets(Access::shared(graph), type);
  const pando::Library& library = Access::shared(graph).graph.library();
  if (const Codelet* c = library.find(type)) return *c;
  std::string similar;
  for (const std::string& s : library.similar(type)) similar += (similar.empty() ? "; similar: " : ", ") + s;
  fail(ErrorKind::unknown_vertex_type, "unknown-vertex", "there is no vertex type '{}'{}", type, similar);
}

const Field& field_named(const Codelet& codelet, StringRef name) {
  if (const Field* f = codelet.find_field(name.cloneAsString())) return *f;
  fail(ErrorKind::unknown_field, "unknown-field", "vertex type '{}' has no field '{}'", codelet.name, name.cloneAsString());
}

// What a quarter edge's getMetadata() points to is an input of the vertex: the metadata of the tensors, one for a whole field.
void connect_metadata(const Graph& graph, pando::graph::FieldRef ref, const Tensor& tensor) {
  if (tensor.elementType() != QUARTER) return;
  pando::graph::Graph& g = Access::shared(graph).graph;
  const pando::graph::Vertex& v = g.vertices()[ref.vertex];
  const Codelet& codelet = g.library()[v.codelet];
  const Field* field = codelet.find_field(pando::metadata_field_name(ref.field));
  if (!field) return;  // of a codelet that was not made by popc
  if (!tensor.hasMetadata())
    fail(ErrorKind::graph_connection_error, "no-metadata", "connect of {}.{}: {} has no metadata", codelet.name, ref.field,
         tensor.getDebugStr());
  const View metadata = Access::view(graph, tensor.getMetadata(), "the metadata").flatten();
  for (const pando::graph::Edge& e : v.edges)
    if (ref.row && e.field == codelet.field_index(*field) && e.connected && !(e.rows[0] == metadata))
      fail(ErrorKind::graph_connection_error, "rows-metadata",
           "connect of row {} of {}.{}: the metadata of {} is not that of the rows before; a field has one metadata", *ref.row,
           codelet.name, ref.field, tensor.getDebugStr());
  ref.field = field->name;
  ref.row = std::nullopt;
  g.connect(ref, metadata);
}

std::pair<VertexId, std::uint16_t> late_key(const pando::graph::Graph& g, const pando::graph::FieldRef& ref) {
  const Codelet& codelet = g.library()[g.vertices()[ref.vertex].codelet];
  return {ref.vertex, static_cast<std::uint16_t>(codelet.field_index(field_named(codelet, ref.field)))};
}

double greatest(ElementType type) {
  if (type == ElementType::float_) return std::numeric_limits<float>::max();
  if (type == ElementType::double_) return std::numeric_limits<double>::max();
  if (type == ElementType::half) return 65504;
  if (type == ElementType::boolean) return 1;
  return std::ldexp(1.0, static_cast<int>(8 * pando::size_of(type)) - (pando::is_signed(type) ? 1 : 0)) - 1;
}

}  // namespace

Graph::ConnectionDesc::ConnectionDesc(StringRef field, Tensor tensor) : field_(field), tensors_{std::move(tensor)} {}
Graph::ConnectionDesc::ConnectionDesc(StringRef field, std::vector<Tensor> tensors)
    : field_(field), tensors_(std::move(tensors)), list_(true) {}
Graph::ConnectionDesc::ConnectionDesc(StringRef field, ArrayRef<Tensor> tensors)
    : field_(field), tensors_(tensors.cloneAsVector()), list_(true) {}
void Graph::ConnectionDesc::setConstant(StringRef field, const Type& type, const void* values, std::size_t n, bool scalar) {
  field_ = field.cloneAsString();
  constant_ = true;
  list_ = !scalar;
  type_ = type;
  count_ = n;
  bytes_ = bytes_of(type, values, n);
}

ComputeSet Graph::addComputeSet(const DebugContext& debugContext) {
  pando::graph::Graph& g = Access::shared(*this).graph;
  const pando::ComputeSetId id = g.add_compute_set(debugContext.getPathName());
  pando::facade::keep_site(Access::shared(*this), Access::shared(*this).compute_set_sites, id.value, debugContext);
  return ComputeSet(id.value, g.serial());
}

VertexRef Graph::addVertex(ComputeSet cs, StringRef vertexType) {
  pando::check_stop();
  pando::graph::Graph& g = Access::shared(*this).graph;
  Access::check_owner(*this, cs.graph(), "the compute set of addVertex");
  if (cs.getId() >= g.compute_sets().size())
    fail(ErrorKind::graph_object_creation_error, "no-such-compute-set", "addVertex('{}'): there is no compute set {}",
         vertexType.cloneAsString(), cs.getId());
  const std::string type = vertexType.cloneAsString();
  pando::facade::provide_builtin_codelets(Access::shared(*this), type);
  return VertexRef(g.add_vertex(pando::ComputeSetId(cs.getId()), type, Access::replication(*this)).value, g.serial());
}

VertexRef Graph::addVertex(ComputeSet cs, StringRef vertexType, ArrayRef<ConnectionDesc> connections, const SourceLocation& at) {
  const VertexRef v = addVertex(cs, vertexType);
  const pando::graph::Graph& g = Access::shared(*this).graph;
  const Codelet& codelet = g.library()[g.vertices()[VertexId(v.getId())].codelet];
  for (const ConnectionDesc& c : connections) {
    const FieldRef field = v[c.field_];
    if (!c.constant_ && c.list_) {
      connect(field, c.tensors_, at);
    } else if (!c.constant_) {
      connect(field, c.tensors_[0], at);
    } else if (field_named(codelet, c.field_).is_edge()) {
      connectConstant(field, c.type_, c.bytes_.data(), c.count_, at);
    } else {
      setFieldValue(field, c.type_, c.bytes_.data(), c.count_, !c.list_);
    }
  }
  return v;
}

void Graph::connect(FieldRef field, const Tensor& tensor, const SourceLocation& at) {
  const pando::graph::FieldRef ref = to_ref(*this, field, at);
  Access::shared(*this).graph.connect(ref, Access::view(*this, tensor, "the tensor of connect"));
  connect_metadata(*this, ref, tensor);
}

void Graph::connect(FieldRef field, ArrayRef<Tensor> tensors, const SourceLocation& at) {
  std::vector<View> views;
  views.reserve(tensors.size());
  for (const Tensor& t : tensors) views.push_back(Access::view(*this, t, "a tensor of connect"));
  pando::graph::FieldRef ref = to_ref(*this, field, at);
  Access::shared(*this).graph.connect(ref, views);
  for (std::size_t i = 0; i < tensors.size() && tensors[i].elementType() == QUARTER; ++i) {
    if (i > 0) ref.row = i;
    connect_metadata(*this, ref, tensors[i]);
  }
}

void Graph::connectConstant(const FieldRef& field, const Type& type, const void* values, std::size_t n, const SourceLocation& at) {
  Access::shared(*this).graph.connect_constant(to_ref(*this, field, at), Access::element_type(type), bytes_of(type, values, n), n);
}

void Graph::setFieldValue(const FieldRef& field, const Type& type, const void* values, std::size_t n, bool) {
  core::GraphShared& shared = Access::shared(*this);
  const pando::graph::FieldRef ref = to_ref(*this, field);
  shared.graph.set_initial_value(ref, Access::element_type(type), bytes_of(type, values, n), n);
  if (!shared.late_values.empty()) shared.late_values.erase(late_key(shared.graph, ref));
}

void Graph::setLateValue(const FieldRef& field, const Type& type, std::function<std::string(const VertexEdgeInfo&)> callback) {
  core::GraphShared& shared = Access::shared(*this);
  const pando::graph::FieldRef ref = to_ref(*this, field);
  const Codelet& codelet = shared.graph.library()[shared.graph.vertices()[ref.vertex].codelet];
  const Field& f = field_named(codelet, ref.field);
  if (f.is_edge() || f.shape != pando::FieldShape::scalar || ref.row)
    fail(ErrorKind::graph_connection_error, "late-value",
         "setInitialValue of {}.{} with a callback: expected a scalar field that is no edge", codelet.name, f.name);
  if (!callback)
    fail(ErrorKind::graph_connection_error, "late-value", "setInitialValue of {}.{}: the callback is empty", codelet.name, f.name);
  const ElementType from = Access::element_type(type), to = f.type;
  const std::string what = "setInitialValue of " + codelet.name + "." + f.name + " with a callback";
  shared.graph.set_initial_value(ref, to, std::string(pando::size_of(to), '\0'), 1);
  shared.late_values[late_key(shared.graph, ref)] = [=](const pando::compile::StoredEdges& edges) {
    VertexEdgeInfo info;
    for (const auto& [name, rows] : edges)
      for (const pando::compile::StoredRow& row : rows) info.storage[name].push_back({row.address, row.bytes});
    return pando::graph::convert_elements(callback(info), from, to, what);
  };
}

void Graph::setInitialValueHalf(FieldRef field, std::uint16_t value) { setFieldValue(field, HALF, &value, 1, true); }
void Graph::setInitialValueHalf(FieldRef field, ArrayRef<std::uint16_t> values) {
  setFieldValue(field, HALF, values.data(), values.size(), false);
}

void Graph::setFieldSize(FieldRef field, std::size_t size) { Access::shared(*this).graph.set_field_size(to_ref(*this, field), size); }
std::size_t Graph::getFieldSize(FieldRef field) const { return Access::shared(*this).graph.field_size(to_ref(*this, field)); }

std::size_t Graph::getMaxFieldDim(StringRef vertexName, StringRef fieldName, unsigned dimIndex) const {
  const Field& field = field_named(codelet_named(*this, vertexName), fieldName);
  const unsigned rank = field.shape == pando::FieldShape::scalar ? 0 : field.shape == pando::FieldShape::vector ? 1 : 2;
  if (dimIndex >= rank)
    fail(ErrorKind::index_error, "field-dimension", "getMaxFieldDim: dimension {} of field '{}.{}', which has {}", dimIndex,
         vertexName.cloneAsString(), field.name, rank);
  return pando::max_field_size(field, dimIndex);
}

double Graph::getMaxVertexFieldValue(StringRef vertexName, StringRef fieldName) const {
  return greatest(field_named(codelet_named(*this, vertexName), fieldName).type);
}

void Graph::setPerfEstimate(const VertexRef& v, std::uint64_t cycles, std::uint64_t flops) {
  Access::shared(*this).graph.set_perf_estimate(to_id(*this, v, "setPerfEstimate"), {cycles, flops});
}

void Graph::registerPerfEstimator(StringRef vertexTypeName, PerfEstimateFunc f) {
  const Codelet& codelet = codelet_named(*this, vertexTypeName);
  if (!f) fail(ErrorKind::poplar_error, "null-estimator", "the estimator of vertex type '{}' is null", codelet.name);
  Access::shared(*this).estimators[codelet.name] = std::move(f);
}

void Graph::registerCycleEstimator(StringRef vertexTypeName, CycleEstimateFunc f) {
  if (!f) return registerPerfEstimator(vertexTypeName, PerfEstimateFunc());
  registerPerfEstimator(vertexTypeName,
                        [f = std::move(f)](const VertexIntrospector& v, const Target& t) { return VertexPerfEstimate(f(v, t)); });
}

void Graph::setTileMapping(VertexRef v, unsigned tileNum) {
  const VertexId id = to_id(*this, v, "setTileMapping");
  pando::graph::Graph& g = Access::shared(*this).graph;
  const bool known = tileNum < Access::state(*this).target.getNumTiles();
  const std::string what = known ? "" : fmt::format("setTileMapping of a vertex of type '{}'", g.library()[g.vertices()[id].codelet].name);
  g.set_tile_mapping(id, Access::physical_tile(*this, tileNum, what));
}

}  // namespace poplar
