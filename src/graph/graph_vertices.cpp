// Compute sets, vertices, their fields and where they run. What connects to what:
//
//   field       one tensor                                   a list of tensors                    v["field"][i]
//   scalar      exactly one element, any rank                -                                    -
//   1-D         rank 0 (one element) or rank 1               ranks 0 and 1, concatenated          one element, after setFieldSize
//   2-D         rank 2 or more: one row per outer index,     ranks 0 and 1: one row each          rank 0 or 1; before setFieldSize
//               flattened                                                                     the field grows
//
// A later connection replaces an earlier one.
#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "base/sizes.h"
#include "graph/convert.h"
#include "graph/graph.h"

namespace pando::graph {

namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "'" : ", '") + n + "'";
  return text;
}

// The library whose addCodelets was not called, if the name is one of a library's; else similar names.
std::string what_may_be_missing(const Library& library, std::string_view name) {
  const std::string_view space = name.substr(0, name.find("::"));
  if (space.size() < name.size() && space.rfind("pop", 0) == 0) {
    const std::string prefix = std::string(space) + "::";
    bool any = false;
    for (std::size_t i = 0; i < library.size() && !any; ++i)
      any = library[CodeletId(static_cast<std::uint32_t>(i))].name.rfind(prefix, 0) == 0;
    if (!any) return fmt::format(": those of {0} are missing; call {0}::addCodelets(graph)", space);
  }
  const std::vector<std::string> similar = library.similar(name);
  return similar.empty() ? " (addCodelets)" : "; did you mean " + listed(similar) + "?";
}

}  // namespace

ComputeSetId Graph::add_compute_set(std::string name) { return compute_sets_.push({std::move(name), {}}); }

VertexId Graph::add_vertex(ComputeSetId cs, std::string_view codelet_name, ReplicationId replication) {
  if (!cs.valid() || cs.index() >= compute_sets_.size())
    fail(ErrorKind::graph_object_creation_error, "no-such-compute-set", "addVertex of '{}' to compute set {}; the graph has {}",
         codelet_name, cs.value, compute_sets_.size());
  const CodeletId codelet = library_.id_of(codelet_name);
  if (!codelet.valid()) {
    fail(ErrorKind::unknown_vertex_type, "unknown-vertex-type", "no codelet '{}' among the {} that were added to the graph{}", codelet_name,
         library_.size(), what_may_be_missing(library_, codelet_name));
  }
  Vertex v;
  v.codelet = codelet;
  v.compute_set = cs;
  v.replication = replication;
  const Codelet& c = library_[codelet];
  std::size_t edges = 0;
  for (const Field& f : c.fields) edges += f.is_edge();
  v.edges.reserve(edges);
  for (const Field& f : c.fields)
    if (f.is_edge()) v.edges.push_back({static_cast<std::uint16_t>(c.field_index(f)), false, 0, {}});
  const VertexId id = vertices_.push(std::move(v));
  compute_sets_[cs].vertices.push_back(id);
  return id;
}

void Graph::set_tile_mapping(VertexId v, TileId tile) {
  if (tile.value >= machine_.tiles()) check_tile(tile, fmt::format("vertex {} ({})", v.value, codelet_of(v).name));
  vertices_[v].tile = tile;
  const auto [first, last] = vertex_constants_.equal_range(v);
  for (auto it = first; it != last; ++it) variables_[it->second].mapping.set({0, variables_[it->second].elements}, tile);
}

// Programs connect from few places, mostly many times in a row from the same one.
std::uint32_t Graph::call_site(const char* file, unsigned line) {
  if (line == 0) return 0;
  for (std::size_t back = 0; back < std::min<std::size_t>(sites_.size(), 8); ++back) {
    const CallSite& site = sites_[sites_.size() - 1 - back];
    if (site.key == file && site.line == line) return static_cast<std::uint32_t>(sites_.size() - back);
  }
  sites_.push_back({file, file, line});
  return static_cast<std::uint32_t>(sites_.size());
}

