// The table of selection: which instructions an operation on a type, a builtin or a function of the C library is.
#pragma once

#include <llvm/IR/Instructions.h>

#include <optional>
#include <string>
#include <vector>

namespace pando::popc {

// Of functions that inline assembly becomes: they count themselves.
inline constexpr const char* kAssemblyPrefix = "asm:";

// One after the other, each with the result of the one before. Empty: nothing is to do.
using Pattern = std::vector<const char*>;

// An arithmetic operation, a comparison, a conversion. Nothing: there is no instruction, and `why` says what is missing.
std::optional<Pattern> pattern_of(const llvm::Instruction& i, std::string& why);
// A call of an intrinsic, of a function of the C library, of __builtin_ipu_*.
std::optional<Pattern> pattern_of_call(const llvm::CallBase& call, std::string& why);

// "f32v2mul" of the function __builtin_ipu_f32v2mul; empty for others.
std::string builtin_name(const llvm::Function& f);
bool reads_cycles(const llvm::CallBase& call);
// It does not return: what a failed assert() calls, abort(), pando::trap().
bool ends_run(const llvm::CallBase& call);
// Of a call through the table of include/pando/device_runtime.h: which entry.
std::optional<unsigned> runtime_entry_of(const llvm::CallBase& call);

// The lower 32 bits of 64: all that there are on a tile.
bool is_word(const llvm::Instruction& i);
// Registers of the auxiliary pipe hold it.
bool is_aux(const llvm::Type& type);

}  // namespace pando::popc
