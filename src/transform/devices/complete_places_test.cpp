#include "transform/devices/complete_places.h"

#include "ir/checks/verify.h"
#include "transform/testing.h"

#include <gtest/gtest.h>

namespace pando::transform::testing {

using namespace ir;

namespace {

const Type kUnplaced = tensor_type(DType::float64, {3, 3});
const Place kIo1{Device::numbered(1), TileSet::io, Memory::tile};

}  // namespace

TEST(complete_places, first_users_decide) {
  Builder b;
  Made inner(b, "inner");
  const TensorId t = inner.in("t", kUnplaced), other = inner.in("other", kUnplaced),
                 placed = inner.in("placed", tensor_type(DType::float64, {3, 3}, kIo1));
  inner.out(inner.op("matmul", {t, placed}));
  inner.out(inner.op("matmul", {other, other}));
  Made main(b, b.module().main_graph());
  State state;
  state.type = b.module().type(kUnplaced);
  state.grouping = ReplicaGrouping(1);
  const TensorId v = b.add_variable(state, HostTensor(DType::float64, {3, 3}), "v");
  const TensorId c = b.add_constant(main.graph, HostTensor(DType::float64, {3, 3}), "c");
  const TensorId unused = b.add_constant(main.graph, HostTensor(DType::float64, {3, 3}), "unused");
  const std::vector<TensorId> r = main.ops("call", {v, c, c}, {}, {inner.graph});
  complete_places(b.module());
  const Module& m = b.module();
  const auto place = [&](TensorId tensor) { return m.type_of(value(b, tensor)).place; };
  const Place compute0{Device::numbered(0), TileSet::compute, Memory::tile};
  EXPECT_EQ(place(t), kIo1);
  EXPECT_EQ(place(other), compute0);
  EXPECT_EQ(place(v), kIo1);
  EXPECT_EQ(m.type(m.state(StateId(0)).type).place, kIo1);
  EXPECT_EQ(place(c), compute0);
  EXPECT_EQ(place(unused), compute0);
  EXPECT_EQ(place(r[0]), kIo1);
  EXPECT_EQ(place(r[1]), compute0);
  EXPECT_EQ(to_string(verify(m)), "");
}

}  // namespace pando::transform::testing
