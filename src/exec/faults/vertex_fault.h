// What the run of a program ends with when a vertex faults: an error that says which one, and where in its source.
#pragma once

#include <string>

#include "codelet/library.h"
#include "exec/break_at.h"
#include "exec/fibers/guard.h"
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
  // The same as what stands in front of a line: "[tile 5, worker 1, vertex 3 (Add), compute set 'cs' (step c0)] ".
  std::string tag(const Guard& guard, std::uint32_t group, std::uint64_t first, std::uint32_t replica) const;
  // Calls pando_break() if it is one of these.
  void stop(const BreakAt& at, std::uint32_t group, std::uint64_t index) const;
  bool has_stops(const BreakAt& at) const;

 private:
  const tile::VertexInstance& vertex(std::uint32_t group, std::uint64_t index) const;
  std::string source_line(const Guard& guard, std::uint32_t group) const;

  const tile::Program& program_;
  const Library& library_;
  const std::size_t step_;
};

}  // namespace pando::exec
