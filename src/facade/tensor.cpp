#include "poplar/Tensor.hpp"

#include <fmt/ranges.h>
#include <cstring>

#include "facade/state/state.h"
#include "poplar/TypeConversion.hpp"

namespace pando::facade {

const poplar::core::TensorState& Access::state(const poplar::Tensor& t, const char* role) {
  if (!t.state_) fail(ErrorKind::poplar_error, "invalid-tensor", "{} is invalid (default-constructed)", role);
  return *t.state_;
}

poplar::Tensor Access::tensor(poplar::core::TensorState state) {
  poplar::Tensor t;
  t.state_ = std::make_shared<const poplar::core::TensorState>(std::move(state));
  return t;
}

poplar::Tensor Access::tensor(const poplar::core::TensorState& like, graph::View view) {
  return tensor(poplar::core::TensorState{std::move(view), like.graph, like.metadata});
}

}  // namespace pando::facade

namespace poplar {

using pando::ErrorKind;
using pando::fail;
using pando::facade::Access;
using pando::graph::Region;
using pando::graph::Run;
using pando::graph::Shape;
using pando::graph::to_string;
using pando::graph::View;

namespace {

std::size_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::size_t n = 1;
  for (std::size_t d = begin; d < end; ++d) n *= shape[d];
  return n;
}

void check_dim(const View& v, std::size_t dim, const char* what) {
  if (dim >= v.rank())
    fail(ErrorKind::index_error, "tensor-dimension", "{}: dimension {} of a tensor of shape {}", what, dim, to_string(v.shape()));
}

void check_dims(const View& v, std::size_t begin, std::size_t end, const char* what) {
  if (begin > end || end > v.rank())
    fail(ErrorKind::index_error, "tensor-dimension", "{}: dimensions [{}, {}) of a tensor of shape {}", what, begin, end,
         to_string(v.shape()));
}

Tensor with(const Tensor& like, View view) { return Access::tensor(Access::state(like), std::move(view)); }

View concat_all(ArrayRef<Tensor> tensors, unsigned dimension) {
  std::vector<View> parts;
  parts.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    parts.push_back(Access::view(t, "a tensor of concat"));
    if (Access::state(t).graph != Access::state(tensors[0]).graph)
      Access::check_owner(*Access::state(tensors[0]).graph, Access::owner(t), "a tensor of concat: " + t.getDebugStr());
  }
  return View::concat(parts, dimension);
}

}  // namespace

Tensor::Tensor() = default;
Tensor::~Tensor() = default;
Tensor::Tensor(const Tensor&) = default;
Tensor::Tensor(Tensor&&) noexcept = default;
Tensor& Tensor::operator=(const Tensor&) = default;
Tensor& Tensor::operator=(Tensor&&) noexcept = default;

Type Tensor::elementType() const { return Access::type(Access::view(*this).type()); }
unsigned Tensor::rank() const { return static_cast<unsigned>(Access::view(*this).rank()); }
std::size_t Tensor::dim(unsigned i) const {
  const View& v = Access::view(*this);
  check_dim(v, i, "dim");
  return v.shape()[i];
}
std::vector<std::size_t> Tensor::shape() const { return Access::view(*this).shape(); }
std::size_t Tensor::numElements() const { return Access::view(*this).num_elements(); }
std::string Tensor::shapeToString() const { return to_string(Access::view(*this).shape()); }

Tensor Tensor::operator[](std::size_t i) const { return with(*this, Access::view(*this).index(i)); }

Tensor Tensor::index(ArrayRef<std::size_t> indices) const {
  View v = Access::view(*this);
  check_dims(v, 0, indices.size(), "index");
  for (const std::size_t i : indices) v = v.index(i);
  return with(*this, std::move(v));
}

Tensor Tensor::slice(std::size_t begin, std::size_t end, unsigned dimension) const {
  return with(*this, Access::view(*this).slice(begin, end, dimension));
}

Tensor Tensor::slice(const Interval& region, unsigned dimension) const { return slice(region.begin(), region.end(), dimension); }

Tensor Tensor::slice(ArrayRef<std::size_t> begins, ArrayRef<std::size_t> ends) const {
  View v = Access::view(*this);
  if (begins.size() != ends.size() || begins.size() > v.rank())
    fail(ErrorKind::index_error, "slice-rank", "slice: {} begins and {} ends for a tensor of shape {}", begins.size(), ends.size(),
         to_string(v.shape()));
  for (std::size_t d = 0; d < begins.size(); ++d) v = v.slice(begins[d], ends[d], d);
  return with(*this, std::move(v));
}

std::vector<Tensor> Tensor::slices(ArrayRef<Interval> intervals, unsigned dimension) const {
  std::vector<Tensor> result;
  result.reserve(intervals.size());
  for (const Interval& i : intervals) result.push_back(slice(i, dimension));
  return result;
}

