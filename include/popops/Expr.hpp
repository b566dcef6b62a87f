#ifndef popops_Expr_hpp
#define popops_Expr_hpp

#include <poplar/Export.hpp>
#include <poplar/Tensor.hpp>
#include <poplar/Type.hpp>
#include <poplar/TypeTraits.hpp>
#include <popops/ExprOp.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace popops {
namespace expr {

/// An expression over the elements of tensors, for popops::map: a tree of placeholders (`_1` is the first tensor), constants,
/// casts and functions. Trees are written with the classes below and with operators: `Tanh(_1 * 0.5f + _2)`. Copies are deep.
class POPLAR_EXPORT Expr {
 public:
  virtual ~Expr();
  /// Which class is it?
  template <class T> bool isA() const { return classId == T::getClassId(); }
  /// This as a T; null if it is another class.
  template <class T> T* getAs() { return isA<T>() ? static_cast<T*>(this) : nullptr; }
  template <class T> const T* getAs() const { return isA<T>() ? static_cast<const T*>(this) : nullptr; }

  virtual std::unique_ptr<Expr> clone() const = 0;
  /// A name made of what the expression computes and of the types of its tensors: letters, digits and '_' only.
  virtual std::string name(const std::vector<poplar::Tensor>& inputs) const = 0;
  /// The same tree with the same functions and values?
  virtual bool deepEquals(const Expr& other) const = 0;
  /// Writes the expression: in one line, or as one line per node, indented.
  virtual void print(std::ostream& os, unsigned indent = 0, bool prettyPrint = true) const = 0;

 protected:
  using ExprClassID = void (*)();
  explicit Expr(ExprClassID id) : classId(id) {}
  Expr(const Expr&) = default;
  Expr& operator=(const Expr&) = default;
  ExprClassID classId;
};

/// Writes the expression in one line: "Add(_1, Const(2))".
POPLAR_EXPORT std::ostream& operator<<(std::ostream& os, const Expr& expr);
POPLAR_EXPORT bool deepEquals(const Expr& a, const Expr& b);

/// The base of class T, which it identifies.
template <class T> class ExprType : public Expr {
 public:
  ExprType() : Expr(getClassId()) {}

 private:
  friend class Expr;
  static ExprClassID getClassId() { return T::classOf(); }
};

/// Any expression, as a value.
class Any {
  std::unique_ptr<Expr> expr;

 public:
  Any(const Expr& e) : expr(e.clone()) {}
  Any(const Any& other) : expr(other.expr->clone()) {}
  Any(Any&&) = default;
  Any& operator=(const Any& other) {
    expr = other.expr->clone();
    return *this;
  }
  Any& operator=(Any&&) = default;
  operator Expr&() { return *expr; }
  operator const Expr&() const { return *expr; }
  std::string name(const std::vector<poplar::Tensor>& inputs) const { return expr->name(inputs); }
};

/// A constant. In an expression it takes the type of what it is combined with (`_1 * 2` with a FLOAT tensor is a product of
/// floats); alone it has the type of its host value, but FLOAT for double and the 32-bit type for long.
class POPLAR_EXPORT Const : public ExprType<Const> {
 public:
  template <class T, class = typename std::enable_if<poplar::TypeTraits::isSimpleType<T>(), T>::type> Const(T x) : Const(x, false) {}
  /// The value of the given host type at `value`.
  Const(poplar::TypeTraits traits, poplar::Type type, const char* value);
  Const(const Const&);
  Const(Const&&) = default;
  Const& operator=(const Const&);
  Const& operator=(Const&&) = default;

  /// The bytes of the host value.
  char* getData() const { return data.get(); }
  const poplar::TypeTraits& getTypeTraits() const { return typeTraits; }
  const poplar::Type& getType() const { return type; }
  std::string printValue() const;
  double getDataAsDouble() const;
  /// The bits of an integer, extended with its sign. Throws poputil::poplibs_error for other values.
  std::uint64_t getDataForUnsignedIntegral() const;

  std::unique_ptr<Expr> clone() const override;
  std::string name(const std::vector<poplar::Tensor>& inputs) const override;
  bool deepEquals(const Expr& other) const override;
  void print(std::ostream& os, unsigned indent = 0, bool prettyPrint = true) const override;
  static ExprClassID classOf();

 protected:
  template <class T> Const(T x, bool isHalf) : typeTraits(poplar::TypeTraits::make<T>()), data(new char[sizeof(T)]) {
    static_assert(std::is_integral<T>::value || std::is_floating_point<T>::value, "constants are integers or floating-point numbers");
    type = isHalf ? poplar::HALF : poplar::equivalent_device_type<T>().value;
    std::memcpy(data.get(), &x, sizeof(T));
  }

