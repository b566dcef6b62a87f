#include "graph/views/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <random>

#include "base/testing/processor_time.h"
#include "graph/test_codelets.h"

namespace pando::graph {
namespace {

using ::testing::ElementsAre;
using testing::expect_error;

View variable(std::uint32_t id, const Shape& shape) { return View::of_variable(VariableId(id), ElementType::float_, shape); }
Run run(std::uint32_t v, std::uint64_t offset, std::int64_t stride, std::uint64_t count) { return {VariableId(v), offset, stride, count}; }

TEST(View, TheExampleOfTheHeader) {
  const View view = variable(0, {12}).reshape({3, 4}).dim_shuffle({1, 0}).slice(0, 2, 0);
  EXPECT_THAT(view.runs(), ElementsAre(run(0, 0, 4, 3), run(0, 1, 4, 3)));
  EXPECT_EQ(view.shape(), (Shape{2, 3}));
}

TEST(View, APairGivesItsSecondElementToARegion) {
  const View v = variable(0, {100});
  const View view = View::concat({v.slice(10, 11, 0), v.slice(50, 60, 0), v.slice(3, 4, 0)}, 0);
  EXPECT_THAT(view.runs(), ElementsAre(run(0, 10, 1, 1), run(0, 50, 1, 10), run(0, 3, 1, 1)));
}

TEST(View, ConcatOfSlicesIsTheWhole) {
  const View v = variable(0, {6, 8});
  std::vector<View> columns, rows;
  for (std::size_t i = 0; i < 8; ++i) columns.push_back(v.slice(i, i + 1, 1));
  for (std::size_t i = 0; i < 6; ++i) rows.push_back(v.index(i).reshape({1, 8}));
  Region region;
  EXPECT_TRUE(View::concat(columns, 1).single_region(region));
  EXPECT_EQ(View::concat(rows, 0), v);
  EXPECT_EQ(View::concat(columns, 1), v);
  EXPECT_NE(View::concat(columns, 0), v);
}

TEST(View, UndoingAnOperationUndoesItsStructure) {
  const View v = variable(0, {4, 6, 5});
  EXPECT_TRUE(v.dim_shuffle({2, 0, 1}).flatten().reshape({5, 4, 6}).dim_shuffle({1, 2, 0}).is_contiguous());
  EXPECT_TRUE(v.upsample(3, 1).sub_sample(3, 1).is_contiguous());
  EXPECT_TRUE(v.broadcast(3, 1).slice(6, 12, 1).is_contiguous());
  EXPECT_TRUE(v.reverse(1).reverse(1).is_contiguous());
  EXPECT_FALSE(v.reverse(1).is_contiguous());
}

// Enough of them to be set as bits, not sorted; with holes, once with elements that stand twice.
TEST(View, ManyElementsInAnyOrder) {
  const View v = variable(3, {20000});
  for (const bool twice : {false, true}) {
    std::mt19937 random(7);
    std::vector<bool> model(20000, false);
    std::vector<View> parts;
    while (parts.size() < 6000) {
      const std::size_t begin = random() % 20000, end = std::min<std::size_t>(begin + 1 + random() % 3, 20000);
      const bool taken = std::any_of(model.begin() + static_cast<std::ptrdiff_t>(begin), model.begin() + static_cast<std::ptrdiff_t>(end),
                                     [](bool is) { return is; });
      if (taken && !(twice && parts.size() % 1000 == 999)) continue;
      std::fill(model.begin() + static_cast<std::ptrdiff_t>(begin), model.begin() + static_cast<std::ptrdiff_t>(end), true);
      parts.push_back(v.slice(begin, end, 0));
    }
    std::vector<Region> want;
    for (std::uint64_t e = 0; e < model.size(); ++e) {
      if (!model[e]) continue;
      if (want.empty() || want.back().elements.end != e) want.push_back({VariableId(3), {e, e}});
      ++want.back().elements.end;
    }
    const View all = View::concat(parts, 0);
    bool repeated = !twice;
    EXPECT_EQ(all.element_set(&repeated), want);
    EXPECT_EQ(repeated, twice);
    EXPECT_EQ(all.contains_aliases(), twice);
  }
}

TEST(View, EmptyTensors) {
  const View none = variable(0, {4, 5}).slice(2, 2, 0);
  EXPECT_TRUE(none.valid());
  EXPECT_EQ(none.shape(), (Shape{0, 5}));
  EXPECT_TRUE(none.runs().empty());
  EXPECT_TRUE(none.variables().empty());
  EXPECT_TRUE(none.is_contiguous());
  EXPECT_FALSE(none.contains_aliases());
  EXPECT_FALSE(none.intersects(none));
  EXPECT_EQ(View::concat({none, variable(1, {1, 5})}, 0).runs().size(), 1u);
  EXPECT_EQ(none.reshape({0}).dim_shuffle({0}).broadcast(3, 0).num_elements(), 0u);
  EXPECT_FALSE(View().valid());
}

TEST(View, ReinterpretKeepsTheElements) {
  const View v = variable(0, {4});
  EXPECT_EQ(v.reinterpret(ElementType::int_).type(), ElementType::int_);
  EXPECT_EQ(v.reinterpret(ElementType::int_).runs(), v.runs());
  EXPECT_NE(v.reinterpret(ElementType::int_), v);
}

TEST(ViewErrors, NameTheShapeAndTheArguments) {
  const View v = variable(0, {3, 4});
  expect_error<poplar::index_error>([&] { v.slice(1, 5, 0); }, "slice [1, 5) of dimension 0 of a tensor of shape {3,4}");
  expect_error<poplar::index_error>([&] { v.slice(2, 1, 0); }, "slice [2, 1)");
  expect_error<poplar::index_error>([&] { v.slice(0, 1, 2); }, "dimension 2 of a tensor of shape {3,4}, which has rank 2");
  expect_error<poplar::index_error>([&] { v.index(3); }, "index 3 of a tensor of shape {3,4}");
  expect_error<poplar::index_error>([&] { variable(0, {}).index(0); }, "rank 0");
  expect_error<poplar::index_error>([&] { v.dim(2); }, "dimension 2");
  expect_error<poplar::index_error>([&] { v.reverse(2); }, "reverse: dimension 2");
  expect_error<poplar::index_error>([&] { v.broadcast(2, 7); }, "broadcast: dimension 7");
  expect_error<poplar::tensor_creation_error>([&] { v.reshape({5}); }, "shape {3,4}, which has 12 elements, to shape {5}, which has 5");
  expect_error<poplar::tensor_creation_error>([&] { v.dim_shuffle({0, 0}); }, "dimShuffle({0,0})");
  expect_error<poplar::tensor_creation_error>([&] { v.dim_shuffle({0}); },
                                              "not a permutation of the dimensions of a tensor of shape {3,4}");
  expect_error<poplar::tensor_creation_error>([&] { v.sub_sample(0, 0); }, "stride 0");
  expect_error<poplar::type_error>([&] { v.reinterpret(ElementType::half); }, "float (4 bytes) as half (2 bytes)");
  expect_error<poplar::tensor_creation_error>([&] { View().flatten(); }, "not valid");
}

TEST(ViewErrors, Concat) {
  const View v = variable(0, {3, 4});
  expect_error<poplar::tensor_creation_error>([&] { View::concat({}, 0); }, "empty list");
  expect_error<poplar::tensor_creation_error>([&] { View::concat({v, variable(1, {3, 5})}, 0); },
                                              "shapes {3,4} (tensor 0) and {3,5} (tensor 1)");
  expect_error<poplar::tensor_creation_error>([&] { View::concat({v, variable(1, {3})}, 0); }, "{3} (tensor 1)");
  expect_error<poplar::tensor_creation_error>([&] { View::concat({v, View()}, 0); }, "not valid");
  expect_error<poplar::type_error>([&] { View::concat({v, v.reinterpret(ElementType::int_)}, 0); }, "float (tensor 0) and int (tensor 1)");
  expect_error<poplar::index_error>([&] { View::concat({v, v}, 2); }, "concat: dimension 2");
}

std::size_t bytes_in_use() { return mallinfo2().uordblks; }

class Timed {
 public:
  double seconds() const { return (processor_seconds() - begin_) / kSlowerBuild; }

