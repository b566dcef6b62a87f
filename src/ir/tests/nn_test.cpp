// Rows of nn/ against numbers of others: ONNX's documented examples, and sums done by hand.
#include "ir/tests/op_testing.h"

#include <cmath>
#include <limits>

namespace pando::ir {
namespace {

using namespace op_testing;
using Text = std::string;

TEST(Softmax, NormalisesTheDimensionsFromTheAxisOnTogether) {
  const HostTensor x = floats({2, 2, 2}, {0, 0, 0, 0, std::log(1), std::log(2), std::log(3), std::log(4)});
  expect_numbers(run("softmax", {x}, {{"axis", std::int64_t{1}}})[0], {0.25, 0.25, 0.25, 0.25, 0.1, 0.2, 0.3, 0.4});
  const double third = 1.0 / 3, two = 2.0 / 3;
  expect_numbers(run("softmax", {x}, {{"axis", std::int64_t{2}}})[0], {0.5, 0.5, 0.5, 0.5, third, two, 3.0 / 7, 4.0 / 7});
  expect_numbers(run("softmax", {floats({2}, {1000, 1000})}, {{"axis", std::int64_t{0}}})[0], {0.5, 0.5});
  EXPECT_EQ(rejection_of("softmax", {x}, {{"axis", std::int64_t{3}}}), "axis-range");
  EXPECT_EQ(rejection_of("softmax", {ints({2}, {1, 2})}, {{"axis", std::int64_t{0}}}), "operand-type");
}

TEST(Softmax, GradientIsThatOfTheJointSum) {
  const HostTensor y = floats({1, 2}, {0.25, 0.75}), dy = floats({1, 2}, {1, 0});
  expect_numbers(run("softmax_grad", {y, dy}, {{"axis", std::int64_t{1}}})[0], {0.1875, -0.1875});
  EXPECT_EQ(rejection_of("softmax_grad", {y, floats({2}, {1, 2})}, {{"axis", std::int64_t{0}}}), "different-shapes");
}

TEST(Nll, MeanIsOverTheRowsThatAreNotIgnored) {
  const HostTensor probs = floats({3, 2}, {0.5, 0.5, 0.2, 0.8, 0, 1}), labels = ints({3}, {0, 1, 0});
  const double a = -std::log(0.5), b = -std::log(0.8), c = -std::log(1e-7);
  expect_numbers(run("nll_loss", {probs, labels}, {{"reduction", Text("mean")}})[0], {(a + b + c) / 3}, 1e-5);
  expect_numbers(run("nll_loss", {probs, labels}, {{"reduction", Text("sum")}})[0], {a + b + c}, 1e-5);
  expect_numbers(run("nll_loss", {probs, labels}, {{"reduction", Text("none")}})[0], {a, b, c}, 1e-5);
  expect_numbers(run("nll_loss", {probs, labels}, {{"reduction", Text("mean")}, {"ignore_index", std::int64_t{0}}})[0], {b}, 1e-6);
  expect_numbers(run("nll_loss", {probs, labels}, {{"reduction", Text("none")}, {"ignore_index", std::int64_t{1}}})[0], {a, 0, c}, 1e-5);
  // All ignored: 0, not 0 / 0.
  expect_numbers(run("nll_loss", {probs, ints({3}, {7, 7, 7})}, {{"reduction", Text("mean")}, {"ignore_index", std::int64_t{7}}})[0], {0});
  expect_numbers(run("nll_loss", {floats({1, 2}, {-1.5, -0.25}), ints({1}, {0})}, {{"reduction", Text("sum")}, {"log_prob", true}})[0],
                 {1.5});
}

TEST(Nll, HalfHasAnEpsilonThatItCanHold) {
  const HostTensor probs = floats({1, 2}, {0, 1}, DType::float16);
  expect_numbers(run("nll_loss", {probs, ints({1}, {0})}, {{"reduction", Text("sum")}})[0], {-std::log(6.104e-5)}, 0.01);
}

TEST(Nll, Gradient) {
  const HostTensor probs = floats({2, 2}, {0.5, 0.5, 0.2, 0.8}), labels = ints({2}, {0, 1});
  const Attributes mean = {{"reduction", Text("mean")}};
  expect_numbers(run("nll_grad", {probs, labels, floats({}, {3})}, mean)[0], {-3, 0, 0, -1.875});
  const Attributes none = {{"reduction", Text("none")}, {"log_prob", true}};
  expect_numbers(run("nll_grad", {probs, labels, floats({2}, {3, 5})}, none)[0], {-3, 0, 0, -5});
  EXPECT_EQ(rejection_of("nll_grad", {probs, labels, floats({2}, {3, 5})}, mean), "nll-gradient");
}

TEST(Nll, WithSoftmaxsGradient) {
  const HostTensor probs = floats({2, 2}, {0.5, 0.5, 0.2, 0.8}), labels = ints({2}, {0, 1});
  const Tensors number = run("nll_loss_with_softmax_grad", {probs, labels}, {{"reduction", Text("mean")}, {"loss_grad", 2.0}});
  expect_numbers(number[0], {(-std::log(0.5) - std::log(0.8)) / 2}, 1e-5);
  expect_numbers(number[1], {-0.5, 0.5, 0.2, -0.2});
  const Attributes ignores = {{"reduction", Text("sum")}, {"scalars", Strings{"loss_grad"}}, {"ignore_index", std::int64_t{1}}};
  expect_numbers(run("nll_loss_with_softmax_grad", {probs, labels, floats({}, {4})}, ignores)[1], {-2, 2, 0, 0});
}

TEST(Nll, RejectsWhatDoesNotFit) {
  const HostTensor probs = floats({2, 2}, {0.5, 0.5, 0.2, 0.8}), labels = ints({2}, {0, 1});
  EXPECT_EQ(rejection_of("nll_loss", {probs, labels}, {{"reduction", Text("median")}}), "nll-reduction");
  EXPECT_EQ(rejection_of("nll_loss", {probs, ints({3}, {0, 1, 1})}, {{"reduction", Text("sum")}}), "nll-labels");
  EXPECT_EQ(rejection_of("nll_loss", {floats({}, {1}), ints({}, {1})}, {{"reduction", Text("sum")}}), "nll-scalar");
}

TEST(Pool, AveragesWithoutPadding) {
  const HostTensor x = counted({1, 1, 5, 5}, 1);
  const Attributes same = {{"kernel_size", Ints{5, 5}}, {"padding", Ints{2, 2, 2, 2}}};
  expect_numbers(run("average_pool", {x}, same)[0],
                 {7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 14.5, 15, 15.5, 16, 16.5, 17, 17.5, 18, 18.5, 19});
  const Attributes upper = {{"kernel_size", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"auto_pad", Text("same_upper")}};
  expect_numbers(run("average_pool", {x}, upper)[0], {4, 5.5, 7, 11.5, 13, 14.5, 19, 20.5, 22});
}

TEST(Pool, CeilModeAddsWindowsThatHangOver) {
  const HostTensor x = counted({1, 1, 4, 4}, 1);
  const Attributes a = {{"kernel_size", Ints{3, 3}}, {"stride", Ints{2, 2}}, {"ceil_mode", true}};
  expect_numbers(run("max_pool", {x}, a)[0], {11, 12, 15, 16});
  expect_numbers(run("average_pool", {x}, a)[0], {6, 7.5, 12, 13.5});
  // Without it, and where a window would begin in the padding behind the data.
  EXPECT_EQ(run("max_pool", {x}, {{"kernel_size", Ints{3, 3}}, {"stride", Ints{2, 2}}})[0].shape(), (Shape{1, 1, 1, 1}));
  const Attributes beyond = {{"kernel_size", Ints{1}}, {"stride", Ints{2}}, {"padding", Ints{0, 1}}, {"ceil_mode", true}};
  EXPECT_EQ(run("max_pool", {counted({1, 1, 4})}, beyond)[0].shape(), (Shape{1, 1, 2}));
}

TEST(Pool, Dilations) {
  const HostTensor x = counted({1, 1, 4, 4}, 1);
  expect_numbers(run("max_pool", {x}, {{"kernel_size", Ints{2, 2}}, {"dilation", Ints{2, 2}}})[0], {11, 12, 15, 16});
  // Gaps between the elements are not zeros.
  expect_numbers(run("max_pool", {floats({1, 1, 3}, {-3, -1, -2})}, {{"kernel_size", Ints{2}}, {"in_dilations", Ints{2}}})[0],
                 {-3, -1, -1, -2});
}

TEST(Pool, Gradients) {
  const HostTensor x = floats({1, 1, 4}, {1, 5, 5, 2}), y = floats({1, 1, 3}, {5, 5, 5}), dy = floats({1, 1, 3}, {10, 20, 30});
  // Equal ones share.
  expect_numbers(run("max_pool_grad", {x, y, dy}, {{"kernel_size", Ints{2}}})[0], {0, 20, 40, 0});
  expect_numbers(run("average_pool_grad", {dy}, {{"kernel_size", Ints{2}}, {"shape", Ints{1, 1, 4}}})[0], {5, 15, 25, 15});
  EXPECT_EQ(rejection_of("average_pool_grad", {dy}, {{"kernel_size", Ints{3}}, {"shape", Ints{1, 1, 4}}}), "pool-gradient");
}

TEST(Pool, RejectsWhatDoesNotFit) {
  const HostTensor x = counted({1, 1, 4, 4});
  EXPECT_EQ(rejection_of("max_pool", {counted({4, 4})}, {{"kernel_size", Ints{2}}}), "pool-rank");
  EXPECT_EQ(rejection_of("max_pool", {x}, {{"kernel_size", Ints{2}}}), "pool-kernel");
  EXPECT_EQ(rejection_of("max_pool", {x}, {{"kernel_size", Ints{2, 2}}, {"out_pads", Ints{1, 1}}}), "pool-out-pads");
  EXPECT_EQ(rejection_of("max_pool", {x}, {{"kernel_size", Ints{5, 2}}}), "window");
  EXPECT_EQ(rejection_of("max_pool", {x}, {{"kernel_size", Ints{2, 2}}, {"stride", Ints{0, 1}}}), "window");
  EXPECT_EQ(rejection_of("max_pool", {x}, {{"kernel_size", Ints{2, 2}}, {"stride", Ints{2}}}), "window");
  // What would wrap around.
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), much = std::int64_t{1} << 40;
  for (const char* list : {"stride", "dilation", "in_dilations"})
    EXPECT_EQ(rejection_of("max_pool", {x}, {{"kernel_size", Ints{3, 2}}, {list, Ints{most, 1}}}), "window") << list;
  EXPECT_EQ(rejection_of("max_pool", {x}, {{"kernel_size", Ints{most, 2}}}), "window");
  EXPECT_EQ(rejection_of("max_pool", {x}, {{"kernel_size", Ints{much, 2}}, {"dilation", Ints{much, 1}}, {"auto_pad", Text("same_upper")}}),
            "window");
  EXPECT_EQ(rejection_of("max_pool", {x}, {{"kernel_size", Ints{2, 2}}, {"padding", Ints{most, 0, most, 0}}}), "window");
  EXPECT_EQ(rejection_of("max_pool", {x}, {{"kernel_size", Ints{2, 2}}, {"auto_pad", Text("same")}}), "window");
}

TEST(Interpolate, NearestLinearCubic) {
  const HostTensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  expect_numbers(run("interpolate", {x}, {{"scale_factor", Floats{1, 1, 2, 3}}, {"mode", Text("nearest")}})[0],
                 {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4});
  expect_numbers(run("interpolate", {x}, {{"scale_factor", Floats{1, 1, 2, 2}}, {"mode", Text("linear")}})[0],
                 {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  const HostTensor y = run("interpolate", {counted({1, 1, 4, 4}, 1)}, {{"scale_factor", Floats{1, 1, 2, 2}}, {"mode", Text("cubic")}})[0];
  const double first_row[] = {0.47265625, 0.76953125, 1.24609375, 1.875, 2.28125, 2.91015625, 3.38671875, 3.68359375};
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_NEAR(y.number(i), first_row[i], 1e-6);
}

TEST(Interpolate, Coordinates) {
  const auto row = [](const char* coordinates, double scale, const HostTensor& x, const char* mode = "linear") {
    const Attributes a = {{"scale_factor", Floats{scale}}, {"mode", Text(mode)}, {"coordinate_transformation_mode", Text(coordinates)}};
    return run("interpolate", {x}, a)[0];
  };
  const HostTensor x = floats({2}, {1, 2}), four = floats({4}, {0, 10, 20, 30});
  expect_numbers(row("align_corners", 2, x), {1, 4.0 / 3, 5.0 / 3, 2});
  expect_numbers(row("asymmetric", 2, x), {1, 1.5, 2, 2});
  expect_numbers(row("half_pixel", 0.25, four), {15});
  expect_numbers(row("pytorch_half_pixel", 0.25, four), {0});
  expect_numbers(row("align_corners", 0.25, four), {0});
  expect_numbers(row("tf_crop_and_resize", 0.25, four), {15});
  expect_numbers(row("asymmetric", 0.6, floats({5}, {0, 1, 2, 3, 4}), "nearest"), {0, 2, 3});
}

TEST(Interpolate, NearestModesDifferAtTheMiddle) {
  // Positions 0, 1.5 and 3.
  const auto at_middle = [](const char* nearest) {
    const Attributes a = {
        {"scale_factor", Floats{0.75}}, {"nearest_mode", Text(nearest)}, {"coordinate_transformation_mode", Text("align_corners")}};
    return run("interpolate", {counted({4})}, a)[0].number(1);
  };
  EXPECT_EQ(at_middle("round_prefer_floor"), 1);
  EXPECT_EQ(at_middle("round_prefer_ceil"), 2);
  EXPECT_EQ(at_middle("floor"), 1);
  EXPECT_EQ(at_middle("ceil"), 2);
}

TEST(Interpolate, GradientGivesEachElementItsWeights) {
  const Attributes a = {{"scale_factor", Floats{2}}, {"mode", Text("linear")}, {"shape", Ints{2}}};
  expect_numbers(run("interpolate_grad", {floats({4}, {1, 10, 100, 1000})}, a)[0], {1 + 7.5 + 25, 2.5 + 75 + 1000});
  EXPECT_EQ(rejection_of("interpolate_grad", {floats({3}, {1, 2, 3})}, a), "interpolate-gradient");
}

TEST(Interpolate, RejectsWhatDoesNotFit) {
  EXPECT_EQ(rejection_of("interpolate", {counted({4})}, {{"scale_factor", Floats{1, 1}}}), "interpolate-scale");
  EXPECT_EQ(rejection_of("interpolate", {counted({4})}, {{"scale_factor", Floats{0}}}), "interpolate-scale");
  EXPECT_EQ(rejection_of("interpolate", {counted({4})}, {{"scale_factor", Floats{0.1}}}), "interpolate-scale");
  EXPECT_EQ(rejection_of("interpolate", {counted({4})}, {{"scale_factor", Floats{2}}, {"mode", Text("sinc")}}), "interpolate-mode");
  EXPECT_EQ(rejection_of("interpolate", {counted({4})}, {{"scale_factor", Floats{2}}, {"nearest_mode", Text("any")}}), "interpolate-mode");
  EXPECT_EQ(rejection_of("interpolate", {counted({4})}, {{"scale_factor", Floats{2}}, {"coordinate_transformation_mode", Text("any")}}),
            "interpolate-mode");
}

// Where the image is a plane, a mean of bilinear samples is the plane at the bin's middle.
TEST(RoiAlign, OfAPlane) {
  HostTensor t(DType::float32, {2, 1, 8, 8});
  for (std::int64_t i = 0; i < 64; ++i) t.set(64 + i, static_cast<double>(10 * (i / 8) + i % 8));
  const HostTensor rois = floats({2, 4}, {2, 4, 10, 12, 4, 4, 4, 4}), images = ints({2}, {1, 1});
  const Attributes a = {{"output_size", Ints{2, 2}}, {"spatial_scale", 0.5}, {"sampling_ratio", std::int64_t{2}}};
  // 1 to 5 across and 2 to 6 down: bins of 2 by 2. The other is made 1 by 1.
  expect_numbers(run("roi_align", {t, rois, images}, a)[0], {32, 34, 52, 54, 24.75, 25.25, 29.75, 30.25}, 1e-4);
  Attributes adaptive = a;
  adaptive.set("sampling_ratio", std::int64_t{0});
  expect_numbers(run("roi_align", {t, rois, images}, adaptive)[0], {32, 34, 52, 54, 24.75, 25.25, 29.75, 30.25}, 1e-4);
}

TEST(RoiAlign, OutsideIsZeroAndEdgesAreHeld) {
  const HostTensor t = HostTensor::filled(DType::float32, {1, 1, 4, 4}, 6);
  const Attributes a = {{"output_size", Ints{1, 4}}, {"spatial_scale", 1.0}, {"sampling_ratio", std::int64_t{1}}};
  // Samples at x = -2.5, -0.5, 1.5, 3.5.
  expect_numbers(run("roi_align", {t, floats({1, 4}, {-3.5, 1, 4.5, 2}), ints({1}, {0})}, a)[0], {0, 6, 6, 6});
  // On the elements themselves: the weight of the next one is 0, and counts.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const HostTensor beside = floats({1, 1, 2, 2}, {5, nan, 6, 7});
  const Attributes one = {{"output_size", Ints{1, 1}}, {"sampling_ratio", std::int64_t{1}}, {"spatial_scale", 1.0}};
  EXPECT_TRUE(std::isnan(run("roi_align", {beside, floats({1, 4}, {-0.5, -0.5, 0.5, 0.5}), ints({1}, {0})}, one)[0].number(0)));
}

TEST(RoiAlign, RejectsWhatDoesNotFit) {
  const HostTensor t = counted({1, 1, 4, 4}), rois = counted({1, 4}), images = ints({1}, {0});
  const Attributes a = {{"output_size", Ints{1, 2}}, {"spatial_scale", 1.0}, {"sampling_ratio", std::int64_t{1}}};
  EXPECT_EQ(rejection_of("roi_align", {counted({4, 4}), rois, images}, a), "roi-images");
  EXPECT_EQ(rejection_of("roi_align", {t, counted({4}), images}, a), "roi-regions");
  EXPECT_EQ(rejection_of("roi_align", {t, rois, ints({2}, {0, 0})}, a), "roi-batch-index");
  EXPECT_EQ(rejection_of("roi_align", {t, rois, ints({1}, {1})}, a), "roi-image");
  Attributes b = a;
  b.set("output_size", Ints{0, 1});
  EXPECT_EQ(rejection_of("roi_align", {t, rois, images}, b), "roi-output-size");
  b = a;
  b.set("sampling_ratio", std::int64_t{-1});
  EXPECT_EQ(rejection_of("roi_align", {t, rois, images}, b), "roi-sampling");
}

TEST(GroupNorm, NeighbouringChannelsMakeAGroup) {
  const HostTensor t = floats({1, 4}, {1, 3, 10, 30}), weight = floats({4}, {1, 2, 1, 1}), bias = floats({4}, {0, 1, 0, 0});
  const Tensors r = run("group_norm", {t, weight, bias}, {{"num_groups", std::int64_t{2}}, {"eps", 0.0}});
  expect_numbers(r[0], {-1, 3, -1, 1});
  expect_numbers(r[1], {2, 20});
  expect_numbers(r[2], {1, 0.1});
}

TEST(GroupNorm, LayerNormIsOneGroupAndEpsIsInsideTheRoot) {
  const HostTensor t = floats({1, 2, 2}, {0, 4, 4, 8}), weight = floats({2}, {1, 10}), bias = floats({2}, {0, 1});
  const double deviation = std::sqrt(8 + 1);
  expect_numbers(run("layer_norm", {t, weight, bias}, {{"eps", 1.0}})[0], {-4 / deviation, 0, 1, 40 / deviation + 1});
}

TEST(GroupNorm, StatisticsOfHalfAreFloat) {
  const HostTensor t = floats({1, 2}, {1, 3}, DType::float16), one = floats({2}, {1, 1}, DType::float16);
  const Tensors r = run("group_norm", {t, one, one}, {{"num_groups", std::int64_t{1}}, {"eps", 0.0}});
  EXPECT_EQ(r[0].dtype(), DType::float16);
  EXPECT_EQ(r[1].dtype(), DType::float32);
}

TEST(GroupNorm, RejectsWhatDoesNotFit) {
  const HostTensor t = counted({2, 4}), four = counted({4}), three = counted({3});
  EXPECT_EQ(rejection_of("group_norm", {four, four, four}, {{"num_groups", std::int64_t{2}}, {"eps", 0.1}}), "norm-rank");
  EXPECT_EQ(rejection_of("group_norm", {t, four, four}, {{"num_groups", std::int64_t{3}}, {"eps", 0.1}}), "norm-groups");
  EXPECT_EQ(rejection_of("group_norm", {t, three, four}, {{"num_groups", std::int64_t{2}}, {"eps", 0.1}}), "norm-channels");
  EXPECT_EQ(rejection_of("group_norm", {counted({0, 4}), four, four}, {{"num_groups", std::int64_t{2}}, {"eps", 0.1}}), "norm-empty");
  const HostTensor two = counted({2});
  EXPECT_EQ(rejection_of("group_norm_grad", {t, four, two, two, t}, {{"num_groups", std::int64_t{2}}, {"eps", 0.1}}), "norm-gradient");
}

TEST(BatchNorm, NormalisesEachChannel) {
  const HostTensor t = floats({1, 2, 2}, {1, 2, 3, 4});
  const Tensors operands{t, floats({2}, {2, 1}), floats({2}, {0, 10}), floats({2}, {1, 3}), floats({2}, {3, 0})};
  expect_numbers(run("batch_norm_inference", operands, {{"epsilon", 1.0}})[0], {0, 1, 10, 11});
  Tensors wrong = operands;
  wrong[3] = floats({1}, {1});
  EXPECT_EQ(rejection_of("batch_norm_inference", wrong, {{"epsilon", 1.0}}), "norm-channels");
  EXPECT_EQ(rejection_of("batch_norm_inference", {counted({2}), operands[1], operands[2], operands[3], operands[4]}, {{"epsilon", 1.0}}),
            "norm-rank");
}

}  // namespace
}  // namespace pando::ir
