#include "search/stack.h"

namespace pando::search {

Stack stack_torchtitan_eager() {
  Stack s;
  s.name = "torchtitan-eager";
  s.doc = "torchtitan without torch.compile";
  s.source = "its ops as written; memory of VocabularyParallelism; no step of it is fitted";
  s.logit_bytes = 14;
  // PyTorch's kernels for the loss: a copy in single precision (6 bytes), logarithms of probabilities (8), their gradient (4), that of the
  // logits (12), in half precision (6).
  s.loss_bytes = 36;
  // Bytes an element, one kernel after the other, over those of a fused kernel.
  // A norm: a copy in single precision (6), squares (8), their mean (4), the quotient (8), in half precision (6), weights (4). Its way
  // back: weights and their gradient (12), a copy in single precision (6), the quotient's gradients (24), squares (8), their sum (12), in
  // half precision (6).
  s.unfused.push_back({"rms_norm", 36.0 / 4, 68.0 / 10});
  // Two halves of an activation: silu (4), product (6); on the way back the product's (12) and silu's (6).
  s.unfused.push_back({"gated", 10.0 / 6, 18.0 / 10});
  // Positions: a copy in single precision (6), complex products (8), in half precision (6); on the way back the same.
  s.unfused.push_back({"rotary", 20.0 / 4, 20.0 / 4});
  // torch.utils.checkpoint without reentrance raises from what it computes again as soon as all is there that the way back asked for
  // (early_stop, since PyTorch 2.1). A layer that is compiled is one call, which runs to its end.
  s.stops_early = true;
  // fully_shard copies weights out of what was gathered, twice a microbatch (8), and gradients in single precision into what is reduced
  // (6).
  s.shard_bytes = 14;
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
