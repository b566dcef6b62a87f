#include "search/stack.h"

namespace pando::search {

Stack stack_torchtitan() {
  Stack s;
  s.name = "torchtitan";
  s.doc = "torchtitan";
  s.source = "benchmarks of torchtitan on H100, December 2024; memory of VocabularyParallelism";
  // Chosen, to one digit, with the second row of torchtitan_h100 (Llama-3.1 8B on 8 devices, compiled); its other rows are predictions.
  s.pace = 0.6;
  // [vocabpar] What PyTorch's allocator holds beside what is allocated, mean of 20 runs on A100 (VocabularyParallelism, exp_one_host.csv,
  // peak_reserved over peak_allocated: 1.09 to 1.15). The context and buffers of NCCL are assumed.
  s.allocator = 1.12;
  s.context_bytes = 1.0 * (1 << 30);
  s.without_reserve = {"bow-pod", "ipu1", "ipu2", "ipu21"};
  return s;
}

}  // namespace pando::search
