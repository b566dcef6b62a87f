#include "popc/vertices/reflect.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Expr.h>
#include <clang/AST/RecordLayout.h>

#include "codelet/quarter_field.h"
#include "popc/vertices/field_type.h"
#include "popc/vertices/vertex_naming.h"

namespace pando::popc {

namespace {

using namespace clang;

class Reflector {
 public:
  explicit Reflector(Sema& sema) : sema_(sema), context_(sema.getASTContext()) {}

  std::vector<Reflected> run() {
    visit_scope(*context_.getTranslationUnitDecl());
    return std::move(found_);
  }

 private:
  template <unsigned N>
  DiagnosticBuilder error(SourceLocation at, const char (&text)[N]) {
    DiagnosticsEngine& diagnostics = context_.getDiagnostics();
    return diagnostics.Report(at, diagnostics.getCustomDiagID(DiagnosticsEngine::Error, text));
  }

  void visit_scope(const DeclContext& scope) {
    for (Decl* d : scope.decls()) visit(*d);
  }

  void visit(Decl& d) {
    if (auto* ns = dyn_cast<NamespaceDecl>(&d)) {
      if (!ns->isAnonymousNamespace() && ns->getName() != "std" && ns->getName() != "poplar") visit_scope(*ns);
    } else if (auto* linkage = dyn_cast<LinkageSpecDecl>(&d)) {
      visit_scope(*linkage);
    } else if (auto* t = dyn_cast<ClassTemplateDecl>(&d)) {
      if (t->isCanonicalDecl()) visit_template(*t);
    } else if (auto* r = dyn_cast<CXXRecordDecl>(&d)) {
      // Specialisations are visited through their template.
      if (!isa<ClassTemplateSpecializationDecl>(r) && r->isThisDeclarationADefinition() && !r->isDependentType()) {
        visit_scope(*r);
        add(*r);
      }
    }
  }

  void visit_template(ClassTemplateDecl& t) {
    for (ClassTemplateSpecializationDecl* s : t.specializations()) {
      const auto kind = s->getSpecializationKind();
      if (kind != TSK_ExplicitInstantiationDefinition && kind != TSK_ExplicitSpecialization) continue;
      if (CXXRecordDecl* definition = s->getDefinition()) add(*definition);
    }
  }

  std::optional<VertexKind> vertex_kind(const CXXRecordDecl& r) {
    for (const CXXBaseSpecifier& base : r.bases()) {
      const CXXRecordDecl* b = base.getType()->getAsCXXRecordDecl();
      if (!b || !b->hasDefinition()) continue;
      b = b->getDefinition();
      const std::string name = b->getQualifiedNameAsString();
      if (name == "poplar::Vertex" || name == "poplar::ExternalExchangeVertex") return VertexKind::worker;
      if (name == "poplar::MultiVertex") return VertexKind::multi;
      if (name == "poplar::SupervisorVertex") return VertexKind::supervisor;
      if (const auto kind = vertex_kind(*b)) return kind;
    }
    return std::nullopt;
  }

  void add(CXXRecordDecl& r) {
    const auto kind = vertex_kind(r);
    if (!kind) return;
    Reflected v;
    v.codelet.kind = *kind;
    const CXXRecordDecl* const pattern = r.getTemplateInstantiationPattern();  // else it is where the template is instantiated
    v.defined = (pattern ? *pattern : r).getLocation();
    v.is_external = is_external(r);
    if (!find_compute(r, 0, *kind, v) && !v.is_external) return;  // a base of other vertices
    v.codelet.name = vertex_name(r);
    if (r.isPolymorphic() || r.getNumVBases() > 0) {
      error(r.getLocation(), "Vertex '%0' has virtual functions or virtual bases, which no vertex can have") << v.codelet.name;
      return;
    }
    add_fields(r, 0, v.codelet);
    add_requests(r, v.codelet);
    const ASTRecordLayout& layout = context_.getASTRecordLayout(&r);
    v.codelet.host_size = static_cast<std::uint32_t>(layout.getSize().getQuantity());
    v.codelet.host_align = static_cast<std::uint32_t>(layout.getAlignment().getQuantity());
    if (v.is_external || check_result(v)) found_.push_back(std::move(v));
  }

  // The compute method with the number of parameters that the kind of vertex calls for; the most derived one.
  bool find_compute(CXXRecordDecl& r, std::uint64_t offset, VertexKind kind, Reflected& v) {
    const unsigned parameters = kind == VertexKind::multi ? 1 : 0;
    for (CXXMethodDecl* m : r.methods()) {
      if (!m->getIdentifier() || m->getName() != "compute" || m->isStatic()) continue;
      if (m->getNumParams() != parameters) continue;
      v.compute = m;
      v.compute_offset = offset;
      return true;
    }
    const ASTRecordLayout& layout = context_.getASTRecordLayout(&r);
    for (const CXXBaseSpecifier& base : r.bases()) {
      CXXRecordDecl* b = base.getType()->getAsCXXRecordDecl();
      if (!b || base.isVirtual() || !b->getDefinition()) continue;
      const auto at = static_cast<std::uint64_t>(layout.getBaseClassOffset(b).getQuantity());
      if (find_compute(*b->getDefinition(), offset + at, kind, v)) return true;
    }
    return false;
  }

