#include "base/files/private_files.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/files/testing.h"

namespace pando {
namespace {

namespace fs = std::filesystem;

using PrivateFiles = InFreshFolder;

// To another user: only the root of a system that has others may; that of a user namespace has none.
bool give_away(const fs::path& path) { return ::geteuid() == 0 && ::chown(path.c_str(), 65534, 65534) == 0; }

// Codelets, executables and Python's machine are kept in no other way.
TEST_F(PrivateFiles, AFullDiskKeepsTheOldFileAndNothingElse) {
  const fs::path file = root / "file";
  ASSERT_EQ(write_private_file(file, "old"), "");
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before = {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full = {1000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &full);
  const std::string why = write_private_file(file, std::string(5000, 'n')),
                    why_new = write_private_file(root / "new", std::string(5000, 'n'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_NE(why.find("cannot write " + file.string() + ": "), std::string::npos) << why;
  EXPECT_NE(why_new, "");
  EXPECT_EQ(read_private_file(file), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(PrivateFiles, WhateverTheUmask) {
  for (const mode_t mask : {0000, 0022, 0077, 0177}) {
    ::umask(mask);
    const fs::path file = root / std::to_string(mask) / "deep" / "file";
    EXPECT_EQ(write_private_file(file, "text"), "");
    EXPECT_EQ(mode(file), 0600u) << mask;
    EXPECT_EQ(mode(file.parent_path()), 0700u) << mask;
    EXPECT_EQ(mode(file.parent_path().parent_path()), 0700u) << mask;
    EXPECT_EQ(read_private_file(file), "text");
  }
}

TEST_F(PrivateFiles, PlantedOnesAreNotRead) {
  const fs::path file = root / "file", link = root / "link", fifo = root / "fifo";
  ASSERT_EQ(write_private_file(file, "text"), "");
  fs::create_symlink(file, link);
  EXPECT_EQ(read_private_file(link), std::nullopt);
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(read_private_file(fifo), std::nullopt);
  EXPECT_EQ(read_private_file("/dev/zero"), std::nullopt);
  EXPECT_EQ(read_private_file(root / "none"), std::nullopt);
  EXPECT_EQ(read_private_file(root), std::nullopt);
  for (const mode_t open : {0620, 0602, 0666}) {
    ::chmod(file.c_str(), open);
    EXPECT_EQ(read_private_file(file), std::nullopt) << open;
  }
  ::chmod(file.c_str(), 0644);
  EXPECT_EQ(read_private_file(file), "text");
  if (give_away(file)) { EXPECT_EQ(read_private_file(file), std::nullopt); }
}

TEST_F(PrivateFiles, NorFromFoldersThatOthersCanChange) {
  const fs::path file = root / "a" / "b" / "file";
  ASSERT_EQ(write_private_file(file, "text"), "");
  for (const fs::path& folder : {file.parent_path(), file.parent_path().parent_path()}) {
    for (const mode_t open : {0770, 0707, 0777}) {
      ::chmod(folder.c_str(), open);
      EXPECT_EQ(read_private_file(file), std::nullopt) << folder << ' ' << open;
      EXPECT_NE(write_private_file(file, "new"), "") << folder << ' ' << open;
    }
    ::chmod(folder.c_str(), 0755);
    EXPECT_EQ(read_private_file(file), "text");
  }
  ::chmod((root / "a").c_str(), 01777);  // as /tmp is
  EXPECT_EQ(read_private_file(file), "text");
  if (!give_away(root / "a")) return;
  EXPECT_EQ(read_private_file(file), std::nullopt);
}

TEST_F(PrivateFiles, NothingHalfWrittenStays) {
  const fs::path folder = root / "folder";
  fs::create_directories(folder / "file");  // a folder in its place: the rename fails
  EXPECT_NE(write_private_file(folder / "file", "text"), "");
  std::size_t entries = 0;
  for (const auto& entry : fs::directory_iterator(folder)) entries += !entry.path().empty();
  EXPECT_EQ(entries, 1u);
  std::ofstream(root / "taken") << "a file";
  EXPECT_NE(write_private_file(root / "taken" / "x", "text"), "");
  EXPECT_NE(write_private_file("/proc/none/x", "text"), "");
}

}  // namespace
}  // namespace pando
