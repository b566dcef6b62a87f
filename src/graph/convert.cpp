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

bool is_quarter(ElementType t) { return t == ElementType::quarter || t == ElementType::quarter_metadata; }

void refuse_loss(ElementType from, const char* element, ElementType to, const std::string& what) {
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

std::string convert_elements(std::string_view bytes, ElementType from, ElementType to, const std::string& what) {
  if (from == to || wraps(from, to)) return std::string(bytes);
  if (is_quarter(from) || is_quarter(to))
    fail(ErrorKind::type_error, "no-conversion", "{}: there is no conversion from {} to {}", what, name_of(from), name_of(to));
  const std::size_t n = bytes.size() / size_of(from);
  for (std::size_t i = 0; i < n; ++i) refuse_loss(from, bytes.data() + i * size_of(from), to, what);
  std::string out(n * size_of(to), '\0');
  convert_values({from}, bytes.data(), {to}, out.data(), n);
  return out;
}

}  // namespace pando::graph
