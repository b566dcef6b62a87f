#include "graph/views/view.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/error.h"
#include "base/sizes.h"
#include "graph/views/view_node.h"

namespace pando::graph {

namespace {

// Of a view's own shape: it does not wrap around, because checked_elements has seen it.
std::size_t product(const Shape& shape, std::size_t begin, std::size_t end) {
  std::size_t n = 1;
  for (std::size_t d = begin; d < end; ++d) n *= shape[d];
  return n;
}
std::size_t product(const Shape& shape) { return product(shape, 0, shape.size()); }

void check_valid(const View& view, const char* operation) {
  if (!view.valid())
    fail(ErrorKind::tensor_creation_error, "invalid-tensor", "{} of a tensor that is not valid (default-constructed)", operation);
}

void check_dim(const View& view, std::size_t dim, const char* operation) {
  check_valid(view, operation);
  if (dim < view.rank()) return;
  fail(ErrorKind::index_error, "dimension-out-of-range", "{}: dimension {} of a tensor of shape {}, which has rank {}", operation, dim,
       to_string(view.shape()), view.rank());
}

// The strides of `shape` over dimensions that are coalesced, if they exist. A new dimension cannot span two of those.
bool strides_for(const Shape& shape, const std::vector<Dim>& coalesced, std::vector<Dim>& out) {
  out.clear();
  std::size_t next = 0;
  std::uint64_t left = 1;  // of coalesced[next - 1], not yet given to a new dimension
  for (std::size_t size : shape) {
    if (size == 1) {
      out.push_back({1, 0});
      continue;
    }
    if (left == 1) left = coalesced[next++].size;
    if (left % size != 0) return false;
    left /= size;
    out.push_back({size, static_cast<std::int64_t>(left) * coalesced[next - 1].stride});
  }
  return true;
}

}  // namespace

View View::of_variable(VariableId variable, ElementType type, const Shape& shape) {
  View view;
  view.valid_ = true;
  view.type_ = type;
  view.shape_ = shape;
  if (checked_elements(shape, "a tensor") != 0) view.variable_ = variable;
  return view;
}

View View::make(ElementType type, Shape shape, Node node) {
  settle(node);
  View view;
  view.valid_ = true;
  view.type_ = type;
  view.shape_ = std::move(shape);
  if (node.source.variable.valid() && is_row_major(node.dims)) {
    view.variable_ = node.source.variable;
    view.offset_ = static_cast<std::uint64_t>(node.offset);
    return view;
  }
  view.node_ = std::make_shared<const Node>(std::move(node));
  return view;
}

View::Node View::node() const {
  if (node_) return *node_;
  return Node{{{variable_, nullptr}, static_cast<std::int64_t>(offset_), row_major(shape_)}};
}

View View::renamed(const std::function<VariableId(VariableId)>& to) const {
  View view = *this;
  if (variable_.valid()) view.variable_ = to(variable_);
  if (!node_) return view;
  Node n = *node_;
  n.source = graph::renamed(n.source, to);
  view.node_ = std::make_shared<const Node>(std::move(n));
  return view;
}

std::size_t View::dim(std::size_t d) const {
  check_dim(*this, d, "dim");
  return shape_[d];
}

std::size_t View::num_elements() const { return valid_ ? product(shape_) : 0; }

View View::slice(std::size_t begin, std::size_t end, std::size_t dim) const {
  check_dim(*this, dim, "slice");
  if (begin > end || end > shape_[dim])
    fail(ErrorKind::index_error, "slice-out-of-range", "slice [{}, {}) of dimension {} of a tensor of shape {}", begin, end, dim,
         to_string(shape_));
  Shape shape = shape_;
  shape[dim] = end - begin;
  if (product(shape) == 0) return of_variable({}, type_, shape);
  if (!node_ && product(shape, 0, dim) == 1) {
    View view = of_variable(variable_, type_, {});
    view.offset_ = offset_ + begin * product(shape, dim + 1, shape.size());
    view.shape_ = std::move(shape);
    return view;
  }
  Node n = node();
  n.offset += static_cast<std::int64_t>(begin) * n.dims[dim].stride;
  n.dims[dim].size = end - begin;
  return make(type_, std::move(shape), std::move(n));
}

View View::index(std::size_t i) const {
  check_dim(*this, 0, "index");
  if (i >= shape_[0]) fail(ErrorKind::index_error, "index-out-of-range", "index {} of a tensor of shape {}", i, to_string(shape_));
  Shape shape(shape_.begin() + 1, shape_.end());
  const std::size_t inner = product(shape);
  if (inner == 0) return of_variable({}, type_, shape);
  if (!node_) {
    View view = of_variable(variable_, type_, shape);
    view.offset_ = offset_ + i * inner;
    return view;
  }
  Node n = *node_;
  n.offset += static_cast<std::int64_t>(i) * n.dims[0].stride;
  n.dims.erase(n.dims.begin());
  return make(type_, std::move(shape), std::move(n));
}

View View::reshape(const Shape& shape) const {
  check_valid(*this, "reshape");
  const std::uint64_t elements = checked_elements(shape, "reshape");
  if (elements != num_elements())
    fail(ErrorKind::tensor_creation_error, "reshape-size",
         "reshape of a tensor of shape {}, which has {} elements, to shape {}, which has {}", to_string(shape_), num_elements(),
         to_string(shape), elements);
  if (!node_) {
    View view = *this;
    view.shape_ = shape;
    return view;
  }
  Node n{{node_->source, node_->offset, {}}};
  if (strides_for(shape, coalesce(node_->dims), n.dims)) return make(type_, shape, std::move(n));
  n.source = {VariableId(), make_chain({*node_})};
  n.offset = 0;
  n.dims = row_major(shape);
  return make(type_, shape, std::move(n));
}

View View::dim_shuffle(const std::vector<unsigned>& permutation) const {
  check_valid(*this, "dimShuffle");
  std::vector<bool> used(rank(), false);
  bool good = permutation.size() == rank();
  for (unsigned p : permutation) {
    good = good && p < rank() && !used[p];
    if (good) used[p] = true;
  }
  if (!good)
    fail(ErrorKind::tensor_creation_error, "not-a-permutation",
         "dimShuffle({}): not a permutation of the dimensions of a tensor of shape {}",
         to_string(Shape(permutation.begin(), permutation.end())), to_string(shape_));
  Shape shape;
  for (unsigned p : permutation) shape.push_back(shape_[p]);
  if (product(shape) == 0) return of_variable({}, type_, shape);
  const Node from = node();
  Node n{{from.source, from.offset, {}}};
  for (unsigned p : permutation) n.dims.push_back(from.dims[p]);
  return make(type_, std::move(shape), std::move(n));
}

View View::reverse(unsigned dim) const {
  check_dim(*this, dim, "reverse");
  if (num_elements() == 0) return *this;
  Node n = node();
  n.offset += static_cast<std::int64_t>(shape_[dim] - 1) * n.dims[dim].stride;
  n.dims[dim].stride = -n.dims[dim].stride;
  return make(type_, shape_, std::move(n));
}

View View::broadcast(unsigned n, unsigned dim) const {
  check_dim(*this, dim, "broadcast");
  Shape merged = shape_;
  merged[dim] = saturating_mul(merged[dim], n);
  if (checked_elements(merged, "broadcast") == 0) return of_variable({}, type_, merged);
  Node repeated = node();
  repeated.dims.insert(repeated.dims.begin() + dim, Dim{n, 0});
  Shape shape = shape_;
  shape.insert(shape.begin() + dim, n);
  return make(type_, std::move(shape), std::move(repeated)).reshape(merged);
}

View View::sub_sample(unsigned stride, unsigned dim) const {
  check_dim(*this, dim, "subSample");
  if (stride == 0)
    fail(ErrorKind::tensor_creation_error, "stride-of-0", "subSample with stride 0 of a tensor of shape {}", to_string(shape_));
  Shape shape = shape_;
  shape[dim] = (shape[dim] + stride - 1) / stride;
  if (product(shape) == 0) return of_variable({}, type_, shape);
  Node n = node();
  n.dims[dim] = {shape[dim], n.dims[dim].stride * static_cast<std::int64_t>(stride)};
  return make(type_, std::move(shape), std::move(n));
}

View View::upsample(unsigned scale, unsigned dim) const {
  check_dim(*this, dim, "upsample");
  Shape merged = shape_;
  merged[dim] = saturating_mul(merged[dim], scale);
  if (checked_elements(merged, "upsample") == 0) return of_variable({}, type_, merged);
  Node repeated = node();
  repeated.dims.insert(repeated.dims.begin() + dim + 1, Dim{scale, 0});
  Shape shape = shape_;
  shape.insert(shape.begin() + dim + 1, scale);
  return make(type_, std::move(shape), std::move(repeated)).reshape(merged);
}

View View::reinterpret(ElementType type) const {
  check_valid(*this, "reinterpret");
  if (size_of(type) != size_of(type_))
    fail(ErrorKind::type_error, "reinterpret-size", "reinterpret of {} ({} bytes) as {} ({} bytes); the sizes must be equal",
         name_of(type_), size_of(type_), name_of(type), size_of(type));
  View view = *this;
  view.type_ = type;
  return view;
}

namespace {

Shape concat_shape(const std::vector<View>& parts, unsigned dim) {
  if (parts.empty()) fail(ErrorKind::tensor_creation_error, "concat-of-nothing", "concat of an empty list of tensors");
  for (const View& part : parts) check_valid(part, "concat");
  const View& first = parts.front();
  check_dim(first, dim, "concat");
  Shape shape = first.shape();
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].type() != first.type())
      fail(ErrorKind::type_error, "concat-types", "concat of tensors of types {} (tensor 0) and {} (tensor {})", name_of(first.type()),
           name_of(parts[i].type()), i);
    Shape other = parts[i].shape();
    const std::size_t size = other.size() > dim ? other[dim] : 0;
    if (other.size() > dim) other[dim] = first.shape()[dim];
    if (other != first.shape())
      fail(ErrorKind::tensor_creation_error, "concat-shapes",
           "concat along dimension {} of tensors of shapes {} (tensor 0) and {} (tensor {})", dim, to_string(first.shape()),
           to_string(parts[i].shape()), i);
    shape[dim] = saturating_add(shape[dim], size);
  }
  return shape;
}

}  // namespace

