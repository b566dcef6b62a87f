// The host object of a vertex (codelet.h), filled from a program: what kernels read.
#pragma once

#include <cstdint>
#include <cstring>

#include "tile/program.h"

namespace pando::tile {

// `place(operand)`: where its elements are, null if it has none. `take(bytes, align)`: room that lives as long as the object does.
template <class Place, class Take>
void fill_descriptor(const Program& program, const Codelet& codelet, const VertexInstance& v, char* object, Place place, Take take) {
  const Operand* operand = program.operands.data() + v.operands;
  const char* state = program.state.data() + v.state;
  const auto put = [](char* at, const Field& f, void* data, std::uint64_t size) {
    std::memcpy(at, &data, sizeof data);
    if (f.host_size >= sizeof(VectorEdge)) std::memcpy(at + sizeof data, &size, sizeof size);
  };
  for (const Field& f : codelet.fields) {
    char* const at = object + f.host_offset;
    const std::size_t element = size_of(f.type);
    if (!f.is_edge() && f.shape == FieldShape::scalar) {
      std::memcpy(at, state, element);
      state += element;
    } else if (!f.is_edge()) {
      std::uint32_t count = 0;
      std::memcpy(&count, state, sizeof count);
      char* const copy = take(count * element, 16);  // aligned, and the object's own
      std::memcpy(copy, state + sizeof count, count * element);
      state += sizeof count + count * element;
      put(at, f, copy, count);
    } else if (f.has_rows()) {
      const std::uint32_t rows = (operand++)->count;
      auto* const edges = reinterpret_cast<VectorEdge*>(take(rows * sizeof(VectorEdge), alignof(VectorEdge)));
      for (std::uint32_t r = 0; r < rows; ++r, ++operand) edges[r] = {place(*operand), operand->count};
      put(at, f, edges, rows);
    } else {
      put(at, f, place(*operand), operand->count);
      ++operand;
    }
  }
}

}  // namespace pando::tile
