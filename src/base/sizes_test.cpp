#include "base/sizes.h"

#include <gtest/gtest.h>

namespace pando {
namespace {

TEST(MakeRoom, AsksForMemoryOnce) {
  std::vector<std::uint64_t> list{1, 2, 3};
  make_room(list, 1000000, ErrorKind::poplar_error, "a list");
  const std::uint64_t* const at = list.data();
  list.resize(1000003);
  EXPECT_EQ(list.data(), at);
  EXPECT_EQ(list[2], 3u);
}

TEST(MakeRoom, LittleByLittleDoublesIt) {
  std::vector<int> list;
  unsigned moved = 0;
  for (int i = 0; i < 100000; ++i) {
    const std::size_t before = list.capacity();
    make_room(list, 1, ErrorKind::poplar_error, "a list");
    list.push_back(i);
    if (list.capacity() != before) ++moved;
  }
  EXPECT_LT(moved, 40u);
}

TEST(MakeRoom, RejectsWhatNoHostHolds) {
  std::vector<std::uint64_t> list{1};
  for (const std::uint64_t more : {std::uint64_t{1} << 50, ~std::uint64_t{0}})
    EXPECT_ANY_THROW(make_room(list, more, ErrorKind::poplar_error, "a list"));
  EXPECT_EQ(list.size(), 1u);
}

}  // namespace
}  // namespace pando
