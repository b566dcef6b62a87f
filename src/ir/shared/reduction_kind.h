// How collectives combine values: attribute "op", one of add, mean, mul, min, max, and, or, square_add.
#pragma once

#include "ir/rows/define.h"

#include <span>
#include <vector>

namespace pando::ir {

// Rejects (popart) an unknown "op", and one that does not suit the operands' element type (and, or: bool; the others: numbers,
// but float8, which is for products and copies).
void check_reduction_kind(const Inference& in);
// The combination of tensors of one shape, element by element, in their type.
HostTensor combined(const std::string& op, std::span<const HostTensor* const> parts);
// Rejects (popart) to differentiate another reduction than add.
void only_add_is_differentiable(Gradient& g);

// Of ops that meet the replicas of a group: attributes "stride" and "group_size".
std::int64_t group_size_of(const Inference& in);
// Elements of one replica's shard: an equal part of the flattened tensor, padded with zeros.
std::int64_t shard_size(const Shape& shape, std::int64_t group_size);
// Elements first ... first + size - 1 of the flattened tensor; zeros behind its end.
HostTensor shard_of(const HostTensor& t, std::int64_t first, std::int64_t size);

// all_reduce and its kin: as many results as operands, of one shape and type.
void infer_all_reduce(Inference& in);
// Each result is the combination of all operands.
void reduce_all(Evaluation& e);
std::vector<Sample> all_reduce_samples();

}  // namespace pando::ir
