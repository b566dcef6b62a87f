// What pooling parameters mean: shapes, and how much work.
#include <popnn/Pooling.hpp>
#include <poputil/exceptions.hpp>
#include "poplibs/poputil/reject.h"

#include <algorithm>

namespace popnn {
namespace pooling {

using poputil::poplibs_error;

namespace {

void check_params(const PoolParams& p) {
  const std::string function = "popnn::pooling: ";
  const std::size_t n = p.inputFieldShape.size();
  if (n < 1 || n > 3)
    poputil::reject("field-dimensions", "{}", function + "the field has " + std::to_string(n) + " dimensions, expected 1 to 3");
  const auto check = [&](const char* name, std::size_t size) {
    if (size != n)
      poputil::reject("dimensions-differ", "{}",
                      function + name + " has " + std::to_string(size) + " dimensions, the field has " + std::to_string(n));
  };
  check("kernelShape", p.kernelShape.size());
  check("stride", p.stride.size());
  check("inputTruncationOrPaddingLower", p.inputTruncationOrPaddingLower.size());
  check("inputTruncationOrPaddingUpper", p.inputTruncationOrPaddingUpper.size());
  for (std::size_t i = 0; i < n; ++i)
    if (p.stride[i] == 0 || p.kernelShape[i] == 0 || p.inputFieldShape[i] == 0)
      poputil::reject("zero-parameter", "{}", function + "stride, kernelShape or inputFieldShape is 0 in dimension " + std::to_string(i));
  constexpr std::size_t kLongest = 0x7fffffff;
  unsigned __int128 elements = 1;
  const auto count = [&](std::size_t size, const char* name) {
    if (size > kLongest || (elements *= size) >> 60 != 0)
      poputil::reject("element-count", "{}",
                      function + name + " of " + std::to_string(size) + " makes more elements than 2^60, or is longer than 2^31 - 1");
  };
  count(p.batchSize, "a batch");
  count(p.numChannels, "a number of channels");
  for (std::size_t i = 0; i < n; ++i) {
    count(p.inputFieldShape[i], "a dimension of the field");
    if (p.kernelShape[i] > kLongest)
      poputil::reject("window-size", "{}",
                      function + "a window of " + std::to_string(p.kernelShape[i]) + " elements, expected at most 2^31 - 1");
    const long extent = static_cast<long>(p.inputFieldShape[i]) + p.inputTruncationOrPaddingLower[i] + p.inputTruncationOrPaddingUpper[i];
    if (extent > static_cast<long>(kLongest))
      poputil::reject("padded-size", "{}",
                      function + "a padded dimension of " + std::to_string(extent) + " elements, expected at most 2^31 - 1");
  }
}

// Products of counts, which must fit 64 bits: a wrong number would be believed.
std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) poputil::reject("operation-count", "popnn::pooling: more operations than 64 bits count");
  return product;
}

// Elements of the field in all windows, over all dimensions.
std::uint64_t elements_in_windows(const PoolParams& p) {
  const std::vector<std::size_t> windows = getOutputFieldShape(p);
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    std::uint64_t sum = 0;
    for (std::size_t o = 0; o < windows[i]; ++o) {
      const long begin = static_cast<long>(o * p.stride[i]) - p.inputTruncationOrPaddingLower[i],
                 end = begin + static_cast<long>(p.kernelShape[i]);
      sum += static_cast<std::uint64_t>(std::max(0l, std::min(end, static_cast<long>(p.inputFieldShape[i])) - std::max(begin, 0l)));
    }
    product = times(product, sum);
  }
  return times(product, times(p.numChannels, p.batchSize));
}

std::uint64_t number_of_windows(const PoolParams& p) {
  std::uint64_t product = times(p.numChannels, p.batchSize);
  for (const std::size_t n : getOutputFieldShape(p)) product = times(product, n);
  return product;
}

double perfect_cycles(const poplar::Graph& graph, const PoolParams& p, std::uint64_t flops) {
  const poplar::Target& target = graph.getTarget();
  return static_cast<double>(flops) / (target.getNumTiles() * target.getVectorWidth(p.dType));
}

template <class T>
void print(std::ostream& o, const char* name, const std::vector<T>& values) {
  o << "  " << name << " {";
  for (std::size_t i = 0; i < values.size(); ++i) o << (i == 0 ? "" : ",") << values[i];
  o << "}\n";
}

}  // namespace

std::vector<std::size_t> PoolParams::getOutputFieldShape() const { return pooling::getOutputFieldShape(*this); }

std::vector<std::size_t> getOutputFieldShape(const PoolParams& p) {
  check_params(p);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < p.inputFieldShape.size(); ++i) {
    const long extent = static_cast<long>(p.inputFieldShape[i]) + p.inputTruncationOrPaddingLower[i] + p.inputTruncationOrPaddingUpper[i];
    const long room = extent - static_cast<long>(p.kernelShape[i]);
    if (room < 0)
      poputil::reject("window-fit", "{}",
                      "popnn::pooling: a window of " + std::to_string(p.kernelShape[i]) + " does not fit the " + std::to_string(extent) +
                          " elements of the padded field in dimension " + std::to_string(i));
    out.push_back(static_cast<std::size_t>(room) / p.stride[i] + 1);
  }
  return out;
}

std::uint64_t getFwdFlops(const PoolParams& params) {
  return elements_in_windows(params) + (params.poolingType == PoolingType::AVG ? number_of_windows(params) : 0);
}
std::uint64_t getBwdFlops(const PoolParams& params) { return getFwdFlops(params); }
double getFwdPerfectCycleCount(const poplar::Graph& graph, const PoolParams& params) {
  return perfect_cycles(graph, params, getFwdFlops(params));
}
double getBwdPerfectCycleCount(const poplar::Graph& graph, const PoolParams& params) {
  return perfect_cycles(graph, params, getBwdFlops(params));
}

const char* asString(const PoolingType& method) {
  switch (method) {
    case PoolingType::MAX: return "max";
    case PoolingType::AVG: return "avg";
    case PoolingType::SUM: return "sum";
  }
  poputil::reject("no-such-type", "popnn::pooling: unknown pooling type");
}

std::ostream& operator<<(std::ostream& o, const PoolParams& p) {
  o << "Params: " << p.dType << ", " << asString(p.poolingType) << ", batch " << p.batchSize << ", channels " << p.numChannels << '\n';
  print(o, "inputFieldShape", p.inputFieldShape);
  print(o, "kernelShape", p.kernelShape);
  print(o, "stride", p.stride);
  print(o, "inputTruncationOrPaddingLower", p.inputTruncationOrPaddingLower);
  print(o, "inputTruncationOrPaddingUpper", p.inputTruncationOrPaddingUpper);
  return o;
}

}  // namespace pooling
}  // namespace popnn
