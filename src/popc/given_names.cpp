#include "popc/given_names.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/Sema/ExternalSemaSource.h>
#include <clang/Sema/Lookup.h>

namespace pando::popc {

namespace {

using namespace clang;

class GivenNames : public ExternalSemaSource {
 public:
  explicit GivenNames(Sema& sema) : sema_(sema) {}

  // Asked when nothing was found. A declaration finds nothing that it would declare again.
  bool LookupUnqualified(LookupResult& result, Scope*) override {
    if (result.isForRedeclaration() || result.getLookupKind() != Sema::LookupOrdinaryName) return false;
    const TranslationUnitDecl* unit = sema_.Context.getTranslationUnitDecl();
    const DeclarationName name = result.getLookupName();
    for (NamedDecl* outer : unit->lookup(&sema_.Context.Idents.get("pando_types"))) {
      const auto* given = dyn_cast<NamespaceDecl>(outer);
      if (!given) continue;
      for (NamedDecl* found : given->lookup(name)) result.addDecl(found);
      break;  // the first part of the namespace knows all parts' names
    }
    result.resolveKind();
    return !result.empty();
  }

 private:
  Sema& sema_;
};

}  // namespace

void find_given_names(Sema& sema) {
  sema.addExternalSource(new GivenNames(sema));  // counts its references
}

}  // namespace pando::popc
