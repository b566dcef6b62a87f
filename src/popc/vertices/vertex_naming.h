// The public name of a vertex class: "popops::Cast<float,half>", "Reduce<popops::Op::ADD,4,true>".
#pragma once

#include <clang/AST/DeclCXX.h>

#include <string>

namespace pando::popc {

std::string vertex_name(const clang::CXXRecordDecl& record);
// Spells a type as it stands in a vertex name and in messages: half, unsigned int, ns::Class<...>.
std::string type_spelling(clang::QualType type, const clang::ASTContext& context);

}  // namespace pando::popc
