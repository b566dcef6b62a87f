// The gradients of the input and of the weights against brute force, and what training does with them.
#include <poplin/ConvUtil.hpp>
#include <poplin/Convolution.hpp>
#include <poplin/MultiConvolution.hpp>

#include "conv_cases.h"
#include "conv_reference.h"
#include "oplib.h"

namespace {

using namespace oplib;
using namespace poplar;
using poplar::program::Copy;
using poplar::program::Sequence;
using poplin::ConvParams;

constexpr Tolerance kExact{0, 0};

struct Data {
  Operand in, weights, deltas;
  explicit Data(const ConvParams& p, Mapping mapping = Mapping::linear)
      : in(operand("in", p.inputType, reference::input_shape(p), integers(-4, 4, 1), mapping)),
        weights(operand("weights", p.inputType, reference::weights_shape(p), integers(-3, 3, 2), mapping)),
        deltas(operand("deltas", p.outputType, reference::output_shape(p), integers(-3, 3, 3), mapping)) {}
  reference::Gradients gradients(const ConvParams& p) const { return reference::gradients(p, in.values, weights.values, deltas.values); }
};

TEST(ConvGradient, OfTheInputIsAConvolutionWithItsParameters) {
  for (const auto& [name, p] : conv_cases::cases()) {
    const Data d(p);
    const ConvParams back = poplin::getGradientParams(p);
    const std::vector<double> expected = d.gradients(p).in;
    for (const Machine machine : kMachines) {
      const auto out = run(machine, {d.deltas, d.weights}, [&, p = p](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        // The weights' own order, that of the forward pass, and a copy with channels swapped and field reversed.
        const Tensor weights = poplin::createWeights(g, p), swapped = poplin::createWeights(g, back);
        prog.add(Copy(in[1], weights));
        poplin::weightsTransposeChansFlipXY(g, in[1], swapped, prog);
        return std::vector<Tensor>{poplin::convolution(g, in[0], in[1], back, true, prog),
                                   poplin::convolution(g, in[0], weights, back, true, prog),
                                   poplin::convolution(g, in[0], swapped, back, false, prog)};
      });
      for (const Values& o : out) {
        EXPECT_EQ(o.shape, reference::input_shape(p)) << name;
        expect_close(o, expected, kExact, name + " on " + name_of(machine));
      }
    }
  }
}

TEST(ConvGradient, OfTheWeights) {
  for (const auto& [name, p] : conv_cases::cases()) {
    const Data d(p);
    const std::vector<double> expected = d.gradients(p).weights;
    for (const Machine machine : kMachines) {
      const auto out = run(machine, {d.deltas, d.in}, [p = p](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        return std::vector<Tensor>{poplin::calculateWeightDeltas(g, in[0], in[1], p, prog)};
      });
      EXPECT_EQ(out[0].shape, reference::weights_shape(p)) << name;
      expect_close(out[0], expected, kExact, name + " on " + name_of(machine));
    }
  }
}

TEST(ConvGradient, OfTheWeightsIsAConvolutionWithItsParameters) {
  for (const auto& [name, p] : conv_cases::cases()) {
    if (p.batchSize == 0) continue;  // an empty kernel
    const Data d(p);
    const ConvParams wu = poplin::getWeightUpdateParams(p);
    const auto out = run(Machine::ipu1, {d.deltas, d.in}, [&, p = p](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const std::size_t groups = p.numConvGroups, ins = p.inputChannelsPerConvGroup, outs = p.outputChannelsPerConvGroup;
      const Tensor acts = in[1].reshapePartial(1, 2, {groups, ins}).dimShufflePartial({2, 1, 0}, {0, 1, 2}).flatten(1, 3);
      const Tensor deltas = in[0].reshapePartial(1, 2, {groups, outs}).dimShufflePartial({1, 2, 0}, {0, 1, 2});
      const Tensor result = poplin::convolution(g, acts, deltas, wu, false, prog);
      return std::vector<Tensor>{result.reshapePartial(1, 2, {groups, outs}).dimShufflePartial({1, 2, 0}, {0, 1, 2})};
    });
    expect_close(out[0], d.gradients(p).weights, kExact, name);
  }
}

TEST(ConvGradient, HalfAndAnyMapping) {
  for (const char* name : {"plain", "groups", "many channels", "everything"})
    for (const auto& c : conv_cases::cases()) {
      if (c.name != name) continue;
      for (const Mapping mapping : kMappings) {
        ConvParams p = c.params;
        p.inputType = p.outputType = HALF;
        const Data d(p, mapping);
        const auto out = run(Machine::ipu1, {d.deltas, d.in}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
          return std::vector<Tensor>{poplin::calculateWeightDeltas(g, in[0], in[1], p, prog)};
        });
        expect_close(out[0], map1(Values{HALF, {}, d.gradients(p).weights}, [](double v) { return rounded(HALF, v); }), kExact,
                     c.name + " " + name_of(mapping));
      }
    }
}

TEST(ConvGradient, DeltasAreOfTheInputsTypeOrOfTheOutputs) {
  for (const auto& [input, output] : {std::pair(HALF, FLOAT), std::pair(FLOAT, HALF)})
    for (const Type& deltas : {HALF, FLOAT}) {
      ConvParams p = conv_cases::make(2, {4, 3}, {2, 2}, 3, 5, 2);
      p.inputType = input;
      p.outputType = output;
      Data d(p);
      d.deltas.type = deltas;
      const auto out = run(Machine::ipu1, {d.deltas, d.in}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        return std::vector<Tensor>{poplin::calculateWeightDeltas(g, in[0], in[1], p, prog)};
      });
      EXPECT_EQ(out[0].type, output);
      expect_close(out[0], map1(Values{output, {}, d.gradients(p).weights}, [&](double v) { return rounded(output, v); }), kExact,
                   input.toString() + " to " + output.toString() + ", deltas " + deltas.toString());
    }
}

