// Estimates of vertices that multiply by the blocks of a bucket. Which blocks a bucket has is not known when a program is compiled: it
// counts as full, and its blocks as shared evenly by the workers of a tile.
#pragma once

#include <string>

#include "poplibs/codelet_file.h"
#include "poplibs/popsparse/terms/cost.h"

namespace popsparse {

using namespace pando::poplibs;

struct Passes {
  double per_block_seen = 0;  // instructions for each block of the bucket, in every vertex
  double per_result = 0.5;    // for each element of `result`
  const char* result;
  const char* values;  // the field that has as many elements as the bucket's blocks, or this vertex's share of them
  bool shared = true;  // by the workers
};

inline std::size_t number(const VertexIntrospector& vertex, const Target& target, const char* field) {
  return static_cast<std::size_t>(vertex.getFieldInfo(field).getInitialValue<unsigned>(target));
}

inline poplar::PerfEstimateFunc pass_cost(const Passes& passes, std::size_t element_bytes) {
  return [=](const VertexIntrospector& vertex, const Target& target) {
    const std::size_t width = number(vertex, target, "width");
    const std::size_t area = static_cast<std::size_t>(vertex.getFieldInfo("block_rows").getInitialValue<unsigned short>(target)) *
                             vertex.getFieldInfo("block_columns").getInitialValue<unsigned short>(target);
    const auto blocks = static_cast<double>(vertex.getFieldInfo(passes.values).size() / area);
    const double mine = passes.shared ? blocks / target.getNumWorkerContexts() : blocks;
    const double cycles = 30 + blocks * passes.per_block_seen + mine * block_instructions(area, width, element_bytes) +
                          passes.per_result * static_cast<double>(vertex.getFieldInfo(passes.result).size());
    return VertexPerfEstimate(static_cast<std::uint64_t>(cycles), static_cast<std::uint64_t>(2 * mine * static_cast<double>(area * width)));
  };
}

// For an operand and a sum of each pair of types, with and without what is there.
inline Estimates for_pairs(const std::string& name, const Passes& passes) {
  Estimates out;
  for (const auto& [types, bytes] : {std::pair<const char*, std::size_t>{"float,float", 4}, {"half,float", 2}, {"half,half", 2}})
    for (const char* adds : {"false", "true"}) out.push_back({name + "<" + types + "," + adds + ">", pass_cost(passes, bytes)});
  return out;
}

}  // namespace popsparse
