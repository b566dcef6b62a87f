#include "models/mlp.h"

#include "base/sizes.h"
#include "models/limits.h"
#include "models/step_builder.h"

#include <fmt/format.h>

namespace pando::models {

namespace {

void check(const Mlp& o) {
  constexpr std::string_view kShape = "mlp-shape";
  check_least(kShape, "layers", o.layers, 1);
  check_least(kShape, "width", o.width, 1);
  check_least(kShape, "batch", o.batch, 1);
  check_rate(kShape, o.learning_rate);
  check_tensor(kShape, "width and width", {o.width, o.width});
  check_tensor(kShape, "batch and width", {o.batch, o.width});
  constexpr std::uint64_t kLayer = 1 << 13;
  check_host_memory(saturating_mul(static_cast<std::uint64_t>(o.layers), kLayer), ErrorKind::poplar_error,
                    fmt::format("{} layers", o.layers));
}

}  // namespace

transform::Program build_mlp(const Mlp& options) {
  check(options);
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
