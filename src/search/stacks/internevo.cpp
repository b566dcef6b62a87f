#include "search/stack.h"

namespace pando::search {

Stack stack_internevo() {
  Stack s;
  s.name = "internevo";
  s.doc = "InternEvo of early 2024: ZeRO-1, FlashAttention, fused norms of values in single precision";
  s.source = "its ops as written; memory of VocabularyParallelism; no step of it is fitted";
  // A norm takes its input in single precision: a cast (6), the norm (6). On the way back the input's gradient (10), the weights' (6), a
  // cast (6). Where layers keep what they compute, norms and sums are computed again on the way back (12, and 6 of a sum).
  s.unfused.push_back({"rms_norm", 12.0 / 4, 34.0 / 10});
  // On the way back gradients of both branches are added (6).
  s.unfused.push_back({"add", 1, 12.0 / 4});
  // Logits in single precision: a copy (6), the loss (4), their gradient (8), in half precision (6).
  s.loss_bytes = 24;
  // Gradients are added in half precision.
  s.sum_bytes = 6;
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
