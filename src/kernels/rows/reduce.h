// Reductions: many elements to few, over blocks of memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/kernel.h"
#include "kernels/rows/reduce_rows.h"

// Numbered as popops::Operation.
#define PANDO_ROW(NAME, name, ...) name,
enum class PandoReduceOp : unsigned char { PANDO_REDUCE_ROWS(PANDO_ROW) };
#undef PANDO_ROW
enum class PandoReduceType : unsigned char { f32, f16, i32, u32, i64, u64, boolean };

// `size` elements; what a vector field of a vertex is in host memory.
struct PandoReduceRegion {
  const void* data;
  std::size_t size;
};

// The next `outputs` elements of the output are made of the next `regions` regions. Each of these is a row-major array
//   [n][outputs / inner][middle][inner]
// whose first and third dimension are reduced; n may differ from region to region. With outputs == inner, `middle` is not looked at:
// a region is rows of `inner` elements, which are added up.
struct PandoReduceBlock {
  std::uint32_t regions, outputs, middle, inner;
};

// out = (scale *) reduction, or with `update` out = out op (scale *) reduction; with log_add the scale is a logarithm and is added.
// scale may be null. Floating-point types are reduced in float in runs of at most 32 steps, and those in double; integers wrap.
// Types: add, mul, square_add for numbers; min, max for numbers; logical_* for boolean; log_add for f32, f16. The output's type is the
// input's, or both are floating-point. A block without elements gives the identity of the operation.
PANDO_KERNEL void pando_reduce(PandoReduceOp op, PandoReduceType in_type, PandoReduceType out_type, const PandoReduceRegion* regions,
                               const PandoReduceBlock* blocks, std::size_t n_blocks, void* out, const float* scale, bool update);
// The same for `columns` columns of `rows` rows whose begins are `row` elements apart, without scale and update.
PANDO_KERNEL void pando_reduce_columns(PandoReduceOp op, PandoReduceType in_type, PandoReduceType out_type, const void* in,
                                       std::size_t rows, std::size_t row, std::size_t columns, void* out);
