// The classes of popops/Expr.hpp.
#include <popops/Expr.hpp>
#include <popops/ExprOpUtils.hpp>
#include "poplibs/poputil/reject.h"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <sstream>

#include <poputil/exceptions.hpp>

namespace popops::expr {

namespace {

template <class T>
T read(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <class Op>
std::string name_of(Op op) {
  using namespace ostream_ext;
  std::ostringstream out;
  out << op;
  return out.str();
}

// Letters, digits and '_' only.
std::string identifier(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = c == '-' ? 'm' : c == '.' ? 'p' : '_';
  return text;
}

// "Name(" arguments ")", in one line or indented.
void print_node(std::ostream& os, const std::string& name, std::initializer_list<const Expr*> arguments, unsigned indent, bool pretty) {
  const std::string margin = pretty ? std::string(indent, ' ') : "";
  os << margin << name << '(';
  bool first = true;
  for (const Expr* e : arguments) {
    os << (first ? "" : ",") << (pretty ? "\n" : first ? "" : " ");
    e->print(os, indent + 2, pretty);
    first = false;
  }
  os << ')';
}

}  // namespace

Expr::~Expr() = default;

std::ostream& operator<<(std::ostream& os, const Expr& expr) {
  expr.print(os, 0, false);
  return os;
}
bool deepEquals(const Expr& a, const Expr& b) { return a.deepEquals(b); }

// A class is known by the address of a function of its own.
#define POPOPS_CLASS_OF(Class)  \
  namespace {                   \
  void identity_of_##Class() {} \
  }                             \
  Expr::ExprClassID Class::classOf() { return &identity_of_##Class; }
POPOPS_CLASS_OF(Const)
POPOPS_CLASS_OF(Cast)
POPOPS_CLASS_OF(PlaceHolder)
POPOPS_CLASS_OF(UnaryOp)
POPOPS_CLASS_OF(BinaryOp)
POPOPS_CLASS_OF(TernaryOp)
#undef POPOPS_CLASS_OF

Const::Const(poplar::TypeTraits traits, poplar::Type t, const char* value) : typeTraits(traits), type(t), data(new char[traits.size]) {
  std::memcpy(data.get(), value, traits.size);
}
Const::Const(const Const& other) : Const(other.typeTraits, other.type, other.data.get()) {}
Const& Const::operator=(const Const& other) { return *this = Const(other); }

double Const::getDataAsDouble() const {
  if (typeTraits.isFloat) return typeTraits.size == 4 ? static_cast<double>(read<float>(data.get())) : read<double>(data.get());
  const std::uint64_t bits = getDataForUnsignedIntegral();
  return typeTraits.isSigned ? static_cast<double>(static_cast<std::int64_t>(bits)) : static_cast<double>(bits);
}

std::uint64_t Const::getDataForUnsignedIntegral() const {
  if (!typeTraits.isIntegral) poputil::reject("no-integer", "{}", "Const::getDataForUnsignedIntegral: " + printValue() + " is no integer");
  const char* d = data.get();
  const bool s = typeTraits.isSigned;
  switch (typeTraits.size) {
    case 1: return s ? static_cast<std::uint64_t>(read<std::int8_t>(d)) : read<std::uint8_t>(d);
    case 2: return s ? static_cast<std::uint64_t>(read<std::int16_t>(d)) : read<std::uint16_t>(d);
    case 4: return s ? static_cast<std::uint64_t>(read<std::int32_t>(d)) : read<std::uint32_t>(d);
    default: return read<std::uint64_t>(d);
  }
}

std::string Const::printValue() const {
  if (typeTraits.isFloat) return typeTraits.size == 4 ? fmt::format("{}", read<float>(data.get())) : fmt::format("{}", getDataAsDouble());
  const std::uint64_t bits = getDataForUnsignedIntegral();
  return typeTraits.isSigned ? std::to_string(static_cast<std::int64_t>(bits)) : std::to_string(bits);
}

std::unique_ptr<Expr> Const::clone() const { return std::make_unique<Const>(*this); }
std::string Const::name(const std::vector<poplar::Tensor>&) const { return identifier("Const_" + type.toString() + "_" + printValue()); }
bool Const::deepEquals(const Expr& other) const {
  const Const* c = other.getAs<Const>();
  return c != nullptr && type == c->type && typeTraits == c->typeTraits && std::memcmp(data.get(), c->data.get(), typeTraits.size) == 0;
}
void Const::print(std::ostream& os, unsigned indent, bool prettyPrint) const {
  os << (prettyPrint ? std::string(indent, ' ') : "") << (type == poplar::HALF ? "ConstHalf(" : "Const(") << printValue() << ')';
}

std::unique_ptr<Expr> Cast::clone() const { return std::make_unique<Cast>(*this); }
std::string Cast::name(const std::vector<poplar::Tensor>& inputs) const {
  return identifier("Cast_" + bType.toString() + "_" + a->name(inputs));
}
bool Cast::deepEquals(const Expr& other) const {
  const Cast* c = other.getAs<Cast>();
  return c != nullptr && bType == c->bType && a->deepEquals(*c->a);
}
void Cast::print(std::ostream& os, unsigned indent, bool prettyPrint) const {
  print_node(os, "Cast<" + bType.toString() + ">", {a.get()}, indent, prettyPrint);
}

std::unique_ptr<Expr> PlaceHolder::clone() const { return std::make_unique<PlaceHolder>(*this); }
std::string PlaceHolder::name(const std::vector<poplar::Tensor>& inputs) const {
  const std::string type = index >= 1 && index <= inputs.size() ? inputs[index - 1].elementType().toString() : "";
  return identifier("_" + std::to_string(index) + (type.empty() ? "" : "_" + type));
}
bool PlaceHolder::deepEquals(const Expr& other) const {
  const PlaceHolder* p = other.getAs<PlaceHolder>();
  return p != nullptr && index == p->index;
}
void PlaceHolder::print(std::ostream& os, unsigned indent, bool prettyPrint) const {
  os << (prettyPrint ? std::string(indent, ' ') : "") << '_' << index;
}

std::unique_ptr<Expr> UnaryOp::clone() const { return std::make_unique<UnaryOp>(*this); }
std::string UnaryOp::name(const std::vector<poplar::Tensor>& inputs) const { return name_of(type) + "_" + exprName(inputs); }
bool UnaryOp::deepEquals(const Expr& other) const {
  const UnaryOp* o = other.getAs<UnaryOp>();
  return o != nullptr && type == o->type && a->deepEquals(*o->a);
}
void UnaryOp::print(std::ostream& os, unsigned indent, bool prettyPrint) const {
  print_node(os, name_of(type), {a.get()}, indent, prettyPrint);
}

std::unique_ptr<Expr> BinaryOp::clone() const { return std::make_unique<BinaryOp>(*this); }
std::string BinaryOp::name(const std::vector<poplar::Tensor>& inputs) const { return name_of(type) + "_" + exprName(inputs); }
bool BinaryOp::deepEquals(const Expr& other) const {
  const BinaryOp* o = other.getAs<BinaryOp>();
  return o != nullptr && type == o->type && a->deepEquals(*o->a) && b->deepEquals(*o->b);
}
void BinaryOp::print(std::ostream& os, unsigned indent, bool prettyPrint) const {
  print_node(os, name_of(type), {a.get(), b.get()}, indent, prettyPrint);
}

std::unique_ptr<Expr> TernaryOp::clone() const { return std::make_unique<TernaryOp>(*this); }
std::string TernaryOp::name(const std::vector<poplar::Tensor>& inputs) const { return name_of(type) + "_" + exprName(inputs); }
bool TernaryOp::deepEquals(const Expr& other) const {
  const TernaryOp* o = other.getAs<TernaryOp>();
  return o != nullptr && type == o->type && a->deepEquals(*o->a) && b->deepEquals(*o->b) && c->deepEquals(*o->c);
}
void TernaryOp::print(std::ostream& os, unsigned indent, bool prettyPrint) const {
  print_node(os, name_of(type), {a.get(), b.get(), c.get()}, indent, prettyPrint);
}

}  // namespace popops::expr
