// The memory that assembled code of workers sees (docs/assembly.md): addresses of 32 bits.
//
//   0x01000  code and constants of the program
//   0x40000  the window: the vertex's state, then the worker's stack and scratch. Each thread has one
//   0x4c000  the tile's memory, from its first byte on
#pragma once

#include <cstdint>

#include "pando/device_runtime.h"

namespace pando {

inline constexpr std::uint32_t kCodeAddress = 0x1000;
inline constexpr std::uint32_t kWindowAddress = 0x40000;
inline constexpr std::uint32_t kTileAddress = 0x4c000;
inline constexpr std::uint32_t kWindowBytes = kTileAddress - kWindowAddress;
inline constexpr std::uint32_t kWorkerBase = 0x4a000;  // the stack is below, scratch above

// Offsets in PandoWorkerMemory.
inline constexpr std::uint32_t kWeightsOffset = 16;
inline constexpr std::uint32_t kSharedRegistersOffset = kWeightsOffset + 64 * 8;
inline constexpr std::uint32_t kAccumulatorsOffset = kSharedRegistersOffset + 128 * 4;
inline constexpr std::uint32_t kControlOffset = kAccumulatorsOffset + 32 * 4;
inline constexpr std::uint32_t kWindowOffset = kControlOffset + 16 * 4;

inline constexpr std::uint32_t kAccessWrites = 0x100;  // in worker_address's `access`, beside the number of bytes

// How a field of a vertex lies in its state on a tile.
enum class StateForm : std::uint8_t { bytes, pointer, span, short_span, scaled_pointer, list };

struct StateField {
  std::uint32_t host_offset = 0;
  std::uint32_t offset = 0;  // on the tile
  std::uint32_t bytes = 0;   // of a number; of an element
  StateForm form = StateForm::bytes;
  StateForm rows = StateForm::bytes;  // of a vector of vectors: of its rows; else bytes
  std::uint8_t shift = 0;             // scaled pointers count units of 1 << shift bytes; so do rows of lists
  std::uint8_t is_edge = 0;           // 2: of one element, whose address is all there is
};
static_assert(sizeof(StateField) == 16);

// Entries of the runtime table (device_runtime.h).
PandoWorkerMemory* begin_worker(const void* vertex, const void* fields, unsigned count);
void end_worker(void* vertex, const void* fields, unsigned count);
void* worker_address(unsigned address, unsigned access, const char* where, const void* code, unsigned code_bytes);
// What lies elsewhere on the host (locals of a codelet, constants) gets a piece of addresses around it.
unsigned tile_address(const void* host);
void* host_address(unsigned tile);

}  // namespace pando
