#include "base/files/temporary.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "poplar/exceptions.hpp"

namespace pando {
namespace {

namespace fs = std::filesystem;

std::string file_of(pid_t process, const fs::path& folder, int hours_old) {
  const fs::path path = folder / ("pando-process-" + std::to_string(process) + "-abcdef");
  std::ofstream(path) << "left";
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours_old));
  return path;
}

TEST(Temporary, WhatKilledProcessesLeftIsRemoved) {
  const fs::path folder = fs::path(testing::TempDir()) / ("temporary_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  ASSERT_EQ(::waitpid(gone, nullptr, 0), gone);
  const std::string left = file_of(gone, folder, 2), mine = file_of(::getpid(), folder, 2);
  std::ofstream(folder / "pando-process-notes") << "of somebody";
  // A process of its own: the first call removes.
  EXPECT_EXIT(
      {
        setenv("TMPDIR", folder.c_str(), 1);
        const std::string made = temporary_file(".gp");
        const bool good = fs::exists(made) && made.ends_with(".gp") && !fs::exists(left) && fs::exists(mine) &&
                          fs::exists(folder / "pando-process-notes");
        _exit(good ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  file_of(gone, folder, 0);  // too young: a process that cannot be seen may have it
  EXPECT_EXIT(
      {
        setenv("TMPDIR", folder.c_str(), 1);
        temporary_file();
        _exit(fs::exists(left) ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  fs::remove_all(folder);
}

TEST(Temporary, AFolderThatIsNotThereIsNamed) {
  EXPECT_EXIT(
      {
        setenv("TMPDIR", "/none/such", 1);
        try {
          temporary_file();
        } catch (const poplar::no_environment& e) {
          _exit(std::string(e.what()).find("TMPDIR, is '/none/such'") != std::string::npos ? 0 : 1);
        }
        _exit(2);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace pando
