// Runs a case through the compiler and the executor and compares every byte that the program promises with the interpreter:
// what is read through host handles after each run, what arrives on each FIFO, remote buffers, prints, errors.
#pragma once

#include <iterator>
#include <string>

#include "compile/switches.h"
#include "exec/switches.h"
#include "generate.h"

namespace pando::fuzz {

// One way of compiling and running. Results are the same for all.
struct Setup {
  compile::Options compile;
  exec::Options exec;
  bool reload = false;  // the program is written and read back before it runs
};
// Those of the compiler, then those of the executor, then `reload`.
inline constexpr unsigned kSwitches = std::size(compile::kSwitches) + std::size(exec::kSwitches) + 1;
// Bit i of `bits` sets the i-th switch.
Setup setup_of(unsigned bits, unsigned threads);
std::string to_string(const Setup& setup);

// Empty if the case holds. "skip: ..." if it means nothing (it branches on what is undefined, or the machine is too small).
// Else what is wrong.
std::string check(const Case& test, const Setup& setup);

// Does `verdict` say that something is wrong?
inline bool is_failure(const std::string& verdict) { return !verdict.empty() && !verdict.starts_with("skip"); }

}  // namespace pando::fuzz
