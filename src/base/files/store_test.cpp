#include "base/files/store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "base/files/private_files.h"

namespace pando {
namespace {

namespace fs = std::filesystem;

struct StoreTest : testing::Test {
  fs::path root = fs::path(testing::TempDir()) / ("store_" + std::to_string(::getpid()));
  StoreTest() {
    fs::remove_all(root);
    fs::create_directories(root);
    ::chmod(root.c_str(), 0700);
  }
  ~StoreTest() override { fs::remove_all(root); }
};

TEST_F(StoreTest, FindsWhatWasPutWithTheSameKey) {
  const Store store(root / "part", "things are");
  EXPECT_EQ(store.find("a", "made of x"), std::nullopt);
  EXPECT_TRUE(store.put("a", "content\nof two lines", "made of x"));
  EXPECT_EQ(store.find("a", "made of x"), "content\nof two lines");
  EXPECT_EQ(store.find("a", "made of"), std::nullopt);
  EXPECT_EQ(store.find("a", "made of x and y"), std::nullopt);
  EXPECT_EQ(store.find("b", "made of x"), std::nullopt);
  EXPECT_TRUE(store.put("a", "", "made of y"));
  EXPECT_EQ(store.find("a", "made of y"), "");
  EXPECT_EQ(store.find("a", "made of x"), std::nullopt);
  EXPECT_TRUE(store.put("without key", "text"));
  EXPECT_EQ(store.find("without key"), "text");
  EXPECT_EQ(store.find("without key", "text"), std::nullopt);
}

TEST_F(StoreTest, BelievesTheUserAlone) {
  const Store store(root / "part", "things are");
  ASSERT_TRUE(store.put("a", "text", "key"));
  ::chmod((root / "part" / "a").c_str(), 0666);
  EXPECT_EQ(store.find("a", "key"), std::nullopt);
}

TEST_F(StoreTest, WorksWithoutAPlace) {
  testing::internal::CaptureStderr();
  ASSERT_EQ(write_private_file(root / "taken", "a file where a folder is meant"), "");
  const Store nowhere(std::nullopt, "tests of no place are"), taken(root / "taken", "tests of a taken place are");
  for (int i = 0; i < 2; ++i)
    for (const Store& store : {nowhere, taken}) {
      EXPECT_FALSE(store.put("a", "text"));
      EXPECT_EQ(store.find("a"), std::nullopt);
    }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("tests of no place are not kept for later runs: neither XDG_CACHE_HOME nor HOME is set\n"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("tests of a taken place are"), text.rfind("tests of a taken place are")) << text;
}

TEST_F(StoreTest, WritersAtOneTimeLeaveWholeEntries) {
  const Store store(root, "things are");
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'e'; ++c)
    writers.emplace_back([&store, c] {
      for (int i = 0; i < 50; ++i) store.put("entry", std::string(10000, c), "key");
    });
  for (int i = 0; i < 200; ++i)
    if (const auto content = store.find("entry", "key")) EXPECT_EQ(*content, std::string(10000, content->empty() ? 'x' : content->front()));
  for (std::thread& w : writers) w.join();
}

TEST_F(StoreTest, TheFirstVariableThatIsSetSaysWhere) {
  const char* const names[] = {"POPLAR_EXECUTABLE_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::optional<std::string>> before;
  for (const char* name : names) {
    const char* value = std::getenv(name);
    before.push_back(value ? std::optional<std::string>(value) : std::nullopt);
    ::setenv(name, (root / name).c_str(), 1);
  }
  const fs::path places[] = {root / names[0], root / names[1] / "pando", root / names[2] / ".cache" / "pando"};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(Store::of_user("part", "things are").put("a", "text"));
    EXPECT_EQ(read_private_file(places[i] / "part" / "a"), "text");
    ::setenv(names[i], "", 1);
  }
  for (std::size_t i = 0; i < 3; ++i) before[i] ? ::setenv(names[i], before[i]->c_str(), 1) : ::unsetenv(names[i]);
}

}  // namespace
}  // namespace pando
