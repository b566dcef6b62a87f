#include "poplibs/poplin/conv/terms/line.h"

#include <gtest/gtest.h>

#include <vector>

namespace poplin::conv {
namespace {

std::vector<Line> lines() {
  std::vector<Line> out;
  for (const std::int64_t stride : {1, 2, 3})
    for (const std::int64_t dilation : {1, 2, 4})
      for (const std::int64_t offset : {-5, -1, 0, 3})
        for (const std::int64_t step : {-2, 1, 2}) out.push_back({7, 6, 3, stride, dilation, offset, step, false});
  return out;
}

// Every input that some output and tap of the ranges meet.
std::vector<std::int64_t> met(const Line& line, Range outputs, Range taps) {
  std::vector<std::int64_t> inputs;
  for (std::int64_t i = 0; i < line.in; ++i)
    for (std::int64_t o = outputs.begin; o < outputs.end; ++o)
      for (std::int64_t t = taps.begin; t < taps.end; ++t)
        if (line.dilation * i == line.stride * o + line.offset + line.step * t && (inputs.empty() || inputs.back() != i))
          inputs.push_back(i);
  return inputs;
}

TEST(Line, InputRangeIsTheLeastThatHoldsWhatIsMet) {
  for (const Line& line : lines())
    for (const Range outputs : {Range{0, 6}, Range{2, 3}, Range{3, 6}, Range{1, 1}})
      for (const Range taps : {Range{0, 3}, Range{1, 2}}) {
        const std::vector<std::int64_t> inputs = met(line, outputs, taps);
        const Range expected = inputs.empty() ? Range{} : Range{inputs.front(), inputs.back() + 1};
        EXPECT_EQ(input_range(line, outputs, taps), expected);
      }
}

TEST(Line, PartsMeetWhatTheWholeMeets) {
  for (const Line& line : lines())
    for (const Range outputs : {Range{0, 2}, Range{2, 6}}) {
      const Range inputs = input_range(line, outputs, {0, line.taps});
      const Line part = part_of(line, outputs, inputs);
      for (std::int64_t o = 0; o < outputs.size(); ++o)
        for (std::int64_t t = 0; t < line.taps; ++t) {
          const std::int64_t whole = line.input_of(o + outputs.begin, t);
          EXPECT_EQ(part.input_of(o, t), whole < 0 ? -1 : whole - inputs.begin);
        }
    }
}

TEST(Line, CountsMeetings) {
  EXPECT_EQ(meetings({5, 5, 3, 1, 1, -1, 1, false}), 13u);  // 15 less the two corners
  EXPECT_EQ(meetings({5, 3, 3, 1, 1, 0, 1, false}), 9u);
}

}  // namespace
}  // namespace poplin::conv
