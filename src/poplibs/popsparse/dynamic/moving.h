// Steps that every part takes with its own bucket, and then with those that have blocks of it.
#pragma once

#include <poplar/Graph.hpp>
#include <poplar/Program.hpp>

#include <functional>

#include "poplibs/popsparse/dynamic/plan.h"

namespace popsparse {

// Appends what the parts do with the buckets at hand. words: {parts, bucket_words}; values: {any, parts, bucket_values} or empty.
// `again`: not the first time.
using Step = std::function<void(poplar::program::Sequence& prog, const poplar::Tensor& words, const poplar::Tensor& values, bool again)>;

enum class Values {
  kRead,     // buckets' values go along with their words
  kChanged,  // the same; and back at the end
};

// As often as the words say: none, one or more times after the first, each time with the next bucket.
void in_turn(poplar::Graph& graph, poplar::program::Sequence& prog, const SparsePlan& plan, const poplar::Tensor& words,
             const poplar::Tensor& values, Values kind, const Step& step, const poplar::DebugContext& name);

}  // namespace popsparse
