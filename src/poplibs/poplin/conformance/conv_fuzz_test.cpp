// Random parameters, all passes, on one machine after the other. A failure prints the seed and the parameters.
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>

#include <random>
#include <sstream>

#include "conv_reference.h"
#include "oplib.h"

namespace {

using namespace oplib;
using namespace poplar;
using poplar::program::Sequence;
using poplin::ConvParams;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  // Mostly `low`, else up to `high`.
  unsigned rarely(unsigned low, unsigned high) { return engine_() % 3 == 0 ? between(low, high) : low; }
  unsigned between(unsigned low, unsigned high) { return low + static_cast<unsigned>(engine_() % (high - low + 1)); }

 private:
  std::mt19937 engine_;
};

// Nothing of one operand that is truncated away whole, and some output.
bool is_usable(const ConvParams& p) {
  for (unsigned d = 0; d < p.getNumFieldDims(); ++d)
    if (p.getTruncatedInputSize(d) == 0 || p.getTruncatedKernelSize(d) == 0) return false;
  return true;
}

ConvParams random_params(Random& r) {
  for (;;) {
    const std::size_t dims = r.between(1, 3);
    ConvParams p;
    p.inputType = p.outputType = r.between(0, 3) == 0 ? HALF : FLOAT;
    p.batchSize = r.between(1, 3);
    p.numConvGroups = r.rarely(1, 3);
    p.inputChannelsPerConvGroup = r.between(1, 9);
    p.outputChannelsPerConvGroup = r.between(1, 17);
    p.inputTransform = p.kernelTransform = ConvParams::InputTransform(dims);
    p.outputTransform = ConvParams::OutputTransform(dims);
    for (std::size_t d = 0; d < dims; ++d) {
      p.inputFieldShape.push_back(r.between(1, dims == 3 ? 5 : 9));
      p.kernelShape.push_back(r.between(1, 4));
      for (ConvParams::InputTransform* t : {&p.inputTransform, &p.kernelTransform}) {
        t->truncationLower[d] = r.rarely(0, 2);
        t->truncationUpper[d] = r.rarely(0, 1);
        t->dilation[d] = r.rarely(1, 3);
        t->paddingLower[d] = r.rarely(0, 2);
        t->paddingUpper[d] = r.rarely(0, 3);
        t->flip[d] = r.rarely(0, 1) == 1;
      }
      p.outputTransform.truncationLower[d] = r.rarely(0, 1);
      p.outputTransform.truncationUpper[d] = r.rarely(0, 1);
      p.outputTransform.stride[d] = r.rarely(1, 3);
      p.outputTransform.paddingLower[d] = r.rarely(0, 2);
      p.outputTransform.paddingUpper[d] = r.rarely(0, 1);
    }
    try {
      p.validate();
    } catch (const std::exception&) { continue; }
    if (is_usable(p)) return p;
  }
}

TEST(ConvFuzz, AllPassesOfRandomParameters) {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    Random r(seed);
    const ConvParams p = random_params(r);
    std::ostringstream text;
    text << "seed " << seed << ": " << p;
    SCOPED_TRACE(text.str());
    const Mapping mapping = kMappings[r.between(0, 3)];
    const Operand in = operand("in", p.inputType, reference::input_shape(p), integers(-2, 2, seed), mapping),
                  weights = operand("weights", p.inputType, reference::weights_shape(p), integers(-2, 2, seed + 1), mapping),
                  deltas = operand("deltas", p.outputType, reference::output_shape(p), integers(-2, 2, seed + 2), mapping);
    const ConvParams back = poplin::getGradientParams(p);
    const poplar::OptionFlags options{{"pando.planObjective", seed / kMachines.size() % 2 == 0 ? "cycles" : "hostTime"}};
    const auto out = run(kMachines[seed % kMachines.size()], {in, weights, deltas}, [&](Graph& g, std::vector<Tensor>& t, Sequence& prog) {
      return std::vector<Tensor>{poplin::convolution(g, t[0], t[1], p, false, prog, "forward", options),
                                 poplin::convolution(g, t[2], t[1], back, true, prog, "backward", options),
                                 poplin::calculateWeightDeltas(g, t[2], t[0], p, prog, "update", options)};
    });
    const reference::Gradients gradients = reference::gradients(p, in.values, weights.values, deltas.values);
    const auto exact = [&](const Values& actual, const std::vector<double>& expected, const char* what) {
      expect_close(actual, map1(Values{p.outputType, {}, expected}, [&](double v) { return rounded(p.outputType, v); }), Tolerance{0, 0},
                   what);
    };
    exact(out[0], reference::convolution(p, in.values, weights.values).values, "forward");
    exact(out[1], gradients.in, "input gradient");
    exact(out[2], gradients.weights, "weight gradient");
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
