// Rows of collective/: several replicas side by side, and several devices of one.
#include "ir/tests/op_testing.h"

namespace pando::ir {
namespace {

using namespace op_testing;
using Text = std::string;

const Attributes kAdd = {{"op", Text("add")}};

Attributes with(Attributes a, std::string_view name, AttributeValue v) {
  a.set(name, std::move(v));
  return a;
}

TEST(AllReduce, WithinAReplica) {
  const HostTensor a = floats({2}, {1, 2}), b = floats({2}, {10, 20});
  for (const HostTensor& t : run("all_reduce", {a, b}, kAdd)) expect_numbers(t, {11, 22});
  for (const HostTensor& t : run("all_reduce_identical_grad_inputs", {a, b}, kAdd)) expect_numbers(t, {11, 22});
  const Tensors same = run("all_reduce_identical_inputs", {a, b}, kAdd);
  EXPECT_EQ(same[0], a);
  EXPECT_EQ(same[1], b);
  EXPECT_EQ(rejection_of("all_reduce", {a, floats({1}, {1})}, kAdd), "collective-shapes");
  EXPECT_EQ(rejection_of("all_reduce", {}, kAdd), "collective-empty");
}

TEST(AllReduce, EveryReduction) {
  const HostTensor a = floats({2}, {3, -1}), b = floats({2}, {5, 4});
  const auto of = [&](const char* op) { return run("all_reduce", {a, b}, {{"op", Text(op)}})[1]; };
  expect_numbers(of("add"), {8, 3});
  expect_numbers(of("mean"), {4, 1.5});
  expect_numbers(of("mul"), {15, -4});
  expect_numbers(of("min"), {3, -1});
  expect_numbers(of("max"), {5, 4});
  expect_numbers(of("square_add"), {34, 17});
  const HostTensor p = ints({3}, {1, 1, 0}, DType::boolean), q = ints({3}, {1, 0, 0}, DType::boolean);
  expect_numbers(run("all_reduce", {p, q}, {{"op", Text("and")}})[0], {1, 0, 0});
  expect_numbers(run("all_reduce", {p, q}, {{"op", Text("or")}})[0], {1, 1, 0});
  EXPECT_EQ(rejection_of("all_reduce", {a, b}, {{"op", Text("and")}}), "collective-type");
  EXPECT_EQ(rejection_of("all_reduce", {p, q}, kAdd), "collective-type");
  const HostTensor small(DType::float8_143, {2});
  EXPECT_EQ(rejection_of("all_reduce", {small, small}, kAdd), "collective-type");
  EXPECT_EQ(rejection_of("all_reduce", {a, b}, {{"op", Text("xor")}}), "collective-op");
}

TEST(AllReduce, WhatIsNotANumberIsTheSmallestAndTheLargest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const HostTensor a = floats({2}, {nan, 1}), b = floats({2}, {1, nan});
  for (const char* op : {"min", "max"}) {
    const HostTensor all = run("all_reduce", {a, b}, {{"op", Text(op)}})[0];
    EXPECT_TRUE(std::isnan(all.number(0))) << op;
    EXPECT_TRUE(std::isnan(all.number(1))) << op;
  }
}

TEST(AllReduce, OfCopiesIsTheTensor) {
  const HostTensor t = floats({4, 1}, {1, 10, 100, 1000});
  const auto of = [&](const Attributes& a) { return run_replicas("differentiable_replicated_all_reduce", 4, {t}, a)[2].number(0); };
  const Attributes pairs = with(kAdd, "group_size", std::int64_t{2});
  EXPECT_EQ(of(pairs), 1100);
  EXPECT_EQ(of(with(pairs, "identical_grad_inputs", true)), 1100);
  EXPECT_EQ(of(with(pairs, "identical_inputs", true)), 100);
}

TEST(AllReduce, GroupsOfReplicas) {
  const HostTensor t = floats({4, 1}, {1, 10, 100, 1000});
  const auto sums = [&](const Attributes& a) {
    std::vector<double> all;
    for (const HostTensor& r : run_replicas("replicated_all_reduce", 4, {t}, a)) all.push_back(r.number(0));
    return all;
  };
  EXPECT_EQ(sums(kAdd), (std::vector<double>{1111, 1111, 1111, 1111}));
  EXPECT_EQ(sums(with(kAdd, "group_size", std::int64_t{2})), (std::vector<double>{11, 11, 1100, 1100}));
  EXPECT_EQ(sums(with(with(kAdd, "stride", std::int64_t{2}), "group_size", std::int64_t{2})), (std::vector<double>{101, 1010, 101, 1010}));
  EXPECT_EQ(sums(with(kAdd, "group_size", std::int64_t{1})), (std::vector<double>{1, 10, 100, 1000}));
  EXPECT_EQ(rejection([&] { sums(with(kAdd, "group_size", std::int64_t{3})); }), "grouping-size");
  EXPECT_EQ(rejection([&] { sums(with(kAdd, "stride", std::int64_t{0})); }), "group-stride");
  // The in-place form gives the same.
  expect_numbers(run_replicas("replicated_all_reduce", 4, {t}, kAdd, true)[2], {1111});
}

TEST(AllGather, EveryForm) {
  const HostTensor t = floats({2, 2, 1}, {1, 2, 3, 4});
  const auto of = [&](Attributes a) { return run_replicas("replicated_all_gather", 2, {t}, a)[1]; };
  const HostTensor rows = of({{"axis", std::int64_t{0}}, {"output_shape", Text("concat")}});
  EXPECT_EQ(rows.shape(), (Shape{4, 1}));
  expect_numbers(rows, {1, 2, 3, 4});
  const HostTensor columns = of({{"axis", std::int64_t{1}}, {"output_shape", Text("concat")}});
  EXPECT_EQ(columns.shape(), (Shape{2, 2}));
  expect_numbers(columns, {1, 3, 2, 4});
  EXPECT_EQ(of({{"output_shape", Text("new_axis")}}).shape(), (Shape{2, 2, 1}));
  const HostTensor scalars =
      run_replicas("replicated_all_gather", 2, {floats({2}, {5, 6})}, {{"axis", std::int64_t{0}}, {"output_shape", Text("concat")}})[0];
  EXPECT_EQ(scalars.shape(), (Shape{2}));
  expect_numbers(scalars, {5, 6});
  EXPECT_EQ(rejection([&] { of({{"axis", std::int64_t{2}}, {"output_shape", Text("concat")}}); }), "axis-range");
  EXPECT_EQ(rejection([&] { of({{"output_shape", Text("flat")}}); }), "gather-form");
  EXPECT_EQ(rejection([&] { of({{"output_shape", Text("meta_shape")}}); }), "not-a-shard");
}

TEST(AllGather, ShardsMakeTheWholeWithoutItsPadding) {
  const HostTensor shards = floats({2, 2}, {1, 2, 3, 0});
  const HostTensor whole = run_replicas("replicated_all_gather", 2, {shards}, {{"output_shape", Text("meta_shape")}}, false, {1, 3})[0];
  EXPECT_EQ(whole.shape(), (Shape{1, 3}));
  expect_numbers(whole, {1, 2, 3});
  EXPECT_EQ(rejection([&] { run_replicas("replicated_all_gather", 2, {shards}, {{"output_shape", Text("meta_shape")}}, false, {5}); }),
            "too-few-shards");
}

TEST(ReduceScatter, PadsWithZeros) {
  const HostTensor t = floats({2, 3}, {1, 2, 3, 10, 20, 30});
  const Tensors r = run_replicas("replicated_reduce_scatter", 2, {t}, kAdd);
  expect_numbers(r[0], {11, 22});
  expect_numbers(r[1], {33, 0});
  // One element: the first replica's.
  const Tensors one = run_replicas("replicated_reduce_scatter", 2, {floats({2}, {5, 6})}, kAdd);
  expect_numbers(one[0], {11});
  expect_numbers(one[1], {0});
}

TEST(Slices, OfReplicas) {
  const HostTensor t = floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensors columns = run_replicas("replicated_slice", 2, {t}, {{"axis", std::int64_t{1}}});
  expect_numbers(columns[0], {1, 3});
  expect_numbers(columns[1], {6, 8});
  const Tensors shards = run_replicas("replica_sharded_slice", 2, {floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  expect_numbers(shards[0], {1, 2});
  expect_numbers(shards[1], {6, 0});
  // Strided groups: the second member of a group is two replicas on.
  const Attributes strided = {{"axis", std::int64_t{0}}, {"stride", std::int64_t{2}}, {"group_size", std::int64_t{2}}};
  const Tensors four = run_replicas("replicated_slice", 4, {counted({4, 2})}, strided);
  EXPECT_EQ(four[1].number(0), 2);
  EXPECT_EQ(four[2].number(0), 5);
  EXPECT_EQ(rejection([&] { run_replicas("replicated_slice", 2, {floats({2, 3}, {1, 2, 3, 4, 5, 6})}, {{"axis", std::int64_t{0}}}); }),
            "slice-parts");
  EXPECT_EQ(rejection([&] { run_replicas("replicated_slice", 2, {t}, {{"axis", std::int64_t{2}}}); }), "axis-range");
}

}  // namespace
}  // namespace pando::ir