std::string Graph::site_text(std::uint32_t site) const {
  if (site == 0) return {};
  return fmt::format("{}:{}", sites_[site - 1].file, sites_[site - 1].line);
}

SourceLine Graph::site(std::uint32_t site) const { return {sites_[site - 1].file, sites_[site - 1].line}; }

const Field& Graph::field_of(const FieldRef& ref) const {
  PANDO_CHECK(ref.vertex.index() < vertices_.size());
  const Codelet& codelet = codelet_of(ref.vertex);
  if (const Field* field = codelet.find_field(ref.field)) return *field;
  std::vector<std::string> names;
  for (const Field& f : codelet.fields) names.push_back(f.name);
  fail(ErrorKind::unknown_field, "unknown-field", "vertex type '{}' has no field '{}'; it has {}", codelet.name, ref.field,
       names.empty() ? std::string("none") : listed(names));
}

std::string Graph::named(VertexId v, const Field& field) const {
  return fmt::format("{}.{} (vertex {})", codelet_of(v).name, field.name, v.value);
}

Edge& Graph::edge_of(VertexId v, const Field& field) {
  const auto index = codelet_of(v).field_index(field);
  for (Edge& e : vertices_[v].edges)
    if (e.field == index) return e;
  PANDO_CHECK(!"an edge field without its edge");
  return vertices_[v].edges.front();
}

void Graph::check_operand(VertexId v, const Field& field, const View& tensor) const {
  if (!tensor.valid())
    fail(ErrorKind::graph_connection_error, "invalid-tensor", "connect of {}: the tensor is not valid (default-constructed)",
         named(v, field));
  if (tensor.type() != field.type)
    fail(ErrorKind::type_error, "field-type", "connect of {}: the field has element type {}, the tensor of shape {} has {}",
         named(v, field), name_of(field.type), to_string(tensor.shape()), name_of(tensor.type()));
  if (!field.is_written()) return;
  for (VariableId id : tensor.variables())
    if (variables_[id].constant)
      fail(ErrorKind::graph_connection_error, "constant-is-fixed", "connect of {}: the field is written, and constant '{}' is not",
           named(v, field), variables_[id].name);
}

void Graph::check_sizes(VertexId v, const Field& field, const std::vector<View>& rows) const {
  auto check = [&](std::uint64_t size, unsigned dim, const char* what) {
    const std::uint64_t most = max_field_size(field, dim);
    if (size > most)
      fail(ErrorKind::graph_connection_error, "field-too-large", "connect of {}: {} {}; the field's layout can hold {}", named(v, field),
           size, what, most);
  };
  if (field.shape == FieldShape::scalar) return;
  if (!field.has_rows()) return check(rows[0].num_elements(), 0, "elements");
  check(rows.size(), 0, "rows");
  std::uint64_t longest = 0;
  for (const View& row : rows) longest = std::max<std::uint64_t>(longest, row.num_elements());
  check(longest, 1, "elements in a row");
}

namespace {

[[noreturn]] void wrong_shape(const std::string& field, const char* want, const View& tensor) {
  fail(ErrorKind::graph_connection_error, "field-shape", "connect of {}: {}; the tensor has shape {}", field, want,
       to_string(tensor.shape()));
}

constexpr const char* kWantsScalar = "a scalar field takes one element";
constexpr const char* kWantsVector = "a one-dimensional field takes a tensor of rank 1 (flatten() it), or a list of them";
constexpr const char* kWantsMatrix = "a two-dimensional field takes a tensor of rank 2, one row per outer index, or a list of tensors";
constexpr const char* kWantsRow = "a row takes a tensor of rank 1 (flatten() it)";

View as_row(View tensor) { return tensor.rank() == 1 ? std::move(tensor) : tensor.flatten(); }

}  // namespace

