// Which lines of its source the slots of a codelet belong to: what `popc -g` puts beside the code that counts (docs/cycles.md).
//
// A module with lines has three symbols more for a counted codelet: ENTRY.lines, a CodeLines as bytes with their number (64 bits) before
// them, and one of the two functions below, which also count how often each block of the code runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pando {

// As KernelCount and KernelCounted (codelet.h); adds to blocks[i] how often block i runs. Of a multi-vertex: six times what its slowest
// worker runs, as for cycles.
using KernelCountBlocks = std::uint64_t (*)(const char* vertex, std::uint64_t* blocks);
inline constexpr const char* kCountBlocksSuffix = ".count_blocks";
using KernelCountedBlocks = bool (*)(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t* at, std::uint64_t* cycles,
                                     std::uint64_t* blocks);
inline constexpr const char* kCountedBlocksSuffix = ".counted_blocks";
inline constexpr const char* kLinesSuffix = ".lines";

// Every module has, for each codelet that it defines, ENTRY.defined: the line where its class, or the label of its assembly, is (32 bits),
// and the file as the compiler was given it, with a 0 behind. Modules of earlier versions do not have it.
inline constexpr const char* kDefinedSuffix = ".defined";

struct CodeLine {
  std::uint32_t file = 0;  // in CodeLines::files
  std::uint32_t line = 0;
  std::string text;  // of the source, as it was compiled
};
struct LineSlots {
  std::uint32_t line = 0;  // in CodeLines::lines
  std::uint32_t slots = 0;
};

struct CodeLines {
  std::vector<std::string> files;
  std::vector<CodeLine> lines;                 // by file and line; also those of its functions that have no slots
  std::vector<std::vector<LineSlots>> blocks;  // what one run of each block takes
  KernelCountBlocks count = nullptr;           // of a codelet that is counted by its sizes or inputs
  KernelCountedBlocks counted = nullptr;       // of one that is counted as it runs
};

std::string bytes_of(const CodeLines& lines);  // without the functions
// Nothing if the bytes are no such table, or it names lines that it does not have.
std::optional<CodeLines> code_lines_of(std::string_view bytes);

}  // namespace pando
