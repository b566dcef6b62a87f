// What losses and searches along rows cost on a tile.
#pragma once

#include <initializer_list>
#include <string>

#include "poplibs/codelet_file.h"

namespace popnn {

// `cycles` for an element of the field, whatever its type: comparisons are one by one.
inline void append_selection_estimates(pando::poplibs::Estimates& out, const std::string& name, const char* field, unsigned cycles) {
  using namespace poplar;
  const auto rows = pando::poplibs::for_types(name, {FLOAT, HALF, INT, UNSIGNED_INT}, [field, cycles](const Type&) {
    return [field, cycles](const VertexIntrospector& vertex, const Target&) {
      return VertexPerfEstimate(30 + cycles * vertex.getFieldInfo(field).size());
    };
  });
  out.insert(out.end(), rows.begin(), rows.end());
}

// Of the vertices NAMEGather and NAMESparse for each `rest`, with which their names go on after the type:
// "popnn::ReduceMaxClassSparse<float" + ",int>".
inline pando::poplibs::Estimates class_estimates(const std::string& name, std::initializer_list<const char*> rests, unsigned cycles) {
  pando::poplibs::Estimates out;
  for (const char* rest : rests)
    for (const char* kind : {"Gather", "Sparse"}) {
      pando::poplibs::Estimates rows;
      append_selection_estimates(rows, name + kind, "activations", cycles);
      for (pando::poplibs::Estimate& row : rows) {
        row.vertex.replace(row.vertex.size() - 1, 1, rest);
        out.push_back(std::move(row));
      }
    }
  return out;
}

// A vector of two floats or four halves: load, subtract or scale, store; with expected values, or for squares, one load or sum more.
inline void append_loss_estimate(pando::poplibs::Estimates& out, const std::string& name, const poplar::Type& type,
                                 const poplar::Type& expected) {
  using namespace poplar;
  const unsigned cycles = type == expected ? 5 : 4;
  out.push_back({name + "<" + type.toString() + "," + expected.toString() + ">",
                 [type, cycles](const VertexIntrospector& vertex, const Target& target) {
                   const std::size_t n = vertex.getFieldInfo("outputs").size();
                   return VertexPerfEstimate(60 + cycles * (n / target.getVectorWidth(type) + 1), 3 * n);
                 }});
}

}  // namespace popnn
