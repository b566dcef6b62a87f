#include "ir/shared/remote_rows.h"

namespace pando::ir {

extern const OpRow op_remote_store;
constexpr OpRow op_remote_store = checked({
    .name = "remote_store",
    .doc = "Writes a tensor to a row of a remote buffer. `offset`: which row, an integer scalar.",
    .signature = "remote_store(remote_buffer: RemoteBuffer, offset: Union[int, Tensor], t: Tensor) -> None",
    .operands = {{{"offset", any_integer}, {"t"}}},
    .attributes = {{{"buffer", AttributeKind::buffer}}},
    .infer = [](Inference& in) {
      check_remote_offset(in, 0);
      check_remote_row(in, 1);
    },
    .reference = [](Evaluation& e) { e.host().store_row(buffer_of(e.attributes()), e.operand(0).integer(0), e.operand(1)); },
    .in_program_only = true,
    .effects = Effects::remote,
    .popart_type = "RemoteStore",
    .whole = "rows of remote buffers are whole",
});

}  // namespace pando::ir
