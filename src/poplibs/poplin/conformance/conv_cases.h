// The convolutions that the tests loop over.
#pragma once

#include <string>
#include <vector>

#include <poplin/ConvParams.hpp>

namespace conv_cases {

struct Case {
  std::string name;
  poplin::ConvParams params;
};

inline poplin::ConvParams make(std::size_t batch, std::vector<std::size_t> field, std::vector<std::size_t> kernel, std::size_t in,
                               std::size_t out, std::size_t groups = 1) {
  return poplin::ConvParams(poplar::FLOAT, batch, field, kernel, in, out, groups);
}

template <class Change>
Case with(const std::string& name, poplin::ConvParams p, const Change& change) {
  change(p);
  p.validate();
  return {name, p};
}

inline std::vector<Case> cases() {
  using P = poplin::ConvParams;
  const P two = make(2, {7, 6}, {3, 2}, 3, 5);
  return {
      {"plain", two},
      {"1x1", make(2, {5, 4}, {1, 1}, 9, 7)},
      {"1-D", make(3, {11}, {4}, 5, 3)},
      {"3-D", make(1, {4, 5, 3}, {2, 3, 2}, 3, 4)},
      {"4-D", make(1, {3, 2, 3, 4}, {2, 1, 2, 3}, 2, 3)},
      {"no field", make(3, {}, {}, 4, 5)},
      {"groups", make(2, {5, 5}, {3, 3}, 2, 3, 4)},
      {"depthwise", make(2, {6, 5}, {3, 3}, 1, 1, 13)},
      {"one of everything", make(1, {1}, {1}, 1, 1)},
      {"many channels", make(1, {3, 3}, {2, 2}, 70, 133)},
      {"empty batch", make(0, {4}, {2}, 3, 2)},
      {"no groups", make(2, {4, 3}, {2, 1}, 3, 2, 0)},
      with("padding", two, [](P& p) { p.inputTransform.paddingLower = {1, 2}, p.inputTransform.paddingUpper = {3, 0}; }),
      with("much padding", two, [](P& p) { p.inputTransform.paddingLower = {5, 0}, p.inputTransform.paddingUpper = {0, 4}; }),
      with("stride", two, [](P& p) { p.outputTransform.stride = {2, 3}; }),
      with("padding and stride", two,
           [](P& p) { p.inputTransform.paddingLower = {1, 1}, p.inputTransform.paddingUpper = {1, 1}, p.outputTransform.stride = {2, 2}; }),
      with("input dilation", two, [](P& p) { p.inputTransform.dilation = {2, 3}; }),
      with("input dilation, stride", two, [](P& p) { p.inputTransform.dilation = {4, 3}, p.outputTransform.stride = {2, 2}; }),
      with("kernel dilation", two, [](P& p) { p.kernelTransform.dilation = {3, 2}; }),
      with("kernel padding", two, [](P& p) { p.kernelTransform.paddingLower = {1, 0}, p.kernelTransform.paddingUpper = {0, 2}; }),
      with("input truncation", two, [](P& p) { p.inputTransform.truncationLower = {1, 0}, p.inputTransform.truncationUpper = {0, 2}; }),
      with("kernel truncation", two, [](P& p) { p.kernelTransform.truncationLower = {1, 0}, p.kernelTransform.truncationUpper = {1, 1}; }),
      with("input flip", two, [](P& p) { p.inputTransform.flip = {true, false}, p.inputTransform.paddingLower = {1, 0}; }),
      with("kernel flip", two, [](P& p) { p.kernelTransform.flip = {false, true}, p.kernelTransform.paddingUpper = {0, 1}; }),
      with("both flips", two,
           [](P& p) { p.inputTransform.flip = {true, true}, p.kernelTransform.flip = {true, true}, p.outputTransform.stride = {2, 1}; }),
      with("output truncation", two, [](P& p) { p.outputTransform.truncationLower = {1, 0}, p.outputTransform.truncationUpper = {2, 1}; }),
      with("output padding", two, [](P& p) { p.outputTransform.paddingLower = {0, 2}, p.outputTransform.paddingUpper = {1, 0}; }),
      with("kernel larger than input", make(2, {3, 5}, {5, 2}, 3, 2), [](P&) {}),
      with("larger kernel, transforms", make(1, {3}, {7}, 2, 3),
           [](P& p) {
             p.inputTransform.flip = {true}, p.kernelTransform.flip = {true}, p.inputTransform.paddingLower = {1},
             p.kernelTransform.dilation = {2};
             p.outputTransform.stride = {2};
           }),
      with("everything", make(2, {9, 8}, {4, 3}, 3, 4, 2),
           [](P& p) {
             p.inputTransform = P::InputTransform({1, 0}, {0, 1}, {2, 1}, {1, 2}, {0, 3}, {false, true});
             p.kernelTransform = P::InputTransform({1, 0}, {0, 0}, {2, 2}, {0, 1}, {1, 0}, {true, false});
             p.outputTransform = P::OutputTransform({1, 1}, {0, 2}, {2, 1}, {1, 0}, {0, 1});
           }),
  };
}

}  // namespace conv_cases
