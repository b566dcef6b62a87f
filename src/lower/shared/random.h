// Random numbers by seed, stream and position (ir/random.h).
#pragma once

#include "lower/parts/op_lowering.h"

namespace pando::lower {

// Words `first` and `first` + 1 of the seed's stream for new seeds, with room for `blocks` blocks of four: {blocks, 4}, unsigned int.
poplar::Tensor random_words(OpLowering& o, std::size_t seed_operand, std::size_t blocks);

}  // namespace pando::lower
