// The program of a session: interpreters on tiles, and the steps by which they get commands, exchange and answer.
//
//   step:    command in; act; while some may go on { plan; move a window; go on }; what the session has to know out
//   seats:   who is selected
//   data:    __tiledata
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <poplar/Engine.hpp>

#include "ontile/host_python.h"

namespace pando::ontile {

struct MachineShape {
  unsigned ipus = 1;
  unsigned tiles_per_ipu = 0;     // of the machine
  unsigned tiles = 0;             // interpreters, on tiles 0 to tiles - 1
  std::uint32_t data_bytes = 0;   // of a tile
  std::uint32_t disk_blocks = 0;  // of a tile
  std::uint32_t lent_blocks = 0;  // of a tile, to others
};

// Slots and groups of the exchange (protocol.h).
struct ExchangeMode {
  std::uint32_t slot, group;
};
std::vector<ExchangeMode> exchange_modes(const MachineShape& shape);

enum SessionProgram { kStepProgram, kSeatsProgram, kDataProgram };

// Compiled, or from the user's store if it was made of the same; then `cached` is set.
poplar::Executable session_executable(const MachineShape& shape, const poplar::Target& target, const BootedImage& image, bool* cached);

}  // namespace pando::ontile
