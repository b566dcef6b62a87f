// What a rank does beside its passes: transfers to other ranks, and what a data-parallel rank does with its weights and gradients.
//
//     F, and the next stage is on another rank        F, SEND_F; there RECV_F
//     I or B, and the stage before is elsewhere       B, WAIT_SEND_F of this microbatch, SEND_B; there RECV_B
//     first and last pass of a stage                  UNSHARD before all; REDUCE_GRAD, WAIT_REDUCE_GRAD, RESHARD behind it
//     end of the row                                  WAIT_SEND_B of all that was sent back
//
// Ranks take turns, one cell each. A receive stands where its message is sent in that order: early, so that the message finds its buffer.
// Deferred, it stands directly before the pass that takes it: with the fewest buffers.
#pragma once

#include "schedule/table.h"

namespace pando::schedule {

struct LowerOptions {
  bool defer_receives = false;
  // UNSHARD, REDUCE_GRAD, WAIT_REDUCE_GRAD, RESHARD.
  bool shards = true;
};

// The table must obey the rules (replay.h) and have passes alone. Rejects (poplar_error) one that has transfers, or does not come to an
// end.
Table lower(const Table& table, const LowerOptions& options = {});

}  // namespace pando::schedule