 private:
  double begin_ = processor_seconds();
};

TEST(ViewSpeed, ThousandsOfSlicesOfALargeTensor) {
  const std::size_t before = bytes_in_use();
  const Timed timed;
  const View tensor = variable(0, {1000, 10000});
  std::vector<View> parts;
  for (std::size_t i = 0; i < 5000; ++i) {
    const std::size_t row = i * 7919 % 999, column = i * 104729 % 9000;
    parts.push_back(tensor.slice(row, row + 2, 0).slice(column, column + 1000, 1));
  }
  const View whole = View::concat(parts, 0).dim_shuffle({1, 0});
  EXPECT_EQ(whole.shape(), (Shape{1000, 10000}));
  std::vector<View> slices;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < 5000; ++i) {
    slices.push_back(whole.slice(2 * i, 2 * i + 2, 1));
    slices.back().for_each_run(0, 100, [&](const graph::Run&) { ++runs; });
  }
  EXPECT_LT(timed.seconds(), 1.0);
  EXPECT_LT(bytes_in_use() - before, 16u << 20);  // of 10^7 elements
  EXPECT_EQ(slices[17].dim_shuffle({1, 0}), parts[17]);
  EXPECT_GT(runs, 5000u);
}

TEST(ViewSpeed, AnElementThatStandsBillionsOfTimes) {
  const Timed timed;
  const View one = variable(0, {4, 5}).index(1).slice(2, 3, 0), many = one.broadcast(1u << 31, 0).broadcast(1u << 11, 0);
  const View twice = View::concat({many, many.reverse(0)}, 0);
  for (const View& view : {many, twice}) {
    EXPECT_FALSE(view.is_contiguous());
    EXPECT_TRUE(view.contains_aliases());
    EXPECT_TRUE(view.intersects(one));
    EXPECT_THAT(view.element_set(), ElementsAre(Region{VariableId(0), {7, 8}}));
    expect_error<poplar::tensor_creation_error>([&] { view.regions(); }, "the host's memory");
  }
  const View some = View::concat({variable(1, {3}), many.slice(0, 1u << 31, 0)}, 0).slice(1, 1000000000, 0);
  EXPECT_THAT(some.element_set(), ElementsAre(Region{VariableId(0), {7, 8}}, Region{VariableId(1), {1, 3}}));
  EXPECT_LT(timed.seconds(), 0.1);
}

TEST(ViewSpeed, AppendingInALoop) {
  const Timed timed;
  View all = variable(0, {0});
  const View from = variable(1, {20000});
  for (std::size_t i = 0; i < 10000; ++i) {
    const std::size_t at = i * 7919 % 20000;
    all = View::concat({all, from.slice(at, at + 1, 0)}, 0);
  }
  std::size_t elements = 0;
  all.for_each_run([&](const graph::Run& r) { elements += r.count; });
  EXPECT_EQ(elements, 10000u);
  EXPECT_FALSE(all.contains_aliases());
  EXPECT_LT(timed.seconds(), 0.5);
}

TEST(ViewSize, ASliceIsOneSmallObject) {
  std::vector<View> slices;
  slices.reserve(100000);
  const View v = variable(0, {1000000});
  const std::size_t before = bytes_in_use();
  for (std::size_t i = 0; i < 100000; ++i) slices.push_back(v.slice(i, i + 10, 0));
  EXPECT_LE(sizeof(View), 64u);
  EXPECT_LE((bytes_in_use() - before) / 100000, 32u);  // the shape
}

TEST(ViewEquality, IsThatOfTheElementsInOrder) {
  const View a = View::of_variable(VariableId(0), ElementType::float_, {4, 6}),
             b = View::of_variable(VariableId(1), ElementType::float_, {4, 6});
  const auto turned = [](const View& v) { return v.dim_shuffle({1, 0}).reshape({4, 6}); };
  EXPECT_TRUE(turned(a) == turned(a));
  EXPECT_FALSE(turned(a) == turned(b));
  EXPECT_FALSE(turned(a) == a) << "both begin with the same element";
  // The same elements, built in another way.
  EXPECT_TRUE(View::concat({turned(a).slice(0, 2, 0), turned(a).slice(2, 4, 0)}, 0) == turned(a));
  EXPECT_FALSE(View::concat({turned(a).slice(0, 2, 0), turned(b).slice(2, 4, 0)}, 0) == turned(a));
  EXPECT_TRUE(turned(a).slice(1, 1, 0) == turned(b).slice(1, 1, 0)) << "no elements";
}

}  // namespace
}  // namespace pando::graph
