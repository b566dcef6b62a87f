#include <poplin/FullyConnected.hpp>

namespace poplin::fc {

std::vector<std::pair<MatMulParams, poplar::OptionFlags>> getMatMulPrePlanParameters(FullyConnectedParams parameters,
                                                                                     poplar::OptionFlags matmulOptions, poplar::Type type,
                                                                                     bool inferenceOnly) {
  const std::size_t groups = parameters.numGroups, batch = parameters.batchSize, in = parameters.inputSize, out = parameters.outputSize;
  std::vector<std::pair<MatMulParams, poplar::OptionFlags>> products;
  const auto add = [&](const char* pass, std::size_t m, std::size_t k, std::size_t n) {
    poplar::OptionFlags options = matmulOptions;
    options.set("fullyConnectedPass", pass);
    products.emplace_back(MatMulParams{type, type, {groups, m, k}, {groups, k, n}}, options);
  };
  add(inferenceOnly ? "INFERENCE_FWD" : "TRAINING_FWD", batch, in, out);
  if (inferenceOnly) return products;
  add("TRAINING_BWD", batch, out, in);
  add("TRAINING_WU", in, batch, out);
  return products;
}

}  // namespace poplin::fc
