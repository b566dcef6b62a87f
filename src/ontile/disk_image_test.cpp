#include "ontile/disk_image.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <poplar/exceptions.hpp>

#include "ontile/protocol.h"

namespace pando::ontile {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// In memory, where the host has a folder there: thousands of images are written to the disk each time.
struct Folder {
  std::filesystem::path path = std::filesystem::path(std::filesystem::exists("/dev/shm") ? "/dev/shm" : testing::TempDir()) /
                               fmt::format("{}_{}", testing::UnitTest::GetInstance()->current_test_info()->name(), ::getpid());
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
  image.each_block(
      [&](std::uint32_t tile, std::uint32_t block, std::string_view bytes) { out += fmt::format("{}:{}{} ", tile, block, bytes[9]); });
  return out;
}

// The disk of the host is full: files can grow to `bytes` and no further, while this lives.
struct FullDisk {
  rlimit before = {};
  explicit FullDisk(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before);
    const rlimit now = {bytes, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  ~FullDisk() { ::setrlimit(RLIMIT_FSIZE, &before); }
};

TEST(DiskImage, AFullDiskLeavesNothingHalfWritten) {
  const Folder folder;
  const std::string path = folder.file("disk");
  {
    const FullDisk full(16);
    EXPECT_THAT([&] { DiskImage(path, 8); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("cannot write")));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path));
  }
  DiskImage image(path, 8);
  image.put(0, 3, block_of('a'));
  image.write_back();
  const auto size = std::filesystem::file_size(path);
  for (const std::uint32_t blocks : {4u, 5u, 6u}) image.put(1, blocks, block_of('b'));
  {
    const FullDisk full(size + kBlockBytes);
    EXPECT_THAT([&] { image.write_back(); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("cannot write")));
  }
  EXPECT_EQ(std::filesystem::file_size(path), size);
  image.write_back();  // there is room again: nothing of it was lost
  EXPECT_EQ(content(image), "0:3a 1:4b 1:5b 1:6b ");
  EXPECT_GT(std::filesystem::file_size(path), size + 3 * kBlockBytes);
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
  EXPECT_EQ(std::filesystem::file_size(folder.file("disk")), 64 + 2 * 40 + 3 * 520);
  const DiskImage again(folder.file("disk"), 0);
  EXPECT_EQ(again.kib(), 8u);
  EXPECT_EQ(content(again), "0:3c 1000:15b ");
}

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Of so many groups, of 1, 2, 3 ... blocks.
std::string image_of(const Folder& folder, std::uint32_t groups) {
  const std::string file = folder.file("whole");
  std::filesystem::remove(file);
  DiskImage image(file, 8);
  for (std::uint32_t group = 0; group < groups; ++group) {
    for (std::uint32_t tile = 0; tile <= group; ++tile) image.put(tile, group, block_of(static_cast<char>('a' + group)));
    image.write_back();
  }
  return bytes_of(file);
}

// What an image of so many groups holds, and how long it is.
constexpr const char* kHeld[] = {"", "0:0a ", "0:0a 0:1b 1:1b ", "0:0a 0:1b 0:2c 1:1b 1:2c 2:2c "};
constexpr std::size_t kLength[] = {64, 64 + 560, 64 + 560 + 1080, 64 + 560 + 1080 + 1600};

// Opens an image of these bytes and writes to it. "rejected": as damaged, and it is as it was; else what it held, and after it "cut" if
// something was cut off, which is then whole in the file beside it.
std::string held_by(const Folder& folder, const std::string& bytes) {
  const std::string file = folder.file("copy"), tail = file + ".tail";
  std::filesystem::remove(tail);
  std::ofstream(file, std::ios::binary) << bytes;
  try {
    DiskImage image(file, 0);
    const std::string held = content(image), kept = bytes_of(file);
    const bool cut = !image.notice().empty();
    EXPECT_EQ(cut, std::filesystem::exists(tail));
    EXPECT_TRUE(kept + bytes_of(tail) == bytes) << "something is neither in the image nor beside it";
    if (cut) EXPECT_THAT(image.notice(), HasSubstr(tail));
    image.put(7, 7, block_of('z'));
    image.write_back();
    EXPECT_TRUE(bytes_of(file).starts_with(kept));
    return held + (cut ? "cut" : "");
  } catch (const poplar::file_load_error& error) {
    EXPECT_THAT(error.what(), testing::AnyOf(HasSubstr("is damaged: "), HasSubstr("is no image"), HasSubstr("an earlier version")));
    EXPECT_TRUE(bytes_of(file) == bytes) << "what was rejected was written";
    EXPECT_FALSE(std::filesystem::exists(tail));
    return "rejected";
  }
}

// What the user has not been told about is as it was: the whole image, or an error, or a cut that is said.
TEST(DiskImage, AFlippedBitAnywhereIsRejected) {
  const Folder folder;
  for (std::uint32_t groups = 1; groups <= 3; ++groups) {
    const std::string whole = image_of(folder, groups);
    ASSERT_EQ(whole.size(), kLength[groups]);
    EXPECT_EQ(held_by(folder, whole), kHeld[groups]);
    for (std::size_t at = 0; at < whole.size(); ++at)
      for (int bit = static_cast<int>(at % 5); bit < 8; bit += 5) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ 1 << bit);
        EXPECT_EQ(held_by(folder, bytes), "rejected") << "bit " << bit << " of byte " << at << " of " << groups << " groups";
      }
  }
}

