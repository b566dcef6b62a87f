// The loss of connectionist temporal classification against a sum over all paths, one by one.
#include <popnn/CTCLoss.hpp>
#include <popnn/codelets.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <sstream>

#include "ctc_reference.h"

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;
using Tensors = std::vector<Tensor>;
namespace ctc = popnn::ctc;

struct Case {
  std::string what;
  std::size_t time, labels, classes;
  std::vector<std::size_t> lengths, label_lengths;  // a sequence for each
  unsigned blank = 0;
  bool softmax = true, logits = true, zero_infinity = false;
  std::string constraints = {};
  Type type = FLOAT, out = FLOAT, label_type = UNSIGNED_INT;
  std::size_t batch() const { return lengths.size(); }
};

struct Data {
  Operand in, labels, lengths, label_lengths;
};

Data data_of(const Case& c) {
  const auto any = integers(0, static_cast<std::int64_t>(c.classes) - 2, 11);
  // Not blank, and something that is no class behind the label's end.
  const auto label = [&](std::size_t i) {
    if (i % c.labels >= c.label_lengths[i / c.labels]) return 9999.0;
    const double k = any(i);
    return k >= c.blank ? k + 1 : k;
  };
  return {ctc_input(c.type, c.time, c.batch(), c.classes, c.logits, 5), operand("labels", c.label_type, {c.batch(), c.labels}, label),
          operand("lengths", UNSIGNED_INT, {c.batch()}, [&](std::size_t b) { return static_cast<double>(c.lengths[b]); }),
          operand("labelLengths", UNSIGNED_INT, {c.batch()}, [&](std::size_t b) { return static_cast<double>(c.label_lengths[b]); })};
}

struct Expected {
  std::vector<double> loss, gradient;
};

// Sums over the paths that give the label.
Expected expected_of(const Case& c, const Data& d) {
  Expected out{std::vector<double>(c.batch()), std::vector<double>(d.in.size(), 0)};
  for (std::size_t b = 0; b < c.batch(); ++b) {
    const std::size_t time = c.lengths[b];
    const auto at = [&](std::size_t t, std::size_t k) { return (t * c.batch() + b) * c.classes + k; };
    const Probabilities p = ctc_probabilities(d.in, b, time, c.batch(), c.classes, c.logits);
    Probabilities in_class(time, std::vector<double>(c.classes, 0));
    Label label;
    for (std::size_t i = 0; i < c.label_lengths[b]; ++i) label.push_back(static_cast<std::size_t>(d.labels[b * c.labels + i]));
    double total = 0;
    for_each_path(p, c.classes, c.blank, [&](const Label& path, const Label& spelled, double q) {
      if (spelled != label) return;
      total += q;
      for (std::size_t t = 0; t < time; ++t) in_class[t][path[t]] += q;
    });
    const bool zero = c.zero_infinity && total == 0;
    out.loss[b] = zero ? 0 : -std::log(total);
    for (std::size_t t = 0; t < time && !zero; ++t)
      for (std::size_t k = 0; k < c.classes; ++k)
        out.gradient[at(t, k)] = (c.softmax ? p[t][k] : 0) - (total > 0 ? in_class[t][k] / total : 0);
  }
  return out;
}

std::vector<Values> results_of(Machine machine, const Case& c, const Data& d) {
  return run(machine, {d.in, d.labels, d.lengths, d.label_lengths}, [&](Graph& g, Tensors& in, Sequence& prog) {
    const ctc::Plan plan =
        ctc::plan(g, c.type, c.out, static_cast<unsigned>(c.batch()), static_cast<unsigned>(c.time), static_cast<unsigned>(c.labels),
                  static_cast<unsigned>(c.classes), {{"planConstraints", c.constraints}});
    const Tensor data = ctc::createDataInput(g, c.type, c.batch(), c.time, c.classes, plan),
                 labels = ctc::createLabelsInput(g, c.label_type, c.batch(), c.labels, plan);
    prog.add(program::Copy(in[0], data));
    prog.add(program::Copy(in[1], labels));
    const auto calculate = c.logits ? ctc::calcLossAndGradientLogits : ctc::calcLossAndGradientLogProbabilities;
    const auto [loss, gradient] =
        calculate(g, c.out, data, labels, in[2], in[3], prog, c.blank, plan, "ctc",
                  {{"includeSoftmaxGradient", c.softmax ? "true" : "false"}, {"zeroInfinity", c.zero_infinity ? "true" : "false"}});
    // Alone it is the same loss, bit by bit.
    const auto alone = c.logits ? ctc::calcCTCLossLogits : ctc::calcCTCLossLogProbabilities;
    return Tensors{
        loss, gradient,
        alone(g, c.out, data, labels, in[2], in[3], prog, c.blank, plan, "alone", {{"zeroInfinity", c.zero_infinity ? "true" : "false"}})};
  });
}

