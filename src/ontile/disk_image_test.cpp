#include "ontile/disk_image.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

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

TEST(DiskImage, KeepsBlocksOfEachTile) {
  const Folder folder;
  DiskImage image(folder.file("disk"), 8);
  EXPECT_EQ(image.blocks(), 16u);
  image.put(0, 3, block_of('a'));
  image.put(1000, 15, block_of('b'));
  image.write_back();
  EXPECT_FALSE(std::filesystem::exists(folder.file("disk.new")));
  struct stat about = {};
  ASSERT_EQ(::stat(folder.file("disk").c_str(), &about), 0);
  EXPECT_EQ(about.st_size, 4096 + 1001 * 8192);
  EXPECT_LT(about.st_blocks * 512, 100 * 1024) << "it is not sparse";

  const DiskImage again(folder.file("disk"), 0);
  EXPECT_EQ(again.kib(), 8u);
  std::vector<std::string> seen;
  again.each_block([&](std::uint32_t tile, std::uint32_t block, std::string_view bytes) { seen.push_back(std::to_string(tile) + ":" + std::to_string(block) + bytes[9]); });
  EXPECT_THAT(seen, testing::ElementsAre("0:3a", "1000:15b"));
}

TEST(DiskImage, NewOnesHaveADefaultSize) {
  const Folder folder;
  EXPECT_EQ(DiskImage(folder.file("disk"), 0).kib(), DiskImage::kDefaultKib);
  EXPECT_FALSE(std::filesystem::exists(folder.file("disk")));
}

TEST(DiskImage, RefusesOtherFilesAndSizes) {
  const Folder folder;
  std::ofstream(folder.file("text")) << "no disk";
  EXPECT_THAT([&] { DiskImage(folder.file("text"), 0); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("is no image of tiles' disks")));
  DiskImage(folder.file("disk"), 8).write_back();
  EXPECT_THAT([&] { DiskImage(folder.file("disk"), 16); }, ThrowsMessage<poplar::invalid_option>(HasSubstr("holds disks of 8 KiB, not of 16")));
  EXPECT_THAT([&] { DiskImage(folder.file("new"), 2); }, ThrowsMessage<poplar::invalid_option>(HasSubstr("4 to 192 KiB, not 2")));
  EXPECT_THAT([&] { DiskImage(folder.file("none/disk"), 8).write_back(); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("none/disk.new")));
}

}  // namespace
}  // namespace pando::ontile
