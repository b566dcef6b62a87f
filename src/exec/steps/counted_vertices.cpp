#include "exec/steps/counted_vertices.h"

#include <algorithm>

#include "codelet/foreign_call.h"

namespace pando::exec {

namespace {

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
    any_ = any_ || group.counting;
    always_ = always_ || group.always;
    groups_.push_back(group);
  }
}

void CountedVertices::begin(bool counts) {
  if (any_ && (counts || always_) && cycles_.empty()) cycles_.assign(vertices_, tile::kUnestimated);
}

PANDO_CALLS_CODELETS bool CountedVertices::run(std::size_t group, std::uint64_t vertex, char* first, std::uint64_t stride,
                                               std::uint64_t count, KernelRange kernel, bool counts, std::uint64_t* at) {
  const Group& g = groups_[group];
  if (g.counted != nullptr && (counts || g.always)) return g.counted(first, stride, count, at, cycles_.data() + g.first + vertex);
  if (g.count != nullptr && counts)
    for (std::uint64_t i = 0; i < count; ++i) {
      __atomic_store_n(at, i, __ATOMIC_RELAXED);
      cycles_[g.first + vertex + i] = g.count(first + i * stride);
    }
  return kernel(first, stride, count, at);
}

}  // namespace pando::exec
