// What the tests of assembled vertices share: a tile's memory with a vertex whose operands lie in it.
#pragma once

#include <span>

#include "codelet/library_test.h"

namespace pando {

class Assembly : public LibraryTest {
 protected:
  Library assembled(const std::string& vertex, const std::string& code, const std::string& flags = "") {
    Library library;
    const std::string cpp = write("v.cpp", "#include <poplar/Vertex.hpp>\nusing namespace poplar;\n" + vertex);
    library.compile({{cpp, write("v.S", code)}, ""}, flags, nullptr);
    return library;
  }
  // What popc says of a file.
  std::string errors_of(const std::string& code) {
    std::ostringstream out;
    Library library;
    EXPECT_THROW(library.compile({{write("wrong.S", code)}, ""}, "", &out), poplar::graph_program_compilation_error);
    return out.str();
  }
};

// A vertex on a tile of 64 KiB. One at a time.
class AssembledVertex {
 public:
  explicit AssembledVertex(const Codelet& c) : codelet_(c), memory_(kTile / 16), bytes_(c.host_size / 16 + 2) {
    TileContext& context = tile_context();
    context.base = reinterpret_cast<char*>(memory_.data());
    context.size = kTile;
    end_ = 0;
  }
  // Elements of an edge, in the tile's memory.
  template <class T>
  std::span<T> edge(const char* name, std::size_t count) {
    const std::span<T> out = take<T>(count);
    const VectorEdge edge{out.data(), count};
    const Field* f = codelet_.find_field(name);
    std::memcpy(data() + f->host_offset, &edge, f->host_size);
    return out;
  }
  template <class T>
  std::span<T> take(std::size_t count) {
    end_ = (end_ + 31) / 16 * 16;
    T* at = reinterpret_cast<T*>(reinterpret_cast<char*>(memory_.data()) + end_);
    end_ += count * sizeof(T);
    EXPECT_LE(end_, kTile);
    return {at, count};
  }
  void set(const char* name, const void* value, std::size_t bytes) {
    std::memcpy(data() + codelet_.find_field(name)->host_offset, value, bytes);
  }
  template <class T>
  AssembledVertex& state(const char* name, T value) {
    set(name, &value, sizeof value);
    return *this;
  }
  PANDO_CALLS_CODELETS bool run() {
    std::uint64_t at = 0;
    return codelet_.kernel(data(), 0, 1, &at);
  }
  PANDO_CALLS_CODELETS std::uint64_t run_counted(bool* result = nullptr) {
    std::uint64_t at = 0, cycles = 0;
    const bool all = codelet_.counted(data(), 0, 1, &at, &cycles);
    if (result) *result = all;
    return cycles;
  }
  char* data() { return reinterpret_cast<char*>(bytes_.data()); }

 private:
  struct alignas(16) Line {
    char bytes[16];
  };
  static constexpr std::size_t kTile = 65536;
  const Codelet& codelet_;
  std::vector<Line> memory_, bytes_;
  std::size_t end_ = 0;
};

}  // namespace pando
