// The programs of DistIR's multi-layer perceptron under data, tensor and pipeline parallelism, written out step by step in the order in
// which its transforms emit them. What builders and transforms make is compared with it; nothing else uses it.
#pragma once

#include "simulate/costs/reference_costs.h"
#include "simulate/program.h"

namespace pando::simulate {

struct MlpShape {
  std::int64_t layers = 8, dim = 512, batch = 256, element_bytes = 4;
  std::int64_t data = 1, tensor = 1, pipeline = 1, microbatches = 1;
};

Program reference_mlp(const MlpShape& shape, const ReferenceCosts& costs);

}  // namespace pando::simulate
