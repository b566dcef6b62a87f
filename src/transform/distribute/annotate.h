// What a module's text does not say of a step: which inputs count samples, what is forward and backward, where layers begin.
#pragma once

#include "transform/distribute/layout/program.h"

#include <map>
#include <optional>
#include <string>

namespace pando::transform {

struct Annotation {
  // Inputs of the main graph and streams by name, with the dimension that counts samples, positions or experts. Without any batch:
  // dimension 0 of streams to the device; where there is none, of inputs that do not change, and have no data where others have, or are not
  // the right operand of a matmul.
  std::map<std::string, std::int32_t> batch, sequence, expert;
  // The value (by name) that ends the forward pass; without it, the first output, or what is stored to the host first.
  std::optional<std::string> loss;
};

// Flat. Forward is what the loss needs, and what needs nothing of the backward pass but forward values. A layer begins where a single
// activation passes from what is before to what is behind, and there has been a product with a weight since the last one. Rejects (value)
// names that are not there.
Program annotate(ir::Module module, const Annotation& annotation);

}  // namespace pando::transform
