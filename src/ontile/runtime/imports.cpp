// What the interpreter asks of the machine: port/host.h from the other side. Addresses that it passes are checked here.
#include "runtime/imports.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "runtime/entry.h"
#include "runtime/python.h"

using Tile = TileInterpreter;

namespace {

PandoPython& python_of(Tile* tile) { return *tile->entry->python; }

}  // namespace

extern "C" {

void Z_hostZ_write(Tile* tile, u32 text, u32 bytes) {
  PandoPython& python = python_of(tile);
  const char* const native = span_of(tile, text, bytes);
  if (!python.host || !python.host->write) return;
  wait_in(tile, [&] { python.host->write(python.context, native, bytes); });
}

u32 Z_hostZ_read(Tile* tile) {
  PandoPython& python = python_of(tile);
  int character = -1;
  if (python.host && python.host->read) wait_in(tile, [&] { character = python.host->read(python.context); });
  return static_cast<u32>(character);
}

u64 Z_hostZ_ticks_us(Tile* tile) {
  PandoPython& python = python_of(tile);
  return python.host && python.host->ticks_us ? python.host->ticks_us(python.context) : 0;
}

u64 Z_hostZ_time_ns(Tile* tile) {
  PandoPython& python = python_of(tile);
  return python.host && python.host->time_ns ? python.host->time_ns(python.context) : 0;
}

u32 Z_hostZ_seed(Tile* tile) {
  PandoPython& python = python_of(tile);
  return python.host && python.host->seed ? python.host->seed(python.context) : 0;
}

u32 Z_hostZ_stack_left(Tile* tile) {
  const char* const here = static_cast<const char*>(__builtin_frame_address(0));
  return here > tile->stack_low ? static_cast<u32>(here - tile->stack_low) : 0;
}

void Z_hostZ_longyield(Tile* tile) {
  PandoPython& python = python_of(tile);
  if (python.host && python.host->longyield) wait_in(tile, [&] { python.host->longyield(python.context); });
}

void Z_hostZ_syscall(Tile* tile) {
  PandoPython& python = python_of(tile);
  if (python.host && python.host->syscall) wait_in(tile, [&] { python.host->syscall(python.context); });
}

void Z_hostZ_fatal(Tile* tile, u32 why, u32 bytes) {
  PandoPython& python = python_of(tile);
  const u32 most = sizeof python.why - 1;
  std::snprintf(python.why, sizeof python.why, "%.*s", static_cast<int>(std::min(bytes, most)), span_of(tile, why, bytes));
  pando_python_trap(tile, TRAP_FATAL);
}

// --- exchange ---------------------------------------------------------------------------------------------------------

u32 Z_hostZ_exchange_wait(Tile* tile, u32 request, u32 control) {
  PandoPython& python = python_of(tile);
  if (!python.host || !python.host->exchange_wait) return 0;
  const auto* const native_request = reinterpret_cast<const PandoPythonRequest*>(span_of(tile, request, sizeof(PandoPythonRequest)));
  auto* const native_control = reinterpret_cast<PandoPythonControl*>(span_to_write(tile, control, sizeof(PandoPythonControl)));
  // A message is in the tile's memory: one that claims to be longer would keep all tiles waiting.
  constexpr u32 kMostTiles = 0xffff;
  if (native_request->words[4] > kMostTiles) pando_python_trap(tile, TRAP_OOB);
  if (native_request->words[2] > MEMORY_SPAN || native_request->words[3] > MEMORY_SPAN) pando_python_trap(tile, TRAP_OOB);
  wait_in(tile, [&] { python.host->exchange_wait(python.context, native_request, native_control); });
  return 1;
}

void Z_hostZ_exchange_offer(Tile* tile, u32 offset, u32 bytes, u32 count) {
  PandoPython& python = python_of(tile);
  const char* const native = span_of(tile, bytes, count);
  if (python.host && python.host->exchange_offer) python.host->exchange_offer(python.context, offset, native, count);
}

void Z_hostZ_exchange_read(Tile* tile, u32 offset, u32 to, u32 count) {
  PandoPython& python = python_of(tile);
  char* const native = span_to_write(tile, to, count);
  if (!python.host || !python.host->exchange_read || !python.host->exchange_read(python.context, offset, native, count))
    pando_python_trap(tile, TRAP_OOB);
}

u32 Z_hostZ_exchange_pair(Tile* tile, u32 which) {
  PandoPython& python = python_of(tile);
  if (python.host && python.host->exchange_pair) return python.host->exchange_pair(python.context, which);
  return which == 0 ? 0xffffffffu : 0;
}

u32 Z_hostZ_exchange_place(Tile* tile, u32 which) {
  PandoPython& python = python_of(tile);
  return python.host && python.host->exchange_place ? python.host->exchange_place(python.context, which) : 0;
}

u32 Z_hostZ_exchange_offer_bytes(Tile* tile) {
  PandoPython& python = python_of(tile);
  return python.host && python.host->exchange_offer_bytes ? python.host->exchange_offer_bytes(python.context) : 0;
}

u32 Z_hostZ_exchange_reason(Tile* tile, u32 to, u32 capacity) {
  PandoPython& python = python_of(tile);
  char* const native = span_to_write(tile, to, capacity);
  return python.host && python.host->exchange_reason ? python.host->exchange_reason(python.context, native, capacity) : 0;
}

}  // extern "C"