TEST(ConvGradient, UpdatesWeightsAndBiases) {
  for (const Type& type : {FLOAT, HALF})
    for (const Machine machine : kMachines) {
      ConvParams p = conv_cases::make(2, {4, 3}, {2, 2}, 3, 5, 2);
      p.inputType = p.outputType = type;
      const Data d(p);
      const Operand biases = operand("biases", type, {10}, integers(-5, 5, 7)),
                    scale = operand("scale", type, {1}, [](std::size_t) { return 0.5; });
      RunOptions options;
      options.in_place = true;
      for (const bool tensor : {false, true}) {
        const auto out = run(
            machine, {d.deltas, d.in, d.weights, biases, scale},
            [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
              if (tensor) {
                poplin::convolutionWeightUpdate(g, in[0], in[2], in[1], p, in[4], prog);
                poplin::convolutionBiasUpdate(g, in[0], in[3], in[4], {}, prog);
              } else {
                poplin::convolutionWeightUpdate(g, in[0], in[2], in[1], p, 0.5f, prog);
                poplin::convolutionBiasUpdate(g, in[0], in[3], 0.5f, {}, prog);
              }
              return std::vector<Tensor>{};
            },
            options);
        const std::vector<double> gradient = d.gradients(p).weights;
        std::vector<double> expected;
        for (std::size_t i = 0; i < gradient.size(); ++i) expected.push_back(rounded(type, d.weights[i] + 0.5 * gradient[i]));
        expect_close(out[2], expected, kExact);
        std::vector<double> sums = biases.values;
        for (std::size_t i = 0; i < d.deltas.size(); ++i) sums[i / 6 % 10] += 0.5 * d.deltas[i];
        expect_close(out[3], map1(Values{type, {}, sums}, [&](double v) { return rounded(type, v); }), kExact);
      }
    }
}

TEST(ConvGradient, BiasesAreAddedToTheirChannels) {
  for (const Machine machine : kMachines) {
    const Operand x = operand("x", FLOAT, {2, 3, 4, 2}, integers(-9, 9, 1));
    const auto out = run(machine, {x}, [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
      const Tensor biases = poplin::createBiases(g, in[0]);
      EXPECT_EQ(biases.shape(), std::vector<std::size_t>{3});
      g.setInitialValue(biases, std::vector<float>{1, 2, 4});
      poplin::addBias(g, in[0], biases, prog);
      return std::vector<Tensor>{in[0]};
    });
    std::vector<double> expected = x.values;
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += 1 << (i / 8 % 3);
    expect_close(out[0], expected, kExact);
  }
}

TEST(ConvGradient, SeveralAtATime) {
  const ConvParams a = conv_cases::make(2, {5, 5}, {3, 3}, 3, 4), b = conv_cases::make(1, {6}, {2}, 5, 2);
  const Data da(a), db(b);
  RunOptions options;
  options.in_place = true;
  const auto out = run(
      Machine::ipu1, {da.in, da.weights, da.deltas, db.in, db.weights, db.deltas},
      [&](Graph& g, std::vector<Tensor>& in, Sequence& prog) {
        std::vector<Tensor> results = poplin::multiconv::convolution(g, {{in[0], in[1], a, {}}, {in[3], in[4], b, {}}}, false, prog);
        const std::vector<Tensor> deltas =
            poplin::multiconv::calculateWeightDeltas(g, {{in[2], in[0], a, {}}, {in[5], in[3], b, {}}}, prog);
        results.insert(results.end(), deltas.begin(), deltas.end());
        std::vector<poplin::multiconv::ConvolutionArgs> back = {{in[2], in[1], poplin::getGradientParams(a), {}},
                                                                {in[5], in[4], poplin::getGradientParams(b), {}}};
        poplin::multiconv::weightsTransposeChansFlipXY(g, back, {in[1], in[4]}, prog, {}, {}, nullptr);
        const std::vector<Tensor> grads = poplin::multiconv::convolution(g, back, false, prog);
        results.insert(results.end(), grads.begin(), grads.end());
        std::vector<poplin::multiconv::ConvWeightUpdateArgsScalar> updates = {{in[2], in[1], in[0], 2.0f, a, {}},
                                                                              {in[5], in[4], in[3], -1.0f, b, {}}};
        poplin::multiconv::convolutionWeightUpdate(g, updates, prog);
        const std::vector<poplin::multiconv::CreateTensorArgs> create = {{a, {}, "a"}, {b, {}, "b"}};
        EXPECT_EQ(poplin::multiconv::createInput(g, create, 1).shape(), in[3].shape());
        EXPECT_EQ(poplin::multiconv::createWeights(g, create, 0).shape(), in[1].shape());
        return results;
      },
      options);
  expect_close(out[0], reference::convolution(a, da.in.values, da.weights.values).values, kExact);
  expect_close(out[1], reference::convolution(b, db.in.values, db.weights.values).values, kExact);
  expect_close(out[2], da.gradients(a).weights, kExact);
  expect_close(out[3], db.gradients(b).weights, kExact);
  expect_close(out[4], da.gradients(a).in, kExact);
  expect_close(out[5], db.gradients(b).in, kExact);
  expect_close(out[7], map2(da.weights, Values{FLOAT, {}, da.gradients(a).weights}, [](double w, double d) { return w + 2 * d; }), kExact);
  expect_close(out[10], map2(db.weights, Values{FLOAT, {}, db.gradients(b).weights}, [](double w, double d) { return w - d; }), kExact);
}

}  // namespace
