#include "search/stack.h"

namespace pando::search {

Stack stack_deepspeed() {
  Stack s;
  s.name = "deepspeed";
  s.doc = "DeepSpeed with ZeRO";
  s.source = "memory of VocabularyParallelism";
  // Gathers of ZeRO-3 are waited for: an assumption, which the rows of ZeRO-3 of megatron_sc21_table2 test.
  s.waits = true;
  // The loss of Megatron-DeepSpeed (megatron_2023.cpp).
  s.loss_bytes = 52;
  // [vocabpar] What PyTorch's allocator holds beside what is allocated, mean of 20 runs on A100 (VocabularyParallelism, exp_one_host.csv,
  // peak_reserved over peak_allocated: 1.09 to 1.15). The context and buffers of NCCL are assumed.
  s.allocator = 1.12;
  s.context_bytes = 1.0 * (1 << 30);
  s.without_reserve = {"bow-pod", "ipu1", "ipu2", "ipu21"};
  return s;
}

}  // namespace pando::search
