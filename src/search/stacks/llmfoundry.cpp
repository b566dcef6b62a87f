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
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
