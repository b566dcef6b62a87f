#include "search/stack.h"

namespace pando::search {

Stack stack_llmfoundry() {
  Stack s;
  s.name = "llmfoundry";
  s.doc = "llm-foundry of 2023: FSDP with weights in single precision, FlashAttention 1 by Triton, a fused loss";
  s.source =
      "shares of FlashAttention 1 from arXiv 2307.08691; its ops as written; memory of VocabularyParallelism; no step of it is fitted";
  // [2307.08691] FlashAttention 1 reaches 30 to 50 % of an A100's peak forward and 25 to 35 % backward: the middle, doubled because what
  // causality masks counts here.
  s.attention_forward = 0.8;
  s.attention_backward = 0.6;
  // Composer's mixed precision of that year (DEFAULT): weights are gathered in single precision, gradients reduced in half.
  s.gather_bytes = 4;
  s.reduce_bytes = 2;
  // A weight is cast for its product (6), its gradient cast back (6), joined with the others of its layer (8), and cast to be reduced (6).
  s.shard_bytes = 26;
  // What goes from layer to layer is in single precision. A norm: a cast (6), then in half precision (4). A sum: 10; on the way back the
  // branch's gradient is cast (6), that of its input cast (6), and both are added (12).
  s.unfused.push_back({"layer_norm", 10.0 / 4, 1});
  s.unfused.push_back({"rms_norm", 10.0 / 4, 1});
  s.unfused.push_back({"add", 10.0 / 6, 24.0 / 4});
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
