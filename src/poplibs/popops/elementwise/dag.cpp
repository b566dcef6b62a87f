#include "dag.h"
#include "poplibs/poputil/reject.h"

#include <popops/ExprOpUtils.hpp>
#include <poputil/exceptions.hpp>

#include <cmath>
#include <cstring>
#include <sstream>
#include <tuple>

#include "simplify.h"

namespace popops::internal {

using namespace poplar;
using namespace popops::expr;
namespace kernels = pando::kernels;

// The rows are in the order of the public enumerations, and none is missing.
#define PANDO_ROW(NAME, name, ...) static_assert(static_cast<unsigned>(UnaryOpType::NAME) == static_cast<unsigned>(kernels::Unary::name));
PANDO_UNARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
#define PANDO_ROW(NAME, name, ...) static_assert(static_cast<unsigned>(BinaryOpType::NAME) == static_cast<unsigned>(kernels::Binary::name));
PANDO_BINARY_ROWS(PANDO_ROW)
#undef PANDO_ROW
static_assert(static_cast<unsigned>(UnaryOpType::GELU_SLOPE) + 1 == static_cast<unsigned>(kernels::Unary::count) &&
              static_cast<unsigned>(BinaryOpType::VARIANCE_TO_INV_STD_DEV) + 1 == static_cast<unsigned>(kernels::Binary::count));

kernels::Type kernel_type(const Type& type) {
  using K = kernels::Type;
  if (type == FLOAT) return K::f32;
  if (type == HALF) return K::f16;
  if (type == BOOL) return K::boolean;
  if (type == CHAR || type == SIGNED_CHAR) return K::i8;
  if (type == UNSIGNED_CHAR) return K::u8;
  if (type == SHORT) return K::i16;
  if (type == UNSIGNED_SHORT) return K::u16;
  if (type == INT) return K::i32;
  if (type == UNSIGNED_INT) return K::u32;
  if (type == LONGLONG || type == LONG) return K::i64;
  if (type == UNSIGNED_LONGLONG || type == UNSIGNED_LONG) return K::u64;
  poputil::reject("no-such-type", "{}", "element-wise operation: there is none for elements of type " + type.toString());
}

kernels::Type register_type(const Type& type) { return type == HALF ? kernels::Type::f32 : kernel_type(type); }

std::vector<bool> Dag::needed() const {
  std::vector<bool> out(nodes.size());
  for (const int r : results) out[static_cast<std::size_t>(r)] = true;
  for (std::size_t i = nodes.size(); i-- > 0;)
    for (const int a : nodes[i].arguments)
      if (out[i] && a >= 0) out[static_cast<std::size_t>(a)] = true;
  return out;
}

namespace {

template <class Op>
std::string name_of(Op op) {
  using namespace ostream_ext;
  std::ostringstream out;
  out << op;
  return out.str();
}

bool is_logical(BinaryOpType op) { return op == BinaryOpType::LOGICAL_AND || op == BinaryOpType::LOGICAL_OR; }

class Builder {
 public:
  Builder(const std::vector<Type>& operands, bool optimise, const std::string& where)
      : operands_(operands), nodes_(optimise), where_(where) {}

  // The type of an expression whose type does not depend on its constants alone.
  std::optional<Type> known_type(const Expr& e) const {
    if (const PlaceHolder* p = e.getAs<PlaceHolder>()) return operand_type(*p);
    if (const expr::Cast* c = e.getAs<expr::Cast>()) return c->getRHSType();
    if (const UnaryOp* o = e.getAs<UnaryOp>()) {
      if (kernels::is_test(static_cast<kernels::Unary>(o->getOpType())) || o->getOpType() == UnaryOpType::LOGICAL_NOT) return BOOL;
      return known_type(o->getArg());
    }
    if (const BinaryOp* o = e.getAs<BinaryOp>()) {
      if (kernels::is_relation(static_cast<kernels::Binary>(o->getOpType())) || is_logical(o->getOpType())) return BOOL;
      return either({&o->getLHS(), &o->getRHS()});
    }
    if (const TernaryOp* o = e.getAs<TernaryOp>()) {
      if (o->getOpType() == TernaryOpType::SELECT) return either({&o->getArg0(), &o->getArg1()});
      return either({&o->getArg0(), &o->getArg1(), &o->getArg2()});
    }
    return {};
  }

