#include "search/stack.h"

namespace pando::search {

Stack stack_torchtitan() {
  Stack s;
  s.name = "torchtitan";
  s.doc = "torchtitan with torch.compile";
  s.source = "its loss as written; memory of VocabularyParallelism; no step of it is fitted";
  // The loss of torchtitan in 2024: logits in half precision (2), a copy in single precision (4), its logarithms of probabilities (4) and
  // its gradient (4).
  s.logit_bytes = 14;
  // Products in 8-bit floats with a scale for each tensor, as torchao writes them. Forward, both operands: the largest element (2 bytes),
  // then the cast (2 read, 1 written). A gradient: the same, and once more in the other order (2), which the product of the weights'
  // gradient takes. Both operands are kept in half precision: their largest element and the cast in the other order come again (5).
  s.unfused.push_back({"casts", 5.0 / 4, 7.0 / 4});
  s.unfused.push_back({"casts_again", 0, 5});
  // fully_shard copies weights out of what was gathered, twice a microbatch (8), and gradients in single precision into what is reduced
  // (6).
  s.shard_bytes = 14;
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
