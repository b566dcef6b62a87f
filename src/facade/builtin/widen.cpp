#include <cstring>

#include "codelet/hand_made.h"
#include "facade/builtin/builtin_codelets.h"

namespace pando::facade {

namespace {

struct Widen {
  const signed char* in;
  std::int32_t* out;
};

bool run_widen(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t* at) {
  for (std::uint64_t i = 0; i < count; ++i) {
    *at = i;
    Widen v;
    std::memcpy(&v, first + i * stride, sizeof v);
    *v.out = *v.in;
  }
  return true;
}

}  // namespace

Codelet widen() {
  Codelet c = hand_made_codelet<Widen>(kWiden,
                                       {hand_made_field("in", FieldKind::input, FieldShape::scalar, ElementType::signed_char),
                                        hand_made_field("out", FieldKind::output, FieldShape::scalar, ElementType::int_)},
                                       run_widen);
  c.code_bytes = 32;
  return c;
}

}  // namespace pando::facade
