#include "lower/shared/random.h"

#include "ir/random.h"
#include "lower/shared/expressions.h"

#include <popops/ElementWise.hpp>
#include <poprand/RandomGen.hpp>
#include <poputil/TileMapping.hpp>

#include <limits>

namespace pando::lower {

using poplar::Tensor;

// Integers over the whole range are the words, counted from the least integer.
Tensor random_words(OpLowering& o, std::size_t seed_operand, std::size_t blocks) {
  o.need(Library::popops);
  o.need(Library::poprand);
  const Tensor seed = o.operand(seed_operand);
  const Tensor like = o.graph().addVariable(poplar::INT, {blocks, 4}, o.name() + "/like");
  poputil::mapTensorLinearly(o.graph(), like);
  const Tensor numbers = poprand::uniform(o.graph(), &seed, ir::kSeedStream, like, poplar::INT, std::numeric_limits<int>::min(),
                                          std::numeric_limits<int>::max(), o.program(), o.name());
  return popops::map(o.graph(), pe::Add(pe::_1, pe::Const(0x80000000u)), {numbers.reinterpret(poplar::UNSIGNED_INT)}, o.program(),
                     o.name());
}

}  // namespace pando::lower
