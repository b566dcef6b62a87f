// For tests: gradients against central differences of the reference interpreter.
#pragma once

#include "ir/op_row.h"
#include "ir/rows/sample.h"
#include "ir/semantics/interpreter.h"
#include "transform/gradient/autodiff.h"

#include <string>
#include <vector>

namespace pando::transform::testing {

// Uniform in the operand's range (its values, where it has them), the same for equal seeds. `dtype`: instead of the operand's.
ir::HostTensor sample_data(const ir::Sample::Operand& operand, ir::DType dtype, std::uint64_t seed);

// The outputs of a graph on one replica.
std::vector<ir::HostTensor> run(const ir::Module& module, ir::GraphId graph, const std::vector<ir::HostTensor>& inputs);

struct Tolerance {
  double step = 1e-5;
  // |found - expected| <= absolute + relative * |expected|
  double relative = 1e-6, absolute = 1e-7;
};

// Where the gradient graph's outputs differ from differences of the forward graph, weighted with random gradients of what is provided.
// Empty: nowhere. What is provided must be outputs, what is required inputs.
std::string wrong_gradients(const ir::Module& module, const GradientInfo& info, const std::vector<ir::HostTensor>& inputs,
                            const Tolerance& tolerance = {});

}  // namespace pando::transform::testing
