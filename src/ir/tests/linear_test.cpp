// Rows of linear/ against numbers of others: NumPy's rules, ONNX's documented examples, and each gradient against the sum that it is.
#include "ir/tests/op_testing.h"

#include <random>

namespace pando::ir {
namespace {

using namespace op_testing;
using Text = std::string;

HostTensor ones(Shape shape) { return HostTensor::filled(DType::float32, std::move(shape), 1); }

TEST(Matmul, ShapesAreNumPys) {
  const auto shape = [](const Shape& a, const Shape& b) {
    return run("matmul", {HostTensor(DType::float32, a), HostTensor(DType::float32, b)})[0].shape();
  };
  EXPECT_EQ(shape({3, 4}, {4, 5}), (Shape{3, 5}));
  EXPECT_EQ(shape({4}, {4}), (Shape{}));
  EXPECT_EQ(shape({4}, {4, 5}), (Shape{5}));
  EXPECT_EQ(shape({3, 4}, {4}), (Shape{3}));
  EXPECT_EQ(shape({4}, {7, 4, 5}), (Shape{7, 5}));
  EXPECT_EQ(shape({7, 3, 4}, {4}), (Shape{7, 3}));
  EXPECT_EQ(shape({6, 1, 3, 4}, {7, 4, 5}), (Shape{6, 7, 3, 5}));
  EXPECT_EQ(shape({0, 4}, {4, 5}), (Shape{0, 5}));
}

TEST(Matmul, Numbers) {
  const HostTensor a = counted({2, 3}), b = counted({3, 2});
  expect_numbers(run("matmul", {a, b})[0], {10, 13, 28, 40});
  expect_numbers(run("matmul", {counted({3}), b})[0], {10, 13});
  // Batches broadcast: the same left for both.
  expect_numbers(run("matmul", {counted({1, 1, 3}), counted({2, 3, 1})})[0], {5, 14});
  const HostTensor half = floats({1, 2}, {1, 1}, DType::float16), thin = floats({2, 1}, {2048, 1}, DType::float16);
  expect_numbers(run("matmul", {half, thin}, {{"output_type", DType::float32}})[0], {2049});
}

TEST(Matmul, Pow2Scaled) {
  const HostTensor a = floats({1, 2}, {1.5, 2}, DType::float8_143), b = floats({2, 1}, {4, -1}, DType::float8_152);
  const HostTensor r = run("matmul_pow2scaled", {a, b, ints({}, {-1})})[0];
  EXPECT_EQ(r.dtype(), DType::float16);
  expect_numbers(r, {2});
  EXPECT_EQ(rejection_of("matmul_pow2scaled", {a, b, ints({}, {32})}), "log2-scale-range");
  EXPECT_EQ(rejection_of("matmul_pow2scaled", {a, b, ints({1}, {1})}), "log2-scale-shape");
  EXPECT_EQ(rejection_of("matmul_pow2scaled", {a, b, floats({}, {1})}), "operand-type");
}

TEST(Matmul, RejectsWhatDoesNotFit) {
  EXPECT_EQ(rejection_of("matmul", {counted({2, 3}), counted({2, 3})}), "matmul-inner");
  EXPECT_EQ(rejection_of("matmul", {counted({}), counted({2, 3})}), "matmul-scalar");
  EXPECT_EQ(rejection_of("matmul", {counted({2, 2, 3}), counted({3, 3, 2})}), "matmul-batch");
  EXPECT_EQ(rejection_of("matmul", {counted({2, 3}), HostTensor(DType::float16, {3, 2})}), "different-types");
  try {
    run("matmul", {counted({2, 3}), counted({2, 3})});
  } catch (const ModelError& e) {
    EXPECT_EQ(e.kind(), ModelError::Class::popart);
    EXPECT_NE(std::string(e.what()).find("(2, 3) x (2, 3)"), std::string::npos) << e.what();
  }
}

TEST(Conv, PaddingAndStrides) {
  const HostTensor x = counted({1, 1, 5, 5}), w = ones({1, 1, 3, 3});
  expect_numbers(run("conv", {x, w})[0], {54, 63, 72, 99, 108, 117, 144, 153, 162});
  const std::vector<double> padded = {12,  21, 27, 33,  24,  33,  54,  63, 72,  51,  63,  99, 108,
                                      117, 81, 93, 144, 153, 162, 111, 72, 111, 117, 123, 84};
  expect_numbers(run("conv", {x, w}, {{"padding", Ints{1, 1, 1, 1}}})[0], padded);
  expect_numbers(run("conv", {x, w}, {{"pad_type", Text("same_lower")}})[0], padded);
  expect_numbers(run("conv", {counted({1, 1, 7, 5}), w}, {{"padding", Ints{1, 1, 1, 1}}, {"stride", Ints{2, 2}}})[0],
                 {12, 27, 24, 63, 108, 81, 123, 198, 141, 112, 177, 124});
  // Where the padding is odd, upper has it behind and lower before.
  const HostTensor two = ones({1, 1, 2});
  expect_numbers(run("conv", {counted({1, 1, 3}), two}, {{"pad_type", Text("same_upper")}})[0], {1, 3, 2});
  expect_numbers(run("conv", {counted({1, 1, 3}), two}, {{"pad_type", Text("same_lower")}})[0], {0, 1, 3});
  // The defaults of two dimensions do for one and three.
  const Attributes defaults = {
      {"stride", Ints{1, 1}}, {"padding", Ints{0, 0, 0, 0}}, {"dilation", Ints{1, 1}}, {"pad_type", Text("not_set")}};
  expect_numbers(run("conv", {counted({1, 1, 3}), two}, defaults)[0], {1, 3});
  EXPECT_EQ(run("conv", {counted({1, 1, 3, 3, 3}), ones({4, 1, 2, 2, 3})}, defaults)[0].shape(), (Shape{1, 4, 2, 2, 1}));
}

TEST(Conv, DilationAndGroups) {
  expect_numbers(run("conv", {counted({1, 1, 5}), floats({1, 1, 2}, {1, 10})}, {{"dilation", Ints{3}}})[0], {30, 41});
  // Two groups: the first output sees the first two channels, the second the others.
  const HostTensor x = floats({1, 4, 1}, {1, 2, 3, 4}), w = floats({2, 2, 1}, {1, 10, 100, 1000});
  expect_numbers(run("conv", {x, w}, {{"groups", std::int64_t{2}}})[0], {21, 4300});
  expect_numbers(run("conv", {x, w})[0], {21, 4300});
  EXPECT_EQ(rejection_of("conv", {x, w}, {{"groups", std::int64_t{4}}}), "conv-groups");
  EXPECT_EQ(rejection_of("conv", {x, floats({3, 2, 1}, {1, 1, 1, 1, 1, 1})}), "conv-groups");
  EXPECT_EQ(rejection_of("conv", {x, ones({3, 3, 1})}), "conv-channels");
}

TEST(Conv, ThreeDimensionsAreTheSumOfTheirProducts) {
  const HostTensor x = counted({1, 1, 2, 2, 2}), w = counted({1, 1, 2, 2, 2}, 1);
  // sum of i (i + 1), i from 0 to 7
  expect_numbers(run("conv", {x, w})[0], {168});
}

TEST(Conv, RejectsWhatDoesNotFit) {
  const HostTensor x = counted({1, 1, 3, 3}), w = ones({1, 1, 2, 2});
  EXPECT_EQ(rejection_of("conv", {counted({3, 3}), w}), "conv-rank");
  EXPECT_EQ(rejection_of("conv", {x, ones({1, 1, 2})}), "conv-rank");
  EXPECT_EQ(rejection_of("conv", {x, ones({1, 1, 4, 4})}), "window");
  EXPECT_EQ(rejection_of("conv", {x, w}, {{"stride", Ints{2}}}), "window");
  EXPECT_EQ(rejection_of("conv", {x, w}, {{"pad_type", Text("full")}}), "window");
  EXPECT_EQ(rejection_of("conv", {x, HostTensor(DType::float16, {1, 1, 2, 2})}), "different-types");
}

TEST(Conv, Pow2Scaled) {
  const HostTensor x = floats({1, 1, 2}, {1, 2}, DType::float8_143), w = floats({1, 1, 2}, {4, 8}, DType::float8_143);
  expect_numbers(run("conv_pow2scaled", {x, w, ints({}, {2})})[0], {80});
  expect_numbers(run("conv_transpose_pow2scaled", {x, w, ints({}, {0})})[0], {4, 16, 16});
  EXPECT_EQ(rejection_of("conv_pow2scaled", {x, w, ints({}, {-33})}), "log2-scale-range");
  EXPECT_EQ(rejection_of("conv_transpose_pow2scaled", {x, w, ints({1}, {0})}), "log2-scale-shape");
}

TEST(ConvTranspose, OnnxsExamples) {
  const HostTensor x = counted({1, 1, 3, 3}), w = ones({1, 2, 3, 3});
  const std::vector<double> plain = {0, 1, 3, 3, 2, 3, 8, 15, 12, 7, 9, 21, 36, 27, 15, 9, 20, 33, 24, 13, 6, 13, 21, 15, 8};
  std::vector<double> twice = plain;
  twice.insert(twice.end(), plain.begin(), plain.end());
  expect_numbers(run("conv_transpose", {x, w})[0], twice);

  const Attributes padded = {{"stride", Ints{3, 2}}, {"padding", Ints{1, 2, 1, 2}}};
  expect_numbers(run("conv_transpose", {x, ones({1, 1, 3, 3})}, padded)[0],
                 {1, 1, 3, 1, 1, 3, 7, 4, 9, 7, 4, 9, 7, 4, 9, 13, 7, 15, 13, 7, 15});

  const Attributes shape = {{"stride", Ints{3, 2}}, {"output_shape", Ints{10, 8}}};
  const HostTensor y = run("conv_transpose", {x, w}, shape)[0];
  ASSERT_EQ(y.shape(), (Shape{1, 2, 10, 8}));
  const double row[] = {0, 0, 1, 1, 3, 2, 2, 0};
  for (std::int64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(y.number(i), row[i]);
    // What output_shape adds lies behind.
    EXPECT_EQ(y.number(72 + i), 0);
  }
  EXPECT_EQ(run("conv_transpose", {x, w}, {{"stride", Ints{3, 2}}, {"output_padding", Ints{1, 1}}})[0], y);
}

TEST(ConvTranspose, GroupsAndErrors) {
  const HostTensor x = floats({1, 2, 1}, {1, 2}), w = floats({2, 1, 2}, {1, 10, 100, 1000});
  expect_numbers(run("conv_transpose", {x, w}, {{"groups", std::int64_t{2}}})[0], {1, 10, 200, 2000});
  expect_numbers(run("conv_transpose", {x, w})[0], {201, 2010});
  EXPECT_EQ(rejection_of("conv_transpose", {x, floats({3, 1, 2}, {1, 1, 1, 1, 1, 1})}), "conv-channels");
  EXPECT_EQ(rejection_of("conv_transpose", {x, w}, {{"groups", std::int64_t{3}}}), "conv-groups");
  EXPECT_EQ(rejection_of("conv_transpose", {x, ones({2, 1})}), "conv-rank");
  EXPECT_EQ(rejection_of("conv_transpose", {x, w}, {{"output_padding", Ints{1, 1}}}), "window");
  EXPECT_EQ(rejection_of("conv_transpose", {x, w}, {{"output_padding", Ints{-1}}}), "window");
  EXPECT_EQ(rejection_of("conv_transpose", {x, w}, {{"padding", Ints{2, 2}}}), "window");
}

HostTensor random(const Shape& shape, unsigned seed) {
  std::mt19937 bits(seed);
  HostTensor t(DType::float64, shape);
  for (std::int64_t i = 0; i < t.elements(); ++i) t.set(i, static_cast<double>(bits() % 2001) / 1000.0 - 1);
  return t;
}

double dot(const HostTensor& a, const HostTensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) sum += a.number(i) * b.number(i);
  return sum;
}

// A convolution is linear in each operand: <dy, conv(x, w)> = <conv_input_grad(dy, w), x> = <conv_weight_grad(dy, x), w>.
TEST(Conv, GradientsAreItsTransposes) {
  struct Case {
    Shape x, w;
    Attributes attributes;
  };
  const std::vector<Case> cases = {
      {{2, 4, 6, 5}, {6, 2, 3, 2}, {{"stride", Ints{2, 1}}, {"padding", Ints{1, 0, 2, 1}}, {"dilation", Ints{1, 2}}}},
      {{1, 3, 9}, {2, 3, 4}, {{"stride", Ints{3}}, {"pad_type", Text("same_upper")}}},
      {{1, 2, 4, 3, 4}, {4, 1, 2, 2, 2}, {{"stride", Ints{2, 1, 2}}, {"padding", Ints{0, -1, 0, 0, 0, 1}}}},
  };
  for (const Case& c : cases) {
    const HostTensor x = random(c.x, 1), w = random(c.w, 2), y = run("conv", {x, w}, c.attributes)[0], dy = random(y.shape(), 3);
    Attributes a = c.attributes;
    a.set("shape", Ints(c.x));
    EXPECT_NEAR(dot(dy, y), dot(run("conv_input_grad", {dy, w}, a)[0], x), 1e-9);
    a.set("shape", Ints(c.w));
    EXPECT_NEAR(dot(dy, y), dot(run("conv_weight_grad", {dy, x}, a)[0], w), 1e-9);
  }
  EXPECT_EQ(rejection_of("conv_input_grad", {ones({1, 1, 9}), ones({1, 1, 2})}, {{"shape", Ints{1, 1, 4}}}), "conv-gradient");
  EXPECT_EQ(rejection_of("conv_weight_grad", {ones({1, 1, 2}), ones({1, 1, 4})}, {{"shape", Ints{1, 1, 2}}}), "conv-gradient");
}

}  // namespace
}  // namespace pando::ir
