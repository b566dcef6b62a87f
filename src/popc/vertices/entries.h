// The functions that run a codelet on many vertices: the KernelRange and the KernelStrided of codelet.h.
#pragma once

#include <llvm/IR/Function.h>

#include <string>

#include "codelet/store/codelet.h"

namespace pando::popc {

// Adds the function `name` to compute's module:
//   bool name(char* first, uint64 stride, uint64 count, uint64* at) { for each vertex: *at = its number, [and each of the workers] ok &=
//   compute(); return ok; }
// with compute inlined; `offset` is where in the vertex compute's class lies.
void add_entry(llvm::Function& compute, const std::string& name, VertexKind kind, bool returns_bool, std::uint64_t offset);

inline constexpr const char* kVertexSuffix = ".vertex";

// Adds the codelet's KernelStrided under its entry's name and kStridedSuffix:
//   bool name(const char* first, const EdgeStride* strides, uint64 inner, uint64 outer, uint64* at) { a copy of *first; for each vertex:
//   its edges' addresses into the copy, *at = its number, ok &= compute(); return ok; }
// It calls a function of that name and kVertexSuffix, which is inlined.
// None for a multi-vertex, for edges that are lists of rows, and for code with lines, which is not inlined.
void add_strided_entry(llvm::Function& compute, const Codelet& codelet, bool returns_bool, std::uint64_t offset);

}  // namespace pando::popc
