#include "search/stack.h"

namespace pando::search {

Stack stack_megatron() {
  Stack s;
  s.name = "megatron";
  s.doc = "Megatron-LM, as tuned runs use it";
  s.source = "steps of eight B200 published by the authors of SimuMax; memory of VocabularyParallelism";
  // Chosen by least squares with the steps of four microbatches of Llama-3 without context parallelism (b200_steps).
  s.op_seconds = {{"b200", 6.5e-5}};
  // [vocabpar] What PyTorch's allocator holds beside what is allocated, mean of 20 runs on A100 (VocabularyParallelism, exp_one_host.csv,
  // peak_reserved over peak_allocated: 1.09 to 1.15). The context and buffers of NCCL are assumed.
  s.allocator = 1.12;
  s.context_bytes = 1.0 * (1 << 30);
  s.without_reserve = {"bow-pod", "ipu1", "ipu2", "ipu21"};
  return s;
}

}  // namespace pando::search
