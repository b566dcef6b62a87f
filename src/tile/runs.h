// Moves as runs of bytes: how two are joined into one, and which one a strided move's is.
#pragma once

#include <cstdint>

#include "tile/program.h"

namespace pando::tile {

// Bytes from one place to another; whose places these are, the caller knows.
struct Run {
  std::uint64_t source = 0, destination = 0;
  std::uint32_t bytes = 0;
};

// Does `next` begin where `run` ends, at both ends, and can one run be as long as both?
inline bool continues(const Run& run, const Run& next) {
  return run.source + run.bytes == next.source && run.destination + run.bytes == next.destination &&
         std::uint64_t{run.bytes} + next.bytes <= ~std::uint32_t{0};
}

// The one at `index` of a move that has `count` runs.
inline Run run_of(const Run& first, std::int64_t source_step, std::int64_t destination_step, std::uint32_t index) {
  const auto i = static_cast<std::int64_t>(index);
  return {first.source + static_cast<std::uint64_t>(source_step * i), first.destination + static_cast<std::uint64_t>(destination_step * i),
          first.bytes};
}
inline Move run_of(const Move& m, std::uint32_t index) {
  const Run run = run_of({m.source, m.destination, m.bytes}, m.source_step, m.destination_step, index);
  return {m.source_tile, m.destination_tile, run.source, run.destination, run.bytes};
}

}  // namespace pando::tile
