// A field of quarter edges has a companion, which no source names: an input of one quarter_metadata that lies behind it in the descriptor
// (include/poplar/QuarterEdges.hpp). Whoever connects a tensor to the field connects the tensor's metadata to the companion.
#pragma once

#include <string>
#include <string_view>

#include "codelet/store/codelet.h"

namespace pando {

// No name of C++, so that no field of a source has it.
inline std::string metadata_field_name(std::string_view field) { return std::string(field) + ".metadata"; }

inline bool has_metadata_field(const Field& field) { return field.is_edge() && field.type == ElementType::quarter; }

inline Field metadata_field_of(const Field& quarters) {
  Field f;
  f.name = metadata_field_name(quarters.name);
  f.kind = FieldKind::input;
  f.type = ElementType::quarter_metadata;
  f.host_offset = quarters.host_offset + quarters.host_size;
  f.host_size = sizeof(void*);
  return f;
}

}  // namespace pando