TEST(DiskImage, AZeroedPieceIsRejected) {
  const Folder folder;
  for (std::uint32_t groups = 1; groups <= 3; ++groups) {
    const std::string whole = image_of(folder, groups);
    for (const std::size_t page : {64u, 512u, 4096u})
      for (std::size_t at = 0; at < whole.size(); at += page) {
        std::string bytes = whole;
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), std::min(page, bytes.size() - at), '\0');
        EXPECT_EQ(held_by(folder, bytes), "rejected") << page << " bytes from " << at << " of " << groups << " groups";
      }
    EXPECT_EQ(held_by(folder, whole + std::string(100, '\0')), "rejected");
    EXPECT_EQ(held_by(folder, whole + '\0'), "rejected");
  }
}

TEST(DiskImage, OfAGroupThatIsCutOffTheBeginningIsKeptBesideTheImage) {
  const Folder folder;
  for (std::uint32_t groups = 1; groups <= 3; ++groups) {
    const std::string whole = image_of(folder, groups);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      std::uint32_t before = 0;
      while (before < groups && kLength[before + 1] <= size) ++before;
      const bool is_whole = size == kLength[before];
      const std::string held = size < kLength[0] ? "rejected" : kHeld[before] + std::string(is_whole ? "" : "cut");
      EXPECT_EQ(held_by(folder, whole.substr(0, size)), held) << size << " bytes of " << groups << " groups";
    }
  }
}

TEST(DiskImage, EachTailHasAFileOfItsOwn) {
  const Folder folder;
  const std::string whole = image_of(folder, 2), file = folder.file("copy");
  for (const char* tail : {"copy.tail", "copy.tail2", "copy.tail3"}) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, whole.size() - 10);
    EXPECT_THAT(DiskImage(file, 0).notice(), HasSubstr(tail));
    EXPECT_EQ(std::filesystem::file_size(folder.file(tail)), 1070u);
  }
  // It cannot be kept: the image stays as it is.
  std::ofstream(file, std::ios::binary) << whole.substr(0, whole.size() - 10);
  {
    const FullDisk full(100);
    EXPECT_THAT([&] { DiskImage(file, 0); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("cannot write")));
  }
  EXPECT_EQ(std::filesystem::file_size(file), whole.size() - 10);
  EXPECT_FALSE(std::filesystem::exists(folder.file("copy.tail4")));
}

TEST(DiskImage, GroupsThatAreGoneOrMovedAreDamage) {
  const Folder folder;
  const std::string whole = image_of(folder, 3);
  const std::string head = whole.substr(0, 64), first = whole.substr(64, 560), second = whole.substr(kLength[1], 1080),
                    third = whole.substr(kLength[2]);
  EXPECT_EQ(held_by(folder, head + first + second + third), kHeld[3]);
  EXPECT_EQ(held_by(folder, head + first + third), "rejected");
  EXPECT_EQ(held_by(folder, head + second), "rejected");
  EXPECT_EQ(held_by(folder, head + first + first), "rejected");
  EXPECT_EQ(held_by(folder, head + second + first + third), "rejected");
  EXPECT_EQ(held_by(folder, head + std::string(560, '\0') + second), "rejected");
  EXPECT_EQ(held_by(folder, head + first + second.substr(0, 700) + third), "rejected");
}

TEST(DiskImage, IsAFileOfTheUserAlone) {
  const Folder folder;
  const std::string file = folder.file("disk");
  { DiskImage(file, 8); }
  const auto mode = [&] { return std::filesystem::status(file).permissions(); };
  using std::filesystem::perms;
  EXPECT_EQ(mode(), perms::owner_read | perms::owner_write);
  std::filesystem::permissions(file, perms::owner_read | perms::owner_write | perms::group_read);
  {
    DiskImage image(file, 8);
    for (int i = 0; i < 2500; ++i) {
      image.put(0, 0, block_of('a'));
      image.write_back();
    }
  }
  EXPECT_LT(std::filesystem::file_size(file), 1100u * 1024) << "it was not written anew";
  EXPECT_EQ(mode(), perms::owner_read | perms::owner_write | perms::group_read);
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  EXPECT_THAT([&] { DiskImage(folder.file("fifo"), 8); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("is no file")));
  EXPECT_THAT([] { DiskImage("/dev/zero", 8); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("is no file")));
  std::ofstream(folder.file("precious")) << "kept";
  std::filesystem::create_symlink(folder.file("precious"), folder.file("new.new"));
  EXPECT_THROW(DiskImage(folder.file("new"), 8), poplar::file_load_error);
  EXPECT_EQ(bytes_of(folder.file("precious")), "kept");
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

TEST(DiskImage, RejectsOtherFilesAndSizes) {
  const Folder folder;
  std::ofstream(folder.file("text")) << "no disk";
  EXPECT_THAT([&] { DiskImage(folder.file("text"), 0); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("is no image of tiles' disks")));
  DiskImage used(folder.file("disk"), 8);
  EXPECT_THAT([&] { DiskImage(folder.file("disk"), 8); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("in use by another session")));
  { DiskImage(folder.file("other"), 8); }
  EXPECT_THAT([&] { DiskImage(folder.file("other"), 16); },
              ThrowsMessage<poplar::invalid_option>(HasSubstr("holds disks of 8 KiB, not of 16")));
  EXPECT_THAT([&] { DiskImage(folder.file("new"), 2); }, ThrowsMessage<poplar::invalid_option>(HasSubstr("4 to 192 KiB, not 2")));
  EXPECT_THAT([&] { DiskImage(folder.file("none/disk"), 8); }, ThrowsMessage<poplar::file_load_error>(HasSubstr("none/disk.new")));
}

}  // namespace
}  // namespace pando::ontile
