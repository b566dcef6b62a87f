// What ops between devices share. A tuple holds one tensor for each device; `devices` lists them where an op makes a tuple of one tensor.
#pragma once

#include "ir/host_tensor.h"
#include "ir/op_row.h"

#include <span>
#include <vector>

namespace pando::ir {

// The element types of operand `i`, which must be a tuple of tensors of one element type; rejected otherwise, or when it is empty.
std::vector<Type> tuple_elements(const Inference& in, std::size_t i = 0);
// The same; all elements of one shape.
std::vector<Type> equal_elements(const Inference& in, std::size_t i = 0);
// Appends a tuple as a result.
void tuple_result(Inference& in, std::vector<Type> elements);
// The highest number of a device that the text reads back.
constexpr std::int64_t kMostDevice = std::int64_t{1} << 28;

// Attribute "devices": distinct, not empty, none above kMostDevice.
Ints devices_of(const Inference& in);
// Attribute `name` as a dimension of a tensor of this type; rejected out of range.
std::int64_t dimension_of(const Inference& in, const Type& type, std::string_view name);
// `type` on another device.
Type on_device(Type type, std::int64_t device);

// Part `index` of `parts` equal ones along a dimension, and what parts make together.
HostTensor part_along(const HostTensor& whole, std::int64_t dimension, std::int64_t index, std::int64_t parts);
HostTensor joined_along(std::span<const HostTensor> parts, std::int64_t dimension);
// Element by element: add, mean, mul, min, max; from the first to the last, in double, rounded once.
HostTensor reduced(std::span<const HostTensor> parts, const std::string& op);
// Rejects other names than `reduced` knows.
void check_reduction(const Inference& in);

// In terms of ops on the tensors: what lowering does.
std::vector<ValueId> elements_of(Expansion& e, std::size_t i = 0);
void give_tuple(Expansion& e, std::span<const ValueId> elements);
// The value itself where it lies on that device.
ValueId moved(Expansion& e, ValueId v, std::int64_t device);
std::int64_t device_of(const Expansion& e, ValueId v);
ValueId part_along(Expansion& e, ValueId v, std::int64_t dimension, std::int64_t index, std::int64_t parts);
ValueId joined_along(Expansion& e, std::span<const ValueId> parts, std::int64_t dimension);
// Of tensors on one device, by attribute "op".
ValueId reduced(Expansion& e, std::span<const ValueId> parts);

std::vector<HostTensor> tensors_of(const HostValue& tuple);
HostValue tuple_of(std::vector<HostTensor> tensors);

}  // namespace pando::ir
