#include "ir/semantics/schedule.h"

#include "ir/construction/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pando::ir {
namespace {

using testing::ElementsAre;

class Schedule : public testing::Test {
 protected:
  TensorId variable(const char* name, Shape shape) {
    State state;
    state.type = builder.module().type(tensor_type(DType::float32, shape));
    return builder.add_variable(state, HostTensor(DType::float32, shape), name);
  }
  OpId add(TensorId a, TensorId b) {
    const TensorId operands[] = {a, b};
    made = builder.op(main, "add", operands)[0];
    return builder.last_op();
  }
  std::vector<OpId> order() { return least_live_order(builder.module(), main); }

  Builder builder;
  GraphId main = builder.module().main_graph();
  TensorId small = variable("small", {}), big = variable("big", {8, 8}), made;
};

TEST_F(Schedule, SmallResultsComeFirst) {
  const OpId large = add(big, big), little = add(small, small);
  EXPECT_THAT(order(), ElementsAre(little, large));
}

TEST_F(Schedule, WhatWasDemandedStays) {
  builder.push_sequence(SequenceMode::ordered);
  const OpId large = add(big, big), little = add(small, small);
  builder.pop_sequence();
  EXPECT_THAT(order(), ElementsAre(large, little));
}

TEST_F(Schedule, AnUnorderedBlockInsideAnOrderedOne) {
  builder.push_sequence(SequenceMode::ordered);
  const OpId first = add(big, big);
  builder.push_sequence(SequenceMode::unordered);
  const OpId large = add(big, big), little = add(small, small);
  builder.pop_sequence();
  const OpId last = add(small, small);
  builder.pop_sequence();
  EXPECT_THAT(order(), ElementsAre(first, little, large, last));
}

TEST_F(Schedule, AReaderThatFreesComesBeforeOneThatDoesNot) {
  const OpId a = add(big, big);
  const TensorId of_a = made;
  const OpId b = add(big, big);
  const OpId c = add(of_a, of_a);
  // c frees as much as it makes; b only makes.
  EXPECT_THAT(order(), ElementsAre(a, c, b));
}

}  // namespace
}  // namespace pando::ir
