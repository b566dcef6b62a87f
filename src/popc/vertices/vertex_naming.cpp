#include "popc/vertices/vertex_naming.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <llvm/ADT/StringExtras.h>

#include "codelet/store/codelet.h"

namespace pando::popc {

namespace {

using namespace clang;

std::string qualified(const NamedDecl& decl);

std::string enumerator(const EnumDecl& type, const llvm::APSInt& value) {
  for (const EnumConstantDecl* e : type.enumerators())
    if (llvm::APSInt::isSameValue(e->getInitVal(), value))
      return (type.isScoped() ? qualified(type) + "::" : qualified(type).substr(0, qualified(type).size() - type.getName().size())) +
             e->getNameAsString();
  return llvm::toString(value, 10);
}

std::string argument(const TemplateArgument& a, const ASTContext& context) {
  switch (a.getKind()) {
    case TemplateArgument::Type: return type_spelling(a.getAsType(), context);
    case TemplateArgument::Integral: {
      if (a.getIntegralType()->isBooleanType()) return a.getAsIntegral().getBoolValue() ? "true" : "false";
      if (const auto* e = a.getIntegralType()->getAs<EnumType>()) return enumerator(*e->getDecl(), a.getAsIntegral());
      return llvm::toString(a.getAsIntegral(), 10);
    }
    case TemplateArgument::Template: return qualified(*a.getAsTemplate().getAsTemplateDecl());
    case TemplateArgument::Declaration: return qualified(*a.getAsDecl());
    case TemplateArgument::Pack: {
      std::string out;
      for (const TemplateArgument& item : a.pack_elements()) out += (out.empty() ? "" : ",") + argument(item, context);
      return out;
    }
    default: {
      std::string out;
      llvm::raw_string_ostream stream(out);
      a.print(context.getPrintingPolicy(), stream, true);
      return out;
    }
  }
}

std::string arguments_of(const ClassTemplateSpecializationDecl& s) {
  std::string out;
  for (const TemplateArgument& a : s.getTemplateArgs().asArray()) {
    const std::string text = argument(a, s.getASTContext());
    if (text.empty()) continue;  // an empty pack
    out += (out.empty() ? "" : ",") + text;
  }
  return "<" + out + ">";
}

std::string qualified(const NamedDecl& decl) {
  std::string out = decl.getNameAsString();
  if (const auto* s = dyn_cast<ClassTemplateSpecializationDecl>(&decl)) out += arguments_of(*s);
  for (const DeclContext* c = decl.getDeclContext(); c && !c->isTranslationUnit(); c = c->getParent()) {
    if (const auto* ns = dyn_cast<NamespaceDecl>(c)) {
      if (!ns->isInline() && !ns->isAnonymousNamespace()) out = ns->getNameAsString() + "::" + out;
    } else if (const auto* outer = dyn_cast<CXXRecordDecl>(c)) {
      return qualified(*outer) + "::" + out;
    }
  }
  return out;
}

// As users spell short vectors: float2, uchar4, longlong2.
std::string vector_spelling(const ExtVectorType& type, const ASTContext& context) {
  std::string element = type_spelling(type.getElementType(), context);
  const auto shorten = [&](std::string_view words, const char* letter) {
    if (element.rfind(words, 0) == 0) element = letter + element.substr(words.size());
  };
  shorten("unsigned ", "u");
  shorten("signed ", "s");
  std::erase(element, ' ');
  return element + std::to_string(type.getNumElements());
}

}  // namespace

std::string type_spelling(QualType type, const ASTContext& context) {
  const QualType canonical = type.getCanonicalType();
  const std::string prefix = canonical.isConstQualified() ? "const " : "";
  if (const auto* vector = canonical->getAs<ExtVectorType>()) return prefix + vector_spelling(*vector, context);
  if (const auto* record = canonical->getAsCXXRecordDecl()) {
    const std::string name = qualified(*record);
    return prefix + (name == "poplar::quarter" ? "quarter" : name);  // a device type: as Type::toString() has it
  }
  if (const auto* e = canonical->getAs<EnumType>()) return prefix + qualified(*e->getDecl());
  PrintingPolicy policy = context.getPrintingPolicy();
  policy.Half = 0;
  policy.SuppressTagKeyword = 1;
  policy.Bool = 1;
  return normalised_vertex_name(canonical.getAsString(policy));
}

std::string vertex_name(const CXXRecordDecl& record) { return normalised_vertex_name(qualified(record)); }

}  // namespace pando::popc
