#include "search/stack.h"

namespace pando::search {

Stack stack_megatron() {
  Stack s;
  s.name = "megatron";
  s.doc = "Megatron-LM, as tuned runs use it";
  s.source = "steps of eight B200 published by the authors of SimuMax; memory of VocabularyParallelism";
  // Chosen by least squares with the steps of four microbatches of Llama-3 without context parallelism (b200_steps).
  s.op_seconds = {{"b200", 6.5e-5}};
  reserve_as_pytorch(s);
  return s;
}

}  // namespace pando::search
