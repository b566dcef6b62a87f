// Which processors code is compiled for: the host's, or levels of x86-64 beside each other (popc --levels).
//
// The front end sees one processor, the worst that it compiles for. The functions that it compiled for that one are marked as general, with
// its name; what a source says of a function itself (__attribute__((target(...)))) stays. Only when code is made, from linked bitcode, do
// general functions get a processor: each time the one that the code is for.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "codelet/store/gp_file.h"
#include "popc/options.h"

namespace pando::popc {

// As LLVM names it.
struct Processor {
  std::string cpu;
  std::string features;  // "+avx,+avx2,...", sorted: as clang gives them to functions
};

// What the front end sees: the value of -march=.
std::string front_end_processor(const Options& options);
// What general functions that popc makes itself are marked with; empty: they are not general.
std::string general_processor(const Options& options);
// Marks the functions that were compiled for `seen`, which was chosen as `march`, and takes it off them.
void mark_general(llvm::Module& module, const Processor& seen, const std::string& march);

// Code to make: `object` says for what, without code; general functions of the module become `processor`'s.
struct CodeFor {
  GpObject object;
  Processor processor;
};

// In the order of the objects: one for each of options.levels, or one for any processor of options.triple, else one for the
// host (which needs nothing if -march was given).
// Throws std::runtime_error: code that the front end compiled for a better processor than the first level.
std::vector<CodeFor> code_to_make(const Options& options, const llvm::Module& module);
void compile_for(llvm::Module& module, const Processor& processor);

}  // namespace pando::popc
