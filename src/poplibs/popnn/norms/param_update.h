// The update of a norm's parameters.
#pragma once

#include <popops/ScaledAdd.hpp>
#include "poplibs/poputil/reject.h"

#include <string>

#include <poputil/exceptions.hpp>

namespace popnn::internal {

// gamma += scale * gamma_delta, beta += scale * beta_delta, in one go. Scale: a number or a tensor.
template <class Scale>
void update_params(poplar::Graph& graph, const poplar::Tensor& gamma_delta, const poplar::Tensor& beta_delta, const Scale& scale,
                   poplar::Tensor& gamma, poplar::Tensor& beta, poplar::program::Sequence& prog, const poplar::DebugContext& debug,
                   const std::string& function) {
  if (gamma.shape() != gamma_delta.shape() || beta.shape() != beta_delta.shape())
    poputil::reject("parameter-shapes", "{}",
                    function + ": gamma, its delta, beta and its delta have shapes " + gamma.shapeToString() + ", " +
                        gamma_delta.shapeToString() + ", " + beta.shapeToString() + ", " + beta_delta.shapeToString());
  if (gamma.elementType() != beta.elementType() || gamma_delta.elementType() != beta_delta.elementType())
    poputil::reject("parameter-types", "{}", function + ": gamma and beta, or their deltas, differ in type");
  popops::scaledAddTo(graph, concat(gamma, beta), concat(gamma_delta, beta_delta), scale, prog, {debug, "ParamUpdate"});
}

}  // namespace popnn::internal
