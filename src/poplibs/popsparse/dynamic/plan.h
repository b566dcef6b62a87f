// How a product with a sparse matrix that may change is cut over tiles.
//
// The matrix is cut into row_parts x column_parts parts, numbered row after row. Each part has a bucket, for its blocks and for what other
// parts have too much of, and width_parts tiles, each with some columns of the dense side.
#pragma once

#include <poplar/Interval.hpp>
#include <poplar/Target.hpp>
#include <poplar/Type.hpp>
#include <poputil/TensorMetaData.hpp>

#include <cstddef>
#include <memory>

#include "poplibs/popsparse/terms/blocks.h"
#include "poplibs/popsparse/terms/options.h"

namespace popsparse {

struct Problem {
  Shape shape;
  std::size_t width = 0;   // columns of the dense side
  std::size_t blocks = 0;  // that may be stored
  poplar::Type type = poplar::FLOAT;
};

struct SparsePlan {
  Problem problem;
  poplar::Type partials = poplar::FLOAT;
  bool spills = false;
  std::size_t row_parts = 1, column_parts = 1, width_parts = 1;
  std::size_t rows = 0, columns = 0, width = 0;  // of a part, at most: blocks, blocks, elements
  std::size_t bucket_blocks = 0, bucket_words = 0;

  std::size_t parts() const { return row_parts * column_parts; }
  std::size_t part(std::size_t row_part, std::size_t column_part) const { return row_part * column_parts + column_part; }
  // Values of a bucket.
  std::size_t bucket_values() const { return bucket_blocks * problem.shape.area(); }
  // In elements of the matrix, or of the dense side.
  poplar::Interval rows_of(std::size_t row_part) const;
  poplar::Interval columns_of(std::size_t column_part) const;
  poplar::Interval width_of(std::size_t width_part) const;
  std::size_t tiles = 1;  // of the target; with more parts than that, some share one
  unsigned tile(std::size_t part, std::size_t width_part) const { return static_cast<unsigned>((part * width_parts + width_part) % tiles); }
};

// The plan whose estimated time is least among those that fit the part of memory that the options give, or that takes least memory.
SparsePlan make_plan(const poplar::Target& target, const Problem& problem, const Options& options);

// The plan with which a sparse tensor was made. Throws poplibs_error, beginning with `function`, if it has none.
poputil::TensorMetaData remember(const SparsePlan& plan);
const SparsePlan& plan_of(const char* function, const poputil::TensorMetaData& data);

}  // namespace popsparse
