// What a block of a loop does with a worker's registers: values of outside the loop that find no room are loaded again, or made again, in
// each round.
#pragma once

#include <span>
#include <vector>

#include "machine/worker/issue.h"

namespace pando {

// A value that a loop holds and that is not made in the block.
struct HeldValue {
  Pipe file = Pipe::main;
  unsigned words = 1;
  bool changes = false;  // from round to round: it keeps its register
  bool is_made = false;  // a constant that one instruction makes again; others are loaded
};

// Registers of a file that values can have: $m0 to $m10, $a0 to $a7.
constexpr unsigned registers_of(Pipe file) { return file == Pipe::main ? 11 : 8; }

// The most words of a file that values made in the block hold at once. A register that a slot reads last may be written by it.
unsigned most_live_words(std::span<const Issue> block, std::span<const Bundle> bundles, Pipe file);

// Appends the instructions that bring values back to `block` and gives them slots: the half beside the instruction before, where it is
// free, else a slot of their own. Values with the fewest uses go first, constants before others.
void fit_registers(std::vector<Issue>& block, std::vector<Bundle>& bundles, std::span<const HeldValue> held);

}  // namespace pando
