#include "simplify.h"

#include <cmath>
#include <cstring>

namespace popops::internal {

using namespace poplar;
namespace kernels = pando::kernels;
using kernels::Binary;
using kernels::Unary;

namespace {

double value_of(const Node& n) {
  double out = 0;
  float f = 0;
  switch (register_type(n.type)) {
    case kernels::Type::f32: std::memcpy(&f, &n.value, 4), out = static_cast<double>(f); break;
    case kernels::Type::boolean:
    case kernels::Type::u8: out = static_cast<double>(static_cast<std::uint8_t>(n.value)); break;
    case kernels::Type::i8: out = static_cast<double>(static_cast<std::int8_t>(n.value)); break;
    case kernels::Type::i16: out = static_cast<double>(static_cast<std::int16_t>(n.value)); break;
    case kernels::Type::u16: out = static_cast<double>(static_cast<std::uint16_t>(n.value)); break;
    case kernels::Type::i32: out = static_cast<double>(static_cast<std::int32_t>(n.value)); break;
    case kernels::Type::u32: out = static_cast<double>(static_cast<std::uint32_t>(n.value)); break;
    case kernels::Type::i64: out = static_cast<double>(static_cast<std::int64_t>(n.value)); break;
    default: out = static_cast<double>(n.value);
  }
  return out;
}

std::uint64_t bits_of_float(float f) {
  std::uint32_t bits;
  std::memcpy(&bits, &f, 4);
  return bits;
}

float rounded_to(const Type& type, float f) { return type == HALF ? static_cast<float>(static_cast<_Float16>(f)) : f; }

Node unary_node(Unary op, const Type& type, int argument) {
  Node n{NodeKind::unary, static_cast<std::uint8_t>(op), type};
  n.arguments[0] = argument;
  return n;
}

Node binary_node(Binary op, const Type& type, int a, int b) {
  Node n{NodeKind::binary, static_cast<std::uint8_t>(op), type};
  n.arguments = {a, b, -1};
  return n;
}

}  // namespace

std::uint64_t constant_bits(const Type& type, double value) {
  if (is_floating(type)) return bits_of_float(rounded_to(type, static_cast<float>(value)));
  if (type == BOOL) return value != 0;
  if (value < 0) return constant_bits(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)), true);
  return constant_bits(type, static_cast<std::uint64_t>(value), false);
}

