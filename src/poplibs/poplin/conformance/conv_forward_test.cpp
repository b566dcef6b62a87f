// convolution() against plain loops: parameters x type x mapping x machine.
#include <poplin/Convolution.hpp>

#include <sstream>

#include "conv_cases.h"
#include "conv_reference.h"
#include "oplib.h"

namespace {

using namespace oplib;
using namespace poplar;
using poplin::ConvParams;

Operand input_of(const ConvParams& p, Mapping mapping = Mapping::linear) {
  return operand("in", p.inputType, reference::input_shape(p), integers(-4, 4, 1), mapping);
}
Operand weights_of(const ConvParams& p, Mapping mapping = Mapping::linear) {
  return operand("weights", p.inputType, reference::weights_shape(p), integers(-3, 3, 2), mapping);
}

Build forward(const ConvParams& p, const OptionFlags& options = {}) {
  return [=](Graph& g, std::vector<Tensor>& in, program::Sequence& prog) {
    return std::vector<Tensor>{poplin::convolution(g, in[0], in[1], p, false, prog, "conv", options)};
  };
}

// Small integers: exact in float, whatever the order of the sums.
void expect_equal(const Values& actual, const std::vector<double>& expected, const std::string& what) {
  expect_close(actual, expected, Tolerance{0, 0}, what);
}

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
      expect_equal(out[0],
                   map1(Values{result, {}, reference::convolution(p, in.values, weights.values).values},
                        [&](double v) { return rounded(result, v); }),
                   c.name);
    }
}

TEST(ConvForward, CreatedOperandsGiveTheSameResult) {
  for (const auto& [name, p] : conv_cases::cases()) {
    const Operand in = input_of(p), weights = weights_of(p);
    for (const auto& [machine, objective] : {std::pair(Machine::cpu, "cycles"),
                                             {Machine::ipu1, "cycles"},
                                             {Machine::ipu2, "cycles"},
                                             {Machine::ipu1, "hostTime"},
                                             {Machine::ipu2, "hostTime"},
                                             {Machine::full, "hostTime"}}) {
      const ConvParams& params = p;
      const OptionFlags options{{"pando.planObjective", objective}};
      const std::vector<Values> out =
          run(machine, {in, weights}, [&, name = name](Graph& g, std::vector<Tensor>& t, program::Sequence& prog) {
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

// On the CPU device: rows of images that are read where they lie, or a plan's blocks.
TEST(ConvForward, RowsOfTheCpuDeviceAreWhatPlansGive) {
  using P = ConvParams;
  using conv_cases::make;
  using conv_cases::with;
  const P two = make(2, {20, 18}, {3, 3}, 40, 70), even = make(2, {20, 18}, {3, 3}, 32, 48);
  const auto padded = [](P& p) { p.inputTransform.paddingLower = {1, 1}, p.inputTransform.paddingUpper = {1, 1}; };
  for (const auto& [name, p] :
       {with("plain", two, [](P&) {}), with("padding", two, padded), with("1x1", make(3, {16, 9}, {1, 1}, 64, 128), [](P&) {}),
        with("even", even, [](P&) {}), with("even, padding", even, padded),
        with("even, flip", even, [](P& q) { q.kernelTransform.flip = {true, true}, q.inputTransform.paddingLower = {2, 0}; }),
        with("1-D", make(20, {40}, {5}, 24, 64), [](P&) {}),
        with("stride", make(2, {40, 36}, {7, 7}, 3, 64), [](P& q) { q.outputTransform.stride = {2, 2}; }),
        with("kernel dilation", two, [](P& q) { q.kernelTransform.dilation = {2, 3}; }),
        with("kernel flip", two, [](P& q) { q.kernelTransform.flip = {true, true}, q.inputTransform.paddingLower = {2, 0}; }),
        with("input flip", two, [](P& q) { q.inputTransform.flip = {true, false}; }),
        with("truncation", two, [](P& q) { q.inputTransform.truncationLower = {2, 1}, q.outputTransform.truncationUpper = {1, 0}; }),
        with("output padding", two, [](P& q) { q.outputTransform.paddingLower = {0, 2}, q.outputTransform.paddingUpper = {1, 0}; })}) {
    const Operand in = input_of(p), weights = weights_of(p);
    const std::vector<double> expected = reference::convolution(p, in.values, weights.values).values;
    for (const auto& [rows, winograd] : {std::pair("true", "true"), {"true", "false"}, {"false", "false"}}) {
      const OptionFlags options{{"pando.inRows", rows}, {"pando.winograd", winograd}};
      Graph graph(Target::createCPUTarget());
      std::ostringstream plan;
      poplin::reportPlanInfo(plan, graph, p, options);
      EXPECT_EQ(plan.str().find("in parts of") != std::string::npos, std::string(rows) == "true") << name << ": " << plan.str();
      EXPECT_EQ(plan.str().find("16 products") != std::string::npos, std::string(winograd) == "true" && name.find("even") == 0)
          << name << ": " << plan.str();
      expect_equal(run(Machine::cpu, {in, weights}, forward(p, options))[0], expected, name + ", rows " + rows + ", winograd " + winograd);
    }
  }
}

// Halfs, too: sums in float, rounded once.
TEST(ConvForward, RowsOfHalfs) {
  using conv_cases::make;
  for (ConvParams p : {make(2, {20, 18}, {3, 3}, 32, 48), make(2, {20, 18}, {3, 3}, 40, 70), make(2, {40, 36}, {7, 7}, 3, 64),
                       make(20, {40}, {5}, 24, 64)}) {
    p.inputType = p.outputType = HALF;
    p.inputTransform.paddingLower.assign(p.inputFieldShape.size(), 1);
    const Operand in = input_of(p), weights = weights_of(p);
    const std::vector<double> expected = reference::convolution(p, in.values, weights.values).values;
    for (const auto& [rows, winograd] : {std::pair("true", "true"), {"true", "false"}, {"false", "false"}}) {
      const OptionFlags options{{"pando.inRows", rows}, {"pando.winograd", winograd}};
      Graph graph(Target::createCPUTarget());
      std::ostringstream plan;
      poplin::reportPlanInfo(plan, graph, p, options);
      EXPECT_EQ(plan.str().find("in parts of") != std::string::npos, std::string(rows) == "true") << plan.str();
      expect_close(run(Machine::cpu, {in, weights}, forward(p, options))[0], expected, {1e-3, 1e-3},
                   std::string("rows ") + rows + ", winograd " + winograd);
    }
  }
}

}  // namespace
