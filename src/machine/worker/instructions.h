// The instructions of a worker, as far as counting needs them: which pipe issues one, and how long it keeps its worker. One row each.
//
// A worker has one issue slot every `Machine::workers` cycles. A slot takes one instruction, or a bundle: one of the main pipe (memory,
// integers, control) and one of the auxiliary pipe (floating point, bits of floating-point registers).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace pando {

enum class Pipe : std::uint8_t { main, aux };

struct WorkerInstruction {
  std::string_view name;  // mnemonic
  Pipe pipe = Pipe::main;
  unsigned slots = 1;         // that its worker is busy
  bool ends_bundles = false;  // control: issues alone, behind all others of its block
  std::string_view source;    // of `slots`, where that is not 1
};

// All rows, sorted by name.
std::span<const WorkerInstruction> worker_instructions();
// Null if there is no such row.
const WorkerInstruction* find_worker_instruction(std::string_view name);

}  // namespace pando
