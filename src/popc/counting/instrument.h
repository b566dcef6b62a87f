// Counters in code, and the functions around it.
#pragma once

#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

#include "codelet/store/codelet.h"
#include "popc/counting/selection.h"

namespace pando::popc {

// Lets functions of inline assembly add to the counter.
void count_inline_assembly(llvm::Module& module);

// Counters of the thread that say how often blocks run, and which of them are a function's.
struct BlockCounters {
  llvm::GlobalVariable* variable = nullptr;
  unsigned first = 0, count = 0;
};
llvm::GlobalVariable& add_block_counters(llvm::Module& module, unsigned count);

// Adds the slots of each block to a counter of the thread, and makes reads of the cycle counter read it. With `blocks` each segment that
// has slots also counts how often it runs.
void instrument(llvm::Function& function, const SelectedFunction& selected, const BlockCounters* blocks = nullptr);

// What surrounds compute() of a vertex: stack and state pointers, call, exit.
inline constexpr unsigned kStubSlots = 4;
// The counters of what a codelet's compute(), instrumented with them, runs.
struct CountedBlocks {
  llvm::GlobalVariable* variable = nullptr;
  std::vector<unsigned> numbers;
};

// bool NAME(char* first, stride, count, at, cycles): KernelCounted of the codelet. With `blocks`: KernelCountedBlocks, whose block 0 is
// what surrounds compute().
llvm::Function* add_counted_entry(llvm::Function& compute, const Codelet& codelet, std::uint64_t offset, bool returns_bool,
                                  const CountedBlocks* blocks = nullptr);
// uint64 NAME(const char* vertex): KernelCount. A copy of compute() without its stores: null if it calls what cannot be copied. With
// `blocks`: KernelCountBlocks.
llvm::Function* add_count_entry(llvm::Function& compute, const Codelet& codelet, std::uint64_t offset,
                                const CountedBlocks* blocks = nullptr);

// What an optimised ENTRY.count reads besides fields.
struct Reads {
  bool whole = true;           // it is what counts: no stores that would matter are missing, nothing unknown is called
  bool edges = false;          // elements of input edges
  bool written_edges = false;  // elements of edges that compute() writes
};
Reads reads_of(llvm::Function& count, const Codelet& codelet);

}  // namespace pando::popc
