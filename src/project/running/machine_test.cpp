#include "project/running/machine.h"

#include "project/testing/testing.h"

#include "ir/semantics/interpreter.h"

namespace pando::project::testing {
namespace {

using ::testing::HasSubstr;

// What the reference interpreter makes of the loop without any of this: one run for each sample.
RunResult sequential(const ir::Module& m, const HostInputs& inputs, std::int64_t samples) {
  ir::Interpreter interpreter(m);
  RunResult r;
  for (std::int64_t i = 0; i < samples; ++i) {
    for (std::uint32_t s = 0; s < m.stream_count(); ++s) {
      const ir::HostStream& stream = m.stream(ir::HostStreamId(s));
      if (stream.direction != ir::HostStream::Direction::host_to_device) continue;
      const ir::HostTensor& all = inputs.at(stream.name);
      ir::Shape shape{1, 1};
      shape.insert(shape.end(), stream.shape.begin(), stream.shape.end());
      ir::HostTensor slice(stream.dtype, shape);
      for (std::int64_t k = 0; k < slice.elements(); ++k) slice.set(k, all.number(i * slice.elements() + k));
      interpreter.set_input(ir::HostStreamId(s), slice);
    }
    interpreter.run();
  }
  for (std::uint32_t s = 0; s < m.state_count(); ++s) r.states[m.state(ir::StateId(s)).name] = interpreter.state(ir::StateId(s), 0);
  return r;
}

TEST(Machine, StrictIsTheSequentialLoop) {
  for (const std::int64_t samples : {1, 2, 5}) {
    const Projected p = projected(note(), "strict");
    EXPECT_EQ(run(p.program, note_inputs(samples), {samples, 0}), sequential(note(), note_inputs(samples), samples));
  }
}

// The note's functions on tensors of one element each, by hand: what delay, stash and flush mean, without any of the project's passes.
struct Hand {
  std::vector<double> wa{0.5}, wb{0.25}, wc{1.0};
  static double round(double v) { return static_cast<float>(v); }
  static double wup(double g, double w) { return round(w - round(g * 0.0625)); }
  static const double& version(const std::vector<double>& w, std::int64_t n) {
    return w[static_cast<std::size_t>(std::max<std::int64_t>(0, n))];
  }
  // What sample i gives the three updates; A and B read versions `forward`, E and F versions `backward`, C version `last`.
  struct Gradients {
    double f, e, d;
  };
  Gradients sample(double x, double l, std::int64_t forward, std::int64_t backward, std::int64_t last) const {
    const double a = round(std::tanh(round(x * version(wa, forward)))), b = round(1 / (1 + std::exp(-round(a * version(wb, forward)))));
    const double c = round(b * version(wc, last)), d = round(c - l);
    const double e = round(round(d * version(wb, backward)) * b), f = round(round(e * version(wa, backward)) * a);
    return {f, e, d};
  }
  void update(const Gradients& g) {
    wa.push_back(wup(g.f, wa.back()));
    wb.push_back(wup(g.e, wb.back()));
    wc.push_back(wup(g.d, wc.back()));
  }
};

ir::Module scalar_note() {
  std::string text = read_golden("note");
  for (std::size_t at = text.find("(3, 3)"); at != std::string::npos; at = text.find("(3, 3)", at)) text.replace(at, 6, "(1, 1)");
  for (std::size_t at = text.find(")["); at != std::string::npos; at = text.find(")[", at + 1)) {
    if (text[at - 1] == '(') continue;
    const std::size_t comma = text.find(',', at), end = text.find(']', at);
    if (comma < end) text.erase(comma, end - comma);
  }
  return ir::parse(text);
}

TEST(Machine, PoliciesByHand) {
  constexpr std::int64_t kSamples = 8;
  const HostInputs inputs{{"x", slices(kSamples, {1, 1}, 5)}, {"l", slices(kSamples, {1, 1}, 6)}};
  const auto x = [&](std::int64_t i) { return inputs.at("x").number(i); };
  const auto l = [&](std::int64_t i) { return inputs.at("l").number(i); };
  const auto compare = [&](const std::string& policy, const Hand& hand) {
    const RunResult r = run(projected(scalar_note(), policy).program, inputs, {kSamples, 1});
    EXPECT_EQ(r.states.at("WA").number(0), hand.wa.back()) << policy;
    EXPECT_EQ(r.states.at("WB").number(0), hand.wb.back()) << policy;
    EXPECT_EQ(r.states.at("WC").number(0), hand.wc.back()) << policy;
  };
  Hand strict, delay, stash;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    strict.update(strict.sample(x(i), l(i), i, i, i));
    delay.update(delay.sample(x(i), l(i), i - 1, i, i));
    stash.update(stash.sample(x(i), l(i), i - 1, i - 1, i));
  }
  compare("strict", strict);
  compare("delay", delay);
  compare("stash", stash);
  EXPECT_NE(strict.wa.back(), delay.wa.back());
  EXPECT_NE(stash.wa.back(), delay.wa.back());
  for (const bool flush : {true, false}) {
    Hand hand;
    for (std::int64_t w = 0; w < kSamples / 4; ++w) {
      Hand::Gradients sum{0, 0, 0};
      for (std::int64_t i = 4 * w; i < 4 * w + 4; ++i) {
        const std::int64_t version = flush ? w : w - 1;
        const Hand::Gradients g = hand.sample(x(i), l(i), version, version, version);
        sum = {Hand::round(sum.f + g.f), Hand::round(sum.e + g.e), Hand::round(sum.d + g.d)};
      }
      hand.update(sum);
    }
    compare(flush ? "flush 4" : "2BW 4", hand);
  }
}

TEST(Machine, WhatARunRejects) {
  const ProjectedProgram p = projected(note(), "delay").program;
  const auto rejection = [&](const ProjectedProgram& program, const HostInputs& inputs, std::int64_t samples) {
    try {
      run(program, inputs, {samples, std::nullopt});
    } catch (const ModelError& e) { return std::string(e.what()); }
    return std::string("none");
  };
  EXPECT_EQ(rejection(p, note_inputs(3), 3), "none");
  EXPECT_EQ(rejection(p, note_inputs(0), 0), "none");
  EXPECT_THAT(rejection(p, note_inputs(3), 4),
              HasSubstr("slice 3 of stream 'x' is read; it was given 3 slices of Tensor[(3, 3), float32] [stream-too-short]"));
  EXPECT_THAT(rejection(p, {{"x", slices(1, {3, 3}, 1)}}, 1), HasSubstr("[stream-without-data]"));
  EXPECT_THAT(rejection(projected(note(), "flush 4").program, note_inputs(3), 3),
              HasSubstr("3 samples; windows have 4 [samples-of-windows]"));
  std::string text = print(p);
  text.replace(text.find("        if t >= 1:\n            d.0 = receive(d10)\n"), 50, "");
  EXPECT_THAT(rejection(parse(text), note_inputs(3), 3),
              HasSubstr("device 0, trip 0: 'e' reads 'd.0', which nothing has written [C1-order]"));
}

}  // namespace
}  // namespace pando::project::testing
