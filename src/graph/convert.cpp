#include "graph/convert.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "base/error.h"

namespace pando::graph {

namespace {

// An element's value: an integer with its sign kept exactly, or a double.
struct Value {
  enum class Kind { negative, positive, real } kind = Kind::positive;
  std::int64_t negative = 0;
  std::uint64_t positive = 0;
  double real = 0;
};

template <class T>
T load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof(T));
  return value;
}

Value integer(std::int64_t v) {
  Value value;
  if (v < 0)
    value.kind = Value::Kind::negative, value.negative = v;
  else
    value.positive = static_cast<std::uint64_t>(v);
  return value;
}
Value natural(std::uint64_t v) {
  Value value;
  value.positive = v;
  return value;
}
Value real(double v) {
  Value value;
  value.kind = Value::Kind::real;
  value.real = v;
  return value;
}

Value read(const char* p, ElementType type) {
  switch (type) {
    case ElementType::boolean: return natural(load<std::uint8_t>(p) != 0);
    case ElementType::char_:
    case ElementType::signed_char: return integer(load<std::int8_t>(p));
    case ElementType::unsigned_char: return natural(load<std::uint8_t>(p));
    case ElementType::short_: return integer(load<std::int16_t>(p));
    case ElementType::unsigned_short: return natural(load<std::uint16_t>(p));
    case ElementType::int_: return integer(load<std::int32_t>(p));
    case ElementType::unsigned_int: return natural(load<std::uint32_t>(p));
    case ElementType::long_:
    case ElementType::long_long: return integer(load<std::int64_t>(p));
    case ElementType::unsigned_long:
    case ElementType::unsigned_long_long: return natural(load<std::uint64_t>(p));
    case ElementType::half: return real(float_from_half(load<std::uint16_t>(p)));
    case ElementType::float_: return real(load<float>(p));
    case ElementType::double_: return real(load<double>(p));
    case ElementType::quarter:
    case ElementType::quarter_metadata: break;
  }
  return {};
}

std::string text(const Value& v) {
  if (v.kind == Value::Kind::negative) return std::to_string(v.negative);
  if (v.kind == Value::Kind::positive) return std::to_string(v.positive);
  return fmt::format("{}", v.real);
}

struct Target {
  ElementType type;
  const std::string& what;
};

[[noreturn]] void out_of_range(const Value& v, const Target& t) {
  fail(ErrorKind::overflow_error, "value-out-of-range", "{}: {} is out of the range of {}", t.what, text(v), name_of(t.type));
}

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <class T>
void put_integer(std::string& out, Value v, const Target& t) {
  if (v.kind == Value::Kind::real) {
    if (v.real != std::trunc(v.real) && std::isfinite(v.real))
      fail(ErrorKind::type_error, "value-has-fraction", "{}: {} is not a value of type {}", t.what, text(v), name_of(t.type));
    if (!(v.real >= -0x1p63 && v.real < 0x1p64)) out_of_range(v, t);
    v = v.real < 0 ? integer(static_cast<std::int64_t>(v.real)) : natural(static_cast<std::uint64_t>(v.real));
  }
  if (v.kind == Value::Kind::negative) {
    if (v.negative < static_cast<std::int64_t>(std::numeric_limits<T>::min()) || !std::numeric_limits<T>::is_signed) out_of_range(v, t);
    return put(out, static_cast<T>(v.negative));
  }
  if (v.positive > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) out_of_range(v, t);
  put(out, static_cast<T>(v.positive));
}

void put_real(std::string& out, const Value& v, const Target& t) {
  const double value = v.kind == Value::Kind::real       ? v.real
                       : v.kind == Value::Kind::negative ? static_cast<double>(v.negative)
                                                         : static_cast<double>(v.positive);
  if (t.type == ElementType::double_) return put(out, value);
  const auto narrow = static_cast<float>(value);
  if (std::isinf(narrow) && !std::isinf(value)) out_of_range(v, t);
  if (t.type == ElementType::float_) return put(out, narrow);
  const std::uint16_t bits = half_from_float(narrow);
  if ((bits & 0x7fffu) == 0x7c00u && !std::isinf(value)) out_of_range(v, t);
  put(out, bits);
}

void write(std::string& out, const Value& v, const Target& t) {
  switch (t.type) {
    case ElementType::boolean:
      return put<std::uint8_t>(out, v.kind == Value::Kind::real ? v.real != 0 : v.kind == Value::Kind::negative || v.positive != 0);
    case ElementType::char_:
    case ElementType::signed_char: return put_integer<std::int8_t>(out, v, t);
    case ElementType::unsigned_char: return put_integer<std::uint8_t>(out, v, t);
    case ElementType::short_: return put_integer<std::int16_t>(out, v, t);
    case ElementType::unsigned_short: return put_integer<std::uint16_t>(out, v, t);
    case ElementType::int_: return put_integer<std::int32_t>(out, v, t);
    case ElementType::unsigned_int: return put_integer<std::uint32_t>(out, v, t);
    case ElementType::long_:
    case ElementType::long_long: return put_integer<std::int64_t>(out, v, t);
    case ElementType::unsigned_long:
    case ElementType::unsigned_long_long: return put_integer<std::uint64_t>(out, v, t);
    default: return put_real(out, v, t);
  }
}

// An unsigned number of the host may stand for a negative one of the same size.
bool wraps(ElementType from, ElementType to) {
  const bool natural_number = !is_signed(from) && from != ElementType::boolean && from != ElementType::quarter_metadata;
  return natural_number && is_signed(to) && !is_floating(to) && size_of(from) == size_of(to);
}

bool is_quarter(ElementType t) { return t == ElementType::quarter || t == ElementType::quarter_metadata; }

}  // namespace

std::string convert_elements(std::string_view bytes, ElementType from, ElementType to, const std::string& what) {
  if (from == to || wraps(from, to)) return std::string(bytes);
  if (is_quarter(from) || is_quarter(to))
    fail(ErrorKind::type_error, "no-conversion", "{}: there is no conversion from {} to {}", what, name_of(from), name_of(to));
  std::string out;
  out.reserve(bytes.size() / size_of(from) * size_of(to));
  for (std::size_t i = 0; i + size_of(from) <= bytes.size(); i += size_of(from)) write(out, read(bytes.data() + i, from), {to, what});
  return out;
}

}  // namespace pando::graph
