// What the run of a program ends with when a vertex faults: an error that says which one, and where in its source.
#pragma once

#include <string>

#include "codelet/library.h"
#include "exec/faults/guard.h"
#include "tile/program.h"

namespace pando::exec {

class VertexPlaces {
 public:
  VertexPlaces(const tile::Program& program, const Library& library, std::size_t step)
      : program_(program), library_(library), step_(step) {}

  // Of the vertex that a guard left, in a range of group `group` that begins with its vertex number `first`: throws
  // application_runtime_error.
  [[noreturn]] void throw_fault(const Guard& guard, std::uint32_t group, std::uint64_t first) const;
  // The exception being handled left that vertex's code: throws application_runtime_error with its text.
  [[noreturn]] void throw_exception(const Guard& guard, std::uint32_t group, std::uint64_t first) const;
  // Which one it is: "vertex 3 (Add) on tile 5, in compute set 'cs' (step c0)".
  std::string place(const Guard& guard, std::uint32_t group, std::uint64_t first) const;

 private:
  std::string source_line(const Guard& guard, std::uint32_t group) const;

  const tile::Program& program_;
  const Library& library_;
  const std::size_t step_;
};

}  // namespace pando::exec