const std::vector<Case> kCases = {
    {.what = "one sequence", .time = 6, .labels = 2, .classes = 4, .lengths = {6}, .label_lengths = {2}},
    {.what = "lengths", .time = 7, .labels = 3, .classes = 3, .lengths = {7, 5, 1, 6, 3}, .label_lengths = {3, 2, 1, 0, 3}, .blank = 1},
    {.what = "many parts",
     .time = 8,
     .labels = 4,
     .classes = 3,
     .lengths = {8, 7},
     .label_lengths = {4, 3},
     .blank = 2,
     .constraints = R"({"parallel": {"label": 3, "time": 2}})"},
    {.what = "probabilities", .time = 6, .labels = 3, .classes = 3, .lengths = {6, 6}, .label_lengths = {3, 1}, .logits = false},
    {.what = "no softmax",
     .time = 6,
     .labels = 3,
     .classes = 3,
     .lengths = {6, 4},
     .label_lengths = {2, 2},
     .softmax = false,
     .constraints = R"({"parallel": {"label": 3, "time": 2}})"},
    {.what = "halfs",
     .time = 6,
     .labels = 3,
     .classes = 4,
     .lengths = {6, 5},
     .label_lengths = {3, 2},
     .type = HALF,
     .out = HALF,
     .label_type = UNSIGNED_SHORT},
    {.what = "halfs to floats",
     .time = 6,
     .labels = 3,
     .classes = 4,
     .lengths = {6, 5},
     .label_lengths = {3, 2},
     .type = HALF,
     .label_type = INT},
    {.what = "no paths", .time = 4, .labels = 3, .classes = 3, .lengths = {2, 4, 1}, .label_lengths = {3, 2, 2}},
    {.what = "no paths, of which nothing is to come",
     .time = 4,
     .labels = 3,
     .classes = 3,
     .lengths = {2, 4, 1},
     .label_lengths = {3, 2, 2},
     .zero_infinity = true,
     .constraints = R"({"parallel": {"label": 2, "time": 2}})"},
    {.what = "no paths, halfs, no softmax",
     .time = 4,
     .labels = 3,
     .classes = 3,
     .lengths = {2, 4, 1},
     .label_lengths = {3, 2, 2},
     .softmax = false,
     .zero_infinity = true,
     .type = HALF,
     .out = HALF},
    {.what = "no labels", .time = 4, .labels = 1, .classes = 2, .lengths = {4}, .label_lengths = {0}},
};

TEST(CtcLoss, IsASumOverAllPaths) {
  for (const Case& c : kCases) {
    const Data d = data_of(c);
    const Expected e = expected_of(c, d);
    for (const Machine machine : kMachines) {
      const std::vector<Values> out = results_of(machine, c, d);
      const bool half = c.type == HALF || c.out == HALF;
      const Tolerance t{half ? 1e-2 : 2e-5, half ? 4e-3 : 2e-6};
      expect_close(out[0], e.loss, t, name_of(machine) + " loss, " + c.what);
      expect_close(out[1], e.gradient, t, name_of(machine) + " gradient, " + c.what);
      EXPECT_EQ(out[2].values, out[0].values) << c.what;
    }
  }
}

