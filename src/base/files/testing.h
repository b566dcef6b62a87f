// For tests of files: a fresh folder, and what is in it.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>

namespace pando {

struct InFreshFolder : testing::Test {
  std::filesystem::path root = std::filesystem::path(testing::TempDir()) / ("files_" + std::to_string(::getpid()));
  mode_t umask_before = ::umask(022);
  InFreshFolder() {
    std::filesystem::remove_all(root);
    std::filesystem::create_directories(root);
    ::chmod(root.c_str(), 0700);
  }
  ~InFreshFolder() override {
    ::umask(umask_before);
    std::filesystem::remove_all(root);
  }
  static mode_t mode(const std::filesystem::path& path) {
    struct stat about = {};
    EXPECT_EQ(::lstat(path.c_str(), &about), 0) << path;
    return about.st_mode & 07777;
  }
  std::ptrdiff_t entries() const { return std::distance(std::filesystem::directory_iterator(root), std::filesystem::directory_iterator()); }
};

}  // namespace pando
