// ConvParams, ConvUtil, options and reports.
#include <poplin/ConvPreplan.hpp>
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MultiConvolution.hpp>
#include <poputil/exceptions.hpp>

#include <sstream>

#include "conv_cases.h"
#include "conv_reference.h"
#include "oplib.h"

namespace {

using namespace oplib;
using namespace poplar;
using poplar::program::Sequence;
using poplin::ConvParams;
using poputil::poplibs_error;

constexpr unsigned kNone = ~0U;

TEST(ConvParams, SizesAreThoseOfTheTransforms) {
  for (const auto& [name, p] : conv_cases::cases()) {
    const reference::Array out = reference::transformed(reference::Array(reference::untransformed_shape(p)), p.outputTransform, 2);
    const reference::Array in = reference::transformed(reference::Array(reference::input_shape(p)), p.inputTransform, 2);
    for (unsigned d = 0; d < p.getNumFieldDims(); ++d) {
      EXPECT_EQ(p.getOutputSize(d), out.shape[2 + d]) << name;
      EXPECT_EQ(p.getTransformedInputSize(d), in.shape[2 + d]) << name;
    }
  }
}

TEST(ConvParams, TextRoundTripsAndCanonicalParametersMeanTheSame) {
  for (const auto& [name, p] : conv_cases::cases()) {
    std::stringstream text;
    text << p;
    ConvParams read;
    text >> read;
    EXPECT_EQ(read, p) << name;
    EXPECT_FALSE(read < p || p < read) << name;
    EXPECT_EQ(std::hash<ConvParams>()(read), std::hash<ConvParams>()(p)) << name;
    const ConvParams canonical = p.canonicalize();
    EXPECT_EQ(canonical.getOutputFieldShape(), p.getOutputFieldShape()) << name;
    for (unsigned d = 0; d < p.getNumFieldDims(); ++d)
      for (unsigned o = 0; o < p.getOutputSize(d); ++o)
        for (unsigned k = 0; k < p.kernelShape[d]; ++k)
          EXPECT_EQ(poplin::getInputIndex(d, o, k, p), poplin::getInputIndex(d, o, k, canonical)) << name;
  }
  ConvParams p;
  std::istringstream bad("{\"kernelShape\": 3}"), garbage("3x3");
  EXPECT_THROW(bad >> p, poplibs_error);
  EXPECT_THROW(garbage >> p, poplibs_error);
}

TEST(ConvParams, DifferIfOneMemberDoes) {
  const ConvParams p = conv_cases::make(2, {7, 6}, {3, 2}, 3, 5);
  std::vector<ConvParams> others(8, p);
  others[0].inputType = HALF;
  others[1].outputType = HALF;
  others[2].batchSize = 3;
  others[3].inputTransform.flip[1] = true;
  others[4].kernelTransform.dilation[0] = 2;
  others[5].outputTransform.stride[0] = 2;
  others[6].outputTransform.paddingUpper[1] = 1;
  others[7].numConvGroups = 2;
  for (const ConvParams& o : others) {
    EXPECT_NE(o, p);
    EXPECT_NE(o < p, p < o);
    EXPECT_NE(std::hash<ConvParams>()(o), std::hash<ConvParams>()(p));
  }
}

TEST(ConvParams, ValidateRejects) {
  const ConvParams p = conv_cases::make(2, {7, 6}, {3, 2}, 3, 5);
  const auto rejects = [&](const std::function<void(ConvParams&)>& change) {
    ConvParams bad = p;
    change(bad);
    EXPECT_THROW(bad.validate(), poplibs_error);
  };
  rejects([](ConvParams& b) { b.kernelShape = {3}; });
  rejects([](ConvParams& b) { b.inputTransform.flip = {}; });
  rejects([](ConvParams& b) { b.inputTransform.paddingLower = {1}; });
  rejects([](ConvParams& b) { b.kernelTransform.dilation = {1, 1, 1}; });
  rejects([](ConvParams& b) { b.outputTransform.stride = {1}; });
  rejects([](ConvParams& b) { b.outputTransform.stride = {1, 0}; });
  rejects([](ConvParams& b) { b.inputTransform.dilation = {0, 1}; });
  rejects([](ConvParams& b) { b.inputTransform.truncationLower = {4, 0}, b.inputTransform.truncationUpper = {4, 0}; });
  rejects([](ConvParams& b) { b.kernelTransform.truncationLower = {3, 0}; });
  rejects([](ConvParams& b) { b.outputTransform.truncationLower = {6, 0}; });
  // Sizes that no unsigned int or no count of elements holds.
  rejects([](ConvParams& b) { b.inputFieldShape = {std::size_t{1} << 32, 6}; });
  rejects([](ConvParams& b) { b.inputFieldShape = {SIZE_MAX, 6}; });
  rejects([](ConvParams& b) { b.kernelShape = {(std::size_t{1} << 63) + 2, 2}; });
  rejects([](ConvParams& b) { b.inputTransform.dilation = {0x7fffffff, 1}; });
  rejects([](ConvParams& b) { b.inputTransform.paddingLower = {0xffffffff, 0}, b.inputTransform.paddingUpper = {0xffffffff, 0}; });
  rejects([](ConvParams& b) { b.kernelTransform.paddingUpper = {0, 0xfffffff0}; });
  rejects([](ConvParams& b) { b.inputTransform.truncationLower = {0xffffffff, 0}; });
  rejects([](ConvParams& b) { b.outputTransform.paddingLower = {0x7fffffff, 0}; });
  rejects([](ConvParams& b) { b.outputTransform.truncationUpper = {0xffffffff, 0}; });
  rejects([](ConvParams& b) { b.batchSize = std::size_t{1} << 62; });
  rejects([](ConvParams& b) { b.inputChannelsPerConvGroup = b.outputChannelsPerConvGroup = std::size_t{1} << 32; });
  rejects([](ConvParams& b) { b.numConvGroups = SIZE_MAX; });
  EXPECT_THROW(ConvParams(FLOAT, 1, {3, 3}, {3}, 1, 1, 1), poplibs_error);
}

// The input index by transforming an array of indices.
unsigned input_index(const ConvParams& p, unsigned dim, unsigned o, unsigned k) {
  ConvParams one = conv_cases::make(1, {p.inputFieldShape[dim]}, {p.kernelShape[dim]}, 1, 1);
  const auto pick = [dim](const ConvParams::InputTransform& t) {
    return ConvParams::InputTransform({t.truncationLower[dim]}, {t.truncationUpper[dim]}, {t.dilation[dim]}, {t.paddingLower[dim]},
                                      {t.paddingUpper[dim]}, {t.flip[dim]});
  };
  one.inputTransform = pick(p.inputTransform);
  one.kernelTransform = pick(p.kernelTransform);
  const auto& t = p.outputTransform;
  one.outputTransform = ConvParams::OutputTransform({t.truncationLower[dim]}, {t.truncationUpper[dim]}, {t.stride[dim]},
                                                    {t.paddingLower[dim]}, {t.paddingUpper[dim]});
  std::vector<double> kernel(p.kernelShape[dim], 0), indices;
  kernel[k] = 1;
  for (std::size_t i = 0; i < p.inputFieldShape[dim]; ++i) indices.push_back(static_cast<double>(i + 1));
  return static_cast<unsigned>(reference::convolution(one, indices, kernel).values[o]) - 1;
}

TEST(ConvUtil, IndicesAndRanges) {
  for (const auto& [name, p] : conv_cases::cases())
    for (unsigned d = 0; d < p.getNumFieldDims(); ++d) {
      const unsigned outs = static_cast<unsigned>(p.getOutputSize(d)), kernels = static_cast<unsigned>(p.kernelShape[d]);
      unsigned low = kNone, high = 0;
      for (unsigned o = 0; o < outs; ++o)
        for (unsigned k = 0; k < kernels; ++k) {
          const unsigned i = input_index(p, d, o, k);
          ASSERT_EQ(poplin::getInputIndex(d, o, k, p), i) << name;
          if (i == kNone) continue;
          EXPECT_EQ(poplin::getKernelIndex(d, o, i, p), k) << name;
          EXPECT_EQ(poplin::getInputRange(d, {o, o + 1}, k, p), std::make_pair(i, i + 1)) << name;
          EXPECT_EQ(poplin::getKernelRange(d, {o, o + 1}, i, p), std::make_pair(k, k + 1)) << name;
          EXPECT_EQ(poplin::getOutputRangeForKernelIndex(d, {o, o + 1}, k, p), std::make_pair(o, o + 1)) << name;
          EXPECT_EQ(poplin::getOutputRangeForInputIndex(d, {o, o + 1}, i, p), std::make_pair(o, o + 1)) << name;
          low = std::min(low, i);
          high = std::max(high, i + 1);
        }
      const std::pair<unsigned, unsigned> all = low == kNone ? std::make_pair(0u, 0u) : std::make_pair(low, high);
      EXPECT_EQ(poplin::getInputRange(d, std::make_pair(0u, outs), p), all) << name;
    }
  EXPECT_EQ(poplin::getDilatedSize(0, 3), 0u);
  EXPECT_THROW(poplin::getDilatedSize(1u << 31, 3), poplibs_error);
  EXPECT_EQ(poplin::getDilatedSize(4, 3), 10u);
}

// Ranges against all triples of the dimension, and beyond its ends.
TEST(ConvUtil, RangesAreThoseOfAllTriples) {
  using Bounds = std::pair<unsigned, unsigned>;
  const auto joined = [](Bounds& all, unsigned x) {
    all = all.second == 0 ? Bounds{x, x + 1} : Bounds{std::min(all.first, x), std::max(all.second, x + 1)};
  };
  const auto within = [](unsigned x, Bounds b) { return x >= b.first && x < b.second; };
  unsigned case_number = 0;
  for (const auto& [name, p] : conv_cases::cases()) {
    ++case_number;
    for (unsigned d = 0; d < p.getNumFieldDims(); ++d) {
      const unsigned outs = static_cast<unsigned>(p.getOutputSize(d)), kernels = static_cast<unsigned>(p.kernelShape[d]),
                     ins = static_cast<unsigned>(p.inputFieldShape[d]);
      for (const Bounds o : {Bounds{0, outs}, Bounds{outs / 3, outs / 2 + 1}, Bounds{outs - 1, kNone}, Bounds{2, 1}})
        for (const Bounds k : {Bounds{0, kernels}, Bounds{kernels / 2, kernels}, Bounds{case_number % kernels, case_number % kernels + 1}})
          for (const Bounds i : {Bounds{0, ins}, Bounds{ins / 3, ins / 2 + 1}, Bounds{ins, kNone}}) {
            Bounds by_kernel{0, 0}, by_input{0, 0}, input{0, 0}, kernel{0, 0};
            for (unsigned out = o.first; out < std::min(outs, o.second); ++out)
              for (unsigned tap = 0; tap < kernels; ++tap) {
                const unsigned in = poplin::getInputIndex(d, out, tap, p);
                if (in == kNone) continue;
                if (within(tap, k)) joined(by_kernel, out), joined(input, in);
                if (within(in, i)) joined(by_input, out), joined(kernel, tap);
              }
            SCOPED_TRACE(name);
            EXPECT_EQ(poplin::getOutputRangeForKernelRange(d, o, k, p), by_kernel);
            EXPECT_EQ(poplin::getOutputRangeForInputRange(d, o, i, p), by_input);
            EXPECT_EQ(poplin::getInputRange(d, o, k, p), input);
            EXPECT_EQ(poplin::getKernelRange(d, o, i, p), kernel);
          }
    }
  }
}

TEST(ConvUtil, LongDimensionsTakeNoTimeAndWrongOnesAreErrors) {
  const std::size_t in = 0x70000000, taps = 0x60000000;
  const ConvParams p = conv_cases::make(1, {in, 4}, {taps, 2}, 1, 1);
  const std::pair<unsigned, unsigned> all{0, kNone};
  EXPECT_EQ(poplin::getKernelIndex(0, 5, 1000000005, p), 1000000000u);
  EXPECT_EQ(poplin::getInputRange(0, all, p), std::make_pair(0u, static_cast<unsigned>(in)));
  EXPECT_EQ(poplin::getKernelRange(0, {7, 9}, {100, 200}, p), std::make_pair(92u, 193u));
  EXPECT_EQ(poplin::getOutputRangeForInputRange(0, all, {static_cast<unsigned>(in - 1), kNone}, p),
            std::make_pair(static_cast<unsigned>(in - taps), static_cast<unsigned>(in - taps + 1)));
  EXPECT_THROW(p.getOutputSize(2), poplibs_error);
  EXPECT_THROW(p.getTruncatedInputSize(2), poplibs_error);
  EXPECT_THROW(p.getTransformedKernelSize(~0u), poplibs_error);
  EXPECT_THROW(poplin::getInputIndex(2, 0, 0, p), poplibs_error);
  EXPECT_THROW(poplin::getKernelIndex(2, 0, 0, p), poplibs_error);
  EXPECT_THROW(poplin::getInputRange(2, all, p), poplibs_error);
  EXPECT_THROW(poplin::getKernelRange(2, all, 0u, p), poplibs_error);
  EXPECT_THROW(poplin::getOutputRangeForInputIndex(2, all, 0, p), poplibs_error);
  // Members are public: what was changed after it was validated is looked at again.
  ConvParams changed = conv_cases::make(1, {6}, {3}, 1, 1);
  changed.outputTransform.stride = {0};
  EXPECT_THROW(changed.getOutputSize(0), poplibs_error);
  EXPECT_THROW(poplin::getOutputRangeForInputIndex(0, all, 0, changed), poplibs_error);
  changed.outputTransform.stride = {};
  EXPECT_THROW(changed.getOutputSize(0), poplibs_error);
}

TEST(ConvReports, FlopsCountMeetings) {
  for (const auto& [name, p] : conv_cases::cases()) {
    std::uint64_t pairs = 2 * p.batchSize * p.getNumOutputChans() * p.inputChannelsPerConvGroup;
    for (unsigned d = 0; d < p.getNumFieldDims(); ++d) {
      std::uint64_t n = 0;
      for (unsigned o = 0; o < p.getOutputSize(d); ++o)
        for (unsigned k = 0; k < p.kernelShape[d]; ++k) n += input_index(p, d, o, k) != kNone;
      pairs *= n;
    }
    EXPECT_EQ(poplin::getFwdFlops(p), pairs) << name;
    EXPECT_EQ(poplin::getBwdFlops(p), poplin::getFwdFlops(poplin::getGradientParams(p))) << name;
    EXPECT_EQ(poplin::getWuFlops(p), pairs) << name;
  }
}

TEST(ConvReports, PlansAreTextAndCosts) {
  const Device device = device_of(Machine::full);
  const Graph graph(device.getTarget());
  const ConvParams p = conv_cases::make(8, {56, 56}, {3, 3}, 64, 64);
  poplin::PlanningCache cache;
  const OptionFlags none;
  poplin::preplan({{&graph.getTarget(), p, &none}}, {{&graph.getTarget(), {FLOAT, FLOAT, {8, 9}, {9, 7}}, &none}}, cache);
  EXPECT_EQ(cache.size(), 2u);
  std::ostringstream first, again, update;
  poplin::reportPlanInfo(first, graph, p);
  poplin::reportPlanInfo(again, graph, p, {}, &cache);
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(first.str(), again.str());
  EXPECT_NE(first.str().find("convolution: groups 1 / 1"), std::string::npos) << first.str();
  poplin::reportWeightUpdatePlanInfo(update, graph, p);
  EXPECT_NE(update.str().find("gradient of weights"), std::string::npos);
  const poplin::PlanCosts costs = poplin::reportPlanEstimatedCosts(graph, p);
  EXPECT_GT(static_cast<double>(costs.cycles), poplin::getFwdPerfectCycleCount(graph, p));
  EXPECT_LT(costs.memory, graph.getTarget().getBytesPerTile());
  const auto detailed = poplin::internal::reportDetailedPlanEstimatedCosts(graph, p);
  EXPECT_EQ(detailed.total.cycles, costs.cycles);
  std::stringstream text;
  text << detailed;
  poplin::internal::DetailedPlanCosts read;
  text >> read;
  EXPECT_EQ(read.total.cycles, detailed.total.cycles);
  EXPECT_EQ(read.parallelSplit, detailed.parallelSplit);
  EXPECT_EQ(read.compute.cycles, detailed.compute.cycles);
}

TEST(ConvReports, UseNearlyAllTiles) {
  const ConvParams p = conv_cases::make(8, {28, 28}, {3, 3}, 64, 64);
  const Operand in = operand("in", FLOAT, reference::input_shape(p), integers(0, 1, 1)),
                weights = operand("w", FLOAT, reference::weights_shape(p), integers(0, 1, 2)),
                deltas = operand("d", FLOAT, reference::output_shape(p), integers(0, 1, 2));
  EXPECT_GT(share_of_tiles_used(Machine::full, {in, weights},
                                [&](Graph& g, std::vector<Tensor>& t, Sequence& prog) {
                                  return std::vector<Tensor>{poplin::convolution(g, t[0], t[1], p, false, prog)};
                                }),
            0.9);
  EXPECT_GT(share_of_tiles_used(Machine::full, {in, deltas},
                                [&](Graph& g, std::vector<Tensor>& t, Sequence& prog) {
                                  return std::vector<Tensor>{poplin::calculateWeightDeltas(g, t[1], t[0], p, prog)};
                                }),
            0.9);
}

TEST(ConvOptions, AreCheckedAndKept) {
  for (const OptionFlags& good : {OptionFlags{{"partialsType", "half"}},
                                  {{"pass", "TRAINING_FWD"}},
                                  {{"availableMemoryProportion", "0.2"}},
                                  {{"use128BitConvUnitLoad", "true"}},
                                  {{"enableMultiStageReduce", "false"}},
                                  {{"pando.planObjective", "hostTime"}},
                                  {{"planConstraints", R"({"method": "HMAC", "0": {"transform": {"swapOperands": false}}})"}},
                                  {{"planConstraints", R"({"method": "SLIC", "convGroupsPerGroup": 4, "inChansPerGroup": 1})"}},
                                  {{"planConstraints", R"({"partition": {"inChans": 2}})"}}})
    EXPECT_NO_THROW(poplin::convolutionValidateOptions(good));
  for (const OptionFlags& bad : {OptionFlags{{"partialType", "half"}},
                                 {{"partialsType", "int"}},
                                 {{"pass", "FORWARD"}},
                                 {{"availableMemoryProportion", "lots"}},
                                 {{"use128BitConvUnitLoad", "maybe"}},
                                 {{"pando.planObjective", "beauty"}},
                                 {{"planConstraints", "{"}},
                                 {{"planConstraints", R"({"method": 1})"}},
                                 {{"planConstraints", R"({"methods": "HMAC"})"}},
                                 {{"planConstraints", R"({"0": 1})"}},
                                 {{"planConstraints", R"({"partition": {"chans": 1}})"}}})
    EXPECT_THROW(poplin::convolutionValidateOptions(bad), invalid_option);
}

// Each of them changes the plan, none of them the result.
TEST(ConvOptions, DoNotChangeResults) {
  const ConvParams p = conv_cases::make(2, {9, 8}, {3, 3}, 16, 24);
  const Operand in = operand("in", FLOAT, reference::input_shape(p), integers(-2, 2, 1)),
                weights = operand("w", FLOAT, reference::weights_shape(p), integers(-2, 2, 2)),
                deltas = operand("d", FLOAT, reference::output_shape(p), integers(-2, 2, 3));
  const std::vector<double> expected = reference::convolution(p, in.values, weights.values).values,
                            gradient = reference::gradients(p, in.values, weights.values, deltas.values).weights;
  for (const OptionFlags& options : {OptionFlags{{"planConstraints", R"({"partition": {"inChans": 4}})"}},
                                     {{"planConstraints", R"({"partition": {"serial": 3}})"}},
                                     {{"planConstraints", R"({"partition": {"serial": 2, "inChans": 2, "field": [3, 1]}})"}},
                                     {{"planConstraints", R"({"partition": {"inChans": 2}})"}, {"partialsType", "half"}},
                                     {{"pando.planObjective", "hostTime"}},
                                     {{"availableMemoryProportion", "0.01"}}})
    for (const Machine machine : {Machine::cpu, Machine::ipu1}) {
      const auto out = run(machine, {in, weights, deltas}, [&](Graph& g, std::vector<Tensor>& t, Sequence& prog) {
        return std::vector<Tensor>{poplin::convolution(g, t[0], t[1], p, false, prog, "conv", options),
                                   poplin::calculateWeightDeltas(g, t[2], t[0], p, prog, "update", options)};
      });
      expect_close(out[0], expected, Tolerance{0, 0});
      expect_close(out[1], gradient, Tolerance{0, 0});
    }
}

TEST(ConvErrors, OfShapesTypesAndTargets) {
  const ConvParams p = conv_cases::make(2, {5, 4}, {3, 2}, 3, 5);
  const Operand in = operand("in", FLOAT, reference::input_shape(p), integers(0, 1, 1)),
                weights = operand("w", FLOAT, reference::weights_shape(p), integers(0, 1, 2)),
                out = operand("o", FLOAT, reference::output_shape(p), integers(0, 1, 2)),
                half = operand("h", HALF, reference::input_shape(p), integers(0, 1, 1));
  run(Machine::ipu1, {in, weights, out, half}, [&](Graph& g, std::vector<Tensor>& t, Sequence& prog) {
    EXPECT_THROW(poplin::convolution(g, t[1], t[1], p, false, prog), poplibs_error);
    EXPECT_THROW(poplin::convolution(g, t[0], t[0], p, false, prog), poplibs_error);
    EXPECT_THROW(poplin::convolution(g, t[0], t[1], p, true, prog), poplibs_error);
    EXPECT_THROW(poplin::convolution(g, t[3], t[1], p, false, prog), poplibs_error);
    EXPECT_THROW(poplin::convolution(g, t[0], t[1], p, false, prog, "", {{"unknown", "1"}}), invalid_option);
    EXPECT_THROW(poplin::convolutionWithOutput(g, t[0], t[1], t[0], p, false, prog), poplibs_error);
    EXPECT_THROW(poplin::convolutionWithOutput(g, t[0], t[1], t[2].slice(0, 1).broadcast(2, 0), p, false, prog), poplibs_error);
    EXPECT_THROW(poplin::calculateWeightDeltas(g, t[0], t[0], p, prog), poplibs_error);
    EXPECT_THROW(poplin::calculateWeightDeltas(g, t[2], t[2], p, prog), poplibs_error);
    EXPECT_THROW(poplin::convolutionWeightUpdate(g, t[2], t[0], t[0], p, 1.0f, prog), poplibs_error);
    EXPECT_THROW(poplin::convolutionWeightUpdate(g, t[2], t[1], t[0], p, t[0], prog), poplibs_error);
    EXPECT_THROW(poplin::weightsTransposeChansFlipXY(g, t[1], t[1], prog), poplibs_error);
    EXPECT_THROW(poplin::addBias(g, t[0], t[1], prog), poplibs_error);
    EXPECT_THROW(poplin::addBias(g, t[0].slice(0, 1).broadcast(2, 0), t[0].slice({0, 0, 0, 0}, {1, 3, 1, 1}).flatten(), prog),
                 poplibs_error);
    EXPECT_THROW(poplin::createBiases(g, t[0].flatten()), poplibs_error);
    EXPECT_THROW(poplin::convolutionBiasUpdate(g, t[2], t[0].flatten(), 1.0f, {}, prog), poplibs_error);
    EXPECT_THROW(poplin::fullyConnectedWeightTranspose(g, t[0], p, prog), poplibs_error);
    EXPECT_THROW(poplin::multiconv::createInput(g, {}, 0), poplibs_error);
    const auto twice = [&](const char* first, const char* second) {
      constexpr const char* kOption = "insertTransformsCycleCountProgs";
      poplin::multiconv::convolution(g, {{t[0], t[1], p, {{kOption, first}}}, {t[0], t[1], p, {{kOption, second}}}}, false, prog);
    };
    twice("true", "true");
    EXPECT_THROW(twice("true", "false"), poplibs_error);
    EXPECT_THROW(poplin::multiconv::convolution(g, {}, false, prog, {}, {{"planType", "wild"}}), invalid_option);
    return std::vector<Tensor>{};
  });
}

}  // namespace
