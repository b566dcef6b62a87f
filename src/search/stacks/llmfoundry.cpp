#include "search/stack.h"

namespace pando::search {

Stack stack_llmfoundry() {
  Stack s;
  s.name = "llmfoundry";
  s.doc = "llm-foundry of 2023: FSDP, FlashAttention 1 by Triton, a fused loss";
  s.source = "shares of FlashAttention 1 from arXiv 2307.08691; memory of VocabularyParallelism; no step of it is fitted";
  // [2307.08691] FlashAttention 1 reaches 30 to 50 % of an A100's peak forward and 25 to 35 % backward: the middle, doubled because what
  // causality masks counts here.
  s.attention_forward = 0.8;
  s.attention_backward = 0.6;
  // [vocabpar] What PyTorch's allocator holds beside what is allocated, mean of 20 runs on A100 (VocabularyParallelism, exp_one_host.csv,
  // peak_reserved over peak_allocated: 1.09 to 1.15). The context and buffers of NCCL are assumed.
  s.allocator = 1.12;
  s.context_bytes = 1.0 * (1 << 30);
  s.without_reserve = {"bow-pod", "ipu1", "ipu2", "ipu21"};
  return s;
}

}  // namespace pando::search
