#include "poplibs/poplin/conv/terms/line.h"

namespace poplin::conv {

Line line_of(const ConvParams& p, unsigned d) {
  Line line;
  line.in = p.getTruncatedInputSize(d);
  line.taps = p.getTruncatedKernelSize(d);
  line.stride = p.outputTransform.stride[d];
  line.dilation = p.inputTransform.dilation[d];
  line.out = static_cast<std::int64_t>(p.getOutputSize(d)) - p.outputTransform.paddingLower[d] - p.outputTransform.paddingUpper[d];
  line.reversed = p.inputTransform.flip[d];
  const std::int64_t x = p.getTransformedInputSize(d), w = p.getTransformedKernelSize(d);
  // Element i of the input (reversed if flipped) is at `low` + dilation * i; element t of the kernel at `first` + step * t.
  const std::int64_t low = line.reversed ? p.inputTransform.paddingUpper[d] : p.inputTransform.paddingLower[d];
  std::int64_t first = p.kernelTransform.paddingLower[d];
  line.step = p.kernelTransform.dilation[d];
  if (p.kernelTransform.flip[d]) {
    first = w - 1 - first;
    line.step = -line.step;
  }
  if (w <= x) {
    line.offset = first - low;
  } else {
    // position of i == position of t - u: counted from the input's other end, i grows with u.
    line.reversed = !line.reversed;
    line.offset = low + line.dilation * (line.in - 1) - first;
    line.step = -line.step;
  }
  line.offset += p.outputTransform.truncationLower[d];
  return line;
}

std::vector<Line> lines_of(const ConvParams& params) {
  std::vector<Line> lines;
  for (unsigned d = 0; d < params.getNumFieldDims(); ++d) lines.push_back(line_of(params, d));
  return lines;
}

}  // namespace poplin::conv
