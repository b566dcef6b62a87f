#include <cstring>

#include "codelet/hand_made.h"
#include "facade/builtin/builtin_codelets.h"

namespace pando::facade {

namespace {

struct CycleDifference {
  VectorEdge begin, end;
};

bool run_cycle_difference(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t* at) {
  for (std::uint64_t i = 0; i < count; ++i) {
    *at = i;
    CycleDifference v;
    std::memcpy(&v, first + i * stride, sizeof v);
    std::uint64_t begin = 0, end = 0;
    std::memcpy(&begin, v.begin.data, 8);
    std::memcpy(&end, v.end.data, 8);
    end -= begin;
    std::memcpy(v.end.data, &end, 8);
  }
  return true;
}

Field stamp_field(const char* name, FieldKind kind) {
  Field f = hand_made_field(name, kind, FieldShape::vector, ElementType::unsigned_int);
  f.layout = FieldLayout::one_ptr;
  return f;
}

}  // namespace

Codelet cycle_difference() {
  Codelet c = hand_made_codelet<CycleDifference>(
      kCycleDifference, {stamp_field("begin", FieldKind::input), stamp_field("end", FieldKind::inout)}, run_cycle_difference);
  c.code_bytes = 64;
  return c;
}

}  // namespace pando::facade
