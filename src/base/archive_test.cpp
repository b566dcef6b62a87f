#include "base/archive.h"

#include <gtest/gtest.h>

#include "base/ids.h"

namespace pando {
namespace {

struct Inner {
  std::string text;
  bool flag = false;
  friend bool operator==(const Inner&, const Inner&) = default;
};
template <class A>
void fields(A& a, Inner& v) {
  a(v.text, v.flag);
}

struct Padded {
  char small = 0;
  std::uint64_t large = 0;
};
static_assert(!kIsBulk<Padded> && !kIsBulk<bool> && kIsBulk<TileId> && kIsBulk<double>);

TEST(Archive, RoundTrip) {
  const std::vector<Inner> inner = {{"one", true}, {"", false}};
  const std::vector<TileId> tiles = {TileId(3), TileId()};
  const std::optional<double> some = 2.5, none;
  const std::pair<std::string, std::vector<std::uint16_t>> pair = {"x", {1, 2, 3}};
  ArchiveWriter w;
  w(inner, tiles, some, none, pair);

  std::vector<Inner> inner2;
  std::vector<TileId> tiles2;
  std::optional<double> some2, none2 = 1.0;
  std::pair<std::string, std::vector<std::uint16_t>> pair2;
  ArchiveReader r(w.bytes());
  r(inner2, tiles2, some2, none2, pair2);
  EXPECT_TRUE(r.complete());
  EXPECT_EQ(inner, inner2);
  EXPECT_EQ(tiles, tiles2);
  EXPECT_EQ(some, some2);
  EXPECT_EQ(none, none2);
  EXPECT_EQ(pair, pair2);
}

TEST(Archive, NeverReadsPastItsEnd) {
  ArchiveWriter w;
  w(std::vector<std::string>{"abc", "defg"}, std::uint32_t{7});
  for (std::size_t n = 0; n < w.bytes().size(); ++n) {
    ArchiveReader r(std::string_view(w.bytes()).substr(0, n));
    std::vector<std::string> list;
    std::uint32_t number = 0;
    r(list, number);
    EXPECT_FALSE(r.ok()) << n;
  }
}

TEST(Archive, RejectsSizesThatTheBytesCannotHold) {
  ArchiveWriter w;
  w(std::uint64_t{1} << 60);
  ArchiveReader r(w.bytes());
  std::vector<std::uint64_t> list;
  r(list);
  EXPECT_FALSE(r.ok());
  EXPECT_TRUE(list.empty());
}

TEST(Archive, ChecksumSeesEveryBit) {
  std::string bytes(100, 'a');
  const std::uint64_t sum = checksum(bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] ^= static_cast<char>(1 << bit);
      EXPECT_NE(checksum(bytes), sum);
      bytes[i] ^= static_cast<char>(1 << bit);
    }
  EXPECT_NE(checksum(bytes + '\0'), sum);
}

}  // namespace
}  // namespace pando
