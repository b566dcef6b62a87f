// An expression of floats (elementwise_program.h) over matrices whose rows may lie apart: what is done with a part of a product's or a
// convolution's result as soon as it is computed, while it is near.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/elementwise/elementwise_program.h"

namespace pando::kernels {

constexpr std::size_t kMostEpilogueWords = 512;
constexpr unsigned kMostEpilogueMatrices = 12;  // operands, and results

// A matrix, a row that all rows read, or one number.
enum class Spread : std::uint8_t { matrix, row, number };

struct MatrixOperand {
  const float* data;
  std::size_t row;  // elements from one row of a matrix to the next
  Spread spread;
};
struct MatrixResult {
  float* data;
  std::size_t row;
};

}  // namespace pando::kernels

// An expression of at most kMostEpilogueWords words whose operands and results are as many as it lists, all floats, at most
// kMostEpilogueMatrices of each.
struct PandoEpilogue {
  const std::uint32_t* code;
  std::size_t words;
  const pando::kernels::MatrixOperand* operands;
  const pando::kernels::MatrixResult* results;
};

// Of rows [row, row + rows) and columns [column, column + columns) of the matrices.
PANDO_KERNEL void pando_finish(const PandoEpilogue* epilogue, std::size_t row, std::size_t rows, std::size_t column, std::size_t columns);
