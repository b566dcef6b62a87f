// Vertices of one compute step whose cycles are counted as they run (docs/cycles.md): by what they read just before they run, or by code
// that counts while it computes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codelet/code_lines.h"
#include "codelet/library.h"
#include "tile/program.h"

namespace pando::exec {

class CountedVertices {
 public:
  CountedVertices(const tile::Program& program, const Library& library, const tile::ComputeStep& step);

  // Are any of the step's counted as they run?
  bool any() const { return any_; }
  // ... for their own results, as they read the cycle counter?
  bool always() const { return always_; }
  bool is_counted(std::size_t group) const { return groups_[group].counting; }
  // Room for what is counted, before the step runs.
  void begin(bool counts);
  // Runs the vertices from `vertex` of the group on, whose objects begin at `first`, as `kernel` does; `counts`: and counts them.
  bool run(std::size_t group, std::uint64_t vertex, char* first, std::uint64_t stride, std::uint64_t count, KernelRange kernel, bool counts,
           std::uint64_t* at);
  // Of each vertex of the step, in the order of its groups, as of the last run; kUnestimated: not counted as it ran. Empty: nothing was.
  std::span<const std::uint64_t> cycles() const { return cycles_; }
  // tile::StepEvent::counted_blocks, of the last run.
  std::span<const std::uint64_t> blocks() const { return blocks_; }

 private:
  struct Group {
    bool counting = false;
    bool always = false;      // it reads the cycle counter
    std::uint64_t first = 0;  // of its vertices, in the step
    KernelCount count = nullptr;
    KernelCounted counted = nullptr;
    std::shared_ptr<const CodeLines> lines = nullptr;  // null: blocks are not counted
    std::size_t first_block = 0;                       // in blocks_
  };
  bool run_with_blocks(const Group& group, std::uint64_t vertex, char* first, std::uint64_t stride, std::uint64_t count, KernelRange kernel,
                       std::uint64_t* at);

  std::vector<Group> groups_;
  std::vector<std::uint64_t> cycles_;
  std::vector<std::uint64_t> blocks_;
  std::uint64_t vertices_ = 0;
  std::size_t block_count_ = 0;
  bool any_ = false, always_ = false;
};

}  // namespace pando::exec