void Graph::connect(const FieldRef& ref, const View& tensor) {
  const Field& field = field_of(ref);
  const VertexId v = ref.vertex;
  if (!field.is_edge())
    fail(ErrorKind::graph_connection_error, "not-an-edge", "connect of {}: the field is no Input, Output or InOut; use setInitialValue",
         named(v, field));
  check_operand(v, field, tensor);
  if (ref.row) {
    edge_of(v, field).site = ref.site;
    return field.has_rows() ? connect_row(v, field, *ref.row, tensor) : connect_element(v, field, *ref.row, tensor);
  }

  std::vector<View> rows;
  if (field.shape == FieldShape::scalar) {
    if (tensor.num_elements() != 1) wrong_shape(named(v, field), kWantsScalar, tensor);
    rows = {as_row(tensor)};
  } else if (!field.has_rows()) {
    if (tensor.rank() > 1) wrong_shape(named(v, field), kWantsVector, tensor);
    rows = {as_row(tensor)};
  } else if (field.scalar_rows && tensor.rank() == 1) {  // one scalar edge per element
    rows.reserve(tensor.dim(0));
    for (std::size_t i = 0; i < tensor.dim(0); ++i) rows.push_back(tensor.slice(i, i + 1, 0));
  } else {
    if (tensor.rank() < 2) wrong_shape(named(v, field), kWantsMatrix, tensor);
    rows.reserve(tensor.dim(0));
    for (std::size_t i = 0; i < tensor.dim(0); ++i) rows.push_back(as_row(tensor.index(i)));
  }
  check_sizes(v, field, rows);
  Edge& edge = edge_of(v, field);
  edge.site = ref.site;
  edge.rows = std::move(rows);
  edge.connected = edge.sized = true;
}

void Graph::connect(const FieldRef& ref, const std::vector<View>& tensors) {
  const Field& field = field_of(ref);
  const VertexId v = ref.vertex;
  if (!field.is_edge() || field.shape == FieldShape::scalar || ref.row) {
    if (tensors.size() == 1 || (ref.row && !tensors.empty() && field.has_rows()))
      return connect(ref, tensors.size() == 1 ? tensors[0] : View::concat(tensors, 0));
    fail(ErrorKind::graph_connection_error, "list-to-scalar", "connect of {}: a list of {} tensors to {}", named(v, field), tensors.size(),
         field.is_edge() ? "a scalar field" : "a field that is no Input, Output or InOut");
  }
  std::vector<View> rows;
  rows.reserve(tensors.size());
  for (const View& t : tensors) {
    check_operand(v, field, t);
    if (t.rank() > 1) wrong_shape(named(v, field), field.has_rows() ? kWantsRow : kWantsVector, t);
    rows.push_back(as_row(t));
  }
  if (!field.has_rows()) rows = {rows.empty() ? View::of_variable({}, field.type, {0}) : View::concat(rows, 0)};
  check_sizes(v, field, rows);
  Edge& edge = edge_of(v, field);
  edge.site = ref.site;
  edge.rows = std::move(rows);
  edge.connected = edge.sized = true;
}

void Graph::connect_row(VertexId v, const Field& field, std::size_t row, View tensor) {
  if (tensor.rank() > 1) wrong_shape(named(v, field), kWantsRow, tensor);
  Edge& edge = edge_of(v, field);
  const std::size_t before = edge.rows.size();
  if (row >= before) {
    if (edge.sized || row >= max_field_size(field, 0))
      fail(ErrorKind::index_error, "row-out-of-range", "connect of row {} of {}, which {} {} rows", row, named(v, field),
           edge.sized ? "has" : "can have", edge.sized ? before : max_field_size(field, 0));
    edge.rows.resize(row + 1);
    edge.connected = row == before && (before == 0 || edge.connected);
  }
  edge.rows[row] = as_row(std::move(tensor));
  const std::uint64_t most = max_field_size(field, 1);
  if (edge.rows[row].num_elements() > most)
    fail(ErrorKind::graph_connection_error, "field-too-large",
         "connect of row {} of {}: {} elements in a row; the field's layout can hold {}", row, named(v, field),
         edge.rows[row].num_elements(), most);
  if (row >= before) return;
  // The last row is the last one to be checked: rows mostly come in order.
  if (row + 1 == edge.rows.size() || edge.rows.back().valid())
    edge.connected = std::all_of(edge.rows.begin(), edge.rows.end(), [](const View& r) { return r.valid(); });
}

