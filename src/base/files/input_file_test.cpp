#include "base/files/input_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/files/testing.h"

namespace pando {
namespace {

struct Input : InFreshFolder {
  std::string content;
  std::string read(const std::string& name, std::uint64_t most = 100) { return read_input_file(name, content, most); }
};

TEST_F(Input, RegularFilesAreReadWhole) {
  std::string text = "two\nlines";
  text += '\0';
  std::ofstream(root / "file", std::ios::binary) << text;
  std::filesystem::create_symlink(root / "file", root / "link");
  for (const char* name : {"file", "link"}) {
    EXPECT_EQ(read(root / name, 10), "");
    EXPECT_EQ(content, text);
    EXPECT_EQ(why_unreadable(root / name, 10), "");
  }
  EXPECT_EQ(read(root / "file", 9), "it has 10 bytes; at most 9 are read");
  EXPECT_EQ(read(root / "none"), "No such file or directory");
}

// None of them keeps anybody waiting, or fills the memory.
TEST_F(Input, WhatIsNoRegularFileIsRejected) {
  ASSERT_EQ(::mkfifo((root / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(read(root / "fifo"), "it is no regular file");
  EXPECT_EQ(read("/dev/zero"), "it is no regular file");
  EXPECT_EQ(read("/dev/null"), "it is no regular file");
  EXPECT_EQ(read(root), "it is a folder");
  EXPECT_EQ(why_unreadable("/dev/zero", 100), "it is no regular file");
}

TEST_F(Input, DescriptorsOfTheProcessMayBePipes) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  ASSERT_EQ(::write(pipe[1], "piped", 5), 5);
  ::close(pipe[1]);
  EXPECT_EQ(read("/dev/fd/" + std::to_string(pipe[0])), "");
  EXPECT_EQ(content, "piped");
  ::close(pipe[0]);
  ASSERT_EQ(::pipe(pipe), 0);
  ASSERT_EQ(::write(pipe[1], "longer than that", 16), 16);
  ::close(pipe[1]);
  EXPECT_EQ(read("/dev/fd/" + std::to_string(pipe[0]), 7), "it has more than 7 bytes");
  ::close(pipe[0]);
}

}  // namespace
}  // namespace pando
