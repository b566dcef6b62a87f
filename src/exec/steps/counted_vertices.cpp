#include "exec/steps/counted_vertices.h"

#include <algorithm>

#include "codelet/foreign_call.h"

namespace pando::exec {

namespace {

// Of all of its vertices: blocks of vertices that have an estimate would not add up to cycles that are shown.
bool lacks_estimates(const tile::Program& program, const tile::VertexGroup& g) {
  return std::all_of(program.vertices.begin() + g.first, program.vertices.begin() + g.first + g.count,
                     [](const tile::VertexInstance& v) { return v.cycles == tile::kUnestimated; });
}

bool lacks_estimate(const tile::Program& program, const tile::VertexGroup& g) {
  return std::any_of(program.vertices.begin() + g.first, program.vertices.begin() + g.first + g.count,
                     [](const tile::VertexInstance& v) { return v.cycles == tile::kUnestimated; });
}

}  // namespace

CountedVertices::CountedVertices(const tile::Program& program, const Library& library, const tile::ComputeStep& step) {
  for (const tile::VertexGroup& g : step.groups) {
    const Codelet& codelet = library[g.codelet];
    Group group;
    group.first = vertices_;
    vertices_ += g.count;
    const bool is_dynamic = codelet.counting == CountedBy::inputs || codelet.counting == CountedBy::run;
    group.always = codelet.reads_cycles && codelet.counted != nullptr;
    group.counting = group.always || (is_dynamic && lacks_estimate(program, g));
    group.count = codelet.counting == CountedBy::inputs ? codelet.count : nullptr;
    group.counted = codelet.counting == CountedBy::run ? codelet.counted : nullptr;
    if (is_dynamic && lacks_estimates(program, g)) group.lines = code_lines(library, g.codelet);
    group.first_block = block_count_;
    if (group.lines) block_count_ += group.lines->blocks.size();
    any_ = any_ || group.counting;
    always_ = always_ || group.always;
    groups_.push_back(group);
  }
}

void CountedVertices::begin(bool counts) {
  if (any_ && (counts || always_) && cycles_.empty()) cycles_.assign(vertices_, tile::kUnestimated);
  if (counts && block_count_ > 0) blocks_.assign(block_count_, 0);
}

// Threads run ranges of one group at the same time: each adds what its range ran.
PANDO_CALLS_CODELETS bool CountedVertices::run_with_blocks(const Group& g, std::uint64_t vertex, char* first, std::uint64_t stride,
                                                           std::uint64_t count, KernelRange kernel, std::uint64_t* at) {
  std::vector<std::uint64_t> ran(g.lines->blocks.size(), 0);
  std::uint64_t* const cycles = cycles_.data() + g.first + vertex;
  bool result = true;
  if (g.counted != nullptr) {
    result = g.lines->counted(first, stride, count, at, cycles, ran.data());
  } else {
    for (std::uint64_t i = 0; i < count; ++i) {
      __atomic_store_n(at, i, __ATOMIC_RELAXED);
      cycles[i] = g.lines->count(first + i * stride, ran.data());
    }
    result = kernel(first, stride, count, at);
  }
  for (std::size_t b = 0; b < ran.size(); ++b) __atomic_fetch_add(&blocks_[g.first_block + b], ran[b], __ATOMIC_RELAXED);
  return result;
}

PANDO_CALLS_CODELETS bool CountedVertices::run(std::size_t group, std::uint64_t vertex, char* first, std::uint64_t stride,
                                               std::uint64_t count, KernelRange kernel, bool counts, std::uint64_t* at) {
  const Group& g = groups_[group];
  if (g.lines && counts) return run_with_blocks(g, vertex, first, stride, count, kernel, at);
  if (g.counted != nullptr && (counts || g.always)) return g.counted(first, stride, count, at, cycles_.data() + g.first + vertex);
  if (g.count != nullptr && counts)
    for (std::uint64_t i = 0; i < count; ++i) {
      __atomic_store_n(at, i, __ATOMIC_RELAXED);
      cycles_[g.first + vertex + i] = g.count(first + i * stride);
    }
  return kernel(first, stride, count, at);
}

}  // namespace pando::exec
