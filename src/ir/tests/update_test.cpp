// Rows of update/: formulas by hand.
#include "ir/tests/op_testing.h"

#include <cmath>

namespace pando::ir {
namespace {

using namespace op_testing;

const Attributes kTensor = {{"scalars", Strings{"f"}}};

TEST(Accumulate, Formulas) {
  const HostTensor t = floats({2}, {1, 2}), x = floats({2}, {10, -20});
  expect_numbers(run("accumulate_", {t, x})[0], {11, -18});
  expect_numbers(run("accumulate_", {t, x}, {{"f", 0.5}})[0], {6, -8});
  expect_numbers(run("accumulate_", {t, x, floats({}, {2})}, kTensor)[0], {21, -38});
  expect_numbers(run("accumulate_square_", {t, x}, {{"f", 0.5}})[0], {51, 202});
  expect_numbers(run("accumulate_moving_average_", {t, x}, {{"f", 0.9}})[0], {1.9, -0.2});
  expect_numbers(run("accumulate_moving_average_square_", {t, x}, {{"f", 0.75}})[0], {25.75, 101.5});
  expect_numbers(run("accumulator_scale_", {t}, {{"f", 3.0}})[0], {3, 6});
  expect_numbers(run("accumulator_scale_", {t, floats({}, {3})}, kTensor)[0], {3, 6});
  expect_numbers(run("accumulator_zero_", {t})[0], {0, 0});
  expect_numbers(run("copy_var_update_", {t, x})[0], {10, -20});
}

// The mean of what came before (`step` tensors) and of what comes.
TEST(Accumulate, MeanIsARunningMean) {
  HostTensor t = floats({}, {0});
  const double values[] = {4, 8, 3};
  for (int step = 0; step < 3; ++step)
    t = run("accumulate_mean_", {t, floats({}, {values[step]})}, {{"step", static_cast<double>(step)}})[0];
  expect_numbers(t, {5});
  const Attributes tensor = {{"scalars", Strings{"step"}}};
  expect_numbers(run("accumulate_mean_", {floats({}, {6}), floats({}, {2}), ints({}, {3})}, tensor)[0], {5});
}

TEST(Accumulate, ZeroTimesInfinityIsZeroForANumber) {
  const HostTensor t = floats({1}, {INFINITY});
  expect_numbers(run("accumulator_scale_", {t}, {{"f", 0.0}})[0], {0});
  EXPECT_TRUE(std::isnan(run("accumulator_scale_", {t, floats({}, {0})}, kTensor)[0].number(0)));
}

TEST(Accumulate, TypesMayDiffer) {
  const HostTensor t = floats({1}, {1}), x = floats({1}, {0.5}, DType::float16);
  EXPECT_EQ(run("accumulate_", {t, x})[0].dtype(), DType::float32);
  expect_numbers(run("accumulate_", {t, x})[0], {1.5});
  EXPECT_EQ(rejection_of("copy_var_update_", {t, x}), "different-types");
}

TEST(Accumulate, RejectsWhatDoesNotFit) {
  const HostTensor t = counted({2}), one = counted({1});
  EXPECT_EQ(rejection_of("accumulate_", {t, one}), "different-shapes");
  EXPECT_EQ(rejection_of("copy_var_update_", {t, one}), "different-shapes");
  EXPECT_EQ(rejection_of("accumulate_mean_", {t, t}), "scalar-missing");
  EXPECT_EQ(rejection_of("accumulator_scale_", {t}), "scalar-missing");
  EXPECT_EQ(rejection_of("accumulate_", {t, t, one}), "scalar-count");
  EXPECT_EQ(rejection_of("accumulate_", {t, t, t}, kTensor), "scalar-shape");
  EXPECT_EQ(rejection_of("accumulate_", {t, t, one}, {{"scalars", Strings{"g"}}}), "scalar-unknown");
  EXPECT_EQ(rejection_of("accumulate_", {t, t, one}, {{"scalars", Strings{"f"}}, {"f", 1.0}}), "scalar-twice");
}

TEST(SparseAccumulate, AddsRowsAndColumns) {
  const HostTensor t = floats({3, 2}, {0, 0, 1, 1, 2, 2}), x = floats({3, 2}, {1, 2, 3, 4, 5, 6});
  expect_numbers(run("sparse_accumulate_", {t, x, ints({3}, {2, 0, 2})}, {{"axis", std::int64_t{0}}})[0], {3, 4, 1, 1, 8, 10});
  // Outside: nothing. With a factor and a weight for the layout.
  const Attributes a = {{"axis", std::int64_t{1}}, {"scalars", Strings{"f"}}};
  const HostTensor columns = floats({3, 1}, {1, 2, 3});
  expect_numbers(run("sparse_accumulate_", {t, columns, ints({1}, {1}), t, floats({}, {10})}, a)[0], {0, 10, 1, 21, 2, 32});
  expect_numbers(run("sparse_accumulate_", {t, columns, ints({1}, {2})}, {{"axis", std::int64_t{1}}})[0], {0, 0, 1, 1, 2, 2});
  EXPECT_EQ(rejection_of("sparse_accumulate_", {t, x, ints({2}, {0, 0})}, {{"axis", std::int64_t{0}}}), "sparse-shapes");
  EXPECT_EQ(rejection_of("sparse_accumulate_", {t, x, ints({3}, {0, 0, 0})}, {{"axis", std::int64_t{2}}}), "axis-range");
  EXPECT_EQ(rejection_of("sparse_accumulate_", {t, x, ints({3}, {0, 0, 0}), x, x}, {{"axis", std::int64_t{0}}}), "operand-count");
  EXPECT_EQ(rejection_of("sparse_accumulate_", {t, x, ints({3}, {0, 0, 0}), floats({2}, {1, 1})},
                         {{"axis", std::int64_t{0}}, {"scalars", Strings{"f"}}}),
            "scalar-shape");
  EXPECT_EQ(rejection_of("sparse_accumulate_", {t, x, ints({3}, {0, 0, 0}), counted({3, 3})}, {{"axis", std::int64_t{0}}}),
            "different-shapes");
}

TEST(Adam, Formulas) {
  const HostTensor m = floats({2}, {0.5, -1}), v = floats({2}, {0.25, 4}), w = floats({2}, {10, 20});
  expect_numbers(run("adam_updater", {m, v}, {{"epsilon", 0.0}})[0], {1, -0.5});
  const Attributes decayed = {{"present", Strings{"weight"}}, {"weight_decay", 0.1}, {"epsilon", 0.5}};
  expect_numbers(run("adam_updater", {m, v, w}, decayed)[0], {0.5 / 1 + 1, -1 / 2.5 + 2});
  expect_numbers(run("lamb_updater", {m, v, w}, decayed)[0], {1.5, 1.6});
}

TEST(Adam, CorrectsTheBiasWithTheStepMadeOneMore) {
  const HostTensor m = floats({1}, {0.1}), v = floats({1}, {0.001}), step = floats({}, {0});
  const Attributes a = {{"present", Strings{"time_step"}}, {"beta1", 0.9}, {"beta2", 0.999}, {"epsilon", 1e-7}};
  const Tensors first = run("adam_updater", {m, v, step}, a);
  // After one step of a gradient of 1 from zeros, Adam's update is 1.
  expect_numbers(first[0], {1}, 1e-5);
  expect_numbers(first[1], {1});
  const Tensors second = run("adam_updater", {m, v, first[1]}, a);
  expect_numbers(second[1], {2});
  expect_numbers(second[0], {(0.1 / 0.19) / std::sqrt(0.001 / (1 - 0.999 * 0.999))}, 1e-4);
}

TEST(Adam, AdaMax) {
  const HostTensor m = floats({1}, {0.1}), v = floats({1}, {4}), step = ints({}, {1});
  const Attributes a = {{"present", Strings{"time_step"}}, {"scalars", Strings{"beta1"}}, {"epsilon", 1.0}};
  const Tensors r = run("adamax_updater", {m, v, step, floats({}, {0.5})}, a);
  expect_numbers(r[0], {(0.1 / 0.75) / 5});
  EXPECT_EQ(r[1].dtype(), DType::int32);
  expect_numbers(r[1], {2});
}

TEST(Adam, TheTimeStepIsANewVersion) {
  Builder b;
  const GraphId g = b.create_graph("g");
  const TensorId m = b.add_input(g, tensor_type(DType::float32, {1}), "m"), v = b.add_input(g, tensor_type(DType::float32, {1}), "v");
  const TensorId step = b.add_input(g, tensor_type(DType::float32, {}), "step");
  b.op(g, "adam_updater", std::vector{m, v, step}, {{"present", Strings{"time_step"}}, {"beta1", 0.9}, {"beta2", 0.9}});
  b.add_output(g, step);
  b.finish();
  const auto r = Interpreter(b.module()).run_graph(g, {{floats({1}, {1}), {}}, {floats({1}, {1}), {}}, {floats({}, {7}), {}}});
  EXPECT_EQ(r[0].tensor.number(0), 8);
  // The input's final, too.
  EXPECT_EQ(r[3].tensor.number(0), 8);
}

TEST(Adam, RejectsWhatDoesNotFit) {
  const HostTensor m = counted({2}), step = counted({});
  EXPECT_EQ(rejection_of("adam_updater", {m, counted({1})}), "different-shapes");
  EXPECT_EQ(rejection_of("adam_updater", {m, m, counted({1})}, {{"present", Strings{"weight"}}}), "different-shapes");
  EXPECT_EQ(rejection_of("adam_updater", {m, m}, {{"weight_decay", 0.1}}), "adam-weight");
  EXPECT_EQ(rejection_of("adam_updater", {m, m, step}, {{"present", Strings{"time_step"}}, {"beta1", 0.1}}), "adam-beta");
  EXPECT_EQ(rejection_of("adam_updater", {m, m, m}, {{"present", Strings{"time_step"}}, {"beta1", 0.1}, {"beta2", 0.1}}), "adam-time-step");
  EXPECT_EQ(rejection_of("adam_updater", {m, m}, {{"present", Strings{"weight"}}}), "operand-count");
  EXPECT_EQ(rejection_of("adam_updater", {m, m, m}, {{"present", Strings{"bias"}}}), "adam-present");
  EXPECT_EQ(rejection_of("adamax_updater", {m, m}), "adam-time-step");
}

TEST(AdamVarUpdate, ScalesByNorms) {
  const HostTensor t = floats({2}, {1, 2}), x = floats({2}, {1, -1});
  const auto of = [&](double r1, double r2, const Attributes& a) {
    return run("adam_var_update", {t, x, floats({}, {r1}), floats({}, {r2})}, a)[0];
  };
  // sqrt(9) / sqrt(4), half of it
  expect_numbers(of(9, 4, {{"learning_rate", 0.5}}), {0.25, 2.75});
  expect_numbers(of(9, 4, {{"learning_rate", 0.5}, {"max_weight_norm", 1.0}}), {0.75, 2.25});
  expect_numbers(of(0, 4, {{"learning_rate", 0.5}}), {0.5, 2.5});
  expect_numbers(of(9, 0, {}), {0, 3});
  EXPECT_EQ(rejection_of("adam_var_update", {t, counted({1}), counted({}), counted({})}), "different-shapes");
  EXPECT_EQ(rejection_of("adam_var_update", {t, x, t, counted({})}), "scalar-shape");
}

}  // namespace
}  // namespace pando::ir
