// Ways to convolve, one file each: methods/NAME.cpp, found by the build. Of those that apply to a convolution, the first by `order`
// computes it.
#pragma once

#include "poplibs/poplin/conv/convolve.h"

#include <ostream>
#include <string_view>
#include <vector>

namespace poplin::conv {

// A convolution before a method is chosen.
struct Call {
  const poplar::Target& target;
  const Problem& problem;
  const Options& options;
  Kind kind;
  PlanningCache* cache;
};

struct OperandViews {
  // As problem.h gives them; `weights` as the caller has them.
  Tensor in, weights, out;
  bool transposed = false;
};

struct Method {
  std::string_view name;
  int order = 0;
  // The last one has to apply to all convolutions.
  bool (*applies)(const Call&) = nullptr;
  // Its blocks lie on several tiles, and may begin on any.
  bool is_on_tiles = true;
  Partition (*partition)(const Call&) = nullptr;
  // Variables of the public shapes, for the input, and for a result of an epilogue.
  Tensor (*create_input)(poplar::Graph&, const Convolution&, const DebugContext&) = nullptr;
  Tensor (*create_result)(poplar::Graph&, const Convolution&, const DebugContext&) = nullptr;
  // Vertices go to `stages`, what has to come before them to `before`. `finish`: null, or an epilogue for which can_finish is true.
  void (*run)(poplar::Graph&, const Convolution&, const OperandViews&, Stages& stages, Sequence& before, const DebugContext&,
              const FinishViews* finish) = nullptr;
  bool (*can_finish)(const poplar::Target&, const Convolution&, const FinishViews&) = nullptr;
  void (*report)(std::ostream&, const Call&) = nullptr;
};

// In the order in which they are asked.
const std::vector<Method>& methods();
// The first that applies.
const Method& method_for(const Call& call);

}  // namespace poplin::conv