View View::concat(const std::vector<View>& parts, unsigned dim) {
  Shape shape = concat_shape(parts, dim);
  const ElementType type = parts.front().type_;
  if (checked_elements(shape, "concat") == 0) return of_variable({}, type, shape);

  // Chains are 1-D: the concatenated dimension goes to the front, and back afterwards.
  std::vector<Strided> blocks;
  for (const View& part : parts) {
    if (part.num_elements() == 0) continue;
    Strided block = part.node();
    std::rotate(block.dims.begin(), block.dims.begin() + dim, block.dims.begin() + dim + 1);
    if (blocks.empty() || !try_extend(blocks.back(), block)) blocks.push_back(std::move(block));
  }
  Node n;
  if (blocks.size() == 1) {
    n = Node{std::move(blocks[0])};
  } else {
    Shape rotated = shape;
    std::rotate(rotated.begin(), rotated.begin() + dim, rotated.begin() + dim + 1);
    n = Node{{{VariableId(), make_chain(blocks)}, 0, row_major(rotated)}};
  }
  std::rotate(n.dims.begin(), n.dims.begin() + 1, n.dims.begin() + dim + 1);
  return make(type, std::move(shape), std::move(n));
}

bool View::same_structure(const View& other) const {
  if (!node_ || !other.node_) return !node_ && !other.node_ && variable_ == other.variable_ && offset_ == other.offset_;
  if (node_ == other.node_) return true;
  return node_->source == other.node_->source && node_->offset == other.node_->offset && node_->dims == other.node_->dims;
}

namespace {

bool begins_alike(const View& a, const View& b) {
  if (a.num_elements() == 0) return true;
  Run first;
  bool alike = false;
  a.for_each_run(0, 1, [&](const Run& run) { first = run; });
  b.for_each_run(0, 1, [&](const Run& run) { alike = run == first; });
  return alike;
}

}  // namespace

bool operator==(const View& a, const View& b) {
  if (a.valid_ != b.valid_) return false;
  if (!a.valid_) return true;
  if (a.type_ != b.type_ || a.shape_ != b.shape_) return false;
  if (a.same_structure(b)) return true;
  if (!a.node_ && !b.node_) return false;
  const VariableId of_a = a.node_ ? only_variable(a.node_->source) : a.variable_,
                   of_b = b.node_ ? only_variable(b.node_->source) : b.variable_;
  if (of_a.valid() && of_b.valid() && of_a != of_b) return false;
  // Tensors that differ mostly do so in the first element.
  return begins_alike(a, b) && a.runs() == b.runs();
}

}  // namespace pando::graph
