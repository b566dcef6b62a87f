// What reductions share: attributes "axis" (a list, counted from the front) and "keepdims".
#pragma once

#include "ir/rows/define.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace pando::ir {

Shape reduced_shape(const Shape& shape, const Ints& axes, bool keepdims);
// Result 0: operand 0's element type, the reduced shape.
void infer_reduction(Inference&);
// The same, where nothing has no result: rejects reduced dimensions without elements.
void infer_choice(Inference&);
// Rejects (popart) an axis without elements.
void check_elements(const Inference&, const Ints& axes);
// An operation for each element that goes in.
Cost reduction_cost(const Inference&);
// For each element of a tensor the element of the reduced tensor that it goes into.
std::vector<std::int64_t> groups_of(const Shape& shape, const Ints& axes);

// Calls f with the elements (in row-major order) of each group. `g`, where given, for integers.
void reduce_groups(Evaluation& e, const std::function<double(std::span<const double>)>& f,
                   const std::function<std::int64_t(std::span<const std::int64_t>)>& g = {});

// Integers joined one by one, as unsigned numbers of 64 bits: they wrap.
template <class F>
std::int64_t wrapped(std::span<const std::int64_t> v, std::uint64_t from, F join) {
  for (const std::int64_t x : v) from = join(from, static_cast<std::uint64_t>(x));
  return static_cast<std::int64_t>(from);
}

// A value of the reduced shape, repeated to the shape of the reduction's operand.
ValueId spread(Gradient& g, ValueId reduced);
// The gradient of max and min: to every element that equals the result.
void give_where_equal(Gradient& g);

// reduction_samples and int32.
std::vector<Sample> number_reduction_samples();
// Of operations that must not be checked where elements are equal.
std::vector<Sample> distinct_reduction_samples();
// Attributes "dim" and "keepdim".
std::vector<Sample> along_dim_samples();
// Where along "dim" the largest or least element lies: int32.
void infer_position(Inference&);
void find_position(Evaluation&, bool of_largest);

// Whether a stands before b in ascending (descending) order. Numbers stand before NaN.
inline bool stands_before(double a, double b, bool descending) { return b != b ? a == a : descending ? a > b : a < b; }

}  // namespace pando::ir
