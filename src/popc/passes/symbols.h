// What a program defines for others, and what it needs from them.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "popc/libraries.h"

namespace pando::popc {

// Functions and variables that other files can link to; sorted.
std::vector<std::string> defined_symbols(const llvm::Module& module);
// Used, not defined, and in none of the C and C++ libraries (`of_sysroot`, or the host's if that is empty) or the `called` ones; sorted.
std::vector<std::string> undefined_symbols(const llvm::Module& module, const std::vector<CalledLibrary>& called,
                                           const std::vector<CalledLibrary>& of_sysroot);
// The host's C, mathematics and C++ libraries: what a module is linked with.
std::vector<std::string> system_libraries();

// Defines the symbols through which the loader speaks to a module.
void add_loader_symbols(llvm::Module& module);
// Entries of PandoRuntime (include/pando/device_runtime.h) that generated code calls: their places in it, in pointers.
enum class RuntimeEntry : unsigned {
  tile_globals = 6,
  trap = 11,
  cycle_count = 12,
  run_jumping = 13,
  set_jump = 14,
  jump = 15,
  checked_vertex = 16,
  checked_range = 17,
  checked_access = 18,
  checked_index = 19,
  print = 20,
  print_all = 21,
  print_to = 22,
  print_line = 23,
  print_char = 24,
  print_all_to = 25,
  print_text_to = 26,
  print_char_to = 27,
  begin_worker = 28,
  end_worker = 29,
  worker_address = 30,
  tile_address = 31,
  host_address = 32
};
// The entry's function, loaded where `b` stands. The module has the loader's symbols.
llvm::Value* runtime_entry(llvm::IRBuilder<>& b, RuntimeEntry entry);

// Hides everything but `kept` and the loader's symbols, and drops what is unused.
void hide_internals(llvm::Module& module, const std::vector<std::string>& kept);

}  // namespace pando::popc
