// Ways to multiply, one file each: methods/NAME.cpp, found by the build. Of those that apply to a product, the first by `order` computes
// it, and lays out its operands.
#pragma once

#include <poplin/MatMul.hpp>

#include <ostream>
#include <string_view>
#include <vector>

#include "poplibs/poplin/epilogue.h"
#include "poplibs/poplin/matmul/planned.h"
#include "poplibs/poplin/matmul/terms/plan.h"

namespace poplin::internal::matmul {

// A product A * B of {groups, m, k} and {groups, k, n} on a graph, with at least one element in every dimension.
struct Call {
  poplar::Graph& graph;
  const Problem& problem;
  poplin::PlanningCache* cache;
};

enum class Matrix { a, b, result };

struct Method {
  std::string_view name;
  int order = 0;
  // The last one has to apply to all products.
  bool (*applies)(const Problem&, const poplar::Target&) = nullptr;
  // Whether the result may be a tensor that is given.
  bool writes_given = true;
  // A new variable of that shape, for one of the matrices.
  poplar::Tensor (*create)(const Call&, Matrix, const Shape&, const poplar::DebugContext&) = nullptr;
  // B where the product reads it best; null: as it lies.
  poplar::Tensor (*arrange)(const Call&, const poplar::Tensor& b, poplar::program::Sequence&, const poplar::DebugContext&) = nullptr;
  // The product. It is written to `out` if that is valid (`writes_given`), or added to it, times `scale`, if that is valid, too.
  poplar::Tensor (*run)(const Call&, const poplar::Tensor& a, const poplar::Tensor& b, const poplar::Tensor& out,
                        const poplar::Tensor& scale, poplar::program::Sequence&, const poplar::DebugContext&) = nullptr;
  // The product with an epilogue. Writes `outs`, and makes those that are invalid. False, with nothing done: vertices cannot do that.
  bool (*finish)(const Call&, const poplar::Tensor& a, const poplar::Tensor& b, const Finish&, std::vector<poplar::Tensor>& outs,
                 poplar::program::Sequence&, const poplar::DebugContext&) = nullptr;
  void (*report)(std::ostream&, const Problem&, const poplar::Target&, poplin::PlanningCache*) = nullptr;
};

// In the order in which they are asked.
const std::vector<Method>& methods();
// The first that applies. `is_given`: the result is a tensor that exists.
const Method& method_for(const Problem& problem, const poplar::Target& target, bool is_given = false);

}  // namespace poplin::internal::matmul