void Graph::connect_element(VertexId v, const Field& field, std::size_t element, View tensor) {
  if (field.shape == FieldShape::scalar)
    fail(ErrorKind::graph_connection_error, "index-of-scalar", "connect of element {} of {}, which is a scalar field", element,
         named(v, field));
  if (tensor.num_elements() != 1) wrong_shape(named(v, field), "one element of a field takes one element", tensor);
  Edge& edge = edge_of(v, field);
  auto found = pending_.find(key_of(v, field));
  const std::size_t size = found != pending_.end() ? found->second.size() : edge.connected ? edge.rows[0].num_elements() : 0;
  if (found == pending_.end() && !edge.connected)
    fail(ErrorKind::no_size_specified, "no-field-size", "connect of element {} of {}: its size is not known; call setFieldSize first",
         element, named(v, field));
  if (element >= size)
    fail(ErrorKind::index_error, "element-out-of-range", "connect of element {} of {}, which has size {}", element, named(v, field), size);
  if (found == pending_.end()) {
    const View& row = edge.rows[0];
    edge.rows[0] = View::concat({row.slice(0, element, 0), tensor.flatten(), row.slice(element + 1, size, 0)}, 0);
    return;
  }
  std::vector<View>& elements = found->second;
  elements[element] = tensor.flatten();
  if (!elements.back().valid()) return;  // they mostly come in order
  if (!std::all_of(elements.begin(), elements.end(), [](const View& e) { return e.valid(); })) return;
  edge.rows = {View::concat(elements, 0)};
  edge.connected = true;
  pending_.erase(found);
}

void Graph::connect_constant(const FieldRef& ref, ElementType type, std::string bytes, std::size_t count) {
  const Field& field = field_of(ref);
  const VertexId v = ref.vertex;
  if (!field.is_edge()) return set_initial_value(ref, type, std::move(bytes), count);
  if (field.kind != FieldKind::input)
    fail(ErrorKind::graph_connection_error, "constant-is-fixed", "connect of {} to a constant: the field is written", named(v, field));
  Shape shape;
  if (!(count == 1 && (field.shape == FieldShape::scalar || ref.row))) shape.push_back(count);
  const VariableId id = add_constant(field.type, shape, convert_elements(bytes, type, field.type, "connect of " + named(v, field)),
                                     "<const>", vertices_[v].replication);
  vertex_constants_.emplace(v, id);
  if (vertices_[v].tile.valid()) variables_[id].mapping.set({0, count}, vertices_[v].tile);
  connect(ref, view(id));
}

const StateValue* Graph::find_state(VertexId v, const Field& field) const {
  const auto index = codelet_of(v).field_index(field);
  for (const StateValue& s : vertices_[v].state)
    if (s.field == index) return &s;
  return nullptr;
}

StateValue& Graph::state_of(VertexId v, const Field& field) {
  const auto index = static_cast<std::uint16_t>(codelet_of(v).field_index(field));
  std::vector<StateValue>& list = vertices_[v].state;
  auto it = std::lower_bound(list.begin(), list.end(), index, [](const StateValue& s, std::uint16_t i) { return s.field < i; });
  if (it == list.end() || it->field != index) it = list.insert(it, {index, {}});
  return *it;
}

