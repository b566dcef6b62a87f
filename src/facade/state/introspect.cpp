#include "facade/state/introspect.h"

#include "poplar/TypeConversion.hpp"

namespace pando::facade {

poplar::VertexIntrospector Access::introspector(const poplar::core::VertexState& state) { return poplar::VertexIntrospector(state); }
poplar::FieldData Access::field_data(std::shared_ptr<const poplar::core::FieldState> state) { return poplar::FieldData(std::move(state)); }

void estimate_vertices(poplar::core::GraphShared& shared) {
  if (shared.estimators.empty()) return;
  graph::Graph& g = shared.graph;
  const Library& library = g.library();
  std::vector<const poplar::PerfEstimateFunc*> by_codelet(library.size(), nullptr);
  for (std::size_t i = 0; i < by_codelet.size(); ++i) {
    const auto it = shared.estimators.find(library[CodeletId(static_cast<std::uint32_t>(i))].name);
    if (it != shared.estimators.end()) by_codelet[i] = &it->second;
  }
  for (std::uint32_t i = 0; i < g.vertices().size(); ++i) {
    const VertexId id(i);
    const graph::Vertex& v = g.vertices()[id];
    const poplar::PerfEstimateFunc* f = by_codelet[v.codelet.index()];
    if (!f || v.estimate) continue;
    const poplar::core::VertexState state{&g, id};
    const poplar::VertexPerfEstimate e = (*f)(Access::introspector(state), shared.replica_target);
    g.set_perf_estimate(id, {e.cycles, e.flops});
  }
}

}  // namespace pando::facade

namespace poplar {

using pando::ErrorKind;
using pando::fail;
using pando::Field;
using pando::FieldLayout;
using pando::FieldShape;
using pando::facade::Access;
using pando::graph::View;

namespace {

std::string name_of(const core::FieldState& s) { return s.codelet->name + '.' + s.field->name; }

std::size_t state_elements(const core::FieldState& s) { return s.value ? s.value->bytes.size() / pando::size_of(s.field->type) : 0; }

// The bytes of a view whose elements are all constants.
std::string constant_bytes(const core::FieldState& s, const View& view) {
  const std::size_t size = pando::size_of(view.type());
  std::string bytes;
  view.for_each_run([&](const pando::graph::Run& r) {
    const pando::graph::Variable& v = s.graph->variables()[r.variable];
    if (!v.constant)
      fail(ErrorKind::poplar_error, "field-value", "the value of field '{}' is not known before the program runs", name_of(s));
    for (std::uint64_t i = 0; i < r.count; ++i)
      bytes.append(v.initial, (r.offset + static_cast<std::uint64_t>(r.stride * static_cast<std::int64_t>(i))) * size, size);
  });
  return bytes;
}

}  // namespace

FieldData::FieldData(std::shared_ptr<const core::FieldState> state) : state_(std::move(state)) {}
FieldData::~FieldData() = default;
FieldData::FieldData(const FieldData&) = default;
FieldData& FieldData::operator=(const FieldData&) = default;

unsigned FieldData::rank() const {
  const FieldShape shape = state_->field->shape;
  return shape == FieldShape::scalar ? 0 : shape == FieldShape::vector ? 1 : 2;
}

std::size_t FieldData::size() const {
  if (rank() == 0) return 1;
  if (!state_->edge) return state_elements(*state_);
  if (rank() == 2) return state_->edge->rows.size();
  return state_->edge->rows.empty() ? 0 : state_->edge->rows[0].num_elements();
}

std::size_t FieldData::getSizeAtIndex(std::size_t i) const {
  if (rank() == 2 && state_->edge && i < state_->edge->rows.size()) return state_->edge->rows[i].num_elements();
  if (rank() == 1 && i < size()) return 1;
  fail(ErrorKind::index_error, "field-row", "row {} of field '{}', which has {}", i, name_of(*state_), size());
}

layout::Vector FieldData::getProfilerVectorLayout(unsigned nesting) const {
  const Field& f = *state_->field;
  if (f.shape == FieldShape::scalar || f.shape == FieldShape::vector_list || nesting >= rank()) return layout::Vector::NotAVector;
  switch (nesting == 0 ? f.layout : f.inner_layout) {
    case FieldLayout::span: return layout::Vector::Span;
    case FieldLayout::short_span: return layout::Vector::ShortSpan;
    case FieldLayout::scaled_ptr32: return layout::Vector::ScaledPtr32;
    case FieldLayout::scaled_ptr64: return layout::Vector::ScaledPtr64;
    case FieldLayout::scaled_ptr128: return layout::Vector::ScaledPtr128;
    default: return layout::Vector::OnePtr;
  }
}

layout::VectorList FieldData::getProfilerVectorListLayout() const {
  if (state_->field->shape != FieldShape::vector_list) return layout::VectorList::NotAVector;
  switch (state_->field->layout) {
    case FieldLayout::scaled_ptr32: return layout::VectorList::ScaledPtr32;
    case FieldLayout::scaled_ptr64: return layout::VectorList::ScaledPtr64;
    case FieldLayout::scaled_ptr128: return layout::VectorList::ScaledPtr128;
    case FieldLayout::delta_n: return layout::VectorList::DeltaN;
    case FieldLayout::delta_n_elements:
    case FieldLayout::compact_delta_n: return layout::VectorList::DeltaNElements;
    default: return layout::VectorList::OnePtr;
  }
}

void FieldData::read(std::size_t row, const Type& as, void* out, std::size_t n) const {
  const core::FieldState& s = *state_;
  std::string bytes;
  if (s.edge) {
    if (row >= s.edge->rows.size()) fail(ErrorKind::poplar_error, "field-value", "field '{}' is not connected", name_of(s));
    bytes = constant_bytes(s, s.edge->rows[row]);
  } else {
    if (!s.value) fail(ErrorKind::poplar_error, "field-value", "field '{}' has no initial value", name_of(s));
    bytes = s.value->bytes;
  }
  if (bytes.size() < n * pando::size_of(s.field->type))
    fail(ErrorKind::poplar_error, "field-value", "field '{}' has {} values, not {}", name_of(s),
         bytes.size() / pando::size_of(s.field->type), n);
  pando_detail::convertElements(Access::type(s.field->type), bytes.data(), as, out, n, QuarterMetadata());
}

FieldData VertexIntrospector::getFieldInfo(const std::string& name) const {
  const pando::graph::Graph& g = *state_->graph;
  const pando::graph::Vertex& v = g.vertices()[state_->id];
  auto s = std::make_shared<core::FieldState>();
  s->graph = &g;
  s->codelet = &g.library()[v.codelet];
  s->field = s->codelet->find_field(name);
  if (!s->field) fail(ErrorKind::unknown_field, "unknown-field", "vertex type '{}' has no field '{}'", s->codelet->name, name);
  const std::size_t index = s->codelet->field_index(*s->field);
  for (const auto& e : v.edges)
    if (e.field == index) s->edge = &e;
  for (const auto& value : v.state)
    if (value.field == index) s->value = &value;
  return Access::field_data(std::move(s));
}

std::string VertexIntrospector::getVertexName() const {
  return state_->graph->library()[state_->graph->vertices()[state_->id].codelet].name;
}

ComputeSet VertexIntrospector::getComputeSet() const {
  return ComputeSet(state_->graph->vertices()[state_->id].compute_set.value, state_->graph->serial());
}

}  // namespace poplar