// PopLibs asks a single element for the regions of a longer tensor that it goes with: it is there as often as they ask.
std::vector<Tensor> Tensor::slices(const std::vector<std::vector<Interval>>& intervals, unsigned dimension) const {
  std::size_t reach = 0;
  for (const std::vector<Interval>& list : intervals)
    for (const Interval& i : list) reach = std::max(reach, i.end());
  if (rank() == 1 && dimension == 0 && numElements() == 1 && reach > 1) {
    if (reach > ~0u) fail(ErrorKind::index_error, "slice-out-of-range", "slices of a tensor of one element: an interval ends at {}", reach);
    return broadcast(static_cast<unsigned>(reach), 0).slices(intervals, 0);
  }
  std::vector<Tensor> result;
  result.reserve(intervals.size());
  for (const std::vector<Interval>& list : intervals)
    result.push_back(list.size() == 1 ? slice(list[0], dimension)
                     : list.empty()   ? slice(0, 0, dimension)
                                      : concat(slices(list, dimension), dimension));
  return result;
}

std::vector<Tensor> Tensor::slices(ArrayRef<unsigned> indices, unsigned dimension) const {
  std::vector<Tensor> result;
  result.reserve(indices.size());
  for (const unsigned i : indices) result.push_back(slice(i, std::size_t{i} + 1, dimension));
  return result;
}

Tensor Tensor::reshape(ArrayRef<std::size_t> shape) const { return with(*this, Access::view(*this).reshape(shape.cloneAsVector())); }

Tensor Tensor::reshapePartial(unsigned beginDim, unsigned endDim, ArrayRef<std::size_t> shape) const {
  const View& v = Access::view(*this);
  check_dims(v, beginDim, endDim, "reshapePartial");
  Shape result(v.shape().begin(), v.shape().begin() + beginDim);
  result.insert(result.end(), shape.begin(), shape.end());
  result.insert(result.end(), v.shape().begin() + endDim, v.shape().end());
  return with(*this, v.reshape(result));
}

Tensor Tensor::flatten() const { return with(*this, Access::view(*this).flatten()); }

Tensor Tensor::flatten(unsigned beginDim, unsigned endDim) const {
  const View& v = Access::view(*this);
  check_dims(v, beginDim, endDim, "flatten");
  return reshapePartial(beginDim, endDim, {product(v.shape(), beginDim, endDim)});
}

Tensor Tensor::expand(ArrayRef<std::size_t> indices) const {
  const View& v = Access::view(*this);
  Shape sorted(indices.begin(), indices.end());
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.back() > v.rank())
    fail(ErrorKind::index_error, "tensor-dimension", "expand: before dimension {} of a tensor of shape {}", sorted.back(),
         to_string(v.shape()));
  Shape result;
  std::size_t next = 0;
  for (std::size_t d = 0; d <= v.rank(); ++d) {
    for (; next < sorted.size() && sorted[next] == d; ++next) result.push_back(1);
    if (d < v.rank()) result.push_back(v.shape()[d]);
  }
  return with(*this, v.reshape(result));
}

Tensor Tensor::squeeze(ArrayRef<std::size_t> indices) const {
  const View& v = Access::view(*this);
  std::vector<bool> drop(v.rank(), false);
  for (const std::size_t d : indices) {
    check_dim(v, d, "squeeze");
    if (v.shape()[d] != 1)
      fail(ErrorKind::tensor_creation_error, "squeeze-size", "squeeze: dimension {} of shape {} does not have size 1", d,
           to_string(v.shape()));
    drop[d] = true;
  }
  Shape result;
  for (std::size_t d = 0; d < v.rank(); ++d)
    if (!drop[d]) result.push_back(v.shape()[d]);
  return with(*this, v.reshape(result));
}

Tensor Tensor::dimShuffle(ArrayRef<unsigned> permutation) const {
  return with(*this, Access::view(*this).dim_shuffle(permutation.cloneAsVector()));
}

Tensor Tensor::dimShufflePartial(ArrayRef<unsigned> source, ArrayRef<unsigned> destination) const {
  const View& v = Access::view(*this);
  if (source.size() != destination.size())
    fail(ErrorKind::index_error, "shuffle-size", "dimShufflePartial: {} sources and {} destinations", source.size(), destination.size());
  constexpr unsigned kFree = ~0u;
  std::vector<unsigned> permutation(v.rank(), kFree);
  std::vector<bool> moved(v.rank(), false);
  for (std::size_t i = 0; i < source.size(); ++i) {
    check_dim(v, source[i], "dimShufflePartial");
    check_dim(v, destination[i], "dimShufflePartial");
    if (moved[source[i]] || permutation[destination[i]] != kFree)
      fail(ErrorKind::index_error, "shuffle-twice", "dimShufflePartial: dimension {} or position {} is given twice", source[i],
           destination[i]);
    moved[source[i]] = true;
    permutation[destination[i]] = source[i];
  }
  unsigned next = 0;
  for (unsigned& p : permutation) {
    if (p != kFree) continue;
    while (moved[next]) ++next;
    p = next++;
  }
  return with(*this, v.dim_shuffle(permutation));
}

Tensor Tensor::dimRoll(unsigned dimension, unsigned newIndex) const { return dimShufflePartial({dimension}, {newIndex}); }