 private:
  poplar::TypeTraits typeTraits;
  poplar::Type type;
  std::unique_ptr<char[]> data;
};

/// A constant of type HALF.
class ConstHalf : public Const {
 public:
  ConstHalf(float x) : Const(x, true) {}
};

/// `1.5_half`
inline ConstHalf operator""_half(long double x) { return ConstHalf(static_cast<float>(x)); }

/// An expression converted to another type. Floats are truncated, and saturate, when they become integers.
class POPLAR_EXPORT Cast : public ExprType<Cast> {
  std::unique_ptr<Expr> a;
  poplar::Type bType;

 public:
  Cast(const Expr& expr, const poplar::Type type) : a(expr.clone()), bType(type) {}
  Cast(const Cast& other) : ExprType<Cast>(other), a(other.a->clone()), bType(other.bType) {}
  Cast(Cast&&) = default;
  Cast& operator=(const Cast& other) {
    a = other.a->clone();
    bType = other.bType;
    return *this;
  }
  Cast& operator=(Cast&&) = default;
  const Expr& getLHS() const { return *a; }
  const poplar::Type& getRHSType() const { return bType; }

  std::unique_ptr<Expr> clone() const override;
  std::string name(const std::vector<poplar::Tensor>& inputs) const override;
  bool deepEquals(const Expr& other) const override;
  void print(std::ostream& os, unsigned indent = 0, bool prettyPrint = true) const override;
  static ExprClassID classOf();
};

/// The elements of tensor `index`, counted from 1.
class POPLAR_EXPORT PlaceHolder : public ExprType<PlaceHolder> {
  unsigned index;

 public:
  PlaceHolder(unsigned i) : index(i) {}
  unsigned getIndex() const { return index; }

  std::unique_ptr<Expr> clone() const override;
  std::string name(const std::vector<poplar::Tensor>& inputs) const override;
  bool deepEquals(const Expr& other) const override;
  void print(std::ostream& os, unsigned indent = 0, bool prettyPrint = true) const override;
  static ExprClassID classOf();
};

const PlaceHolder _1(1);
const PlaceHolder _2(2);
const PlaceHolder _3(3);
const PlaceHolder _4(4);
const PlaceHolder _5(5);
const PlaceHolder _6(6);
const PlaceHolder _7(7);
const PlaceHolder _8(8);
const PlaceHolder _9(9);
const PlaceHolder _10(10);
const PlaceHolder _11(11);
const PlaceHolder _12(12);
const PlaceHolder _13(13);
const PlaceHolder _14(14);
const PlaceHolder _15(15);
const PlaceHolder _16(16);
const PlaceHolder _17(17);
const PlaceHolder _18(18);
const PlaceHolder _19(19);
const PlaceHolder _20(20);

/// A function of one expression.
class POPLAR_EXPORT UnaryOp : public ExprType<UnaryOp> {
  UnaryOpType type;
  std::unique_ptr<Expr> a;

 public:
  UnaryOp(UnaryOpType op, const Expr& x) : type(op), a(x.clone()) {}
  UnaryOp(const UnaryOp& other) : ExprType<UnaryOp>(other), type(other.type), a(other.a->clone()) {}
  UnaryOp(UnaryOp&&) = default;
  UnaryOp& operator=(const UnaryOp& other) {
    type = other.type;
    a = other.a->clone();
    return *this;
  }
  UnaryOp& operator=(UnaryOp&&) = default;
  UnaryOpType getOpType() const { return type; }
  const Expr& getArg() const { return *a; }

  std::unique_ptr<Expr> clone() const override;
  std::string name(const std::vector<poplar::Tensor>& inputs) const override;
  /// The name of the argument.
  std::string exprName(const std::vector<poplar::Tensor>& inputs) const { return a->name(inputs); }
  bool deepEquals(const Expr& other) const override;
  void print(std::ostream& os, unsigned indent = 0, bool prettyPrint = true) const override;
  static ExprClassID classOf();
};

/// A function of two expressions.
class POPLAR_EXPORT BinaryOp : public ExprType<BinaryOp> {
  BinaryOpType type;
  std::unique_ptr<Expr> a, b;

 public:
  BinaryOp(BinaryOpType op, const Expr& x, const Expr& y) : type(op), a(x.clone()), b(y.clone()) {}
  BinaryOp(const BinaryOp& other) : ExprType<BinaryOp>(other), type(other.type), a(other.a->clone()), b(other.b->clone()) {}
  BinaryOp(BinaryOp&&) = default;
  BinaryOp& operator=(const BinaryOp& other) { return *this = BinaryOp(other); }
  BinaryOp& operator=(BinaryOp&&) = default;
  BinaryOpType getOpType() const { return type; }
  const Expr& getLHS() const { return *a; }
  const Expr& getRHS() const { return *b; }

