// What convolutions, their gradients and transposed convolutions share.
//
// Data are (batch, channels, spatial ...), weights (output channels, input channels of a group, kernel ...), with one to three spatial
// dimensions. The number of groups is the data's channels over the weights' second dimension.
#pragma once

#include "ir/rows/define.h"
#include "ir/shared/windows/windows.h"

#include <array>

namespace pando::ir {

struct Convolution {
  std::int64_t batch = 1, groups = 1, in_channels = 1, out_channels = 1;
  Windows windows;

  Shape input_shape() const;
  Shape output_shape() const;
};

// The convolution of data of shape `input` with weights of shape `weight`. Rejects (popart) what does not fit.
Convolution convolution_of(const Inference& in, const Shape& input, const Shape& weight);
Convolution convolution_of(const Attributes& attributes, const Shape& input, const Shape& weight);
// For transposed convolutions and gradients for the data: the windows are those of `output`, which may be fewer than fit.
Convolution convolution_onto(const Attributes& attributes, const Shape& input, const Shape& weight, const Shape& output);

// The shape that a transposed convolution of `t` makes; `attributes` gets the padding that output_shape or pad_type imply.
Shape transposed_shape(const Inference& in, const Shape& t, const Shape& weight, Attributes& attributes);
// The same without complaints.
Shape transposed_shape(const Attributes& given, const Shape& t, const Shape& weight, Attributes& attributes);

// The convolution whose gradient for its data a transposed convolution of `t` is.
Convolution transposed_convolution(const Attributes& given, const Shape& t, const Shape& weight);

// Calls f(output, input, weight) with the flat positions of each product.
void for_each_product(const Convolution& c, const std::function<void(std::int64_t y, std::int64_t x, std::int64_t w)>& f);
enum class Role : std::uint8_t { output, input, weight };
// Sums a's elements times b's into a tensor like result 0, rounded once, times a factor. The roles say what a, b and the result are.
HostTensor convolve(const Evaluation& e, const Convolution& c, Role a, Role b, Role result, double factor = 1);

Cost convolution_cost(const Convolution& c, const Inference& in);
// Attributes without those that only a transposed convolution, or only a gradient, has.
Attributes plain_attributes(const Attributes& attributes);

std::vector<Sample> convolution_samples();
// Operands (output, weight) or (output, input) of the same, for gradients.
std::vector<Sample> convolution_gradient_samples(Role second);

// (samples, channels, ...), weights (out, in, ...) and the result's (samples, out, ...). Where channels are in groups, only samples are
// cut.
void convolution_subscripts(Subscripts& s, const Shape& t_shape, const Shape& weight_shape, std::vector<Subscripts::At>& t,
                            std::vector<Subscripts::At>& weight, std::vector<Subscripts::At>& y);
Subscripts conv_subscripts(const SubscriptsOf& o);
Subscripts conv_transpose_subscripts(const SubscriptsOf& o);

}  // namespace pando::ir
