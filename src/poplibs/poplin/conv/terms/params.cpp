#include <poplin/ConvParams.hpp>
#include <poputil/exceptions.hpp>
#include "poplibs/poputil/reject.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <istream>
#include <ostream>
#include <string>

namespace poplin {

namespace {

using poputil::poplibs_error;
using Json = nlohmann::ordered_json;

std::size_t combined(std::size_t seed, std::size_t value) { return (seed ^ value) * 0x9e3779b97f4a7c15u + (seed >> 29); }

template <class Vector>
std::size_t hash_of(std::size_t seed, const Vector& values) {
  seed = combined(seed, values.size());
  for (const auto v : values) seed = combined(seed, static_cast<std::size_t>(v));
  return seed;
}

auto tied(const ConvParams::InputTransform& t) {
  return std::tie(t.truncationLower, t.truncationUpper, t.dilation, t.paddingLower, t.paddingUpper, t.flip);
}
auto tied(const ConvParams::OutputTransform& t) {
  return std::tie(t.truncationLower, t.truncationUpper, t.stride, t.paddingLower, t.paddingUpper);
}
auto tied(const ConvParams& p) {
  return std::tie(p.batchSize, p.inputFieldShape, p.kernelShape, p.inputChannelsPerConvGroup, p.outputChannelsPerConvGroup, p.numConvGroups,
                  p.inputTransform, p.kernelTransform, p.outputTransform);
}

// Types in the order of their names: an order that does not depend on addresses.
auto names_of(const ConvParams& p) { return std::make_pair(p.inputType.toString(), p.outputType.toString()); }

// Sizes that code computes with as unsigned ints, two of which may be added.
constexpr std::size_t kLongest = 0x7fffffff;

// The element of a member, which the user may have changed since it was validated.
template <class Vector>
auto element(const Vector& values, unsigned dim, const char* what) {
  if (dim >= values.size())
    poputil::reject("no-such-dimension", "ConvParams: field dimension {} of {}, which has {} elements", dim, what, values.size());
  return values[dim];
}

template <class Vector>
void expect_dims(const Vector& values, std::size_t dims, const char* of, const char* what) {
  if (values.size() != dims)
    poputil::reject("dimensions-differ", "ConvParams: {}{} has {} elements, expected one for each of the {} field dimensions", of, what,
                    values.size(), dims);
}

void expect_positive(const std::vector<unsigned>& values, const char* of, const char* what) {
  for (const unsigned v : values)
    if (v == 0) poputil::reject("zero-parameter", "ConvParams: {}{} is 0, expected at least 1", of, what);
}

void expect_truncation(std::size_t lower, std::size_t upper, std::size_t size, const char* what, std::size_t dim) {
  if (lower + upper > size)
    poputil::reject("truncation", "ConvParams: {} + {} elements truncated of {} {}elements in dimension {}", lower, upper, size, what, dim);
}

// The size after all transforms; each factor and summand is below 2^32, or rejected.
std::size_t transformed(std::size_t truncated, const ConvParams::InputTransform& t, unsigned dim, const char* what) {
  const std::size_t dilation = element(t.dilation, dim, "dilation");
  const std::size_t padding = std::size_t{element(t.paddingLower, dim, "paddingLower")} + element(t.paddingUpper, dim, "paddingUpper");
  const std::size_t size = padding + (truncated == 0 ? 0 : (std::min<std::size_t>(truncated, kLongest + 1) - 1) * dilation + 1);
  if (size > kLongest)
    poputil::reject("transformed-size", "ConvParams: {}dimension {} has {} elements or more after its transforms, expected at most {}",
                    what, dim, size, kLongest);
  return size;
}

std::size_t truncated_size(const std::vector<std::size_t>& shape, const ConvParams::InputTransform& t, unsigned dim, const char* what) {
  const std::size_t size = element(shape, dim, what), lower = element(t.truncationLower, dim, "truncationLower"),
                    upper = element(t.truncationUpper, dim, "truncationUpper");
  expect_truncation(lower, upper, size, what, dim);
  if (size > kLongest)
    poputil::reject("dimension-size", "ConvParams: {}dimension {} has {} elements, expected at most {}", what, dim, size, kLongest);
  return size - lower - upper;
}

void validate_operand(const ConvParams::InputTransform& t, const std::vector<std::size_t>& shape, const char* what) {
  const std::size_t dims = shape.size();
  expect_dims(t.truncationLower, dims, what, "truncationLower");
  expect_dims(t.truncationUpper, dims, what, "truncationUpper");
  expect_dims(t.dilation, dims, what, "dilation");
  expect_dims(t.paddingLower, dims, what, "paddingLower");
  expect_dims(t.paddingUpper, dims, what, "paddingUpper");
  expect_dims(t.flip, dims, what, "flip");
  expect_positive(t.dilation, what, "dilation");
}

// As many elements as a host can have: their bytes are counted in 63 bits.
void expect_elements(const std::vector<std::size_t>& shape, const char* what) {
  unsigned __int128 n = 1;
  for (const std::size_t size : shape) {
    if (size == 0) return;
    if ((n *= size) >> 60 != 0)
      poputil::reject("element-count", "ConvParams: the {} has more elements than can be counted: {}", what, fmt::join(shape, " x "));
  }
}

// {a, b, field...}
std::vector<std::size_t> shape_of(std::vector<std::size_t> leading, const std::vector<std::size_t>& field) {
  leading.insert(leading.end(), field.begin(), field.end());
  return leading;
}

void canonicalize_operand(ConvParams::InputTransform& t, unsigned truncated, unsigned d) {
  if (truncated <= 1) t.dilation[d] = 1;
  if (t.flip[d] && truncated <= 1) {
    std::swap(t.paddingLower[d], t.paddingUpper[d]);
    t.flip[d] = false;
  }
}

Json json_of(const ConvParams::InputTransform& t) {
  return {{"truncationLower", t.truncationLower}, {"truncationUpper", t.truncationUpper}, {"dilation", t.dilation},
          {"paddingLower", t.paddingLower},       {"paddingUpper", t.paddingUpper},       {"flip", t.flip}};
}
Json json_of(const ConvParams::OutputTransform& t) {
  return {{"truncationLower", t.truncationLower},
          {"truncationUpper", t.truncationUpper},
          {"stride", t.stride},
          {"paddingLower", t.paddingLower},
          {"paddingUpper", t.paddingUpper}};
}

template <class T>
void read(const Json& from, const char* key, T& to) {
  if (from.contains(key)) to = from.at(key).get<T>();
}

poplar::Type type_named(const std::string& name) {
  for (const poplar::Type& type : {poplar::FLOAT, poplar::HALF, poplar::QUARTER})
    if (type.toString() == name) return type;
  poputil::reject("no-such-type", "{}", "ConvParams: '" + name + "' is no type of convolutions");
}

void read(const Json& from, ConvParams::InputTransform& t) {
  read(from, "truncationLower", t.truncationLower);
  read(from, "truncationUpper", t.truncationUpper);
  read(from, "dilation", t.dilation);
  read(from, "paddingLower", t.paddingLower);
  read(from, "paddingUpper", t.paddingUpper);
  read(from, "flip", t.flip);
}

ConvParams params_of(const Json& j) {
  const std::vector<std::size_t> field = j.at("inputFieldShape"), kernel = j.at("kernelShape");
  ConvParams p;
  p.inputType = type_named(j.value("inputType", std::string("half")));
  p.outputType = type_named(j.value("outputType", p.inputType.toString()));
  p.batchSize = j.value("batchSize", std::size_t{1});
  p.inputFieldShape = field;
  p.kernelShape = kernel;
  p.inputChannelsPerConvGroup = j.at("inputChannelsPerConvGroup");
  p.outputChannelsPerConvGroup = j.at("outputChannelsPerConvGroup");
  p.numConvGroups = j.value("numConvGroups", std::size_t{1});
  p.inputTransform = ConvParams::InputTransform(field.size());
  p.kernelTransform = ConvParams::InputTransform(field.size());
  p.outputTransform = ConvParams::OutputTransform(field.size());
  if (j.contains("inputTransform")) read(j.at("inputTransform"), p.inputTransform);
  if (j.contains("kernelTransform")) read(j.at("kernelTransform"), p.kernelTransform);
  if (j.contains("outputTransform")) {
    const Json& t = j.at("outputTransform");
    read(t, "truncationLower", p.outputTransform.truncationLower);
    read(t, "truncationUpper", p.outputTransform.truncationUpper);
    read(t, "stride", p.outputTransform.stride);
    read(t, "paddingLower", p.outputTransform.paddingLower);
    read(t, "paddingUpper", p.outputTransform.paddingUpper);
  }
  return p;
}

}  // namespace

ConvParams::InputTransform::InputTransform(const std::size_t size)
    : truncationLower(size, 0),
      truncationUpper(size, 0),
      dilation(size, 1),
      paddingLower(size, 0),
      paddingUpper(size, 0),
      flip(size, false) {}

ConvParams::InputTransform::InputTransform(std::vector<unsigned> truncation_lower, std::vector<unsigned> truncation_upper,
                                           std::vector<unsigned> dilation_, std::vector<unsigned> padding_lower,
                                           std::vector<unsigned> padding_upper, std::vector<bool> flip_)
    : truncationLower(std::move(truncation_lower)),
      truncationUpper(std::move(truncation_upper)),
      dilation(std::move(dilation_)),
      paddingLower(std::move(padding_lower)),
      paddingUpper(std::move(padding_upper)),
      flip(std::move(flip_)) {}

ConvParams::OutputTransform::OutputTransform(const std::size_t size)
    : truncationLower(size, 0), truncationUpper(size, 0), stride(size, 1), paddingLower(size, 0), paddingUpper(size, 0) {}

ConvParams::OutputTransform::OutputTransform(std::vector<unsigned> truncation_lower, std::vector<unsigned> truncation_upper,
                                             std::vector<unsigned> striding, std::vector<unsigned> padding_lower,
                                             std::vector<unsigned> padding_upper)
    : truncationLower(std::move(truncation_lower)),
      truncationUpper(std::move(truncation_upper)),
      stride(std::move(striding)),
      paddingLower(std::move(padding_lower)),
      paddingUpper(std::move(padding_upper)) {}

bool operator<(const ConvParams::InputTransform& a, const ConvParams::InputTransform& b) { return tied(a) < tied(b); }
bool operator==(const ConvParams::InputTransform& a, const ConvParams::InputTransform& b) { return tied(a) == tied(b); }
bool operator!=(const ConvParams::InputTransform& a, const ConvParams::InputTransform& b) { return !(a == b); }
bool operator<(const ConvParams::OutputTransform& a, const ConvParams::OutputTransform& b) { return tied(a) < tied(b); }
bool operator==(const ConvParams::OutputTransform& a, const ConvParams::OutputTransform& b) { return tied(a) == tied(b); }
bool operator!=(const ConvParams::OutputTransform& a, const ConvParams::OutputTransform& b) { return !(a == b); }
bool operator<(const ConvParams& a, const ConvParams& b) {
  if (tied(a) != tied(b)) return tied(a) < tied(b);
  return names_of(a) < names_of(b);
}
bool operator==(const ConvParams& a, const ConvParams& b) { return tied(a) == tied(b) && names_of(a) == names_of(b); }
bool operator!=(const ConvParams& a, const ConvParams& b) { return !(a == b); }

ConvParams::ConvParams(poplar::Type data_type, std::size_t batch, std::vector<std::size_t> field, std::vector<std::size_t> kernel,
                       std::size_t in_channels, std::size_t out_channels, std::size_t groups)
    : ConvParams(data_type, data_type, batch, std::move(field), std::move(kernel), in_channels, out_channels, groups) {}

ConvParams::ConvParams(poplar::Type input_type, poplar::Type output_type, std::size_t batch, std::vector<std::size_t> field,
                       std::vector<std::size_t> kernel, std::size_t in_channels, std::size_t out_channels, std::size_t groups)
    : ConvParams(input_type, output_type, batch, field, kernel, in_channels, out_channels, groups, InputTransform(field.size()),
                 InputTransform(field.size()), OutputTransform(field.size())) {}

ConvParams::ConvParams(poplar::Type input_type, poplar::Type output_type, std::size_t batch, std::vector<std::size_t> field,
                       std::vector<std::size_t> kernel, std::size_t in_channels, std::size_t out_channels, std::size_t groups,
                       InputTransform input_transform, InputTransform kernel_transform, OutputTransform output_transform)
    : inputType(input_type),
      outputType(output_type),
      batchSize(batch),
      inputFieldShape(std::move(field)),
      kernelShape(std::move(kernel)),
      inputChannelsPerConvGroup(in_channels),
      outputChannelsPerConvGroup(out_channels),
      numConvGroups(groups),
      inputTransform(std::move(input_transform)),
      kernelTransform(std::move(kernel_transform)),
      outputTransform(std::move(output_transform)) {
  validate();
}

unsigned ConvParams::getTruncatedInputSize(unsigned dim) const {
  return static_cast<unsigned>(truncated_size(inputFieldShape, inputTransform, dim, "input "));
}

unsigned ConvParams::getTruncatedKernelSize(unsigned dim) const {
  return static_cast<unsigned>(truncated_size(kernelShape, kernelTransform, dim, "kernel "));
}

unsigned ConvParams::getTransformedInputSize(unsigned dim) const {
  return static_cast<unsigned>(transformed(getTruncatedInputSize(dim), inputTransform, dim, "input "));
}
unsigned ConvParams::getTransformedKernelSize(unsigned dim) const {
  return static_cast<unsigned>(transformed(getTruncatedKernelSize(dim), kernelTransform, dim, "kernel "));
}

std::size_t ConvParams::getUntransformedOutputSize(unsigned dim) const {
  const std::size_t x = getTransformedInputSize(dim), w = getTransformedKernelSize(dim);
  return (x > w ? x - w : w - x) + 1;
}

std::size_t ConvParams::getOutputSize(unsigned dim) const {
  const OutputTransform& out = outputTransform;
  const std::size_t size = getUntransformedOutputSize(dim), stride = element(out.stride, dim, "output stride");
  const std::size_t lower = element(out.truncationLower, dim, "output truncationLower"),
                    upper = element(out.truncationUpper, dim, "output truncationUpper");
  expect_truncation(lower, upper, size, "output ", dim);
  if (stride == 0) expect_positive(out.stride, "output ", "stride");
  const std::size_t taken = (size - lower - upper + stride - 1) / stride;
  const std::size_t padded =
      taken + element(out.paddingLower, dim, "output paddingLower") + element(out.paddingUpper, dim, "output paddingUpper");
  if (padded > kLongest)
    poputil::reject("output-size", "ConvParams: output dimension {} has {} elements, expected at most {}", dim, padded, kLongest);
  return padded;
}

std::vector<std::size_t> ConvParams::getOutputFieldShape() const {
  std::vector<std::size_t> shape;
  for (unsigned d = 0; d < getNumFieldDims(); ++d) shape.push_back(getOutputSize(d));
  return shape;
}

void ConvParams::validate() const {
  const std::size_t dims = inputFieldShape.size();
  expect_dims(kernelShape, dims, "", "kernelShape");
  validate_operand(inputTransform, inputFieldShape, "input ");
  validate_operand(kernelTransform, kernelShape, "kernel ");
  expect_dims(outputTransform.truncationLower, dims, "output ", "truncationLower");
  expect_dims(outputTransform.truncationUpper, dims, "output ", "truncationUpper");
  expect_dims(outputTransform.stride, dims, "output ", "stride");
  expect_dims(outputTransform.paddingLower, dims, "output ", "paddingLower");
  expect_dims(outputTransform.paddingUpper, dims, "output ", "paddingUpper");
  expect_positive(outputTransform.stride, "output ", "stride");
  for (unsigned d = 0; d < dims; ++d)
    if (getTransformedKernelSize(d) == 0) poputil::reject("empty-kernel", "ConvParams: the kernel is empty in dimension {}", d);
  expect_elements(shape_of({batchSize, numConvGroups, inputChannelsPerConvGroup}, inputFieldShape), "input");
  expect_elements(shape_of({numConvGroups, inputChannelsPerConvGroup, outputChannelsPerConvGroup}, kernelShape), "kernel");
  expect_elements(shape_of({batchSize, numConvGroups, outputChannelsPerConvGroup}, getOutputFieldShape()), "output");
}

ConvParams ConvParams::canonicalize() const {
  validate();
  ConvParams p = *this;
  for (unsigned d = 0; d < p.getNumFieldDims(); ++d) {
    canonicalize_operand(p.inputTransform, p.getTruncatedInputSize(d), d);
    canonicalize_operand(p.kernelTransform, p.getTruncatedKernelSize(d), d);
    // What the last stride drops counts as truncated; a stride that is never taken is 1.
    OutputTransform& out = p.outputTransform;
    const unsigned left = static_cast<unsigned>(p.getUntransformedOutputSize(d)) - out.truncationLower[d] - out.truncationUpper[d];
    if (left == 0) continue;
    out.truncationUpper[d] += (left - 1) % out.stride[d];
    if (left <= out.stride[d]) out.stride[d] = 1;
  }
  return p;
}

std::ostream& operator<<(std::ostream& os, const ConvParams& p) {
  const Json j = {{"inputType", p.inputType.toString()},
                  {"outputType", p.outputType.toString()},
                  {"batchSize", p.batchSize},
                  {"inputFieldShape", p.inputFieldShape},
                  {"kernelShape", p.kernelShape},
                  {"inputChannelsPerConvGroup", p.inputChannelsPerConvGroup},
                  {"outputChannelsPerConvGroup", p.outputChannelsPerConvGroup},
                  {"numConvGroups", p.numConvGroups},
                  {"inputTransform", json_of(p.inputTransform)},
                  {"kernelTransform", json_of(p.kernelTransform)},
                  {"outputTransform", json_of(p.outputTransform)}};
  return os << j.dump();
}

std::istream& operator>>(std::istream& is, ConvParams& p) {
  try {
    Json j;
    is >> j;
    ConvParams read = params_of(j);
    read.validate();
    p = std::move(read);
  } catch (const nlohmann::json::exception& e) { poputil::reject("params-text", "ConvParams: cannot be read: {}", e.what()); }
  return is;
}

std::size_t hash_value(const ConvParams::InputTransform& t) {
  std::size_t seed = hash_of(1, t.truncationLower);
  seed = hash_of(seed, t.truncationUpper);
  seed = hash_of(seed, t.dilation);
  seed = hash_of(seed, t.paddingLower);
  seed = hash_of(seed, t.paddingUpper);
  return hash_of(seed, t.flip);
}

std::size_t hash_value(const ConvParams::OutputTransform& t) {
  std::size_t seed = hash_of(2, t.truncationLower);
  seed = hash_of(seed, t.truncationUpper);
  seed = hash_of(seed, t.stride);
  seed = hash_of(seed, t.paddingLower);
  return hash_of(seed, t.paddingUpper);
}

}  // namespace poplin

namespace std {

size_t hash<poplin::ConvParams::InputTransform>::operator()(const poplin::ConvParams::InputTransform& it) const {
  return poplin::hash_value(it);
}
size_t hash<poplin::ConvParams::OutputTransform>::operator()(const poplin::ConvParams::OutputTransform& ot) const {
  return poplin::hash_value(ot);
}

size_t hash<poplin::ConvParams>::operator()(const poplin::ConvParams& p) const {
  using poplin::combined;
  size_t seed = combined(std::hash<std::string>()(p.inputType.toString()), std::hash<std::string>()(p.outputType.toString()));
  for (const size_t n : {p.batchSize, p.inputChannelsPerConvGroup, p.outputChannelsPerConvGroup, p.numConvGroups}) seed = combined(seed, n);
  seed = poplin::hash_of(poplin::hash_of(seed, p.inputFieldShape), p.kernelShape);
  seed = combined(combined(seed, hash_value(p.inputTransform)), hash_value(p.kernelTransform));
  return combined(seed, hash_value(p.outputTransform));
}

}  // namespace std
