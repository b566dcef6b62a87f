#include "graph/convert.h"

#include "base/error.h"
#include "base/values/convert.h"
#include "base/values/element_text.h"

namespace pando::graph {

namespace {

// An unsigned number of the host may stand for a negative one of the same size.
bool wraps(ElementType from, ElementType to) {
  const bool natural_number = !is_signed(from) && from != ElementType::boolean && from != ElementType::quarter_metadata;
  return natural_number && is_signed(to) && !is_floating(to) && size_of(from) == size_of(to);
}

// The signed type of an unsigned one's size.
ElementType signed_of(ElementType to) {
  switch (size_of(to)) {
    case 1: return ElementType::signed_char;
    case 2: return ElementType::short_;
    case 4: return ElementType::int_;
    default: return ElementType::long_long;
  }
}

bool is_unsigned(ElementType t) { return wraps(t, signed_of(t)); }

bool is_quarter(ElementType t) { return t == ElementType::quarter || t == ElementType::quarter_metadata; }

void reject_loss(ElementType from, const char* element, ElementType to, const std::string& what) {
  switch (loss_of(from, element, to)) {
    case Loss::none: return;
    case Loss::fraction:
      fail(ErrorKind::type_error, "value-has-fraction", "{}: {} is not a value of type {}", what, element_text(from, element), name_of(to));
    case Loss::range:
      fail(ErrorKind::overflow_error, "value-out-of-range", "{}: {} is out of the range of {}", what, element_text(from, element),
           name_of(to));
  }
}

}  // namespace

std::string convert_elements(std::string_view bytes, ElementType from, ElementType to, const std::string& what, Negative negative) {
  if (from == to || wraps(from, to)) return std::string(bytes);
  if (is_quarter(from) || is_quarter(to))
    fail(ErrorKind::type_error, "no-conversion", "{}: there is no conversion from {} to {}", what, name_of(from), name_of(to));
  const std::size_t n = bytes.size() / size_of(from);
  const bool may_be_bits = negative == Negative::bits && is_signed(from) && !is_floating(from) && is_unsigned(to);
  const auto element = [&](std::size_t i) { return bytes.data() + i * size_of(from); };
  const auto by_bits = [&](std::size_t i) {
    return may_be_bits && loss_of(from, element(i), to) == Loss::range && loss_of(from, element(i), signed_of(to)) == Loss::none;
  };
  for (std::size_t i = 0; i < n; ++i)
    if (!by_bits(i)) reject_loss(from, element(i), to, what);
  std::string out(n * size_of(to), '\0');
  convert_values({from}, bytes.data(), {to}, out.data(), n);
  for (std::size_t i = 0; i < n && may_be_bits; ++i)
    if (by_bits(i)) convert_values({from}, element(i), {signed_of(to)}, out.data() + i * size_of(to), 1);
  return out;
}

}  // namespace pando::graph
