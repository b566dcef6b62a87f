#include "facade/builtin_codelets.h"

#include <cstring>

namespace pando::facade {

namespace {

struct CycleDifference {
  VectorEdge begin, end;
};

bool run_cycle_difference(char* first, std::uint64_t stride, std::uint64_t count, std::uint64_t*) {
  for (std::uint64_t i = 0; i < count; ++i) {
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

Field stamp_field(const char* name, FieldKind kind, std::uint32_t offset) {
  Field f;
  f.name = name;
  f.kind = kind;
  f.shape = FieldShape::vector;
  f.type = ElementType::unsigned_int;
  f.layout = FieldLayout::one_ptr;
  f.min_align = 4;
  f.host_offset = offset;
  f.host_size = sizeof(VectorEdge);
  return f;
}

}  // namespace

void add_builtin_codelets(Library& library) {
  if (library.find(kCycleDifference)) return;
  Codelet c;
  c.name = kCycleDifference;
  c.fields = {stamp_field("begin", FieldKind::input, 0), stamp_field("end", FieldKind::inout, sizeof(VectorEdge))};
  c.host_size = sizeof(CycleDifference);
  c.host_align = alignof(CycleDifference);
  c.code_bytes = 64;
  c.kernel = run_cycle_difference;
  library.add_builtin("pando built-in codelets", {c});
}

}  // namespace pando::facade
