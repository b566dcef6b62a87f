// What host code and codelets of products agree on: blocks come in at most kMostPieces pieces.
#pragma once

namespace poplin {

constexpr unsigned kMostPieces = 64;

}  // namespace poplin

#ifdef __POPC__
#include "kernels/gemm/gemm.h"

namespace poplin {

template <class Field>
static inline void list_pieces(Field& field, PandoPiece* list) {
  for (unsigned i = 0; i < field.size(); ++i) list[i] = {const_cast<void*>(static_cast<const void*>(&field[i][0])), field[i].size()};
}

// The fields x, y and w of an update vertex with elements In and T: W = transpose(X) * Y, or `adds` scale times that to W.
template <class In, class T, class Vertex>
static inline void compute_update(Vertex& v, float scale, bool adds) {
  PandoPiece x[kMostPieces], y[kMostPieces], w[kMostPieces];
  list_pieces(v.x, x);
  list_pieces(v.y, y);
  list_pieces(v.w, w);
  pando_gemm_update(v.m, v.n, v.k, x, v.x.size(), y, v.y.size(), w, v.w.size(), scale, adds, sizeof(In) == 2, sizeof(T) == 2);
}

}  // namespace poplin
#else
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "poplibs/codelet_file.h"
#include "poplibs/poplin/plan/cost.h"

namespace poplin {

struct PieceProduct {
  std::uint64_t m, n, k;
};

inline std::uint64_t elements_of(const poplar::FieldData& field) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < field.size(); ++i) sum += field.getSizeAtIndex(i);
  return sum;
}

// Estimates of a vertex for float and half operands and the partial sums of each; the operand that makes the AMP unit's work shorter
// stays in it. `shape` tells the product from the vertex.
template <class Shape>
pando::poplibs::Estimates piece_estimates(const std::string& name, Shape shape) {
  using namespace poplar;
  pando::poplibs::Estimates out;
  for (const auto& [input, partials] : {std::pair(FLOAT, FLOAT), std::pair(HALF, FLOAT), std::pair(HALF, HALF)})
    out.push_back({name + "<" + input.toString() + "," + partials.toString() + ">",
                   [input = input, partials = partials, shape](const VertexIntrospector& vertex, const Target& target) {
                     const PieceProduct p = shape(vertex, target);
                     const std::uint64_t cycles = std::min(plan::amp_cycles(target, p.m, p.n, p.k, input, partials),
                                                           plan::amp_cycles(target, p.n, p.m, p.k, input, partials));
                     return VertexPerfEstimate(cycles, 2 * p.m * p.n * p.k);
                   }});
  return out;
}

// Of vertices with the fields m, n and k of an update.
inline pando::poplibs::Estimates update_estimates(const std::string& name) {
  using namespace poplar;
  return piece_estimates(name, [](const VertexIntrospector& vertex, const Target& target) {
    const auto value = [&](const char* field) { return std::uint64_t{vertex.getFieldInfo(field).getInitialValue<unsigned>(target)}; };
    return PieceProduct{value("k"), value("n"), value("m")};
  });
}

}  // namespace poplin
#endif