  Type type_of(const Expr& e) const {
    const std::optional<Type> known = known_type(e);
    return known ? *known : constant_type(e);
  }

  int build(const Expr& e, const Type& type) {
    if (const Const* c = e.getAs<Const>()) return constant(*c, type);
    if (const PlaceHolder* p = e.getAs<PlaceHolder>()) {
      Node node{NodeKind::operand, 0, operand_type(*p)};
      node.operand = p->getIndex() - 1;
      return nodes_.add(node);
    }
    if (const expr::Cast* c = e.getAs<expr::Cast>()) {
      Node node{NodeKind::cast, 0, c->getRHSType()};
      kernel_type(node.type);
      node.arguments[0] = build(c->getLHS(), type_of(c->getLHS()));
      return nodes_.add(node);
    }
    if (const UnaryOp* o = e.getAs<UnaryOp>()) return unary(*o, type);
    if (const BinaryOp* o = e.getAs<BinaryOp>()) return binary(*o, type);
    if (const TernaryOp* o = e.getAs<TernaryOp>()) return ternary(*o, type);
    poputil::reject("expression-class", "{}", where_ + ": an expression of an unknown class");
  }

  std::vector<Node> take() { return nodes_.take(); }

 private:
  Type operand_type(const PlaceHolder& p) const {
    if (p.getIndex() < 1 || p.getIndex() > operands_.size())
      poputil::reject(
          "no-such-placeholder", "{}",
          where_ + ": placeholder _" + std::to_string(p.getIndex()) + ", but there are " + std::to_string(operands_.size()) + " tensors");
    return operands_[p.getIndex() - 1];
  }

  std::optional<Type> either(std::initializer_list<const Expr*> expressions) const {
    for (const Expr* e : expressions)
      if (const std::optional<Type> type = known_type(*e)) return type;
    return {};
  }

  // The type of constants among themselves: the first one's.
  Type constant_type(const Expr& e) const {
    if (const Const* c = e.getAs<Const>()) {
      if (c->getType() == DOUBLE) return FLOAT;
      if (c->getType() == LONG) return INT;
      if (c->getType() == UNSIGNED_LONG) return UNSIGNED_INT;
      return c->getType();
    }
    if (const UnaryOp* o = e.getAs<UnaryOp>()) return constant_type(o->getArg());
    if (const BinaryOp* o = e.getAs<BinaryOp>()) return constant_type(o->getLHS());
    return constant_type(e.getAs<TernaryOp>()->getArg0());
  }

  int constant(const Const& c, const Type& type) {
    Node node{NodeKind::constant, 0, type};
    const double value = c.getDataAsDouble();
    if (c.getTypeTraits().isIntegral)
      node.value = constant_bits(type, c.getDataForUnsignedIntegral(), c.getTypeTraits().isSigned);
    else if (type != FLOAT && type != HALF && value != std::trunc(value))
      poputil::reject(
          "constant-range", "{}",
          where_ + ": the constant " + c.printValue() + " does not fit type " + type.toString() + " of what it is combined with");
    else
      node.value = constant_bits(type, value);
    return nodes_.add(node);
  }

  void check(bool fits, const std::string& what, const std::string& found) const {
    if (!fits) poputil::reject("operand-type", "{}", where_ + ": " + what + " " + found);
  }

  int unary(const UnaryOp& o, const Type& wanted) {
    const kernels::Unary op = static_cast<kernels::Unary>(o.getOpType());
    const std::optional<Type> known = known_type(o.getArg());
    const bool test = kernels::is_test(op);
    const Type type = known ? *known : test ? constant_type(o.getArg()) : wanted;
    check(kernels::has(op, kernel_type(type)), name_of(o.getOpType()), "is not defined for type " + type.toString());
    Node node{NodeKind::unary, static_cast<std::uint8_t>(op), test ? BOOL : type};
    node.arguments[0] = build(o.getArg(), type);
    return nodes_.add(node);
  }

  // An argument whose type must be `type`.
  int argument(const Expr& e, const Type& type, const std::string& op) {
    const std::optional<Type> known = known_type(e);
    check(!known || *known == type, op, "has operands of types " + type.toString() + " and " + (known ? known->toString() : ""));
    return build(e, type);
  }

