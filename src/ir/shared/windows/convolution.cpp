#include "ir/shared/windows/convolution.h"

#include <algorithm>
#include <utility>

namespace pando::ir {

namespace {

Shape joined(std::int64_t a, std::int64_t b, const Shape& rest) {
  Shape s{a, b};
  s.insert(s.end(), rest.begin(), rest.end());
  return s;
}

Convolution channels_of(const Shape& input, const Shape& weight) {
  Convolution c;
  c.batch = input[0];
  c.in_channels = input[1];
  c.out_channels = weight[0];
  c.groups = input[1] / std::max<std::int64_t>(1, weight[1]);
  return c;
}

void check(const Inference& in, const Shape& input, const Shape& weight) {
  if (input.size() < 3 || input.size() > 5 || weight.size() != input.size()) {
    in.reject("conv-rank",
              "data of shape {} and weights of shape {}; both need a batch or channels, channels and one to three more dimensions",
              to_string(input), to_string(weight));
  }
  const std::int64_t group = weight[1];
  if (group < 1 || input[1] % group != 0) {
    in.reject("conv-channels", "the data have {} channels, which groups of {} (the weights' second dimension) do not divide", input[1],
              group);
  }
  const std::int64_t groups = input[1] / group, attribute = in.attributes().integer("groups", 1);
  if (weight[0] % groups != 0) in.reject("conv-groups", "{} output channels do not divide into {} groups", weight[0], groups);
  // 1 is also the attribute of who gives none.
  if (attribute != 1 && attribute != groups)
    in.reject("conv-groups", "groups is {}, the shapes {} and {} make {}", attribute, to_string(input), to_string(weight), groups);
}

}  // namespace

Shape Convolution::input_shape() const { return joined(batch, in_channels, ins_of(windows)); }
Shape Convolution::output_shape() const { return joined(batch, out_channels, outs_of(windows)); }

Convolution convolution_of(const Inference& in, const Shape& input, const Shape& weight) {
  check(in, input, weight);
  Convolution c = channels_of(input, weight);
  c.windows = windows_of(in, in.attributes(), spatial(input), spatial(weight));
  return c;
}

Convolution convolution_of(const Attributes& attributes, const Shape& input, const Shape& weight) {
  Convolution c = channels_of(input, weight);
  c.windows = windows_of(attributes, spatial(input), spatial(weight));
  return c;
}

Convolution convolution_onto(const Attributes& attributes, const Shape& input, const Shape& weight, const Shape& output) {
  Convolution c = convolution_of(attributes, input, weight);
  for (std::size_t d = 0; d < c.windows.size(); ++d) c.windows[d].out = output[2 + d];
  return c;
}

Shape transposed_shape(const Attributes& given, const Shape& t, const Shape& weight, Attributes& attributes) {
  const std::size_t n = t.size() - 2;
  const auto list = [&](std::string_view name, std::size_t size, std::int64_t otherwise) {
    return given.ints(name).size() == size ? given.ints(name) : Ints(size, otherwise);
  };
  const Ints stride = list("stride", n, 1), dilation = list("dilation", n, 1), extra = list("output_padding", n, 0);
  Ints padding = list("padding", 2 * n, 0);
  const std::string& type = given.text("pad_type");
  const bool same = type == "same_upper" || type == "same_lower", is_given = given.ints("output_shape").size() == n;
  Shape shape{t[0], weight[1] * given.integer("groups", 1)};
  for (std::size_t d = 0; d < n; ++d) {
    const std::int64_t whole = stride[d] * (t[2 + d] - 1) + extra[d] + (weight[2 + d] - 1) * dilation[d] + 1;
    if (is_given || same) {
      const std::int64_t total = whole - (is_given ? given.ints("output_shape")[d] : t[2 + d] * stride[d]);
      // Half of it, rounded down also where it is negative.
      const std::int64_t half = (total - (total < 0 ? total & 1 : 0)) / 2;
      padding[d] = type == "same_upper" ? half : total - half;
      padding[n + d] = total - padding[d];
    } else if (type == "valid") {
      padding[d] = padding[n + d] = 0;
    }
    shape.push_back(whole - padding[d] - padding[n + d]);
  }
  attributes = plain_attributes(given);
  attributes.set("pad_type", std::string("not_set"));
  attributes.set("padding", padding);
  return shape;
}

Shape transposed_shape(const Inference& in, const Shape& t, const Shape& weight, Attributes& attributes) {
  if (t.size() < 3 || t.size() > 5 || weight.size() != t.size()) {
    in.reject("conv-rank", "data of shape {} and weights of shape {}; both need two and one to three more dimensions", to_string(t),
              to_string(weight));
  }
  const Attributes& a = in.attributes();
  const std::size_t n = t.size() - 2;
  if (t[1] != weight[0]) in.reject("conv-channels", "the data have {} channels, the weights' first dimension is {}", t[1], weight[0]);
  const std::int64_t groups = a.integer("groups", 1);
  if (groups < 1 || t[1] % groups != 0) in.reject("conv-groups", "{} channels do not divide into {} groups", t[1], groups);
  for (std::string_view name : {"output_padding", "output_shape"}) {
    if (!a.ints(name).empty() && a.ints(name).size() != n)
      in.reject("window", "{} has {} entries; {} are needed", name, a.ints(name).size(), n);
  }
  for (std::int64_t e : a.ints("output_padding")) {
    if (e < 0) in.reject("window", "output_padding has the entry {}", e);
  }
  // Strides and the like are checked as a convolution's of the result.
  const Shape shape = transposed_shape(a, t, weight, attributes);
  for (std::size_t d = 2; d < shape.size(); ++d) {
    if (shape[d] < 1) in.reject("window", "the result would have shape {}", to_string(shape));
  }
  windows_of(in, attributes, spatial(shape), spatial(weight));
  return shape;
}

Convolution transposed_convolution(const Attributes& given, const Shape& t, const Shape& weight) {
  Attributes a;
  const Shape shape = transposed_shape(given, t, weight, a);
  return convolution_onto(a, shape, weight, t);
}

void for_each_product(const Convolution& c, const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& f) {
  const std::int64_t outs = elements_of(outs_of(c.windows)), ins = elements_of(ins_of(c.windows)),
                     cells = elements_of(kernel_of(c.windows));
  const std::int64_t in_group = c.in_channels / c.groups, out_group = c.out_channels / c.groups;
  for_each_cell(c.windows, [&](std::int64_t o, std::int64_t k, std::int64_t i) {
    for (std::int64_t n = 0; n < c.batch; ++n) {
      for (std::int64_t oc = 0; oc < c.out_channels; ++oc) {
        for (std::int64_t ic = 0; ic < in_group; ++ic) {
          const std::int64_t in_channel = oc / out_group * in_group + ic;
          f((n * c.out_channels + oc) * outs + o, (n * c.in_channels + in_channel) * ins + i, (oc * in_group + ic) * cells + k);
        }
      }
    }
  });
}

HostTensor convolve(const Evaluation& e, const Convolution& c, Role a, Role b, Role result, double factor) {
  HostTensor out = e.fresh();
  std::vector<double> sums(static_cast<std::size_t>(out.elements()), 0.0);
  const HostTensor &left = e.operand(0), &right = e.operand(1);
  for_each_product(c, [&](std::int64_t y, std::int64_t x, std::int64_t w) {
    const std::int64_t at[3] = {y, x, w};
    sums[static_cast<std::size_t>(at[static_cast<int>(result)])] +=
        left.number(at[static_cast<int>(a)]) * right.number(at[static_cast<int>(b)]);
  });
  for (std::size_t i = 0; i < sums.size(); ++i) out.set(static_cast<std::int64_t>(i), sums[i] * factor);
  return out;
}

Cost convolution_cost(const Convolution& c, const Inference& in) {
  Cost cost;
  const auto outs = static_cast<double>(elements_of(c.output_shape())), cells = static_cast<double>(elements_of(kernel_of(c.windows)));
  cost.operations = 2 * outs * cells * static_cast<double>(c.in_channels / c.groups);
  for (std::size_t i = 0; i < 2; ++i)
    cost.bytes_read += static_cast<double>(elements_of(in.shape(i))) * static_cast<double>(size_of(in.dtype(i)));
  cost.bytes_written = outs * static_cast<double>(size_of(in.dtype(0)));
  return cost;
}

Attributes plain_attributes(const Attributes& attributes) {
  Attributes a;
  for (const auto& [name, value] : attributes.items()) {
    if (name != "output_padding" && name != "output_shape" && name != "shape") a.set(name, value);
  }
  return a;
}

namespace {

Sample conv_sample(Shape x, Shape w, Attributes a, DType t = DType::float32) {
  Sample s;
  s.operands = {{t, std::move(x), -1, 1, {}}, {t, std::move(w), -1, 1, {}}};
  s.attributes = std::move(a);
  return s;
}

}  // namespace

std::vector<Sample> convolution_samples() {
  return {
      conv_sample({2, 3, 5, 6}, {4, 3, 3, 2}, {}),
      conv_sample({1, 4, 6, 5}, {6, 2, 3, 3}, {{"stride", Ints{2, 1}}, {"padding", Ints{1, 0, 1, 2}}, {"groups", std::int64_t{2}}}),
      conv_sample({1, 2, 9}, {3, 2, 3}, {{"stride", Ints{2}}, {"dilation", Ints{2}}, {"padding", Ints{1, 2}}}),
      conv_sample({1, 2, 3, 4, 3}, {2, 2, 2, 2, 2}, {}),
      conv_sample({1, 2, 5, 5}, {2, 2, 2, 2}, {{"stride", Ints{2, 2}}, {"pad_type", std::string("same_upper")}}),
      conv_sample({2, 2, 4, 4}, {2, 2, 3, 3}, {{"padding", Ints{1, 1, 1, 1}}}, DType::float16),
  };
}

std::vector<Sample> convolution_gradient_samples(Role second) {
  std::vector<Sample> all = convolution_samples();
  for (Sample& s : all) {
    Sample::Operand &x = s.operands[0], &w = s.operands[1];
    const Shape y = convolution_of(s.attributes, x.shape, w.shape).output_shape(), other = second == Role::weight ? x.shape : w.shape;
    if (second == Role::input) std::swap(x, w);
    x.shape = y;
    s.attributes.set("shape", Ints(other));
  }
  return all;
}

void convolution_subscripts(Subscripts& s, const Shape& t_shape, const Shape& weight_shape, std::vector<Subscripts::At>& t,
                            std::vector<Subscripts::At>& weight, std::vector<Subscripts::At>& y) {
  constexpr std::size_t kSamples = 0, kIn = 1, kOut = 2;
  s.sums = Subscripts::Sums::any_one;
  put(t, 0, kSamples);
  put(y, 0, kSamples);
  if (t_shape[1] != weight_shape[1]) return;
  put(t, 1, kIn);
  put(weight, 1, kIn);
  put(weight, 0, kOut);
  put(y, 1, kOut);
}

Subscripts conv_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  convolution_subscripts(s, o.operand(0), o.operand(1), s.operands[0], s.operands[1], s.results[0]);
  return s;
}

// Weights (in, out of a group, ...).
Subscripts conv_transpose_subscripts(const SubscriptsOf& o) {
  Subscripts s = o.blank();
  s.sums = Subscripts::Sums::any_one;
  for (auto* list : {&s.operands[0], &s.results[0]}) put(*list, 0, 0);
  if (o.operand(1)[1] != o.result()[1]) return s;
  for (auto* list : {&s.operands[0], &s.operands[1]}) put(*list, list == &s.operands[0] ? 1 : 0, 1);
  for (auto* list : {&s.operands[1], &s.results[0]}) put(*list, 1, 2);
  return s;
}

}  // namespace pando::ir
