#include "base/values/convert.h"

#include <cstring>

#include "base/values/half.h"

namespace pando {

namespace {

// Storage of the elements that C++ has no type for.
struct Bool {
  std::uint8_t byte;
};
struct Half {
  std::uint16_t bits;
};
struct Quarter {
  std::uint8_t code;
};

template <class F>
decltype(auto) with_storage(ElementType t, F&& f) {
  switch (t) {
    case ElementType::boolean: return f(Bool{});
    case ElementType::char_:
    case ElementType::signed_char: return f(std::int8_t{});
    case ElementType::unsigned_char:
    case ElementType::quarter_metadata: return f(std::uint8_t{});
    case ElementType::short_: return f(std::int16_t{});
    case ElementType::unsigned_short: return f(std::uint16_t{});
    case ElementType::int_: return f(std::int32_t{});
    case ElementType::unsigned_int: return f(std::uint32_t{});
    case ElementType::long_:
    case ElementType::long_long: return f(std::int64_t{});
    case ElementType::unsigned_long:
    case ElementType::unsigned_long_long: return f(std::uint64_t{});
    case ElementType::quarter: return f(Quarter{});
    case ElementType::half: return f(Half{});
    case ElementType::float_: return f(float{});
    case ElementType::double_: break;
  }
  return f(double{});
}

template <class Stored>
auto number_in(Stored v, const ValueForm& form) {
  if constexpr (std::is_same_v<Stored, Bool>) {
    return v.byte != 0;
  } else if constexpr (std::is_same_v<Stored, Half>) {
    return float_from_half(v.bits);
  } else if constexpr (std::is_same_v<Stored, Quarter>) {
    return float_from_float8(form.format, v.code, form.scale);
  } else {
    return v;
  }
}

template <class Stored, class Number>
Stored stored(Number v, const ValueForm& form) {
  if constexpr (std::is_same_v<Stored, Bool>) {
    return {static_cast<std::uint8_t>(converted_number<bool>(v))};
  } else if constexpr (std::is_same_v<Stored, Half> && std::is_same_v<Number, float>) {
    return {half_from_float(v)};
  } else if constexpr (std::is_same_v<Stored, Half>) {
    return {half_from_double(static_cast<double>(v))};  // integers that a double rounds are beyond these formats anyway
  } else if constexpr (std::is_same_v<Stored, Quarter>) {
    return {float8_from_double(form.format, static_cast<double>(v), form.overflow, form.scale)};
  } else {
    return converted_number<Stored>(v);
  }
}

template <class T>
T load(const void* at) {
  T v;
  std::memcpy(&v, at, sizeof v);
  return v;
}

bool same_form(const ValueForm& a, const ValueForm& b) {
  return a.type == b.type && (a.type != ElementType::quarter || (a.format == b.format && a.scale == b.scale));
}

// Whether an integer is one of another type.
template <class To, class From>
bool has_integer(From v) {
  if (v < From(0)) return std::is_signed_v<To> && static_cast<std::int64_t>(v) >= static_cast<std::int64_t>(std::numeric_limits<To>::min());
  return static_cast<std::uint64_t>(v) <= static_cast<std::uint64_t>(std::numeric_limits<To>::max());
}

template <class To, class From>
Loss loss(From v) {
  using Number = decltype(number_in(To{}, ValueForm{}));
  constexpr bool to_integer = std::is_integral_v<Number>, from_integer = std::is_integral_v<From>;
  if constexpr (std::is_same_v<Number, bool> || std::is_same_v<To, Quarter>) {
    return Loss::none;
  } else if constexpr (from_integer && to_integer) {
    return has_integer<Number>(v) ? Loss::none : Loss::range;
  } else if constexpr (to_integer) {
    if (std::isfinite(v) && v != std::trunc(v)) return Loss::fraction;
    return v >= kIntegersFrom<Number, From> && v < kIntegersEnd<Number, From> ? Loss::none : Loss::range;
  } else {
    const auto n = number_in(stored<To>(v, {}), {});
    if constexpr (!from_integer)
      if (!std::isfinite(v)) return Loss::none;
    return std::isfinite(n) ? Loss::none : Loss::range;
  }
}

}  // namespace

void convert_values(const ValueForm& from, const void* in, const ValueForm& to, void* out, std::size_t n) {
  if (n == 0) return;
  if (same_form(from, to)) {
    std::memmove(out, in, n * size_of(from.type));
    return;
  }
  with_storage(from.type, [&]<class From>(From) {
    with_storage(to.type, [&]<class To>(To) {
      const char* source = static_cast<const char*>(in);
      char* target = static_cast<char*>(out);
      for (std::size_t i = 0; i < n; ++i) {
        const To v = stored<To>(number_in(load<From>(source + i * sizeof(From)), from), to);
        std::memcpy(target + i * sizeof(To), &v, sizeof v);
      }
    });
  });
}

Loss loss_of(ElementType from, const void* element, ElementType to) {
  if (from == ElementType::quarter) return Loss::none;
  return with_storage(
      from, [&]<class From>(From) { return with_storage(to, [&]<class To>(To) { return loss<To>(number_in(load<From>(element), {})); }); });
}

}  // namespace pando
