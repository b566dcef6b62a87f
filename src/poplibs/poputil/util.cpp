#include "poputil/Util.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numeric>

#include <poplar/MetadataCreation.hpp>

#include "poputil/exceptions.hpp"

namespace poputil {

using poplar::Graph;
using poplar::Tensor;

Tensor duplicate(Graph& graph, const Tensor& in, poplar::program::Sequence& p, const poplar::DebugContext& debugContext,
                 poplar::TensorCloneMethod method) {
  Tensor out = graph.clone(in, debugContext, method);
  // An element that occurs several times in the clone, too, is copied once.
  if (!out.containsAliases()) {
    p.add(poplar::program::Copy(in, out, false, debugContext));
    return out;
  }
  const Tensor from = in.flatten(), to = out.flatten();
  const auto regions = flattenIntervals(graph.getSortedContiguousRegions(to, {poplar::Interval(0, to.numElements())}, true));
  p.add(poplar::program::Copy(poplar::concat(from.slices(regions)), poplar::concat(to.slices(regions)), false, debugContext));
  return out;
}

Tensor cloneN(Graph& graph, const Tensor& t, unsigned N, const poplar::DebugContext& debugContext, poplar::TensorCloneMethod method) {
  return graph.cloneN(t, N, debugContext, method);
}

std::vector<int> balancedPartition(int rangeUpperBound, int splitCount) {
  if (rangeUpperBound < 0 || splitCount <= 0)
    throw poplibs_error(fmt::format("balancedPartition: cannot cut {} into {} parts", rangeUpperBound, splitCount));
  std::vector<int> sizes(static_cast<std::size_t>(splitCount), rangeUpperBound / splitCount);
  for (int i = 0; i < rangeUpperBound % splitCount; ++i) ++sizes[static_cast<std::size_t>(i)];
  return sizes;
}

double castToDeviceHalfValue(const poplar::Target& target, double input) {
  char half[2];
  double output;
  poplar::copyDoubleToDeviceHalf(target, &input, half, 1);
  poplar::copyDeviceHalfToDouble(target, half, &output, 1);
  return output;
}

bool checkAccuracyWhenCast(const poplar::Target& target, double input, poplar::Type inputType, poplar::Type outputType, double tolerance) {
  const auto rounded = [&](double value, const poplar::Type& type) {
    if (type == poplar::HALF) return castToDeviceHalfValue(target, value);
    if (type == poplar::FLOAT) return static_cast<double>(static_cast<float>(value));
    throw poplibs_error("checkAccuracyWhenCast: a value of type " + type.toString() + ", expected float or half");
  };
  const double from = rounded(input, inputType), to = rounded(from, outputType);
  // Written so that NaN and infinity are not accurate.
  return std::abs(from - to) <= std::abs(from) * tolerance;
}

Tensor factorDims(const Tensor& t, const std::vector<std::size_t>& factors, unsigned startDim) {
  if (startDim + factors.size() > t.rank())
    throw poplibs_error(fmt::format("factorDims: {} factors from dimension {} for shape {}", factors.size(), startDim, t.shapeToString()));
  const std::vector<std::size_t> shape = t.shape();
  std::vector<std::size_t> split;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::size_t size = shape[startDim + i];
    if (factors[i] == 0 || size % factors[i] != 0)
      throw poplibs_error(fmt::format("factorDims: {} does not divide dimension {} of shape {}", factors[i], startDim + i, t.shapeToString()));
    split.push_back(size / factors[i]);
    split.push_back(factors[i]);
  }
  const unsigned n = static_cast<unsigned>(factors.size());
  std::vector<unsigned> from(n), to(n);  // the quotients, to the front
  for (unsigned i = 0; i < n; ++i) from[i] = startDim + 2 * i, to[i] = startDim + i;
  return t.reshapePartial(startDim, startDim + n, split).dimShufflePartial(from, to);
}

Tensor unfactorDims(const Tensor& t, unsigned numDims, unsigned startDim) {
  if (startDim + 2 * numDims > t.rank())
    throw poplibs_error(fmt::format("unfactorDims: {} dimensions from {} for shape {}", numDims, startDim, t.shapeToString()));
  std::vector<unsigned> from(numDims), to(numDims);
  std::vector<std::size_t> joined;
  for (unsigned i = 0; i < numDims; ++i) {
    from[i] = startDim + i, to[i] = startDim + 2 * i;
    joined.push_back(t.dim(startDim + i) * t.dim(startDim + numDims + i));
  }
  return t.dimShufflePartial(from, to).reshapePartial(startDim, startDim + 2 * numDims, joined);
}

Tensor createConstantMetadataTensor(Graph& graph, poplar::QuarterMetadata::Format fp8Format, int fp8Scale) {
  return poplar::createConstantMetadataTensor(graph, fp8Format, fp8Scale);
}

Tensor createVariableMetadataTensor(Graph& graph, poplar::QuarterMetadata::Format fp8Format, int fp8Scale) {
  return poplar::createVariableMetadataTensor(graph, fp8Format, fp8Scale);
}

}  // namespace poputil
