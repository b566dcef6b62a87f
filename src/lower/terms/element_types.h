// Element types of the model level at the graph level.
#pragma once

#include "ir/host_tensor.h"
#include "ir/types/dtype.h"

#include <poplar/Graph.hpp>
#include <poplar/Type.hpp>

#include <cstddef>
#include <vector>

namespace pando::lower {

// float8 types are unsigned char: their bytes. Rejects (popart) types that no tile has.
poplar::Type element_type(ir::DType dtype);
bool have_tiles(ir::DType dtype);
std::vector<std::size_t> extents(const ir::Shape& shape);
// A constant of the graph with the tensor's values. Not mapped.
poplar::Tensor add_constant(poplar::Graph& graph, const ir::HostTensor& data, const std::string& name);

}  // namespace pando::lower