void Graph::set_initial_value(const FieldRef& ref, ElementType type, std::string bytes, std::size_t count) {
  const Field& field = field_of(ref);
  const VertexId v = ref.vertex;
  if (field.is_edge()) return connect_constant(ref, type, std::move(bytes), count);
  const auto what = [&] { return "setInitialValue of " + named(v, field); };  // for errors
  if (bytes.size() != count * size_of(type))
    fail(ErrorKind::graph_connection_error, "value-size", "{}: {} bytes for {} values of type {}", what(), bytes.size(), count,
         name_of(type));
  std::string values = type == field.type ? std::move(bytes) : convert_elements(bytes, type, field.type, what());
  const std::size_t size = size_of(field.type);
  if (field.shape == FieldShape::scalar && (count != 1 || ref.row))
    fail(ErrorKind::graph_connection_error, "field-shape", "{}: the field is a scalar; {}", what(),
         ref.row ? fmt::format("element {} was addressed", *ref.row) : fmt::format("{} values given", count));
  if (field.has_rows())
    fail(ErrorKind::graph_connection_error, "field-shape", "{}: values of a two-dimensional state field cannot be set", what());
  StateValue& state = state_of(v, field);
  if (!ref.row) {
    if (field.shape == FieldShape::vector && count > max_field_size(field, 0))
      fail(ErrorKind::graph_connection_error, "field-too-large", "{}: {} elements; the field's layout can hold {}", what(), count,
           max_field_size(field, 0));
    state.bytes = std::move(values);
    return;
  }
  if (count != 1) fail(ErrorKind::graph_connection_error, "field-shape", "{}: one element takes one value; {} given", what(), count);
  if (state.bytes.empty())
    fail(ErrorKind::no_size_specified, "no-field-size", "{}: its size is not known; call setFieldSize first", what());
  if (*ref.row >= state.bytes.size() / size)
    fail(ErrorKind::index_error, "element-out-of-range", "{}: element {} of a field of size {}", what(), *ref.row,
         state.bytes.size() / size);
  state.bytes.replace(*ref.row * size, size, values);
}

void Graph::set_field_size(const FieldRef& ref, std::size_t size) {
  const Field& field = field_of(ref);
  const VertexId v = ref.vertex;
  if (field.shape == FieldShape::scalar || ref.row)
    fail(ErrorKind::graph_connection_error, "size-of-scalar", "setFieldSize of {}{}, which has a fixed size", ref.row ? "a row of " : "",
         named(v, field));
  if (size > max_field_size(field, 0))
    fail(ErrorKind::graph_connection_error, "field-too-large", "setFieldSize of {} to {}; the field's layout can hold {}", named(v, field),
         size, max_field_size(field, 0));
  check_host_memory(saturating_mul(size, field.is_edge() ? sizeof(View) : size_of(field.type)), ErrorKind::graph_connection_error,
                    "setFieldSize of " + named(v, field));
  if (!field.is_edge()) {
    state_of(v, field).bytes.resize(size * size_of(field.type), '\0');
    return;
  }
  if (size == 0) return connect(ref, std::vector<View>());
  Edge& edge = edge_of(v, field);
  if (field.has_rows()) {
    edge.rows.resize(size);
    edge.sized = true;
    edge.connected = std::all_of(edge.rows.begin(), edge.rows.end(), [](const View& r) { return r.valid(); });
    return;
  }
  edge.rows.clear();
  edge.connected = false;
  pending_[key_of(v, field)].assign(size, View());
}

std::size_t Graph::field_size(const FieldRef& ref) const {
  const Field& field = field_of(ref);
  const auto index = codelet_of(ref.vertex).field_index(field);
  auto unknown = [&]() {
    fail(ErrorKind::no_size_specified, "no-field-size", "getFieldSize of {}: its size is not known", named(ref.vertex, field));
  };
  if (field.shape == FieldShape::scalar) return 1;
  if (!field.is_edge()) {
    const StateValue* state = find_state(ref.vertex, field);
    if (!state) unknown();
    return state->bytes.size() / size_of(field.type);
  }
  for (const Edge& e : vertices_[ref.vertex].edges) {
    if (e.field != index) continue;
    if (field.has_rows() && !ref.row && (e.connected || !e.rows.empty())) return e.rows.size();
    const std::size_t row = ref.row.value_or(0);
    if (row < e.rows.size() && e.rows[row].valid()) return e.rows[row].num_elements();
  }
  const auto pending = pending_.find(key_of(ref.vertex, field));
  if (pending != pending_.end() && !ref.row) return pending->second.size();
  unknown();
  return 0;
}

void Graph::set_perf_estimate(VertexId v, PerfEstimate estimate) { vertices_[v].estimate = estimate; }

}  // namespace pando::graph
