#include "popc/vertices/field_type.h"

#include <clang/AST/DeclTemplate.h>

namespace pando::popc {

namespace {

using namespace clang;

// A type poplar::NAME<arguments>.
struct Wrapper {
  llvm::StringRef name;
  llvm::ArrayRef<TemplateArgument> arguments;
};

std::optional<Wrapper> as_wrapper(QualType type) {
  const auto* s = dyn_cast_or_null<ClassTemplateSpecializationDecl>(type->getAsCXXRecordDecl());
  if (!s) return std::nullopt;
  const auto* ns = dyn_cast<NamespaceDecl>(s->getDeclContext());
  if (!ns || ns->getName() != "poplar" || !ns->getParent()->isTranslationUnit()) return std::nullopt;
  return Wrapper{s->getName(), s->getTemplateArgs().asArray()};
}

std::optional<ElementType> builtin_element(const BuiltinType& type) {
  switch (type.getKind()) {
    case BuiltinType::Bool: return ElementType::boolean;
    case BuiltinType::Char_S:
    case BuiltinType::Char_U: return ElementType::char_;
    case BuiltinType::SChar: return ElementType::signed_char;
    case BuiltinType::UChar: return ElementType::unsigned_char;
    case BuiltinType::Short: return ElementType::short_;
    case BuiltinType::UShort: return ElementType::unsigned_short;
    case BuiltinType::Int: return ElementType::int_;
    case BuiltinType::UInt: return ElementType::unsigned_int;
    case BuiltinType::Long: return ElementType::long_;
    case BuiltinType::ULong: return ElementType::unsigned_long;
    case BuiltinType::LongLong: return ElementType::long_long;
    case BuiltinType::ULongLong: return ElementType::unsigned_long_long;
    case BuiltinType::Float16: return ElementType::half;
    case BuiltinType::Float: return ElementType::float_;
    case BuiltinType::Double: return ElementType::double_;
    default: return std::nullopt;
  }
}

std::optional<ElementType> element(QualType type) {
  const QualType canonical = type.getCanonicalType();
  if (const auto* e = canonical->getAs<EnumType>()) {
    const QualType integer = e->getDecl()->getIntegerType();
    return integer.isNull() ? std::nullopt : element(integer);
  }
  if (const auto* b = canonical->getAs<BuiltinType>()) return builtin_element(*b);
  if (const auto* r = canonical->getAsCXXRecordDecl()) {
    const std::string name = r->getQualifiedNameAsString();
    if (name == "poplar::quarter") return ElementType::quarter;
  }
  return std::nullopt;
}

std::optional<FieldKind> edge_kind(llvm::StringRef name) {
  if (name == "Input") return FieldKind::input;
  if (name == "Output") return FieldKind::output;
  if (name == "InOut") return FieldKind::inout;
  return std::nullopt;
}

// The arguments <element, layout, minimum alignment, interleaved> of Vector and VectorList.
struct VectorArguments {
  QualType element;
  unsigned layout;
  unsigned min_align;
  bool interleaved;
};

VectorArguments vector_arguments(const Wrapper& w) {
  return {w.arguments[0].getAsType(), static_cast<unsigned>(w.arguments[1].getAsIntegral().getZExtValue()),
          static_cast<unsigned>(w.arguments[2].getAsIntegral().getZExtValue()), w.arguments[3].getAsIntegral().getBoolValue()};
}

FieldLayout vector_layout(unsigned value) { return static_cast<FieldLayout>(value); }

FieldLayout list_layout(unsigned value) {
  constexpr FieldLayout kLayouts[] = {FieldLayout::one_ptr,        FieldLayout::scaled_ptr32, FieldLayout::scaled_ptr64,
                                      FieldLayout::scaled_ptr128,  FieldLayout::delta_n,      FieldLayout::delta_n_elements,
                                      FieldLayout::compact_delta_n};
  return kLayouts[value];
}

// Input<T>, Input<Vector<T>> or Input<VectorList<T>>.
std::optional<Field> edge(FieldKind kind, QualType inside) {
  Field f;
  f.kind = kind;
  const auto w = as_wrapper(inside);
  if (!w) {
    const auto type = element(inside);
    if (!type) return std::nullopt;
    f.type = *type;
    f.min_align = static_cast<std::uint32_t>(size_of(*type));
    f.host_size = 8;
    return f;
  }
  if (w->name != "Vector" && w->name != "VectorList") return std::nullopt;
  const VectorArguments v = vector_arguments(*w);
  const auto type = element(v.element);
  if (!type) return std::nullopt;
  const bool list = w->name == "VectorList";
  f.type = *type;
  f.shape = list ? FieldShape::vector_list : FieldShape::vector;
  f.layout = list ? list_layout(v.layout) : vector_layout(v.layout);
  f.inner_layout = list ? f.layout : FieldLayout::span;
  f.min_align = v.min_align;
  f.interleaved = v.interleaved;
  f.host_size = 16;
  return f;
}

// Vector<T>: state, or Vector<Input<...>>: a vector of edges.
std::optional<Field> outer_vector(const Wrapper& w) {
  const VectorArguments v = vector_arguments(w);
  const auto inner = as_wrapper(v.element);
  const auto kind = inner ? edge_kind(inner->name) : std::nullopt;
  if (!kind) {
    const auto type = element(v.element);
    if (!type) return std::nullopt;
    Field f;
    f.shape = FieldShape::vector;
    f.type = *type;
    f.layout = vector_layout(v.layout);
    f.min_align = v.min_align;
    f.interleaved = v.interleaved;
    f.host_size = 16;
    return f;
  }
  auto f = edge(*kind, inner->arguments[0].getAsType());
  if (!f || f->shape == FieldShape::vector_list) return std::nullopt;
  f->scalar_rows = f->shape == FieldShape::scalar;
  f->inner_layout = f->scalar_rows ? FieldLayout::one_ptr : f->layout;
  f->layout = vector_layout(v.layout);
  f->shape = FieldShape::vector_of_vectors;
  f->host_size = 16;
  return f;
}

}  // namespace

std::optional<Field> classify_field(QualType type, const ASTContext& context) {
  const QualType canonical = type.getCanonicalType().getUnqualifiedType();
  if (const auto w = as_wrapper(canonical)) {
    if (const auto kind = edge_kind(w->name)) return edge(*kind, w->arguments[0].getAsType());
    if (w->name == "Vector") return outer_vector(*w);
    return std::nullopt;
  }
  const auto state = element(canonical);
  if (!state) return std::nullopt;
  Field f;
  f.type = *state;
  f.min_align = static_cast<std::uint32_t>(size_of(*state));
  f.host_size = static_cast<std::uint32_t>(context.getTypeSizeInChars(canonical).getQuantity());
  return f;
}

}  // namespace pando::popc
