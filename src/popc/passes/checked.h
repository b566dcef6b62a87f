// Checked code (popc --checked): each access of a vertex through an edge or a vector of its state is compared with that field's memory,
// however the address was computed, and one that is outside ends the run with an error (src/codelet/runtime/checked_access.h).
//
//     float f = in[i];        becomes      range = runtime->checked_range(in.data); a = in.data + i;
//                                          if (a < range.begin || a + 4 > range.end) runtime->checked_access(in.data, a, 4, ...); f = *a
//
// The range belongs to what an address was made from: it is looked up where that pointer comes from, in loops hardly ever. Pointers to
// variables of the stack and to globals are not checked; nor is what functions of other libraries do.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <vector>

#include "codelet/store/codelet.h"

namespace pando::popc {

// Of a parameter, or an argument, that is a vertex, or a base class in it: its fields with an address, "OFFSET FORM BYTES;" each, seen from
// there. FORM is one of checked_ranges.h, BYTES an element's. "" if callers disagree.
inline constexpr const char* kFieldsAttribute = "pando-fields";

// Where clang's -fsanitize=array-bounds calls its runtime, ours is called. Before globals move to tiles: what clang tells the runtime are
// constants then.
void define_bounds_handlers(llvm::Module& module);
// A copy as it were without --checked: -fsanitize=array-bounds finds nothing, and, unless it `keeps_lines`, the code has no lines.
std::unique_ptr<llvm::Module> without_checks(const llvm::Module& module, bool keeps_lines);
// The optimiser does not make one access of two, which would have no line of the source. For the process.
void keep_accesses_apart();
// Before optimising: entries say which vertex comes next; those of their symbols with `suffix`.
void announce_vertices(llvm::Module& module, const std::vector<Codelet>& codelets, const char* suffix = "");
// Of optimised code. ENTRY.count, which runs before its vertex is announced, stays as it is.
void check_accesses(llvm::Module& module);

}  // namespace pando::popc
