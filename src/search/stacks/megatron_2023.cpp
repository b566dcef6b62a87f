#include "search/stack.h"

namespace pando::search {

Stack stack_megatron_2023() {
  Stack s;
  s.name = "megatron-2023";
  s.doc = "Megatron-LM until 2023, before its fused loss, and Megatron-DeepSpeed";
  s.source = "its loss as written; steps of the zero-bubble papers; memory of VocabularyParallelism";
  // Chosen with the rows of 1.5B and 14.6B of zb_iclr24: embedding, loss, the training loop.
  for (const char* a100 : {"a100-40", "a100-80", "jean-zay", "selene"}) s.microbatch_seconds.emplace_back(a100, 2.4e-3);
  // The loss of parallel vocabularies: a copy in single precision (6 bytes), the greatest (4), what is less than it (8), exponents (8),
  // their sum (4), the quotient (8); on the way back the factor (8) and a copy in half precision (6).
  s.loss_bytes = 52;
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
