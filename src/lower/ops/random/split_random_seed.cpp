#include "lower/parts/op_lowering.h"
#include "lower/shared/random.h"

namespace pando::lower {

extern const Row lower_split_random_seed;
constexpr Row lower_split_random_seed = {
    .name = "split_random_seed",
    .lower =
        [](OpLowering& o) {
          const poplar::Tensor words = random_words(o, 0, o.results());
          for (std::size_t r = 0; r < o.results(); ++r) o.result(r, words[r].slice(0, 2));
        },
};

}  // namespace pando::lower
