#include "base/files/output_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/files/testing.h"

namespace pando {
namespace {

namespace fs = std::filesystem;

struct OutputFiles : InFreshFolder {
  static std::string text(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
};

// Writes while a file may have 1000 bytes.
std::string write_on_a_full_disk(const fs::path& path, const std::string& content) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full = {1000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &full);
  std::string why = write_output_file(path, content);
  ::setrlimit(RLIMIT_FSIZE, &before);
  return why;
}

TEST_F(OutputFiles, AFullDiskKeepsTheOldFileAndNothingElse) {
  ASSERT_EQ(write_output_file(root / "file", "old"), "");
  EXPECT_EQ(write_on_a_full_disk(root / "file", std::string(5000, 'n')), "File too large");
  EXPECT_EQ(write_on_a_full_disk(root / "new", std::string(5000, 'n')), "File too large");
  EXPECT_EQ(text(root / "file"), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(OutputFiles, HaveTheModeOfWhatWasThereOrOfANewFile) {
  for (const mode_t mask : {0022, 0077}) {
    ::umask(mask);
    const fs::path file = root / std::to_string(mask);
    ASSERT_EQ(write_output_file(file, "one"), "");
    EXPECT_EQ(mode(file), 0666u & ~mask);
    ::chmod(file.c_str(), 0751);
    ASSERT_EQ(write_output_file(file, "two"), "");
    EXPECT_EQ(mode(file), 0751u);
    EXPECT_EQ(text(file), "two");
  }
}

TEST_F(OutputFiles, LinksStayLinks) {
  ASSERT_EQ(write_output_file(root / "file", "old"), "");
  fs::create_symlink("file", root / "link");
  fs::create_symlink("none", root / "dangling");
  fs::create_hard_link(root / "file", root / "second");
  ASSERT_EQ(write_output_file(root / "link", "new"), "");
  EXPECT_TRUE(fs::is_symlink(root / "link"));
  EXPECT_EQ(text(root / "second"), "new");
  ASSERT_EQ(write_output_file(root / "second", "newer"), "");
  EXPECT_EQ(text(root / "file"), "newer");
  ASSERT_EQ(write_output_file(root / "dangling", "made"), "");
  EXPECT_TRUE(fs::is_symlink(root / "dangling"));
  EXPECT_EQ(text(root / "none"), "made");
  EXPECT_EQ(entries(), 5);
}

TEST_F(OutputFiles, DevicesAndPipesAreWrittenTo) {
  EXPECT_EQ(write_output_file("/dev/null", "text"), "");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(write_output_file("/dev/full", "text"), "No space left on device");
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  const fs::path fifo = root / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = text(fifo); });
  EXPECT_EQ(write_output_file(fifo, "through"), "");
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(fs::is_fifo(fifo));
}

TEST_F(OutputFiles, SayWhyTheyCannotBe) {
  EXPECT_EQ(write_output_file(root / "no" / "file", "text"), "No such file or directory");
  EXPECT_EQ(write_output_file(root, "text"), "Is a directory");
  EXPECT_EQ(write_output_file("", "text"), "No such file or directory");
  EXPECT_EQ(entries(), 0);
}

TEST_F(OutputFiles, WithoutKeepNothingIsLeft) {
  ASSERT_EQ(write_output_file(root / "file", "old"), "");
  {
    OutputFile file(root / "file");
    std::ofstream(file.place()) << "half of it";
    EXPECT_EQ(entries(), 2);
  }
  EXPECT_EQ(text(root / "file"), "old");
  EXPECT_EQ(entries(), 1);
  OutputFile file(root / "file");
  std::ofstream(file.place()) << "new";
  EXPECT_EQ(file.keep(), "");
  EXPECT_EQ(text(root / "file"), "new");
  EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace pando
