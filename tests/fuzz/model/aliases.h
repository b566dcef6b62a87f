// Steps of programs that write in place: views and copies of few tensors, modified and read in every order. What a view shares with its
// base, and what has to be kept from an update, is where executors go wrong.
#pragma once

#include "ir/construction/builder.h"
#include "random.h"

#include <vector>

namespace pando::fuzz {

class AliasSteps {
 public:
  AliasSteps(ir::Builder& builder, Random& random) : b_(builder), random_(random) {}

  // Adds an op to the graph on some of what it holds; its results are held, too. False: what was chosen is not possible.
  bool step(ir::GraphId graph, std::vector<ir::TensorId>& held);

 private:
  using Tensors = std::vector<ir::TensorId>;
  const ir::Type& type(ir::TensorId t) const { return b_.type_of(t); }
  const ir::Shape& shape(ir::TensorId t) const { return type(t).shape; }
  ir::TensorId partner(const Tensors& held, ir::TensorId t);
  ir::TensorId constant(ir::DType dtype, const ir::Shape& shape);
  ir::Attributes some_slice(const ir::Shape& shape);
  Tensors view(ir::TensorId t, const Tensors& held);
  Tensors change(ir::TensorId t, const Tensors& held);
  Tensors shift(ir::TensorId t);
  Tensors swap(ir::TensorId a, ir::TensorId b);
  Tensors op(std::string_view name, const Tensors& operands, const ir::Attributes& attributes = {}, unsigned in_place = 0);
  bool is_constant(ir::TensorId t) const;

  ir::Builder& b_;
  Random& random_;
  ir::GraphId graph_;
};

}  // namespace pando::fuzz
