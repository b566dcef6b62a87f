// In which slots a worker issues the instructions of a block: a list scheduler, and its dumb checker.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "machine/worker/instructions.h"

namespace pando {

struct Issue {
  const WorkerInstruction* what = nullptr;
  std::vector<std::uint32_t> after;  // earlier instructions of the block whose results it needs, or that have to come first
  bool late = false;                 // behind all that are not: updates of what a loop counts
  std::uint32_t line = 0;            // of the source, or 0
  std::string text;                  // what it does, for people
  // Of registers: what it makes, and what it reads.
  Pipe file = Pipe::main;            // which registers hold its result
  unsigned words = 0;                // of its result; 0: none
  bool lives_on = false;             // its result is needed behind the block
  std::vector<std::uint32_t> reads;  // earlier instructions of the block
  std::vector<std::uint32_t> held;   // values of outside the block (HeldValue)
};

// Indices into the block; one of the two may be kNone. Both read their registers before either writes.
struct Bundle {
  static constexpr std::uint32_t kNone = ~0u;
  std::uint32_t main = kNone, aux = kNone;
  unsigned slots = 0;
};

// Longest way to the end of the block first, then the block's order. Control comes last, in the block's order. Latencies are one slot: the
// other workers hide them. A load waits while its result would be the one that does not fit into `aux_words` registers and arithmetic is
// ready.
std::vector<Bundle> schedule(std::span<const Issue> block, unsigned aux_words = ~0u);
unsigned slots_of(std::span<const Bundle> bundles);

// Executes the bundles one by one. Messages, empty if all is right: each instruction once, in its pipe, behind what it needs.
std::vector<std::string> check_schedule(std::span<const Issue> block, std::span<const Bundle> bundles);

}  // namespace pando