  std::unique_ptr<Expr> clone() const override;
  std::string name(const std::vector<poplar::Tensor>& inputs) const override;
  /// The names of the arguments.
  std::string exprName(const std::vector<poplar::Tensor>& inputs) const { return a->name(inputs) + "_" + b->name(inputs); }
  bool deepEquals(const Expr& other) const override;
  void print(std::ostream& os, unsigned indent = 0, bool prettyPrint = true) const override;
  static ExprClassID classOf();
};

/// A function of three expressions.
class POPLAR_EXPORT TernaryOp : public ExprType<TernaryOp> {
  TernaryOpType type;
  std::unique_ptr<Expr> a, b, c;

 public:
  TernaryOp(TernaryOpType op, const Expr& x, const Expr& y, const Expr& z) : type(op), a(x.clone()), b(y.clone()), c(z.clone()) {}
  TernaryOp(const TernaryOp& other)
      : ExprType<TernaryOp>(other), type(other.type), a(other.a->clone()), b(other.b->clone()), c(other.c->clone()) {}
  TernaryOp(TernaryOp&&) = default;
  TernaryOp& operator=(const TernaryOp& other) { return *this = TernaryOp(other); }
  TernaryOp& operator=(TernaryOp&&) = default;
  TernaryOpType getOpType() const { return type; }
  const Expr& getArg0() const { return *a; }
  const Expr& getArg1() const { return *b; }
  const Expr& getArg2() const { return *c; }

