// The memory of all tiles of all replicas.
//
// One lazily committed mapping per replica; tile t's byte o lies at base + t * stride + o. The stride is an odd number of pages,
// so that the same offset of neighbouring tiles does not fall into the same cache sets. A tile that is not used costs nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "codelet/library.h"
#include "tile/program.h"

namespace pando::exec {

// Anonymous, lazily committed, zeroed bytes.
class Mapping {
 public:
  Mapping() = default;
  // Throws stream_memory_allocation_error, naming `what`, if the host has no such address space.
  Mapping(std::uint64_t bytes, const char* what);
  ~Mapping();
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  char* data() const { return data_; }
  std::uint64_t size() const { return size_; }

 private:
  char* data_ = nullptr;
  std::uint64_t size_ = 0;
};

class TileMemory {
 public:
  // `whole_tiles`: codelets may touch any byte of their tile, so each has all of it; otherwise only its used bytes. Throws
  // stream_memory_allocation_error if the host has no such address space, or less memory than the program is known to touch
  // (touched_memory.h): reserved ranges and images cost what is used of them.
  TileMemory(const tile::Program& program, const Library& library, bool whole_tiles);
  TileMemory(const TileMemory&) = delete;
  TileMemory& operator=(const TileMemory&) = delete;

  char* base(unsigned replica) const { return replicas_[replica].data(); }
  char* tile(unsigned replica, TileId t) const { return base(replica) + t.index() * stride_; }
  char* at(unsigned replica, TileId t, std::uint64_t offset) const { return tile(replica, t) + offset; }
  std::uint64_t stride() const { return stride_; }
  // Bytes of a tile that codelets may touch.
  std::uint64_t tile_size() const { return tile_size_; }

  // The images again, as after construction.
  void reset_images(unsigned replica, TileId tile);

 private:
  const tile::Program& program_;
  std::uint64_t tile_size_ = 0;
  std::uint64_t stride_ = 0;
  std::vector<Mapping> replicas_;
};

}  // namespace pando::exec
