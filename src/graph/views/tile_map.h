// Which tile each element of one variable is on. Set in any order, piece by piece; read as sorted intervals.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/ids.h"
#include "base/interval.h"

namespace pando::graph {

struct MappedInterval {
  Interval elements;
  TileId tile;
  friend bool operator==(const MappedInterval&, const MappedInterval&) = default;
};

// Appending is O(1); the first read after writes sorts them once (a later write wins). Reading is thread-safe.
class TileMap {
 public:
  TileMap() = default;
  TileMap(const TileMap&);
  TileMap& operator=(const TileMap&);
  TileMap(TileMap&&) noexcept;
  TileMap& operator=(TileMap&&) noexcept;

  void set(Interval elements, TileId tile);
  // Before so many calls of set(): throws invalid_tile_mapping if the host has no memory for them.
  void make_room(std::uint64_t sets);
  // All of it at once: sorted and disjoint.
  void assign(const std::vector<MappedInterval>& mapping);
  // Sorted, disjoint; neighbours on one tile are joined. Unmapped elements are absent. The reference stays valid until the next
  // set().
  const std::vector<MappedInterval>& intervals() const;
  bool complete(std::uint64_t elements) const;
  TileId tile_of(std::uint64_t element) const;  // invalid if unmapped

 private:
  mutable std::vector<MappedInterval> sorted_;
  mutable std::vector<MappedInterval> log_;
  mutable std::atomic<bool> written_{false};  // since it was sorted: reading takes no lock otherwise
  mutable std::mutex mutex_;
};

}  // namespace pando::graph
