// What recurrent layers share: sequences that are read and written step by step, weights as matrices.
#pragma once

#include <poplin/MatMul.hpp>
#include <popnn/NonLinearityDef.hpp>
#include <popnn/Rnn.hpp>

#include <functional>
#include <string>
#include <vector>

namespace popnn::internal {

// What all parts of one call need.
struct Layer {
  poplar::Graph& graph;
  const rnn::RnnParams& params;
  poplar::DebugContext debug;
  poplar::OptionFlags products;  // of matrix products
  poplin::PlanningCache* cache;

  Layer(poplar::Graph& graph, const rnn::RnnParams& params, const poplar::DebugContext& debug, const poplar::OptionFlags& options,
        poplin::PlanningCache* cache, const char* where);

  std::size_t steps() const { return params.maxTimeSteps; }
  std::size_t batch() const { return params.batchSize; }
  std::size_t inputs() const { return params.getInputSize(); }
  std::size_t outputs() const { return params.getOutputSize(); }

  // {m, k} x {k, n}, of the layer's type.
  poplar::Tensor product(const poplar::Tensor& a, const poplar::Tensor& b, poplar::program::Sequence& prog, const char* name) const;
  // A sequence {steps, shape ...} that is good to read and write step by step.
  poplar::Tensor sequence(const std::vector<std::size_t>& shape, const char* name) const;
  // One that steps are written to; 0 at first if there are steps that may be left out.
  poplar::Tensor results(const std::vector<std::size_t>& shape, poplar::program::Sequence& prog, const char* name) const;
  // {batch, outputs}.
  poplar::Tensor state(const char* name) const;
  poplar::Tensor copy_of(const poplar::Tensor& t, poplar::program::Sequence& prog, const char* name) const;
  poplar::Tensor zeros_like(const poplar::Tensor& t, poplar::program::Sequence& prog, const char* name) const;
  // Step `index` of a sequence.
  poplar::Tensor get(const poplar::Tensor& sequence, const poplar::Tensor& index, poplar::program::Sequence& prog, const char* name) const;
  void put(const poplar::Tensor& sequence, const poplar::Tensor& step, const poplar::Tensor& index, poplar::program::Sequence& prog,
           const char* name) const;
  // For each step, with its number; backward from the last to the first, with its number from the end. Steps behind the end of all
  // sequences (params.varTimeSteps) are left out.
  enum class Order { forward, backward };
  void loop(Order order, poplar::program::Sequence& prog,
            const std::function<void(const poplar::Tensor&, poplar::program::Sequence&)>& body, const char* name) const;
  // 1 where a step of that number counts for a sequence of that length ({batch}), else 0: {batch, outputs}.
  poplar::Tensor counts(const poplar::Tensor& lengths, Order order, const poplar::Tensor& step, poplar::program::Sequence& prog) const;
  poplar::Tensor activated(NonLinearityType type, const poplar::Tensor& t, poplar::program::Sequence& prog) const;
  // Of the operand, from the result's gradient and the result.
  poplar::Tensor activation_gradient(NonLinearityType type, const poplar::Tensor& result, const poplar::Tensor& gradient,
                                     poplar::program::Sequence& prog) const;
  // Throws poplibs_error.
  void check(const poplar::Tensor& t, const std::vector<std::size_t>& shape, const char* what) const;

  std::string where;
};

// Those of a layer's options that matrix products have.
poplar::OptionFlags of_products(const poplar::OptionFlags& options);
// Of all steps, for counts of operations; rejects other than two layer sizes.
std::uint64_t cells_of(const rnn::RnnParams& params, const std::string& where);

// Weights of units {units, rows, columns} as one matrix {rows, units * columns}; and back.
poplar::Tensor as_matrix(const poplar::Tensor& weights);
poplar::Tensor by_unit(const poplar::Tensor& matrix, std::size_t units);

// Gradients of weights: of {steps, batch, rows} and {steps, batch, units, columns}, as {units, rows, columns}.
poplar::Tensor weights_gradient(const Layer& layer, const poplar::Tensor& in, const poplar::Tensor& unit_gradients,
                                poplar::program::Sequence& prog, const char* name);
// {steps, batch, units, columns} summed to {units, columns}.
poplar::Tensor biases_gradient(const Layer& layer, const poplar::Tensor& unit_gradients, poplar::program::Sequence& prog);
// The states before each step: {steps, batch, outputs}.
poplar::Tensor states_before(const poplar::Tensor& initial, const poplar::Tensor& outputs);

}  // namespace popnn::internal
