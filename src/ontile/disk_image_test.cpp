#include "ontile/disk_image.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <poplar/exceptions.hpp>

#include "ontile/protocol.h"

namespace pando::ontile {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Folder {
  std::filesystem::path path = std::filesystem::path(testing::TempDir()) / testing::UnitTest::GetInstance()->current_test_info()->name();
  Folder() {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char* name) const { return path / name; }
};

std::string block_of(char c) { return std::string(kBlockBytes, c); }

std::string content(const DiskImage& image) {
  std::string out;
  image.each_block([&](std::uint32_t tile, std::uint32_t block, std::string_view bytes) { out += fmt::format("{}:{}{} ", tile, block, bytes[9]); });
  return out;
}

TEST(DiskImage, KeepsBlocksOfEachTile) {
  const Folder folder;
  {
    DiskImage image(folder.file("disk"), 8);
    EXPECT_EQ(image.blocks(), 16u);
    image.put(1000, 15, block_of('b'));
    image.put(0, 3, block_of('a'));
    image.write_back();
    image.put(0, 3, block_of('c'));
    image.write_back();
  }
  EXPECT_FALSE(std::filesystem::exists(folder.file("disk.new")));
  EXPECT_EQ(std::filesystem::file_size(folder.file("disk")), 64 + 2 * 16 + 3 * 520);
  const DiskImage again(folder.file("disk"), 0);
  EXPECT_EQ(again.kib(), 8u);
  EXPECT_EQ(content(again), "0:3c 1000:15b ");
}

TEST(DiskImage, ACutOffWriteIsNone) {
  const Folder folder;
  const std::string whole = folder.file("whole"), cut = folder.file("cut");
  std::uintmax_t first = 0;
  {
    DiskImage image(whole, 8);
    image.put(0, 0, block_of('a'));
    image.write_back();
    first = std::filesystem::file_size(whole);
    image.put(0, 0, block_of('b'));
    image.put(1, 1, block_of('b'));
    image.write_back();
  }
  const std::uintmax_t all = std::filesystem::file_size(whole);
  for (std::uintmax_t size = first; size <= all; size += size + 60 < all ? 29 : 1) {
    std::filesystem::copy_file(whole, cut, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(cut, size);
    EXPECT_EQ(content(DiskImage(cut, 0)), size == all ? "0:0b 1:1b " : "0:0a ") << size;
  }
  // The rest of it does no harm.
  std::filesystem::resize_file(cut, all - 1);
  {
    DiskImage image(cut, 0);
    image.put(2, 2, block_of('c'));
    image.write_back();
  }
  EXPECT_EQ(content(DiskImage(cut, 0)), "0:0a 2:2c ");
}

TEST(DiskImage, IsWrittenAnewWhenMostIsOfThePast) {
  const Folder folder;
  {
    DiskImage image(folder.file("disk"), 64);
    for (int i = 0; i < 300; ++i) {
      for (std::uint32_t tile = 0; tile < 10; ++tile) image.put(tile, 0, block_of(static_cast<char>('a' + i % 26)));
      image.write_back();
    }
  }
  EXPECT_LT(std::filesystem::file_size(folder.file("disk")), 1100u * 1024);
  EXPECT_THAT(content(DiskImage(folder.file("disk"), 0)), testing::StartsWith("0:0n 1:0n 2:0n "));
}

TEST(DiskImage, NewOnesHaveADefaultSize) {
  const Folder folder;
  EXPECT_EQ(DiskImage(folder.file("disk"), 0).kib(), DiskImage::kDefaultKib);
  EXPECT_EQ(DiskImage(folder.file("disk"), 0).kib(), DiskImage::kDefaultKib);
  EXPECT_EQ(DiskImage("", 16).kib(), 16u);
}

TEST(DiskImage, RefusesOtherFilesAndSizes) {
  const Folder folder;
  std::ofstream(folder.file("text")) << "no disk";
  EXPECT_THAT([&] { DiskImage(folder.file("text"), 0); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("is no image of tiles' disks")));
  DiskImage used(folder.file("disk"), 8);
  EXPECT_THAT([&] { DiskImage(folder.file("disk"), 8); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("in use by another session")));
  { DiskImage(folder.file("other"), 8); }
  EXPECT_THAT([&] { DiskImage(folder.file("other"), 16); }, ThrowsMessage<poplar::invalid_option>(HasSubstr("holds disks of 8 KiB, not of 16")));
  EXPECT_THAT([&] { DiskImage(folder.file("new"), 2); }, ThrowsMessage<poplar::invalid_option>(HasSubstr("4 to 192 KiB, not 2")));
  EXPECT_THAT([&] { DiskImage(folder.file("none/disk"), 8); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("none/disk.new")));
}

}  // namespace
}  // namespace pando::ontile
