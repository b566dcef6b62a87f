// Cycles of vertices that follow from the sizes of their edges and their state (CountedBy::sizes): counted once for all that are alike.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "codelet/code_lines.h"
#include "tile/program.h"

namespace pando::tile {

class VertexCounts {
 public:
  // Keeps a reference to the program; its codelets must be loaded.
  VertexCounts(const Program& program, const Library& library) : program_(program), library_(library) {}

  // In the unit of VertexInstance::cycles; kUnestimated if its codelet is not counted by sizes.
  std::uint64_t of(const VertexInstance& vertex, CodeletId codelet);
  // How often each block of its code runs, for cycles by line. Empty if its codelet is not counted by sizes.
  const std::vector<std::uint64_t>& blocks_of(const VertexInstance& vertex, CodeletId codelet, const CodeLines& lines);

 private:
  std::string key_of(const VertexInstance& vertex, CodeletId id) const;

  const Program& program_;
  const Library library_;
  std::unordered_map<std::string, std::uint64_t> known_;  // looked up, never iterated
  std::unordered_map<std::string, std::vector<std::uint64_t>> known_blocks_;
};

}  // namespace pando::tile
