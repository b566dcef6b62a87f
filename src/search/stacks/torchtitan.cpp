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
  // [vocabpar] What PyTorch's allocator holds beside what is allocated, mean of 20 runs on A100 (VocabularyParallelism, exp_one_host.csv,
  // peak_reserved over peak_allocated: 1.09 to 1.15). The context and buffers of NCCL are assumed.
  s.allocator = 1.12;
  s.context_bytes = 1.0 * (1 << 30);
  s.without_reserve = {"bow-pod", "ipu1", "ipu2", "ipu21"};
  return s;
}

}  // namespace pando::search
