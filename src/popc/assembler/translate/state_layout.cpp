#include "popc/assembler/translate/state_layout.h"

#include <bit>

namespace pando::popc {

namespace {

struct Record {
  StateForm form = StateForm::pointer;
  std::uint32_t bytes = 4, align = 4;
  std::uint8_t shift = 0;
};

Record record_of(FieldLayout layout) {
  switch (layout) {
    case FieldLayout::span: return {StateForm::span, 8, 4, 0};
    case FieldLayout::short_span: return {StateForm::short_span, 4, 4, 0};
    case FieldLayout::scaled_ptr32: return {StateForm::scaled_pointer, 2, 2, 2};
    case FieldLayout::scaled_ptr64: return {StateForm::scaled_pointer, 2, 2, 3};
    case FieldLayout::scaled_ptr128: return {StateForm::scaled_pointer, 2, 2, 4};
    default: return {};
  }
}

}  // namespace

std::vector<StateField> state_layout(const Codelet& codelet) {
  std::vector<StateField> out;
  std::uint32_t end = 0;
  for (const Field& f : codelet.fields) {
    StateField s;
    s.host_offset = f.host_offset;
    s.bytes = static_cast<std::uint32_t>(size_of(f.type));
    s.is_edge = f.is_edge() ? 1 : 0;
    Record r;
    if (f.shape == FieldShape::scalar && !f.is_edge()) {
      r = {StateForm::bytes, s.bytes, s.bytes, 0};
    } else if (f.shape == FieldShape::scalar) {
      s.is_edge = 2;
    } else if (f.shape == FieldShape::vector_list) {
      r = {StateForm::list, 8, 4, static_cast<std::uint8_t>(std::countr_zero(std::max(f.min_align, s.bytes)))};
    } else {
      r = record_of(f.layout);
    }
    if (f.shape == FieldShape::vector_of_vectors) {
      const Record inner = f.scalar_rows ? Record{} : record_of(f.inner_layout);
      s.rows = inner.form;
      r.shift = std::max(r.shift, inner.shift);
    }
    s.form = r.form;
    s.shift = r.shift;
    end = (end + r.align - 1) / r.align * r.align;
    s.offset = end;
    end += r.bytes;
    out.push_back(s);
  }
  return out;
}

}  // namespace pando::popc
