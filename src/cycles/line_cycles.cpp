#include "cycles/line_cycles.h"

#include <algorithm>

namespace pando::cycles {

LineCycles::Known& LineCycles::known(CodeletId codelet) {
  const auto [at, added] = known_.try_emplace(codelet.value);
  if (added) at->second.lines = code_lines(library_, codelet);
  if (added && at->second.lines) at->second.blocks.resize(at->second.lines->blocks.size());
  return at->second;
}

void LineCycles::add(const tile::ComputeStep& step, std::uint64_t times) {
  for (const tile::VertexGroup& g : step.groups) {
    Known& known = this->known(g.codelet);
    if (!known.lines || library_[g.codelet].counting != CountedBy::sizes) continue;
    for (std::uint32_t i = 0; i < g.count; ++i) {
      const tile::VertexInstance& v = program_.vertices[g.first + i];
      if (v.cycles != tile::kUnestimated) continue;
      const std::vector<std::uint64_t>& blocks = counts_.blocks_of(v, g.codelet, *known.lines);
      for (std::size_t b = 0; b < blocks.size(); ++b) known.blocks[b] += blocks[b] * times;
    }
  }
}

// The groups whose vertices all lack an estimate and whose codelet is counted as it runs, as exec/steps/counted_vertices has them.
void LineCycles::add_as_run(const tile::ComputeStep& step, std::span<const std::uint64_t> blocks) {
  std::size_t at = 0;
  for (const tile::VertexGroup& g : step.groups) {
    Known& known = this->known(g.codelet);
    const CountedBy counting = g.codelet.index() < library_.size() ? library_[g.codelet].counting : CountedBy::nothing;
    const bool is_estimated = std::any_of(program_.vertices.begin() + g.first, program_.vertices.begin() + g.first + g.count,
                                          [](const tile::VertexInstance& v) { return v.cycles != tile::kUnestimated; });
    if (!known.lines || is_estimated || (counting != CountedBy::inputs && counting != CountedBy::run)) continue;
    for (std::size_t b = 0; b < known.blocks.size() && at < blocks.size(); ++b) known.blocks[b] += blocks[at++];
  }
}

std::vector<profile::LineCycles> LineCycles::of(CodeletId codelet) const {
  std::vector<profile::LineCycles> out;
  const auto at = known_.find(codelet.value);
  if (at == known_.end() || !at->second.lines) return out;
  const auto& [lines, blocks] = at->second;
  if (std::all_of(blocks.begin(), blocks.end(), [](std::uint64_t n) { return n == 0; })) return out;
  for (const CodeLine& l : lines->lines) out.push_back({lines->files[l.file], l.line, 0, l.text});
  for (std::size_t b = 0; b < blocks.size(); ++b)
    for (const LineSlots& s : lines->blocks[b]) out[s.line].cycles += blocks[b] * s.slots;
  return out;
}

}  // namespace pando::cycles