TEST(CtcLoss, RejectsWhatIsNotThePlans) {
  Graph g(device_of(Machine::ipu1));
  Sequence prog;
  const ctc::Plan plan = ctc::plan(g, FLOAT, FLOAT, 2, 10, 4, 5), same = plan;
  EXPECT_TRUE(same == plan);
  EXPECT_TRUE(ctc::plan(g, FLOAT, FLOAT, 2, 11, 4, 5) != plan);
  std::ostringstream text;
  text << plan;
  EXPECT_NE(text.str().find("2 sequences of up to 10 steps"), std::string::npos) << text.str();
  EXPECT_THROW(ctc::plan(g, INT, FLOAT, 2, 10, 4, 5), poputil::poplibs_error);
  EXPECT_THROW(ctc::plan(g, FLOAT, FLOAT, 0, 10, 4, 5), poputil::poplibs_error);
  EXPECT_THROW(ctc::plan(g, FLOAT, FLOAT, 2, 10, 4, 5, {{"nothing", "1"}}), invalid_option);
  const auto with = [&](const char* option, const char* value) { ctc::plan(g, FLOAT, FLOAT, 2, 10, 4, 5, {{option, value}}); };
  EXPECT_THROW(with("availableMemoryProportion", "0"), poputil::poplibs_error);
  EXPECT_THROW(with("planConstraints", R"({"parallel": {"batch": 3}})"), poputil::poplibs_error);
  EXPECT_THROW(with("planConstraints", R"({"parallel": {"label": 0}})"), poputil::poplibs_error);
  EXPECT_THROW(with("planConstraints", R"({"parallel": {"time": 11}})"), poputil::poplibs_error);
  EXPECT_THROW(with("planConstraints", R"({"parallel": {"nothing": 1}})"), poputil::poplibs_error);
  EXPECT_THROW(with("planConstraints", R"({"serial": {}})"), poputil::poplibs_error);
  EXPECT_THROW(with("planConstraints", "{"), invalid_option);
  with("planConstraints", R"({"parallel": {"batch": 1, "label": 2, "time": 10}})");
  EXPECT_THROW(ctc::createDataInput(g, FLOAT, 2, 9, 5, plan), poputil::poplibs_error);
  EXPECT_THROW(ctc::createLabelsInput(g, UNSIGNED_INT, 2, 5, plan), poputil::poplibs_error);
  const Tensor data = ctc::createDataInput(g, FLOAT, 2, 10, 5, plan), labels = ctc::createLabelsInput(g, UNSIGNED_INT, 2, 4, plan);
  const Tensor lengths = linear(g, UNSIGNED_INT, {2});
  const auto calculate = [&](const Tensor& in, const Tensor& n, unsigned blank, const ctc::Plan& p, const OptionFlags& options = {}) {
    ctc::calcLossAndGradientLogProbabilities(g, FLOAT, in, labels, n, lengths, prog, blank, p, "ctc", options);
  };
  EXPECT_THROW(calculate(data.slice(0, 9), lengths, 0, plan), poputil::poplibs_error);
  EXPECT_THROW(calculate(data, lengths.slice(0, 1), 0, plan), poputil::poplibs_error);
  EXPECT_THROW(calculate(data, linear(g, FLOAT, {2}), 0, plan), poputil::poplibs_error);
  EXPECT_THROW(calculate(data, lengths, 5, plan), poputil::poplibs_error);
  EXPECT_THROW(calculate(data, lengths, 0, ctc::Plan()), poputil::poplibs_error);
  EXPECT_THROW(calculate(data, lengths, 0, plan, {{"nothing", "1"}}), invalid_option);
}

// What the data say at run time that the tensors cannot hold.
TEST(CtcLoss, LengthsBeyondTheTensorsAreThoseOfTheTensorsAndLabelsThatAreNoClassFitNothing) {
  const Case whole{.what = "whole", .time = 6, .labels = 2, .classes = 4, .lengths = {6, 6, 6}, .label_lengths = {2, 2, 2}};
  Data d = data_of(whole);
  const Expected e = expected_of(whole, d);
  d.lengths.values = {6, 7, 4e9};
  d.label_lengths.values = {2, 4e9, 2};
  d.labels.values[4] = 4;  // of the last sequence: one class too many
  for (const Machine machine : kMachines)
    for (const char* constraints : {"", R"({"parallel": {"label": 2, "time": 3}})"}) {
      Case c = whole;
      c.constraints = constraints;
      const std::vector<Values> out = results_of(machine, c, d);
      for (const std::size_t b : {0, 1}) EXPECT_NEAR(out[0][b], e.loss[b], 1e-4) << name_of(machine) << " " << b;
      EXPECT_EQ(out[0][2], INFINITY) << name_of(machine);
      for (std::size_t t = 0; t < c.time; ++t)
        for (std::size_t b = 0; b < 2; ++b)
          for (std::size_t k = 0; k < c.classes; ++k) {
            const std::size_t i = (t * c.batch() + b) * c.classes + k;
            EXPECT_NEAR(out[1][i], e.gradient[i], 1e-5) << name_of(machine) << " " << i;
          }
    }
}

