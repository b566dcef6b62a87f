// Expressions that vertices of other libraries evaluate on what they have just computed (kernels/elementwise/elementwise_matrix.h).
#pragma once

#include <poplar/PerfEstimateFunc.hpp>
#include <poplar/Type.hpp>
#include <popops/Expr.hpp>

#include <optional>
#include <string>
#include <vector>

namespace popops::internal {

struct EpilogueProgram {
  std::vector<unsigned> words;
  std::vector<std::size_t> operands;  // which of the operands it reads from memory, in the order of its list; never the product
};

// The words of expressions of type `type`, FLOAT or HALF, over `operands` operands of it, of which `product` is read from where the first
// result will be. Empty where kernels take no such expressions: too long ones, or of other types. Rejects placeholders beyond the operands;
// `where` opens the message.
POPLAR_EXPORT std::optional<EpilogueProgram> epilogue_program(const std::vector<expr::Any>& results, const poplar::Type& type,
                                                              std::size_t operands, std::size_t product, const std::string& where);

// What the words cost a tile whose workers share so many elements of a result: cycles of the tile.
POPLAR_EXPORT poplar::VertexPerfEstimate epilogue_cost(const std::vector<unsigned>& words, std::size_t elements, unsigned workers);

}  // namespace popops::internal
