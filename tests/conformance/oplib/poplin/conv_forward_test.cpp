// convolution() against plain loops: parameters x type x mapping x machine.
#include <poplin/Convolution.hpp>

#include "../oplib.h"
#include "conv_cases.h"
#include "conv_reference.h"

namespace {

using namespace oplib;
using namespace poplar;
using poplin::ConvParams;

Operand input_of(const ConvParams& p, Mapping mapping = Mapping::linear) { return operand("in", p.inputType, reference::input_shape(p), integers(-4, 4, 1), mapping); }
Operand weights_of(const ConvParams& p, Mapping mapping = Mapping::linear) {
  return operand("weights", p.inputType, reference::weights_shape(p), integers(-3, 3, 2), mapping);
}

Build forward(const ConvParams& p, const OptionFlags& options = {}) {
  return [=](Graph& g, std::vector<Tensor>& in, program::Sequence& prog) {
    return std::vector<Tensor>{poplin::convolution(g, in[0], in[1], p, false, prog, "conv", options)};
  };
}

// Small integers: exact in float, whatever the order of the sums.
void expect_equal(const Values& actual, const std::vector<double>& expected, const std::string& what) { expect_close(actual, expected, Tolerance{0, 0}, what); }

TEST(ConvForward, GivesTheSumsOfTheDefinition) {
  for (const auto& [name, p] : conv_cases::cases()) {
    const Operand in = input_of(p), weights = weights_of(p);
    const std::vector<double> expected = reference::convolution(p, in.values, weights.values).values;
    for (const Machine machine : kMachines) {
      const std::vector<Values> out = run(machine, {in, weights}, forward(p));
      EXPECT_EQ(out[0].shape, reference::output_shape(p)) << name;
      expect_equal(out[0], expected, name + " on " + name_of(machine));
    }
  }
}

TEST(ConvForward, OperandsMayLieAnywhere) {
  for (const char* name : {"plain", "groups", "many channels", "everything"})
    for (const auto& c : conv_cases::cases()) {
      if (c.name != name) continue;
      for (const Mapping mapping : kMappings) {
        const Operand in = input_of(c.params, mapping), weights = weights_of(c.params, mapping);
        const std::vector<Values> out = run(Machine::ipu1, {in, weights}, forward(c.params));
        expect_equal(out[0], reference::convolution(c.params, in.values, weights.values).values, c.name + " " + name_of(mapping));
      }
    }
}

TEST(ConvForward, HalfIsSummedInFloat) {
  for (const auto& c : conv_cases::cases())
    for (const Type& result : {HALF, FLOAT}) {
      ConvParams p = c.params;
      p.inputType = HALF;
      p.outputType = result;
      const Operand in = input_of(p), weights = weights_of(p);
      const std::vector<Values> out = run(Machine::ipu1, {in, weights}, forward(p));
      EXPECT_EQ(out[0].type, result);
      expect_equal(out[0], map1(Values{result, {}, reference::convolution(p, in.values, weights.values).values}, [&](double v) { return rounded(result, v); }), c.name);
    }
}

TEST(ConvForward, CreatedOperandsGiveTheSameResult) {
  for (const auto& [name, p] : conv_cases::cases()) {
    const Operand in = input_of(p), weights = weights_of(p);
    for (const auto& [machine, objective] : {std::pair(Machine::cpu, "cycles"), {Machine::ipu1, "cycles"}, {Machine::ipu2, "cycles"}, {Machine::ipu1, "hostTime"},
                                             {Machine::ipu2, "hostTime"}, {Machine::full, "hostTime"}}) {
      const ConvParams& params = p;
      const OptionFlags options{{"pando.planObjective", objective}};
      const std::vector<Values> out = run(machine, {in, weights}, [&, name = name](Graph& g, std::vector<Tensor>& t, program::Sequence& prog) {
        const Tensor a = poplin::createInput(g, params, "in", options), w = poplin::createWeights(g, params, "w", options);
        EXPECT_EQ(a.shape(), t[0].shape()) << name;
        EXPECT_EQ(w.shape(), t[1].shape()) << name;
        prog.add(program::Copy(t[0], a));
        prog.add(program::Copy(t[1], w));
        const Tensor made = poplin::createConvOutput(g, params, "out", options);
        poplin::convolutionWithOutput(g, a, w, made, params, false, prog, "into", options);
        return std::vector<Tensor>{poplin::convolution(g, a, w, params, false, prog, "conv", options), made};
      });
      const std::vector<double> expected = reference::convolution(p, in.values, weights.values).values;
      expect_equal(out[0], expected, name + " on " + name_of(machine));
      expect_equal(out[1], expected, name + " into an output, on " + name_of(machine));
    }
  }
}

}  // namespace
