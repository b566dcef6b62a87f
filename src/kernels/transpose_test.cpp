#include "kernels/transpose.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

TEST(Transpose, MovesEachElement) {
  for (const std::size_t rows : {0, 1, 15, 16, 33, 64})
    for (const std::size_t columns : {0, 1, 3, 4, 18, 300}) {
      const std::size_t stride = columns + 5, to_stride = rows + 3;
      std::vector<float> from(rows * stride), to(columns * to_stride, -1), expected = to;
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) expected[c * to_stride + r] = from[r * stride + c];
      pando_transpose_f32(from.data(), stride, rows, columns, to.data(), to_stride);
      EXPECT_EQ(to, expected) << rows << " x " << columns;
    }
}

}  // namespace