  bool check_result(Reflected& v) {
    const SourceLocation at = v.compute->getLocation();
    if (v.compute->getReturnType()->isUndeducedType()) sema_.DeduceReturnType(v.compute, at);
    sema_.MarkFunctionReferenced(at, v.compute);
    const QualType result = v.compute->getReturnType();
    v.returns_bool = result->isBooleanType();
    if (!v.returns_bool && !result->isVoidType()) {
      error(at, "Vertex '%0': compute returns '%1'; it must return void or bool") << v.codelet.name << type_spelling(result, context_);
      return false;
    }
    if (v.codelet.kind != VertexKind::multi || v.compute->getParamDecl(0)->getType()->isIntegerType()) return true;
    error(at, "Vertex '%0': compute of a multi-vertex takes the worker's number, an unsigned") << v.codelet.name;
    return false;
  }

  void add_fields(const CXXRecordDecl& r, std::uint64_t offset, Codelet& codelet) {
    const ASTRecordLayout& layout = context_.getASTRecordLayout(&r);
    for (const CXXBaseSpecifier& base : r.bases()) {
      const CXXRecordDecl* b = base.getType()->getAsCXXRecordDecl();
      if (!b || !b->getDefinition() || base.isVirtual()) continue;
      add_fields(*b->getDefinition(), offset + static_cast<std::uint64_t>(layout.getBaseClassOffset(b).getQuantity()), codelet);
    }
    for (const FieldDecl* f : r.fields()) {
      auto field = f->isBitField() ? std::nullopt : classify_field(f->getType(), context_);
      if (!field) {
        error(f->getLocation(), "Field '%0' has unsupported field type '%1'")
            << codelet.name + "." + f->getNameAsString() << type_spelling(f->getType(), context_);
        continue;
      }
      field->name = f->getNameAsString();
      field->host_offset = static_cast<std::uint32_t>(offset + layout.getFieldOffset(f->getFieldIndex()) / 8);
      codelet.fields.push_back(*field);
      if (has_metadata_field(*field)) codelet.fields.push_back(metadata_field_of(*field));
    }
  }

  // `static const bool isExternalCodelet = true`: the vertex is in assembly, and its compute() is a stub.
  bool is_external(const CXXRecordDecl& r) {
    for (Decl* d : r.decls()) {
      auto* variable = dyn_cast<VarDecl>(d);
      if (!variable || !variable->getIdentifier() || variable->getName() != "isExternalCodelet") continue;
      VarDecl* definition = variable->getInitializingDeclaration();
      const APValue* value = definition ? definition->evaluateValue() : nullptr;
      return value && value->isInt() && !value->getInt().isZero();
    }
    return false;
  }

  // static constexpr pando::Reserve pando_reserve{begin, bytes}; static constexpr const char* pando_image = "name";
  // static constexpr unsigned pando_code_bytes = 1000;
  void add_requests(const CXXRecordDecl& r, Codelet& codelet) {
    for (Decl* d : r.decls()) {
      auto* variable = dyn_cast<VarDecl>(d);
      if (!variable || !variable->getIdentifier()) continue;
      if (variable->getName() == "pando_reserve") read_reserve(*variable, codelet);
      if (variable->getName() == "pando_image") read_image(*variable, codelet);
      if (variable->getName() == "pando_code_bytes") read_code_bytes(*variable, codelet);
    }
  }

  void read_reserve(VarDecl& variable, Codelet& codelet) {
    VarDecl* definition = variable.getInitializingDeclaration();
    const APValue* value = definition ? definition->evaluateValue() : nullptr;
    if (!value || !value->isStruct() || value->getStructNumFields() != 2) {
      error(variable.getLocation(), "'pando_reserve' of '%0' is not a constant pando::Reserve{begin, bytes}") << codelet.name;
      return;
    }
    codelet.reserved.begin = value->getStructField(0).getInt().getZExtValue();
    codelet.reserved.size = value->getStructField(1).getInt().getZExtValue();
  }

  void read_code_bytes(VarDecl& variable, Codelet& codelet) {
    VarDecl* definition = variable.getInitializingDeclaration();
    const APValue* value = definition ? definition->evaluateValue() : nullptr;
    if (!value || !value->isInt() || value->getInt().getActiveBits() > 31) {
      error(variable.getLocation(), "'pando_code_bytes' of '%0' is not a constant number of bytes") << codelet.name;
      return;
    }
    codelet.code_declared = true;
    codelet.code_bytes = static_cast<std::uint32_t>(value->getInt().getZExtValue());
  }

  void read_image(VarDecl& variable, Codelet& codelet) {
    const Expr* initialiser = variable.getAnyInitializer();
    const auto text = initialiser ? initialiser->tryEvaluateString(context_) : std::nullopt;
    if (!text) {
      error(variable.getLocation(), "'pando_image' of '%0' is not a constant string") << codelet.name;
      return;
    }
    codelet.reserved.image = *text;
  }

  Sema& sema_;
  ASTContext& context_;
  std::vector<Reflected> found_;
};

}  // namespace

std::vector<Reflected> reflect_codelets(Sema& sema) { return Reflector(sema).run(); }

}  // namespace pando::popc
