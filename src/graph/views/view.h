// A view: an ordered list of elements of variables, with a shape. The graph level's tensor. Views never move data.
//
// A view is immutable and cheap to copy. Its elements are a composition of strided regions, never a list of elements: slicing,
// concatenating, permuting and reshaping a view of 10^7 elements costs time in the number of regions that the operation
// touches. `for_each_run` enumerates the elements in row-major order as maximal strided runs.
//
//      variable v[12], view = v.reshape({3,4}).dim_shuffle({1,0}).slice(0, 2, dim 0)
//      elements: v0 v4 v8 v1 v5 v9        runs: {v, 0, stride 4, count 3} {v, 1, stride 4, count 3}
//
// Const methods are thread-safe. Errors: the classes documented for poplar::Tensor (index_error, tensor_creation_error,
// type_error), thrown by base/error.h with the shape and the arguments in the message.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/element_type.h"
#include "base/ids.h"
#include "base/interval.h"
#include "base/values/shape.h"

namespace pando::graph {

// `count` elements of `variable`: offset, offset + stride, ... A broadcast element has stride 0; count 1 has stride 1.
struct Run {
  VariableId variable;
  std::uint64_t offset = 0;
  std::int64_t stride = 1;
  std::uint64_t count = 0;
  friend bool operator==(const Run&, const Run&) = default;
};

// A contiguous region of one variable.
struct Region {
  VariableId variable;
  Interval elements;
  friend auto operator<=>(const Region&, const Region&) = default;
};

using pando::Shape;
using pando::to_string;

class View {
 public:
  View() = default;  // invalid
  // All elements of a variable, in order.
  static View of_variable(VariableId variable, ElementType type, const Shape& shape);

  bool valid() const { return valid_; }
  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::size_t rank() const { return shape_.size(); }
  std::size_t dim(std::size_t d) const;
  std::size_t num_elements() const;

  View slice(std::size_t begin, std::size_t end, std::size_t dim) const;
  View index(std::size_t i) const;  // drops dimension 0
  View reshape(const Shape& shape) const;
  View flatten() const { return reshape({num_elements()}); }
  View dim_shuffle(const std::vector<unsigned>& permutation) const;
  View reverse(unsigned dim) const;
  View broadcast(unsigned n, unsigned dim) const;
  View sub_sample(unsigned stride, unsigned dim) const;
  View upsample(unsigned scale, unsigned dim) const;  // repeats each element
  View reinterpret(ElementType type) const;           // same element size
  static View concat(const std::vector<View>& parts, unsigned dim);
  // The same elements of other variables of the same sizes: `to` gives each variable's.
  View renamed(const std::function<VariableId(VariableId)>& to) const;

  // Elements in row-major order as runs; neighbours that continue each other are joined.
  void for_each_run(const std::function<void(const Run&)>& sink) const;
  // The same for the flattened elements [begin, end).
  void for_each_run(std::uint64_t begin, std::uint64_t end, const std::function<void(const Run&)>& sink) const;
  std::vector<Run> runs() const;
  // Runs with stride 1 only, joined: the tensor's regions in element order. Throws tensor_creation_error for more than fit into the
  // host's memory, as all do that list elements one by one.
  std::vector<Region> regions() const;
  // The one contiguous region this view is, if it is one: O(1) where the structure shows it; else it enumerates up to the first
  // break. False for a view without elements.
  bool single_region(Region& out) const;
  // The elements as a set: sorted, joined regions, whatever their order and however often they occur. Costs what the best order
  // costs (a permuted tensor is one region). `repeated`, if given, says whether an element occurs twice.
  std::vector<Region> element_set(bool* repeated = nullptr) const;
  // Runs that cover the same elements, in an order that needs few of them; strides are positive. Repeated elements may come once.
  void for_each_run_in_any_order(const std::function<void(const Run&)>& sink) const;

  // All elements follow each other in one variable, in order.
  bool is_contiguous() const;
  bool contains_aliases() const;  // does an element occur twice?
  bool intersects(const View& other) const;
  std::vector<VariableId> variables() const;  // sorted, unique

  // Same elements in the same order with the same shape and type (compares structure after normalisation).
  friend bool operator==(const View& a, const View& b);

  // If the view is a grid over one variable: the dimensions to reverse, and then the permutation, that put its elements in the
  // variable's order (with broadcast dimensions outermost). False if it is none, or if no such permutation does it.
  bool variable_order(std::vector<unsigned>& reversed, std::vector<unsigned>& permutation) const;

  // The same elements in the same order, with the dimensions that a reshape merged taken apart again, down to a grid over one
  // variable: {batch, channels, height, width} of a variable {groups, batch, height, width, 8} has five dimensions. The view
  // itself where that is not possible.
  View unfolded() const;

  struct Node;  // view_node.h, the view's own

 private:
  static View make(ElementType type, Shape shape, Node node);
  Node node() const;  // of a view that has elements
  bool same_structure(const View& other) const;

  // Without a node the elements are [offset_, offset_ + num_elements()) of variable_ in order, which most views are; a view
  // without elements has no node and no variable.
  bool valid_ = false;
  ElementType type_ = ElementType::float_;
  VariableId variable_;
  std::uint64_t offset_ = 0;
  std::shared_ptr<const Node> node_;
  Shape shape_;
};

}  // namespace pando::graph
