// Programs whose result depends on an order that nobody has said.
#pragma once

#include "ir/construction/builder.h"

#include <string>
#include <vector>

namespace pando::transform {

// Two ops on tensors that share storage, one of which at least modifies it, without an order between them: neither data nor the user's
// order (in_sequence) leads from one to the other.
struct Ambiguity {
  ir::OpId modifies, other;
  // The tensor that both reach.
  ir::TensorId tensor;
};

// All of them, in list order. A tensor of a graph is read or modified by the ops that the user gave it to; taking a view in place is no
// access. Ops that carry graphs keep the list's order among each other. Slices that do not overlap do not share storage. Remote buffers,
// streams and prints are not looked at, nor are ops of different programs (loading variables, the main one).
std::vector<Ambiguity> ambiguities(const ir::Builder& builder);

// Rejects (popart): "Inplacing ambiguity detected. ..." with the first of them.
void reject_ambiguity(const ir::Builder& builder);

}  // namespace pando::transform