  int binary(const BinaryOp& o, const Type& wanted) {
    const kernels::Binary op = static_cast<kernels::Binary>(o.getOpType());
    const std::string name = name_of(o.getOpType());
    const bool relation = kernels::is_relation(op);
    const std::optional<Type> known = either({&o.getLHS(), &o.getRHS()});
    const Type type = known ? *known : relation ? constant_type(o.getLHS()) : wanted;
    check(kernels::has(op, kernel_type(type)), name, "is not defined for type " + type.toString());
    Node node{NodeKind::binary, static_cast<std::uint8_t>(op), relation ? BOOL : type};
    node.arguments[0] = argument(o.getLHS(), type, name);
    node.arguments[1] = argument(o.getRHS(), type, name);
    return nodes_.add(node);
  }

  int ternary(const TernaryOp& o, const Type& wanted) {
    const bool select = o.getOpType() == TernaryOpType::SELECT;
    const std::string name = name_of(o.getOpType());
    const std::optional<Type> known = known_type(o);
    Node node{select ? NodeKind::select : NodeKind::clamp, 0, known ? *known : wanted};
    check(select || node.type != BOOL, name, "is not defined for type " + node.type.toString());
    kernel_type(node.type);
    node.arguments[0] = argument(o.getArg0(), node.type, name);
    node.arguments[1] = argument(o.getArg1(), node.type, name);
    if (select) {
      const Type condition = type_of(o.getArg2());
      check(condition == BOOL, name, "has a condition of type " + condition.toString() + ", not bool");
    }
    node.arguments[2] = select ? build(o.getArg2(), BOOL) : argument(o.getArg2(), node.type, name);
    return nodes_.add(node);
  }

  const std::vector<Type>& operands_;
  NodeTable nodes_;
  const std::string& where_;
};

}  // namespace

namespace {

// Deeper ones would exhaust the stack: they are walked by recursion elsewhere.
constexpr unsigned kDeepest = 1000;

template <class Visit>
void walk(const Expr& root, const std::string& where, const Visit& visit) {
  std::vector<std::pair<const Expr*, unsigned>> open = {{&root, 1u}};
  while (!open.empty()) {
    const auto [e, depth] = open.back();
    open.pop_back();
    if (depth > kDeepest)
      poputil::reject("expression-depth", "{}", where + ": the expression nests deeper than " + std::to_string(kDeepest));
    visit(*e);
    const auto add = [&, below = depth + 1](const Expr& part) { open.emplace_back(&part, below); };
    if (const expr::Cast* c = e->getAs<expr::Cast>())
      add(c->getLHS());
    else if (const UnaryOp* u = e->getAs<UnaryOp>())
      add(u->getArg());
    else if (const BinaryOp* b = e->getAs<BinaryOp>())
      add(b->getLHS()), add(b->getRHS());
    else if (const TernaryOp* o = e->getAs<TernaryOp>())
      add(o->getArg0()), add(o->getArg1()), add(o->getArg2());
  }
}

}  // namespace

Dag build_dag(const std::vector<const Expr*>& expressions, const std::vector<Type>& operands, bool optimise, const std::string& where) {
  for (const Expr* e : expressions) walk(*e, where, [](const Expr&) {});
  Builder builder(operands, optimise, where);
  Dag dag;
  for (const Expr* e : expressions) dag.results.push_back(builder.build(*e, builder.type_of(*e)));
  dag.nodes = builder.take();
  return dag;
}

Type type_of(const Expr& expression, const std::vector<Type>& operands, const std::string& where) {
  walk(expression, where, [](const Expr&) {});
  return Builder(operands, false, where).type_of(expression);
}

void mark_operands(const Expr& expression, std::vector<bool>& used, const std::string& where) {
  walk(expression, where, [&](const Expr& e) {
    const PlaceHolder* p = e.getAs<PlaceHolder>();
    if (!p) return;
    if (p->getIndex() < 1 || p->getIndex() > used.size())
      poputil::reject(
          "no-such-placeholder", "{}",
          where + ": placeholder _" + std::to_string(p->getIndex()) + ", but there are " + std::to_string(used.size()) + " tensors");
    used[p->getIndex() - 1] = true;
  });
}

}  // namespace popops::internal
