#include "ir/construction/builder.h"

#include "pando/model_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pando::ir {
namespace {

using testing::ElementsAre;

class BuilderEdit : public testing::Test {
 protected:
  BuilderEdit() : main(builder.module().main_graph()) {}

  TensorId variable(const char* name) {
    State state;
    state.type = builder.module().type(tensor_type(DType::float32, {4}));
    return builder.add_variable(state, HostTensor::filled(DType::float32, {4}, 1), name);
  }
  TensorId add(TensorId a, TensorId b, bool in_place = false) {
    const TensorId operands[] = {a, b};
    return builder.op(main, "add", operands, {}, {}, in_place)[0];
  }
  const std::vector<OpId>& ops() { return builder.module().graph(main).ops; }

  Builder builder;
  GraphId main;
};

TEST_F(BuilderEdit, KeepsTheTensorsThatWereGiven) {
  const TensorId x = variable("x"), y = variable("y");
  add(x, y, true);
  add(x, x);
  // The second op reads another value than the first, of the same tensor.
  EXPECT_THAT(builder.operand_tensors(ops()[0]), ElementsAre(x, y));
  EXPECT_THAT(builder.operand_tensors(ops()[1]), ElementsAre(x, x));
  EXPECT_NE(builder.module().operand(ops()[0], 0), builder.module().operand(ops()[1], 0));
}

TEST_F(BuilderEdit, ErasingAModificationBringsTheOldVersionBack) {
  const TensorId x = variable("x");
  const ValueId before = builder.value_of(x);
  add(x, x, true);
  add(x, x);
  builder.erase(ops()[0]);
  EXPECT_EQ(builder.value_of(x), before);
  EXPECT_EQ(builder.module().graph(main).updated_inputs[0], before);
  ASSERT_EQ(ops().size(), 1u);
  EXPECT_EQ(builder.module().operand(ops()[0], 0), before);
}

TEST_F(BuilderEdit, ErasingFromTheFrontLeavesNothingModified) {
  const TensorId x = variable("x");
  const ValueId before = builder.value_of(x);
  for (int i = 0; i < 3; ++i) add(x, x, true);
  for (OpId op : std::vector<OpId>(ops())) builder.erase(op);
  EXPECT_EQ(builder.value_of(x), before);
  EXPECT_TRUE(ops().empty());
}

TEST_F(BuilderEdit, OrderGoesOnThroughAnErasedOp) {
  const TensorId x = variable("x");
  builder.push_sequence(SequenceMode::ordered);
  for (int i = 0; i < 3; ++i) add(x, x);
  const std::vector<OpId> three = ops();
  builder.erase(three[1]);
  EXPECT_THAT(builder.module().graph(main).after, ElementsAre(std::make_pair(three[0], three[2])));
  builder.erase(three[2]);
  add(x, x);
  builder.pop_sequence();
  EXPECT_THAT(builder.module().graph(main).after, ElementsAre(std::make_pair(three[0], ops().back())));
}

TEST_F(BuilderEdit, OutputsCanBeRemovedAndReplaced) {
  const GraphId g = builder.create_graph("g");
  const Type type = tensor_type(DType::float32, {4});
  const TensorId a = builder.add_input(g, type, "a"), b = builder.add_input(g, type, "b");
  builder.add_output(g, a);
  builder.add_output(g, a);
  builder.set_output(g, 1, b);
  builder.remove_output(g, 0);
  EXPECT_THAT(builder.outputs(g), ElementsAre(b));
  EXPECT_THAT(builder.module().graph(g).outputs, ElementsAre(builder.value_of(b)));
  EXPECT_THROW(builder.remove_output(g, 1), ModelError);
  EXPECT_THROW(builder.set_output(g, 1, b), ModelError);
  const TensorId other = builder.add_input(g, tensor_type(DType::float32, {5}), "other");
  EXPECT_THROW(builder.set_output(g, 0, other), ModelError);
}

TEST_F(BuilderEdit, ACallGetsAnOperandAsItWasBeforeTheCall) {
  const TensorId x = variable("x"), y = variable("y");
  const GraphId g = builder.create_graph("g");
  const Type type = tensor_type(DType::float32, {4});
  builder.add_input(g, type, "a");
  add(y, y, true);
  const ValueId before = builder.value_of(y);
  const TensorId operands[] = {x};
  const GraphId graphs[] = {g};
  builder.op(main, "call", operands, {}, graphs);
  const OpId call = builder.last_op();
  add(y, y, true);
  const OpId later = builder.last_op();
  EXPECT_THROW(builder.add_call_operand(call, y), ModelError);
  builder.add_input(g, type, "b", true);
  builder.add_call_operand(call, y);
  EXPECT_THAT(builder.operand_tensors(call), ElementsAre(x, y));
  EXPECT_EQ(builder.module().operand(call, 1), before);
  // By reference: what comes behind the call reads what it has left.
  EXPECT_EQ(builder.module().operand(later, 0), builder.module().results(call).back());
  EXPECT_THROW(builder.add_call_operand(later, y), ModelError);
}

TEST_F(BuilderEdit, TensorsCanBeRenamed) {
  const TensorId x = variable("x"), y = add(x, x);
  const std::string name = builder.module().unique_name(main, "sum");
  builder.rename(y, name);
  EXPECT_EQ(builder.id_of(y), "sum");
  EXPECT_EQ(builder.module().name_of(builder.value_of(y)), "sum");
}

}  // namespace
}  // namespace pando::ir
