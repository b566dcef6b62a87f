// What the tests of the library share: a folder with a cache, sources that popc compiles, tiles' memory made by hand.
#pragma once

#include "codelet/library.h"
#include "codelet/popc/popc_process.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "codelet/foreign_call.h"
#include "codelet/runtime/tile_context.h"
#include "codelet/store/gp_file.h"
#include "poplar/exceptions.hpp"

namespace pando {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr, ::testing::AllOf;
using ::testing::IsEmpty;

// So many bytes that look like nothing in particular, the same each time.
inline std::vector<unsigned char> some_bytes(std::size_t count) {
  static const std::vector<unsigned char> all = [] {
    std::vector<unsigned char> bytes(1 << 17);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>((i * 37 + i / 7 * 11) % 61);
    return bytes;
  }();
  EXPECT_LE(count, all.size());
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

// A folder of its own with a cache in it, gone at the end of the test.
class LibraryTest : public ::testing::Test {
 protected:
  LibraryTest() {
    std::string pattern = (fs::temp_directory_path() / "pando-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    popc_ = std::getenv("PANDO_POPC") ? std::getenv("PANDO_POPC") : "";
    setenv("POPLAR_EXECUTABLE_CACHE_DIR", (folder_ / "cache").c_str(), 1);
    tile_context() = TileContext{};
  }
  ~LibraryTest() override {
    setenv("PANDO_POPC", popc_.c_str(), 1);
    fs::remove_all(folder_);
  }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }

  Library compiled(const std::string& text, const std::string& flags = "") {
    Library library;
    library.compile({{}, "#include <poplar/Vertex.hpp>\nusing namespace poplar;\n" + text}, flags, nullptr);
    return library;
  }

  std::string error_of(const std::string& text) {
    try {
      compiled(text);
    } catch (const poplar::graph_program_compilation_error& e) { return e.what(); }
    return "no error";
  }

  fs::path folder_;
  std::string popc_;
};

PANDO_CALLS_CODELETS inline bool run(const Codelet& c, void* first, std::size_t stride, std::uint32_t count) {
  std::uint64_t at = 0;
  return c.kernel(static_cast<char*>(first), stride, count, &at);
}
inline bool run(const Codelet& c, void* vertex) { return run(c, vertex, 0, 1); }

// The memory of some tiles with a module's globals in it.
class Tiles {
 public:
  PANDO_CALLS_CODELETS Tiles(const Library& library, unsigned count) : offsets_(library.modules(), ~std::uint64_t{0}) {
    std::uint64_t end = 0;
    for (std::size_t m = 0; m < library.modules(); ++m) {
      const ModuleGlobals& g = library.module(ModuleId(static_cast<unsigned>(m))).globals;
      if (g.size == 0) continue;
      end = (end + g.align - 1) / g.align * g.align;
      offsets_[m] = end;
      end += g.size;
    }
    for (unsigned t = 0; t < count; ++t) memory_.emplace_back(end / 16 + 64, Line{});
    for (unsigned t = 0; t < count; ++t) {
      enter(t);
      for (std::size_t m = 0; m < library.modules(); ++m)
        if (offsets_[m] != ~std::uint64_t{0})
          library.module(ModuleId(static_cast<unsigned>(m))).globals.initialise(tile_context().base + offsets_[m]);
    }
  }

  void enter(unsigned tile) {
    TileContext& c = tile_context();
    c.base = reinterpret_cast<char*>(memory_[tile].data());
    c.size = memory_[tile].size() * 16;
    c.tile = tile;
    c.tiles = static_cast<unsigned>(memory_.size());
    c.globals = offsets_.data();
  }

 private:
  struct alignas(16) Line {
    char bytes[16];
  };
  std::vector<std::uint64_t> offsets_;
  std::vector<std::vector<Line>> memory_;
};

}  // namespace pando
