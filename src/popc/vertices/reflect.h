// Finds the vertex classes of a translation unit and describes them.
//
// Codelets are: plain classes, full specialisations and explicitly instantiated templates that derive from a poplar vertex
// class and have a compute method, declared anywhere in the translation unit outside anonymous namespaces.
#pragma once

#include <clang/AST/DeclCXX.h>
#include <clang/Sema/Sema.h>

#include <vector>

#include "codelet/store/codelet.h"

namespace pando::popc {

struct Reflected {
  Codelet codelet;  // entry, code and stack sizes are filled later
  clang::CXXMethodDecl* compute = nullptr;
  std::uint64_t compute_offset = 0;  // of the base class that has compute, in the vertex
  bool returns_bool = false;
  bool is_external = false;       // in assembly: compute(), if there is one, is a stub
  clang::SourceLocation defined;  // of its class' name
};

// In declaration order. Faults of the user are reported as errors to the context's diagnostics, at the field or class.
std::vector<Reflected> reflect_codelets(clang::Sema& sema);

}  // namespace pando::popc
