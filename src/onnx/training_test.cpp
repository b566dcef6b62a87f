// Steps of training, run by the reference interpreter: updates that are worked out by hand. tests/python/test_onnx_training.py compares
// whole networks and optimizers with gradients in NumPy.
#include "onnx/training.h"

#include "onnx/file_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace pando::onnx {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = x w, of two samples and one weight for each of two features.
std::string line() {
  Made made;
  made.in(value("x", {2, 2})).data(floats("w", {2, 1}, {1, -1}, true)).add(node("MatMul", {"x", "w"}, {"y"})).out("y");
  return made.model();
}

// What the variables are after a step on these streams.
std::map<std::string, std::vector<double>> after(const ir::Module& m, const std::map<std::string, ir::HostTensor>& streams, int steps = 1) {
  ir::Interpreter i(m);
  for (std::uint32_t s = 0; s < m.stream_count(); ++s) {
    const ir::HostStream& stream = m.stream(ir::HostStreamId(s));
    if (stream.direction != ir::HostStream::Direction::host_to_device) continue;
    ir::Shape shape{1, 1};
    shape.insert(shape.end(), stream.shape.begin(), stream.shape.end());
    i.set_input(ir::HostStreamId(s), streams.at(stream.name).reshaped(shape));
  }
  for (int n = 0; n < steps; ++n) i.run();
  std::map<std::string, std::vector<double>> all;
  for (std::uint32_t s = 0; s < m.state_count(); ++s) all[m.state(ir::StateId(s)).name] = numbers(i.state(ir::StateId(s), 0));
  return all;
}

// x w = (0, 2) for targets (1, 1): the gradient is the mean of 2 (y - t) x = (-1)(1, 1) and (1)(3, 1), so (2, 0).
TEST(OnnxTraining, a_step_of_sgd_is_the_rate_times_the_gradient) {
  Training t{.loss = Training::Loss::mse, .of = "y", .optimizer = {.learning_rate = 0.25}, .frozen = {}};
  const ir::Module m = import_training(read(line()), {}, t);
  EXPECT_EQ(ir::print(ir::parse(ir::print(m))), ir::print(m));
  const std::map<std::string, ir::HostTensor> data{{"x", tensor({2, 2}, {1, 1, 3, 1})}, {"target", tensor({2, 1}, {1, 1})}};
  EXPECT_THAT(after(m, data).at("w"), ElementsAre(DoubleNear(0.5, 1e-6), DoubleNear(-1, 1e-6)));
  t.optimizer.momentum = 0.5;
  t.optimizer.weight_decay = 1;
  // (2, 0) + w = (3, -1).
  const auto held = after(import_training(read(line()), {}, t), data);
  EXPECT_THAT(held.at("w"), ElementsAre(DoubleNear(0.25, 1e-6), DoubleNear(-0.75, 1e-6)));
  EXPECT_THAT(held.at("w.momentum"), ElementsAre(DoubleNear(3, 1e-6), DoubleNear(-1, 1e-6)));
}

// However large a gradient is, the first step of Adam is the rate.
TEST(OnnxTraining, adam_begins_with_steps_of_the_rate) {
  Training t{.loss = Training::Loss::mse, .of = "y", .optimizer = {.kind = Optimizer::Kind::adam, .learning_rate = 0.125}, .frozen = {}};
  const std::map<std::string, ir::HostTensor> data{{"x", tensor({2, 2}, {1, 0, 3, 0})}, {"target", tensor({2, 1}, {-5, -5})}};
  const auto held = after(import_training(read(line()), {}, t), data);
  EXPECT_THAT(held.at("w"), ElementsAre(DoubleNear(0.875, 1e-6), DoubleNear(-1, 1e-6)));
  EXPECT_THAT(held.at("step"), ElementsAre(1));
}

std::string batch_norm() {
  Made made;
  made.in(value("x", {2, 2})).data(floats("scale", {2}, {1, 2}, true)).data(floats("bias", {2}, {0, 0}, true));
  made.data(floats("mean", {2}, {1, 1}, true)).data(floats("variance", {2}, {1, 4}, true));
  made.add(node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, {"y"})).out("y");
  return made.model();
}

TEST(OnnxTraining, running_means_and_variances_stay) {
  const Training t{.loss = Training::Loss::mse, .of = "y", .optimizer = {.learning_rate = 0.5}, .frozen = {}};
  const auto held =
      after(import_training(read(batch_norm()), {}, t), {{"x", tensor({2, 2}, {1, 2, 3, 4})}, {"target", tensor({2, 2}, {0, 0, 0, 0})}});
  EXPECT_THAT(held.at("mean"), ElementsAre(1, 1));
  EXPECT_THAT(held.at("variance"), ElementsAre(1, 4));
  EXPECT_NE(held.at("bias")[0], 0);
}

std::string rejected(const std::string& bytes, const Training& t) {
  try {
    import_training(read(bytes), {}, t);
  } catch (const ModelError& e) { return e.what(); }
  return "accepted";
}

TEST(OnnxTraining, rejects_what_is_no_loss) {
  EXPECT_THAT(rejected(line(), {.loss = Training::Loss::output, .of = "y", .optimizer = {}, .frozen = {}}),
              HasSubstr("a loss is one floating number"));
  EXPECT_THAT(rejected(line(), {.loss = Training::Loss::output, .of = "z", .optimizer = {}, .frozen = {}}),
              HasSubstr("the model has no such output; it has 'y'"));
  EXPECT_THAT(rejected(line(), {.loss = Training::Loss::mse, .of = "y", .optimizer = {}, .frozen = {"w"}}),
              HasSubstr("it follows from no weight"));
  EXPECT_THAT(rejected(line(), {.loss = Training::Loss::mse, .of = "y", .optimizer = {}, .frozen = {"v"}}),
              HasSubstr("'v' is to stay as it is"));
  Made made;
  made.in(value("x", {2, 2})).in(value("target", {2, 2})).data(floats("w", {2}, {1, 1}, true));
  made.add(node("Mul", {"x", "w"}, {"y"})).out("y");
  EXPECT_THAT(rejected(made.model(), {.loss = Training::Loss::mse, .of = "y", .optimizer = {}, .frozen = {}}),
              HasSubstr("has a 'target' of its own"));
}

}  // namespace
}  // namespace pando::onnx
