#include "search/stack.h"

namespace pando::search {

Stack stack_megatron_deepspeed() {
  Stack s;
  s.name = "megatron-deepspeed";
  s.doc = "Megatron-DeepSpeed of early 2022, as bigscience ran it";
  s.source =
      "pace and seconds of an op fitted to 23 steps of bigscience on jean-zay by pando fit; its loss as written; memory of "
      "VocabularyParallelism";
  s.pace = 0.85;
  s.op_seconds = {{"jean-zay", 3.2e-5}};
  // The loss of parallel vocabularies (megatron_2023.cpp).
  s.loss_bytes = 52;
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
