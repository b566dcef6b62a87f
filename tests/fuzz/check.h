// Runs a case through the compiler and the executor and compares every byte that the program promises with the interpreter:
// what is read through host handles after each run, what arrives on each FIFO, remote buffers, prints, errors.
#pragma once

#include <string>

#include "compile/compile.h"
#include "generate.h"

namespace pando::fuzz {

// One way of compiling and running. Results are the same for all.
struct Setup {
  bool bind = true, merge_moves = true, share_memory = true, split_variables = true, infer_io_tiles = true;
  bool tile_by_tile = true;
  bool reload = false;  // the program is written and read back before it runs
  unsigned threads = 2;
};
inline constexpr unsigned kSwitches = 7;
// Bit i of `bits` sets the i-th switch.
Setup setup_of(unsigned bits, unsigned threads);
std::string to_string(const Setup& setup);
compile::Options compile_options(const Setup& setup);

// Empty if the case holds. "skip: ..." if it means nothing (it branches on what is undefined, or the machine is too small).
// Else what is wrong.
std::string check(const Case& test, const Setup& setup);

// Does `verdict` say that something is wrong?
inline bool is_failure(const std::string& verdict) { return !verdict.empty() && !verdict.starts_with("skip"); }

}  // namespace pando::fuzz