std::uint64_t constant_bits(const Type& type, std::uint64_t integer, bool is_signed) {
  if (is_floating(type))
    return bits_of_float(
        rounded_to(type, is_signed ? static_cast<float>(static_cast<std::int64_t>(integer)) : static_cast<float>(integer)));
  if (type == BOOL) return integer != 0;
  const std::size_t bytes = kernels::size_of(kernel_type(type));
  return bytes == 8 ? integer : integer & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

bool NodeTable::is_constant(int node, double value) const {
  const Node& n = nodes_[static_cast<std::size_t>(node)];
  return n.kind == NodeKind::constant && value_of(n) == value && std::signbit(value_of(n)) == std::signbit(value);
}

int NodeTable::add(const Node& node) {
  if (optimise_) {
    if (const std::optional<std::uint64_t> value = folded(node)) {
      Node constant{NodeKind::constant, 0, node.type};
      constant.value = *value;
      return add(constant);
    }
    if (const std::optional<int> other = rewritten(node)) return *other;
    const auto [at, isNew] =
        known_.try_emplace({node.kind, node.op, node.type, node.arguments, node.operand, node.value}, static_cast<int>(nodes_.size()));
    if (!isNew) return at->second;
  }
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}

std::optional<std::uint64_t> NodeTable::folded(const Node& n) const {
  if (n.kind == NodeKind::operand || n.kind == NodeKind::constant) return {};
  for (const int a : n.arguments)
    if (a >= 0 && !is_constant(a)) return {};
  const Node& first = argument(n, 0);
  const kernels::Type type = register_type(first.type);
  const auto value = [&](unsigned i) { return &argument(n, i).value; };
  std::uint64_t out = 0;
  switch (n.kind) {
    case NodeKind::unary: pando_unary(static_cast<Unary>(n.op), type, value(0), &out, 1); break;
    case NodeKind::binary: pando_binary(static_cast<Binary>(n.op), type, value(0), value(1), &out, 1); break;
    case NodeKind::clamp: pando_clamp(type, value(0), value(1), value(2), &out, 1); break;
    case NodeKind::select: return *value(2) != 0 ? *value(0) : *value(1);
    default: pando_convert(type, register_type(n.type), value(0), &out, 1);
  }
  // A cast rounds; other values in half expressions are kept in float.
  if (n.kind == NodeKind::cast && n.type == HALF) {
    float f;
    std::memcpy(&f, &out, 4);
    return bits_of_float(rounded_to(HALF, f));
  }
  return out;
}

std::optional<int> NodeTable::rewritten(const Node& n) {
  switch (n.kind) {
    case NodeKind::unary: return rewritten_unary(n);
    case NodeKind::binary: return rewritten_binary(n);
    case NodeKind::cast:
      // A computed half has not been rounded yet.
      if (argument(n, 0).type == n.type && (n.type != HALF || argument(n, 0).kind == NodeKind::operand)) return n.arguments[0];
      return {};
    case NodeKind::select:
      if (n.arguments[0] == n.arguments[1]) return n.arguments[0];
      if (is_constant(n.arguments[2])) return n.arguments[argument(n, 2).value != 0 ? 0 : 1];
      return {};
    default: return {};
  }
}

std::optional<int> NodeTable::rewritten_unary(const Node& n) {
  const Unary op = static_cast<Unary>(n.op);
  const Node& a = argument(n, 0);
  if (a.kind != NodeKind::unary || a.op != n.op) return {};
  if (op == Unary::negate || op == Unary::logical_not || op == Unary::bitwise_not) return a.arguments[0];
  if (op == Unary::absolute) return n.arguments[0];
  return {};
}

std::optional<int> NodeTable::rewritten_binary(const Node& n) {
  const int a = n.arguments[0], b = n.arguments[1];
  const bool floating = is_floating(n.type);
  const auto negated = [&](unsigned i) {
    const Node& x = argument(n, i);
    return x.kind == NodeKind::unary && static_cast<Unary>(x.op) == Unary::negate;
  };
  switch (static_cast<Binary>(n.op)) {
    case Binary::add:
      if (is_constant(b, floating ? -0.0 : 0.0)) return a;
      if (is_constant(a, floating ? -0.0 : 0.0)) return b;
      if (negated(1)) return add(binary_node(Binary::subtract, n.type, a, argument(n, 1).arguments[0]));
      return {};
    case Binary::subtract:
      if (is_constant(b, 0)) return a;
      if (negated(1)) return add(binary_node(Binary::add, n.type, a, argument(n, 1).arguments[0]));
      return {};
    case Binary::multiply:
      if (is_constant(b, 1)) return a;
      if (is_constant(a, 1)) return b;
      return {};
    case Binary::divide: {
      if (is_constant(b, 1)) return a;
      if (!floating || !is_constant(b)) return {};
      int exponent = 0;
      const double divisor = value_of(argument(n, 1));
      if (std::abs(std::frexp(divisor, &exponent)) != 0.5 || std::abs(exponent) > (n.type == HALF ? 14 : 100)) return {};
      Node inverse{NodeKind::constant, 0, n.type};
      inverse.value = bits_of_float(static_cast<float>(1 / divisor));
      return add(binary_node(Binary::multiply, n.type, a, add(inverse)));
    }
    case Binary::power: return floating ? rewritten_power(n) : std::nullopt;
    default: return {};
  }
}

std::optional<int> NodeTable::rewritten_power(const Node& n) {
  const int a = n.arguments[0], b = n.arguments[1];
  if (is_constant(b, 1)) return a;
  if (is_constant(b, 2)) return add(unary_node(Unary::square, n.type, a));
  if (is_constant(b, -1)) return add(unary_node(Unary::inverse, n.type, a));
  if (is_constant(b, 0.5)) return add(unary_node(Unary::sqrt, n.type, a));
  if (is_constant(b, -0.5)) return add(unary_node(Unary::rsqrt, n.type, a));
  return {};
}

}  // namespace popops::internal
