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
  // [vocabpar] What PyTorch's allocator holds beside what is allocated, mean of 20 runs on A100 (VocabularyParallelism, exp_one_host.csv,
  // peak_reserved over peak_allocated: 1.09 to 1.15). The context and buffers of NCCL are assumed.
  s.allocator = 1.12;
  s.context_bytes = 1.0 * (1 << 30);
  s.without_reserve = {"bow-pod", "ipu1", "ipu2", "ipu21"};
  return s;
}

}  // namespace pando::search
