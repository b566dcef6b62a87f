// The function that runs a codelet on many vertices: the KernelRange of codelet.h.
#pragma once

#include <llvm/IR/Function.h>

#include <string>

#include "codelet/codelet.h"

namespace pando::popc {

// Adds the function `name` to compute's module:
//   bool name(char* first, uint64 stride, uint64 count, uint64* at) { for each vertex: *at = its number, [and each of the workers] ok &=
//   compute(); return ok; }
// with compute inlined; `offset` is where in the vertex compute's class lies.
void add_entry(llvm::Function& compute, const std::string& name, VertexKind kind, bool returns_bool, std::uint64_t offset);

}  // namespace pando::popc