  std::unique_ptr<Expr> clone() const override;
  std::string name(const std::vector<poplar::Tensor>& inputs) const override;
  /// The names of the arguments.
  std::string exprName(const std::vector<poplar::Tensor>& inputs) const {
    return a->name(inputs) + "_" + b->name(inputs) + "_" + c->name(inputs);
  }
  bool deepEquals(const Expr& other) const override;
  void print(std::ostream& os, unsigned indent = 0, bool prettyPrint = true) const override;
  static ExprClassID classOf();
};

/// A class per function, with the operator that stands for it.
#define POPLIBS_DEFINE_EXPR_UNARY_OP(Name, Op)           \
  class Name : public UnaryOp {                          \
   public:                                               \
    Name(const Expr& a) : UnaryOp(UnaryOpType::Op, a) {} \
  };
#define POPLIBS_DEFINE_EXPR_UNARY_OP_AND_SYMBOL(Name, Op, Sym) \
  POPLIBS_DEFINE_EXPR_UNARY_OP(Name, Op)                       \
  inline Name operator Sym(const Expr& a) { return Name(a); }

POPLIBS_DEFINE_EXPR_UNARY_OP(Abs, ABSOLUTE)
POPLIBS_DEFINE_EXPR_UNARY_OP(Asin, ASIN)
POPLIBS_DEFINE_EXPR_UNARY_OP_AND_SYMBOL(BitwiseNot, BITWISE_NOT, ~)
POPLIBS_DEFINE_EXPR_UNARY_OP(Cbrt, CBRT)
POPLIBS_DEFINE_EXPR_UNARY_OP(Erf, ERF)
POPLIBS_DEFINE_EXPR_UNARY_OP(Ceil, CEIL)
POPLIBS_DEFINE_EXPR_UNARY_OP(Cos, COS)
POPLIBS_DEFINE_EXPR_UNARY_OP(Exp, EXPONENT)
POPLIBS_DEFINE_EXPR_UNARY_OP(Expm1, EXPONENT_MINUS_ONE)
POPLIBS_DEFINE_EXPR_UNARY_OP(Exp2, EXPONENT2)
POPLIBS_DEFINE_EXPR_UNARY_OP(Floor, FLOOR)
POPLIBS_DEFINE_EXPR_UNARY_OP(GeluErf, GELU_ERF)
POPLIBS_DEFINE_EXPR_UNARY_OP(Gelu, GELU)
POPLIBS_DEFINE_EXPR_UNARY_OP(GeluSlope, GELU_SLOPE)
POPLIBS_DEFINE_EXPR_UNARY_OP(Inv, INVERSE)
POPLIBS_DEFINE_EXPR_UNARY_OP(IsFinite, IS_FINITE)
POPLIBS_DEFINE_EXPR_UNARY_OP(IsInf, IS_INF)
POPLIBS_DEFINE_EXPR_UNARY_OP(IsNaN, IS_NAN)
POPLIBS_DEFINE_EXPR_UNARY_OP(Log, LOGARITHM)
POPLIBS_DEFINE_EXPR_UNARY_OP(Log1p, LOGARITHM_ONE_PLUS)
POPLIBS_DEFINE_EXPR_UNARY_OP_AND_SYMBOL(Not, LOGICAL_NOT, !)
POPLIBS_DEFINE_EXPR_UNARY_OP_AND_SYMBOL(Neg, NEGATE, -)
POPLIBS_DEFINE_EXPR_UNARY_OP(NearbyInt, NEARBY_INT)
POPLIBS_DEFINE_EXPR_UNARY_OP(Signum, SIGNUM)
POPLIBS_DEFINE_EXPR_UNARY_OP(Sin, SIN)
POPLIBS_DEFINE_EXPR_UNARY_OP(Tan, TAN)
POPLIBS_DEFINE_EXPR_UNARY_OP(Tanh, TANH)
POPLIBS_DEFINE_EXPR_UNARY_OP(Round, ROUND)
POPLIBS_DEFINE_EXPR_UNARY_OP(Trunc, TRUNC)
POPLIBS_DEFINE_EXPR_UNARY_OP(Sqrt, SQRT)
POPLIBS_DEFINE_EXPR_UNARY_OP(Square, SQUARE)
POPLIBS_DEFINE_EXPR_UNARY_OP(Sigmoid, SIGMOID)
POPLIBS_DEFINE_EXPR_UNARY_OP(Rsqrt, RSQRT)

/// `expression + 2.0f` has a constant on its right.
#define POPLIBS_DEFINE_EXPR_BINARY_OP(Name, Op)                              \
  class Name : public BinaryOp {                                             \
   public:                                                                   \
    Name(const Expr& a, const Expr& b) : BinaryOp(BinaryOpType::Op, a, b) {} \
  };
#define POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Name, Op, Sym)                                                                           \
  POPLIBS_DEFINE_EXPR_BINARY_OP(Name, Op)                                                                                                 \
  inline Name operator Sym(const Expr& a, const Expr& b) { return Name(a, b); }                                                           \
  template <class T> typename std::enable_if<poplar::TypeTraits::isSimpleType<T>(), Name>::type operator Sym(const T& a, const Expr& b) { \
    return Name(Const(a), b);                                                                                                             \
  }                                                                                                                                       \
  template <class T> typename std::enable_if<poplar::TypeTraits::isSimpleType<T>(), Name>::type operator Sym(const Expr& a, const T& b) { \
    return Name(a, Const(b));                                                                                                             \
  }

POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Add, ADD, +)
POPLIBS_DEFINE_EXPR_BINARY_OP(Atan2, ATAN2)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(BitwiseAnd, BITWISE_AND, &)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(BitwiseOr, BITWISE_OR, |)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(BitwiseXor, BITWISE_XOR, ^)
POPLIBS_DEFINE_EXPR_BINARY_OP(BitwiseXnor, BITWISE_XNOR)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Divide, DIVIDE, /)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Equal, EQUAL, ==)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Gte, GREATER_THAN_EQUAL, >=)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Gt, GREATER_THAN, >)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Lte, LESS_THAN_EQUAL, <=)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(And, LOGICAL_AND, &&)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Or, LOGICAL_OR, ||)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Lt, LESS_THAN, <)
POPLIBS_DEFINE_EXPR_BINARY_OP(InvStdDevToVariance, INV_STD_DEV_TO_VARIANCE)
POPLIBS_DEFINE_EXPR_BINARY_OP(Max, MAXIMUM)
POPLIBS_DEFINE_EXPR_BINARY_OP(Min, MINIMUM)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Mul, MULTIPLY, *)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(NotEqual, NOT_EQUAL, !=)
POPLIBS_DEFINE_EXPR_BINARY_OP(Pow, POWER)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Rem, REMAINDER, %)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Shl, SHIFT_LEFT, <<)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Shr, SHIFT_RIGHT, >>)
POPLIBS_DEFINE_EXPR_BINARY_OP(ShrSE, SHIFT_RIGHT_SIGN_EXTEND)
POPLIBS_DEFINE_EXPR_BINARY_OP_AND_SYMBOL(Sub, SUBTRACT, -)
POPLIBS_DEFINE_EXPR_BINARY_OP(VarianceToInvStdDev, VARIANCE_TO_INV_STD_DEV)

#define POPLIBS_DEFINE_EXPR_TERNARY_OP(Name, Op)                                                 \
  class Name : public TernaryOp {                                                                \
   public:                                                                                       \
    Name(const Expr& a, const Expr& b, const Expr& c) : TernaryOp(TernaryOpType::Op, a, b, c) {} \
  };

POPLIBS_DEFINE_EXPR_TERNARY_OP(Select, SELECT)
POPLIBS_DEFINE_EXPR_TERNARY_OP(Clamp, CLAMP)

}  // namespace expr
}  // namespace popops

#endif
