// Vertices of one codelet that differ only in where their operands lie, at equal strides: found where descriptors are made, run by the
// codelet's KernelStrided. Reading a descriptor takes a small vertex as long as its work; here addresses stay in registers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codelet/store/codelet.h"
#include "tile/program.h"

namespace pando::exec {

// Rows of vertices: descriptors that follow each other.
struct StridedVertices {
  std::uint32_t first = 0;  // number of the first
  std::uint32_t inner = 0;  // vertices of a row
  std::uint32_t outer = 0;  // rows
  std::vector<EdgeStride> strides;

  std::uint32_t count() const { return inner * outer; }
};

// The descriptors of `vertices`, `stride` bytes apart, as rows. Empty where they are not alike for long enough to gain anything, and where
// a vertex writes what another of its operands has, too: the codelet's KernelStrided takes it that none does.
std::vector<StridedVertices> find_strided(const tile::Program& program, const Codelet& codelet,
                                          std::span<const tile::VertexInstance> vertices, const char* first, std::uint64_t stride);

}  // namespace pando::exec
