// Descriptions of codelets whose kernels are functions of this process: built-in ones, tests, benchmarks. popc writes all others.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codelet/store/codelet.h"

namespace pando {

inline Field hand_made_field(std::string name, FieldKind kind, FieldShape shape = FieldShape::vector,
                             ElementType type = ElementType::float_) {
  Field f;
  f.name = std::move(name);
  f.kind = kind;
  f.shape = shape;
  f.type = type;
  f.min_align = static_cast<std::uint32_t>(size_of(type));
  f.host_size = shape != FieldShape::scalar ? static_cast<std::uint32_t>(sizeof(VectorEdge))
                : kind == FieldKind::state  ? f.min_align
                                            : static_cast<std::uint32_t>(sizeof(void*));
  return f;
}

inline bool no_work(char*, std::uint64_t, std::uint64_t, std::uint64_t*) { return true; }

// Fields lie in the descriptor as the members of a class do that is declared in the same order.
inline Codelet hand_made_codelet(std::string name, std::vector<Field> fields, KernelRange kernel = no_work) {
  Codelet c;
  c.name = std::move(name);
  c.kernel = kernel;
  const auto align_up = [](std::uint32_t n, std::uint32_t align) { return (n + align - 1) / align * align; };
  for (Field& f : fields) {
    const std::uint32_t align = std::min<std::uint32_t>(f.host_size, sizeof(void*));
    f.host_offset = align_up(c.host_size, align);
    c.host_size = f.host_offset + f.host_size;
    c.host_align = std::max(c.host_align, align);
  }
  c.host_size = align_up(c.host_size, c.host_align);
  c.fields = std::move(fields);
  return c;
}

// The kernel reads descriptors as objects of this class.
template <class Object>
Codelet hand_made_codelet(std::string name, std::vector<Field> fields, KernelRange kernel) {
  Codelet c = hand_made_codelet(std::move(name), std::move(fields), kernel);
  PANDO_CHECK(c.host_size == sizeof(Object) && c.host_align == alignof(Object));
  return c;
}

}  // namespace pando
