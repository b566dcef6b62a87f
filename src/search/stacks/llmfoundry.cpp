#include "search/stack.h"

namespace pando::search {

Stack stack_llmfoundry() {
  Stack s;
  s.name = "llmfoundry";
  s.doc = "llm-foundry of October 2023: FSDP of PyTorch 2.1, FlashAttention 1 by Triton, a fused loss";
  s.source =
      "shares of FlashAttention 1 from arXiv 2307.08691; its ops as written; memory of VocabularyParallelism; no step of it is fitted";
  // [2307.08691] FlashAttention 1 reaches 30 to 50 % of an A100's peak forward and 25 to 35 % backward: the middle, doubled because what
  // causality masks counts here.
  s.attention_forward = 0.8;
  s.attention_backward = 0.6;
  // The fused loss (2, and 4 on the way back); behind each microbatch two metrics, each with a copy in single precision (6) and logarithms
  // of probabilities (8).
  s.loss_bytes = 34;
  // A weight's gradient is joined with the others of its layer (4), and cast to be reduced (6).
  s.shard_bytes = 10;
  // Its layers are computed again without reentrance, under PyTorch 2.1 (torchtitan_eager.cpp).
  s.stops_early = true;
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
