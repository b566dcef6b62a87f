// An interpreter in the host's own memory: what tiles' images are made of, and who answers what is the same on every tile.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace pando::ontile {

// A booted interpreter's memory: the tile's first bytes, and what begins at kInterpreterBegin.
struct BootedImage {
  std::string header, memory;
};

class HostPython {
 public:
  // As on a tile of so many bytes. Throws poplar_error if the interpreter does not start there.
  explicit HostPython(std::uint64_t tile_bytes);

  BootedImage image();
  // Whether a prompt would run `source`, or go on with "...".
  bool is_complete(std::string_view source);

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  void boot();

  std::uint64_t bytes_;
  std::unique_ptr<char, Free> memory_;
};

}  // namespace pando::ontile
