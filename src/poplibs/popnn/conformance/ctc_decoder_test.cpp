// Decoding by beams: with enough of them against sums over all paths, one by one; with few against a search with maps, in double.
#include <popnn/CTCInference.hpp>
#include <popnn/CTCLoss.hpp>
#include <popnn/codelets.hpp>
#include <popops/codelets.hpp>
#include <poputil/exceptions.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>

#include "ctc_reference.h"

namespace oplib {
namespace {

using namespace poplar;
using program::Sequence;
using Tensors = std::vector<Tensor>;
using Ranked = std::vector<std::pair<double, Label>>;  // the likeliest first
namespace infer = popnn::ctc_infer;

struct Case {
  std::size_t time, classes, beams, top;
  std::vector<std::size_t> lengths;  // a sequence for each
  std::size_t blank = 0;
  bool logits = true;
  Type type = FLOAT;
  std::size_t batch() const { return lengths.size(); }
  std::string name() const {
    return std::to_string(time) + " steps, " + std::to_string(classes) + " classes, " + std::to_string(beams) + " beams, " +
           type.toString();
  }
};

const std::vector<Case> kExact = {{.time = 1, .classes = 3, .beams = 4, .top = 3, .lengths = {1, 0}},
                                  {.time = 5, .classes = 3, .beams = 63, .top = 20, .lengths = {5, 3, 1}, .blank = 1},
                                  {.time = 6, .classes = 2, .beams = 16, .top = 10, .lengths = {6, 9}, .blank = 1, .logits = false},
                                  {.time = 4, .classes = 4, .beams = 121, .top = 5, .lengths = {4}, .blank = 3, .type = HALF},
                                  {.time = 4, .classes = 1, .beams = 3, .top = 2, .lengths = {4}}};
const std::vector<Case> kNarrow = {{.time = 30, .classes = 6, .beams = 1, .top = 1, .lengths = {30, 17}},
                                   {.time = 25, .classes = 5, .beams = 4, .top = 4, .lengths = {25, 8, 1}, .blank = 4, .logits = false},
                                   {.time = 40, .classes = 20, .beams = 12, .top = 3, .lengths = {40}, .blank = 7}};

Operand data_of(const Case& c) { return ctc_input(c.type, c.time, c.batch(), c.classes, c.logits, 7); }

// Of the times that count.
Probabilities rows_of(const Case& c, const Values& in, std::size_t b) {
  return ctc_probabilities(in, b, std::min(c.lengths[b], c.time), c.batch(), c.classes, c.logits);
}

Ranked ranked(const std::map<Label, double>& sums) {
  Ranked out;
  for (const auto& [label, p] : sums) out.emplace_back(p, label);
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return out;
}

Ranked over_all_paths(const Case& c, const Values& in, std::size_t b) {
  std::map<Label, double> sums;
  for_each_path(rows_of(c, in, b), c.classes, c.blank, [&](const Label&, const Label& spelled, double q) { sums[spelled] += q; });
  return ranked(sums);
}

Ranked by_beams(const Case& c, const Values& in, std::size_t b) {
  std::map<Label, std::pair<double, double>> beams = {{{}, {1, 0}}};  // ends with a blank, and with a class
  for (const auto& p : rows_of(c, in, b)) {
    std::map<Label, std::pair<double, double>> next;
    for (const auto& [label, sums] : beams) {
      const double all = sums.first + sums.second;
      next[label].first += all * p[c.blank];
      if (!label.empty()) next[label].second += sums.second * p[label.back()];
      for (std::size_t k = 0; k < c.classes; ++k) {
        if (k == c.blank) continue;
        Label longer = label;
        longer.push_back(k);
        next[longer].second += p[k] * (!label.empty() && label.back() == k ? sums.first : all);
      }
    }
    std::map<Label, double> totals;
    for (const auto& [label, sums] : next) totals[label] = sums.first + sums.second;
    beams.clear();
    for (const auto& [total, label] : ranked(totals))
      if (beams.size() < c.beams) beams[label] = next[label];
  }
  std::map<Label, double> totals;
  for (const auto& [label, sums] : beams) totals[label] = sums.first + sums.second;
  return ranked(totals);
}

void expect_decoded(const Case& c, Ranked (*reference)(const Case&, const Values&, std::size_t)) {
  const Operand in = data_of(c);
  const Operand lengths = operand("lengths", UNSIGNED_INT, {c.batch()}, [&](std::size_t b) { return static_cast<double>(c.lengths[b]); });
  for (const Machine machine : kMachines) {
    const auto out = run(machine, {in, lengths}, [&](Graph& g, Tensors& t, Sequence& prog) {
      const auto n = [](std::size_t x) { return static_cast<unsigned>(x); };
      const auto plan = infer::plan(g, c.type, n(c.batch()), n(c.time), n(c.classes), n(c.beams));
      const Tensor data = infer::createDataInput(g, c.type, c.batch(), c.time, c.classes, plan);
      prog.add(program::Copy(t[0], data));
      const auto decode = c.logits ? infer::beamSearchDecoderLogits : infer::beamSearchDecoderLogProbabilities;
      const auto [logs, sizes, labels] = decode(g, data, t[1], prog, n(c.blank), n(c.beams), n(c.top), plan, {}, {});
      return Tensors{logs, sizes, labels};
    });
    const std::string name = name_of(machine) + ", " + c.name();
    ASSERT_EQ(out[2].shape, (std::vector<std::size_t>{c.batch(), c.top, c.time})) << name;
    for (std::size_t b = 0; b < c.batch(); ++b) {
      const Ranked expected = reference(c, in, b);
      for (std::size_t i = 0; i < c.top; ++i) {
        const std::size_t at = b * c.top + i;
        const std::string which = name + ", sequence " + std::to_string(b) + ", label " + std::to_string(i);
        if (i >= expected.size()) {
          EXPECT_EQ(out[0][at], std::numeric_limits<double>::infinity()) << which;
          EXPECT_EQ(out[1][at], 0) << which;
          continue;
        }
        EXPECT_NEAR(out[0][at], -std::log(expected[i].first), c.type == HALF ? 0.02 : 2e-4) << which;
        // Half probabilities may change the order of what is nearly the same.
        if (c.type == HALF) continue;
        const Label& label = expected[i].second;
        ASSERT_EQ(out[1][at], static_cast<double>(label.size())) << which;
        for (std::size_t p = 0; p < c.time; ++p)
          EXPECT_EQ(out[2][at * c.time + p], p < label.size() ? static_cast<double>(label[p]) : 0) << which << ", place " << p;
      }
    }
  }
}

TEST(CtcDecoder, EnoughBeamsFindTheLikeliestLabels) {
  for (const Case& c : kExact) expect_decoded(c, over_all_paths);
}

TEST(CtcDecoder, FewBeamsFindWhatASearchWithMapsFinds) {
  for (const Case& c : kNarrow) expect_decoded(c, by_beams);
}

TEST(CtcDecoder, RejectsWhatIsNotThePlans) {
  using poputil::poplibs_error;
  Graph g(device_of(Machine::ipu1));
  popops::addCodelets(g);
  popnn::addCodelets(g);
  Sequence prog;
  const auto plan = infer::plan(g, FLOAT, 2, 10, 5, 4), loss = popnn::ctc::plan(g, FLOAT, FLOAT, 2, 10, 4, 5);
  EXPECT_TRUE(plan != loss);
  EXPECT_TRUE(plan == infer::plan(g, FLOAT, 2, 10, 5, 4));
  EXPECT_TRUE(plan != infer::plan(g, FLOAT, 2, 10, 5, 3));
  std::ostringstream text;
  text << plan;
  EXPECT_NE(text.str().find("4 beams"), std::string::npos) << text.str();
  EXPECT_THROW(infer::plan(g, INT, 2, 10, 5, 4), poplibs_error);
  EXPECT_THROW(infer::plan(g, FLOAT, 2, 0, 5, 4), poplibs_error);
  EXPECT_THROW(infer::plan(g, FLOAT, 2, 70000, 5, 4), poplibs_error);
  EXPECT_THROW(infer::plan(g, FLOAT, 2, 10, 5, 0), poplibs_error);
  EXPECT_THROW(infer::plan(g, FLOAT, 2, 10, 5, 4, {{"nothing", "1"}}), invalid_option);
  EXPECT_THROW(infer::createDataInput(g, FLOAT, 2, 10, 5, loss), poplibs_error);
  EXPECT_THROW(popnn::ctc::createDataInput(g, FLOAT, 2, 10, 5, plan), poplibs_error);
  EXPECT_THROW(infer::createDataInput(g, HALF, 2, 10, 5, plan), poplibs_error);
  const Tensor data = infer::createDataInput(g, FLOAT, 2, 10, 5, plan), lengths = linear(g, UNSIGNED_INT, {2}),
               floats = linear(g, FLOAT, {2});
  const auto decode = [&](const Tensor& in, const Tensor& n, unsigned blank, unsigned beams, unsigned top,
                          const OptionFlags& options = {}) {
    infer::beamSearchDecoderLogProbabilities(g, in, n, prog, blank, beams, top, plan, {}, options);
    infer::beamSearchDecoderLogits(g, in, n, prog, blank, beams, top, plan, {}, options);
  };
  EXPECT_NO_THROW(decode(data, lengths, 4, 4, 4));
  EXPECT_THROW(decode(data.slice(0, 9), lengths, 0, 4, 4), poplibs_error);
  EXPECT_THROW(decode(data, floats, 0, 4, 4), poplibs_error);
  EXPECT_THROW(decode(data, Tensor(), 0, 4, 4), poplibs_error);
  EXPECT_THROW(decode(data, lengths, 5, 4, 4), poplibs_error);
  EXPECT_THROW(decode(data, lengths, 0, 3, 3), poplibs_error);
  EXPECT_THROW(decode(data, lengths, 0, 4, 5), poplibs_error);
  EXPECT_THROW(decode(data, lengths, 0, 4, 0), poplibs_error);
  EXPECT_THROW(decode(data, lengths, 0, 4, 4, {{"nothing", "1"}}), invalid_option);
}

}  // namespace
}  // namespace oplib
