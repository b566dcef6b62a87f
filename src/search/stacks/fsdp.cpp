#include "search/stack.h"

namespace pando::search {

Stack stack_fsdp() {
  Stack s;
  s.name = "fsdp";
  s.doc = "PyTorch's FSDP";
  s.source = "memory of VocabularyParallelism; no step of it is fitted";
  // PyTorch's kernels for a loss of logits in single precision: the copy (6 bytes), logarithms of probabilities (8), their gradient (4),
  // the logits' (12), in half precision (6).
  s.loss_bytes = 36;
  // fully_shard copies weights out of what was gathered, twice a microbatch (8), and gradients in single precision into what is reduced
  // (6).
  s.shard_bytes = 14;
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
