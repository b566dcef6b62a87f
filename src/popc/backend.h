// From IR to a shared object.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <vector>

namespace pando::popc {

// Runs LLVM's pipeline of that level ('0' '1' '2' '3' 's' 'z'); from '2' on with `short_loops` (passes/short_loops.h).
// `called`: entries call the code of vertices, which is not inlined into them.
void optimise(llvm::Module& module, char level, bool short_loops, bool called = false);
// Of what passes have added since: the same value twice, comparisons whose outcome is known. Changes no access.
void tidy(llvm::Module& module, char level);
// What a tile would hold of the module, as far as a host can say: each function compiled for size, without loops unrolled or made of
// vectors, for one processor that has instructions on halfs. The same on every host. To be counted, never run.
std::unique_ptr<llvm::Module> optimised_for_counting(const llvm::Module& module);
// For counting (counting/count_module.h): -O2 without vectors that the source does not have and without loops unrolled.
void optimise_for_tiles(llvm::Module& module);
// Machine code as an ELF object; as text with `assembly`.
std::string emit(llvm::Module& module, char level, bool assembly);
// Links ELF objects into a shared one. Throws std::runtime_error with the linker's message.
std::string link_shared(const std::vector<std::string>& objects, const std::vector<std::string>& libraries);

}  // namespace pando::popc
