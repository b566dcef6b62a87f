// What activations cost on a tile.
#pragma once

#include "kernels/elementwise/nonlinearity.h"
#include "poplibs/codelet_file.h"

namespace popnn {

// Elements of a field of one or two dimensions, and its rows.
struct FieldSize {
  std::size_t elements = 0;
  std::size_t rows = 1;
};
inline FieldSize size_of_field(const poplar::VertexIntrospector& vertex, const char* field) {
  const poplar::FieldData info = vertex.getFieldInfo(field);
  if (info.rank() < 2) return {info.size(), 1};
  FieldSize out{0, info.size()};
  for (std::size_t i = 0; i < out.rows; ++i) out.elements += info.getSizeAtIndex(i);
  return out;
}

// Cycles for a vector of two floats or four halves. sigmoid and tanh are instructions; the gelus are several, with exp among them.
inline unsigned cycles_per_vector(pando::kernels::Activation f, bool gradient) {
  using pando::kernels::Activation;
  switch (f) {
    case Activation::relu: return gradient ? 3 : 2;
    case Activation::hard_sigmoid: return gradient ? 4 : 3;
    case Activation::sigmoid:
    case Activation::tanh: return gradient ? 4 : 5;
    case Activation::swish: return gradient ? 11 : 7;
    case Activation::gelu: return gradient ? 16 : 10;
    default: return gradient ? 30 : 24;
  }
}
inline unsigned flops_of(pando::kernels::Activation f, bool gradient) {
  using pando::kernels::Activation;
  if (f == Activation::gelu) return gradient ? 14 : 8;
  if (f == Activation::gelu_erf) return gradient ? 30 : 22;
  return gradient ? 3 : 2;
}

inline void append_activation_estimates(pando::poplibs::Estimates& out, const std::string& name, const char* field, bool gradient) {
  using namespace poplar;
  const auto rows = pando::poplibs::for_types(name, {FLOAT, HALF}, [field, gradient](const Type& type) {
    return [type, field, gradient](const VertexIntrospector& vertex, const Target& target) {
      const auto f = static_cast<pando::kernels::Activation>(vertex.getFieldInfo("op").getInitialValue<unsigned char>(target));
      const FieldSize size = size_of_field(vertex, field);
      const std::size_t vectors = size.elements / target.getVectorWidth(type) + size.rows;
      return VertexPerfEstimate(15 + 8 * size.rows + vectors * cycles_per_vector(f, gradient), size.elements * flops_of(f, gradient));
    };
  });
  out.insert(out.end(), rows.begin(), rows.end());
}

}  // namespace popnn
