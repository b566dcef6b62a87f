// Blocks of a matrix to words and values of buckets, and back.
#pragma once

#include <cstddef>
#include <vector>

#include "poplibs/popsparse/dynamic/plan.h"

namespace popsparse {

template <class T>
struct Buckets {
  std::vector<std::size_t> words;  // bucket after bucket, bucket_words each
  std::vector<T> values;           // bucket_values each
};

// What a part's bucket does not hold goes into the next ones that have room, in a circle.
// Throws poplibs_error, beginning with `function`, if the blocks do not fit.
template <class T>
Buckets<T> fill(const char* function, const SparsePlan& plan, const Blocks<T>& blocks);

// Throws poplibs_error for sizes and places that the plan does not have.
template <class T>
Blocks<T> empty(const char* function, const SparsePlan& plan, const std::vector<std::size_t>& words, const std::vector<T>& values);

}  // namespace popsparse
