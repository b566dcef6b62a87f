// What the rows of random/ share: seeds are two uint32.
#pragma once

#include "ir/host_tensor.h"
#include "ir/random.h"
#include "ir/rows/define.h"

#include <cstdint>
#include <string_view>

namespace pando::ir {

// Rejects (value) a seed that is not uint32 of shape (2).
void check_seed(const Inference& in, std::size_t operand);
// Rejects a probability to drop outside [0, 1).
void check_ratio(const Inference& in, std::string_view attribute);
// One result of attributes "shape" and "dtype" (float32 where absent).
void infer_random(Inference& in);

// Drops elements with a probability, by a mask of a shape that broadcasts.
void evaluate_dropout(Evaluation& e, const Shape& mask, double ratio);

RandomKey key_of(const HostTensor& seed, std::uint32_t stream);
// Two words of a key's stream as a seed.
HostTensor seed_at(HostTensor out, const RandomKey& key, std::uint64_t first);

}  // namespace pando::ir
