// What the host and the codelets of a session say to each other: the layout of commands and states. Plain numbers, so that both
// sides, compiled by different compilers, agree.
#pragma once

#include <cstdint>

namespace pando::ontile {

// The interpreter owns [kInterpreterBegin, kInterpreterEnd) of a tile, C stack, data and heap, and a header at its first bytes.
constexpr std::uint32_t kInterpreterBegin = 208 * 1024, kInterpreterEnd = 608 * 1024, kHeaderBytes = 64;

// A command: words, then text.
enum class Action : std::uint32_t {
  run,  // `kind` as pando_python_run; the text may come in several commands (offset, total)
  key,  // the text is one key
  complete,
  go_on,  // output was taken
  raise,  // tiles that wait to exchange get an exception: the text
  input,  // tiles that wait for input get this piece of a line (offset); no bytes: the input is at its end
  load,   // into disks: the text is pieces of [tile, first block, blocks], 32-bit words, and their bytes
  save,   // the output is each block that changed since the last save: a 32-bit number, and its bytes; `kind` 1: the session ends
};
enum CommandWord {
  kAction,
  kKind,
  kTotalBytes,
  kOffset,
  kTextBytes,
  kNameBytes,
  kFuelLow,
  kFuelHigh,
  kInterruptSlot,
  kCountedClock,
  kCommandWords = 16
};
constexpr std::uint32_t kTextCapacity = 16 * 1024;
constexpr std::uint32_t kCommandBytes = kCommandWords * 4 + kTextCapacity;  // a name follows the text

// A tile's place among those that a command is for.
enum SeatWord { kSelected, kTakingPart, kFirstTakingPart, kAllTiles, kIpu, kHasData, kDataBytes, kDiskBlocks, kLentBlocks, kSeatWords };

// A tile's state after each step.
enum class State : std::uint32_t { idle, waits_to_exchange, waits_for_host, waits_for_input, not_selected };
enum StatusWord {
  kState,         // | ending << 8 | exit status << 16
  kWaitKind,      // exchange_kind of port/exchange.h
  kWaitArgument,  // of one that waits for input: how much of a line it has had
  kPending,       // bytes to send in a collective
  kMatched,       // bytes to send to one tile
  kOutbox,
  kTextLength,  // bytes of output
  kHashLow,
  kHashHigh,
  kPair,         // from | to << 16, of messages between pairs
  kErrand,       // of a tile that asks for memory of another one: that tile + 1
  kDiskChanged,  // 1: blocks of the disk were written since the last save
  kStatusWords,
};
constexpr std::uint32_t kOutBytes = 512, kInputBytes = 1024;

// A tile's disk: blocks, then a bit for each that was written since the last save.
constexpr std::uint32_t kBlockBytes = 512;
constexpr std::uint32_t disk_region_bytes(std::uint32_t blocks) { return blocks * kBlockBytes + (blocks + 7) / 8; }

// How messages go through the window: groups of `group` neighbouring tiles, `slot` bytes each.
constexpr std::uint32_t kMostModes = 3;
// The window lies in parts of this size, on as many neighbouring tiles.
constexpr std::uint32_t kWindowPart = 16 * 1024;

// What a vertex makes of the states of a row of an IPU's tiles, and another one of those of all rows. A mode's groups lie within rows, or
// all tiles of an IPU are one group.
constexpr std::uint32_t kRowTiles = 64;
enum SummaryWord {
  kSelectedTiles,
  kWaitingForHost,
  kWaitingToExchange,  // not counting those that only let others receive
  kReceiving,
  kMostOutbox,
  kSameWait,  // 1: all selected tiles wait for the same collective
  kSameKind,
  kSameArgument,
  kSameAnswer,  // 1: all selected tiles ended alike with the same output
  kAnswer,      // then: kState, length and hash of all
  kAnswerLength,
  kAnswerHashLow,
  kAnswerHashHigh,
  kChangedDisks,
  kWaitingForInput,
  kErrandTile,  // the first that asks for memory of another one, + 1, in this IPU; and of which
  kErrandLender,
  kRounds,                                 // [2 kinds of messages][kMostModes]: rounds that are left
  kFirstGroup = kRounds + 2 * kMostModes,  // and the first group that has something to send
  kSummaryWords = kFirstGroup + 2 * kMostModes,
};

// What the session learns after a step.
enum OutcomeWord {
  kGo,
  kCase,
  kStuck,
  kHostWaits,
  kUniform,
  kUniformState,
  kUniformLength,
  kIdleMatches,
  kDisksToSave,
  kInputWaits,
  kErrandFrom,
  kErrandTo,
  kOutcomeWords
};

constexpr std::uint32_t kControlWords = 8;

// Memory that a tile lends to others. An errand moves up to a block; its answer takes groups of so many tiles through the window.
constexpr std::uint32_t kErrandBytes = 16 + kBlockBytes, kAnswerGroup = 32;
enum ErrandPlanWord { kErrandMode, kErrandCase, kAnswerGroups, kErrandPlanWords };  // kErrandCase 0: no tile lends any

}  // namespace pando::ontile
