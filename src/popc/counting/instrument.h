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

// Adds the slots of each block to a counter of the thread, and makes reads of the cycle counter read it.
void instrument(llvm::Function& function, const SelectedFunction& selected);

// bool NAME(char* first, stride, count, at, cycles): KernelCounted of the codelet.
llvm::Function* add_counted_entry(llvm::Function& compute, const Codelet& codelet, std::uint64_t offset, bool returns_bool);
// uint64 NAME(const char* vertex): KernelCount. A copy of compute() without its stores: null if it calls what cannot be copied.
llvm::Function* add_count_entry(llvm::Function& compute, const Codelet& codelet, std::uint64_t offset);

// What an optimised ENTRY.count reads besides fields.
struct Reads {
  bool whole = true;           // it is what counts: no stores that would matter are missing, nothing unknown is called
  bool edges = false;          // elements of input edges
  bool written_edges = false;  // elements of edges that compute() writes
};
Reads reads_of(llvm::Function& count, const Codelet& codelet);

}  // namespace pando::popc