TEST(CtcLoss, SumsOfPathsInThePlaceOfTheGradient) {
  for (const Machine machine : kMachines) {
    // Two steps, the label "1": paths 01, 10, 11 with blank 0.
    const double p[] = {0.5, 0.3, 0.2, 0.1, 0.6, 0.3};
    const auto out = run(machine,
                         {operand("in", FLOAT, {2, 1, 3}, [&](std::size_t i) { return std::log(p[i]); }),
                          operand("labels", UNSIGNED_INT, {1, 1}, [](std::size_t) { return 1.0; }),
                          operand("lengths", UNSIGNED_INT, {1}, [](std::size_t) { return 2.0; }),
                          operand("labelLengths", UNSIGNED_INT, {1}, [](std::size_t) { return 1.0; })},
                         [&](Graph& g, Tensors& in, Sequence& prog) {
                           const ctc::Plan plan = ctc::plan(g, FLOAT, FLOAT, 1, 2, 1, 3);
                           const auto [loss, sums] = ctc::calcLossAndGradientLogProbabilities(
                               g, FLOAT, in[0], in[1], in[2], in[3], prog, 0, plan, "ctc", {{"returnReducedCodeletGradient", "true"}});
                           return Tensors{loss, sums};
                         });
    expect_close(out[0], {-std::log(0.5 * 0.6 + 0.3 * 0.1 + 0.3 * 0.6)}, Tolerance{1e-5, 1e-6});
    const double none = -65504;
    expect_close(out[1], {std::log(0.5 * 0.6), std::log(0.3 * 0.7), none, std::log(0.3 * 0.1), std::log(0.6 * 0.8), none},
                 Tolerance{1e-5, 1e-6});
  }
}

TEST(CtcLoss, ConstantsThatNoSequenceCanHaveAreRejected) {
  Graph g(device_of(Machine::ipu1));
  popops::addCodelets(g);
  popnn::addCodelets(g);
  Sequence prog;
  const ctc::Plan plan = ctc::plan(g, FLOAT, FLOAT, 2, 10, 4, 5);
  const Tensor data = ctc::createDataInput(g, FLOAT, 2, 10, 5, plan);
  const auto constant = [&](const Type& type, const std::vector<std::size_t>& shape, const std::vector<int>& values) {
    const Tensor t = g.addConstant(type, shape, values);
    g.setTileMapping(t, 0);
    return t;
  };
  const auto calculate = [&](const std::vector<int>& labels, const std::vector<int>& lengths, const std::vector<int>& label_lengths) {
    ctc::calcLossAndGradientLogProbabilities(g, FLOAT, data, constant(INT, {2, 4}, labels), constant(UNSIGNED_INT, {2}, lengths),
                                             constant(UNSIGNED_INT, {2}, label_lengths), prog, 0, plan);
  };
  calculate({1, 2, 99, 0, 4, 3, 2, 1}, {10, 0}, {2, 4});  // behind a label's end there may be anything
  EXPECT_THROW(calculate({1, 2, 3, 4, 4, 3, 2, 1}, {10, 11}, {2, 4}), poputil::poplibs_error);
  EXPECT_THROW(calculate({1, 2, 3, 4, 4, 3, 2, 1}, {10, 9}, {5, 4}), poputil::poplibs_error);
  EXPECT_THROW(calculate({1, 5, 3, 4, 4, 3, 2, 1}, {10, 9}, {2, 4}), poputil::poplibs_error);
  EXPECT_THROW(calculate({1, 2, 3, 4, 4, 3, 2, 0}, {10, 9}, {2, 4}), poputil::poplibs_error);
  EXPECT_THROW(calculate({1, -2, 3, 4, 4, 3, 2, 1}, {10, 9}, {2, 4}), poputil::poplibs_error);
}

TEST(CtcLoss, IsSpreadOverTheMachine) {
  const double share = share_of_tiles_used(Machine::full, {}, [](Graph& g, Tensors&, Sequence& prog) {
    const ctc::Plan plan = ctc::plan(g, FLOAT, FLOAT, 8, 1000, 100, 30);
    const Tensor data = ctc::createDataInput(g, FLOAT, 8, 1000, 30, plan), labels = ctc::createLabelsInput(g, UNSIGNED_INT, 8, 100, plan),
                 lengths = linear(g, UNSIGNED_INT, {8}), label_lengths = linear(g, UNSIGNED_INT, {8});
    const auto [loss, gradient] = ctc::calcLossAndGradientLogits(g, FLOAT, data, labels, lengths, label_lengths, prog, 0, plan);
    return Tensors{loss, gradient};
  });
  EXPECT_GT(share, 0.9);
}

}  // namespace
}  // namespace oplib
