// Convolutions, their gradients and pooling in the terms of the libraries.
#pragma once

#include "lower/parts/op_lowering.h"

#include "ir/shared/windows/convolution.h"
#include "ir/shared/windows/pooling.h"

#include <poplin/Convolution.hpp>
#include <popnn/Pooling.hpp>

namespace pando::lower {

// Of a row's operands: `input` and `weight` are the shapes of a forward convolution that the op is or belongs to.
poplin::ConvParams convolution_params(const ir::Attributes& attributes, const ir::Convolution& c, ir::DType dtype);
// {groups, output channels, input channels, kernel ...}, as the libraries want weights.
poplar::Tensor grouped_weights(const poplar::Tensor& weight, const ir::Convolution& c);
poplar::OptionFlags convolution_options(const ir::Attributes& attributes, const Settings& settings);
popnn::pooling::PoolParams pooling_params(const ir::Attributes& attributes, const ir::Shape& input, ir::DType dtype,
                                          popnn::PoolingType type);

}  // namespace pando::lower
