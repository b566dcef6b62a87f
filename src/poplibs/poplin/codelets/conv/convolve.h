// What the vertices of convolutions on the CPU device do: their fields as arguments of a kernel, with an epilogue if they have code of one.
#pragma once

#include "../epilogue.h"
#include "poplibs/poplin/codelets/conv/conv_shape.h"

namespace poplin {

template <class Vertex>
void convolve(const Vertex& v, decltype(pando_conv_rows) kernel) {
  using namespace pando::kernels;
  const PandoConvRows conv = conv_of_shape(v.shape);
  if (v.code.size() == 0) return kernel(&conv, &v.in[0], &v.weights[0], &v.out[0], nullptr);
  MatrixOperand from[kMostEpilogueMatrices];
  MatrixResult to[kMostEpilogueMatrices];
  read_operands(v.operands, v.strides, from);
  to[0] = {&v.out[0], conv.out_column};
  for (unsigned r = 0; r < v.more.size(); ++r) to[r + 1] = {&v.more[r][0], conv.out_column};
  const PandoEpilogue epilogue{v.code.data(), v.code.size(), from, to};
  kernel(&conv, &v.in[0], &v.weights[0], &v.out[0], &epilogue);
}

}  // namespace poplin
