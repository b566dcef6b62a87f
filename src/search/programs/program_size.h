// How large a program of all devices becomes before it is made.
#pragma once

#include "transform/distribute/parallelise.h"

#include <cstdint>
#include <string_view>

namespace pando::search {

// Bytes: of the module, of its text, of the data of its constants (those that several ops share once).
struct ProgramSize {
  double ops = 0, module = 0, text = 0, data = 0;
};

// Of the strategy's program of all devices, about: of a few microbatches, and of the first device of each pipeline rank, it is made, and
// what its ops, operands, results, names and attributes occupy is counted. `s`: the transforms' strategy.
ProgramSize size_of_program(const transform::Program& whole, const transform::Strategy& s);

// Bytes that writing it takes at most. `as_torch`: files for PyTorch, otherwise its text.
double bytes_to_write(const ProgramSize& size, bool as_torch);

// Bytes that this process may take beside what it has: of host_memory() (base/host_memory.h), and of what is free by `meminfo`, a
// /proc/meminfo (empty: it says nothing).
std::uint64_t free_memory(std::string_view meminfo);
std::uint64_t free_memory();

}  // namespace pando::search
