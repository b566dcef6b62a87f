#include "models/mlp.h"

#include "ir/error.h"
#include "models/step_builder.h"

#include <fmt/format.h>

namespace pando::models {

transform::Program build_mlp(const Mlp& options) {
  if (options.layers < 1 || options.width < 1 || options.batch < 1) {
    ir::refuse(ir::ErrorClass::value, "mlp-shape", "an MLP of {} layers of width {} and a batch of {}", options.layers, options.width,
               options.batch);
  }
  using ir::ValueId;
  StepBuilder b;
  const auto n_layers = static_cast<std::size_t>(options.layers);
  const ValueId x = b.input("x", options.dtype, {options.batch, options.width}, 0),
                z = b.input("z", options.dtype, {options.batch, options.width}, 0);
  const ValueId n = b.input("n", ir::DType::int32, {});
  std::vector<ValueId> weights, activations{x}, sums, gradients(n_layers);
  for (std::size_t i = 0; i < n_layers; ++i)
    weights.push_back(b.input(fmt::format("w{}", i), options.dtype, {options.width, options.width}));
  for (std::size_t i = 0; i < n_layers; ++i) {
    b.layer = static_cast<std::uint32_t>(i);
    sums.push_back(b.op("matmul", {activations[i], weights[i]}, {}, fmt::format("y{}", i)));
    activations.push_back(b.op("relu", {sums[i]}, {}, fmt::format("a{}", i)));
  }
  const ValueId loss = b.op("squared_loss", {activations.back(), z, n}, {}, "l");
  ValueId da = b.op("squared_loss_grad", {activations.back(), z, n}, {}, "dl");
  b.phase = transform::Phase::backward;
  b.output(loss);
  for (std::size_t i = n_layers; i-- > 0;) {
    const ValueId dy = b.op("relu_grad", {sums[i], da}, {}, fmt::format("dy{}", i));
    const std::vector<ValueId> both = b.ops("matmul_grad", std::vector{activations[i], weights[i], dy}, {}, fmt::format("d{}", i));
    da = both[0];
    gradients[i] = both[1];
    b.output(both[1]);
  }
  b.output(da);
  b.phase = transform::Phase::update;
  std::vector<ValueId> operands = weights;
  operands.insert(operands.end(), gradients.begin(), gradients.end());
  const std::vector<ValueId> updated = b.ops("sgd", operands, {{"lr", options.learning_rate}}, "w");
  for (std::size_t i = 0; i < n_layers; ++i) b.update(weights[i], updated[i]);
  return b.finish();
}

}  // namespace pando::models
