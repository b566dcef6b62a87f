#include "codelet/store/codelet.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace pando {

namespace {

constexpr std::uint64_t kUnlimited = 0xffffffffu;

// Bytes of the descriptor of a vector in the target's layout. SPAN: pointer and size, 32 bits each. SHORT_SPAN: one word of 21
// bits of address and 11 of size. Scaled pointers: 16 bits. COMPACT_PTR: 21 bits, stored in a word.
std::uint64_t vector_bytes(FieldLayout layout) {
  switch (layout) {
    case FieldLayout::span: return 8;
    case FieldLayout::scaled_ptr32:
    case FieldLayout::scaled_ptr64:
    case FieldLayout::scaled_ptr128: return 2;
    default: return 4;
  }
}

// A row of a vector list: DELTAN and COMPACT_DELTAN: offset and byte count packed in a word; DELTANELEMENTS: the same with an
// element count.
std::uint64_t list_row_bytes(FieldLayout layout) {
  switch (layout) {
    case FieldLayout::scaled_ptr32:
    case FieldLayout::scaled_ptr64:
    case FieldLayout::scaled_ptr128: return 2;
    default: return 4;
  }
}

std::uint64_t list_head_bytes(FieldLayout layout) {
  switch (layout) {
    case FieldLayout::delta_n:
    case FieldLayout::delta_n_elements: return 12;  // base, rows' table, number of rows
    case FieldLayout::compact_delta_n: return 8;
    default: return 4;
  }
}

struct Placed {
  std::uint64_t size;
  std::uint64_t align;
};

Placed placed(const Field& f) {
  switch (f.shape) {
    case FieldShape::scalar: {
      const std::uint64_t size = f.is_edge() ? 4 : size_of(f.type);
      return {size, size};
    }
    case FieldShape::vector:
    case FieldShape::vector_of_vectors: {
      const std::uint64_t size = vector_bytes(f.layout);
      return {size, std::min<std::uint64_t>(size, 4)};
    }
    case FieldShape::vector_list: return {list_head_bytes(f.layout), 4};
  }
  return {0, 1};
}

std::uint64_t rows_bytes(const Field& f, std::uint64_t rows) {
  if (f.shape == FieldShape::vector_list) return rows * list_row_bytes(f.layout);
  if (f.shape != FieldShape::vector_of_vectors) return 0;
  return rows * (f.scalar_rows ? 4 : vector_bytes(f.inner_layout));
}

std::uint64_t aligned(std::uint64_t n, std::uint64_t align) { return (n + align - 1) / align * align; }

// Bits of the count in a layout; what a wider tensor does not fit in.
std::uint64_t size_limit(FieldLayout layout) {
  switch (layout) {
    case FieldLayout::short_span: return (1u << 11) - 1;
    case FieldLayout::delta_n:
    case FieldLayout::delta_n_elements: return (1u << 14) - 1;
    case FieldLayout::compact_delta_n: return (1u << 14) - 1;
    default: return kUnlimited;
  }
}

}  // namespace

const Field* Codelet::find_field(std::string_view field) const {
  for (const Field& f : fields)
    if (f.name == field) return &f;
  return nullptr;
}

std::uint64_t Codelet::target_state_bytes(const std::vector<std::uint32_t>& row_counts) const {
  PANDO_CHECK(row_counts.empty() || row_counts.size() == fields.size());
  std::uint64_t end = 0, rows = 0;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Placed p = placed(fields[i]);
    end = aligned(end, p.align) + p.size;
    if (!row_counts.empty()) rows += aligned(rows_bytes(fields[i], row_counts[i]), 4);
  }
  return aligned(end, 4) + rows;
}

std::uint64_t max_field_size(const Field& field, unsigned dim) {
  if (field.shape == FieldShape::scalar) return 1;
  if (field.shape == FieldShape::vector) return size_limit(field.layout);
  if (field.shape == FieldShape::vector_list) return dim == 0 ? kUnlimited : size_limit(field.layout);
  if (dim == 0) return size_limit(field.layout);
  return field.scalar_rows ? 1 : size_limit(field.inner_layout);
}

double max_field_value(const Field& field) {
  switch (field.type) {
    case ElementType::boolean: return 1;
    case ElementType::half: return 65504;
    case ElementType::float_: return std::numeric_limits<float>::max();
    case ElementType::double_: return std::numeric_limits<double>::max();
    case ElementType::quarter: return 57344;  // F152, scale 0
    default: return std::ldexp(1.0, static_cast<int>(8 * size_of(field.type)) - (is_signed(field.type) ? 1 : 0)) - 1;
  }
}

}  // namespace pando
