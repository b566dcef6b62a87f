// Values of device types; metadata of QUARTER tensors.
#include "poplibs/poputil/reject.h"
#include "poputil/Util.hpp"

#include <fmt/format.h>

#include <cmath>

#include <poplar/MetadataCreation.hpp>

#include "poputil/exceptions.hpp"

namespace poputil {

using poplar::Graph;
using poplar::Tensor;

std::vector<int> balancedPartition(int rangeUpperBound, int splitCount) {
  if (rangeUpperBound < 0 || splitCount <= 0)
    poputil::reject("no-parts", "balancedPartition: cannot cut {} into {} parts", rangeUpperBound, splitCount);
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
    poputil::reject("accuracy-type", "{}", "checkAccuracyWhenCast: a value of type " + type.toString() + ", expected float or half");
  };
  const double from = rounded(input, inputType), to = rounded(from, outputType);
  // Written so that NaN and infinity are not accurate.
  return std::abs(from - to) <= std::abs(from) * tolerance;
}

Tensor createConstantMetadataTensor(Graph& graph, poplar::QuarterMetadata::Format fp8Format, int fp8Scale) {
  return poplar::createConstantMetadataTensor(graph, fp8Format, fp8Scale);
}

Tensor createVariableMetadataTensor(Graph& graph, poplar::QuarterMetadata::Format fp8Format, int fp8Scale) {
  return poplar::createVariableMetadataTensor(graph, fp8Format, fp8Scale);
}

}  // namespace poputil