Tensor Tensor::transpose() const {
  const View& v = Access::view(*this);
  if (v.rank() != 2)
    fail(ErrorKind::tensor_creation_error, "transpose-rank", "transpose: shape {} is not that of a matrix", to_string(v.shape()));
  return with(*this, v.dim_shuffle({1, 0}));
}

Tensor Tensor::reverse(unsigned dimension) const { return with(*this, Access::view(*this).reverse(dimension)); }
Tensor Tensor::broadcast(unsigned n, unsigned dimension) const { return with(*this, Access::view(*this).broadcast(n, dimension)); }
Tensor Tensor::subSample(unsigned stride, unsigned dimension) const {
  return with(*this, Access::view(*this).sub_sample(stride, dimension));
}
Tensor Tensor::upsample(unsigned scale, unsigned dimension, UpsampleMethod) const {
  return with(*this, Access::view(*this).upsample(scale, dimension));
}
Tensor Tensor::reinterpret(const Type& type) const {
  const core::TensorState& s = Access::state(*this);
  return Access::tensor({s.view.reinterpret(Access::element_type(type)), s.graph, type == QUARTER ? s.metadata : nullptr});
}

bool Tensor::containsAliases() const { return Access::view(*this).contains_aliases(); }

bool Tensor::containsConstant() const {
  const core::TensorState& s = Access::state(*this);
  for (const pando::VariableId v : s.view.variables())
    if (s.graph->graph.variables()[v].constant) return true;
  return false;
}

bool Tensor::isParallelWriteable() const { return !containsConstant() && !containsAliases(); }
bool Tensor::isContiguous() const { return Access::view(*this).is_contiguous(); }
bool Tensor::intersectsWith(const Tensor& other) const {
  return Access::view(*this).intersects(Access::view(other)) && Access::state(*this).graph == Access::state(other).graph;
}

bool Tensor::constantValue(const Type& as, void* value) const {
  const core::TensorState& s = Access::state(*this);
  if (s.view.num_elements() != 1) return false;
  const Run run = s.view.runs().front();
  const pando::graph::Variable& variable = s.graph->graph.variables()[run.variable];
  if (!variable.constant || variable.replica_index) return false;
  const std::size_t size = pando::size_of(variable.type);
  if (variable.initial.size() < (run.offset + 1) * size) return false;
  pando_detail::convertElements(elementType(), variable.initial.data() + run.offset * size, as, value, 1, QuarterMetadata());
  return true;
}

std::vector<Interval> Tensor::getContiguousRegions() const {
  const std::vector<Region> regions = Access::view(*this).regions();
  std::vector<Interval> result;
  result.reserve(regions.size());
  std::size_t begin = 0;
  for (const Region& r : regions) {
    result.emplace_back(begin, begin + r.elements.size());
    begin += r.elements.size();
  }
  return result;
}

std::vector<VariableInterval> Tensor::getVarRegions() const {
  const std::vector<Region> regions = Access::view(*this).regions();
  std::vector<VariableInterval> result;
  result.reserve(regions.size());
  for (const Region& r : regions)
    result.emplace_back(VariableRef(r.variable.value, Access::owner(*this)), Interval(r.elements.begin, r.elements.end));
  return result;
}

bool Tensor::hasMetadata() const { return Access::state(*this).metadata != nullptr; }

Tensor Tensor::getMetadata() const {
  const core::TensorState& s = Access::state(*this);
  return s.metadata ? Access::tensor(*s.metadata) : Tensor();
}

std::string Tensor::getVarStr() const {
  const core::TensorState& s = Access::state(*this);
  std::vector<std::string> names;
  for (const pando::VariableId v : s.view.variables()) names.push_back(s.graph->graph.variables()[v].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string Tensor::getDebugStr() const {
  return fmt::format("Tensor {} {} of {{{}}}", elementType().toString(), shapeToString(), getVarStr());
}

void Tensor::dump() const { outputRegions(std::cerr); }

void Tensor::outputRegions(std::ostream& out) const {
  const core::TensorState& s = Access::state(*this);
  out << getDebugStr() << '\n';
  for (const Region& r : s.view.regions())
    out << "  " << s.graph->graph.variables()[r.variable].name << " [" << r.elements.begin << ',' << r.elements.end << ")\n";
}

Tensor concat(ArrayRef<Tensor> tensors, unsigned dimension) {
  if (tensors.empty()) fail(ErrorKind::tensor_creation_error, "concat-nothing", "concat needs at least one tensor");
  return with(tensors[0], concat_all(tensors, dimension));
}

Tensor concat(const Tensor& first, const Tensor& second, unsigned dimension) {
  const Tensor both[] = {first, second};
  return concat(both, dimension);
}

Tensor append(const Tensor& first, const Tensor& second, unsigned dimension) {
  return concat(first, second.expand({dimension}), dimension);
}
Tensor append(const Tensor& first, const Tensor& second) { return append(first, second, 0); }

bool operator==(const Tensor& a, const Tensor& b) {
  if (!a.valid() || !b.valid()) return a.valid() == b.valid();
  return Access::state(a).graph == Access::state(b).graph && Access::view(a) == Access::view(b);
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << (tensor.valid() ? tensor.getDebugStr() : "Tensor (invalid)");
}

}  // namespace poplar
