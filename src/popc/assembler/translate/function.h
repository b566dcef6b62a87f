// Code that one entry reaches, as a function in IR.
//
//   i1 asm:SYMBOL(PandoWorkerMemory* shared, i32 state, i32 worker, i64* slots)
//
// `slots`: how many were executed is written there. A worker's registers are variables of the function; helper functions that the code
// calls are part of it.
#pragma once

#include <llvm/IR/Module.h>

#include <map>
#include <set>
#include <string>

#include "popc/assembler/code/linked.h"

namespace pando::popc {

// Code between C++: registers get values from a list of words, and give them back, when control comes to the end of the code.
//
//   void asm:inline(PandoWorkerMemory* shared, i32* words)
struct InlineRegisters {
  struct Word {
    Bank bank;
    unsigned index;
    bool is_read, is_written;
  };
  std::vector<Word> words;
  std::uint32_t end = 0;    // address behind the code
  std::uint32_t state = 0;  // of the vertex, or 0
};

// What counting puts in the place of this function, which does nothing: void(i64 slots).
inline constexpr const char* kInlineSlots = "asm:slots";

class AssemblyFunctions {
 public:
  AssemblyFunctions(llvm::Module& module, const LinkedAssembly& code, std::string general)
      : module_(module), code_(code), general_(std::move(general)) {}

  // The function of the code at an address; made once. Throws AssemblyError: there is no code.
  llvm::Function& of(std::uint32_t address, const std::string& name, bool is_supervisor);
  llvm::Function& of_inline(std::uint32_t address, const std::string& name, const InlineRegisters& registers);
  // Bytes of code that it reaches.
  std::uint32_t code_bytes(std::uint32_t address) const { return bytes_.at(address); }
  // Symbols that the functions name and no file defines.
  const std::set<std::string>& undefined() const { return undefined_; }
  // The constants and tables of the program, or null.
  llvm::GlobalVariable* image();
  const LinkedAssembly& code() const { return code_; }
  void note_undefined(const std::string& symbol) { undefined_.insert(symbol); }

 private:
  llvm::Module& module_;
  const LinkedAssembly& code_;
  std::string general_;  // processor of functions that say nothing of one
  std::map<std::uint32_t, llvm::Function*> functions_;
  std::map<std::uint32_t, std::uint32_t> bytes_;
  std::set<std::string> undefined_;
  llvm::GlobalVariable* image_ = nullptr;
};

}  // namespace pando::popc
