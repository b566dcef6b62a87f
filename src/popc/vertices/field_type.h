// What a data member of a vertex is.
#pragma once

#include <clang/AST/ASTContext.h>

#include <optional>

#include "codelet/store/codelet.h"

namespace pando::popc {

// Kind, shape, element type, layouts, alignment and host size of a member of this type; nothing if a vertex cannot have it.
std::optional<Field> classify_field(clang::QualType type, const clang::ASTContext& context);

}  // namespace pando::popc
