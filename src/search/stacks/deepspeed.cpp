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
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
